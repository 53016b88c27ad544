#include "interp/arguments.h"

#include <cstring>

#include "ir/layout.h"
#include "ir/module.h"
#include "ir/scalar_math.h"
#include "support/check.h"

namespace adc::interp {

using ir::Scalar, ir::Type;

Tensor Tensor::Zeros(Type element, std::vector<int64_t> extents) {
  Tensor tensor;
  tensor.element = element;
  tensor.extents = std::move(extents);
  tensor.data.resize(static_cast<size_t>(tensor.ElementCount()) * element.ElementBytes());
  return tensor;
}

Tensor Tensor::Of(const ir::Layout& layout) {
  Tensor tensor;
  tensor.data.resize(layout.byte_size);
  return tensor;
}

Tensor Tensor::Filled(Scalar scalar, std::vector<int64_t> extents, std::span<const double> numbers) {
  Tensor tensor = Zeros(Type::Of(scalar), std::move(extents));
  ADC_CHECK(static_cast<size_t>(tensor.ScalarCount()) == numbers.size(), "as many numbers as elements");
  for (size_t n = 0; n < numbers.size(); ++n) tensor.Set(static_cast<int64_t>(n), numbers[n]);
  return tensor;
}

int64_t Tensor::ElementCount() const {
  int64_t count = 1;
  for (int64_t extent : extents) count *= extent;
  return count;
}

int64_t Tensor::ScalarCount() const {
  return ElementCount() * element.Components();
}

double Tensor::Get(int64_t position) const {
  return ir::VisitScalar(element.scalar, [&](auto type) -> double {
    using T = decltype(type);
    T value;
    std::memcpy(&value, data.data() + static_cast<size_t>(position) * sizeof(T), sizeof(T));
    return ir::ScalarCast<double>(value);
  });
}

void Tensor::Set(int64_t position, double number) {
  ir::VisitScalar(element.scalar, [&](auto type) {
    using T = decltype(type);
    T value = ir::ScalarCast<T>(number);
    std::memcpy(data.data() + static_cast<size_t>(position) * sizeof(T), &value, sizeof(T));
  });
}

namespace {

Argument DefaultArgument(const ir::Module& module, Type type) {
  Argument argument;
  if (type.IsBuffer())
    argument.tensor = Tensor::Zeros(type.Element(), std::vector<int64_t>(type.count, 0));
  else if (type.IsLayout())
    argument.tensor = Tensor::Of(module.layouts[type.count]);
  else
    argument.bits.resize(type.Components());
  return argument;
}

}  // namespace

Arguments MakeArguments(const ir::Module& module, const ir::Function& function) {
  Arguments arguments;
  for (ir::Value param : function.Params())
    arguments.list.push_back(DefaultArgument(module, function.TypeOf(param)));
  return arguments;
}

Arguments MakeDerivedArguments(const ir::Module& module, const ir::Function& derived,
                               const Arguments& primal) {
  Arguments arguments = MakeArguments(module, derived);
  for (size_t n = 0; n < arguments.list.size(); ++n) {
    const ir::ParamInfo& info = derived.params[n];
    Type type = derived.TypeOf(derived.Params()[n]);
    if (info.role == ir::ParamRole::Plain && n < primal.list.size()) {
      arguments[n] = primal[n];
    } else if (info.companion_of != ir::kNoAttr && info.companion_of < n && type.IsBuffer()) {
      const Argument& of = arguments[info.companion_of];
      // The companion of a number is a buffer without axes.
      if (of.bits.empty()) arguments[n].tensor = Tensor::Zeros(type.Element(), of.tensor.extents);
    }
  }
  return arguments;
}

uint32_t ParameterIndex(const ir::Module& module, const ir::Function& function, std::string_view name) {
  for (uint32_t n = 0; n < function.Params().size(); ++n) {
    if (module.Text(function[function.Params()[n]].name) == name) return n;
  }
  return ir::kNoAttr;
}

uint32_t CompanionIndex(const ir::Function& derived, ir::ParamRole role, uint32_t primal) {
  for (uint32_t n = 0; n < derived.params.size(); ++n) {
    if (derived.params[n].role == role && derived.params[n].companion_of == primal) return n;
  }
  return ir::kNoAttr;
}

Argument NumberArgument(Type type, double number) {
  uint64_t bits =
      ir::VisitScalar(type.scalar, [&](auto t) { return ir::ToBits(ir::ScalarCast<decltype(t)>(number)); });
  return {{}, std::vector<uint64_t>(type.Components(), bits)};
}

size_t TangentCount(const ir::Module& module, Type type, const Argument& argument) {
  if (type.IsLayout()) return static_cast<size_t>((module.layouts[type.count].byte_size + 1) / 2);
  if (type.IsBuffer()) return static_cast<size_t>(argument.tensor.ScalarCount());
  return type.Components();
}

uint64_t LayoutOffset(const ir::LayoutField& field, std::span<const int64_t> indices, uint32_t component) {
  uint64_t offset = field.offset + uint64_t{component} * ir::ByteSize(field.type.scalar);
  for (size_t axis = 0; axis < field.axes.size(); ++axis)
    offset += ir::OffsetOf(field.axes[axis], static_cast<uint64_t>(indices[axis]));
  return offset;
}

}  // namespace adc::interp
