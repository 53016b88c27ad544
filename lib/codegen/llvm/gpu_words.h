#pragma once
// The entry function of a task, whose parameters are the words of the launch (artifact/gpu_abi.h).
//
// A word is a kernel parameter, or it lies in the table and is loaded where the body uses it, so that no
// register holds it from the start on. Parameters that are addresses point to global memory and do not
// overlap unless the kernel says `alias`.

#include "artifact/gpu_abi.h"
#include "codegen/common/launch_words.h"
#include "ir/function.h"
#include "llvm/IR/IRBuilder.h"

namespace adc::codegen {

class GpuDialect;

/// The name of a task and the form of its launch.
struct GpuEntry {
  std::string symbol;
  uint32_t task = 0;  ///< its number in the kernel
  uint32_t block_size = 0;
  bool serial = false;
  bool team = false;  ///< a block of threads runs an iteration, and has the number and the rows of a thread
};

class GpuWords {
 public:
  /// Makes the entry function, without blocks. `rows` may be null.
  GpuWords(llvm::Module& module, const ir::Function& kernel, const CodeConfig& config,
           const GpuDialect& dialect, const TaskRows* rows, const GpuEntry& what);

  llvm::Function* Entry() const { return entry_; }
  /// Gives the entry's parameters the names of their words, all of which `words` has.
  void NameParameters(const std::vector<std::string>& words);

  llvm::Argument* Heap() const { return Parameter(tail_); }
  llvm::Argument* Status() const { return Parameter(tail_ + 1); }
  /// How many iterations there are, and how many threads take part, i64.
  llvm::Argument* Iterations() const { return Parameter(tail_ + 2); }
  llvm::Argument* Threads() const { return Parameter(tail_ + 3); }
  /// Where the words of a parameter begin, or behind the last one those of rows.
  uint32_t PositionOf(uint32_t param) const { return first_cell_[param]; }
  /// A word, which `b` loads where it is in the table.
  llvm::Value* Get(llvm::IRBuilder<>& b, uint32_t position) const;
  /// The same of an extent, an offset or a number.
  llvm::Value* NotNegative(llvm::IRBuilder<>& b, uint32_t position) const;
  /// A word of a claim group or of a stack.
  template <class Word>
  llvm::Value* OfRows(llvm::IRBuilder<>& b, uint32_t number, Word word) const {
    return NotNegative(b, first_cell_.back() + codegen::PositionOf(rows_, number, word));
  }

 private:
  uint32_t WordCount() const { return tail_ + ADRT_GPU_TAIL_WORDS; }
  bool HasTable() const { return WordCount() > ADRT_GPU_MAX_WORDS; }
  bool InTable(uint32_t position) const {
    return HasTable() && position >= ADRT_GPU_DIRECT_WORDS && position < tail_;
  }
  /// The parameter that is a word which is not in the table.
  llvm::Argument* Parameter(uint32_t position) const;
  void Describe(const ir::Function& kernel, bool team);

  const TaskRows* rows_;
  std::vector<uint32_t> first_cell_;
  uint32_t tail_;                         ///< position of the heap's word
  llvm::SmallVector<llvm::Type*> types_;  ///< of the words
  llvm::Function* entry_ = nullptr;
};

}  // namespace adc::codegen
