#include "parse/parser.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <unordered_set>

#include "diag/errors/driver.h"
#include "diag/errors/parse.h"
#include "diag/import_roots.h"
#include "host/read_text.h"
#include "ir/module.h"
#include "parse/body.h"
#include "parse/generics.h"
#include "parse/no_text.h"

namespace adc::parse {

namespace fs = std::filesystem;

namespace {

/// One name per file, whatever way leads to it.
std::string FileKey(const std::string& path) {
  std::error_code error;
  fs::path canonical = fs::weakly_canonical(path, error);
  return error ? path : canonical.string();
}

/// A path is shown whole: its end is often the important part.
std::string QuotedPath(const std::string& path) {
  constexpr size_t kLongest = 4096;
  return Quoted(path, kLongest);
}

class Compilation {
 public:
  Compilation(const ParseConfig& config, diag::SourceManager& sources, diag::Diagnostics& diagnostics,
              std::vector<std::string>* dependencies)
      : config_(config),
        sources_(sources),
        diagnostics_(diagnostics),
        dependencies_(dependencies),
        module_(std::make_unique<ir::Module>()),
        shared_{*module_, diagnostics},
        definitions_(shared_, sources),
        generics_(shared_, gathered_) {
    shared_.definitions = &definitions_;
    shared_.generics = &generics_;
    shared_.places = config.places;
    for (const std::string& folder : config.include_dirs) roots_.AddFolder(folder);
    for (const std::string& folder : config.import_dirs) roots_.AddFolder(folder);
  }

  /// Imports may come from the folder of an input.
  void AddInput(const std::string& path) { roots_.AddFolderOf(path); }

  /// Reads an input of the command line and takes its text. False where there is none.
  bool ReadInput(const std::string& path) {
    ReadText read = ReadTextFile(path, Left(), /*regular_only=*/false);
    if (read.end == ReadEnd::Failed) {
      diagnostics_.Error(diag::E0701, {},
                         "cannot read " + QuotedPath(path) + ": " + std::strerror(read.error));
      return false;
    }
    if (read.end == ReadEnd::TooLarge) return TellTooLarge(path, read.size, {});
    MarkRead(path);
    AddInput(path);
    return AddText(path, std::move(read.text), /*imported=*/false, {});
  }

  /// Takes the text of the first file or of an import. False where it is no text at all.
  bool AddText(std::string name, std::string text, bool imported, diag::SourceSpan from) {
    std::string folder = fs::path(name).parent_path().string();
    if (!IsText(name, text, from, diagnostics_)) return false;
    if (text.size() > Left()) return TellTooLarge(name, text.size(), from);
    taken_ += text.size();
    uint32_t base = sources_.AddFile(std::move(name), std::move(text));
    const diag::SourceFile* file = base == 0 ? nullptr : sources_.FileOf({base, base + 1});
    if (file == nullptr) {
      diagnostics_.Error(diag::E0127, from, "the text of this compilation exceeds 4 GiB");
      return false;
    }
    folders_.emplace(file, std::move(folder));
    FindItems(shared_, *file, imported, gathered_);
    return true;
  }

  bool IsRead(const std::string& path) const { return read_.contains(FileKey(path)); }
  void MarkRead(const std::string& path, bool dependency = true) {
    read_.insert(FileKey(path));
    if (dependency && dependencies_ != nullptr) dependencies_->push_back(path);
  }

  std::unique_ptr<ir::Module> Finish() {
    // Imports are found while imports are read.
    for (size_t n = 0; n < gathered_.imports.size() && !diagnostics_.Full(); ++n) {
      ImportRequest request = gathered_.imports[n];
      if (!ReadImport(request)) shared_.incomplete = true;
    }
    std::vector<Define> defines;
    for (const std::string& text : config_.defines) {
      size_t equals = text.find('=');
      if (equals != std::string::npos) {
        defines.push_back({text.substr(0, equals), text.substr(equals + 1)});
      } else {
        diagnostics_.Error(diag::E0139, {}, Quoted("-D " + text) + " has no value")
            .AddHelp("write NAME=VALUE, as n=25 or real=f64");
      }
    }
    definitions_.ResolveAll(defines, config_.unused_defines);
    for (PendingFunction& pending : gathered_.functions) {
      if (diagnostics_.Full()) break;
      ParseSignature(shared_, pending, gathered_);
    }
    generics_.InstanceDerivatives();
    // Bodies ask for instances of generic functions, which are added at the end.
    Names names;
    for (size_t n = 0; n < gathered_.functions.size() && !diagnostics_.Full(); ++n) {
      PendingFunction& pending = gathered_.functions[n];
      if (pending.function != nullptr && pending.body != pending.end) ParseBody(pending, names);
    }
    generics_.CheckUnused();
    generics_.PlaceInstances();
    if (shared_.incomplete) PassOverUnknownDerivatives();
    if (shared_.places != nullptr) {
      shared_.places->symbols = gathered_.symbols;
      shared_.places->types = gathered_.types;
    }
    return std::move(module_);
  }

