// glslang reads, checks and translates. Here are what it is asked for, the files that it includes, its
// messages with places. marks.h reads the marks of the text.

#include "frontend/glsl/compile.h"

#include <glslang/Public/ResourceLimits.h>
#include <glslang/Public/ShaderLang.h>
#include <glslang/SPIRV/GlslangToSpv.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <system_error>

#include "diag/errors/parse.h"
#include "diag/errors/shader.h"
#include "diag/import_roots.h"
#include "diag/result.h"
#include "frontend/glsl/code.h"
#include "frontend/glsl/marks.h"
#include "frontend/glsl/rewrite.h"
#include "host/read_text.h"
#include "support/letters.h"
#include "support/printable.h"

namespace adc::frontend::glsl {

namespace {

namespace fs = std::filesystem;

/// A function that the text has as an entry point.
struct Entry {
  std::string name;
  Range place;
};

std::vector<Entry> EntriesOf(const std::string& text) {
  constexpr std::string_view kMark = "[numthreads";
  std::string code = CodeOf(text);
  std::vector<Entry> entries;
  for (size_t at = code.find(kMark); at != std::string::npos; at = code.find(kMark, at + 1)) {
    // The function stands after the last of its attributes.
    size_t after = at;
    while (after < code.size() && code[after] == '[')
      after = code.find_first_not_of(kBlanks, std::min(code.find(']', after), code.size() - 1) + 1);
    size_t end = code.find('(', after);
    if (end == std::string::npos) break;
    end = code.find_last_not_of(kBlanks, end - 1) + 1;
    size_t begin = end;
    while (begin > 0 && IsNameCharacter(code[begin - 1])) --begin;
    if (begin < end) entries.push_back({code.substr(begin, end - begin), {begin, end}});
  }
  return entries;
}

bool HasWord(const std::string& text, std::string_view word) {
  std::string code = CodeOf(text);
  for (size_t at = code.find(word); at != std::string::npos; at = code.find(word, at + 1)) {
    size_t end = at + word.size();
    if ((at == 0 || !IsNameCharacter(code[at - 1])) && (end == code.size() || !IsNameCharacter(code[end])))
      return true;
  }
  return false;
}

/// The function to compile: the one that is asked for, else `main`, else the only entry point.
std::string ChooseEntry(const std::string& text, const CompileConfig& config) {
  if (!config.entry.empty()) return config.entry;
  if (config.language == Language::Glsl || HasWord(text, "main")) return "main";
  std::vector<Entry> entries = EntriesOf(text);
  return entries.size() == 1 ? entries[0].name : "main";
}

/// The entry points of the text, which glslang does not name if a shader lacks the one that is asked for.
/// False where none is seen.
bool TellEntries(const std::string& text, const std::string& entry, uint32_t base,
                 diag::Diagnostics& diagnostics) {
  std::vector<Entry> entries = EntriesOf(text);
  if (entries.empty()) return false;
  std::string others;
  for (const Entry& other : entries) others += (others.empty() ? "--entry=" : ", --entry=") + other.name;
  Range first = entries[0].place;
  diagnostics
      .Error(diag::E0850,
             {base + static_cast<uint32_t>(first.begin), base + static_cast<uint32_t>(first.end)},
             "no entry point is named '" + entry + "'")
      .AddHelp("say which one to compile: " + others);
  return true;
}

class Includer final : public glslang::TShader::Includer {
 public:
  Includer(const std::string& shader, const CompileConfig& config, diag::SourceManager& sources,
           diag::Diagnostics& diagnostics, std::vector<std::string>* dependencies,
           std::vector<spirv::MarkedName>& marked)
      : config_(config),
        sources_(sources),
        diagnostics_(diagnostics),
        dependencies_(dependencies),
        marked_(marked) {
    roots_.AddFolderOf(shader);
    for (const auto* folders : {&config.include_dirs, &config.import_dirs}) {
      for (const std::string& folder : *folders) roots_.AddFolder(folder);
    }
  }

  /// Why files were not read that an include leads to, without places: glslang's message says
  /// kRefused and the position in this list.
  std::vector<diag::Diagnostic>& refusals() { return refusals_; }
  static constexpr std::string_view kRefused = "refusal ";

