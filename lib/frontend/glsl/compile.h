#pragma once
// GLSL and HLSL compute shaders to SPIR-V, by glslang.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "diag/diagnostics.h"
#include "frontend/spirv/marked_name.h"

namespace adc::frontend::glsl {

enum class Language : uint8_t { Glsl, Hlsl };

struct CompileConfig {
  Language language = Language::Glsl;
  std::vector<std::string> include_dirs = {};
  std::vector<std::string> import_dirs = {};  ///< folders that includes may come from as well
  /// `-D name=value`, or a name alone.
  std::vector<std::string> defines = {};
  /// HLSL: the function that is the entry point. Empty: main, or else the only one of the text.
  std::string entry = {};
  uint64_t text_limit = uint64_t{256} << 20;
};

struct Compiled {
  std::vector<uint32_t> words;  ///< with lines and names; empty after errors
  std::vector<spirv::MarkedName> marked;
};

/// Whether a text is HLSL, whatever its file is called.
bool IsHlsl(const std::string& text);

/// Compiles `text`. Its file and those that it includes become files of `sources`, the latter also
/// `dependencies`. One from outside of the folders of diag/import_roots.h is refused unread. glslang's
/// messages are told with their places.
Compiled Compile(const std::string& name, std::string text, const CompileConfig& config,
                 diag::SourceManager& sources, diag::Diagnostics& diagnostics,
                 std::vector<std::string>* dependencies);

}  // namespace adc::frontend::glsl
