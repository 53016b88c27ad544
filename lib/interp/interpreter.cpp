#include "interp/interpreter.h"

#include "interp/execute.h"
#include "interp/lower.h"
#include "interp/origins.h"
#include "ir/module.h"
#include "ir/scalar_math.h"

namespace adc::interp {

using ir::Type;

namespace {

/// The arguments of one run: checked, bound to the machine, and given back afterwards.
class Binding {
 public:
  Binding(const ir::Module& module, const ir::Function& function, Arguments& arguments, Tangents* tangents,
          bool promote)
      : module_(module), function_(function), arguments_(arguments), tangents_(tangents), promote_(promote) {}

  /// Text of what is wrong with the arguments; empty where nothing is.
  std::string Check() const;
  void Bind(Machine& machine);
  /// Copies what the run computed in double back to the tensors.
  void Finish();

 private:
  Type TypeOf(size_t n) const { return function_.TypeOf(function_.Params()[n]); }
  std::string CheckOne(size_t n) const;
  /// Calls `visit(entry of the wide memory, bytes of the scalar, scalar of the bytes)` for each float of an
  /// argument.
  template <class Visit>
  void EachFloat(size_t n, Visit visit);

  const ir::Module& module_;
  const ir::Function& function_;
  Arguments& arguments_;
  Tangents* tangents_;
  bool promote_;
  std::vector<std::vector<double>> wide_;
};

std::string Binding::Check() const {
  size_t count = function_.Params().size();
  if (arguments_.list.size() != count) {
    return std::to_string(arguments_.list.size()) + " arguments for the " + std::to_string(count) +
           " parameters of '" + std::string(module_.Text(function_.name)) + "'";
  }
  for (size_t n = 0; n < count; ++n) {
    std::string wrong = CheckOne(n);
    if (!wrong.empty())
      return "argument '" + std::string(module_.Text(function_[function_.Params()[n]].name)) + "' " + wrong;
  }
  return {};
}

std::string Binding::CheckOne(size_t n) const {
  Type type = TypeOf(n);
  const Argument& argument = arguments_[n];
  if (argument.shares >= 0) {
    auto other = static_cast<size_t>(argument.shares);
    bool fits = other < n && arguments_[other].shares < 0 && TypeOf(other) == type && !type.IsRegister();
    return fits ? std::string() : "shares the memory of an argument that is not an earlier one of its type";
  }
  if (type.IsRegister()) {
    if (argument.bits.size() != type.Components())
      return "has " + std::to_string(argument.bits.size()) + " components, not " +
             std::to_string(type.Components());
    return {};
  }
  const Tensor& tensor = argument.tensor;
  if (type.IsLayout()) {
    uint64_t size = module_.layouts[type.count].byte_size;
    if (!tensor.IsLayout() || tensor.data.size() != size)
      return "is not memory of the " + std::to_string(size) + " bytes of its layout";
    return {};
  }
  Type element = type.Element();
  bool same = tensor.element == element;
  bool promoted = promote_ && element.IsFloat() && tensor.element == element.WithScalar(ir::Scalar::F64);
  if (!same && !promoted)
    return "has elements of " + ir::TypeName(tensor.element) + ", not " + ir::TypeName(element);
  if (tensor.extents.size() != type.count)
    return "has " + std::to_string(tensor.extents.size()) + " axes, not " + std::to_string(type.count);
  uint64_t bytes = tensor.element.ElementBytes();
  for (int64_t extent : tensor.extents) {
    if (extent < 0) return "has a negative extent";
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(extent), &bytes)) return "is too large";
  }
  if (tensor.data.size() != bytes)
    return "holds " + std::to_string(tensor.data.size()) + " bytes, but its extents require " +
           std::to_string(bytes);
  return {};
}

template <class Visit>
void Binding::EachFloat(size_t n, Visit visit) {
  Type type = TypeOf(n);
  Tensor& tensor = arguments_[n].tensor;
  if (type.IsBuffer()) {
    uint32_t size = ir::ByteSize(tensor.element.scalar);
    for (size_t k = 0; k < wide_[n].size(); ++k)
      visit(wide_[n][k], tensor.data.data() + k * size, tensor.element.scalar);
    return;
  }
  for (const ir::LayoutField& field : module_.layouts[type.count].fields) {
    if (!field.type.IsFloat()) continue;
    ForEachComponent(field, [&](std::span<const int64_t>, uint32_t, uint64_t offset) {
      visit(wide_[n][offset / 2], tensor.data.data() + offset, field.type.scalar);
      return true;
    });
  }
}

