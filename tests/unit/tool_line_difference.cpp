// Unified differences: they turn the first text into the second, and are the shortest that do.

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "line_difference.h"

using namespace adc::tool;

namespace {

using Lines = std::vector<std::string>;

std::string Text(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

/// Applies a unified difference by its line numbers, checking every line that it says is there. Counts the
/// lines that it removes or adds.
Lines Applied(const Lines& first, const std::string& difference, size_t* edits) {
  Lines result;
  size_t at = 0;
  *edits = 0;
  for (size_t begin = 0; begin < difference.size();) {
    size_t end = difference.find('\n', begin);
    std::string line = difference.substr(begin, end - begin);
    begin = end + 1;
    if (line.starts_with("@@ -")) {
      size_t number = std::stoul(line.substr(4));
      size_t comma = line.find(','), space = line.find(' ', 4);
      bool empty = comma < space && line.substr(comma + 1, space - comma - 1) == "0";
      size_t from = empty ? number : number - 1;
      REQUIRE(from >= at);
      while (at < from) result.push_back(first[at++]);
      continue;
    }
    std::string content = line.substr(1);
    if (line[0] != ' ') ++*edits;
    if (line[0] != '+') {
      REQUIRE(at < first.size());
      CHECK(first[at++] == content);
    }
    if (line[0] != '-') result.push_back(content);
  }
  while (at < first.size()) result.push_back(first[at++]);
  return result;
}

/// Lines of both texts less twice their longest common subsequence, by the table of all prefixes.
size_t FewestEdits(const Lines& first, const Lines& second) {
  std::vector<std::vector<size_t>> common(first.size() + 1, std::vector<size_t>(second.size() + 1, 0));
  for (size_t a = 1; a <= first.size(); ++a) {
    for (size_t b = 1; b <= second.size(); ++b) {
      common[a][b] = first[a - 1] == second[b - 1] ? common[a - 1][b - 1] + 1
                                                   : std::max(common[a - 1][b], common[a][b - 1]);
    }
  }
  return first.size() + second.size() - 2 * common[first.size()][second.size()];
}

}  // namespace

TEST_CASE("one line of change stands between three lines of context") {
  CHECK(UnifiedDifference("a\nb\nc\nd\ne\nf\ng\nh\ni\n", "a\nb\nc\nd\nX\nf\ng\nh\ni\n") ==
        "@@ -2,7 +2,7 @@\n b\n c\n d\n-e\n+X\n f\n g\n h\n");
  CHECK(UnifiedDifference("a\n", "a\n").empty());
  CHECK(UnifiedDifference("", "a\n") == "@@ -0,0 +1 @@\n+a\n");
  CHECK(UnifiedDifference("a\nb\n", "") == "@@ -1,2 +0,0 @@\n-a\n-b\n");
}

TEST_CASE("random texts are turned into each other by the fewest lines") {
  std::mt19937 random(20261123);
  auto below = [&](size_t count) { return random() % count; };
  for (int round = 0; round < 500; ++round) {
    Lines first;
    for (size_t count = below(40); first.size() < count;)
      first.push_back(std::string(1, static_cast<char>('a' + below(6))));
    Lines second = first;
    for (size_t change = below(12); change > 0; --change) {
      size_t place = below(second.size() + 1);
      if (below(2) == 0 && place < second.size()) {
        second.erase(second.begin() + static_cast<std::ptrdiff_t>(place));
      } else {
        second.insert(second.begin() + static_cast<std::ptrdiff_t>(place),
                      std::string(1, static_cast<char>('a' + below(9))));
      }
    }
    size_t edits = 0;
    std::string difference = UnifiedDifference(Text(first), Text(second));
    CHECK(Applied(first, difference, &edits) == second);
    CHECK(edits == FewestEdits(first, second));
  }
}

TEST_CASE("texts without a line in common are replaced as a whole") {
  Lines first, second;
  for (int line = 0; line < 3000; ++line) {
    first.push_back("a" + std::to_string(line));
    second.push_back("b" + std::to_string(line));
  }
  size_t edits = 0;
  CHECK(Applied(first, UnifiedDifference(Text(first), Text(second)), &edits) == second);
  CHECK(edits == 6000);
}