  /// Whether glslang misunderstands an included file, or a marker in it is wrong.
  bool misread() const { return misread_; }

  /// The same texts for another reading.
  void Restart() {
    refusals_.clear();
    given_.clear();
    results_.clear();
  }

  IncludeResult* includeLocal(const char* header, const char* includer, size_t depth) override {
    fs::path folder = fs::path(includer).parent_path();
    if (IncludeResult* found = Open((folder / header).lexically_normal().string(), depth)) {
      if (found->headerName.empty()) refused_ = found;
      return found;
    }
    return includeSystem(header, includer, depth);
  }
  IncludeResult* includeSystem(const char* header, const char*, size_t depth) override {
    // glslang asks here for what includeLocal has refused, too.
    if (refused_ != nullptr) return std::exchange(refused_, nullptr);
    for (const std::string& folder : config_.include_dirs) {
      if (IncludeResult* found = Open((fs::path(folder) / header).lexically_normal().string(), depth))
        return found;
    }
    return nullptr;
  }
  void releaseInclude(IncludeResult*) override {}

 private:
  static constexpr size_t kDeepest = 64;
  static constexpr size_t kMostFiles = 4096;

  /// Null where there is no such file.
  IncludeResult* Open(const std::string& path, size_t depth) {
    if (depth > kDeepest || results_.size() >= kMostFiles) return nullptr;
    auto known = texts_.find(path);
    if (known == texts_.end()) {
      std::error_code failure;
      fs::path canonical = fs::canonical(path, failure);
      if (failure) return nullptr;
      if (fs::is_directory(canonical, failure)) return nullptr;
      if (!roots_.Allows(canonical)) return Refuse(roots_.Refuse({}, canonical.string()));
      ReadText read = ReadTextFile(path, config_.text_limit - std::min(config_.text_limit, taken_), true);
      if (read.end == ReadEnd::TooLarge)
        return Refuse(diag::TextTooLarge({}, path, read.size, config_.text_limit));
      if (read.end == ReadEnd::Failed) return Refuse(CannotRead(path, read.error));
      taken_ += read.text.size();
      uint32_t base = sources_.AddFile(path, read.text);
      if (base == 0) return nullptr;
      if (!TakeMarks(read.text, base, marked_, diagnostics_)) misread_ = true;
      if (config_.language == Language::Hlsl && !RewritePushConstants(read.text, base, diagnostics_))
        misread_ = true;
      if (TakePragmaOnce(read.text)) once_[path] = canonical.string();
      if (dependencies_ != nullptr) dependencies_->push_back(path);
      known = texts_.emplace(path, std::move(read.text)).first;
    }
    auto once = once_.find(path);
    bool again = once != once_.end() && !given_.insert(once->second).second;
    results_.push_back(std::make_unique<IncludeResult>(path, known->second.data(),
                                                       again ? 0 : known->second.size(), nullptr));
    return results_.back().get();
  }

  static diag::Diagnostic CannotRead(const std::string& path, int error) {
    std::string reason = error == EINVAL ? "it is no regular file" : std::generic_category().message(error);
    return diag::Fail(diag::E0120, {}, "cannot read '" + Printable(path) + "': " + reason,
                      "an include is a file with text");
  }

  /// A result without a name is a message to glslang.
  IncludeResult* Refuse(diag::Diagnostic reason) {
    const std::string& said = *said_.insert(std::string(kRefused) + std::to_string(refusals_.size())).first;
    refusals_.push_back(std::move(reason));
    results_.push_back(std::make_unique<IncludeResult>("", said.data(), said.size(), nullptr));
    return results_.back().get();
  }

