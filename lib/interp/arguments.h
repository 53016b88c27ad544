#pragma once
// The arguments of a kernel: tensors, layout buffers, numbers; and the derivatives that go with them.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/module.h"

namespace adc::interp {

/// Dense memory in C order, elements packed as in C. A layout's memory has element type kNoType and no
/// extents.
struct Tensor {
  ir::Type element = ir::kNoType;
  std::vector<int64_t> extents;
  std::vector<std::byte> data;

  static Tensor Zeros(ir::Type element, std::vector<int64_t> extents);
  static Tensor Of(const ir::Layout& layout);
  /// A tensor of scalars with the numbers given, in C order.
  static Tensor Filled(ir::Scalar scalar, std::vector<int64_t> extents, std::span<const double> numbers);

  bool IsLayout() const { return element.IsNone(); }
  int64_t ElementCount() const;
  /// Elements times components.
  int64_t ScalarCount() const;
  /// Component `position` (C order, components innermost) as a double, and from one (integers truncate).
  double Get(int64_t position) const;
  void Set(int64_t position, double number);
  /// The memory as an array of `T`, which must have the size of the element's scalar.
  template <class T>
  std::span<T> As() {
    return {reinterpret_cast<T*>(data.data()), data.size() / sizeof(T)};
  }
  template <class T>
  std::span<const T> As() const {
    return {reinterpret_cast<const T*>(data.data()), data.size() / sizeof(T)};
  }
  friend bool operator==(const Tensor&, const Tensor&) = default;
};

/// One argument: memory for a buffer or a layout, else the bits of each component (in the form of
/// ConstantData).
struct Argument {
  Tensor tensor;
  std::vector<uint64_t> bits;
  /// Position of the earlier argument whose memory this one shares (two `alias` parameters); -1: its own.
  int32_t shares = -1;
};

/// The arguments of one kernel or function, one per parameter.
struct Arguments {
  std::vector<Argument> list;

  Argument& operator[](size_t parameter) { return list[parameter]; }
  const Argument& operator[](size_t parameter) const { return list[parameter]; }
};

/// Derivatives of the arguments, one list of doubles per parameter; an empty list is all zeros. A buffer has
/// one entry per component in C order, a number one per component, a layout one per *two bytes* of it: that
/// of the component at byte offset b is entry b / 2 (see LayoutOffset). Entries of integers mean nothing.
struct Tangents {
  std::vector<std::vector<double>> list;

  std::vector<double>& operator[](size_t parameter) { return list[parameter]; }
  const std::vector<double>& operator[](size_t parameter) const { return list[parameter]; }
};

/// Arguments of the right form for `function`: zeros for numbers, zero-filled memory for layouts, buffers
/// without elements (rank 0: with one).
Arguments MakeArguments(const ir::Module& module, const ir::Function& function);

/// Arguments of a derived kernel from those of its primal (by position): companions and scratch are
/// zero-filled.
Arguments MakeDerivedArguments(const ir::Module& module, const ir::Function& derived,
                               const Arguments& primal);

/// Position of the parameter called `name` (without '%'), or kNoAttr.
uint32_t ParameterIndex(const ir::Module& module, const ir::Function& function, std::string_view name);
/// Position of the companion (adjoint or tangent) of parameter `primal` of a derived kernel, or kNoAttr.
uint32_t CompanionIndex(const ir::Function& derived, ir::ParamRole role, uint32_t primal);

/// A number argument of `type` (a vector or matrix repeats it).
Argument NumberArgument(ir::Type type, double number);
/// Number of entries that the tangents of `argument` have.
size_t TangentCount(const ir::Module& module, ir::Type type, const Argument& argument);

/// Byte offset of a component of a layout's field at `indices`, which must be in range.
uint64_t LayoutOffset(const ir::LayoutField& field, std::span<const int64_t> indices, uint32_t component);
/// Calls `visit(indices, component, offset)` for each component of each cell of a layout's field, in C order,
/// until it gives false.
template <class Visit>
void ForEachComponent(const ir::LayoutField& field, Visit visit) {
  for (const ir::LayoutAxis& axis : field.axes) {
    if (axis.extent == 0) return;
  }
  std::vector<int64_t> index(field.axes.size(), 0);
  for (bool more = true; more;) {
    for (uint32_t k = 0; k < field.type.Components(); ++k) {
      if (!visit(index, k, LayoutOffset(field, index, k))) return;
    }
    size_t axis = field.axes.size();
    while (axis > 0 && static_cast<uint64_t>(++index[axis - 1]) == field.axes[axis - 1].extent)
      index[--axis] = 0;
    more = axis > 0;
  }
}

}  // namespace adc::interp
