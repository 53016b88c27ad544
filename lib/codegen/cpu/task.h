#pragma once
// The CPU's side of a task body: its entry function, its arguments out of the frame, its calls into the math
// library.

#include <span>

#include "codegen/common/cells.h"
#include "codegen/cpu/emit.h"
#include "codegen/llvm/alias.h"
#include "codegen/llvm/hooks.h"
#include "codegen/llvm/own_math.h"
#include "ir/function.h"

namespace adc::codegen {

enum class TaskForm : uint8_t {
  Entry,  ///< the loader finds it
  Alone,  ///< for a worker that runs all iterations
  Asks,   ///< for all workers: an argument says whether this one runs all iterations
};

/// Calls a form that is no entry, for a worker that runs all iterations or `among_others`.
void CallForm(llvm::IRBuilder<>& builder, llvm::Function* form, llvm::ArrayRef<llvm::Value*> arguments,
              bool among_others = false);

class CpuTask final : public TargetHooks {
 public:
  /// Makes the function `symbol`, called as entries are, and leaves `builder` in its first working block.
  CpuTask(llvm::Module& module, llvm::IRBuilder<>& builder, const ir::Function& kernel,
          const CodeConfig& config, const TaskRows* rows, const AliasScopes& aliases, OwnMath& math,
          const std::string& symbol, uint32_t task, TaskForm form);

  llvm::Function* Entry() const { return entry_; }
  llvm::Value* Begin() const { return entry_->getArg(1); }
  llvm::Value* End() const { return entry_->getArg(2); }
  /// Asks: whether the worker runs all iterations.
  llvm::Value* RunsAll() const { return entry_->getArg(3); }
  /// A copy of the frame in which buffers lie at other addresses, given by parameter.
  llvm::Value* FrameWith(std::span<const std::pair<uint32_t, llvm::Value*>> buffers);
  /// The worker's row has `count` copies after its stacks.
  void AddCopies(uint32_t count);
  llvm::Value* CopyAddress(uint32_t copy);
  llvm::Value* CopyCapacity(uint32_t copy);
  /// Address of the status block.
  llvm::Value* Status() { return Frame(FrameField::Status); }
  /// The current flat iteration, for reports.
  void SetIteration(llvm::Value* iteration) { iteration_ = iteration; }

  const target::Target& Description() const override { return config_.target; }
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
  LaneShape ScalarShape() const;
  enum class FrameField : uint8_t { Cells, Adstack, Heap, Status, Row };
  llvm::Value* Frame(FrameField field);
  /// The cell at `position` of an array of cells, read as `type` from its low end.
  llvm::Value* Cell(FrameField array, uint32_t position, llvm::Type* type);
  llvm::LoadInst* InvariantLoad(llvm::IRBuilder<>& builder, llvm::Type* type, llvm::Value* address,
                                uint32_t alignment);
  uint32_t StackCell(uint32_t stack) const;
  llvm::Value* RowStart();

  llvm::Module& module_;
  llvm::IRBuilder<>& builder_;
  const ir::Function& kernel_;
  const CodeConfig& config_;
  const TaskRows* rows_;
  const AliasScopes& aliases_;
  OwnMath& own_math_;
  uint32_t task_;
  llvm::Function* entry_ = nullptr;
  llvm::IRBuilder<> head_;  ///< the entry block: arguments and thread-local memory
  llvm::Value* iteration_ = nullptr;
  std::vector<uint32_t> first_cell_;
  llvm::Value* frame_fields_[5] = {};
  std::vector<llvm::Value*> cells_;          ///< loaded argument cells by position
  std::vector<llvm::Value*> adstack_cells_;  ///< the same for adstack cells
  uint32_t first_copy_ = 0;                  ///< among them
  llvm::AllocaInst* sine_[2] = {};           ///< f32, f64
  llvm::AllocaInst* cosine_[2] = {};
};

}  // namespace adc::codegen
