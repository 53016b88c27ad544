#include "artifact/metadata.h"

#include "artifact/bundle.h"
#include "metadata_fields.h"
#include "metadata_rules.h"

// The parts that follow from the rest of the metadata: cells, interface hashes, size classes.

namespace adc::artifact {
namespace {

// Writes parts of text and numbers into a string; refused memory is remembered.
class Lines {
 public:
  explicit Lines(String* text) : text_(text) {}
  Lines& operator<<(std::string_view part) {
    ok_ = text_->TryAppend(part) && ok_;
    return *this;
  }
  Lines& operator<<(int64_t number) {
    char digits[24];
    TextWriter writer(digits, sizeof digits);
    writer << number;
    return *this << std::string_view(digits);
  }
  bool ok() const { return ok_; }

 private:
  String* text_;
  bool ok_ = true;
};

void WriteType(Lines& out, ScalarType type, uint32_t rows, uint32_t columns) {
  out << ScalarTypeName(type) << " " << int64_t{rows} << "x" << int64_t{columns};
}

void WriteLayout(Lines& out, const LayoutMeta& layout) {
  out << " size " << layout.size << " alignment " << int64_t{layout.alignment} << "\n";
  for (const FieldMeta& field : layout.fields) {
    out << "  " << field.name << " ";
    WriteType(out, field.type, field.rows, field.columns);
    out << " at " << field.offset << (field.diff ? " diff" : "");
    for (const LevelMeta& level : field.levels) {
      out << " dense";
      for (size_t axis = 0; axis < level.extents.size() && axis < level.strides.size(); ++axis) {
        out << " " << level.extents[axis] << "*" << level.strides[axis];
      }
    }
    out << "\n";
  }
}

}  // namespace

std::string_view ScalarTypeName(ScalarType type) {
  return kScalarTypes[static_cast<size_t>(type)];
}
bool IsInteger(ScalarType type) {
  return type >= ScalarType::kI8 && type <= ScalarType::kU64;
}

uint32_t CellCount(const ParamMeta& param) {
  switch (param.kind) {
    case ParamKind::kBuffer:
    case ParamKind::kScratch:
      return 1 + param.rank;
    case ParamKind::kScalar:
      return param.rows * param.columns;
    case ParamKind::kLayout:
    case ParamKind::kSegment:
    case ParamKind::kTrips:
      return 1;
  }
  return 1;
}

InterfaceHasher::InterfaceHasher(const Metadata& metadata, const Allocator* allocator, Steps* steps)
    : metadata_(metadata), steps_(steps), text_(allocator), layouts_(allocator) {}

const String* InterfaceHasher::LayoutText(uint32_t layout) {
  if (layout >= metadata_.layouts.size()) return nullptr;
  if (layouts_.empty()) {
    if (!layouts_.TryResize(metadata_.layouts.size())) return nullptr;
    for (String& text : layouts_) text.Bind(layouts_.allocator());
  }
  String& text = layouts_[layout];
  if (!text.empty()) return &text;
  Lines out(&text);
  out << metadata_.layouts[layout].name;
  WriteLayout(out, metadata_.layouts[layout]);
  return out.ok() ? &text : nullptr;
}

bool InterfaceHasher::Text(const KernelMeta& kernel) {
  text_.clear();
  Lines out(&text_);
  out << "kernel " << kernel.name << "\n";
  for (const ParamMeta& param : kernel.params) {
    if (IsHidden(param)) continue;
    out << param.name << " " << kParamKinds[static_cast<size_t>(param.kind)] << " ";
    if (param.kind == ParamKind::kLayout) {
      const String* layout = LayoutText(param.layout);
      if (!layout || !steps_->Spend(4 * layout->size())) return false;  // written and hashed
      out << *layout;
      continue;
    }
    WriteType(out, param.type, param.rows, param.columns);
    out << " rank " << int64_t{param.rank} << " " << kParamRoles[static_cast<size_t>(param.role)]
        << (param.diff ? " diff\n" : "\n");
  }
  return out.ok();
}

bool InterfaceHasher::Hash(const KernelMeta& kernel, uint64_t* hash) {
  if (!Text(kernel)) return false;
  *hash = Hash64({reinterpret_cast<const uint8_t*>(text_.data()), text_.size()});
  return true;
}

SizeClass TaskSizeClass(const KernelMeta& kernel, const TaskMeta& task) {
  SizeClass result = task.trip_kernel.empty() ? SizeClass::kS0 : SizeClass::kS2;
  auto take = [&](NodeId id) {
    SizeClass own = kernel.exprs.ClassOf(id);
    if (own > result) result = own;
  };
  for (NodeId extent : task.extents) take(extent);
  for (const AdstackPlanMeta& plan : task.plans) {
    for (const StackMeta& stack : plan.stacks) take(stack.capacity);
  }
  return result;
}

void FinishMetadata(Metadata* metadata) {
  // Kernels by name, so that equal content has one order. Insertion keeps it simple: kernels come nearly
  // sorted.
  Vector<KernelMeta>& kernels = metadata->kernels;
  for (size_t index = 1; index < kernels.size(); ++index) {
    for (size_t at = index; at > 0 && kernels[at].name.view() < kernels[at - 1].name.view(); --at) {
      std::swap(kernels[at], kernels[at - 1]);
    }
  }
  Steps steps;
  InterfaceHasher hasher(*metadata, nullptr, &steps);
  for (KernelMeta& kernel : kernels) {
    uint32_t cell = 0;
    for (ParamMeta& param : kernel.params) {
      param.cell = cell;
      cell += CellCount(param);
    }
    for (TaskMeta& task : kernel.tasks) {
      task.size_class = TaskSizeClass(kernel, task);
      if (!TaskSizeReads(kernel, task, &steps, &task.size_reads)) std::abort();
    }
    if (!hasher.Hash(kernel, &kernel.interface_hash)) kernel.interface_hash = 0;  // refused by the check
  }
}

}  // namespace adc::artifact
