#pragma once
// One vendor's names for the things that every task needs of a GPU: the numbers of threads, the lanes of a
// wave that run in step, entry points. One implementation per target folder.
//
// Threads come in one-dimensional blocks, whose size is a multiple of the wave. A *mask* is an integer with
// one bit per lane of the wave. All lanes in a mask must reach a call that names it together.

#include "ir/op.h"
#include "llvm/IR/IRBuilder.h"

namespace adc::codegen {

class GpuDialect {
 public:
  using Builder = llvm::IRBuilder<>;
  virtual ~GpuDialect() = default;

  /// Adds the facts that the module as a whole states.
  virtual void MakeModule(llvm::Module&) const {}
  /// Makes `function` an entry point that is launched in blocks of `block_size` threads.
  virtual void MakeEntry(llvm::Function& function, uint32_t block_size) const = 0;
  /// Makes a multiprocessor run `threads` threads of the entry at once, even if each gets fewer registers:
  /// 128 of them where there are 512.
  virtual void RaiseOccupancy(llvm::Function&, uint32_t /*block_size*/, uint32_t /*threads*/) const {}
  /// Attributes that every function of the module needs, entry or not.
  virtual void MakeFunction(llvm::Function& function) const = 0;
  /// LLVM's name of the scope in which all threads of a launch see an atomic update; empty: the whole system.
  virtual const char* AtomicScope() const = 0;

  /// Number of this thread in its block and of the block in the grid, i32.
  virtual llvm::Value* ThreadInBlock(Builder& b, uint32_t block_size) const = 0;
  virtual llvm::Value* BlockNumber(Builder& b) const = 0;

  /// Waits until all threads of the block have come here; the values that they wrote to shared memory are
  /// there then.
  virtual void MeetBlock(Builder& b) const = 0;

  /// Lanes of a wave: 32 or 64.
  virtual uint32_t Lanes() const = 0;
  /// Number of this thread's lane, i32.
  virtual llvm::Value* Lane(Builder& b) const = 0;
  /// Mask of the lanes that run this together, in any number.
  virtual llvm::Value* ActiveLanes(Builder& b) const = 0;
  /// Mask of the lanes of `mask` for which `condition`, an i1, holds.
  virtual llvm::Value* LanesWhere(Builder& b, llvm::Value* mask, llvm::Value* condition) const = 0;
  /// How many lanes of `mask` come before this one, i32.
  virtual llvm::Value* CountBelow(Builder& b, llvm::Value* mask) const = 0;
  /// `value`, an i32, of lane `lane`, an i32, which is one of `mask`.
  virtual llvm::Value* Read(Builder& b, llvm::Value* mask, llvm::Value* value, llvm::Value* lane) const = 0;
  /// The same where all lanes of `mask` ask for the same lane.
  virtual llvm::Value* ReadOne(Builder& b, llvm::Value* mask, llvm::Value* value, llvm::Value* lane) const {
    return Read(b, mask, value, lane);
  }
  /// `value`, an i32, of the lane whose number differs from this one's in the bits `distance`. Every lane of
  /// the wave runs this.
  virtual llvm::Value* ReadAcross(Builder& b, llvm::Value* value, uint32_t distance) const = 0;
  /// Whether AddOverWave is there.
  virtual bool AddsAtOnce() const { return false; }
  /// The sum of `value`, an i32, over the whole wave, every lane of which runs this.
  virtual llvm::Value* AddOverWave(Builder&, llvm::Value*) const { return nullptr; }
  /// Mask of the lanes of `mask` that hold the same `value`, an i64, as this one. May add blocks.
  virtual llvm::Value* Peers(Builder& b, llvm::Value* mask, llvm::Value* value) const;

  /// Whether AddVector is there.
  virtual bool AddsVectors() const { return false; }
  /// Adds two or four values of f32 to global memory, atomically each, from an address that is aligned to all
  /// of them.
  virtual void AddVector(Builder&, llvm::Value* /*address*/, llvm::ArrayRef<llvm::Value*>) const {}

  /// A mathematical function by instructions that are not exact, for code that asks for speed first; null
  /// where there are none.
  virtual llvm::Value* ApproximateMath(Builder&, ir::Op, ir::Scalar, llvm::ArrayRef<llvm::Value*>) const {
    return nullptr;
  }

  /// 1 / sqrt(value) within two units of the last place, special values included, by fewer instructions than
  /// a root and a quotient take; null where there are none.
  virtual llvm::Value* ReciprocalRoot(Builder&, ir::Scalar, llvm::Value*) const { return nullptr; }

  llvm::IntegerType* MaskType(Builder& b) const { return b.getIntNTy(Lanes()); }
  llvm::Value* EveryLane(Builder& b) const { return llvm::ConstantInt::getAllOnesValue(MaskType(b)); }
  /// The first lane of `mask`, which is not empty, i32.
  llvm::Value* FirstLane(Builder& b, llvm::Value* mask) const;

  /// Read and ReadAcross for a value of any scalar register type.
  llvm::Value* ReadScalar(Builder& b, llvm::Value* mask, llvm::Value* value, llvm::Value* lane) const;
  llvm::Value* ReadScalarAcross(Builder& b, llvm::Value* value, uint32_t distance) const;
};

}  // namespace adc::codegen
