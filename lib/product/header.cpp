#include "product/header.h"

#include <algorithm>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "product/element_struct.h"
#include "product/header_names.h"
#include "product/layout_struct.h"
#include "product/typed_call.h"
#include "support/hash.h"

namespace adc::product {

namespace {

/// The names that are taken in a header.
struct Names {
  HeaderScope words, spaces;
  std::vector<std::string> layouts;                                      ///< the struct of each layout
  std::vector<std::pair<const ir::StructMember*, std::string>> structs;  ///< of elements, declared
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

/// The names of the parameters, as endings of the kernel's word.
std::vector<std::string> ParamWords(const artifact::KernelMeta& kernel) {
  std::vector<std::string> words;
  HeaderScope params;
  params.Unique("count");  // of the parameters
  for (const artifact::ParamMeta& param : kernel.params) {
    if (!artifact::IsHidden(param))
      words.push_back("_param_" + params.Unique(HeaderIdentifier(param.name.view())));
  }
  return words;
}

/// A struct that several parameters hold is declared once, and has a name for each of them.
std::string StructText(const ir::StructMember& held, const std::string& word, const std::string& param,
                       Names& names, CallElement* element) {
  std::string type = names.words.Unique(word + "_" + HeaderIdentifier(param) + "_element");
  auto known =
      std::ranges::find(names.structs, &held, &std::pair<const ir::StructMember*, std::string>::first);
  std::optional<std::string> text = known == names.structs.end()
                                        ? ElementStructText(held, type)
                                        : "typedef " + known->second + " " + type + ";\n";
  if (!text) return MembersRemark(held, param);
  if (known == names.structs.end()) names.structs.emplace_back(&held, type);
  *element = {type, held.bytes};
  return *text;
}

/// The structs of the elements of a kernel's buffers, one for each parameter.
std::vector<CallElement> WriteElements(const artifact::KernelMeta& kernel, const std::string& word,
                                       const StructOf& struct_of, Names& names, std::string* text) {
  std::vector<CallElement> elements(kernel.params.size());
  for (uint32_t n = 0; struct_of && n < elements.size(); ++n) {
    const artifact::ParamMeta& param = kernel.params[n];
    if (artifact::IsHidden(param) || IsCompanion(kernel, param)) continue;
    if (const ir::StructMember* held = struct_of(kernel, n))
      *text += StructText(*held, word, std::string(param.name.view()), names, &elements[n]);
  }
  for (uint32_t n = 0; n < elements.size(); ++n) {
    if (IsCompanion(kernel, kernel.params[n])) elements[n] = elements[kernel.params[n].primal];
  }
  return elements;
}

void WriteKernel(const artifact::Metadata& metadata, const artifact::KernelMeta& kernel, Names& names,
                 const KernelText& more, const StructOf& struct_of, std::string* text) {
  std::vector<std::string> params = ParamWords(kernel), endings = params;
  for (const char* ending :
       {"_name", "_interface_hash", "_param_count", "_args", "_bind", "_heap_bytes", "_scratch_bytes"})
    endings.emplace_back(ending);
  std::string name(kernel.name.view());
  std::string word = names.words.Unique("adc_" + HeaderIdentifier(name), endings);
  char hash[24];
  std::snprintf(hash, sizeof hash, "0x%016llxull", static_cast<unsigned long long>(kernel.interface_hash));
  *text += "\n/* kernel @" + name + " */\n";
  *text += "#define " + word + "_name \"" + name + "\"\n";
  *text += "#define " + word + "_interface_hash " + hash + "\n";
  std::string rows;
  uint32_t count = 0;
  for (const artifact::ParamMeta& param : kernel.params) {
    if (artifact::IsHidden(param)) continue;
    rows += "  " + word + params[count] + " = " + std::to_string(count) + ", /* " +
            ParamText(metadata, param) + (param.diff ? " diff" : "") + " */\n";
    ++count;
  }
  if (more) *text += more(kernel, word);
  *text += "enum {\n" + rows + "  " + word + "_param_count = " + std::to_string(count) + "\n};\n";
  if (!IsCalled(kernel)) return;
  std::vector<CallElement> elements = WriteElements(kernel, word, struct_of, names, text);
  *text += CallText(kernel, metadata, names.layouts, elements, word, names.spaces.Unique(HeaderMember(name)));
}

void WriteLayout(const artifact::LayoutMeta& layout, Names& names, std::string* text) {
  std::string word = names.words.Unique("adc_layout_" + HeaderIdentifier(layout.name.view()),
                                        {"", "_bytes", "_alignment", "_is_defined"});
  names.layouts.push_back(word);
  *text += "\n/* layout @" + std::string(layout.name.view()) + " */\n";
  *text += "#define " + word + "_bytes " + std::to_string(layout.size) + "\n";
  *text += "#define " + word + "_alignment " + std::to_string(layout.alignment) + "\n";
  HeaderScope fields;
  for (const artifact::FieldMeta& field : layout.fields) {
    std::string head = word + "_" + fields.Unique(HeaderIdentifier(field.name.view()));
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
  *text += LayoutStructText(layout, word, names.words);
}

/// Headers of one base name, of several folders, do not hide each other.
std::string GuardWord(std::string_view name, std::string_view text) {
  uint64_t hash = 0;
  for (char byte : text) hash = HashMix(hash, static_cast<unsigned char>(byte));
  constexpr int kDigits = 16;
  std::string word = "ADC_" + HeaderIdentifier(name) + "_";
  for (int digit = 0; digit < kDigits; ++digit) word += "0123456789ABCDEF"[hash >> (4 * digit) & 15];
  return word + "_H";
}

/// The loader's part of typed calls, where the compiler finds it.
constexpr const char* kIncludes =
    "#include <assert.h>\n#include <stddef.h>\n#include <stdint.h>\n"
    "#ifdef __has_include\n#if __has_include(<adrt/adrt_call.h>)\n#include "
    "<adrt/adrt_call.h>\n#endif\n#endif\n"
    "#if defined(__cplusplus) && __cplusplus >= 202002L\n#include <span>\n#if __has_include(<mdspan>)\n"
    "#include <mdspan>\n#endif\n#endif\n";

}  // namespace

std::string HeaderText(const artifact::Metadata& metadata, std::string_view guard, const KernelText& more,
                       const StructOf& struct_of) {
  std::string text = kIncludes;
  Names names;
  for (const artifact::LayoutMeta& layout : metadata.layouts) WriteLayout(layout, names, &text);
  std::string entries;
  std::set<std::string> declared;
  for (const artifact::KernelMeta& kernel : metadata.kernels) {
    WriteKernel(metadata, kernel, names, more, struct_of, &text);
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
  std::string word = GuardWord(guard, text);
  return "/* Made by " + std::string(metadata.producer.view()) + ". */\n#ifndef " + word + "\n#define " +
         word + "\n\n" + text;
}

}  // namespace adc::product
