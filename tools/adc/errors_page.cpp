#include "errors_page.h"

#include <string_view>

#include "diag/errors.h"
#include "diag/examples.h"
#include "html.h"

namespace adc::tool {

namespace {

constexpr std::string_view kHead = R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Messages of adc</title>
<style>
:root { color-scheme: light dark; }
body { max-width: 62rem; margin: 2rem auto; padding: 0 1rem; font: 16px/1.5 system-ui, sans-serif; }
pre, code { font: 14px/1.45 ui-monospace, monospace; }
pre { overflow-x: auto; padding: 0.8rem; border: 1px solid #8886; border-radius: 6px; }
h2 { margin-top: 3rem; font-size: 1.15rem; }
h2 a { color: inherit; }
h2:target { outline: 3px solid #d90; outline-offset: 6px; }
</style>
</head>
<body>
<h1>Messages of adc</h1>
<p><code>E</code> marks errors, <code>W</code> warnings. An example is a short input that gives the message, with the
commands. A line <code>// right: TEXT</code> says what stands in place of the line above it where the input is right.</p>
)";

/// Text of the catalogue, in which code stands between backticks.
std::string WithCode(std::string_view text) {
  std::string html;
  for (bool inside = false;; inside = !inside) {
    size_t end = text.find('`');
    html += EscapedHtml(text.substr(0, end));
    if (end == std::string_view::npos) return html;
    html += inside ? "</code>" : "<code>";
    text.remove_prefix(end + 1);
  }
}

}  // namespace

std::string ErrorsPage() {
  std::string page(kHead);
  for (uint32_t position = 0; position < diag::ErrorCount(); ++position) {
    const diag::ErrorInfo& info = diag::InfoAt(position);
    std::string id(info.id);
    page += "<h2 id=\"" + id + "\"><a href=\"#" + id + "\">" + id + "</a>: " + WithCode(info.title) +
            "</h2>\n<p>" + WithCode(info.explanation) + "</p>\n";
    diag::Example example = diag::ExampleOf(info.id);
    page += example.text.empty() ? "<p>No example: " + WithCode(example.missing) + ".</p>\n"
                                 : "<pre>" + EscapedHtml(example.text) + "</pre>\n";
  }
  return page + "</body>\n</html>\n";
}

}  // namespace adc::tool
