#pragma once
// Appends instructions to a block. Result types follow the table of operations; misuse is an internal error.

#include <initializer_list>

#include "ir/function.h"

namespace adc::ir {

class Builder {
 public:
  Builder(Module& module, Function& function, Block block)
      : module_(module), function_(function), block_(block) {}
  virtual ~Builder() = default;

  Module& module() { return module_; }
  Function& function() { return function_; }
  Block block() const { return block_; }
  void SetBlock(Block block) { block_ = block; }
  /// The place that the instructions made from here on carry.
  void SetSpan(diag::SourceSpan span) { span_ = span; }
  diag::SourceSpan span() const { return span_; }

  Value Bits(Type type, uint64_t bits) { return function_.Constant(type, bits); }
  /// An integer (or i1) literal, wrapped to its type.
  Value Int(Type type, int64_t value);
  /// A float literal, rounded to its type.
  Value Float(Type type, double value);
  /// 0, 0.0 or false.
  Value Zero(Type type) { return Bits(type, 0); }
  Value I32(int32_t value) { return Int(kI32, value); }
  Value I64(int64_t value) { return Int(kI64, value); }

  /// Any operation whose result type its operands determine (ResultType). Overridable: a folding builder
  /// simplifies here.
  virtual Value Make(Op op, std::span<const Value> operands);
  Value Make(Op op, std::initializer_list<Value> operands) {
    return Make(op, std::span<const Value>(operands.begin(), operands.size()));
  }
  virtual Value Cast(Value value, Type to);
  Value Bitcast(Value value, Type to);
  Value Shape(Value base, uint32_t axis, Type type = kI32);
  Value Load(Value base, std::span<const Value> indices, uint32_t field = kNoAttr,
             uint32_t component = kNoAttr);
  /// Store, AddTo or an atomic with one value. The result of an atomic; invalid for the others.
  Value Access(Op op, Value base, std::span<const Value> indices, std::span<const Value> values,
               uint32_t field = kNoAttr, uint32_t component = kNoAttr, Words words = {});
  /// `words`: none or `unset`.
  Value Alloca(Type array, Words words = {});

  /// Makes the loop with its region; the block's parameters are iv, then one per initial value. Does not
  /// enter it.
  Inst For(Value lo, Value hi, Value step, std::span<const Value> initial, Words words = {});
  Inst If(Value condition, std::span<const Type> results);
  /// Makes the branch with its regions: `then` and `otherwise` write them, each with its yield.
  template <class Then, class Else>
  Inst Branch(Value condition, std::span<const Type> results, Then&& then, Else&& otherwise) {
    Inst branch = If(condition, results);
    Block outer = block_;
    block_ = function_[branch].regions[0];
    then();
    block_ = function_[branch].regions[1];
    otherwise();
    block_ = outer;
    return branch;
  }
  /// What `then` writes runs where the condition is true.
  template <class Then>
  void Where(Value condition, Then&& then) {
    auto then_yield = [&] {
      then();
      Yield({});
    };
    Branch(condition, {}, then_yield, [&] { Yield({}); });
  }
  /// Its region begins with its label.
  Inst Scope(std::span<const Type> results);
  /// `max` may be invalid; that it is there need not stand in `words`. Region 0 has the carried parameters,
  /// region 1 none.
  Inst While(Value max, std::span<const Value> initial, Words words = {});
  /// One lo, hi pair per axis; axis values are of the bounds' types.
  Inst Parallel(std::span<const Value> bounds, uint32_t block_size);
  Inst ParallelOver(Value layout, uint32_t field);
  Inst Terminate(Op op, std::span<const Value> values);
  Inst Yield(std::span<const Value> values) { return Terminate(Op::Yield, values); }

  Value StackNew(Scalar scalar);
  void StackPush(Value stack, Value value, Value slot = {});
  Value StackPop(Value stack, Value slot = {});

  /// The general way: any operation with stated result types, appended to the block.
  Inst Create(Op op, std::span<const Value> operands, std::span<const Type> results);

 protected:
  Module& module_;
  Function& function_;
  Block block_;
  diag::SourceSpan span_;
};

}  // namespace adc::ir
