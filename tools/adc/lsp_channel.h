#pragma once
// Messages of a language server's client: a header with their length, and that many bytes.

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace adc::tool {

class LspChannel {
 public:
  /// Reads the open file `input`. `refuse` is told of bytes that are no message; the bytes after them are
  /// read on.
  LspChannel(int input, std::function<void(const std::string&)> refuse)
      : input_(input), refuse_(std::move(refuse)) {}

  /// The bytes of the next message, for which it waits; none at the end of the input.
  std::optional<std::string> Next();
  /// Whether bytes, or the end of the input, are there to be read.
  bool IsReady() const;

 private:
  bool Fill();
  /// Passes over what stands in front of a header, in silence where it was `refused` already. False at the
  /// end of the input.
  bool FindHeader(bool refused);
  /// The length that the header at the front states, which is taken out; none where it states none.
  std::optional<size_t> TakeHeader();

  int input_;
  std::function<void(const std::string&)> refuse_;
  std::string buffer_;
};

}  // namespace adc::tool
