#pragma once
// Rows of adstack heaps: which row a thread has, and the loads and stores of their elements.
//
// A row is known by its token: the byte offset of its block in the heap, a multiple of 64, with its lane in
// the low six bits. For each size of element that a task keeps in rows the token is turned, once, into the
// place of byte 0 of the row (an address; an element number where memory has none).
//
// In a group with a gate a thread takes a row when it first comes to the claim and keeps it. The token it
// holds, or kUnclaimed, is a state that the control flow carries along.

#include "codegen/spirv/memory.h"

namespace adc::codegen::spirv {

class RowEmitter {
 public:
  RowEmitter(ModuleContext& context, const ir::Function& kernel, Environment& environment,
             FunctionBuilder& builder, ValueTable& values, MemoryEmitter& memory, StatusReporter& status)
      : context_(context),
        m_(context.module),
        kernel_(kernel),
        environment_(environment),
        f_(builder),
        values_(values),
        memory_(memory),
        status_(status) {}

  /// The state of a thread that has taken no row yet.
  Id Unclaimed() { return f_.Int(64, ~uint64_t{0}); }
  /// `row.claim` of a group without a gate.
  void EmitClaim(ir::Inst inst);
  /// `row.claim` of a group with a gate; the state before it, and the result: the state after it.
  Id EmitGatedClaim(ir::Inst inst, Id state);
  /// `row.base`, `row.capacity`.
  void EmitWord(ir::Inst inst);
  /// `row.load`, `row.store`.
  void EmitAccess(ir::Inst inst);

 private:
  /// The token of row `row` (64 bits).
  Id TokenOf(uint32_t group, Id row);
  /// The number of a row that no other thread has, in 64 bits.
  Id TakeRow(uint32_t group);
  /// Where byte 0 of a row lies for elements of `bytes` bytes.
  Id Start(Id token, uint32_t bytes);

  ModuleContext& context_;
  ModuleBuilder& m_;
  const ir::Function& kernel_;
  Environment& environment_;
  FunctionBuilder& f_;
  ValueTable& values_;
  MemoryEmitter& memory_;
  StatusReporter& status_;
  std::map<uint32_t, Id> own_tokens_;                  ///< by group without a gate
  std::map<std::pair<Id, uint32_t>, Id> head_starts_;  ///< of those tokens, by size
  std::set<Id> head_tokens_;
};

}  // namespace adc::codegen::spirv
