#include "parse/parser.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <unordered_set>

#include "diag/errors/driver.h"
#include "diag/errors/parse.h"
#include "parse/body.h"
#include "parse/items.h"
#include "support/read_text.h"

namespace adc::parse {

namespace fs = std::filesystem;

namespace {

/// One name per file, whatever way leads to it.
std::string FileKey(const std::string& path) {
  std::error_code error;
  fs::path canonical = fs::weakly_canonical(path, error);
  return error ? path : canonical.string();
}

/// A path is shown whole: what counts is often at its end.
std::string QuotedPath(const std::string& path) {
  constexpr size_t kLongest = 4096;
  return Quoted(path, kLongest);
}

/// Whether `file` lies in `folder` or below; both canonical.
bool LiesBelow(const fs::path& file, const fs::path& folder) {
  auto [in_folder, in_file] = std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
  return in_folder == folder.end();
}

/// The folder that `path` lies in, as a way to it.
fs::path FolderOf(const fs::path& path) {
  fs::path folder = path.parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

std::string Mebibytes(uint64_t bytes) {
  return std::to_string((bytes + (uint64_t{1} << 20) - 1) >> 20) + " MiB";
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
        shared_{*module_, diagnostics} {
    for (const std::string& folder : config.include_dirs) AddRoot(folder);
    for (const std::string& folder : config.import_dirs) AddRoot(folder);
  }

  /// Imports may come from the folder of an input: of the name that was given, and, where that is a link, of
  /// the file that it leads to.
  void AddInput(const std::string& path) {
    AddRoot(FolderOf(path));
    std::error_code error;
    fs::path real = fs::canonical(path, error);
    if (!error) AddRoot(FolderOf(real));
  }

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
    if (text.find('\0') != std::string::npos) {
      std::string wrong = QuotedPath(name) + " holds NUL bytes: it is no text";
      diag::Diagnostic& error = diagnostics_.Error(diag::E0130, from, std::move(wrong));
      // The first bytes of a bundle, as artifact-format/README.md has them.
      if (text.starts_with("\x89"
                           "ADC\r\n"))
        error.AddHelp("it is a bundle, compiled already: adc run, inspect, size, verify take it");
      return false;
    }
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
      ReadImport(request);
    }
    for (PendingFunction& pending : gathered_.functions) {
      if (diagnostics_.Full()) break;
      ParseSignature(shared_, pending, gathered_);
    }
    Names names;
    for (PendingFunction& pending : gathered_.functions) {
      if (diagnostics_.Full()) break;
      if (pending.function == nullptr || pending.body == pending.end) continue;
      BodyParser(shared_, *pending.file, pending.body, pending.end, *pending.function, names,
                 pending.bad_signature, gathered_.unsure)
          .Parse(pending.param_spans);
    }
    return std::move(module_);
  }

 private:
  void ReadImport(const ImportRequest& request) {
    std::vector<fs::path> places;
    fs::path path(request.path);
    if (path.is_absolute()) {
      places.push_back(path);
    } else {
      places.push_back(fs::path(folders_[request.from]) / path);
      for (const std::string& folder : config_.include_dirs) places.push_back(fs::path(folder) / path);
    }
    std::string looked;
    for (const fs::path& place : places) {
      std::string name = place.lexically_normal().string();
      std::string key = FileKey(name);
      if (read_.contains(key)) return;
      std::error_code missing;
      if (fs::exists(name, missing) && !MayImport(key)) return TellOutside(request, key);
      ReadText read = ReadTextFile(name, Left(), /*regular_only=*/true);
      if (read.end == ReadEnd::TooLarge) {
        TellTooLarge(name, read.size, request.span);
        return;
      }
      if (read.end == ReadEnd::Whole) {
        MarkRead(name);
        AddText(std::move(name), std::move(read.text), /*imported=*/true, request.span);
        return;
      }
      looked += (looked.empty() ? "" : ", ") + QuotedPath(name);
    }
    diagnostics_.Error(diag::E0120, request.span, "cannot read " + Quoted(request.path))
        .AddNote({}, "looked for " + looked)
        .AddHelp("name the folder of the file with -I");
  }

  void AddRoot(const fs::path& folder) {
    std::error_code error;
    fs::path canonical = fs::canonical(folder, error);
    if (error || std::find(roots_.begin(), roots_.end(), canonical) != roots_.end()) return;
    roots_.push_back(std::move(canonical));
  }

  bool MayImport(const fs::path& canonical) const {
    return std::any_of(roots_.begin(), roots_.end(),
                       [&](const fs::path& root) { return LiesBelow(canonical, root); });
  }

  /// A text from somewhere else names what it likes: no byte of a file outside of the folders is read, so
  /// that no message can show one.
  void TellOutside(const ImportRequest& request, const std::string& path) {
    diag::Diagnostic& error =
        diagnostics_.Error(diag::E0150, request.span,
                           "the import leads to " + QuotedPath(path) +
                               ", which is outside of the folders that imports may come from");
    constexpr size_t kShown = 8;
    std::string folders;
    for (size_t n = 0; n < std::min(roots_.size(), kShown); ++n)
      folders += (n == 0 ? "" : ", ") + QuotedPath(roots_[n].string());
    if (roots_.size() > kShown) folders += ", and others";
    error.AddNote({}, "these are " + folders).AddHelp("allow its folder with -I DIR or --allow-imports=DIR");
  }

  /// Bytes of text that may still be read.
  uint64_t Left() const { return config_.text_limit - std::min(config_.text_limit, taken_); }

  bool TellTooLarge(const std::string& name, uint64_t size, diag::SourceSpan from) {
    diagnostics_
        .Error(diag::E0127, from,
               QuotedPath(name) + " has " + Mebibytes(size) +
                   " or more: the text of one compilation is at most " + Mebibytes(config_.text_limit) +
                   ", imports included")
        .AddHelp("split it into several compilations, or allow more with --limit-text=MIB");
    return false;
  }

  const ParseConfig& config_;
  diag::SourceManager& sources_;
  diag::Diagnostics& diagnostics_;
  std::vector<std::string>* dependencies_;
  std::unique_ptr<ir::Module> module_;
  Shared shared_;
  Gathered gathered_;
  std::unordered_map<const diag::SourceFile*, std::string> folders_;  // looked up, never walked
  std::unordered_set<std::string> read_;
  std::vector<fs::path> roots_;  ///< canonical folders that imports may come from
  uint64_t taken_ = 0;           ///< bytes of text
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
