#pragma once
// DWARF line tables that name the files of the source: one subprogram per task, one line per instruction.

#include <memory>

#include "diag/source.h"
#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/DebugInfoMetadata.h"

namespace adc::codegen {

class DebugLines {
 public:
  /// `directory` is written where debuggers expect the folder of compilation.
  DebugLines(llvm::Module& module, const diag::SourceManager& sources, std::string_view directory,
             std::string_view producer, bool optimised);

  /// Gives `function` a subprogram at `place`.
  void Begin(llvm::Function& function, std::string_view name, diag::SourceSpan place);
  /// The location of `place` in the subprogram; that of the subprogram for a place that is unknown.
  llvm::DILocation* At(diag::SourceSpan place);
  /// Writes what is pending; nothing may be added afterwards.
  void Finish() { builder_.finalize(); }

 private:
  llvm::DIFile* FileOf(diag::SourceSpan place);

  const diag::SourceManager& sources_;
  std::string directory_;
  llvm::DIBuilder builder_;
  llvm::DISubprogram* subprogram_ = nullptr;
};

}  // namespace adc::codegen
