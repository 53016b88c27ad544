#pragma once
// Loads and stores: of locals, of built-in inputs, and of the blocks of the shader, whose members lie in
// buffers or are parameters by value.

#include "frontend/spirv/locals.h"

namespace adc::frontend::spirv {

class Memory : public Locals {
 protected:
  using Locals::Locals;
  /// A number in memory.
  struct Place {
    Unit* unit = nullptr;  ///< null: an array of a local or an image
    std::vector<ir::Value> indices;
    uint32_t component = ir::kNoAttr;
    ir::Value array;
    ir::Scalar scalar = ir::Scalar::F32;  ///< of the array
    ir::Value inside;                     ///< whether it lies in its image; invalid: it does
    ir::Value Base() const { return unit != nullptr ? unit->param : array; }
    ir::Scalar Scalar() const { return unit != nullptr ? unit->scalar : scalar; }
  };
  Value Load(const Pointer& pointer, const Instruction& inst);
  void Store(const Pointer& pointer, const Value& value, const Instruction& inst);
  void ArrayLength(const Instruction& inst);
  /// The number that a pointer leads to in a block.
  Place NumberAt(const Pointer& pointer, const Instruction& inst);
  ir::Value FromMemory(ir::Value value);
  ir::Value ToMemory(ir::Value value, ir::Scalar scalar);

 private:
  // places.cpp
  Place PlaceOf(const Pointer& pointer, ir::Scalar scalar, uint64_t more, const Instruction& inst);
  ir::Value LoadScalar(const Place& place);
  void StoreScalar(const Place& place, ir::Value value);

  ir::Value LoadBuiltin(const Pointer& pointer, const Instruction& inst);
  void LoadMemory(const Pointer& pointer, Id type, const Instruction& inst, Value& out);
  void StoreMemory(const Pointer& pointer, Id type, std::span<const ir::Value>& parts,
                   const Instruction& inst);
  bool HoldsVectors(const Unit* unit) const;
  ir::Value LoadRegister(const Pointer& pointer, Id type, const Instruction& inst);
  void StoreRegister(const Pointer& pointer, Id type, ir::Value value, const Instruction& inst);

  // components.cpp
  Pointer ComponentPlace(const Pointer& pointer);
  ir::Value LoadComponent(const Pointer& pointer, const Instruction& inst);
  void StoreComponent(const Pointer& pointer, ir::Value value, const Instruction& inst);

  // constant_blocks.cpp
  ir::Value LoadByValue(const Pointer& pointer, Id type, const Instruction& inst);
  ir::Value LoadAddress(const Pointer& pointer, const Instruction& inst);
};

}  // namespace adc::frontend::spirv
