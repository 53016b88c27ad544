// One run of Clang per file, in this process: its driver finds the system's headers, its messages become
// ours.

#include "frontend/cpp/read_cpp.h"

#include <clang/AST/ASTConsumer.h>
#include <clang/Basic/DiagnosticFrontend.h>
#include <clang/Basic/DiagnosticLex.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Frontend/Utils.h>
#include <clang/Lex/HeaderSearch.h>
#include <clang/Lex/Preprocessor.h>
#include <clang/Tooling/ArgumentsAdjusters.h>
#include <clang/Tooling/CompilationDatabase.h>
#include <clang/Tooling/Tooling.h>
#include <llvm/Support/VirtualFileSystem.h>

#include <chrono>
#include <filesystem>
#include <set>

#include "diag/errors/cpp.h"
#include "frontend/cpp/guarded_files.h"
#include "frontend/cpp/header_text.h"
#include "frontend/cpp/kernels.h"
#include "host/installed.h"
#include "ir/module.h"

namespace adc::frontend {

namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

/// Where Clang finds adc/kernel.hpp when no -I leads to it.
constexpr char kHeaderFolder[] = "/adc-headers";

/// Clang's messages as ours.
class Messages : public clang::DiagnosticConsumer {
 public:
  Messages(GuardedFiles& files, diag::SourceManager& sources, diag::Diagnostics& diagnostics)
      : files_(files), sources_(sources), diagnostics_(diagnostics) {}

  void BeginSourceFile(const clang::LangOptions& language, const clang::Preprocessor* preprocessor) override {
    language_ = &language;
    preprocessor_ = preprocessor;
  }

  void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info) override {
    DiagnosticConsumer::HandleDiagnostic(level, info);
    llvm::SmallString<128> text;
    info.FormatDiagnostic(text);
    diag::SourceSpan span;
    if (info.hasSourceManager() && info.getLocation().isValid() && language_ != nullptr)
      span = PlaceOf(info.getLocation(), info.getSourceManager());
    std::string words = text.str().str();
    if (level == clang::DiagnosticsEngine::Note) {
      if (open_) pending_.AddNote(span, words);
      return;
    }
    Flush();
    // The guard says more of a file that Clang was not given than Clang does.
    unsigned id = info.getID();
    bool of_file = id == clang::diag::err_cannot_open_file || id == clang::diag::err_pp_file_not_found ||
                   id == clang::diag::err_fe_error_opening;
    if (TellRefusals(span) && of_file) return;
    if (level == clang::DiagnosticsEngine::Ignored || level == clang::DiagnosticsEngine::Remark) return;
    bool error = level >= clang::DiagnosticsEngine::Error;
    pending_ = {error ? diag::Severity::Error : diag::Severity::Warning,
                error ? diag::E0801 : diag::W0801,
                span,
                std::move(words),
                {},
                {}};
    if (id == clang::diag::err_pp_file_not_found && preprocessor_ != nullptr) {
      std::string searched;
      for (const clang::DirectoryLookup& folder : preprocessor_->getHeaderSearchInfo().search_dir_range()) {
        if (folder.getName() == kHeaderFolder) continue;
        searched += (searched.empty() ? "" : ", ") +
                    std::filesystem::path(folder.getName().str()).lexically_normal().string();
      }
      // Clang's words begin with the name. Headers of the language have no suffix.
      std::string_view name = std::string_view(pending_.text).substr(0, pending_.text.find("' file not"));
      if (name.find_first_of("./") == std::string_view::npos)
        pending_.AddHelp("a C++ library brings this header: install g++, say; these folders were searched: " +
                         searched);
      else
        pending_.AddHelp("name its folder with -I; these were searched: " + searched);
    }
    open_ = true;
  }

  /// The text has asked for a file at `location`, and Clang says nothing of it where it was refused.
  void AfterQuestion(clang::SourceLocation location) {
    Flush();
    TellRefusals(PlaceOf(location, preprocessor_->getSourceManager()));
  }

  /// Tells what the guard has refused. False where it was nothing.
  bool TellRefusals(diag::SourceSpan span) {
    std::vector<diag::Diagnostic> refusals = files_.TakeRefusals();
    for (diag::Diagnostic& refusal : refusals) {
      refusal.span = span;
      diagnostics_.Add(std::move(refusal));
    }
    return !refusals.empty();
  }

  void Flush() {
    if (!open_) return;
    open_ = false;
    diag::Diagnostic& made =
        diagnostics_.Add(pending_.severity, pending_.id, pending_.span, std::move(pending_.text));
    made.notes = std::move(pending_.notes);
    made.help = std::move(pending_.help);
  }

 private:
  diag::SourceSpan PlaceOf(clang::SourceLocation location, const clang::SourceManager& clang) {
    if (!places_) places_.emplace(sources_, clang, *language_);
    return places_->Of(location);
  }

