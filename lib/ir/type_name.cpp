#include "ir/module.h"

namespace adc::ir {
namespace {

std::string ElementName(Type type) {
  std::string scalar = Spelling(type.scalar);
  if (type.rows == 0) return scalar;
  std::string rows = std::to_string(type.rows);
  if (type.columns == 0) return "vec<" + scalar + ", " + rows + ">";
  return "mat<" + scalar + ", " + rows + ", " + std::to_string(type.columns) + ">";
}

}  // namespace

std::string TypeName(Type type) {
  switch (type.kind) {
    case TypeKind::None:
      return "none";
    case TypeKind::Scalar:
    case TypeKind::Vec:
    case TypeKind::Mat:
      return ElementName(type);
    case TypeKind::Array:
      return "array<" + ElementName(type) + ", " + std::to_string(type.count) + ">";
    case TypeKind::Buffer:
      return "buffer<" + ElementName(type) + ", " + std::to_string(type.count) + ">";
    case TypeKind::Layout:
      return "@layout#" + std::to_string(type.count);
    case TypeKind::Stack:
      return std::string("stack of ") + Spelling(type.scalar);
    case TypeKind::Label:
      return "the name of a scope";
  }
  return "none";
}

std::string TypeName(const Module& module, Type type) {
  if (type.IsLayout() && type.count < module.layouts.size())
    return "@" + std::string(module.Text(module.layouts[type.count].name));
  return TypeName(type);
}

}  // namespace adc::ir
