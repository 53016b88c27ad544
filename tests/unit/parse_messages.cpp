// How messages look: the line, the caret span, notes and help; as JSON; and what keeps them harmless.

#include "diag/errors/parse.h"
#include "parse_support.h"

using namespace adc;
using test::Reading;

TEST_CASE("a message shows the line, a caret span, notes and help", "[diag]") {
  Reading reading("kernel @k(%a: f32, %c: f64) {\n    %b = add %a, %c\n}\n");
  CHECK(reading.Messages() ==
        "test.ir:2:18: error: operand 2 of 'add' is f64, operand 1 is f32 [E0107]\n"
        "    %b = add %a, %c\n"
        "                 ^~\n"
        "test.ir:1:20: note: '%c' is defined here\n"
        "kernel @k(%a: f32, %c: f64) {\n"
        "                   ^~\n"
        "help: write 'cast ... to f32'\n");
}

TEST_CASE("the same as JSON, one object per line", "[diag]") {
  Reading reading("kernel @k(%a: f32, %c: f64) {\n    %b = add %a, %c\n}\n");
  CHECK(reading.Json() ==
        R"({"severity":"error","id":"E0107","message":"operand 2 of 'add' is f64, operand 1 is f32",)"
        R"("file":"test.ir","line":2,"column":18,"end_line":2,"end_column":20,)"
        R"("notes":[{"message":"'%c' is defined here","file":"test.ir","line":1,"column":20,)"
        R"("end_line":1,"end_column":22}],"help":"write 'cast ... to f32'"})"
        "\n");
}

TEST_CASE("colour only where it is asked for", "[diag]") {
  Reading reading("kernel @k() {\n  %b = neg %a\n}\n");
  CHECK(reading.Messages().find('\033') == std::string::npos);
  std::string painted = diag::PrintDiagnostics(reading.diagnostics, reading.sources, true);
  CHECK(painted.find("\033[1;31merror:\033[0m") != std::string::npos);
}

TEST_CASE("tabs and wide characters keep the caret below its text", "[diag]") {
  Reading tabs("kernel @k() {\n\t%b =\tneg\t%a\n}\n");
  CHECK(tabs.Messages() ==
        "test.ir:2:11: error: no value is named '%a' [E0106]\n"
        "    %b =    neg    %a\n"
        "                   ^~\n");
  Reading umlauts("kernel @k() {\n  print \"größe {}\", %a\n}\n");
  CHECK(umlauts.Messages() ==
        "test.ir:2:23: error: no value is named '%a' [E0106]\n"
        "  print \"größe {}\", %a\n"
        "                    ^~\n");
}

TEST_CASE("nothing of the text drives the terminal", "[diag]") {
  Reading reading("kernel @k() {\n  %b = neg \033[31m%a\xff\xc3 \x07\n}\n");
  std::string messages = reading.Messages() + reading.Json();
  for (char c : messages) {
    auto byte = static_cast<unsigned char>(c);
    CHECK((byte == '\n' || (byte >= 0x20 && byte != 0x7F)));
  }
  CHECK(messages.find("\\x1B") != std::string::npos);
}

TEST_CASE("JSON is ASCII whatever a message and a file's name hold", "[diag]") {
  diag::SourceManager sources;
  diag::Diagnostics diagnostics;
  uint32_t base = sources.AddFile("\xfc.ir", "text\n");
  diagnostics.Error(diag::E0107, {base, base + 4}, "quote \" slash \\ \x1b \x7f \xc2\x9b \xc3\xbc bad \xff.");
  std::string text = diag::PrintDiagnosticsJson(diagnostics, sources);
  CHECK(text.find(R"("quote \" slash \\ \u001b \u007f \u009b \u00fc bad \ufffd.")") != std::string::npos);
  CHECK(text.find(R"("file":"\ufffd.ir","line":1,"column":1,"end_line":1,"end_column":5)") !=
        std::string::npos);
}

TEST_CASE("of a long line the surroundings of the caret are shown", "[diag]") {
  std::string line(100000, ' ');
  Reading reading("kernel @k() {" + line + "%b = neg %a" + line + "}\n");
  std::string messages = reading.Messages();
  CHECK(messages.size() < 600);
  CHECK(messages.find("...") != std::string::npos);
  CHECK(messages.find("%b = neg %a") != std::string::npos);
}

TEST_CASE("suggestions name what is near, and nothing else", "[diag]") {
  Reading reading(
      "kernel @k(%velocity: f32, %x: f32) {\n  %a = neg %velocty\n  %b = neg %completely_else\n  %c = squrt "
      "%x\n}\n");
  const auto& all = reading.diagnostics.All();
  REQUIRE(all.size() == 3);
  CHECK(all[0].help == "did you mean '%velocity'?");
  CHECK(all[1].help.empty());
  CHECK(all[2].help == "did you mean 'sqrt'?");
}

TEST_CASE("every kind of error has a title and an explanation", "[diag]") {
  for (uint32_t n = 0; n < diag::ErrorCount(); ++n) {
    const diag::ErrorInfo& info = diag::InfoAt(n);
    INFO(info.id);
    CHECK(info.title.size() > 5);
    CHECK(info.explanation.size() > 20);
    for (uint32_t m = 0; m < n; ++m) CHECK(diag::InfoAt(m).id != info.id);
  }
}

TEST_CASE("an id is a link where the page of all messages is known", "[diag]") {
  Reading reading("kernel @k(%x: buffer<f32, 1>) { %y = ad %x, %x }");
  std::string linked =
      diag::PrintDiagnostics(reading.diagnostics, reading.sources, true, "file:///a%20b/errors.html");
  CHECK(linked.find("[\033]8;;file:///a%20b/errors.html#E0109\033\\E0109\033]8;;\033\\]\n") !=
        std::string::npos);
  CHECK(diag::PrintDiagnostics(reading.diagnostics, reading.sources, true).find("\033]8") ==
        std::string::npos);
}

TEST_CASE("on a terminal the first message comes with the command that explains it") {
  Reading reading("kernel @k(%x: buffer<f32, 1>) { %y = ad %x, %x }");
  std::string hint = "adc explain E0109: what this means, an example, the way out\n";
  CHECK(diag::PrintDiagnostics(reading.diagnostics, reading.sources, true).ends_with(hint));
  CHECK(reading.Messages().find("adc explain") == std::string::npos);
  Reading good("kernel @k(%x: buffer<f32, 1>) { }");
  CHECK(diag::PrintDiagnostics(good.diagnostics, good.sources, true).empty());
}