  GuardedFiles& files_;
  diag::SourceManager& sources_;
  diag::Diagnostics& diagnostics_;
  const clang::LangOptions* language_ = nullptr;
  const clang::Preprocessor* preprocessor_ = nullptr;
  std::optional<Places> places_;
  diag::Diagnostic pending_;
  bool open_ = false;
};

class Headers : public clang::DependencyCollector {
 public:
  bool needSystemDependencies() override { return true; }
  bool sawDependency(llvm::StringRef name, bool, bool, bool is_module, bool missing) override {
    return !is_module && !missing && !name.starts_with(kHeaderFolder) && !name.starts_with("<");
  }
};

/// Whether a file could be embedded is a question that Clang answers without a message.
class Questions : public clang::PPCallbacks {
 public:
  explicit Questions(Messages& messages) : messages_(messages) {}
  void HasEmbed(clang::SourceLocation location, llvm::StringRef, bool, clang::OptionalFileEntryRef) override {
    messages_.AfterQuestion(location);
  }

 private:
  Messages& messages_;
};

struct Job {
  CppRequest& request;
  const std::string& file;
  const std::string& directory;  ///< that relative names begin at; empty: the process's
  GuardedFiles& files;
  Messages& messages;
  Headers& headers;
  Clock::time_point begin;
};

/// Where the machine has no C++ library, or none that the command line leads to, the one that is installed
/// with adc is read, libc++ on the C headers of musl.
void AddCppLibrary(clang::CompilerInstance& compiler) {
  clang::Preprocessor& preprocessor = compiler.getPreprocessor();
  clang::HeaderSearch& search = preprocessor.getHeaderSearchInfo();
  for (const clang::DirectoryLookup& folder : search.search_dir_range()) {
    llvm::SmallString<128> header(folder.getName());
    llvm::sys::path::append(header, "cmath");
    if (folder.isNormalDir() && compiler.getFileManager().getOptionalFileRef(header)) return;
  }
  if (InstalledFile("c++").empty()) return;
  for (const char* name : {"c++", "libc"}) {
    auto folder = compiler.getFileManager().getOptionalDirectoryRef(InstalledFile(name).string());
    if (!folder) return;
    search.AddSearchPath(clang::DirectoryLookup(*folder, clang::SrcMgr::C_System, false), /*isAngled=*/true);
  }
  preprocessor.setPredefines(preprocessor.getPredefines() + "#define _LIBCPP_HAS_MUSL_LIBC\n");
}

class Action : public clang::ASTFrontendAction {
 public:
  explicit Action(Job& job) : job_(job) {}

 private:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler,
                                                        llvm::StringRef) override {
    clang::Preprocessor& preprocessor = compiler.getPreprocessor();
    AddCppLibrary(compiler);
    job_.files.Guard(job_.file, job_.request.config.import_dirs, preprocessor, job_.directory);
    job_.headers.attachToPreprocessor(preprocessor);
    preprocessor.addPPCallbacks(std::make_unique<Questions>(job_.messages));
    return std::make_unique<clang::ASTConsumer>();
  }

  void ExecuteAction() override {
    ASTFrontendAction::ExecuteAction();
    CppRequest& request = job_.request;
    Clock::time_point read = Clock::now();
    request.times.clang_seconds += Seconds(read - job_.begin).count();
    job_.messages.Flush();
    clang::ASTContext& context = getCompilerInstance().getASTContext();
    if (request.diagnostics.HasErrors() || context.getDiagnostics().hasErrorOccurred()) return;
    Places places(request.sources, context.getSourceManager(), context.getLangOpts());
    LowerKernels(context, *request.module, places, request.diagnostics, request.config.operation_limit);
    request.times.lower_seconds += Seconds(Clock::now() - read).count();
  }

  Job& job_;
};

/// How the file is compiled by those who build it, without its outputs.
bool TakeCommand(const std::string& folder, const std::string& path, diag::Diagnostics& diagnostics,
                 std::vector<std::string>* arguments, std::string* directory) {
  std::string reason;
  std::unique_ptr<clang::tooling::CompilationDatabase> database =
      clang::tooling::CompilationDatabase::loadFromDirectory(folder, reason);
  std::vector<clang::tooling::CompileCommand> commands;
  if (database != nullptr) commands = database->getCompileCommands(path);
  if (commands.empty()) {
    diagnostics
        .Error(diag::E0801, {},
               database == nullptr
                   ? "no compilation database in '" + folder + "'"
                   : "the compilation database in '" + folder + "' has no command for '" + path + "'")
        .AddHelp("CMake writes compile_commands.json with -DCMAKE_EXPORT_COMPILE_COMMANDS=ON");
    return false;
  }
  clang::tooling::CompileCommand& command = commands.front();
  clang::tooling::ArgumentsAdjuster adjust = clang::tooling::combineAdjusters(
      clang::tooling::getClangStripOutputAdjuster(), clang::tooling::getClangStripDependencyFileAdjuster());
  std::vector<std::string> words = adjust(command.CommandLine, command.Filename);
  for (size_t n = 1; n < words.size(); ++n) {
    if (words[n] == command.Filename || words[n] == "-c" || words[n] == "--") continue;
    arguments->push_back(words[n]);
  }
  *directory = command.Directory;
  return true;
}

