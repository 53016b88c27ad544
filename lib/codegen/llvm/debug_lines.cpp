#include "codegen/llvm/debug_lines.h"

#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/Module.h"

namespace adc::codegen {

DebugLines::DebugLines(llvm::Module& module, const diag::SourceManager& sources, std::string_view directory,
                       std::string_view producer, bool optimised)
    : sources_(sources), directory_(directory), builder_(module) {
  module.addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
  module.addModuleFlag(llvm::Module::Warning, "Dwarf Version", 5);
  llvm::DIFile* file = FileOf({});
  // PTX gets `.loc` directives and no DWARF sections: with those its `.target` says `debug`, at which
  // NVIDIA's assembler optimises nothing, and refuses to be asked for it.
  bool is_ptx = llvm::Triple(module.getTargetTriple()).isNVPTX();
  auto kind = is_ptx ? llvm::DICompileUnit::DebugDirectivesOnly : llvm::DICompileUnit::LineTablesOnly;
  builder_.createCompileUnit(llvm::dwarf::DW_LANG_C11, file, producer, optimised, "", 0, "", kind);
}

llvm::DIFile* DebugLines::FileOf(diag::SourceSpan place) {
  const diag::SourceFile* file = place.Valid() ? sources_.FileOf(place) : nullptr;
  if (file == nullptr && !sources_.Files().empty()) file = sources_.Files().front().get();
  return builder_.createFile(file != nullptr ? file->name : "<generated>", directory_);
}

void DebugLines::Begin(llvm::Function& function, std::string_view name, diag::SourceSpan place) {
  llvm::DIFile* file = FileOf(place);
  uint32_t line = place.Valid() ? sources_.Locate(place).line : 0;
  llvm::DISubroutineType* type = builder_.createSubroutineType(builder_.getOrCreateTypeArray({}));
  subprogram_ = builder_.createFunction(file, name, function.getName(), file, line, type, line,
                                        llvm::DINode::FlagZero, llvm::DISubprogram::SPFlagDefinition);
  function.setSubprogram(subprogram_);
}

llvm::DILocation* DebugLines::At(diag::SourceSpan place) {
  llvm::LLVMContext& context = subprogram_->getContext();
  if (!place.Valid()) return llvm::DILocation::get(context, subprogram_->getLine(), 0, subprogram_);
  diag::LineColumn where = sources_.Locate(place);
  llvm::DIFile* file = FileOf(place);
  llvm::DIScope* scope = subprogram_;
  if (file != subprogram_->getFile()) scope = builder_.createLexicalBlockFile(subprogram_, file);
  const diag::SourceFile* source = sources_.FileOf(place);
  uint32_t column = source != nullptr && source->stands_in ? 0 : where.column;
  return llvm::DILocation::get(context, where.line, column, scope);
}

}  // namespace adc::codegen
