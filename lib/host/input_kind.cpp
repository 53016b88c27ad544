#include "host/input_kind.h"

namespace adc {

namespace {

struct Extension {
  std::string_view extension;
  InputKind kind;
};

constexpr Extension kExtensions[] = {
    {".ir", InputKind::Text},   {".cpp", InputKind::Cpp},   {".cc", InputKind::Cpp},
    {".cxx", InputKind::Cpp},   {".comp", InputKind::Glsl}, {".glsl", InputKind::Glsl},
    {".hlsl", InputKind::Hlsl}, {".spv", InputKind::Spirv},
};

const Extension* RowOf(std::string_view path) {
  for (const Extension& row : kExtensions) {
    if (path.ends_with(row.extension)) return &row;
  }
  return nullptr;
}

}  // namespace

InputKind InputKindOf(std::string_view path) {
  const Extension* row = RowOf(path);
  return row == nullptr ? InputKind::Text : row->kind;
}

bool IsSourceFile(std::string_view path) {
  return RowOf(path) != nullptr;
}

}  // namespace adc
