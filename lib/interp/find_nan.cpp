#include "interp/find_nan.h"

#include <algorithm>

#include "interp/execute.h"
#include "interp/lower.h"
#include "interp/origins.h"
#include "ir/layout.h"
#include "ir/number.h"
#include "ir/operation_printer.h"
#include "support/check.h"

namespace adc::interp {

using ir::Block, ir::Inst, ir::InstData, ir::Op, ir::Type, ir::Value;

namespace {

/// "[3, 1]"; nothing for no index.
std::string IndexText(std::span<const int64_t> indices) {
  if (indices.empty()) return "";
  std::string text;
  for (int64_t index : indices) text += (text.empty() ? "[" : ", ") + std::to_string(index);
  return text + "]";
}

/// ", component 2" of an element that has several.
std::string ComponentText(Type element, uint64_t component) {
  return element.Components() > 1 ? ", component " + std::to_string(component) : "";
}

/// Where an element of a layout lies, if byte `offset` begins a component of one.
std::string FieldText(const ir::Module& module, const ir::Layout& layout, uint64_t offset) {
  std::string text;
  for (const ir::LayoutField& field : layout.fields) {
    ForEachComponent(field, [&](std::span<const int64_t> index, uint32_t k, uint64_t at) {
      if (at == offset)
        text = "::" + std::string(module.Text(field.name)) + IndexText(index) + ComponentText(field.type, k);
      return text.empty();
    });
    if (!text.empty()) break;
  }
  return text;
}

/// "%x[3, 1]", of the byte `offset` of an argument.
std::string ElementText(const ir::Module& module, const ir::Function& function, size_t parameter,
                        const Tensor& tensor, uint64_t offset) {
  Value value = function.Params()[parameter];
  Type type = function.TypeOf(value);
  std::string name = "%" + std::string(module.Text(function[value].name));
  if (type.IsLayout()) return name + FieldText(module, module.layouts[type.count], offset);
  Type element = tensor.element;
  uint64_t scalar = offset / ir::ByteSize(element.scalar), flat = scalar / element.Components();
  std::vector<int64_t> indices(tensor.extents.size());
  for (size_t axis = indices.size(); axis-- > 0;) {
    indices[axis] = static_cast<int64_t>(flat % static_cast<uint64_t>(tensor.extents[axis]));
    flat /= static_cast<uint64_t>(tensor.extents[axis]);
  }
  return name + IndexText(indices) + ComponentText(element, scalar % element.Components());
}

/// The oldest origin of what the arguments hold, and the first element that has it. 0: none holds any.
struct Reached {
  uint64_t origin = 0;
  size_t parameter = 0;
  uint64_t offset = 0;
};

Reached OldestIn(const ir::Function& function, const Arguments& arguments, const Origins& origins,
                 uint32_t parameter) {
  Reached oldest;
  for (size_t n = 0; n < arguments.list.size(); ++n) {
    ir::ParamRole role = function.params[n].role;
    bool given = role == ir::ParamRole::Plain || role == ir::ParamRole::Adjoint ||
                 role == ir::ParamRole::Tangent || role == ir::ParamRole::Saved;
    if (!given || (parameter != ir::kNoAttr && parameter != n)) continue;
    const std::vector<std::byte>& data = arguments[n].tensor.data;
    for (const auto& [place, origin] : origins.memory) {
      std::less<const std::byte*> before;
      if (origin == 0 || before(place, data.data()) || !before(place, data.data() + data.size())) continue;
      auto offset = static_cast<uint64_t>(place - data.data());
      bool older = oldest.origin == 0 || origin < oldest.origin;
      bool first = origin == oldest.origin && n == oldest.parameter && offset < oldest.offset;
      if (older || first) oldest = {origin, n, offset};
    }
  }
  return oldest;
}

/// Says of a machine that has stopped at an origin what it was doing.
class Describer {
 public:
  Describer(const ir::Module& module, const Machine& machine) : module_(module), machine_(machine) {}
  FirstNan Describe();

