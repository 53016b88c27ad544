#include "product/typed_call.h"

#include <algorithm>

#include "product/call_sizes.h"
#include "product/header_names.h"

// A buffer is a member for its memory and one for its extents:
//   const float* x;
//   int64_t x_shape[1];
// An adjoint or a tangent has the shape of its primal: the loader refuses another one, and the struct cannot
// say one. For C++20 a span holds memory and size of a buffer with axes; where there is one axis it says the
// extent too. The loader compares its size with the extents (adrt_arg.size). Where the library has mdspan, a
// function takes span and extents of several axes from one.

namespace adc::product {

namespace {

using artifact::KernelMeta, artifact::Metadata, artifact::ParamKind, artifact::ParamMeta;

struct Call {
  const KernelMeta& kernel;
  const Metadata& metadata;
  const std::vector<std::string>& layouts;
  const std::string& word;
  std::vector<CallMember> members;
};

/// Whether sizes are read from the content of a parameter.
bool IsReadForSizes(const KernelMeta& kernel, uint32_t param) {
  return std::ranges::any_of(kernel.tasks, [&](const artifact::TaskMeta& task) {
    for (const artifact::Vector<uint32_t>* reads : {&task.size_reads, &task.count_reads, &task.trip_reads}) {
      if (std::ranges::find(*reads, param) != reads->end()) return true;
    }
    return false;
  });
}

/// One for each of kernel.params, as `elements` are. Arguments that the launch makes have no member.
std::vector<CallMember> CallMembers(const KernelMeta& kernel, const std::vector<CallElement>& elements) {
  std::vector<CallMember> members(kernel.params.size());
  HeaderScope scope;
  scope.Unique("args");  // the struct of C++20 itself
  for (uint32_t n = 0; n < members.size(); ++n) {
    const ParamMeta& param = kernel.params[n];
    if (artifact::IsHidden(param)) continue;
    members[n].name = scope.Unique(HeaderMember(param.name.view()));
    if (param.kind != ParamKind::kBuffer) continue;
    members[n].axes = param.rank;
    if (elements[n].type.empty()) continue;
    members[n].element = elements[n].type;
    members[n].words = static_cast<uint32_t>(elements[n].bytes / artifact::ScalarTypeSize(param.type));
    --members[n].axes;
  }
  // Parameters have the first choice of names.
  for (uint32_t n = 0; n < members.size(); ++n) {
    const ParamMeta& param = kernel.params[n];
    if (members[n].name.empty() || param.kind == ParamKind::kScalar) continue;
    std::string word = HeaderIdentifier(param.name.view());
    if (members[n].axes > 0 && !IsCompanion(kernel, param))
      members[n].shape = scope.Unique(HeaderMember(word + "_shape"));
    if (IsReadForSizes(kernel, n)) members[n].version = scope.Unique(HeaderMember(word + "_version"));
  }
  for (uint32_t n = 0; n < members.size(); ++n) {
    if (IsCompanion(kernel, kernel.params[n])) members[n].shape = members[kernel.params[n].primal].shape;
  }
  for (uint32_t n = 0; n < members.size(); ++n) {
    if (members[n].axes > 1)
      members[n].setter = scope.Unique(HeaderMember("set_" + HeaderIdentifier(kernel.params[n].name.view())));
  }
  return members;
}

std::string Number(uint64_t value) {
  return std::to_string(value);
}

std::string Count(const Call& call) {
  return call.word + "_param_count";
}

/// "const float* " of a buffer's memory.
std::string Pointer(const Call& call, uint32_t n, std::string_view end = "* ") {
  const ParamMeta& param = call.kernel.params[n];
  const std::string& element = call.members[n].element;
  std::string type = param.kind == ParamKind::kLayout ? call.layouts[param.layout]
                     : element.empty()                ? CallScalar(param.type)
                                                      : element;
  return (param.access == artifact::Access::kRead ? "const " : "") + type + std::string(end);
}

std::string Remark(const ParamMeta& param) {
  uint32_t count = param.rows * param.columns;
  std::string remark;
  if (param.type == artifact::ScalarType::kF16 && param.kind != ParamKind::kLayout) remark = "bits of f16";
  if (param.kind == ParamKind::kBuffer && count > 1)
    remark += (remark.empty() ? "" : ", ") + Number(count) + " an element";
  return remark.empty() ? "" : " /* " + remark + " */";
}

/// Members of a struct; `spans`: those for C++20, which begin values that may be left out.
std::string Members(const Call& call, bool spans) {
  std::string text, nothing = spans ? " = {}" : "";
  for (uint32_t n = 0; n < call.kernel.params.size(); ++n) {
    const ParamMeta& param = call.kernel.params[n];
    const CallMember& member = call.members[n];
    if (member.name.empty()) continue;
    bool is_span = spans && member.axes > 0;
    text += "  ";
    if (param.kind == ParamKind::kScalar) {
      text += CallScalar(param.type) + " " + member.name + CallExtents(param.rows, param.columns);
    } else if (is_span) {
      text += "std::span<" + Pointer(call, n, "> ") + member.name;
    } else {
      text += Pointer(call, n) + member.name;
    }
    text += ";" + (member.element.empty() ? Remark(param) : "") + "\n";
    bool own_shape = !member.shape.empty() && !IsCompanion(call.kernel, param);
    if (own_shape && !(is_span && member.axes == 1))
      text += "  int64_t " + member.shape + "[" + Number(member.axes) + "];\n";
    if (!member.version.empty())
      text += "  uint64_t " + member.version + nothing + "; /* adrt_arg.content_version, or 0 */\n";
  }
  return text;
}

/// Functions of the struct with spans: "set_x".
std::string Setters(const Call& call) {
  std::string text;
  for (uint32_t n = 0; n < call.kernel.params.size(); ++n) {
    const ParamMeta& param = call.kernel.params[n];
    const CallMember& member = call.members[n];
    if (member.setter.empty()) continue;
    std::string extents = "std::extents<size_t", shape;
    for (uint32_t axis = 0; axis < member.axes; ++axis) {
      extents += ", std::dynamic_extent";
      shape += "    " + member.shape + "[" + Number(axis) + "] = static_cast<int64_t>(view.extent(" +
               Number(axis) + "));\n";
    }
    for (uint32_t count : {param.rows, param.columns}) extents += count > 1 ? ", " + Number(count) : "";
    text += "  void " + member.setter + "(std::mdspan<" + Pointer(call, n, "") + ", " + extents +
            ">> view) {\n    " + member.name + " = {view.data_handle(), view.size()};\n" +
            (IsCompanion(call.kernel, param) ? "" : shape) + "  }\n";
  }
  return text.empty() ? "" : "#ifdef __cpp_lib_mdspan\n" + text + "#endif\n";
}

std::string Type(const ParamMeta& param) {
  std::string type(artifact::ScalarTypeName(param.type));
  std::ranges::transform(type, type.begin(), [](char letter) {
    return letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
  });
  return "ADRT_TYPE_" + type;
}

std::string BindText(const Call& call) {
  std::string text = "static inline void " + call.word + "_bind(const " + call.word +
                     "_args* args, adrt_arg table[" + Count(call) + "]) {\n";
  uint32_t row = 0;
  for (uint32_t n = 0; n < call.kernel.params.size(); ++n) {
    const ParamMeta& param = call.kernel.params[n];
    const CallMember& member = call.members[n];
    if (member.name.empty()) continue;
    std::string place = "  table[" + Number(row++) + "]",
                name = "\"" + std::string(param.name.view()) + "\", ";
    std::string element = Type(param) + ", " + Number(param.rows) + ", " + Number(param.columns) + ", ";
    std::string value = "args->" + member.name;
    if (param.kind == ParamKind::kLayout) {
      text += place + " = adrt_call_layout(" + name + value + ", " +
              Number(static_cast<uint64_t>(call.metadata.layouts[param.layout].size)) + ");\n";
    } else if (param.kind == ParamKind::kScalar) {
      text += place + " = adrt_call_scalar(" + name + element + "&" + value + ");\n";
    } else {
      std::string shape = member.shape.empty() ? "NULL" : "args->" + member.shape;
      if (!member.element.empty()) {
        shape = member.name + "_extents";
        text += "  const int64_t " + shape + "[" + Number(param.rank) + "] = {";
        for (uint32_t axis = 0; axis < member.axes; ++axis)
          text += "args->" + member.shape + "[" + Number(axis) + "], ";
        text += Number(member.words) + "};\n";
      }
      text += place + " = adrt_call_buffer(" + name + element + value + ", " + Number(param.rank) + ", " +
              shape + ");\n";
    }
    if (!member.version.empty()) text += place + ".content_version = args->" + member.version + ";\n";
  }
  return text + "}\n";
}

/// From the struct with spans to the one of C.
std::string PlainText(const Call& call) {
  std::string text =
      "inline " + call.word + "_args plain(const args& from) {\n  " + call.word + "_args made;\n";
  for (uint32_t n = 0; n < call.kernel.params.size(); ++n) {
    const ParamMeta& param = call.kernel.params[n];
    const CallMember& member = call.members[n];
    if (member.name.empty()) continue;
    bool has_axes = !member.shape.empty(), is_array = param.rows * param.columns > 1;
    if (param.kind == ParamKind::kScalar && is_array) {
      text +=
          "  memcpy(made." + member.name + ", from." + member.name + ", sizeof made." + member.name + ");\n";
    } else if (has_axes) {
      text += "  made." + member.name + " = from." + member.name + ".empty() ? nullptr : from." +
              member.name + ".data();\n";
    } else {
      text += "  made." + member.name + " = from." + member.name + ";\n";
    }
    if (has_axes && !IsCompanion(call.kernel, param)) {
      std::string divided = is_array ? " / " + Number(param.rows * param.columns) : "";
      text += member.axes == 1 ? "  made." + member.shape + "[0] = static_cast<int64_t>(from." + member.name +
                                     ".size()" + divided + ");\n"
                               : "  memcpy(made." + member.shape + ", from." + member.shape +
                                     ", sizeof made." + member.shape + ");\n";
    }
    if (!member.version.empty()) text += "  made." + member.version + " = from." + member.version + ";\n";
  }
  return text + "  return made;\n}\n";
}

std::string SpanText(const Call& call, const std::string& space) {
  std::string text =
      "#if defined(__cplusplus) && __cplusplus >= 202002L\nnamespace adc::calls::" + space + " {\n";
  text += "struct args {\n" + Members(call, true) + Setters(call) + "};\n" + PlainText(call);
  text += "/* The table of one call, which points into it. */\nstruct call {\n  " + call.word +
          "_args values;\n  adrt_arg table[" + Count(call) + "];\n  explicit call(const args& from)" +
          " : values(plain(from)) {\n    " + call.word + "_bind(&values, table);\n";
  uint32_t row = 0;
  for (uint32_t n = 0; n < call.kernel.params.size(); ++n) {
    const CallMember& member = call.members[n];
    if (member.name.empty()) continue;
    if (!member.shape.empty())
      text += "    table[" + Number(row) + "].size = from." + member.name + ".size_bytes();\n";
    ++row;
  }
  return text +
         "  }\n  call(const call&) = delete;\n  call& operator=(const call&) = delete;\n};\n}\n#endif\n";
}

}  // namespace

bool IsCompanion(const KernelMeta& kernel, const ParamMeta& param) {
  if (param.kind != ParamKind::kBuffer || param.primal >= kernel.params.size()) return false;
  const ParamMeta& primal = kernel.params[param.primal];
  return primal.kind == ParamKind::kBuffer && primal.rank == param.rank;
}

bool IsCalled(const KernelMeta& kernel) {
  return kernel.role != artifact::KernelRole::kSize && kernel.role != artifact::KernelRole::kBounds;
}

std::string CallScalar(artifact::ScalarType type) {
  if (type == artifact::ScalarType::kF32) return "float";
  if (type == artifact::ScalarType::kF64) return "double";
  if (type == artifact::ScalarType::kI1) return "uint8_t";
  if (type == artifact::ScalarType::kF16) return "uint16_t";
  std::string_view name = artifact::ScalarTypeName(type);
  return (name[0] == 'u' ? "uint" : "int") + std::string(name.substr(1)) + "_t";
}

std::string CallExtents(uint32_t rows, uint32_t columns) {
  if (rows == 1 && columns == 1) return "";
  return "[" + Number(rows) + "]" + (columns == 1 ? "" : "[" + Number(columns) + "]");
}

std::string CallText(const KernelMeta& kernel, const Metadata& metadata,
                     const std::vector<std::string>& layouts, const std::vector<CallElement>& elements,
                     const std::string& word, const std::string& space) {
  Call call{kernel, metadata, layouts, word, CallMembers(kernel, elements)};
  bool has_members = std::ranges::any_of(call.members, [](const CallMember& it) { return !it.name.empty(); });
  if (!has_members) return "/* It takes no arguments. */\n";
  return "typedef struct " + word + "_args {\n" + Members(call, false) + "} " + word +
         "_args;\n#ifdef ADRT_ADRT_CALL_H\n" + BindText(call) +
         SizesText(metadata, kernel, call.members, word) + SpanText(call, space) + "#endif\n";
}

}  // namespace adc::product
