#pragma once
// Functions that are generic over a float type: `func @length<T>(%v: vec<T, 3>) -> T { ... }`. A call makes
// an instance, `@length.f32`, whose text is parsed with T as another name of f32. The module holds instances
// alone.

#include <array>
#include <deque>
#include <unordered_map>

#include "parse/items.h"

namespace adc::parse {

class Generics {
 public:
  Generics(Shared& shared, Gathered& gathered) : shared_(shared), gathered_(gathered) {}

  /// A function whose signature begins, after its parameter `word`, at `pending.signature`. Says what is
  /// wrong with the signature.
  void Add(StringId name, std::string_view word, const PendingFunction& pending);
  bool IsGeneric(StringId name) const { return generics_.contains(name); }
  /// The instance for a float type; it is made where it is not there yet. Null after an error.
  const ir::Function* Instance(StringId name, ir::Scalar scalar, diag::SourceSpan use);
  /// The instance that `name`, as `length.f32`, means where no function has this name: printed text names
  /// those of imported functions. Null where it means none.
  const ir::Function* InstanceNamed(StringId name, diag::SourceSpan use);
  /// Makes the instances that functions of the module name as derivatives.
  void InstanceDerivatives();
  /// The float types for which arguments of these types fit; a type of none fits any scalar, vector or
  /// matrix.
  std::vector<ir::Scalar> Fitting(StringId name, std::span<const ir::Type> arguments) const;
  /// How many parameters it has, and the name of its type.
  size_t ParamCount(StringId name) const;
  std::string_view Word(StringId name) const;

  /// Parses the bodies of those that are not called, for their mistakes alone.
  void CheckUnused();
  /// Puts instances where their functions stand in the text.
  void PlaceInstances();

 private:
  static constexpr std::array<ir::Scalar, 3> kScalars = {ir::Scalar::F16, ir::Scalar::F32, ir::Scalar::F64};
  struct Generic {
    StringId name;
    PendingFunction pending;
    std::array<std::vector<ir::Type>, 3> params;
    std::array<ir::Function*, 3> instances = {};
    std::array<ir::Function*, 3> probes = {};  ///< with a signature alone, in no module
  };

  PendingFunction Bound(const Generic& generic, size_t n, diag::SourceSpan use) const;
  ir::Function* Probe(Generic& generic, size_t n);

  Shared& shared_;
  Gathered& gathered_;
  std::deque<Generic> order_;
  std::unordered_map<StringId, Generic*> generics_;
  bool probing_ = false;  ///< no instance is made: its caller is in no module either
};

}  // namespace adc::parse
