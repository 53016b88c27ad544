#pragma once
// Text in, passes, text out.

#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "ir/module.h"
#include "parse/parser.h"
#include "verify/verify.h"

namespace adc::test {

struct Parsed {
  diag::SourceManager sources;
  diag::Diagnostics diagnostics;
  std::unique_ptr<ir::Module> module;

  std::string Errors() { return diag::PrintDiagnostics(diagnostics, sources, false); }
  ir::Function& Kernel(std::string_view name) { return *module->Find(name); }
};

/// A module that must parse and verify.
inline std::unique_ptr<Parsed> Parse(const std::string& text) {
  auto parsed = std::make_unique<Parsed>();
  parsed->module = parse::ParseText("test.ir", text, {}, parsed->sources, parsed->diagnostics);
  INFO(parsed->Errors());
  INFO(text);
  REQUIRE(parsed->module != nullptr);
  REQUIRE_FALSE(parsed->diagnostics.HasErrors());
  bool valid = verify::Verify(*parsed->module, parsed->diagnostics);
  INFO(parsed->Errors());
  REQUIRE(valid);
  return parsed;
}

/// The module must still be well formed, and what prints must parse.
inline void CheckValid(Parsed& parsed) {
  std::string text = ir::Print(*parsed.module);
  bool valid = verify::Verify(*parsed.module, parsed.diagnostics);
  INFO(text);
  INFO(parsed.Errors());
  REQUIRE(valid);
}

/// Lines without their indentation, blank lines and comments left out, so that expectations can be indented
/// freely.
inline std::string Plain(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    size_t first = line.find_first_not_of(" \t");
    if (first == std::string_view::npos) continue;
    line = line.substr(first);
    if (line.substr(0, 2) == "//") continue;
    plain += std::string(line) + "\n";
  }
  return plain;
}

/// Runs `pass(module, diagnostics)` on `text` and returns the text of the result.
template <class Pass>
std::string After(const std::string& text, const Pass& pass) {
  auto parsed = Parse(text);
  bool done = pass(*parsed->module, parsed->diagnostics);
  INFO(parsed->Errors());
  REQUIRE(done);
  CheckValid(*parsed);
  return Plain(ir::Print(*parsed->module));
}

inline size_t Count(const std::string& text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

inline bool Contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace adc::test
