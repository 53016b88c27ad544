#pragma once
// The files that Clang may read for a text: regular ones in the folders of diag/import_roots.h, to which
// those that Clang searches belong. Includes, #embed, __has_include, dependencies of pragmas and modules all
// come through here.

#include <clang/Lex/Preprocessor.h>
#include <llvm/Support/VirtualFileSystem.h>

#include <optional>
#include <string>
#include <vector>

#include "diag/import_roots.h"

namespace adc::frontend {

/// Lets everything pass until it is told what the text may have. Until then only Clang's driver asks, for
/// what the command line and the system's installation name.
class GuardedFiles : public llvm::vfs::ProxyFileSystem {
 public:
  /// At most `text_limit` bytes are read.
  GuardedFiles(llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> files, uint64_t text_limit)
      : ProxyFileSystem(std::move(files)), text_limit_(text_limit) {}

  /// From here on a text is read, the file at `input`. Allowed are its folder, `import_dirs`, and what the
  /// command line of `preprocessor` names. Relative names begin at `directory`; empty: at the process's
  /// folder.
  void Guard(const std::string& input, const std::vector<std::string>& import_dirs,
             clang::Preprocessor& preprocessor, const std::string& directory);
  /// The refusals since the last call, as errors without a place.
  std::vector<diag::Diagnostic> TakeRefusals() { return std::exchange(refusals_, {}); }

  llvm::ErrorOr<llvm::vfs::Status> status(const llvm::Twine& path) override;
  bool exists(const llvm::Twine& path) override { return static_cast<bool>(status(path)); }
  llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>> openFileForRead(const llvm::Twine& path) override;

 private:
  bool InSystemFolder(std::string_view path) const;
  /// Why the file at `path`, which is there, may not be read.
  std::optional<diag::Diagnostic> ReasonAgainst(const std::string& path,
                                                const llvm::vfs::Status& facts) const;

  uint64_t text_limit_, taken_ = 0;  ///< in bytes
  bool guarded_ = false;
  std::string input_;
  diag::ImportRoots roots_;
  std::vector<std::string> system_folders_;  ///< as Clang spells them at the beginning of names, '/' last
  std::vector<diag::Diagnostic> refusals_;
};

}  // namespace adc::frontend