 private:
  void ParseBody(PendingFunction& pending, Names& names) {
    bool instance = pending.instance.Valid();
    // An error in one instance is an error in all of them.
    if (instance && !faulty_.insert(pending.body + pending.file->base).second) {
      pending.function->broken = true;
      return;
    }
    uint32_t errors = diagnostics_.ErrorTotal();
    CarriedLiterals literals;
    const diag::Diagnostics said = diagnostics_;
    const ir::Function signature = *pending.function;
    size_t functions = gathered_.functions.size();
    size_t places = shared_.places == nullptr ? 0 : shared_.places->values.size();
    ParseBody(pending, names, &literals);
    // Again with what was learned, unless the first time has asked for instances of generic functions.
    constexpr int kMostTimes = 8;
    for (int time = 1; time < kMostTimes && literals.TakeLearned(); ++time) {
      if (gathered_.functions.size() != functions) break;
      diagnostics_ = said;
      *pending.function = signature;
      if (shared_.places != nullptr) shared_.places->values.resize(places);
      ParseBody(pending, names, &literals);
    }
    if (instance && diagnostics_.ErrorTotal() == errors) faulty_.erase(pending.body + pending.file->base);
  }

  void ParseBody(PendingFunction& pending, Names& names, CarriedLiterals* literals) {
    BodyParser body(shared_, *pending.file, pending.body, pending.end, *pending.function, names,
                    pending.bad_signature, gathered_.unsure);
    body.SetCarriedLiterals(literals);
    if (pending.instance.Valid()) {
      body.stream().Bind(pending.bound_word, pending.bound_type);
      body.stream().AddNoteToErrors(pending.use, "where " + std::string(pending.bound_word) + " is " +
                                                     ir::TypeName(pending.bound_type) + ", as this asks for");
    }
    body.Parse(pending.param_spans);
  }

  /// Functions may name derivatives that an import would have had: a message about them would report no
  /// mistake.
  void PassOverUnknownDerivatives() {
    for (const std::unique_ptr<ir::Function>& function : module_->functions) {
      for (StringId* name : {&function->vjp, &function->jvp, &function->grad}) {
        if (name->Valid() && module_->Find(*name) == nullptr) *name = StringId();
      }
    }
  }

  bool AskImport(const ImportRequest& request) {
    if (!read_.insert(request.path).second) return true;
    std::string text;
    if (config_.import_text(request.path, &text))
      return AddText(request.path, std::move(text), /*imported=*/true, request.span);
    diagnostics_.Error(diag::E0120, request.span, "there is no text for " + Quoted(request.path))
        .AddHelp("the program that compiles gives the texts of imports");
    return false;
  }

