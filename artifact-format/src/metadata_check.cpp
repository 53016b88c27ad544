#include <bit>

#include "artifact/bounds_record.h"
#include "artifact/metadata.h"
#include "json.h"
#include "metadata_rules.h"
#include "names.h"

// The rules between the parts of the metadata. The writer checks before it writes and the reader after it has
// read, so everything downstream may index without asking again.

namespace adc::artifact {
namespace {

constexpr uint32_t kMaxRank = 8;
constexpr uint32_t kMaxTextBytes = 4096;
constexpr uint32_t kMaxLanes = 128;
constexpr int64_t kMaxLayoutBytes = int64_t{1} << 48;
constexpr uint32_t kMaxBlock = 65536, kMaxBinding = 65535;

bool IsFloat(ScalarType type) {
  return type >= ScalarType::kF16;
}

bool IsPowerOfTwo(uint64_t value) {
  return value != 0 && (value & (value - 1)) == 0;
}

/// The form of code that targets of a kind have; empty for kinds that this reader does not know.
std::string_view AbiOf(std::string_view kind) {
  constexpr std::string_view kAbis[][2] = {
      {"cpu", "elf"}, {"cuda", "ptx"}, {"hip", "hsaco"}, {"vulkan", "spirv"}, {"metal", "msl"}};
  for (const auto& [name, abi] : kAbis) {
    if (name == kind) return abi;
  }
  return {};
}

class Checker {
 public:
  Checker(const Metadata& metadata, const Limits& limits, OpenBudget* budget, Error* error)
      : metadata_(metadata),
        limits_(limits),
        error_(error),
        allocator_(budget ? budget->allocator() : nullptr),
        steps_(budget ? budget->steps_left() : nullptr),
        hasher_(metadata, allocator_, steps_ ? steps_ : &unlimited_) {
    if (!steps_) steps_ = &unlimited_;
  }

  bool Run() {
    if (metadata_.targets.size() > limits_.targets) return TooMany("targets", limits_.targets);
    if (metadata_.kernels.size() > limits_.kernels) return TooMany("kernels", limits_.kernels);
    if (!Name("producer", metadata_.producer, false)) return false;
    for (const String& source : metadata_.sources) {
      if (!Text("source", source)) return false;
    }
    return SourceDigests() && Targets() && Layouts() && Summaries() && Kernels();
  }

 private:
  bool SourceDigests() {
    const Vector<String>& digests = metadata_.source_digests;
    bool good = digests.empty() || digests.size() == metadata_.sources.size();
    for (const String& digest : digests) {
      good = good && (digest.empty() || digest.size() == 64);
      for (char digit : digest.view())
        good = good && ((digit >= '0' && digit <= '9') || (digit >= 'a' && digit <= 'f'));
    }
    return good || Broken("the digests of the sources are wrong");
  }

  // The facts that kernels ask about each other, of one kernel, so that each is walked once and not for each
  // task that names it.
  struct Summary {
    uint64_t targets = 0;              ///< bit n: all of its tasks have code for target n
    uint64_t stacks = 0;               ///< more than any number that its stacks count for
    bool has_size_kernel = false;      ///< a task of it has
    const KernelMeta* fits = nullptr;  ///< the kernel whose parameters it was last seen to fit
  };

  template <class... Parts>
  ADC_ALWAYS_INLINE bool Broken(const Parts&... parts) {
    const MessagePart list[] = {MessagePart(parts)...};
    return BrokenWith(list);
  }
  bool BrokenWith(Message message) {
    char text[sizeof(Error::text)];
    TextWriter writer(text, sizeof text);
    if (kernel_) writer << "kernel '" << kernel_->name.view() << "': ";
    for (const MessagePart& part : message) part.Write(writer);
    return Fail(error_, Code::kMalformed, Rule::kH8, text);
  }
  bool TooMany(std::string_view what, uint32_t limit) {
    return Fail(error_, Code::kOverLimit, Rule::kH8, "more than ", limit, " ", what);
  }
  // Of what holds parts against each other: reading has spent for one look at each (ReadMetadata).
  bool Spend(uint64_t steps) { return steps_->Spend(steps) || OverSteps(); }
  bool OverSteps() {
    return Fail(error_, Code::kOverLimit, Rule::kH4, "the metadata takes too many steps to check");
  }
  bool NoMemory() { return Fail(error_, Code::kOutOfMemory, Rule::kNone, "out of memory for the metadata"); }