/// Clang's own headers: those that are installed with adc, or in a build tree those of the LLVM that it was
/// built with.
std::string ResourceFolder() {
  std::filesystem::path header = InstalledFile("clang/include/stddef.h");
  return header.empty() ? ADC_CLANG_RESOURCES : header.parent_path().parent_path().string();
}

void ReadOne(const std::string& path, CppRequest& request, std::vector<std::string>* dependencies) {
  const CppConfig& config = request.config;
  diag::Diagnostics& diagnostics = request.diagnostics;
  std::vector<std::string> arguments = {ADC_CLANG_PROGRAM,
                                        "-fsyntax-only",
                                        "-fno-caret-diagnostics",
                                        "-std=c++20",
                                        "-ferror-limit=" + std::to_string(diagnostics.ErrorLimit()),
                                        "-Wno-pragma-once-outside-header",
                                        "-Xclang",
                                        "-disable-pragma-debug-crash"};
  std::string directory, file = path;
  // Headers choose code for a processor by these, which is none for the devices of a kernel.
  for (const char* feature :
       {"MMX", "SSE", "SSE2", "SSE3", "SSSE3", "SSE4_1", "SSE4_2", "AVX", "AVX2", "FMA", "AVX512F"})
    arguments.push_back("-U__" + std::string(feature) + "__");
  arguments.emplace_back("-U__ARM_NEON");
  arguments.emplace_back("-U__ARM_FEATURE_SVE");
  if (!config.compile_database.empty()) {
    file = std::filesystem::absolute(path).string();
    if (!TakeCommand(config.compile_database, file, diagnostics, &arguments, &directory)) return;
  }
  for (const std::string& folder : config.include_dirs) {
    arguments.emplace_back("-I");
    arguments.push_back(directory.empty() ? folder : std::filesystem::absolute(folder).string());
  }
  for (const std::string& define : config.defines) arguments.push_back("-D" + define);
  arguments.insert(arguments.end(), config.arguments.begin(), config.arguments.end());
  arguments.insert(arguments.end(), {"-D__ADC__=1", "-resource-dir", ResourceFolder(), "-isystem",
                                     kHeaderFolder, "-x", "c++", file});
  llvm::IntrusiveRefCntPtr<llvm::vfs::OverlayFileSystem> overlay(
      new llvm::vfs::OverlayFileSystem(llvm::vfs::createPhysicalFileSystem()));
  llvm::IntrusiveRefCntPtr<llvm::vfs::InMemoryFileSystem> memory(new llvm::vfs::InMemoryFileSystem);
  for (const KernelHeader& header : kKernelHeaders)
    memory->addFile(std::string(kHeaderFolder) + "/adc/" + header.name, 0,
                    llvm::MemoryBuffer::getMemBuffer(llvm::StringRef(header.text)));
  overlay->pushOverlay(memory);
  llvm::IntrusiveRefCntPtr<GuardedFiles> guarded(new GuardedFiles(overlay, config.text_limit));
  clang::FileSystemOptions where;
  where.WorkingDir = directory;
  llvm::IntrusiveRefCntPtr<clang::FileManager> files(new clang::FileManager(where, guarded));
  Messages messages(*guarded, request.sources, diagnostics);
  auto headers = std::make_shared<Headers>();
  Job job{request, file, directory, *guarded, messages, *headers, Clock::now()};
  clang::tooling::ToolInvocation invocation(arguments, std::make_unique<Action>(job), files.get());
  invocation.setDiagnosticConsumer(&messages);
  bool done = invocation.run();
  messages.Flush();
  // Clang says no more after a fatal error.
  if (!diagnostics.HasErrors()) messages.TellRefusals({});
  if (!done && !diagnostics.HasErrors())
    diagnostics.Error(diag::E0801, {}, "'" + path + "' could not be compiled");
  for (const std::string& header : headers->getDependencies())
    dependencies->push_back(std::filesystem::path(header).lexically_normal().string());
}

}  // namespace

void ReadCpp(CppRequest& request) {
  request.module = std::make_unique<ir::Module>();
  request.module->door = ir::Door::Cpp;
  std::vector<std::string> read;
  for (const std::string& path : request.paths) ReadOne(path, request, &read);
  // The inputs first, each file once.
  std::set<std::string> known;
  for (const std::string& path : request.paths) {
    request.dependencies->push_back(path);
    known.insert(std::filesystem::path(path).lexically_normal().string());
  }
  for (const std::string& path : read) {
    if (known.insert(path).second) request.dependencies->push_back(path);
  }
}

}  // namespace adc::frontend
