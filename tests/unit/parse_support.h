#pragma once
// Text in, a module and what was said about it out.

#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "parse/parser.h"
#include "verify/verify.h"

namespace adc::test {

struct Reading {
  diag::SourceManager sources;
  diag::Diagnostics diagnostics;
  std::unique_ptr<ir::Module> module;

  explicit Reading(std::string text, uint32_t error_limit = 20) : diagnostics(error_limit) {
    module = parse::ParseText("test.ir", std::move(text), {}, sources, diagnostics);
    if (module != nullptr && !diagnostics.Full()) verify::Verify(*module, diagnostics);
  }
  std::string Messages() const { return diag::PrintDiagnostics(diagnostics, sources, false); }
  std::string Json() const { return diag::PrintDiagnosticsJson(diagnostics, sources); }
  bool Good() const { return module != nullptr && !diagnostics.HasErrors(); }
};

/// A module that must be good.
inline std::unique_ptr<Reading> ReadGood(std::string text) {
  auto reading = std::make_unique<Reading>(std::move(text));
  INFO(reading->Messages());
  REQUIRE(reading->Good());
  return reading;
}

}  // namespace adc::test