  const CompileConfig& config_;
  diag::SourceManager& sources_;
  diag::Diagnostics& diagnostics_;
  std::vector<std::string>* dependencies_;
  std::vector<spirv::MarkedName>& marked_;
  diag::ImportRoots roots_;
  bool misread_ = false;
  std::map<std::string, std::string> texts_;
  std::map<std::string, std::string> once_;  ///< files of the texts that are read once, by path
  std::set<std::string> given_;              ///< of them, those that glslang has
  std::vector<diag::Diagnostic> refusals_;
  std::set<std::string> said_;
  IncludeResult* refused_ = nullptr;  ///< by the last includeLocal
  std::vector<std::unique_ptr<IncludeResult>> results_;
  uint64_t taken_ = 0;
};

/// The refusal that glslang's message stands for; null where it is another message.
diag::Diagnostic* RefusalOf(std::string_view message, std::vector<diag::Diagnostic>& refusals) {
  std::string head = "'#include' : " + std::string(Includer::kRefused);
  if (!message.starts_with(head)) return nullptr;
  message.remove_prefix(head.size());
  size_t number = 0;
  std::from_chars(message.data(), message.data() + message.size(), number);
  return number < refusals.size() ? &refusals[number] : nullptr;
}

/// glslang's log, line by line: "ERROR: step.comp:7: 'x' : undeclared identifier".
void TellLog(std::string_view log, std::vector<diag::Diagnostic>& refusals,
             const diag::SourceManager& sources, diag::Diagnostics& diagnostics, bool failed,
             const std::string& name) {
  bool any = false;
  while (!log.empty()) {
    size_t end = std::min(log.find('\n'), log.size());
    std::string_view line = log.substr(0, end);
    log.remove_prefix(std::min(end + 1, log.size()));
    bool error = line.starts_with("ERROR: "), warning = line.starts_with("WARNING: ");
    if (!error && !warning) continue;
    line.remove_prefix(error ? 7 : 9);
    diag::SourceSpan span;
    for (const auto& file : sources.Files()) {
      if (!line.starts_with(file->name + ":")) continue;
      std::string_view rest = line.substr(file->name.size() + 1);
      uint32_t number = 0;
      auto [after, failure] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
      rest.remove_prefix(static_cast<size_t>(after - rest.data()));
      if (failure != std::errc() || !rest.starts_with(':')) continue;
      line = rest.substr(std::min<size_t>(2, rest.size()));
      std::string_view text = sources.LineText(*file, number);
      if (number == 0 || number > file->line_starts.size()) break;
      size_t blank = std::min(text.find_first_not_of(" \t"), text.size());
      uint32_t begin = file->base + file->line_starts[number - 1];
      span = {begin + static_cast<uint32_t>(blank),
              begin + static_cast<uint32_t>(std::max(text.size(), blank + 1))};
      // The word that the message quotes, where it stands in the line.
      if (line.starts_with("'")) {
        std::string_view word = line.substr(1, line.find('\'', 1) - 1);
        size_t at = word.empty() ? std::string_view::npos : text.find(word);
        if (at != std::string_view::npos)
          span = {begin + static_cast<uint32_t>(at), begin + static_cast<uint32_t>(at + word.size())};
      }
      break;
    }
    auto says = [&](std::string_view part) { return line.find(part) != std::string_view::npos; };
    bool follows = says("No code generated") || says("compilation terminated") ||
                   (says("'#include'") && says("must be followed by a header name"));
    if (follows && any) continue;
    if (diag::Diagnostic* refusal = error ? RefusalOf(line, refusals) : nullptr) {
      refusal->span = span;
      diagnostics.Add(*refusal);
      any = true;
    } else if (error) {
      diagnostics.Error(diag::E0850, span, std::string(line));
      any = true;
    } else {
      diagnostics.Warning(diag::W0850, span, std::string(line));
    }
  }
  if (failed && !any)
    diagnostics.Error(diag::E0850, {}, "glslang takes '" + name + "' for no shader, and does not say why");
}

/// The lines in front of the text.
std::string PreambleOf(const CompileConfig& config) {
  // As glslc has it: the extension is there, wherever the text asks for it.
  std::string preamble =
      config.language == Language::Hlsl ? "" : "#extension GL_GOOGLE_include_directive : enable\n";
  for (const std::string& define : config.defines) {
    size_t equals = define.find('=');
    preamble += "#define " + define.substr(0, equals) + " " +
                (equals == std::string::npos ? "1" : define.substr(equals + 1)) + "\n";
  }
  return preamble;
}

/// A text as glslang has read it, and its includes.
struct Reading {
  Reading(const std::string& name, const std::string& text, const std::string& entry,
          const std::string& preamble, Language language, Includer& includer)
      : shader(EShLangCompute) {
    bool hlsl = language == Language::Hlsl;
    const char* string = text.data();
    auto length = static_cast<int>(text.size());
    const char* shown = name.c_str();
    shader.setStringsWithLengthsAndNames(&string, &length, &shown, 1);
    if (!preamble.empty()) shader.setPreamble(preamble.c_str());
    shader.setEntryPoint(entry.c_str());
    if (hlsl) shader.setSourceEntryPoint(entry.c_str());
    shader.setEnvInput(hlsl ? glslang::EShSourceHlsl : glslang::EShSourceGlsl, EShLangCompute,
                       glslang::EShClientVulkan, 100);
    // Buffers of HLSL come out in a form that later versions of SPIR-V do not have.
    shader.setEnvClient(glslang::EShClientVulkan,
                        hlsl ? glslang::EShTargetVulkan_1_1 : glslang::EShTargetVulkan_1_2);
    shader.setEnvTarget(glslang::EShTargetSpv, hlsl ? glslang::EShTargetSpv_1_3 : glslang::EShTargetSpv_1_5);
    shader.setAutoMapBindings(true);
    // Uniforms outside of blocks, as OpenGL has them, become one block.
    if (!hlsl) shader.setEnvInputVulkanRulesRelaxed();
    unsigned bits = EShMsgSpvRules | EShMsgVulkanRules | EShMsgDebugInfo;
    if (hlsl) bits |= EShMsgReadHlsl;
    auto messages = static_cast<EShMessages>(bits);
    good = shader.parse(GetDefaultResources(), hlsl ? 500 : 460, false, messages, includer);
    log = shader.getInfoLog();
    if (!good) return;
    program.addShader(&shader);
    good = program.link(messages) && program.mapIO();
    log += program.getInfoLog();
  }

