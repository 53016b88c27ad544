#include "product/layout_struct.h"

#include <span>

#include "product/typed_call.h"

// Metadata has the leaves of the tree in order, each with the levels above it. The first leaf of a cell lies
// at its beginning, and a cell is as long as the innermost stride of its `dense`. So the leaves of one
// `dense` are those that follow each other with an offset within the first cell of the first one.
//
//   layout @grid { dense[64, 64] { mass: f32  vel: vec<f32, 3> } count: i32 }
//
//   typedef struct adc_layout_grid_cell { float mass; float vel[3]; } adc_layout_grid_cell;
//   typedef struct adc_layout_grid { adc_layout_grid_cell cell[64][64]; int32_t count; } adc_layout_grid;

namespace adc::product {

namespace {

using artifact::FieldMeta;
using Fields = std::span<const FieldMeta>;

/// The innermost stride. That of an axis which a level does not split is 0.
int64_t CellBytes(const artifact::LevelMeta& level) {
  int64_t bytes = 0;
  for (int64_t stride : level.strides) bytes = stride != 0 ? stride : bytes;
  return bytes;
}

class Structs {
 public:
  explicit Structs(HeaderScope& names) : names_(names) {}

  /// Writes the struct of what begins at byte `begin` of the layout and lies below `depth` levels.
  void Write(const std::string& type, Fields fields, size_t depth, int64_t begin, int64_t bytes) {
    std::string members, checks;
    HeaderScope own;
    for (const FieldMeta& field : fields) {
      if (field.levels.size() == depth) own.Unique(HeaderMember(field.name.view()));
    }
    HeaderScope leaves;
    while (!fields.empty()) {
      const FieldMeta& first = fields[0];
      size_t count = 1;
      std::string name;
      if (first.levels.size() == depth) {
        name = leaves.Unique(HeaderMember(first.name.view()));
        members += "  " + CallScalar(first.type) + " " + name + CallExtents(first.rows, first.columns) + ";";
        members += first.type == artifact::ScalarType::kF16 ? " /* bits of f16 */\n" : "\n";
      } else {
        const artifact::LevelMeta& level = first.levels[depth];
        while (count < fields.size() && fields[count].levels.size() > depth &&
               fields[count].offset < first.offset + CellBytes(level))
          ++count;
        name = own.Unique("cell");
        std::string cell = names_.Unique(type + "_" + name);
        Write(cell, fields.first(count), depth + 1, first.offset, CellBytes(level));
        members += "  " + cell + " " + name;
        for (size_t axis = 0; axis < level.extents.size(); ++axis) {
          if (level.strides[axis] != 0) members += "[" + std::to_string(level.extents[axis]) + "]";
        }
        members += ";\n";
      }
      checks += Check("offsetof(" + type + ", " + name + ")", first.offset - begin, type + "." + name);
      fields = fields.subspan(count);
    }
    text_ += "typedef struct " + type + " {\n" + members + "} " + type + ";\n" +
             Check("sizeof(" + type + ")", bytes, type) + checks;
  }

  const std::string& text() const { return text_; }

 private:
  static std::string Check(const std::string& what, int64_t expected, const std::string& name) {
    return "static_assert(" + what + " == " + std::to_string(expected) + ", \"" + name + "\");\n";
  }

  HeaderScope& names_;
  std::string text_;
};

}  // namespace

std::string LayoutStructText(const artifact::LayoutMeta& layout, const std::string& word,
                             HeaderScope& names) {
  Structs structs(names);
  structs.Write(word, {layout.fields.data(), layout.fields.size()}, 0, 0, layout.size);
  return "#ifndef " + word + "_is_defined\n#define " + word + "_is_defined\n" + structs.text() + "#endif\n";
}

}  // namespace adc::product
