#include "frontend/spirv/read.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <spirv-tools/libspirv.hpp>
#include <sstream>

#include "diag/errors/shader.h"
#include "frontend/spirv/lowering.h"
#include "frontend/spirv/unvalidated.h"
#include "ir/module.h"
#include "ir/number.h"
#include "support/letters.h"
#include "support/nearest.h"

namespace adc::frontend::spirv {

namespace {

constexpr uint32_t kMagic = 0x07230203, kSwapped = 0x03022307;
/// More than what is lowered may nest (kDeepestRegion), since some branches become none.
constexpr size_t kMostMerges = 300;

/// The validator's complaint about a module; empty: none.
std::string Problem(const Words& words, const ReadConfig& config) {
  spvtools::SpirvTools tools(SPV_ENV_VULKAN_1_3);
  std::string problem;
  tools.SetMessageConsumer(
      [&](spv_message_level_t level, const char*, const spv_position_t&, const char* text) {
        if (level <= SPV_MSG_ERROR && problem.empty()) problem = text;
      });
  spvtools::ValidatorOptions options;
  options.SetScalarBlockLayout(true);
  options.SetUniformBufferStandardLayout(true);
  options.SetWorkgroupScalarBlockLayout(true);
  if (config.before_legalization) options.SetBeforeHlslLegalization(true);
  if (tools.Validate(words.data(), words.size(), options)) return {};
  // It may have several lines: what is wrong, and the instruction.
  std::istringstream words_of(problem);
  std::string line;
  for (std::string word; words_of >> word;) line += (line.empty() ? "" : " ") + word;
  return line.empty() ? "the module is not valid" : line;
}

/// The line of a file, from a column on, without the blanks around it.
diag::SourceSpan SpanOfLine(const diag::SourceManager& sources, const diag::SourceFile& file, uint32_t line,
                            uint32_t column) {
  if (line == 0 || line > file.line_starts.size()) return {};
  constexpr std::string_view kBlanks = " \t\r";
  std::string_view text = sources.LineText(file, line);
  size_t end = text.find_last_not_of(kBlanks) + 1;
  size_t begin = std::min(text.find_first_not_of(kBlanks, column - 1 < end ? column - 1 : 0), end);
  auto base = file.base + file.line_starts[line - 1];
  return {base + static_cast<uint32_t>(begin), base + static_cast<uint32_t>(std::max(end, begin + 1))};
}

/// Gives every instruction the place that the lines of the module say.
class Places {
 public:
  Places(const std::string& name, const Words& words, Binary& binary, diag::SourceManager& sources)
      : name_(name), words_(words), binary_(binary), sources_(sources) {}

  void Set() {
    diag::SourceSpan here;
    bool any = false;
    for (Instruction& inst : binary_.instructions()) {
      if (inst.op == spv::OpLine) {
        const diag::SourceFile* file = FileNamed(inst.At(0));
        here = file == nullptr ? diag::SourceSpan() : SpanOfLine(sources_, *file, inst.At(1), inst.At(2));
        any = any || here.Valid();
      } else if (inst.op == spv::OpNoLine || inst.op == spv::OpFunctionEnd) {
        here = {};
      }
      inst.span = here;
    }
    any ? SetOfVariables() : SetByText();
  }

 private:
  /// The file that a string of the module names: one that is known, or one whose text the module carries.
  const diag::SourceFile* FileNamed(Id string) {
    auto [known, fresh] = files_.try_emplace(string, nullptr);
    if (!fresh) return known->second;
    std::string wanted = binary_.TextOf(string);
    for (const auto& file : sources_.Files()) {
      if (file->name == wanted) known->second = file.get();
    }
    auto text = binary_.sources().find(string);
    if (known->second != nullptr || text == binary_.sources().end() || text->second.empty())
      return known->second;
    std::string own = text->second;
    // glslang writes this in front of the first line.
    constexpr std::string_view kFirst = "#line 1\n";
    if (size_t at = own.find(kFirst); own.starts_with("// OpModuleProcessed") && at != std::string::npos)
      own.erase(0, at + kFirst.size());
    uint32_t base = sources_.AddFile(wanted.empty() ? name_ : wanted, std::move(own));
    if (base != 0) known->second = sources_.FileOf({base, base + 1});
    return known->second;
  }

