#include "frontend/cpp/guarded_files.h"

#include <clang/Lex/HeaderSearch.h>
#include <clang/Lex/HeaderSearchOptions.h>
#include <clang/Lex/PreprocessorOptions.h>

#include <algorithm>
#include <filesystem>

#include "diag/errors/parse.h"
#include "diag/result.h"
#include "support/printable.h"

namespace adc::frontend {

namespace fs = std::filesystem;

/// Clang reports this error of a file as it is, where it takes others for a file that is not there.
constexpr std::errc kRefused = std::errc::permission_denied;

void GuardedFiles::Guard(const std::string& input, const std::vector<std::string>& import_dirs,
                         clang::Preprocessor& preprocessor, const std::string& directory) {
  auto from = [&](std::string_view name) { return fs::path(directory) / name; };
  guarded_ = true;
  input_ = input;
  roots_.AddFolderOf(from(input));
  for (const std::string& folder : import_dirs) roots_.AddFolder(folder);
  const clang::PreprocessorOptions& given = preprocessor.getPreprocessorOpts();
  for (const auto* files : {&given.Includes, &given.MacroIncludes}) {
    for (const std::string& file : *files) roots_.AddFolderOf(from(file));
  }
  if (!given.ImplicitPCHInclude.empty()) roots_.AddFolderOf(from(given.ImplicitPCHInclude));
  for (const std::string& folder : given.EmbedEntries) roots_.AddFolder(from(folder));
  const clang::HeaderSearch& search = preprocessor.getHeaderSearchInfo();
  for (const clang::DirectoryLookup& folder : search.search_dir_range()) {
    std::string name = folder.getName().str();
    roots_.AddFolder(from(name));
    if (folder.isSystemHeaderDirectory()) system_folders_.push_back(name.ends_with('/') ? name : name + "/");
  }
  const clang::HeaderSearchOptions& options = search.getHeaderSearchOpts();
  if (!options.ModuleCachePath.empty()) roots_.AddFolder(from(options.ModuleCachePath));
  for (const std::string& folder : options.PrebuiltModulePaths) roots_.AddFolder(from(folder));
  for (const auto& module : options.PrebuiltModuleFiles) roots_.AddFolderOf(from(module.second));
}

/// The system's headers are installed with links that lead elsewhere: the way in counts, as
/// long as the text has not left it by a "..".
bool GuardedFiles::InSystemFolder(std::string_view path) const {
  return std::ranges::any_of(system_folders_, [&](const std::string& folder) {
    if (!path.starts_with(folder)) return false;
    fs::path rest(path.substr(folder.size()));
    return std::none_of(rest.begin(), rest.end(), [](const fs::path& part) { return part == ".."; });
  });
}

std::optional<diag::Diagnostic> GuardedFiles::ReasonAgainst(const std::string& path,
                                                            const llvm::vfs::Status& facts) const {
  if (!InSystemFolder(path)) {
    std::error_code failure;
    fs::path canonical = fs::canonical(path, failure);
    if (failure || !roots_.Allows(canonical)) return roots_.Refuse({}, failure ? path : canonical.string());
  }
  if (facts.getType() != llvm::sys::fs::file_type::regular_file)
    return diag::Fail(diag::E0120, {}, "cannot read '" + Printable(path) + "': it is no regular file",
                      "an include is a file with text");
  return std::nullopt;
}

llvm::ErrorOr<llvm::vfs::Status> GuardedFiles::status(const llvm::Twine& path) {
  llvm::ErrorOr<llvm::vfs::Status> facts = ProxyFileSystem::status(path);
  std::string name = path.str();
  if (!facts || !guarded_ || facts->isDirectory() || name == input_) return facts;
  std::optional<diag::Diagnostic> reason = ReasonAgainst(name, *facts);
  if (!reason) return facts;
  // Several names may lead to one file.
  bool known = std::ranges::count(refusals_, reason->text, &diag::Diagnostic::text) != 0;
  if (!known) refusals_.push_back(std::move(*reason));
  return kRefused;
}

llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>> GuardedFiles::openFileForRead(const llvm::Twine& path) {
  // A pipe must not be opened, which waits for its writer.
  llvm::ErrorOr<llvm::vfs::Status> facts = status(path);
  if (!facts) return facts.getError();
  if (guarded_ && facts->isRegularFile()) {
    if (facts->getSize() > text_limit_ - taken_) {
      refusals_.push_back(diag::TextTooLarge({}, path.str(), facts->getSize(), text_limit_));
      return kRefused;
    }
    taken_ += facts->getSize();
  }
  return ProxyFileSystem::openFileForRead(path);
}

}  // namespace adc::frontend
