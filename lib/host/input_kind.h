#pragma once
// The kind of an input file, by its extension: it decides which front end reads it.

#include <cstdint>
#include <string_view>

namespace adc {

enum class InputKind : uint8_t {
  Text,   ///< `.ir`, standard input, and files without the extension of another kind
  Cpp,    ///< C++ (lib/frontend/cpp)
  Glsl,   ///< a compute shader in GLSL (lib/frontend/glsl)
  Hlsl,   ///< or in HLSL
  Spirv,  ///< or compiled (lib/frontend/spirv)
};

InputKind InputKindOf(std::string_view path);

inline bool IsShader(InputKind kind) {
  return kind == InputKind::Glsl || kind == InputKind::Hlsl || kind == InputKind::Spirv;
}

/// Whether a file is source that `adc` compiles; anything else counts as a bundle.
bool IsSourceFile(std::string_view path);

}  // namespace adc
