#pragma once
// A language server (the Language Server Protocol, version 3.17): messages in, messages out.

#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "driver/error_page.h"
#include "driver/options.h"
#include "lsp_document.h"

namespace adc::tool {

class LanguageServer {
 public:
  using Json = nlohmann::ordered_json;

  /// `send` writes a message to the client. `is_ready` says whether the client has sent more, which ends the
  /// analysis of a text that may be out of date.
  LanguageServer(const driver::CompileOptions& options, std::function<void(const std::string&)> send,
                 std::function<bool()> is_ready)
      : options_(options), send_(std::move(send)), is_ready_(std::move(is_ready)) {}

  /// Takes one message, which may be anything, and answers it if it is a request.
  void Take(const std::string& message);
  /// Tells the client of bytes that are no message.
  void Refuse(const std::string& reason);
  /// Analyses one text that has changed and publishes what is wrong with it. False where there is none.
  bool PublishOne();

  bool HasEnded() const { return ended_; }
  /// The client has begun, and has not said that it would end.
  bool IsInUse() const { return initialised_ && !shut_down_; }

 private:
  struct Open {
    std::string uri;
    Document document;
    bool published = false;  ///< the diagnostics that the client has are of the current text
  };
  using Answer = Json (LanguageServer::*)(const Json& parameters, Open& open);

  void Send(const Json& message);
  void AnswerRequest(const Json& id, const std::string& method, const Json& parameters);
  void Note(const std::string& method, const Json& parameters);
  void Fail(const Json& id, int code, const std::string& text);
  void Publish(const Open& open);
  Open* Find(const Json& parameters);

  Json Formatting(const Json& parameters, Open& open);
  Json HoverOf(const Json& parameters, Open& open);
  Json Definition(const Json& parameters, Open& open);
  Json References(const Json& parameters, Open& open);
  Json Complete(const Json& parameters, Open& open);
  Json Rename(const Json& parameters, Open& open);

  struct Method {
    std::string_view name;
    Answer answer;
    bool wants_position;
  };
  static const Method kMethods[];

  driver::CompileOptions options_;
  std::function<void(const std::string&)> send_;
  std::function<bool()> is_ready_;
  std::map<std::string, Open> documents_;  ///< by URI
  std::string error_page_ = driver::ErrorPageUri();
  std::string failure_;  ///< why the request that is being answered cannot be
  bool initialised_ = false, shut_down_ = false, ended_ = false;
};

}  // namespace adc::tool
