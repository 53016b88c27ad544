#pragma once
// Where instructions come from, as debuggers read it, with the text of the source.
//
//   Core         OpSource and OpLine, which every version of SPIR-V has, and translators know
//   Translated   OpLine alone, for Metal, where names of files come to stand in quotes
//   NonSemantic  the instruction set NonSemantic.Shader.DebugInfo.100, which Vulkan 1.3 takes without an
//                extension of the device, and RenderDoc steps by: a DebugFunction for each entry, DebugLine
//                with ranges of columns
//
// A place holds until the block ends. An instruction without a place says so (OpNoLine, DebugNoLine;
// Translated: line 0, since SPIRV-Cross skips OpNoLine) and does not take that of the instruction before it.

#include <map>

#include "codegen/spirv/function_builder.h"
#include "diag/source.h"

namespace adc::codegen::spirv {

class DebugPlaces {
 public:
  enum class Form : uint8_t { Core, Translated, NonSemantic };
  DebugPlaces(ModuleBuilder& module, const diag::SourceManager& sources, Form form)
      : module_(module), sources_(sources), form_(form) {}

  /// The function that places are set in from now on: before any code of it.
  void Begin(FunctionBuilder& function, std::string_view name, std::string_view symbol,
             diag::SourceSpan place);
  /// The instructions that follow in the block come from `place`, or from none.
  void Set(FunctionBuilder& function, diag::SourceSpan place);

 private:
  struct Range {
    uint32_t line = 0, first = 0, last = 0;  ///< columns of one line; 0: unknown
  };
  Range RangeOf(const diag::SourceFile& file, diag::SourceSpan place) const;
  Id SourceOf(const diag::SourceFile& file);
  /// A constant, as the instruction set takes numbers.
  Id Number(uint32_t value) { return module_.constants.Int(32, value); }

  ModuleBuilder& module_;
  const diag::SourceManager& sources_;
  Form form_;
  std::map<const diag::SourceFile*, Id> known_;  ///< OpString or DebugSource
  std::map<Id, Id> units_;                       ///< the DebugCompilationUnit of a DebugSource
  Id type_ = 0;                                  ///< of all functions
  Id scope_ = 0;                                 ///< the DebugFunction
};

}  // namespace adc::codegen::spirv
