// Code that is text: it is UTF-8, and it declares the entry points that the metadata states. What it does is
// for the driver's compiler to say.

#include "artifact/views.h"
#include "json.h"
#include "payload_forms.h"

namespace adc::artifact {
namespace {

std::string_view TextOf(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool IsWordLetter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
         (letter >= '0' && letter <= '9') || letter == '_' || letter == '$';
}

bool IsBlank(char letter) {
  return letter == ' ' || letter == '\t' || letter == '\n' || letter == '\r';
}

void SkipBlanks(std::string_view* text) {
  while (!text->empty() && IsBlank(text->front())) text->remove_prefix(1);
}

/// Takes the word that `text` begins with, after blanks; empty where another character stands there.
std::string_view TakeWord(std::string_view* text) {
  SkipBlanks(text);
  size_t length = 0;
  while (length < text->size() && IsWordLetter((*text)[length])) ++length;
  std::string_view word = Piece(*text, 0, length);
  text->remove_prefix(length);
  return word;
}

}  // namespace

bool IsText(std::span<const uint8_t> bytes) {
  std::string_view text = TextOf(bytes);
  while (!text.empty()) {
    size_t length = Utf8Length(text);
    if (length == 0 || text[0] == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

bool CheckMsl(std::span<const uint8_t> bytes, WantedNames* names, Error* error) {
  if (!IsText(bytes)) return Fail(error, Code::kMalformed, Rule::kH10, "Metal code is not text");
  constexpr std::string_view kKernel = "kernel";
  std::string_view text = TextOf(bytes);
  for (size_t at = text.find(kKernel); at != std::string_view::npos; at = text.find(kKernel)) {
    bool begins = at == 0 || !IsWordLetter(text[at - 1]);
    text.remove_prefix(at + kKernel.size());
    if (!begins) continue;
    SkipBlanks(&text);
    // kernel [[max_total_threads_per_threadgroup(128)]] void name(
    if (BeginsWith(text, "[[")) {
      size_t end = text.find("]]");
      if (end == std::string_view::npos) break;
      text.remove_prefix(end + 2);
    }
    if (TakeWord(&text) == "void") names->Found(TakeWord(&text));
  }
  return true;
}

bool CheckPtx(std::span<const uint8_t> bytes, const TargetMeta& target, WantedNames* names, Error* error) {
  std::string_view text = TextOf(bytes);
  if (!IsText(bytes) || text.find(".version") == std::string_view::npos ||
      text.find(".target") == std::string_view::npos) {
    return Fail(error, Code::kMalformed, Rule::kH10, "code for target '", target.name.view(), "' is no PTX");
  }
  constexpr std::string_view kTarget = ".target";
  std::string_view rest = text;
  rest.remove_prefix(rest.find(kTarget) + kTarget.size());
  std::string_view arch = TakeWord(&rest);
  if (arch != target.arch) {
    return Fail(error, Code::kMalformed, Rule::kH10, "code for target '", target.name.view(),
                "' is PTX for '", arch, "'");
  }
  constexpr std::string_view kEntry = ".entry";
  for (size_t at = text.find(kEntry); at != std::string_view::npos; at = text.find(kEntry)) {
    text.remove_prefix(at + kEntry.size());
    names->Found(TakeWord(&text));
  }
  return true;
}

}  // namespace adc::artifact
