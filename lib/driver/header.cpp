#include "driver/header.h"

#include <cstdio>
#include <set>
#include <string>

namespace adc::driver {

namespace {

/// HeaderIdentifier, for what is below.
std::string Identifier(std::string_view name) {
  std::string word;
  for (char letter : name) {
    bool keeps = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                 (letter >= '0' && letter <= '9') || letter == '_';
    word += keeps ? letter : '_';
  }
  return word;
}

/// Makes words unique within one scope: "x.adj" and "x_adj" may stand side by side.
class Scope {
 public:
  std::string Unique(std::string_view name) {
    std::string word = Identifier(name);
    std::string candidate = word;
    for (uint32_t number = 2; !taken_.insert(candidate).second; ++number) {
      candidate = word + "_" + std::to_string(number);
    }
    return candidate;
  }

 private:
  std::set<std::string> taken_;
};

std::string ElementText(artifact::ScalarType type, uint32_t rows, uint32_t columns) {
  std::string scalar(artifact::ScalarTypeName(type));
  if (rows == 1 && columns == 1) return scalar;
  if (columns == 1) return "vec<" + scalar + ", " + std::to_string(rows) + ">";
  return "mat<" + scalar + ", " + std::to_string(rows) + ", " + std::to_string(columns) + ">";
}

std::string ParamText(const artifact::Metadata& metadata, const artifact::ParamMeta& param) {
  if (param.kind == artifact::ParamKind::kLayout) {
    return "@" + std::string(metadata.layouts[param.layout].name.view());
  }
  std::string element = ElementText(param.type, param.rows, param.columns);
  if (param.kind == artifact::ParamKind::kScalar) return element;
  return "buffer<" + element + ", " + std::to_string(param.rank) + ">";
}

void WriteKernel(const artifact::Metadata& metadata, const artifact::KernelMeta& kernel, Scope& kernels,
                 const KernelText& more, std::string* text) {
  std::string word = "adc_" + kernels.Unique(kernel.name.view());
  std::string name(kernel.name.view());
  char hash[24];
  std::snprintf(hash, sizeof hash, "0x%016llxull", static_cast<unsigned long long>(kernel.interface_hash));
  *text += "\n/* kernel @" + name + " */\n";
  *text += "#define " + word + "_name \"" + name + "\"\n";
  *text += "#define " + word + "_interface_hash " + hash + "\n";
  Scope params;
  params.Unique("count");  // of the parameters, below
  std::string rows;
  uint32_t count = 0;
  for (const artifact::ParamMeta& param : kernel.params) {
    if (artifact::IsHidden(param)) continue;
    rows += "  " + word + "_param_" + params.Unique(param.name.view()) + " = " + std::to_string(count++) +
            ", /* " + ParamText(metadata, param) + (param.diff ? " diff" : "") + " */\n";
  }
  if (more) *text += more(kernel, word);
  *text += "enum {\n" + rows + "  " + word + "_param_count = " + std::to_string(count) + "\n};\n";
}

void WriteLayout(const artifact::LayoutMeta& layout, Scope& layouts, std::string* text) {
  std::string word = "adc_layout_" + layouts.Unique(layout.name.view());
  *text += "\n/* layout @" + std::string(layout.name.view()) + " */\n";
  *text += "#define " + word + "_bytes " + std::to_string(layout.size) + "\n";
  *text += "#define " + word + "_alignment " + std::to_string(layout.alignment) + "\n";
  Scope fields;
  for (const artifact::FieldMeta& field : layout.fields) {
    std::string head = word + "_" + fields.Unique(field.name.view());
    *text +=
        "/* " + std::string(field.name.view()) + ": " + ElementText(field.type, field.rows, field.columns);
    for (const artifact::LevelMeta& level : field.levels) {
      *text += " dense[";
      for (size_t axis = 0; axis < level.extents.size(); ++axis) {
        *text += (axis == 0 ? "" : ", ") + std::to_string(level.extents[axis]);
      }
      *text += "]";
    }
    *text += " */\n#define " + head + "_offset " + std::to_string(field.offset) + "\n";
    for (size_t level = 0; level < field.levels.size(); ++level) {
      for (size_t axis = 0; axis < field.levels[level].strides.size(); ++axis) {
        *text += "#define " + head + "_stride_" + std::to_string(level) + "_" + std::to_string(axis) + " " +
                 std::to_string(field.levels[level].strides[axis]) + "\n";
      }
    }
  }
}

}  // namespace

std::string HeaderIdentifier(std::string_view name) {
  return Identifier(name);
}

std::string HeaderText(const artifact::Metadata& metadata, std::string_view guard, const KernelText& more) {
  std::string word = "ADC_" + Identifier(guard) + "_H";
  std::string text = "/* Made by " + std::string(metadata.producer.view()) + ". */\n#ifndef " + word +
                     "\n#define " + word + "\n\n#include <stdint.h>\n";
  Scope layouts, kernels;
  for (const artifact::LayoutMeta& layout : metadata.layouts) WriteLayout(layout, layouts, &text);
  std::string entries;
  std::set<std::string> declared;
  for (const artifact::KernelMeta& kernel : metadata.kernels) {
    WriteKernel(metadata, kernel, kernels, more, &text);
    for (const artifact::TaskMeta& task : kernel.tasks) {
      for (const artifact::EntryMeta& entry : task.entries) {
        if (metadata.targets[entry.target].kind != "cpu") continue;
        std::string symbol(entry.symbol.view());
        if (!declared.insert(symbol).second) continue;
        entries += "void " + symbol + "(const struct adrt_cpu_frame* frame, uint64_t begin, uint64_t end);\n";
      }
    }
  }
  text +=
      "\n/* Entry points of the object, one per task; artifact/cpu_abi.h says how they are called. */\n"
      "struct adrt_cpu_frame;\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n" +
      entries + "#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
  return text;
}

}  // namespace adc::driver