  /// No line stands in front of a variable outside of functions: it is where its name is first written.
  void SetOfVariables() {
    for (Instruction& inst : binary_.instructions()) {
      if (inst.op == spv::OpFunction) return;
      bool spec = IsSpecNumber(inst);
      if (inst.op != spv::OpVariable && !spec) continue;
      std::string_view name = binary_.NameOf(inst.result);
      const Instruction* pointer = binary_.Find(inst.type);
      if (name.empty() && pointer != nullptr && !spec) name = binary_.NameOf(pointer->At(1));
      if (name.empty()) continue;
      for (const auto& [string, file] : files_) {
        if (file != nullptr && !inst.span.Valid()) inst.span = FirstWord(*file, name);
      }
    }
  }

  /// Where a word first stands outside of comments.
  static diag::SourceSpan FirstWord(const diag::SourceFile& file, std::string_view word) {
    auto part_of_word = [&](size_t at) { return at < file.text.size() && IsNameCharacter(file.text[at]); };
    for (size_t at = file.text.find(word); at != std::string::npos; at = file.text.find(word, at + 1)) {
      if ((at > 0 && part_of_word(at - 1)) || part_of_word(at + word.size())) continue;
      size_t line = file.text.rfind('\n', at) + 1;
      if (file.text.substr(line, at - line).find("//") != std::string::npos) continue;
      auto begin = static_cast<uint32_t>(file.base + at);
      return {begin, begin + static_cast<uint32_t>(word.size())};
    }
    return {};
  }

  /// A module without lines: its own text, a line per instruction.
  void SetByText() {
    spvtools::SpirvTools tools(SPV_ENV_VULKAN_1_3);
    tools.SetMessageConsumer([](spv_message_level_t, const char*, const spv_position_t&, const char*) {});
    std::string text;
    if (!tools.Disassemble(words_, &text,
                           SPV_BINARY_TO_TEXT_OPTION_NO_HEADER | SPV_BINARY_TO_TEXT_OPTION_FRIENDLY_NAMES))
      return;
    uint32_t base = sources_.AddFile(name_, std::move(text));
    const diag::SourceFile* file = base == 0 ? nullptr : sources_.FileOf({base, base + 1});
    // A text in the module may hold line ends of its own: then lines and instructions do not go together.
    size_t lines = file == nullptr ? 0 : file->line_starts.size(), count = binary_.instructions().size();
    if (lines < count || lines > count + 1) return;
    uint32_t line = 0;
    for (Instruction& inst : binary_.instructions()) inst.span = SpanOfLine(sources_, *file, ++line, 1);
  }

  const std::string& name_;
  const Words& words_;
  Binary& binary_;
  diag::SourceManager& sources_;
  std::map<Id, const diag::SourceFile*> files_;
};

std::optional<uint64_t> ValueOf(const std::string& text, ir::Type type) {
  auto takes = [&](auto* value) {
    const char* end = text.data() + text.size();
    auto [at, failure] = std::from_chars(text.data(), end, *value);
    return failure == std::errc() && at == end;
  };
  if (type.IsBool()) {
    if (text == "true" || text == "1") return 1;
    if (text == "false" || text == "0") return 0;
    return std::nullopt;
  }
  if (type.IsFloat()) {
    double value = 0;
    return takes(&value) ? std::optional(ir::FloatToBits(type.scalar, value)) : std::nullopt;
  }
  int64_t value = 0;
  if (!takes(&value)) return std::nullopt;
  uint32_t width = ir::BitWidth(type.scalar);
  // The values of the type with a sign, and of the one without.
  if (width < 64 && (value < -(int64_t{1} << (width - 1)) || value >= (int64_t{1} << width)))
    return std::nullopt;
  return ir::WrapInteger(ir::IntegerOf(width, false), static_cast<uint64_t>(value));
}

/// "it has a, b", where `first` is "it has "; `none` without names.
template <class Names>
std::string Listed(const std::string& first, const Names& names, const char* none) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? first : ", ") + name;
  return list.empty() ? none : list;
}

/// Asks for the one of `names` that is near to `name`; empty where none is.
std::string Meant(const std::string& name, const std::vector<std::string>& names) {
  std::vector<std::string_view> views(names.begin(), names.end());
  std::string_view near = NearestName(name, views);
  return near.empty() ? "" : "did you mean '" + std::string(near) + "'?";
}

class Reader {
 public:
  Reader(const Binary& binary, const ReadConfig& config, diag::Diagnostics& diagnostics)
      : binary_(binary), config_(config), diagnostics_(diagnostics), types_(binary, spec_values_) {}

