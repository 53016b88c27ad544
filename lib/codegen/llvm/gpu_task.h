#pragma once
// A GPU's side of a task body: its entry function, its arguments out of the words of the launch
// (artifact/gpu_abi.h), its rows, and its calls into the math library.
//
// A word is a kernel parameter, or it lies in the table and is loaded where the body uses it, so that no
// register holds it from the start on. Parameters that are addresses point to global memory and do not
// overlap unless the kernel says `alias`.

#include <map>

#include "artifact/gpu_abi.h"
#include "codegen/common/code.h"
#include "codegen/llvm/alias.h"
#include "codegen/llvm/gpu_dialect.h"
#include "codegen/llvm/hooks.h"
#include "codegen/llvm/math_library.h"
#include "codegen/llvm/own_math.h"
#include "ir/function.h"

namespace adc::codegen {

/// The name of a task and the form of its launch.
struct GpuEntry {
  std::string symbol;
  uint32_t task = 0;  ///< its number in the kernel
  uint32_t block_size = 0;
  bool serial = false;
  bool team = false;  ///< a block of threads runs an iteration, and has the number and the rows of a thread
};

class GpuTask final : public TargetHooks {
 public:
  /// Makes the entry function and leaves `builder` in its first working block. `rows` may be null.
  GpuTask(llvm::Module& module, llvm::IRBuilder<>& builder, const ir::Function& kernel,
          const CodeConfig& config, const GpuDialect& dialect, const MathLibrary& library, OwnMath& math,
          const TaskRows* rows, const AliasScopes& aliases, const GpuEntry& what);

  llvm::Function* Entry() const { return entry_; }
  /// Gives the entry's parameters the names of their words, all of which `words` has.
  void NameParameters(const std::vector<std::string>& words);
  /// Number of this thread among all of the launch, i64.
  llvm::Value* Thread() const { return thread_; }
  /// Number of the first thread of its block, i64.
  llvm::Value* FirstOfBlock() const { return first_; }
  llvm::Value* BlockNumber() const { return block_; }
  /// How many iterations there are, and how many threads take part, i64.
  llvm::Value* Iterations() const { return Parameter(tail_ + 2); }
  llvm::Value* Threads() const { return Parameter(tail_ + 3); }
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
  enum class GroupWord : uint8_t { Offset, Stride, Rows, Counter };

  uint32_t WordCount() const { return tail_ + ADRT_GPU_TAIL_WORDS; }
  bool HasTable() const { return WordCount() > ADRT_GPU_MAX_WORDS; }
  bool InTable(uint32_t position) const {
    return HasTable() && position >= ADRT_GPU_DIRECT_WORDS && position < tail_;
  }
  /// The parameter that is a word which is not in the table.
  llvm::Argument* Parameter(uint32_t position) const;
  /// A word, which `b` loads where it is in the table.
  llvm::Value* Word(llvm::IRBuilder<>& b, uint32_t position) const;
  /// The same of an extent, an offset or a number.
  llvm::Value* NotNegative(llvm::IRBuilder<>& b, uint32_t position) const;
  llvm::Value* Word(llvm::IRBuilder<>& b, uint32_t group, GroupWord what) const;
  llvm::Value* Heap() const { return Parameter(tail_); }
  void MakeEntry();
  uint32_t StackWord(uint32_t stack) const;
  void DescribeWords();
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
  const TaskRows* rows_;
  const AliasScopes& aliases_;
  GpuEntry what_;
  llvm::SyncScope::ID scope_;
  std::vector<uint32_t> first_cell_;
  uint32_t tail_ = 0;                     ///< position of the heap's word
  llvm::SmallVector<llvm::Type*> types_;  ///< of the words
  llvm::Function* entry_ = nullptr;
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
