#include "artifact/metadata.h"

#include "artifact/bundle.h"
#include "metadata_fields.h"
#include "metadata_rules.h"

// What follows from the rest of the metadata: cells, interface hashes, size classes.

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

bool InterfaceText(const Metadata& metadata, const KernelMeta& kernel, String* text) {
  text->clear();
  Lines out(text);
  out << "kernel " << kernel.name << "\n";
  for (const ParamMeta& param : kernel.params) {
    if (IsHidden(param)) continue;
    out << param.name << " " << kParamKinds[static_cast<size_t>(param.kind)] << " ";
    if (param.kind == ParamKind::kLayout) {
      if (param.layout >= metadata.layouts.size()) return false;
      const LayoutMeta& layout = metadata.layouts[param.layout];
      out << layout.name;
      WriteLayout(out, layout);
      continue;
    }
    WriteType(out, param.type, param.rows, param.columns);
    out << " rank " << int64_t{param.rank} << " " << kParamRoles[static_cast<size_t>(param.role)]
        << (param.diff ? " diff\n" : "\n");
  }
  return out.ok();
}

bool InterfaceHash(const Metadata& metadata, const KernelMeta& kernel, uint64_t* hash) {
  String text(kernel.params.allocator());
  if (!InterfaceText(metadata, kernel, &text)) return false;
  *hash = Hash64({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
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

bool TaskSizeReads(const KernelMeta& kernel, const TaskMeta& task, Vector<uint32_t>* params) {
  params->clear();
  const SizeExprPool& pool = kernel.exprs;
  Vector<uint8_t> reached(params->allocator());
  if (!reached.TryResize(pool.size())) return false;
  auto mark = [&](NodeId id) {
    if (id < pool.size()) reached[id] = 1;
  };
  for (NodeId extent : task.extents) mark(extent);
  for (const AdstackPlanMeta& plan : task.plans) {
    for (const StackMeta& stack : plan.stacks) mark(stack.capacity);
  }
  Vector<uint8_t> read(params->allocator());
  if (!read.TryResize(kernel.params.size())) return false;
  for (NodeId id = static_cast<NodeId>(pool.size()); id-- > 0;) {
    if (!reached[id]) continue;
    const SizeNode& node = pool[id];
    for (NodeId operand : node.operands) mark(operand);
    for (NodeId operand : pool.ReadIndices(node)) mark(operand);
    if (node.op == SizeOp::kRead && node.param < read.size()) read[node.param] = 1;
  }
  for (uint32_t param = 0; param < read.size(); ++param) {
    if (read[param] && !params->TryPush(param)) return false;
  }
  return true;
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
  for (KernelMeta& kernel : kernels) {
    uint32_t cell = 0;
    for (ParamMeta& param : kernel.params) {
      param.cell = cell;
      cell += CellCount(param);
    }
    for (TaskMeta& task : kernel.tasks) {
      task.size_class = TaskSizeClass(kernel, task);
      if (!TaskSizeReads(kernel, task, &task.size_reads)) std::abort();
    }
    InterfaceHash(*metadata, kernel, &kernel.interface_hash);
  }
}

}  // namespace adc::artifact
