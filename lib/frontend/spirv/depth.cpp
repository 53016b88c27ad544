#include "frontend/spirv/depth.h"

#include <algorithm>

namespace adc::frontend::spirv {

std::optional<NamedLine> FindDeeper(const Words& words, size_t most) {
  constexpr size_t kHeader = 5;
  std::set<Id> open;  // merge blocks that are still to come
  std::map<Id, std::string> files;
  NamedLine line;
  for (size_t at = kHeader, length = 0; at < words.size(); at += length) {
    length = words[at] >> spv::WordCountShift;
    if (length == 0 || length > words.size() - at) return std::nullopt;
    auto op = static_cast<spv::Op>(words[at] & spv::OpCodeMask);
    auto word = [&](size_t n) { return n < length ? words[at + n] : 0; };
    if (op == spv::OpString)
      files[word(1)] = TextIn(std::span(words).subspan(at, length).subspan(std::min<size_t>(length, 2)));
    if (op == spv::OpNoLine) line = {};
    if (op == spv::OpLine) line = {files[word(1)], word(2), word(3)};
    if (op == spv::OpFunction) open.clear();
    if (op == spv::OpLabel) open.erase(word(1));
    if (op != spv::OpSelectionMerge && op != spv::OpLoopMerge) continue;
    open.insert(word(1));
    if (open.size() > most) return line;
  }
  return std::nullopt;
}

}  // namespace adc::frontend::spirv
