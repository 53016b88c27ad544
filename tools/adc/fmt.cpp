// `adc fmt`: text in the usual form (parse/format.h).

#include <cstdio>

#include "command_line.h"
#include "commands.h"
#include "diag/errors/driver.h"
#include "driver/file_errors.h"
#include "driver/report.h"
#include "host/exit_code.h"
#include "host/files.h"
#include "host/input_kind.h"
#include "ir/module.h"
#include "parse/format.h"
#include "parse/parser.h"
#include "print.h"

namespace adc::tool {

namespace {

struct Formatted {
  std::string path;
  std::string before, after;
};

/// False after errors were printed.
bool FormatOne(const std::string& path, Formatted* formatted) {
  diag::SourceManager sources;
  diag::Diagnostics diagnostics;
  driver::CompileOptions options;
  InputKind kind = InputKindOf(path);
  if (kind == InputKind::Cpp || IsShader(kind)) {
    diagnostics
        .Error(diag::E0701, {},
               "'" + path + "' is " + (kind == InputKind::Cpp ? "C++" : "a shader") +
                   ": adc fmt formats the text of the IR")
        .AddHelp(kind == InputKind::Cpp
                     ? "use clang-format; 'adc --emit=ir " + path + "' prints its kernels in the IR"
                     : "'adc --emit=ir " + path + "' prints it in the IR");
    driver::ReportDiagnostics(diagnostics, sources, options);
    return false;
  }
  FileResult<std::string> text = ReadWholeText(path, parse::kTextLimit);
  if (!text) {
    const diag::Diagnostic failure = driver::CannotRead(text.Failure());
    diagnostics.Error(failure.id, {}, failure.text).AddHelp(failure.help);
  } else if (text->find('\0') != std::string::npos) {
    diagnostics.Error(diag::E0701, {}, "'" + path + "' holds NUL bytes: it is no text");
  } else {
    formatted->path = path;
    formatted->before = *text;
    uint32_t base = sources.AddFile(path == "-" ? "<stdin>" : path, std::move(*text));
    parse::FormatText(*sources.FileOf({base, base + 1}), diagnostics, &formatted->after);
  }
  return !driver::ReportDiagnostics(diagnostics, sources, options);
}

}  // namespace

int Format(const std::vector<std::string>& words, Session&) {
  std::vector<std::string> paths;
  bool check = false;
  CommandLine line("adc fmt [--check] [kernel.ir...]",
                   "Formats text in place, or from standard input to standard output. Comments stay.");
  line.Flag("--check",
            "write nothing; name the files that would change, and exit with 1 where there are some", &check);
  line.Example("adc fmt kernel.ir", "formats the file");
  line.Example("adc fmt < kernel.ir", "prints it formatted, as '-' for a file does");
  line.Epilogue("\nWhere one file cannot be read as text, none is written.\n");
  line.Positional("input file", 0, SIZE_MAX, &paths);
  if (std::optional<int> code = line.Parse(words)) return *code;
  if (paths.empty()) paths.emplace_back("-");
  std::vector<Formatted> files(paths.size());
  bool good = true;
  for (size_t n = 0; n < paths.size(); ++n) good = FormatOne(paths[n], &files[n]) && good;
  if (!good) return kExitFailed;
  bool changes = false;
  for (const Formatted& file : files) {
    bool changed = file.before != file.after;
    changes = changes || changed;
    if (check) {
      if (changed) Print("%s\n", file.path.c_str());
    } else if (file.path == "-") {
      PrintRaw(file.after);
    } else if (changed) {
      FileStatus written = WriteWhole(file.path, file.after);
      if (written) continue;
      PrintError(driver::CannotWrite(written.Failure()).text);
      return kExitFailed;
    }
  }
  return check && changes ? kExitFailed : kExitOk;
}

}  // namespace adc::tool