  // H7: not empty unless allowed, not too long, UTF-8, no control characters.
  bool Name(std::string_view what, std::string_view name, bool may_be_empty) {
    if (name.empty()) return may_be_empty || BadName(what, "empty");
    if (name.size() > Limits().name_bytes) return BadName(what, "too long");
    if (name.size() > limits_.name_bytes) {
      return Fail(error_, Code::kOverLimit, Rule::kH7, "a name (", what, ") of ", uint64_t{name.size()},
                  " bytes is over the limit of ", limits_.name_bytes);
    }
    for (size_t at = 0; at < name.size(); ++at) {
      if (HiddenLength(name, at) != 0) return BadName(what, "not free of control characters");
    }
    return Text(what, name);
  }
  // A name that tools write into headers and scripts: a C identifier.
  bool Symbol(std::string_view what, std::string_view name, bool may_be_empty) {
    if (!Name(what, name, may_be_empty)) return false;
    for (size_t at = 0; at < name.size(); ++at) {
      char letter = name[at];
      bool is_letter = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || letter == '_';
      bool is_digit = at > 0 && letter >= '0' && letter <= '9';
      if (!is_letter && !is_digit) return BadName(what, "no identifier of C");
    }
    return true;
  }
  bool BadName(std::string_view what, std::string_view why) {
    return Fail(error_, Code::kMalformed, Rule::kH7, "a name (", what, ") is ", why);
  }
  bool Text(std::string_view what, std::string_view text) {
    if (text.size() > kMaxTextBytes) return BadName(what, "too long");
    return IsUtf8(text) || BadName(what, "not UTF-8");
  }
  // Names in a list are unique.
  template <class List>
  bool Unique(std::string_view what, const List& list) {
    Vector<std::string_view> names(allocator_);
    if (!names.TryReserve(list.size())) return NoMemory();
    for (const auto& item : list) {
      if (!names.TryPush(item.name.view())) return NoMemory();
    }
    if (!Spend(StepsToSort(names.size()))) return false;
    SortNames(&names);
    for (size_t index = 1; index < names.size(); ++index) {
      if (names[index - 1] == names[index]) {
        return Fail(error_, Code::kMalformed, Rule::kH7, "two ", what, " are named '", names[index], "'");
      }
    }
    return true;
  }

  bool Targets() {
    for (const TargetMeta& target : metadata_.targets) {
      if (!Name("target", target.name, false) || !Name("target kind", target.kind, false) ||
          !Name("target architecture", target.arch, true) || !Name("target abi", target.abi, true)) {
        return false;
      }
      std::string_view abi = AbiOf(target.kind);
      if (!abi.empty() && !target.abi.empty() && target.abi != abi) {
        return Broken("code of target '", target.name.view(), "' cannot be '", target.abi.view(), "'");
      }
      const String* last = nullptr;
      for (const String& feature : target.features) {
        if (!Name("target feature", feature, false)) return false;
        if (last && !(last->view() < feature.view())) {
          return Broken("features of target '", target.name.view(), "' are not sorted");
        }
        last = &feature;
      }
    }
    return Unique("targets", metadata_.targets);
  }

  bool ElementShape(std::string_view name, uint32_t rows, uint32_t columns) {
    bool scalar = rows == 1 && columns == 1;
    bool vector = rows >= 2 && rows <= 16 && columns >= 1 && columns <= 16;
    return scalar || vector || Broken("'", name, "' has elements of ", rows, " x ", columns);
  }

