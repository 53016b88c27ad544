#pragma once
// The lines of a file or of a pipe, one at a time, as they come.

#include <optional>
#include <string>
#include <vector>

namespace adc::tool {

class LineReader {
 public:
  /// `path`: "-" is standard input.
  explicit LineReader(const std::string& path);
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  /// The next line without its end; nothing where there is none, or where Wrong() says something.
  std::optional<std::string> Next();
  /// Why the lines ended before the file did, as a sentence's end ("cannot be opened: ..."); empty: they did
  /// not.
  const std::string& Wrong() const { return wrong_; }

 private:
  /// More bytes into the buffer. False at the end, and where reading fails.
  bool Fill();

  int file_ = -1;
  std::vector<char> buffer_;
  size_t at_ = 0, end_ = 0;  ///< the bytes of the buffer that were not taken yet
  std::string wrong_;
};

}  // namespace adc::tool
