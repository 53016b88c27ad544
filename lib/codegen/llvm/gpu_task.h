#pragma once
// A GPU's side of a task body: its arguments out of the words of the launch, its rows, and its calls into the
// math library.

#include <map>

#include "codegen/llvm/alias.h"
#include "codegen/llvm/gpu_dialect.h"
#include "codegen/llvm/gpu_words.h"
#include "codegen/llvm/hooks.h"
#include "codegen/llvm/math_library.h"
#include "codegen/llvm/own_math.h"

namespace adc::codegen {

class GpuTask final : public TargetHooks {
 public:
  /// Makes the entry function and leaves `builder` in its first working block. `rows` may be null.
  GpuTask(llvm::Module& module, llvm::IRBuilder<>& builder, const ir::Function& kernel,
          const CodeConfig& config, const GpuDialect& dialect, const MathLibrary& library, OwnMath& math,
          const TaskRows* rows, const AliasScopes& aliases, const GpuEntry& what);

  GpuWords& words() { return words_; }
  llvm::Function* Entry() const { return words_.Entry(); }
  /// Number of this thread among all of the launch, i64.
  llvm::Value* Thread() const { return thread_; }
  /// Number of the first thread of its block, i64.
  llvm::Value* FirstOfBlock() const { return first_; }
  llvm::Value* BlockNumber() const { return block_; }
  /// The current flat iteration, for reports.
  void SetIteration(llvm::Value* iteration) { iteration_ = iteration; }

  const target::Target& Description() const override { return config_.target; }
  const GpuDialect* Wave() const override { return &dialect_; }
  uint32_t WavesOfBlock() const override { return what_.block_size / dialect_.Lanes(); }
  llvm::Value* WaveInBlock() override;
  llvm::Value* InBlock() override { return in_block_; }
  llvm::SyncScope::ID AtomicScope() const override { return scope_; }
  llvm::Value* BufferAddress(uint32_t param) override;
  llvm::Value* Extent(uint32_t param, uint32_t axis) override;
  llvm::Value* ParameterComponent(uint32_t param, uint32_t component) override;
  llvm::Value* Row(uint32_t group) override;
  llvm::Value* StackOffset(uint32_t stack) override;
  llvm::Value* StackCapacity(uint32_t stack) override;
  llvm::Value* RowAddress(llvm::Value* row, llvm::Value* byte, uint32_t size) override;
  void Raise(StatusCode code, uint32_t index, llvm::Value* needed) override;
  llvm::AllocaInst* Local(llvm::Type* type, const llvm::Twine& name) override;
  llvm::Value* CallMath(ir::Op op, ir::Scalar scalar, llvm::ArrayRef<llvm::Value*> operands,
                        ir::Words words) override;
  std::pair<llvm::Value*, llvm::Value*> CallSinCos(ir::Scalar scalar, llvm::Value* operand,
                                                   ir::Words words) override;

 private:
  /// Whether a function of our own computes it, and not the library (docs/choices/gpu-math-library.md).
  bool HasOwnMath(ir::Op op, ir::Scalar scalar) const;
  /// A row as its two parts: bytes from the heap's start to its block of rows, and its lane there. i64.
  struct RowParts {
    llvm::Value* block = nullptr;
    llvm::Value* lane = nullptr;
  };
  llvm::Value* RowToken(llvm::IRBuilder<>& b, uint32_t group, llvm::Value* row);
  llvm::Value* GatedRow(uint32_t group);
  /// The next free row of a group; lanes that come together take neighbours with one atomic update.
  llvm::Value* TakeRow(uint32_t group);

  llvm::Module& module_;
  llvm::IRBuilder<>& builder_;
  const ir::Function& kernel_;
  const CodeConfig& config_;
  const GpuDialect& dialect_;
  const MathLibrary& library_;
  OwnMath& math_;
  GpuWords words_;
  const TaskRows* rows_;
  const AliasScopes& aliases_;
  GpuEntry what_;
  llvm::SyncScope::ID scope_;
  llvm::IRBuilder<> head_;           ///< the entry block: arguments and thread-local memory
  llvm::Value* in_block_ = nullptr;  ///< number of this thread in its block, i32
  llvm::Value* block_ = nullptr;
  llvm::Value* first_ = nullptr;
  llvm::Value* thread_ = nullptr;
  llvm::Value* iteration_ = nullptr;
  std::vector<llvm::Value*> components_;    ///< by-value arguments in register form, by cell
  std::vector<llvm::Value*> ungated_;       ///< tokens of groups without a gate, by group
  std::vector<llvm::AllocaInst*> claimed_;  ///< gated groups: this thread's token, or all ones
  std::map<llvm::Value*, RowParts> parts_;  ///< of tokens whose parts are known
};

}  // namespace adc::codegen