  /// False after an error.
  bool ReadImport(const ImportRequest& request) {
    if (config_.import_text) return AskImport(request);
    std::vector<fs::path> places;
    fs::path path(request.path);
    if (path.is_absolute()) {
      places.push_back(path);
    } else {
      places.push_back(fs::path(folders_[request.from]) / path);
      for (const std::string& folder : config_.include_dirs) places.push_back(fs::path(folder) / path);
    }
    std::string looked, reason;
    for (const fs::path& place : places) {
      std::string name = place.lexically_normal().string();
      std::string key = FileKey(name);
      if (read_.contains(key)) return true;
      std::error_code missing;
      if (fs::exists(name, missing) && !roots_.Allows(key)) return Fail(roots_.Refuse(request.span, key));
      ReadText read = ReadTextFile(name, Left(), /*regular_only=*/true);
      if (read.end == ReadEnd::TooLarge) {
        TellTooLarge(name, read.size, request.span);
        return false;
      }
      if (read.end == ReadEnd::Whole) {
        MarkRead(name);
        return AddText(std::move(name), std::move(read.text), /*imported=*/true, request.span);
      }
      bool missing_here = read.error == ENOENT || read.error == ENOTDIR;
      if (!missing_here && reason.empty())
        reason = read.error == EINVAL ? "it is no regular file" : std::strerror(read.error);
      constexpr size_t kShown = 256;
      looked += (looked.empty() ? "" : ", ") +
                QuotedPath(name.size() > kShown ? name.substr(0, kShown) + "..." : name);
    }
    // A file that exists and cannot be read is reported; more folders to look in are no remedy for that.
    diagnostics_
        .Error(diag::E0120, request.span,
               "cannot read " + Quoted(request.path) + (reason.empty() ? "" : ": " + reason))
        .AddNote({}, "looked for " + looked)
        .AddHelp(reason.empty() ? "name the folder of the file with -I" : "an import is a file with text");
    return false;
  }

  /// Bytes of text that may still be read.
  uint64_t Left() const { return config_.text_limit - std::min(config_.text_limit, taken_); }

  bool TellTooLarge(const std::string& name, uint64_t size, diag::SourceSpan from) {
    return Fail(diag::TextTooLarge(from, name, size, config_.text_limit));
  }

  bool Fail(diag::Diagnostic failure) {
    diagnostics_.Add(std::move(failure));
    return false;
  }

  const ParseConfig& config_;
  diag::SourceManager& sources_;
  diag::Diagnostics& diagnostics_;
  std::vector<std::string>* dependencies_;
  std::unique_ptr<ir::Module> module_;
  Shared shared_;
  Definitions definitions_;
  Gathered gathered_;
  Generics generics_;
  std::unordered_set<uint32_t> faulty_;  ///< places of generic bodies with errors
  std::unordered_map<const diag::SourceFile*, std::string> folders_;  // looked up, never walked
  std::unordered_set<std::string> read_;
  diag::ImportRoots roots_;
  uint64_t taken_ = 0;  ///< bytes of text
};

}  // namespace

std::unique_ptr<ir::Module> ParseText(std::string name, std::string text, const ParseConfig& config,
                                      diag::SourceManager& sources, diag::Diagnostics& diagnostics,
                                      std::vector<std::string>* dependencies) {
  Compilation compilation(config, sources, diagnostics, dependencies);
  compilation.MarkRead(name, /*dependency=*/false);
  compilation.AddInput(name);
  if (!compilation.AddText(std::move(name), std::move(text), /*imported=*/false, {})) return nullptr;
  return compilation.Finish();
}

std::unique_ptr<ir::Module> ParseTexts(const std::vector<std::pair<std::string, std::string>>& texts,
                                       const ParseConfig& config, diag::SourceManager& sources,
                                       diag::Diagnostics& diagnostics) {
  Compilation compilation(config, sources, diagnostics, nullptr);
  bool any = false;
  for (const auto& [name, text] : texts) any = compilation.AddText(name, text, /*imported=*/false, {}) || any;
  if (!any) return nullptr;
  return compilation.Finish();
}

std::unique_ptr<ir::Module> ParseFile(const std::string& path, const ParseConfig& config,
                                      diag::SourceManager& sources, diag::Diagnostics& diagnostics,
                                      std::vector<std::string>* dependencies) {
  return ParseFiles({path}, config, sources, diagnostics, dependencies);
}

std::unique_ptr<ir::Module> ParseFiles(const std::vector<std::string>& paths, const ParseConfig& config,
                                       diag::SourceManager& sources, diag::Diagnostics& diagnostics,
                                       std::vector<std::string>* dependencies) {
  Compilation compilation(config, sources, diagnostics, dependencies);
  bool any = false;
  for (const std::string& path : paths) {
    if (compilation.IsRead(path)) continue;
    any = compilation.ReadInput(path) || any;
  }
  if (!any) return nullptr;
  return compilation.Finish();
}

}  // namespace adc::parse