  bool Layouts() {
    for (const LayoutMeta& layout : metadata_.layouts) {
      if (!Name("layout", layout.name, false) || !Unique("fields of one layout", layout.fields)) return false;
      if (layout.size < 0 || layout.size > kMaxLayoutBytes || !IsPowerOfTwo(layout.alignment) ||
          layout.alignment > 4096) {
        return Broken("layout '", layout.name.view(), "' has an impossible size or alignment");
      }
      for (const FieldMeta& field : layout.fields) {
        if (!Name("field", field.name, false) || !ElementShape(field.name, field.rows, field.columns))
          return false;
        if (!FieldFits(layout, field)) {
          return Broken("field '", field.name.view(), "' does not lie inside layout '", layout.name.view(),
                        "'");
        }
      }
    }
    return Unique("layouts", metadata_.layouts);
  }

  // The last byte of the last cell lies inside the layout.
  static bool FieldFits(const LayoutMeta& layout, const FieldMeta& field) {
    if (field.offset < 0 || field.levels.size() > kMaxRank) return false;
    int64_t end = field.offset;
    int64_t element = int64_t{ScalarTypeSize(field.type)} * field.rows * field.columns;
    bool empty = false;
    for (const LevelMeta& level : field.levels) {
      if (level.extents.size() != level.strides.size() || level.extents.size() > kMaxRank) return false;
      for (size_t axis = 0; axis < level.extents.size(); ++axis) {
        int64_t span = 0;
        if (level.extents[axis] < 0 || level.strides[axis] < 0) return false;
        if (level.extents[axis] == 0) {
          empty = true;
          continue;
        }
        if (MultiplyOverflows(level.extents[axis] - 1, level.strides[axis], &span) ||
            AddOverflows(end, span, &end)) {
          return false;
        }
      }
    }
    return empty || (!AddOverflows(end, element, &end) && end <= layout.size);
  }

  bool Kernels() {
    for (size_t index = 0; index < metadata_.kernels.size(); ++index) {
      const KernelMeta& kernel = metadata_.kernels[index];
      if (!Name("kernel", kernel.name, false)) return false;
      kernel_ = &kernel;
      if (index > 0 && !(metadata_.kernels[index - 1].name.view() < kernel.name.view())) {
        return Broken("kernels are not sorted by unique name");
      }
      if (!Kernel(kernel)) return false;
      kernel_ = nullptr;
    }
    return true;
  }

  bool Kernel(const KernelMeta& kernel) {
    if ((kernel.role == KernelRole::kPrimal) != kernel.of.empty())
      return Broken("role and origin do not agree");
    if (!kernel.of.empty() && !FindKernel(kernel.of))
      return Broken("'", kernel.of.view(), "' is not in the bundle");
    if (!Text("place", kernel.place) || !Unique("parameters of one kernel", kernel.params)) return false;
    uint32_t cell = 0;
    for (uint32_t index = 0; index < kernel.params.size(); ++index) {
      if (!Param(kernel, kernel.params[index])) return false;
      if (kernel.params[index].cell != cell) return Broken("cells do not follow each other");
      cell += CellCount(kernel.params[index]);
    }
    if (!Exprs(kernel)) return false;
    for (const ParamMeta& param : kernel.params) {
      for (NodeId extent : param.extents) {
        if (!Root(kernel, extent)) return false;
        if (kernel.exprs.ClassOf(extent) == SizeClass::kS2) {
          return Broken("the size of '", param.name.view(), "' depends on buffer contents");
        }
      }
    }
    for (const TaskMeta& task : kernel.tasks) {
      if (!Task(kernel, task)) return false;
    }
    // A launch takes all tasks of one target, so that a target has code for all of them or for none.
    for (const TaskMeta& task : kernel.tasks) {
      uint64_t torn = TargetsOf(task) ^ TargetsOf(kernel.tasks[0]);
      if (torn != 0) {
        const TargetMeta& target = metadata_.targets[static_cast<uint32_t>(std::countr_zero(torn))];
        return Broken("some of its tasks have an entry for target '", target.name.view(),
                      "', others have none");
      }
    }
    if (!Bounds(kernel)) return false;
    for (const Vector<CheckMeta>* list : {&kernel.asserts, &kernel.accesses}) {
      for (const CheckMeta& check : *list) {
        if (!Text("place", check.place) || !Text("text", check.text)) return false;
      }
    }
    uint64_t hash = 0;
    if (!hasher_.Hash(kernel, &hash)) return steps_->exceeded() ? OverSteps() : NoMemory();
    return hash == kernel.interface_hash || Broken("the interface hash is not that of the parameters");
  }

