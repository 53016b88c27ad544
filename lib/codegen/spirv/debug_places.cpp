#include "codegen/spirv/debug_places.h"

#include <spirv/unified1/NonSemanticShaderDebugInfo100.h>

#include <algorithm>

namespace adc::codegen::spirv {
namespace {

/// An instruction has at most 65,535 words, and some of them are no text.
constexpr size_t kLongestPart = 65'500 * 4;

/// The text in parts that fit into instructions, characters of UTF-8 whole; one part at least. Text after a
/// zero byte could not be told from the end.
std::vector<std::string_view> PartsOf(std::string_view text) {
  text = text.substr(0, text.find('\0'));
  std::vector<std::string_view> parts;
  do {
    size_t size = std::min(text.size(), kLongestPart);
    while (size != 0 && size < text.size() && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) --size;
    if (size == 0) size = std::min(text.size(), kLongestPart);
    parts.push_back(text.substr(0, size));
    text.remove_prefix(size);
  } while (!text.empty());
  return parts;
}

}  // namespace

Id DebugPlaces::SourceOf(const diag::SourceFile& file) {
  Id& known = known_[&file];
  if (known != 0) return known;
  std::string shown = file.name;
  if (form_ == Form::Translated) {
    for (char& c : shown) c = c == '"' || c == '\\' || static_cast<unsigned char>(c) < ' ' ? '_' : c;
    return known = module_.String(shown);
  }
  Id name = module_.String(shown);
  std::vector<std::string_view> parts;
  if (!file.stands_in) parts = PartsOf(file.text);
  if (form_ == Form::Core) {
    module_.AddSource(name, parts);
    return known = name;
  }
  if (parts.empty()) return known = module_.DebugInfo(NonSemanticShaderDebugInfo100DebugSource, {name});
  known = module_.DebugInfo(NonSemanticShaderDebugInfo100DebugSource, {name, module_.String(parts[0])});
  for (size_t n = 1; n < parts.size(); ++n)
    module_.DebugInfo(NonSemanticShaderDebugInfo100DebugSourceContinued, {module_.String(parts[n])});
  return known;
}

DebugPlaces::Range DebugPlaces::RangeOf(const diag::SourceFile& file, diag::SourceSpan place) const {
  diag::LineColumn first = sources_.Locate(place);
  if (file.stands_in) return {first.line, 0, 0};
  Range range{first.line, first.column, first.column};
  bool in_file = place.end > place.begin && place.end - file.base <= file.text.size();
  if (!in_file) return range;
  diag::LineColumn last = sources_.Locate({place.end - 1, place.end});
  if (last.line == first.line) range.last = last.column;
  return range;
}

void DebugPlaces::Begin(FunctionBuilder& function, std::string_view name, std::string_view symbol,
                        diag::SourceSpan place) {
  scope_ = 0;
  const diag::SourceFile* file = place.Valid() ? sources_.FileOf(place) : nullptr;
  if (form_ != Form::NonSemantic || file == nullptr) return;
  Range range = RangeOf(*file, place);
  Id source = SourceOf(*file);
  Id version = Number(NonSemanticShaderDebugInfo100Version), dwarf = Number(5), none = Number(0);
  Id& unit = units_[source];
  if (unit == 0) {
    unit =
        module_.DebugInfo(NonSemanticShaderDebugInfo100DebugCompilationUnit, {version, dwarf, source, none});
  }
  Id nothing = module_.types.Void();
  if (type_ == 0) type_ = module_.DebugInfo(NonSemanticShaderDebugInfo100DebugTypeFunction, {none, nothing});
  Id line = Number(range.line), shown = module_.String(name), linked = module_.String(symbol);
  Id column = Number(range.first), flags = Number(NonSemanticShaderDebugInfo100FlagIsDefinition);
  scope_ = module_.DebugInfo(NonSemanticShaderDebugInfo100DebugFunction,
                             {shown, type_, source, line, column, unit, linked, flags, line});
  FunctionBuilder::Head head(function);
  function.Emit(
      spv::OpExtInst, nothing,
      {module_.DebugSet(), NonSemanticShaderDebugInfo100DebugFunctionDefinition, scope_, function.id()});
}

void DebugPlaces::Set(FunctionBuilder& function, diag::SourceSpan place) {
  const diag::SourceFile* file = place.Valid() ? sources_.FileOf(place) : nullptr;
  bool core = form_ != Form::NonSemantic;
  if (!core && scope_ == 0) return;
  Words said;
  if (file != nullptr) {
    Range range = RangeOf(*file, place);
    said = {SourceOf(*file), range.line, range.first};
    if (!core) said.push_back(range.last);
  }
  if (said == function.Place()) return;
  Words code;
  auto debug = [&](uint32_t instruction, std::initializer_list<Id> operands) {
    Id type = module_.types.Void(), id = module_.NewId();
    AppendInstruction(code, spv::OpExtInst, Joined({type, id, module_.DebugSet(), instruction}, operands));
  };
  if (form_ == Form::Translated && file == nullptr) {
    AppendInstruction(code, spv::OpLine, Words{function.Place()[0], 0, 0});
  } else if (core) {
    AppendInstruction(code, file == nullptr ? spv::OpNoLine : spv::OpLine, said);
  } else if (file == nullptr) {
    debug(NonSemanticShaderDebugInfo100DebugNoLine, {});
  } else {
    if (function.Place().empty()) debug(NonSemanticShaderDebugInfo100DebugScope, {scope_});
    Id line = Number(said[1]), first = Number(said[2]), last = Number(said[3]);
    debug(NonSemanticShaderDebugInfo100DebugLine, {said[0], line, line, first, last});
  }
  function.SetPlace(std::move(said), code);
}

}  // namespace adc::codegen::spirv
