#include "diag/import_roots.h"

#include <algorithm>

#include "diag/errors/parse.h"
#include "diag/result.h"
#include "support/printable.h"

namespace adc::diag {

namespace fs = std::filesystem;

namespace {

std::string Shown(const std::string& path) {
  return "'" + Printable(path) + "'";
}

/// Whether `file` lies in `folder` or below; both canonical.
bool LiesBelow(const fs::path& file, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), file.begin(), file.end()).first == folder.end();
}

/// The folder that `path` lies in, as a way to it.
fs::path FolderOf(const fs::path& path) {
  fs::path folder = path.parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

std::string Mebibytes(uint64_t bytes) {
  return std::to_string((bytes + (uint64_t{1} << 20) - 1) >> 20) + " MiB";
}

}  // namespace

void ImportRoots::AddFolder(const fs::path& folder) {
  std::error_code error;
  fs::path canonical = fs::canonical(folder, error);
  if (error || std::find(roots_.begin(), roots_.end(), canonical) != roots_.end()) return;
  roots_.push_back(std::move(canonical));
}

void ImportRoots::AddFolderOf(const fs::path& file) {
  AddFolder(FolderOf(file));
  std::error_code error;
  fs::path real = fs::canonical(file, error);
  if (!error) AddFolder(FolderOf(real));
}

bool ImportRoots::Allows(const fs::path& canonical) const {
  return std::any_of(roots_.begin(), roots_.end(),
                     [&](const fs::path& root) { return LiesBelow(canonical, root); });
}

Diagnostic ImportRoots::Refuse(SourceSpan span, const std::string& canonical) const {
  constexpr size_t kShown = 8;
  std::string folders;
  for (size_t n = 0; n < std::min(roots_.size(), kShown); ++n)
    folders += (n == 0 ? "" : ", ") + Shown(roots_[n].string());
  if (roots_.size() > kShown) folders += ", and others";
  Diagnostic error = Fail(E0150, span,
                          "this leads to " + Shown(canonical) +
                              ", which is outside of the folders that imports and includes may come from",
                          "allow its folder with -I DIR or --allow-imports=DIR");
  error.AddNote({}, "these are " + folders);
  return error;
}

Diagnostic TextTooLarge(SourceSpan span, const std::string& name, uint64_t size, uint64_t limit) {
  return Fail(E0127, span,
              Shown(name) + " has " + Mebibytes(size) + " or more: the text of one compilation is at most " +
                  Mebibytes(limit) + ", imports included",
              "split it into several compilations, or allow more with --limit-text=MIB");
}

}  // namespace adc::diag