  const KernelMeta* FindKernel(std::string_view name) const {
    size_t low = 0, high = metadata_.kernels.size();
    while (low < high) {
      size_t middle = low + (high - low) / 2;
      if (metadata_.kernels[middle].name.view() < name) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    bool found = low < metadata_.kernels.size() && metadata_.kernels[low].name == name;
    return found ? &metadata_.kernels[low] : nullptr;
  }

  bool Param(const KernelMeta& kernel, const ParamMeta& param) {
    std::string_view name = param.name;
    if (!Name("parameter", name, false) || !ElementShape(name, param.rows, param.columns)) return false;
    bool is_buffer = param.kind == ParamKind::kBuffer || param.kind == ParamKind::kScratch;
    bool is_layout = param.kind == ParamKind::kLayout, is_scratch = param.kind == ParamKind::kScratch;
    if (param.rank > (is_buffer ? kMaxRank : 0))
      return Broken("parameter '", name, "' has rank ", param.rank);
    if (is_layout != (param.layout != kNoIndex) || (is_layout && param.layout >= metadata_.layouts.size())) {
      return Broken("parameter '", name, "' names no layout of the bundle");
    }
    bool is_saved = param.role == ParamRole::kSaved;
    if (is_saved && (param.kind != ParamKind::kBuffer || param.rank != 1 || param.rows * param.columns != 1))
      return Broken("parameter '", name, "' holds saved values and is no list of scalars");
    if (param.extents.size() != (is_scratch || is_saved ? param.rank : 0)) {
      return Broken("parameter '", name, "' states ", uint64_t{param.extents.size()}, " extents");
    }
    bool is_segment = param.kind == ParamKind::kSegment;
    bool is_trips = param.kind == ParamKind::kTrips;
    if (is_scratch != (param.role == ParamRole::kScratch) ||
        is_segment != (param.role == ParamRole::kSegment) || is_trips != (param.role == ParamRole::kTrips))
      return Broken("role of parameter '", name, "' is wrong");
    if (is_segment && (param.type != ScalarType::kI32 || param.rows * param.columns != 1))
      return Broken("parameter '", name, "' is a segment length and no i32");
    if (is_trips && (param.type != ScalarType::kI64 || param.rows * param.columns != 1))
      return Broken("parameter '", name, "' is a trip count and no i64");
    if ((param.kind == ParamKind::kScalar || is_segment || is_trips) && param.access != Access::kRead) {
      return Broken("by-value parameter '", name, "' cannot be written");
    }
    if (param.shape_i32 && !is_buffer) return Broken("parameter '", name, "' has no shape");
    if (param.shape_i32_axes >> (is_buffer ? param.rank : 0) != 0 ||
        param.shape_i32 != (param.shape_i32_axes != 0))
      return Broken("parameter '", name, "' has extents read as i32 that it has not");
    if (param.diff && !is_layout && !IsFloat(param.type))
      return Broken("parameter '", name, "' is diff and no float");
    bool companion = param.role == ParamRole::kAdjoint || param.role == ParamRole::kTangent;
    if (companion != (param.primal != kNoIndex))
      return Broken("parameter '", name, "' and its primal do not agree");
    if (companion &&
        (param.primal >= kernel.params.size() || kernel.params[param.primal].role != ParamRole::kPlain)) {
      return Broken("the primal of parameter '", name, "' is not a plain parameter");
    }
    return true;
  }

  bool Exprs(const KernelMeta& kernel) {
    for (NodeId id = 0; id < kernel.exprs.size(); ++id) {
      const SizeNode& node = kernel.exprs[id];
      bool names_param = node.op == SizeOp::kArg || node.op == SizeOp::kShape || node.op == SizeOp::kRead;
      if (!names_param) continue;
      if (node.param >= kernel.params.size()) return BadExpr(id, "names no parameter");
      const ParamMeta& param = kernel.params[node.param];
      bool single = param.rows == 1 && param.columns == 1;
      bool integer = IsInteger(param.type) && single;
      bool by_value = param.kind == ParamKind::kScalar || param.kind == ParamKind::kSegment ||
                      param.kind == ParamKind::kTrips;
      bool truth = param.type == ScalarType::kI1 && single;  // 0 or 1
      if (node.op == SizeOp::kArg && (!by_value || (!integer && !truth))) {
        return BadExpr(id, "takes the value of what is no integer argument");
      }
      if (node.op == SizeOp::kShape && (param.kind != ParamKind::kBuffer || node.axis >= param.rank)) {
        return BadExpr(id, "takes an extent that does not exist");
      }
      bool readable = param.kind == ParamKind::kBuffer || param.kind == ParamKind::kScratch;
      if (node.op == SizeOp::kRead && (!readable || !integer || node.read_count != param.rank)) {
        return BadExpr(id, "reads what is no integer buffer, or with a wrong number of indices");
      }
    }
    return true;
  }
  bool BadExpr(NodeId id, std::string_view why) {
    return Fail(error_, Code::kMalformed, Rule::kH9, "kernel '", kernel_->name.view(), "': size expression ",
                id, " ", why);
  }
  bool Root(const KernelMeta& kernel, NodeId id) {
    if (id >= kernel.exprs.size()) return Broken("size expression ", id, " does not exist");
    return kernel.exprs.FreeLevels(id) == 0 || BadExpr(id, "uses an index outside of its loop");
  }

  bool Task(const KernelMeta& kernel, const TaskMeta& task) {
    bool parallel = task.kind == TaskKind::kParallel;
    if (task.extents.empty() == parallel || task.extents.size() > kMaxRank) {
      return Broken("a task has ", uint64_t{task.extents.size()}, " axes");
    }
    for (NodeId extent : task.extents) {
      if (!Root(kernel, extent)) return false;
    }
    if (!Text("place", task.place) || !Name("size kernel", task.size_kernel, true)) return false;
    if (!task.size_kernel.empty() && !SizeKernel(kernel, task)) return false;
    if (!CountReads(task) || !TripKernel(kernel, task)) return false;
    const Vector<uint32_t>* used[] = {&task.count_reads, &task.trip_reads, &task.reads, &task.writes};
    for (const Vector<uint32_t>* params : used) {
      if (!WithContent(kernel, *params)) return false;
    }
    for (const AdstackPlanMeta& plan : task.plans) {
      if (!Plan(kernel, plan)) return false;
    }
    if (TaskSizeClass(kernel, task) != task.size_class) return Broken("a task's size class is wrong");
    Vector<uint32_t> reads(allocator_);
    if (!TaskSizeReads(kernel, task, steps_, &reads)) return steps_->exceeded() ? OverSteps() : NoMemory();
    if (!(reads == task.size_reads)) return Broken("a task's list of parameters read by sizing is wrong");
    return Entries(kernel, task);
  }

  bool CountReads(const TaskMeta& task) {
    if (task.size_kernel.empty() && !task.count_reads.empty()) {
      return Broken("a task's list of parameters that are read or written is wrong");
    }
    for (const AdstackPlanMeta& plan : task.plans) {
      for (const StackMeta& stack : plan.stacks) {
        if (stack.counted && (task.size_kernel.empty() || stack.storage == Storage::kPrivate)) {
          return Broken("a private stack is counted, or no size kernel is there");
        }
      }
      for (const GroupMeta& group : plan.groups) {
        if (group.counted && (task.size_kernel.empty() || group.gate.empty())) {
          return Broken("a claim group is counted that has no gate, or no size kernel");
        }
      }
    }
    return true;
  }

  /// Whether the parameters that a task or its counting kernels use are there, in ascending order, and have
  /// content.
  bool WithContent(const KernelMeta& kernel, const Vector<uint32_t>& params) {
    uint32_t next = 0;
    for (uint32_t param : params) {
      ParamKind kind = param < kernel.params.size() ? kernel.params[param].kind : ParamKind::kScalar;
      if (param < next || kind == ParamKind::kScalar || kind == ParamKind::kTrips)
        return Broken("a task's list of parameters that are read or written is wrong");
      next = param + 1;
    }
    return true;
  }

  bool Bounds(const KernelMeta& kernel) {
    if (kernel.bounds == kNoIndex) return true;
    if (!Spend(kernel.params.size())) return false;
    return (kernel.bounds < metadata_.kernels.size() &&
            FitsBounds(kernel, metadata_.kernels[kernel.bounds], summaries_[kernel.bounds])) ||
           Broken("kernel ", kernel.bounds, " does not record its bounds");
  }

  // The launcher gives it the plain parameters by position, and three of its own. Its last task compares.
  static bool FitsBounds(const KernelMeta& kernel, const KernelMeta& bounds, const Summary& summary) {
    bool is_recorded = kernel.role == KernelRole::kPrimal || kernel.role == KernelRole::kGrad;
    if (!is_recorded || bounds.role != KernelRole::kBounds || bounds.tasks.size() < 2) return false;
    size_t plain = 0;
    for (const ParamMeta& param : kernel.params) {
      if (param.role != ParamRole::kPlain) continue;
      if (plain >= bounds.params.size() || !IsBoundAlike(param, bounds.params[plain])) return false;
      ++plain;
    }
    constexpr ScalarType kOwn[ADRT_BOUNDS_PARAMS] = {ScalarType::kU64, ScalarType::kI32, ScalarType::kU64};
    if (bounds.params.size() != plain + ADRT_BOUNDS_PARAMS) return false;
    for (size_t index = 0; index < ADRT_BOUNDS_PARAMS; ++index) {
      const ParamMeta& own = bounds.params[plain + index];
      if (own.kind != ParamKind::kBuffer || own.type != kOwn[index] || own.rows != 1 || own.columns != 1 ||
          own.rank != 1) {
        return false;
      }
    }
    for (const TaskMeta& task : kernel.tasks) {
      if ((TargetsOf(task) & ~summary.targets) != 0) return false;
    }
    return true;
  }

  static bool IsBoundAlike(const ParamMeta& left, const ParamMeta& right) {
    return left.kind == right.kind && left.type == right.type && left.rows == right.rows &&
           left.columns == right.columns && left.rank == right.rank && left.layout == right.layout;
  }

  // The parameter that an extent takes its value from; kNoIndex where it is none that a launch counts.
  static uint32_t TripsOf(const KernelMeta& kernel, NodeId extent) {
    const SizeNode& node = kernel.exprs[extent];
    bool is_trips = node.op == SizeOp::kArg && kernel.params[node.param].kind == ParamKind::kTrips;
    return is_trips ? node.param : kNoIndex;
  }

  // The launcher counts the iterations of an axis and gives the count to the parameter that the axis' extent
  // reads. A size kernel is given what was counted for the kernel that it sizes.
  bool TripKernel(const KernelMeta& kernel, const TaskMeta& task) {
    uint32_t counted = 0;
    for (NodeId extent : task.extents) {
      if (TripsOf(kernel, extent) != kNoIndex) ++counted;
    }
    if (task.trip_kernel.empty()) {
      if (!task.trip_reads.empty())
        return Broken("a task's list of parameters that are read or written is wrong");
      return counted == 0 || kernel.role == KernelRole::kSize || Broken("nothing counts a task's iterations");
    }
    if (counted == 0 || kernel.role == KernelRole::kSize) return Broken("a trip kernel counts for no axis");
    if (!Name("trip kernel", task.trip_kernel, false)) return false;
    return CountingKernel(kernel, task, task.trip_kernel.view(), 0);
  }

  bool SizeKernel(const KernelMeta& kernel, const TaskMeta& task) {
    size_t stacks = 0;
    for (const AdstackPlanMeta& plan : task.plans) {
      if (plan.stacks.size() > stacks) stacks = plan.stacks.size();
    }
    return CountingKernel(kernel, task, task.size_kernel.view(), stacks);
  }

  // The launcher binds such a kernel by position and gives it memory for its counts: both must fit.
  bool CountingKernel(const KernelMeta& kernel, const TaskMeta& task, std::string_view name, size_t stacks) {
    const KernelMeta* size = FindKernel(name);
    if (!size) return Broken("size kernel '", name, "' is not in the bundle");
    Summary& summary = summaries_[static_cast<size_t>(size - metadata_.kernels.begin())];
    // Tasks of one kernel may share a size kernel, which fits the parameters of all of them or of none.
    if (summary.fits != &kernel) {
      if (!Spend(size->params.size())) return false;
      if (!FitsCounting(kernel, *size)) {
        return Broken("size kernel '", name, "' does not fit the kernel it sizes");
      }
      summary.fits = &kernel;
    }
    if (summary.has_size_kernel) return Broken("size kernel '", name, "' has a size kernel");
    uint64_t missing = TargetsOf(task) & ~summary.targets;
    if (missing != 0) {
      return Broken("size kernel '", name, "' has no code for target ",
                    static_cast<uint32_t>(std::countr_zero(missing)));
    }
    return summary.stacks <= stacks || Broken("size kernel '", name, "' counts for no stack");
  }

  static bool FitsCounting(const KernelMeta& kernel, const KernelMeta& size) {
    size_t given = kernel.params.size(), last = size.params.size() - 1;
    if (size.role != KernelRole::kSize || size.params.size() <= given) return false;
    for (size_t index = 0; index < last; ++index) {
      bool fits = index < given ? IsBoundAlike(kernel.params[index], size.params[index])
                                : size.params[index].kind == ParamKind::kScratch;
      if (!fits) return false;
    }
    const ParamMeta& sizes = size.params[last];
    return sizes.kind == ParamKind::kBuffer && sizes.type == ScalarType::kI64 && sizes.rows == 1 &&
           sizes.columns == 1 && sizes.rank == 1;
  }

  static_assert(Limits().targets <= 64, "targets are bits of a word");
  static uint64_t TargetsOf(const TaskMeta& task) {
    uint64_t targets = 0;
    for (const EntryMeta& entry : task.entries) {
      if (entry.target < 64) targets |= uint64_t{1} << entry.target;
    }
    return targets;
  }

  bool Summaries() {
    if (!summaries_.TryResize(metadata_.kernels.size())) return NoMemory();
    for (size_t index = 0; index < summaries_.size(); ++index) {
      Summary& summary = summaries_[index];
      summary.targets = UINT64_MAX;
      for (const TaskMeta& task : metadata_.kernels[index].tasks) {
        summary.targets &= TargetsOf(task);
        summary.has_size_kernel |= !task.size_kernel.empty();
        for (const AdstackPlanMeta& plan : task.plans) {
          for (const StackMeta& stack : plan.stacks) {
            if (stack.id >= summary.stacks) summary.stacks = uint64_t{stack.id} + 1;
          }
        }
      }
    }
    return true;
  }

  bool Plan(const KernelMeta& kernel, const AdstackPlanMeta& plan) {
    if (!IsPowerOfTwo(plan.lanes) || plan.lanes > kMaxLanes)
      return Broken("a plan has ", plan.lanes, " lanes");
    for (const GroupMeta& group : plan.groups) {
      if (!Text("place", group.gate)) return false;
    }
    for (size_t index = 0; index < plan.stacks.size(); ++index) {
      const StackMeta& stack = plan.stacks[index];
      uint64_t number = index;
      if (!Text("place", stack.place) || !Text("value", stack.value)) return false;
      bool in_row = stack.storage == Storage::kRow;
      if (in_row && stack.group >= plan.groups.size()) {
        return Broken("stack ", number, " belongs to no claim group");
      }
      if (stack.capacity != kNoNode && !Root(kernel, stack.capacity)) return false;
      bool is_saved = stack.storage == Storage::kSaved;
      if ((is_saved || stack.param != kNoIndex) &&
          (stack.param >= kernel.params.size() ||
           (is_saved && kernel.params[stack.param].role != ParamRole::kSaved)))
        return Broken("stack ", number, " names no buffer of saved values");
      if (stack.storage == Storage::kPromise &&
          (stack.param >= kernel.params.size() || !stack.counted || stack.capacity != kNoNode))
        return Broken("stack ", number, " is no promise that is counted");
      if (stack.storage == Storage::kPrivate && !kernel.exprs.IsConst(stack.capacity)) {
        return Broken("stack ", number, " is private and has no constant capacity");
      }
      if (stack.bits && stack.type != ScalarType::kU32) {
        return Broken("stack ", number, " is of bits, but not of words of u32");
      }
      if (!in_row && stack.share != kNoIndex) return Broken("stack ", number, " shares bytes of no row");
    }
    return true;
  }

  bool Entries(const KernelMeta& kernel, const TaskMeta& task) {
    const EntryMeta* last = nullptr;
    for (const EntryMeta& entry : task.entries) {
      if (entry.target >= metadata_.targets.size() || (last && entry.target <= last->target)) {
        return Broken("entries do not name targets in ascending order");
      }
      last = &entry;
      if (!Symbol("symbol", entry.symbol, false) || !Symbol("far symbol", entry.far_symbol, true))
        return false;
      bool is_cpu = metadata_.targets[entry.target].kind == "cpu";
      if (entry.block_size > kMaxBlock && !is_cpu)
        return Broken("an entry has blocks of ", entry.block_size, " threads");
      if (entry.team_lanes > kMaxBlock)
        return Broken("an entry has teams of ", entry.team_lanes, " iterations");
      if (!Bindings(kernel, entry)) return false;
      if (entry.team_turns != kNoNode && !Root(kernel, entry.team_turns)) return false;
      if (entry.plan != kNoIndex && entry.plan >= task.plans.size()) return Broken("an entry names no plan");
      if (entry.plan != kNoIndex && is_cpu && task.plans[entry.plan].lanes != 1) {
        return Broken("a plan for a CPU has more than one lane");
      }
    }
    return true;
  }

  bool Bindings(const KernelMeta& kernel, const EntryMeta& entry) {
    std::string_view target = metadata_.targets[entry.target].kind;
    bool is_vulkan = target == "vulkan";
    if ((!entry.bindings.empty() && !is_vulkan && target != "metal") ||
        (!entry.far_symbol.empty() && !is_vulkan)) {
      return Broken("an entry has bindings or a far symbol on a target of kind '", target, "'");
    }
    const BindingMeta* last = nullptr;
    for (const BindingMeta& binding : entry.bindings) {
      if (binding.number > kMaxBinding || (last && binding.number <= last->number)) {
        return Broken("the bindings of an entry are not numbered upwards");
      }
      last = &binding;
      bool of_param = binding.of == BindingOf::kParam;
      if (of_param != (binding.param != kNoIndex) || (of_param && binding.param >= kernel.params.size())) {
        return Broken("binding ", binding.number, " names no parameter");
      }
      if (of_param && kernel.params[binding.param].kind == ParamKind::kScalar) {
        return Broken("binding ", binding.number, " holds a by-value parameter, which has no memory");
      }
    }
    return true;
  }

  const Metadata& metadata_;
  const Limits& limits_;
  Error* error_;
  const Allocator* allocator_;
  Steps unlimited_;
  Steps* steps_;
  InterfaceHasher hasher_;
  Vector<Summary> summaries_{allocator_};
  const KernelMeta* kernel_ = nullptr;
};

}  // namespace

bool CheckMetadata(const Metadata& metadata, const Limits& limits, OpenBudget* budget, Error* error) {
  return Checker(metadata, limits, budget, error).Run();
}

bool CheckMetadata(const Metadata& metadata, const Limits& limits, Error* error) {
  return CheckMetadata(metadata, limits, nullptr, error);
}

}  // namespace adc::artifact
