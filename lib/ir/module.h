#pragma once
// A module: the contents of one `adc` input after its imports are read.

#include <memory>

#include "ir/function.h"
#include "ir/shader_binding.h"
#include "ir/struct_member.h"

namespace adc::ir {

/// How far a module has come. Passes advance it, the verifier asserts it.
/// One axis of a field: an index splits over the nested `dense` levels that make it up, outermost first.
struct LayoutLevel {
  uint64_t extent = 1;  ///< cells of this level
  uint64_t stride = 0;  ///< bytes from one cell of the level to the next
};
struct LayoutAxis {
  uint64_t extent = 1;  ///< product of the levels' extents
  std::vector<LayoutLevel> levels;
};

struct LayoutField {
  StringId name;
  Type type;  ///< scalar, vector or matrix
  bool diff = false;
  uint64_t offset = 0;  ///< bytes from the start of the buffer to the field of cell 0
  std::vector<LayoutAxis> axes;
  diag::SourceSpan span;
};

/// A node of the layout tree, for printing: a `dense` with its extents and members, or a field.
struct LayoutNode {
  bool is_field = false;
  uint32_t field = 0;               ///< position in Layout::fields
  std::vector<uint64_t> extents;    ///< of a dense
  std::vector<LayoutNode> members;  ///< of a dense
};

struct Layout {
  StringId name;
  std::vector<LayoutNode> roots;
  std::vector<LayoutField> fields;
  uint64_t byte_size = 0;
  uint32_t alignment = 1;
  diag::SourceSpan span;
  std::vector<StringId> leading_comments;

  /// Position of the field `field_name`, or kNoAttr.
  uint32_t FieldIndex(StringId field_name) const;
};

/// `const @eps = 1e-6 : f32` (one element, scalar type) or an array.
struct ModuleConstant {
  StringId name;
  Type type;                        ///< scalar, or array of scalars
  std::vector<uint64_t> elements;   ///< bits, as in ConstantData
  std::vector<StringId> spellings;  ///< per element; invalid: the shortest form
  diag::SourceSpan span;
  std::vector<StringId> leading_comments;
};

struct Import {
  StringId path;
  diag::SourceSpan span;
  std::vector<StringId> leading_comments;
};

/// The language in which the user writes; Binary: SPIR-V.
enum class Door : uint8_t { Text, Cpp, Shader, Binary };

class Module {
 public:
  StringPool strings;
  Door door = Door::Text;
  Phase phase = Phase::Parsed;
  std::vector<Import> imports;
  std::vector<Layout> layouts;
  std::vector<ModuleConstant> constants;
  std::vector<std::unique_ptr<Function>> functions;  ///< funcs and kernels in textual order
  /// Order of the top-level items for printing: kind in the high bits. Empty: imports, constants, layouts,
  /// functions.
  enum class ItemKind : uint8_t { Import, Constant, Layout, Function };
  struct Item {
    ItemKind kind;
    uint32_t position;
    bool imported;  ///< came from another file: not printed
  };
  std::vector<Item> items;
  std::vector<StringId> trailing_comments;
  std::vector<ShaderBinding> shader_bindings;  ///< of kernels that were read from shaders
  std::vector<StructMember> structs;           ///< what buffers hold, each once

  /// The whole module once more; handles and positions mean the same in both.
  std::unique_ptr<Module> Copy() const;

  std::string_view Text(StringId id) const { return strings.Text(id); }
  StringId Intern(std::string_view text) { return strings.Intern(text); }
  /// The function or kernel named `name` (without '@'), or null.
  Function* Find(StringId name) const;
  Function* Find(std::string_view name) const;
  uint32_t FindConstant(StringId name) const;  ///< position or kNoAttr
  uint32_t FindLayout(StringId name) const;    ///< position or kNoAttr
  uint32_t AddConstant(ModuleConstant constant);
  uint32_t AddLayout(Layout layout);
  uint32_t AddStruct(StructMember members);
  Function& AddFunction(FunctionKind kind, StringId name);
  /// Adds a function that has been built, of a name that no other one has.
  Function& AddFunction(std::unique_ptr<Function> function);
  /// Puts a rebuilt function in the place of the one of the same name.
  void Replace(std::unique_ptr<Function> function);
  /// Drops every function whose flag (one per function, in order) is 0, from the items too.
  void KeepFunctions(std::span<const unsigned char> keep);
  /// Drops `function`, from the items too.
  void DropFunction(const Function& function);

  /// Element type of an access base: buffer element, field `attr` of a layout, array element.
  Type ElementType(const Function& function, Value base, uint32_t field) const;
  /// Number of indices an access of `base` takes.
  uint32_t IndexCount(const Function& function, Value base, uint32_t field) const;

 private:
  mutable std::unordered_map<StringId, uint32_t> function_ids_;
  std::unordered_map<StringId, uint32_t> constant_ids_;
  std::unordered_map<StringId, uint32_t> layout_ids_;
};

/// `vec<f32, 3>`, `buffer<f32, 2>`, `@grid`.
std::string TypeName(const Module& module, Type type);
/// The same without a module: a layout prints as `@layout#3`.
std::string TypeName(Type type);

/// The whole module as text; a value without a name gets a number that is free in its function.
std::string Print(const Module& module);
std::string Print(const Module& module, const Function& function);

}  // namespace adc::ir
