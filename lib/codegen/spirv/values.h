#pragma once
// The ids that stand for each IR value in SPIR-V: results as they are emitted, constants and parameters on
// demand.

#include "codegen/spirv/environment.h"

namespace adc::codegen::spirv {

class ValueTable {
 public:
  /// `environment`: where the parameters of a kernel come from; null for a function, whose parameters are
  /// bound.
  ValueTable(const ir::Module& module, const ir::Function& function, FunctionBuilder& builder,
             ScalarEmitter& scalars, Environment* environment)
      : module_(module), function_(function), f_(builder), scalars_(scalars), environment_(environment) {}

  Id Get(ir::Value v);
  std::vector<Id> GetAll(std::span<const ir::Value> values);
  void Bind(ir::Value v, Id id) { ids_.Set(v) = id; }
  /// For translators, whether `inst` widens an i32: then Get makes the wide number at each use, so that one
  /// which only names elements of arrays asks for no integers of 64 bits.
  bool WidensAtUse(ir::Inst inst) const;
  /// The index of an element, and its bits: 32 where it is a constant that has them, or was widened from
  /// them.
  std::pair<Id, uint32_t> ElementIndex(ir::Value v);
  /// An i32 or i64 value in `width` bits, extended after its sign.
  Id Index(ir::Value v, uint32_t width);
  /// The same for an index that is in range, and so not negative.
  Id Position(ir::Value v, uint32_t width);

 private:
  const ir::Module& module_;
  const ir::Function& function_;
  FunctionBuilder& f_;
  ScalarEmitter& scalars_;
  Environment* environment_;
  SideTable<ir::Value, Id> ids_;
};

}  // namespace adc::codegen::spirv
