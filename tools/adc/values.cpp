#include "values.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "command_line.h"
#include "host/exit_code.h"
#include "host/files.h"
#include "host/machine.h"
#include "npy/npy.h"
#include "support/nearest.h"
#include "support/number.h"

namespace adc::tool {

namespace {

NumberForm FormOf(uint32_t type) {
  NumberKind kind = type >= ADRT_TYPE_F16  ? NumberKind::Float
                    : type >= ADRT_TYPE_U8 ? NumberKind::Unsigned
                    : type >= ADRT_TYPE_I8 ? NumberKind::Signed
                                           : NumberKind::Truth;
  return {kind, static_cast<uint8_t>(type == ADRT_TYPE_I1 ? 1 : 8 * adrt_type_size(type))};
}

uint64_t ReadBits(uint32_t type, const uint8_t* bytes, uint64_t index) {
  uint64_t bits = 0;
  uint32_t size = adrt_type_size(type);
  std::memcpy(&bits, bytes + index * size, size);
  return bits;
}

void WriteBits(uint32_t type, uint8_t* bytes, uint64_t index, uint64_t bits) {
  uint32_t size = adrt_type_size(type);
  std::memcpy(bytes + index * size, &bits, size);
}

/// One number in the parameter's type. Integers are read exactly; a number that does not fit is an error.
std::string ParseNumber(uint32_t type, std::string_view text, uint64_t* bits) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  const char* begin = text.data();
  const char* end = begin + text.size();
  std::string wrong = "'" + std::string(text) + "' is no number of type " + adrt_type_name(type);
  if (text.empty()) return wrong;
  if (type >= ADRT_TYPE_F16) {
    double value = 0;
    auto [rest, error] = std::from_chars(*begin == '+' ? begin + 1 : begin, end, value);
    if (rest != end || error == std::errc::invalid_argument) return wrong;
    if (error == std::errc::result_out_of_range) value = text[0] == '-' ? -HUGE_VAL : HUGE_VAL;
    *bits = FloatToBits(FormOf(type), value);
    return {};
  }
  if (type == ADRT_TYPE_I1 && (text == "true" || text == "false")) {
    *bits = text == "true";
    return {};
  }
  uint32_t width = type == ADRT_TYPE_I1 ? 1 : adrt_type_size(type) * 8;
  if (type >= ADRT_TYPE_I8 && type <= ADRT_TYPE_I64) {
    int64_t value = 0;
    auto [rest, error] = std::from_chars(begin, end, value);
    int64_t high = width == 64 ? INT64_MAX : (int64_t{1} << (width - 1)) - 1;
    if (rest != end || error != std::errc() || value > high || value < -high - 1) return wrong;
    *bits = static_cast<uint64_t>(value);
    return {};
  }
  uint64_t value = 0;
  auto [rest, error] = std::from_chars(begin, end, value);
  if (rest != end || error != std::errc() || (width < 64 && value >> width != 0)) return wrong;
  *bits = value;
  return {};
}

std::vector<std::string_view> SplitCommas(std::string_view text) {
  std::vector<std::string_view> parts;
  if (text.empty()) return parts;
  for (;;) {
    size_t comma = text.find(',');
    parts.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

std::string ParseExtents(std::string_view text, std::vector<int64_t>* extents) {
  extents->clear();
  for (std::string_view part : SplitCommas(text)) {
    uint64_t bits = 0;
    std::string wrong = ParseNumber(ADRT_TYPE_I64, part, &bits);
    if (!wrong.empty()) return wrong;
    extents->push_back(static_cast<int64_t>(bits));
    if (extents->back() < 0) return "a negative extent: " + std::string(part);
  }
  return {};
}

/// Bytes of a buffer, or an error for one that this machine cannot hold.
std::string BufferBytes(const Param& param, const std::vector<int64_t>& extents, uint64_t* bytes) {
  uint64_t memory = MemoryBytes();
  *bytes = param.element_bytes;
  for (int64_t extent : extents) {
    if (extent != 0 && *bytes > memory / static_cast<uint64_t>(extent))
      return "is larger than this machine's memory";
    *bytes *= static_cast<uint64_t>(extent);
  }
  return {};
}

std::string FillPattern(const Param& param, std::string_view name, std::string_view argument,
                        ArgValue* value) {
  uint64_t count = value->bytes.size() / adrt_type_size(param.report.type);
  uint64_t bits = 0;
  if (name == "zeros") return {};
  if (name == "ones" || name == "full") {
    std::string wrong = ParseNumber(param.report.type, name == "ones" ? "1" : argument, &bits);
    if (!wrong.empty()) return wrong;
    for (uint64_t at = 0; at < count; ++at) WriteBits(param.report.type, value->bytes.data(), at, bits);
    return {};
  }
  if (name == "iota") {
    for (uint64_t at = 0; at < count; ++at) {
      WriteNumber(param.report.type, value->bytes.data(), at, static_cast<double>(at));
    }
    return {};
  }
  if (!argument.empty()) {
    std::string wrong = ParseNumber(ADRT_TYPE_U64, argument, &bits);
    if (!wrong.empty()) return wrong;
  }
  Random random(bits);
  for (uint64_t at = 0; at < count; ++at)
    WriteNumber(param.report.type, value->bytes.data(), at, random.Uniform());
  return {};
}

std::string ReadArrayFile(const Param& param, const std::string& path, ArgValue* value) {
  FileResult<std::string> file =
      param.IsLayout() ? ReadWhole(path, param.layout_bytes) : ReadWhole(path, MemoryBytes(), NpyWanted);
  if (!file) return file.Failure().text;
  if (param.IsLayout()) {
    if (file->size() != param.layout_bytes) {
      return "'" + path + "' has " + std::to_string(file->size()) + " bytes, the layout " +
             std::to_string(param.layout_bytes);
    }
    value->bytes.assign(file->begin(), file->end());
    return {};
  }
  NpyArray array;
  std::string wrong = ParseNpy(*file, &array);
  if (!wrong.empty()) return "'" + path + "': " + wrong;
  if (array.type != adrt_type_name(param.report.type)) {
    return "'" + path + "' holds " + array.type + ", the parameter " + adrt_type_name(param.report.type);
  }
  // A buffer of vectors or matrices is an array with one or two axes more.
  std::vector<int64_t> extents = array.extents;
  std::vector<int64_t> element;
  if (param.report.rows > 1) element.push_back(param.report.rows);
  if (param.report.columns > 1) element.push_back(param.report.columns);
  size_t rank = param.IsBuffer() ? param.report.rank : 0;
  bool fits =
      extents.size() == rank + element.size() &&
      std::equal(element.begin(), element.end(), extents.end() - static_cast<ptrdiff_t>(element.size()));
  if (!fits) {
    return "'" + path + "' has " + std::to_string(extents.size()) + " axes, the parameter has " +
           std::to_string(rank) + (element.empty() ? "" : " and those of its element");
  }
  extents.resize(rank);
  value->extents = std::move(extents);
  value->bytes.assign(array.bytes.begin(), array.bytes.end());
  return {};
}

}  // namespace

uint64_t Random::Next() {
  state_ += 0x9E3779B97F4A7C15ull;
  uint64_t word = state_;
  word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9ull;
  word = (word ^ (word >> 27)) * 0x94D049BB133111EBull;
  return word ^ (word >> 31);
}

double Random::Uniform() {
  return static_cast<double>(Next() >> 11) * 0x1p-53;
}

double ReadNumber(uint32_t type, const uint8_t* bytes, uint64_t index) {
  uint64_t bits = ReadBits(type, bytes, index);
  if (type >= ADRT_TYPE_F16) return FloatFromBits(FormOf(type), bits);
  uint64_t wide = WrapInteger(FormOf(type), bits);
  return type <= ADRT_TYPE_I64 ? static_cast<double>(static_cast<int64_t>(wide)) : static_cast<double>(wide);
}

int64_t ReadInteger(uint32_t type, const uint8_t* bytes, uint64_t index) {
  return static_cast<int64_t>(WrapInteger(FormOf(type), ReadBits(type, bytes, index)));
}

void WriteNumber(uint32_t type, uint8_t* bytes, uint64_t index, double value) {
  if (type >= ADRT_TYPE_F16) {
    WriteBits(type, bytes, index, FloatToBits(FormOf(type), value));
  } else if (type == ADRT_TYPE_I1) {
    WriteBits(type, bytes, index, value != 0);
  } else {
    WriteBits(type, bytes, index,
              value < 0 ? static_cast<uint64_t>(static_cast<int64_t>(value)) : static_cast<uint64_t>(value));
  }
}

std::string NumberText(uint32_t type, const uint8_t* bytes, uint64_t index) {
  uint64_t bits = ReadBits(type, bytes, index);
  NumberForm form = FormOf(type);
  return PrintNumber(form, type >= ADRT_TYPE_F16 ? bits : WrapInteger(form, bits));
}

uint64_t ElementCount(const std::vector<int64_t>& extents) {
  uint64_t count = 1;
  for (int64_t extent : extents) count *= static_cast<uint64_t>(extent);
  return count;
}

ArgValue ZeroValue(const Param& param, std::vector<int64_t> extents) {
  ArgValue value;
  if (param.IsLayout()) {
    value.bytes.resize(param.layout_bytes);
  } else {
    value.bytes.resize(param.element_bytes * (param.IsBuffer() ? ElementCount(extents) : 1));
    if (param.IsBuffer()) value.extents = std::move(extents);
  }
  return value;
}

std::string ParseValue(const Param& param, const std::string& text, const std::vector<int64_t>* shape,
                       ArgValue* value) {
  if (text.starts_with('@')) return ReadArrayFile(param, text.substr(1), value);
  if (param.IsLayout()) {
    if (text != "zeros") return "a layout takes @FILE with its bytes, or zeros";
    *value = ZeroValue(param, {});
    return {};
  }
  uint32_t type = param.report.type;
  if (text.starts_with('[')) {
    if (!text.ends_with(']')) return "a list ends with ']'";
    std::vector<std::string_view> parts = SplitCommas(std::string_view(text).substr(1, text.size() - 2));
    uint64_t elements = parts.size() / param.Components();
    bool fits = parts.size() % param.Components() == 0 &&
                (param.IsBuffer() ? param.report.rank == 1 || (param.report.rank == 0 && elements == 1)
                                  : elements == 1);
    if (!fits) return std::to_string(parts.size()) + " numbers do not make up the value";
    std::vector<int64_t> extents;
    if (param.IsBuffer() && param.report.rank == 1) extents.push_back(static_cast<int64_t>(elements));
    *value = ZeroValue(param, std::move(extents));
    for (size_t at = 0; at < parts.size(); ++at) {
      uint64_t bits = 0;
      std::string wrong = ParseNumber(type, parts[at], &bits);
      if (!wrong.empty()) return wrong;
      WriteBits(type, value->bytes.data(), at, bits);
    }
    return {};
  }
  std::string_view pattern = std::string_view(text).substr(0, text.find_first_of(":["));
  for (std::string_view known : {"zeros", "ones", "full", "iota", "random"}) {
    if (pattern != known) continue;
    std::string_view rest = std::string_view(text).substr(pattern.size());
    std::string_view extents_text, argument;
    size_t bracket = rest.find('[');
    if (bracket != std::string_view::npos) {
      if (!rest.ends_with(']')) return "extents end with ']'";
      extents_text = rest.substr(bracket + 1, rest.size() - bracket - 2);
    }
    argument = rest.substr(0, bracket);
    if (!argument.empty()) argument.remove_prefix(1);
    if (!argument.empty() && pattern != "full" && pattern != "random")
      return std::string(pattern) + " takes no ':" + std::string(argument) + "'";
    std::vector<int64_t> extents;
    if (bracket != std::string_view::npos) {
      std::string wrong = ParseExtents(extents_text, &extents);
      if (!wrong.empty()) return wrong;
    } else if (shape != nullptr) {
      extents = *shape;
    }
    if (param.IsBuffer() && extents.size() != param.report.rank) {
      return std::to_string(extents.size()) + " extents for a buffer of rank " +
             std::to_string(param.report.rank);
    }
    uint64_t bytes = 0;
    std::string wrong = BufferBytes(param, extents, &bytes);
    if (!wrong.empty()) return wrong;
    *value = ZeroValue(param, std::move(extents));
    return FillPattern(param, pattern, argument, value);
  }
  if (param.IsBuffer() && param.report.rank != 0) {
    return "a buffer takes @FILE.npy, [1, 2, 3], or zeros, ones, iota, full:NUMBER, random with extents: "
           "zeros[4,5]";
  }
  if (param.Components() != 1) return "takes [" + std::to_string(param.Components()) + " numbers]";
  uint64_t bits = 0;
  std::string wrong = ParseNumber(type, text, &bits);
  if (!wrong.empty()) return wrong;
  *value = ZeroValue(param, {});
  WriteBits(type, value->bytes.data(), 0, bits);
  return {};
}

bool ParseArguments(const adrt_bundle* bundle, const Kernel& kernel, const ArgTexts& texts,
                    std::map<std::string, ArgValue>* values,
                    std::map<std::string, std::vector<int64_t>>* shapes) {
  std::vector<std::string_view> names;
  for (const Param& param : kernel.params) {
    if (param.IsGiven()) names.push_back(param.name);
  }
  auto find = [&](const std::string& text, const char* option, std::string* rest) -> const Param* {
    size_t equals = text.find('=');
    if (equals == std::string::npos) {
      PrintError("'" + text + "' after " + option + ": expects NAME=...");
      return nullptr;
    }
    std::string name = text.substr(0, equals);
    if (name.starts_with('%')) name.erase(0, 1);
    *rest = text.substr(equals + 1);
    const Param* param = kernel.Find(name);
    if (param != nullptr && param->IsGiven()) return param;
    std::string_view near = NearestName(name, names);
    std::string list;
    for (std::string_view known : names) list += (list.empty() ? "" : ", ") + std::string(known);
    PrintError("kernel '" + std::string(kernel.report.name) + "' has no parameter '" + name + "'",
               near.empty() ? "its parameters are " + list : "did you mean '" + std::string(near) + "'?");
    return nullptr;
  };
  std::string rest;
  for (const std::string& text : texts.shapes) {
    const Param* param = find(text, "--shape", &rest);
    if (param == nullptr) return false;
    std::vector<int64_t> extents;
    std::string wrong = param->IsBuffer() ? ParseExtents(rest, &extents) : "is no buffer";
    if (wrong.empty() && extents.size() != param->report.rank) {
      wrong = std::to_string(extents.size()) + " extents for a buffer of rank " +
              std::to_string(param->report.rank);
    }
    uint64_t bytes = 0;
    if (wrong.empty() && !texts.shapes_alone) wrong = BufferBytes(*param, extents, &bytes);
    if (!wrong.empty()) {
      PrintError("'" + text + "' after --shape: " + wrong);
      return false;
    }
    (*shapes)[param->name] = std::move(extents);
  }
  for (const std::string& text : texts.args) {
    const Param* param = find(text, "--arg", &rest);
    if (param == nullptr) return false;
    ArgValue value;
    auto shape = shapes->find(param->name);
    std::string wrong =
        values->contains(param->name)
            ? "is given twice"
            : ParseValue(*param, rest, shape == shapes->end() ? nullptr : &shape->second, &value);
    if (!wrong.empty()) {
      PrintError("parameter '" + param->name + "' (" + param->TypeText(bundle) + "): " + wrong);
      return false;
    }
    if (param->IsBuffer() && shape != shapes->end() && shape->second != value.extents) {
      PrintError("parameter '" + param->name + "' (" + param->TypeText(bundle) +
                 "): its value has other extents than --shape says");
      return false;
    }
    if (param->IsBuffer()) (*shapes)[param->name] = value.extents;
    values->emplace(param->name, std::move(value));
  }
  return true;
}

adrt_arg ToArgument(const Param& param, ArgValue& value) {
  auto argument = Sized<adrt_arg>();
  argument.kind = param.report.kind;
  argument.name = param.report.name;
  argument.data = value.bytes.data();
  if (param.IsLayout()) {
    argument.size = value.bytes.size();
    return argument;
  }
  argument.type = param.report.type;
  argument.rows = param.report.rows;
  argument.columns = param.report.columns;
  if (param.IsBuffer()) {
    argument.rank = static_cast<uint32_t>(value.extents.size());
    for (size_t axis = 0; axis < value.extents.size(); ++axis) argument.extents[axis] = value.extents[axis];
  }
  return argument;
}

int WriteValue(const std::string& path, const Param& param, const ArgValue& value) {
  std::string bytes;
  if (param.IsLayout()) {
    bytes.assign(value.bytes.begin(), value.bytes.end());
  } else {
    NpyArray array;
    array.type = adrt_type_name(param.report.type);
    array.extents = value.extents;
    if (param.report.rows > 1) array.extents.push_back(param.report.rows);
    if (param.report.columns > 1) array.extents.push_back(param.report.columns);
    array.bytes.assign(value.bytes.begin(), value.bytes.end());
    bytes = NpyText(array);
  }
  FileStatus status = WriteWhole(path, std::string_view(bytes));
  if (status) return kExitOk;
  PrintError(status.Failure().text, status.Failure().help);
  return kExitFailed;
}

}  // namespace adc::tool
