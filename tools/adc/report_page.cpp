#include "report_page.h"

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "artifact/sha256.h"
#include "html.h"

namespace adc::tool {

// Written by CMake from the files of the folder report.
extern const char* const kReportHtml;
extern const char* const kReportStyle;
extern const char* const kReportBasics;
extern const char* const kReportExpressions;
extern const char* const kReportSizes;
extern const char* const kReportSource;
extern const char* const kReportControls;
extern const char* const kReportCurve;
extern const char* const kReportGraph;
extern const char* const kReportKernels;
extern const char* const kReportMain;

namespace {

/// JSON that no HTML ends: a '<' inside of its strings is written as \u003c.
std::string DataText(const Json& data) {
  std::string text;
  for (char letter : data.dump(-1, ' ', false, Json::error_handler_t::replace)) {
    if (letter == '<') {
      text += "\\u003c";
    } else {
      text += letter;
    }
  }
  return text;
}

std::string Base64(const uint8_t (&bytes)[32]) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t at = 0; at < sizeof bytes; at += 3) {
    uint32_t bits = 0;
    for (size_t next = at; next < at + 3; ++next) bits = bits << 8 | (next < sizeof bytes ? bytes[next] : 0);
    for (int shift = 18; shift >= 0; shift -= 6) text += kDigits[bits >> shift & 63];
  }
  return text.replace(text.size() - 1, 1, "=");  // 32 bytes end in a group of two
}

std::string DigestOf(const std::string& script) {
  artifact::Sha256 sha;
  uint8_t digest[32];
  sha.Update(reinterpret_cast<const uint8_t*>(script.data()), script.size());
  sha.Finish(digest);
  return "sha256-" + Base64(digest);
}

/// `page` with a text in the place of each `{{name}}`, in order: texts that were put in are not looked at
/// again.
std::string Filled(std::string_view page,
                   std::initializer_list<std::pair<std::string_view, std::string>> parts) {
  std::string filled;
  for (const auto& [name, text] : parts) {
    size_t at = page.find(name);
    filled.append(page.substr(0, at)).append(text);
    page = page.substr(at + name.size());
  }
  return filled.append(page);
}

}  // namespace

std::string ReportPage(const Json& data) {
  std::string script = "\"use strict\";\n";
  for (const char* part : {kReportBasics, kReportExpressions, kReportSizes, kReportSource, kReportControls,
                           kReportCurve, kReportGraph, kReportKernels, kReportMain})
    script += part;
  return Filled(kReportHtml, {{"{{digest}}", DigestOf(script)},
                              {"{{title}}", EscapedHtml(data["title"].get<std::string>())},
                              {"{{style}}", kReportStyle},
                              {"{{data}}", DataText(data)},
                              {"{{script}}", script}});
}

}  // namespace adc::tool
