#include "line_difference.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace adc::tool {

namespace {

using Lines = std::vector<std::string_view>;

Lines Split(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

/// One line of the result: ' ' in both, '-' in the first alone, '+' in the second alone.
struct Edit {
  char mark;
  std::string_view line;
};

/// The edits that make `second` of `first`, which differ in their first and last lines.
class Shortest {
 public:
  Shortest(std::span<const std::string_view> first, std::span<const std::string_view> second)
      : first_(first), second_(second) {}

  std::vector<Edit> Run() {
    constexpr int64_t kMost = 2000;
    int64_t most = std::min<int64_t>(kMost, Size(first_) + Size(second_));
    for (int64_t steps = 0; steps <= most; ++steps) {
      if (Extend(steps)) return Trace(steps);
    }
    std::vector<Edit> edits;
    for (std::string_view line : first_) edits.push_back({'-', line});
    for (std::string_view line : second_) edits.push_back({'+', line});
    return edits;
  }

 private:
  static int64_t Size(std::span<const std::string_view> lines) { return static_cast<int64_t>(lines.size()); }

  /// How far into the first text `steps` edits reach on `diagonal` (position in the first less that in the
  /// second). Row n of the table has diagonals -n to n.
  int64_t& Reach(int64_t steps, int64_t diagonal) {
    return reach_[static_cast<size_t>(steps)][static_cast<size_t>(diagonal + steps)];
  }

  /// Whether the next edit on the way to `diagonal` takes a line of the second text.
  bool ComesDown(int64_t steps, int64_t diagonal) {
    if (diagonal == -steps) return true;
    if (diagonal == steps) return false;
    return Reach(steps - 1, diagonal - 1) < Reach(steps - 1, diagonal + 1);
  }

  bool Extend(int64_t steps) {
    reach_.emplace_back(static_cast<size_t>(2 * steps + 1), 0);
    for (int64_t diagonal = -steps; diagonal <= steps; diagonal += 2) {
      int64_t at = 0;
      if (steps != 0) {
        bool down = ComesDown(steps, diagonal);
        at = down ? Reach(steps - 1, diagonal + 1) : Reach(steps - 1, diagonal - 1) + 1;
      }
      while (at < Size(first_) && at - diagonal < Size(second_) &&
             first_[static_cast<size_t>(at)] == second_[static_cast<size_t>(at - diagonal)])
        ++at;
      Reach(steps, diagonal) = at;
      if (at >= Size(first_) && at - diagonal >= Size(second_)) return true;
    }
    return false;
  }

  std::vector<Edit> Trace(int64_t steps) {
    std::vector<Edit> edits;
    int64_t at = Size(first_), other = Size(second_);
    while (at > 0 || other > 0) {
      int64_t diagonal = at - other;
      bool down = steps != 0 && ComesDown(steps, diagonal);
      int64_t from = steps == 0 ? 0
                     : down     ? Reach(steps - 1, diagonal + 1)
                                : Reach(steps - 1, diagonal - 1) + 1;
      for (; at > from; --at, --other) edits.push_back({' ', first_[static_cast<size_t>(at - 1)]});
      if (steps == 0) break;
      if (down) {
        edits.push_back({'+', second_[static_cast<size_t>(--other)]});
      } else {
        edits.push_back({'-', first_[static_cast<size_t>(--at)]});
      }
      --steps;
    }
    std::reverse(edits.begin(), edits.end());
    return edits;
  }

  std::span<const std::string_view> first_, second_;
  std::vector<std::vector<int64_t>> reach_;
};

constexpr size_t kContext = 3;

/// The next run of edits that are at most two contexts apart: its first edit and the one after its last.
std::pair<size_t, size_t> NextRun(const std::vector<Edit>& edits, size_t from) {
  while (from < edits.size() && edits[from].mark == ' ') ++from;
  size_t end = from, same = 0;
  for (size_t at = from; at < edits.size() && same <= 2 * kContext; ++at) {
    same = edits[at].mark == ' ' ? same + 1 : 0;
    if (same == 0) end = at + 1;
  }
  return {from, end};
}

std::string Range(size_t line, size_t count) {
  // An empty range names the line in front of it.
  std::string text = std::to_string(count == 0 ? line : line + 1);
  return count == 1 ? text : text + "," + std::to_string(count);
}

}  // namespace

std::string UnifiedDifference(std::string_view first_text, std::string_view second_text) {
  Lines first = Split(first_text), second = Split(second_text);
  size_t head = 0, tail = 0, shorter = std::min(first.size(), second.size());
  while (head < shorter && first[head] == second[head]) ++head;
  while (tail < shorter - head && first[first.size() - 1 - tail] == second[second.size() - 1 - tail]) ++tail;
  if (head == first.size() && head == second.size()) return {};
  std::vector<Edit> edits;
  for (size_t n = 0; n < head; ++n) edits.push_back({' ', first[n]});
  std::span<const std::string_view> a(first), b(second);
  for (const Edit& edit :
       Shortest(a.subspan(head, first.size() - head - tail), b.subspan(head, second.size() - head - tail))
           .Run())
    edits.push_back(edit);
  for (size_t n = first.size() - tail; n < first.size(); ++n) edits.push_back({' ', first[n]});

  std::string text;
  size_t at = 0, line = 0, other = 0;
  auto pass = [&](const Edit& edit) {
    line += edit.mark != '+' ? 1 : 0;
    other += edit.mark != '-' ? 1 : 0;
  };
  while (true) {
    auto [begin, end] = NextRun(edits, at);
    if (begin == edits.size()) return text;
    begin -= std::min(kContext, begin - at);
    end = std::min(end + kContext, edits.size());
    for (; at < begin; ++at) pass(edits[at]);
    size_t from = line, from_other = other;
    std::string body;
    for (; at < end; ++at) {
      pass(edits[at]);
      body += edits[at].mark + std::string(edits[at].line) + "\n";
    }
    text += "@@ -" + Range(from, line - from) + " +" + Range(from_other, other - from_other) + " @@\n" + body;
  }
}

}  // namespace adc::tool
