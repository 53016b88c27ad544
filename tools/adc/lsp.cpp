// `adc lsp`: a language server on standard input and output.
//
// One thread takes message after message. A text is analysed when the client has nothing more to say, and the
// analysis ends between two passes when it speaks again, so that a person who types waits for one pass at
// most.

#include <unistd.h>

#include <cstdio>

#include "command_line.h"
#include "commands.h"
#include "compile_source.h"
#include "driver/derivations.h"
#include "host/exit_code.h"
#include "lsp_channel.h"
#include "lsp_server.h"
#include "print.h"

namespace adc::tool {

namespace {

void SendMessage(const std::string& message) {
  PrintRaw("Content-Length: " + std::to_string(message.size()) + "\r\n\r\n" + message);
  std::fflush(stdout);
}

int Serve(const driver::CompileOptions& options) {
  LanguageServer* told = nullptr;
  LspChannel channel(STDIN_FILENO, [&told](const std::string& reason) { told->Refuse(reason); });
  LanguageServer server(options, SendMessage, [&channel] { return channel.IsReady(); });
  told = &server;
  while (!server.HasEnded()) {
    while (!channel.IsReady() && server.PublishOne()) {
    }
    std::optional<std::string> message = channel.Next();
    if (!message) break;
    server.Take(*message);
  }
  return server.IsInUse() ? kExitFailed : kExitOk;
}

}  // namespace

int Lsp(const std::vector<std::string>& words, Session&) {
  driver::CompileOptions options;
  // Everything up to the plans of gradients, for one target.
  options.emit = driver::Emit::Ir;
  options.targets = {"cpu"};
  options.want_provisions = true;
  options.error_limit = 100;
  CommandLine line(
      "adc lsp",
      "Serves an editor: the Language Server Protocol on standard input and output, for texts of the\n"
      "IR. Exit code 1 where the editor goes without a word.");
  line.Example("adc lsp", "is what an editor starts (docs/editors.md)");
  line.Value("--derive", "LIST", "the derivatives whose errors are shown, as for adc; default grad",
             [&options](std::string_view list) { return driver::TakeDerive(list, &options.derive); });
  line.List("-I", "DIR", "look for imports in DIR, after the importing file's own folder",
            &options.include_dirs);
  AddAllowImports(line, &options.import_dirs);
  if (std::optional<int> code = line.Parse(words)) return *code;
  return Serve(options);
}

}  // namespace adc::tool
