// Both facts are spread with a worklist over the def-use graph, through carried values and the results of
// branches, until nothing changes: linear in the number of uses.
//
//   %v = for %t in 0..%n carry(%a = %v0) { %b = add (sin %a), 0.1  yield %b }
//
// varied runs  %v0 -> %a, %v;  %b -> %a, %v   and useful runs  %v -> %b, %v0, %a.

#include "autodiff/activity.h"

#include "autodiff/region_tree.h"
#include "ir/module.h"

namespace adc::autodiff {

using ir::Function, ir::Inst, ir::Op, ir::Type, ir::Value;

namespace {

bool LayoutHasDiff(const ir::Layout& layout) {
  for (const ir::LayoutField& field : layout.fields)
    if (field.diff && field.type.IsFloat()) return true;
  return false;
}

}  // namespace

DiffParameters DiffParameters::FromAttributes(const ir::Module& module, const Function& kernel) {
  DiffParameters result;
  for (size_t n = 0; n < kernel.params.size(); ++n) {
    Type type = kernel.TypeOf(kernel.Params()[n]);
    const ir::ParamInfo& info = kernel.params[n];
    bool is_float = ir::IsFloat(type.scalar);
    if (info.inactive)
      result.is_diff.push_back(false);
    else if (type.IsLayout())
      result.is_diff.push_back(LayoutHasDiff(module.layouts[type.count]));
    else
      result.is_diff.push_back(is_float && (info.diff || info.role == ir::ParamRole::Scratch));
  }
  return result;
}

bool PassesDerivative(Op op) {
  switch (ir::InfoOf(op).derivative) {
    case ir::Derivative::Linear:
    case ir::Derivative::Partials:
      return !ir::IsTerminator(op);
    case ir::Derivative::None:
    case ir::Derivative::Zero:
    case ir::Derivative::Memory:
    case ir::Derivative::Control:
    case ir::Derivative::NotDifferentiable:
      break;
  }
  return op == Op::Call;
}

Activity::Activity(const ir::Module& module, const Function& function, DiffParameters parameters)
    : module_(module), function_(function), structure_(function), parameters_(std::move(parameters)) {
  SpreadVaried();
  SpreadUseful();
}

bool Activity::DiffParameter(Value base, uint32_t field) const {
  if (!function_.IsParameter(base) || !IsDiff(function_[base].number)) return false;
  Type type = function_.TypeOf(base);
  if (!type.IsLayout()) return true;
  const ir::LayoutField& member = module_.layouts[type.count].fields[field];
  return member.diff && member.type.IsFloat();
}

bool Activity::ActiveMemory(Value base, uint32_t field) const {
  return function_.TypeOf(base).IsArray() ? Active(base) : DiffParameter(base, field);
}

bool Activity::VariedMemory(Value base, uint32_t field) const {
  return function_.TypeOf(base).IsArray() ? Varied(base) : DiffParameter(base, field);
}

void Activity::SpreadVaried() {
  analysis::Uses uses(function_);
  std::vector<Value> work;
  auto mark = [&](Value v) {
    Type type = function_.TypeOf(v);
    bool carries = type.IsFloat() || (type.IsArray() && ir::IsFloat(type.scalar));
    if (carries && varied_.Insert(v)) work.push_back(v);
  };
  for (uint32_t n = 0; n < function_.params.size(); ++n) {
    Value param = function_.Params()[n];
    if (parameters_.is_diff[n] && function_.TypeOf(param).IsRegister()) mark(param);
  }
  for (Inst inst : structure_.Order()) {
    const ir::InstData& data = function_[inst];
    // A value that is read from memory or from a tape of a derived kernel may be anything.
    bool memory_source = (data.op == Op::Load || ir::IsAtomic(data.op)) && data.result_count == 1 &&
                         DiffParameter(function_.Operand(inst, 0), data.attr);
    if (memory_source || data.op == Op::StackPop || data.op == Op::StackTop) mark(function_.Result(inst));
  }
  while (!work.empty()) {
    Value v = work.back();
    work.pop_back();
    for (const analysis::Use& use : uses.Of(v)) {
      Inst inst = use.inst;
      const ir::InstData& data = function_[inst];
      if (data.op == Op::Load || ir::IsAtomic(data.op)) {
        if (use.number == 0 && data.result_count == 1) mark(function_.Result(inst));
        if (use.number > 0 && function_.TypeOf(function_.Operand(inst, 0)).IsArray())
          mark(function_.Operand(inst, 0));
      } else if (data.op == Op::Store || data.op == Op::AddTo) {
        if (use.number > 0 && function_.TypeOf(function_.Operand(inst, 0)).IsArray())
          mark(function_.Operand(inst, 0));
      } else if (data.op == Op::Yield) {
        Inst owner = function_[data.parent].owner;
        if (!owner.Valid() || analysis::IsParallel(function_[owner].op)) continue;
        mark(function_.Result(owner, use.number));
        if (IsSerialLoop(function_[owner].op)) mark(CarriedParam(function_, owner, use.number));
      } else if (IsSerialLoop(data.op)) {
        uint32_t first = data.operand_count - data.result_count;
        if (use.number < first) continue;
        mark(function_.Result(inst, use.number - first));
        mark(CarriedParam(function_, inst, use.number - first));
      } else if (PassesDerivative(data.op)) {
        for (uint32_t n = 0; n < data.result_count; ++n) mark(function_.Result(inst, n));
      }
    }
  }
}

void Activity::SpreadUseful() {
  std::vector<Value> work;
  auto mark = [&](Value v) {
    Type type = function_.TypeOf(v);
    bool carries = type.IsFloat() || (type.IsArray() && ir::IsFloat(type.scalar));
    if (carries && useful_.Insert(v)) work.push_back(v);
  };
  std::vector<std::vector<Value>> stored;  // per local array, by the alloca's instruction
  SideTable<Inst, uint32_t> array_number;
  auto array_slot = [&](Value array) -> std::vector<Value>& {
    uint32_t& number = array_number[function_.DefiningInst(array)];
    if (number == 0) {
      stored.emplace_back();
      number = static_cast<uint32_t>(stored.size());
    }
    return stored[number - 1];
  };
  for (Inst inst : structure_.Order()) {
    const ir::InstData& data = function_[inst];
    if (data.op == Op::Call && function_.RegionCount(inst) != 0) {
      // A call that works in place: its rule hands an adjoint to every argument, whatever its body makes of
      // them.
      for (Value v : function_.Operands(inst))
        if (function_.TypeOf(v).IsRegister()) mark(v);
    }
    if (!analysis::WritesMemory(data.op)) continue;
    Value base = function_.Operand(inst, 0);
    bool array = function_.TypeOf(base).IsArray();
    for (Value v : function_.AccessValues(inst)) {
      if (array)
        array_slot(base).push_back(v);
      else if (DiffParameter(base, data.attr))
        mark(v);
    }
  }
  while (!work.empty()) {
    Value v = work.back();
    work.pop_back();
    if (function_.TypeOf(v).IsArray()) {
      if (!function_.DefiningInst(v).Valid()) continue;  // a constant array: nothing is stored into it
      for (Value source : array_slot(v)) mark(source);
      continue;
    }
    if (std::optional<uint32_t> k = CarriedNumber(function_, v)) {
      Inst loop = function_[function_.DefiningBlock(v)].owner;
      mark(CarriedInit(function_, loop, *k));
      mark(CarriedYield(function_, loop, *k));
      continue;
    }
    Inst inst = function_.DefiningInst(v);
    if (!inst.Valid()) continue;
    const ir::InstData& data = function_[inst];
    uint32_t k = v.raw - data.first_result.raw;
    if (IsSerialLoop(data.op)) {
      mark(CarriedParam(function_, inst, k));
    } else if (data.op == Op::If) {
      for (ir::Block region : data.regions) mark(function_.Operand(function_.Terminator(region), k));
    } else if (data.op == Op::Load || ir::IsAtomic(data.op)) {
      mark(function_.Operand(inst, 0));
    } else if (PassesDerivative(data.op)) {
      for (Value operand : function_.Operands(inst)) mark(operand);
    }
  }
}

}  // namespace adc::autodiff
