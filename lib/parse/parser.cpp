#include "parse/parser.h"

#include <filesystem>
#include <fstream>
#include <unordered_set>

#include "diag/errors/driver.h"
#include "diag/errors/parse.h"
#include "parse/body.h"
#include "parse/items.h"

namespace adc::parse {

namespace fs = std::filesystem;

namespace {

/// The whole of a file; false where it cannot be read. Imports must be regular files: a text may not make the
/// compiler read a device without end.
bool ReadWhole(const std::string& path, bool regular_only, std::string* text) {
  std::error_code error;
  fs::file_status status = fs::status(path, error);
  if (error || fs::is_directory(status) || (regular_only && !fs::is_regular_file(status))) return false;
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return false;
  constexpr size_t kChunk = size_t{1} << 20;
  uint64_t size = fs::file_size(path, error);
  if (!error && size < UINT32_MAX) text->reserve(static_cast<size_t>(size));
  while (stream && text->size() < UINT32_MAX) {
    size_t have = text->size();
    text->resize(have + kChunk);
    stream.read(text->data() + have, static_cast<std::streamsize>(kChunk));
    text->resize(have + static_cast<size_t>(stream.gcount()));
  }
  return !stream.bad();
}

/// One name per file, whatever way leads to it.
std::string FileKey(const std::string& path) {
  std::error_code error;
  fs::path canonical = fs::weakly_canonical(path, error);
  return error ? path : canonical.string();
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
        shared_{*module_, diagnostics} {}

  /// Takes the text of the first file or of an import. False where it is no text at all.
  bool AddText(std::string name, std::string text, bool imported, diag::SourceSpan from) {
    std::string folder = fs::path(name).parent_path().string();
    if (text.find('\0') != std::string::npos) {
      std::string wrong = Quoted(name) + " holds NUL bytes: it is no text";
      diag::Diagnostic& error = diagnostics_.Error(diag::E0130, from, std::move(wrong));
      // The first bytes of a bundle, as artifact-format/README.md has them.
      if (text.starts_with("\x89"
                           "ADC\r\n"))
        error.AddHelp("it is a bundle, compiled already: adc run, inspect, size, verify take it");
      return false;
    }
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
      if (read_.contains(FileKey(name))) return;
      std::string text;
      if (ReadWhole(name, /*regular_only=*/true, &text)) {
        MarkRead(name);
        AddText(std::move(name), std::move(text), /*imported=*/true, request.span);
        return;
      }
      looked += (looked.empty() ? "" : ", ") + Quoted(name);
    }
    diagnostics_.Error(diag::E0120, request.span, "cannot read " + Quoted(request.path))
        .AddNote({}, "looked for " + looked)
        .AddHelp("name the folder of the file with -I");
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
};

}  // namespace

std::unique_ptr<ir::Module> ParseText(std::string name, std::string text, const ParseConfig& config,
                                      diag::SourceManager& sources, diag::Diagnostics& diagnostics,
                                      std::vector<std::string>* dependencies) {
  Compilation compilation(config, sources, diagnostics, dependencies);
  compilation.MarkRead(name, /*dependency=*/false);
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
    std::string text;
    if (!ReadWhole(path, /*regular_only=*/false, &text)) {
      diagnostics.Error(diag::E0701, {}, "cannot read " + Quoted(path));
      continue;
    }
    compilation.MarkRead(path);
    any = compilation.AddText(path, std::move(text), /*imported=*/false, {}) || any;
  }
  if (!any) return nullptr;
  return compilation.Finish();
}

}  // namespace adc::parse