  bool Read(ir::Module& module) {
    try {
      TakeSpecConstants();
    } catch (const Refused& refused) {
      diagnostics_.Add(refused.reason);
      return false;
    }
    mark_used_.assign(config_.marked.size(), false);
    std::vector<std::string> candidates, entries;
    bool any = false, good = true;
    for (const EntryPoint& entry : binary_.entries()) {
      entries.push_back(entry.name);
      if (entry.model != spv::ExecutionModelGLCompute) continue;
      if (!config_.entry.empty() && entry.name != config_.entry) continue;
      any = true;
      try {
        Lower(module, entry, candidates);
      } catch (const Refused& refused) {
        diagnostics_.Add(refused.reason);
        good = false;
      }
    }
    if (!any) {
      TellNoEntry(entries);
      return false;
    }
    if (config_.has_marked != nullptr) *config_.has_marked = mark_used_;
    return good && CheckMarks(candidates);
  }

 private:
  void TellNoEntry(const std::vector<std::string>& entries) {
    std::string text = config_.entry.empty() ? "the module has no compute shader"
                                             : "the module has no compute shader '" + config_.entry + "'";
    diagnostics_.Error(diag::E0858, {}, text)
        .AddHelp(Listed("its entry points are ", entries, "a library without entry points cannot be run"));
  }

  /// Which constants there are, what --spec gives them, and which decide about types.
  void TakeSpecConstants() {
    std::vector<bool> used(config_.spec.size(), false);
    std::vector<std::string> names;
    std::map<std::string, int64_t> number_of;  // a value by name is that of all constants with the number
    for (const Instruction& inst : binary_.instructions()) {
      int64_t number = binary_.Decorated(inst.result, spv::DecorationSpecId);
      if (number >= 0) number_of.emplace(binary_.NameOf(inst.result), number);
    }
    for (const Instruction& inst : binary_.instructions()) {
      if (!IsSpecNumber(inst)) continue;
      SpecConstant spec;
      spec.id = inst.result;
      spec.name = std::string(binary_.NameOf(inst.result));
      int64_t number = binary_.Decorated(inst.result, spv::DecorationSpecId);
      // One without a number cannot be specialised: it has its value.
      spec.frozen = number < 0;
      spec.number = static_cast<uint32_t>(std::max<int64_t>(number, 0));
      for (size_t n = 0; n < config_.spec.size(); ++n) {
        const auto& [name, value] = config_.spec[n];
        auto named = number_of.find(name);
        bool by_number = number >= 0 && (name == std::to_string(number) ||
                                         (named != number_of.end() && named->second == number));
        if (name != spec.name && !by_number) continue;
        used[n] = true;
        std::optional<uint64_t> bits = ValueOf(value, types_.Register(inst.type));
        if (!bits)
          Refuse(diag::E0860, inst.span,
                 "--spec gives '" + name + "' the value '" + value + "', which its type does not have");
        spec.given = true;
        spec_values_[inst.result] = *bits;
      }
      if (!spec.name.empty()) names.push_back(spec.name);
      specs_.push_back(spec);
    }
    for (size_t n = 0; n < used.size(); ++n) {
      if (used[n]) continue;
      const std::string& name = config_.spec[n].first;
      std::string meant = Meant(name, names);
      Refuse(diag::E0860, {},
             "--spec names '" + name + "', which is no specialisation constant of the shader",
             meant.empty() ? Listed("it has ", names, "the shader has none") : meant);
    }
    std::set<Id> frozen;
    std::vector<Id> pending;
    for (const Instruction& inst : binary_.instructions()) {
      if (inst.op == spv::OpTypeArray) pending.push_back(inst.At(1));
      if (inst.op == spv::OpExecutionModeId && inst.At(1) == spv::ExecutionModeLocalSizeId)
        pending.insert(pending.end(), {inst.At(2), inst.At(3), inst.At(4)});
      if (binary_.IsWorkgroupSize(inst))
        pending.insert(pending.end(), inst.operands.begin(), inst.operands.end());
    }
    while (!pending.empty()) {
      Id id = pending.back();
      pending.pop_back();
      const Instruction* inst = binary_.Find(id);
      if (inst == nullptr || !frozen.insert(id).second) continue;
      if (inst->op == spv::OpSpecConstantOp)
        for (size_t n = 1; n < inst->operands.size(); ++n) pending.push_back(inst->At(n));
    }
    for (SpecConstant& spec : specs_) spec.frozen = spec.frozen || frozen.count(spec.id) != 0;
  }