 private:
  /// A function that is being run: where, and where its cells begin.
  struct Level {
    const FunctionCode* code;
    Inst inst;
    size_t base;
  };
  void DescribeOperation(const Level& level, FirstNan& found);
  void DescribeLoops(const Level& level, std::vector<std::string>& iteration) const;
  std::string While(const Level& level, Inst loop, Block from) const;
  std::string NameOf(const ir::Function& function, Value v, const ir::ShownNames& names) const {
    return function[v].kind == ir::ValueKind::Global
               ? "@" + std::string(module_.Text(module_.constants[function[v].owner].name))
               : "%" + std::string(names.Of(v));
  }
  /// "3", "(1.0, 2.0)"
  std::string NumbersOf(const Level& level, Value v) const;
  std::string Element(const Level& level, const ir::ShownNames& names) const;
  uint64_t Cell(const Level& level, Value v, uint32_t component = 0) const {
    return machine_.cell_store[level.base + level.code->cell_of[v.raw] + component];
  }

  const ir::Module& module_;
  const Machine& machine_;
};

FirstNan Describer::Describe() {
  auto inst_at = [](const FunctionCode& code, const Code* at) {
    return code.insts[static_cast<size_t>(at - code.code.data())];
  };
  std::vector<Level> levels;  // innermost first
  const FunctionCode* code = machine_.function;
  levels.push_back({code, inst_at(*code, machine_.origins->stopped), machine_.base});
  for (size_t n = machine_.frames.size(); n-- > 0;) {
    const Frame& frame = machine_.frames[n];
    levels.push_back({frame.function, inst_at(*frame.function, frame.return_to - 1), frame.base});
  }
  FirstNan found;
  DescribeOperation(levels[0], found);
  for (size_t n = levels.size(); n-- > 0;) DescribeLoops(levels[n], found.iteration);
  for (size_t n = 1; n < levels.size(); ++n)
    found.callers.push_back((*levels[n].code->function)[levels[n].inst].span);
  return found;
}

void Describer::DescribeOperation(const Level& level, FirstNan& found) {
  const ir::Function& function = *level.code->function;
  const InstData& data = function[level.inst];
  size_t step = static_cast<size_t>(machine_.origins->stopped - level.code->code.data());
  found.span = level.code->spans[step];
  found.function = module_.Text(function.name);
  found.operation = ir::InfoOf(data.op).spelling;
  ir::ShownNames names(module_, function);
  ir::OperandPrinter operands(module_, function, names, found.statement);
  bool shown = data.result_count != 0 && !names.Of(function.Result(level.inst)).empty();
  auto name_of = [&](Value v) { return NameOf(function, v, names); };
  if (shown) found.statement = name_of(function.Result(level.inst)) + " = ";
  ir::PrintOperation(module_, function, level.inst, operands, found.statement);
  std::vector<Value> named;
  for (Value v : function.Operands(level.inst)) {
    bool literal = function[v].kind == ir::ValueKind::Constant;
    if (!literal && function.TypeOf(v).IsRegister() && std::ranges::find(named, v) == named.end())
      named.push_back(v);
  }
  for (Value v : named) found.values.push_back(name_of(v) + " = " + NumbersOf(level, v));
  // A vector is computed part by part, and has no value where a part is the first one.
  Type result = data.result_count != 0 ? function.TypeOf(function.Result(level.inst)) : ir::kNoType;
  bool whole = shown && result.Components() == 1 && !ir::IsAtomic(data.op);
  if (whole)
    found.values.push_back(name_of(function.Result(level.inst)) + " = " +
                           NumbersOf(level, function.Result(level.inst)));
  bool reads = data.op == Op::Load || (ir::IsAccess(data.op) && data.op != Op::Store);
  if (reads) found.argument = Element(level, names);
  found.sweep = SweepOf(module_, function, level.inst);
}

/// The element that the access reads, if it held a special value before.
std::string Describer::Element(const Level& level, const ir::ShownNames& names) const {
  const ir::Function& function = *level.code->function;
  const InstData& data = function[level.inst];
  Value base = function.Operand(level.inst, 0);
  Type element = module_.ElementType(function, base, data.attr);
  const Origins& origins = *machine_.origins;
  uint32_t components = data.component != ir::kNoAttr ? 1 : element.Components();
  uint32_t special = 0;
  while (special < components && !origins.IsSpecial(element.scalar, origins.old[special])) ++special;
  if (special == components) return "";
  std::vector<int64_t> indices;
  for (Value index : function.Indices(level.inst))
    indices.push_back(static_cast<int64_t>(Cell(level, index)));
  std::string name = NameOf(function, base, names);
  if (function.TypeOf(base).IsLayout()) {
    const ir::LayoutField& field = module_.layouts[function.TypeOf(base).count].fields[data.attr];
    name += "::" + std::string(module_.Text(field.name));
  }
  uint32_t first = data.component != ir::kNoAttr ? data.component : 0;
  return name + IndexText(indices) + ComponentText(element, first + special);
}

std::string Describer::NumbersOf(const Level& level, Value v) const {
  Type type = level.code->function->TypeOf(v);
  std::string text;
  for (uint32_t k = 0; k < type.Components(); ++k)
    text += (k == 0 ? "" : ", ") + ir::PrintNumber(type.scalar, Cell(level, v, k));
  return type.Components() > 1 ? "(" + text + ")" : text;
}

void Describer::DescribeLoops(const Level& level, std::vector<std::string>& iteration) const {
  const ir::Function& function = *level.code->function;
  ir::ShownNames names(module_, function);
  std::vector<std::string> loops;  // innermost first
  Block block = function[level.inst].parent;
  while (block.Valid() && function[block].owner.Valid()) {
    Inst owner = function[block].owner;
    Op op = function[owner].op;
    bool is_parallel = op == Op::Parallel || op == Op::ParallelOver;
    size_t counters = op == Op::For ? 1 : is_parallel ? function[block].params.size() : 0;
    std::string text;
    for (size_t n = 0; n < counters; ++n) {
      Value counter = function[block].params[n];
      text += (n == 0 ? "%" : ", %") + std::string(names.Of(counter)) + " = " + NumbersOf(level, counter);
    }
    if (op == Op::While) text = While(level, owner, block);
    if (!text.empty()) loops.push_back(std::move(text));
    block = function[owner].parent;
  }
  iteration.insert(iteration.end(), loops.rbegin(), loops.rend());
}

/// The condition counts for the iteration that it may begin.
std::string Describer::While(const Level& level, Inst loop, Block from) const {
  const ir::Function& function = *level.code->function;
  for (const LoopInfo& info : machine_.program->loops) {
    const LoopStatistics& statistics = machine_.program->loop_statistics[info.statistics];
    if (statistics.loop != loop || statistics.function != function.name) continue;
    uint64_t counted = machine_.cell_store[level.base + info.counter];
    uint64_t number = from == function[loop].regions[0] ? counted : counted - 1;
    return "iteration " + std::to_string(number) + " of a 'while', from 0";
  }
  ADC_UNREACHABLE("a loop that runs");
}

}  // namespace

NanSearch FindNan(const ir::Module& module, const ir::Function& function, Arguments& arguments,
                  const NanQuestion& question, const RunOptions& options) {
  ADC_CHECK(function.IsKernel() && !options.promote_floats, "a kernel, in its own types");
  std::unique_ptr<Program> program = Lower(module, function, {.origins = true});
  Arguments again = arguments;
  NanSearch search;
  Origins origins;
  origins.infinities = question.infinities;
  Reached reached;
  auto look = [&](const Machine&) { reached = OldestIn(function, arguments, origins, question.parameter); };
  search.run = Execute(module, function, options, *program, arguments, nullptr, {&origins, look});
  if (!search.run.Ok() || origins.count == 0) return search;
  Origins stopping;
  stopping.infinities = question.infinities;
  stopping.stop_at = reached.origin != 0 ? reached.origin : 1;
  auto describe = [&](const Machine& machine) { search.first = Describer(module, machine).Describe(); };
  Execute(module, function, options, *program, again, nullptr, {&stopping, describe});
  if (reached.origin != 0) {
    const Tensor& tensor = arguments[reached.parameter].tensor;
    search.first->reaches = ElementText(module, function, reached.parameter, tensor, reached.offset);
  }
  return search;
}

}  // namespace adc::interp
