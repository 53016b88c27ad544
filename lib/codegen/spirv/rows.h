#pragma once
// Rows of adstack heaps: which row a thread has, and the loads and stores of their elements.
//
// A row is known by its token: the byte offset of its block in the heap, a multiple of 64, with its lane in
// the low six bits. Where a row is claimed, each stack of it that is used becomes an array whose elements lie
// a block's width apart, so that slot k is element k of it:
//
//   row.store %row, 1, %k, %v       (the array of %row and stack 1)[%k] = %v
//
// In a group with a gate a thread takes a row when it first comes to the claim and keeps it. The token it
// holds, or kUnclaimed, is a state that the control flow carries along.

#include "codegen/spirv/memory.h"

namespace adc::codegen::spirv {

class RowEmitter {
 public:
  RowEmitter(Environment& environment, ValueTable& values, MemoryEmitter& memory, StatusReporter& status);

  /// The state of a thread that has taken no row yet.
  Id Unclaimed() { return f_.Int(64, ~uint64_t{0}); }
  /// `row.claim` of a group without a gate.
  void EmitClaim(ir::Inst inst);
  /// `row.claim` of a group with a gate; the state before it, and the result: the state after it.
  Id EmitGatedClaim(ir::Inst inst, Id state);
  /// Has `row` be the row of `token` from here on.
  void Bind(ir::Value row, Id token) {
    values_.Bind(row, token);
    MakeArrays(row, token);
  }
  /// `row.capacity`.
  void EmitCapacity(ir::Inst inst);
  /// `row.load`, `row.store`.
  void EmitAccess(ir::Inst inst);

 private:
  /// A stack of a row, as it is used by some accesses.
  struct StackUse {
    uint32_t stack = 0;
    Storage storage = Storage::U32;
    friend auto operator<=>(const StackUse&, const StackUse&) = default;
  };

  /// The stack that an access goes to, and how.
  StackUse UseOf(ir::Inst inst) const;
  /// Makes the arrays of the stacks that accesses of row `row`, whose token it is, go to.
  void MakeArrays(ir::Value row, Id token);
  /// The token of row `row` (64 bits).
  Id TokenOf(uint32_t group, Id row);
  /// The number of a row that no other thread has, in 64 bits.
  Id TakeRow(uint32_t group);
  /// The array of a stack: a pointer, or the number of its first element where memory has no addresses.
  Id ArrayOf(Id token, const StackUse& use);

  ModuleBuilder& m_;
  const ir::Function& kernel_;
  Environment& environment_;
  FunctionBuilder& f_;
  ValueTable& values_;
  MemoryEmitter& memory_;
  StatusReporter& status_;
  std::map<uint32_t, Id> own_tokens_;                       ///< by group without a gate
  std::map<std::pair<uint32_t, StackUse>, Id> own_arrays_;  ///< of these rows
  SideTable<ir::Value, std::set<StackUse>> uses_;           ///< by row: the stacks that its accesses go to
  std::map<std::pair<ir::Value, StackUse>, Id> arrays_;
};

}  // namespace adc::codegen::spirv