void Binding::Bind(Machine& machine) {
  size_t count = arguments_.list.size();
  wide_.resize(count);
  if (tangents_ != nullptr) tangents_->list.resize(count);
  for (size_t n = 0; n < count; ++n) {
    Type type = TypeOf(n);
    Argument& argument = arguments_[n];
    CellRange cells = machine.function->params[n];
    if (tangents_ != nullptr) (*tangents_)[n].resize(TangentCount(module_, type, argument));
    if (type.IsRegister()) {
      for (uint32_t k = 0; k < cells.count; ++k) {
        bool widen = promote_ && type.IsFloat();
        machine.cells[cells.first + k] =
            widen ? ir::ToBits(ir::FloatFromBits(type.scalar, argument.bits[k])) : argument.bits[k];
        if (tangents_ != nullptr) machine.tangents[cells.first + k] = (*tangents_)[n][k];
      }
      machine.memories.emplace_back();
      continue;
    }
    if (argument.shares >= 0) {
      machine.memories.push_back(machine.memories[static_cast<size_t>(argument.shares)]);
    } else {
      Memory memory;
      memory.data = argument.tensor.data.data();
      memory.extents = argument.tensor.extents;
      if (tangents_ != nullptr) memory.tangents = (*tangents_)[n].data();
      if (promote_ && (type.IsLayout() || ir::IsFloat(type.scalar))) {
        wide_[n].resize(TangentCount(module_, type, argument));
        memory.wide = wide_[n].data();
        EachFloat(n, [](double& wide, const std::byte* bytes, ir::Scalar scalar) {
          uint64_t bits = 0;
          std::copy_n(bytes, ir::ByteSize(scalar), reinterpret_cast<std::byte*>(&bits));
          wide = ir::FloatFromBits(scalar, bits);
        });
      }
      machine.memories.push_back(std::move(memory));
    }
    machine.cells[cells.first] = n;
  }
}

void Binding::Finish() {
  for (size_t n = 0; n < wide_.size(); ++n) {
    if (wide_[n].empty()) continue;
    EachFloat(n, [](double& wide, std::byte* bytes, ir::Scalar scalar) {
      uint64_t bits = ir::FloatToBits(scalar, wide);
      std::copy_n(reinterpret_cast<const std::byte*>(&bits), ir::ByteSize(scalar), bytes);
    });
  }
}

}  // namespace

Interpreter::Interpreter(const ir::Module& module, const ir::Function& function, RunOptions options)
    : module_(module), function_(function), options_(options) {}
Interpreter::~Interpreter() = default;
Interpreter::Interpreter(Interpreter&&) noexcept = default;

RunResult Interpreter::Run(Arguments& arguments) {
  return Execute(arguments, nullptr);
}

RunResult Interpreter::RunDual(Arguments& arguments, Tangents& tangents) {
  return Execute(arguments, &tangents);
}

RunResult Interpreter::Execute(Arguments& arguments, Tangents* tangents) {
  std::unique_ptr<Program>& program = tangents != nullptr ? dual_ : plain_;
  if (program == nullptr) program = Lower(module_, function_, {tangents != nullptr, options_.promote_floats});
  return interp::Execute(module_, function_, options_, *program, arguments, tangents);
}

RunResult Execute(const ir::Module& module, const ir::Function& function, const RunOptions& options,
                  const Program& program, Arguments& arguments, Tangents* tangents, const Watch& watch) {
  RunResult result;
  Binding binding(module, function, arguments, tangents, options.promote_floats);
  if (std::string wrong = binding.Check(); !wrong.empty()) {
    result.error = {ErrorKind::Argument, std::move(wrong), function.span};
    return result;
  }
  result.stacks = program.stacks;
  result.loops = program.loop_statistics;

  Machine machine;
  machine.program = &program;
  machine.options = &options;
  machine.result = &result;
  machine.origins = watch.origins;
  machine.stacks.resize(program.stacks.size());
  machine.cell_store = program.array_constants;
  if (program.dual) machine.tangent_store.resize(machine.cell_store.size());
  const FunctionCode& entry = program.functions[0];
  if (!machine.Enter(entry, program.array_constants.size())) {
    result.error = {ErrorKind::Limit, "the function needs too many registers", function.span};
    return result;
  }
  binding.Bind(machine);
  result.steps = entry.code.size();
  machine.Run(entry.code.data());
  if (watch.at_end) watch.at_end(machine);
  binding.Finish();
  return result;
}

RunResult Run(const ir::Module& module, const ir::Function& function, Arguments& arguments,
              const RunOptions& options) {
  return Interpreter(module, function, options).Run(arguments);
}

RunResult RunDual(const ir::Module& module, const ir::Function& function, Arguments& arguments,
                  Tangents& tangents, const RunOptions& options) {
  return Interpreter(module, function, options).RunDual(arguments, tangents);
}

std::string Describe(const RunError& error, const diag::SourceManager& sources) {
  return error.span.Valid() ? sources.Describe(error.span) + ": " + error.text : error.text;
}

}  // namespace adc::interp