  void Lower(ir::Module& module, const EntryPoint& entry, std::vector<std::string>& candidates) {
    std::string name = entry.name == "main" ? config_.main_name : entry.name;
    std::string word;
    for (char letter : name) {
      bool good = IsLetter(letter) || (IsDigit(letter) && !word.empty());
      word += good ? letter : '_';
    }
    if (word.empty()) word = "main";
    std::string free = word;
    for (uint32_t number = 2; module.Find(free) != nullptr; ++number)
      free = word + "_" + std::to_string(number);
    LowerEntry({binary_, types_, specs_, entry, config_, TurnsBits(), mark_used_}, module, free, &candidates);
  }

  bool TurnsBits() {
    const std::vector<Instruction>& all = binary_.instructions();
    return std::any_of(all.begin(), all.end(), [&](const Instruction& inst) {
      if (inst.op != spv::OpBitcast || !types_.IsRegister(inst.type)) return false;
      Id from = binary_.Find(inst.At(0)) == nullptr ? 0 : binary_.Find(inst.At(0))->type;
      return types_.IsRegister(from) && types_.IsFloat(inst.type) != types_.IsFloat(from);
    });
  }

  bool CheckMarks(const std::vector<std::string>& candidates) {
    bool good = true;
    std::set<std::string> once(candidates.begin(), candidates.end());
    for (size_t n = 0; n < config_.marked.size(); ++n) {
      const MarkedName& mark = config_.marked[n];
      std::string meant = Meant(mark.name, candidates);
      if (mark_used_[n] || (config_.has_marked != nullptr && !mark.span.Valid())) continue;
      diagnostics_
          .Error(diag::E0859, mark.span,
                 mark.marks.diff
                     ? std::string(mark.span.Valid() ? "this asks" : "--diff asks") +
                           " for the adjoint of '" + mark.name +
                           "', and no block that is used has a member of floats of that name"
                     : "this promises something of '" + mark.name + "', and no buffer has that name")
          .AddHelp(!mark.marks.diff ? "name a storage buffer, or a member of one"
                   : !meant.empty() ? meant
                                    : Listed("there are ", once, "the shader has no members of floats"));
      good = false;
    }
    return good;
  }

  const Binary& binary_;
  const ReadConfig& config_;
  diag::Diagnostics& diagnostics_;
  std::map<Id, uint64_t> spec_values_;
  Types types_;
  std::vector<SpecConstant> specs_;
  std::vector<bool> mark_used_;
};

}  // namespace

std::vector<uint32_t> WordsOf(std::string_view bytes) {
  std::vector<uint32_t> words(bytes.size() / 4);
  if (bytes.size() % 4 != 0 || words.size() < 5) return {};
  std::memcpy(words.data(), bytes.data(), bytes.size());
  if (words[0] == kSwapped) {
    for (uint32_t& word : words) word = __builtin_bswap32(word);
  }
  if (words[0] != kMagic) return {};
  return words;
}

bool ReadSpirv(const std::string& name, const std::vector<uint32_t>& given, const ReadConfig& config,
               diag::SourceManager& sources, diag::Diagnostics& diagnostics, ir::Module* module) {
  if (std::optional<NamedLine> deep = FindDeeper(given, kMostMerges)) {
    diag::SourceSpan span;
    for (const auto& file : sources.Files())
      if (file->name == deep->file) span = SpanOfLine(sources, *file, deep->line, deep->column);
    diagnostics
        .Error(diag::E0857, span,
               "branches and loops nest deeper than " + std::to_string(kMostMerges) + " levels")
        .AddHelp("move inner parts into loops of their own");
    return false;
  }
  Words known;
  std::string problem = given.empty() ? "it does not begin with SPIR-V's number" : Problem(given, config);
  bool is_news = !problem.empty() && !given.empty();
  if (is_news) {
    known = WithoutNews(given);
    if (config.before_legalization) known = WithFittingAtomics(known);
    problem = Problem(known, config);
  }
  const Words& words = is_news ? known : given;
  if (!problem.empty()) {
    std::string help =
        config.before_legalization
            ? "glslang made this of the source: write it another way, or give adc the .spv of another "
              "compiler"
            : "spirv-val says the same; a .spv file is what a compiler of shaders wrote, untouched";
    // The validator has no name for these.
    if (problem.starts_with("Invalid ") && !config.before_legalization) {
      help = "SPIRV-Tools " + std::string(spvSoftwareVersionString()) +
             " does not know that: if the module is newer, ask its compiler for SPIR-V 1.6 or less";
    }
    diagnostics.Error(diag::E0851, {}, "'" + name + "' is not valid SPIR-V: " + problem).AddHelp(help);
    return false;
  }
  Binary binary(words);
  Places(name, words, binary, sources).Set();
  return Reader(binary, config, diagnostics).Read(*module);
}

}  // namespace adc::frontend::spirv