  /// Whether the shader is refused with these words.
  bool Says(std::string_view words) const { return !good && log.find(words) != std::string::npos; }

  glslang::TShader shader;
  glslang::TProgram program;  // ends before the shader does
  bool good = false;
  std::string log;
};

}  // namespace

bool IsHlsl(const std::string& text) {
  std::string code = CodeOf(text);
  return code.find("[numthreads") != std::string::npos && code.find("#version") == std::string::npos;
}

Compiled Compile(const std::string& name, std::string text, const CompileConfig& config,
                 diag::SourceManager& sources, diag::Diagnostics& diagnostics,
                 std::vector<std::string>* dependencies) {
  Compiled result;
  uint32_t base = sources.AddFile(name, text);
  if (base == 0) {
    diagnostics.Error(diag::E0850, {}, "the text of this compilation exceeds 4 GiB");
    return result;
  }
  if (!TakeMarks(text, base, result.marked, diagnostics)) return result;
  bool hlsl = config.language == Language::Hlsl;
  if (hlsl && !RewritePushConstants(text, base, diagnostics)) return result;
  TakePragmaOnce(text);
  std::string entry = ChooseEntry(text, config);
  std::string preamble = PreambleOf(config);
  // Never undone: the tables of a language's built-in functions, most of the time of a first shader, are
  // built once in a process.
  [[maybe_unused]] static const bool initialised = glslang::InitializeProcess();
  Includer includer(name, config, sources, diagnostics, dependencies, result.marked);
  auto read = std::make_unique<Reading>(name, text, entry, preamble, config.language, includer);
  // A function of HLSL since 2021. Shaders that define one of this name come through without.
  if (hlsl && read->Says("'select' : no matching overloaded function")) {
    includer.Restart();
    preamble += "#define select(c, a, b) ((c) ? (a) : (b))\n";
    read = std::make_unique<Reading>(name, text, entry, preamble, config.language, includer);
  }
  bool no_entry = hlsl && read->Says("Entry point not found");
  if (no_entry && TellEntries(text, entry, base, diagnostics)) return result;
  TellLog(read->log, includer.refusals(), sources, diagnostics, !read->good, name);
  if (read->good && !includer.misread()) {
    glslang::SpvOptions options;
    options.generateDebugInfo = true;
    options.disableOptimizer = true;
    spv::SpvBuildLogger logger;
    glslang::GlslangToSpv(*read->program.getIntermediate(EShLangCompute), result.words, &logger, &options);
    if (std::string said = logger.getAllMessages(); !said.empty())
      diagnostics.Warning(diag::W0850, {}, said.substr(0, said.find_last_not_of('\n') + 1));
  }
  return result;
}

}  // namespace adc::frontend::glsl
