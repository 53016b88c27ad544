#pragma once
// The user's errors: collected with their places, printed with carets or as JSON. Passes keep going where
// they can.

#include <string>
#include <string_view>
#include <vector>

#include "diag/errors.h"
#include "diag/source.h"

namespace adc::diag {

enum class Severity : uint8_t { Error, Warning, Remark };

struct Note {
  SourceSpan span;  ///< invalid: a note without a place
  std::string text;
};

struct Diagnostic {
  Severity severity = Severity::Error;
  ErrorId id{};
  SourceSpan span;
  std::string text;
  std::vector<Note> notes = {};
  std::string help = {};  ///< the remedy; empty where there is none

  Diagnostic& AddNote(SourceSpan place, std::string note) {
    notes.push_back({place, std::move(note)});
    return *this;
  }
  Diagnostic& AddHelp(std::string remedy) {
    help = std::move(remedy);
    return *this;
  }
};

class Diagnostics {
 public:
  /// At most `error_limit` errors are stored (0: no limit); those beyond are counted.
  explicit Diagnostics(uint32_t error_limit = 20) : error_limit_(error_limit) {}

  /// The reference stays good until the next call.
  Diagnostic& Error(ErrorId id, SourceSpan span, std::string text) {
    return Add(Severity::Error, id, span, std::move(text));
  }
  Diagnostic& Warning(ErrorId id, SourceSpan span, std::string text) {
    return Add(Severity::Warning, id, span, std::move(text));
  }
  Diagnostic& Add(Severity severity, ErrorId id, SourceSpan span, std::string text) {
    return Add({severity, id, span, std::move(text)});
  }
  /// One that is finished, with its notes and its help.
  Diagnostic& Add(Diagnostic diagnostic);
  void AddAll(const Diagnostics& others) {
    for (const Diagnostic& one : others.all_) Add(one);
  }

  uint32_t ErrorLimit() const { return error_limit_; }
  uint32_t ErrorTotal() const { return error_total_; }
  bool HasErrors() const { return error_total_ != 0; }
  /// True once the limit is reached: a parser may stop.
  bool Full() const { return error_limit_ != 0 && error_total_ >= error_limit_; }
  const std::vector<Diagnostic>& All() const { return all_; }

 private:
  uint32_t error_limit_;
  uint32_t error_total_ = 0;
  std::vector<Diagnostic> all_;
  Diagnostic overflow_;
};

/// "file:7:12: error: text [E0107]" with the source line, a caret span, notes and help, in the order
/// reported. With `color`, for people at a terminal, the command that explains the first one follows. With
/// `page`, the address of the page of all messages, ids are links to it.
std::string PrintDiagnostics(const Diagnostics& diagnostics, const SourceManager& sources, bool color,
                             std::string_view page = {});
std::string PrintDiagnosticsJson(const Diagnostics& diagnostics, const SourceManager& sources);
/// Several logs in SARIF, at least one, as one with one run: services that take logs refuse more.
std::string JoinSarif(const std::vector<std::string>& logs);
/// One log in SARIF 2.1.0, of the compiler of this version, also where there is nothing to report.
std::string PrintDiagnosticsSarif(const Diagnostics& diagnostics, const SourceManager& sources,
                                  std::string_view version);

}  // namespace adc::diag
