// Code that is text: it is UTF-8, and it declares the entry points that the metadata states. The driver's
// compiler checks the rest.

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
  return IsUtf8(text) && text.find('\0') == std::string_view::npos;
}

// Both walk the text once, byte by byte: a search that stops at each first letter costs more where all
// letters are that one.

bool CheckMsl(std::span<const uint8_t> bytes, WantedNames* names, Error* error) {
  if (!IsText(bytes)) return Fail(error, Code::kMalformed, Rule::kH10, "Metal code is not text");
  constexpr std::string_view kKernel = "kernel";
  std::string_view text = TextOf(bytes);
  for (bool begins = true; !text.empty();) {
    if (!begins || text[0] != kKernel[0] || !BeginsWith(text, kKernel)) {
      begins = !IsWordLetter(text[0]);
      text.remove_prefix(1);
      continue;
    }
    text.remove_prefix(kKernel.size());
    begins = false;
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
  constexpr std::string_view kVersion = ".version", kTarget = ".target", kEntry = ".entry";
  auto bad = [&] {
    return Fail(error, Code::kMalformed, Rule::kH10, "code for target '", target.name.view(), "' is no PTX");
  };
  if (!IsText(bytes)) return bad();
  std::string_view text = TextOf(bytes), arch;
  bool has_version = false, has_target = false;
  while (!text.empty()) {
    if (text[0] != '.') {
      text.remove_prefix(1);
    } else if (BeginsWith(text, kVersion)) {
      has_version = true;
      text.remove_prefix(kVersion.size());
    } else if (BeginsWith(text, kTarget)) {
      text.remove_prefix(kTarget.size());
      std::string_view word = TakeWord(&text);
      if (!has_target) arch = word;
      has_target = true;
    } else if (BeginsWith(text, kEntry)) {
      text.remove_prefix(kEntry.size());
      names->Found(TakeWord(&text));
    } else {
      text.remove_prefix(1);
    }
  }
  if (!has_version || !has_target) return bad();
  if (arch != target.arch) {
    return Fail(error, Code::kMalformed, Rule::kH10, "code for target '", target.name.view(),
                "' is PTX for '", arch, "'");
  }
  return true;
}

}  // namespace adc::artifact
