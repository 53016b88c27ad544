#include "product/depfile.h"

namespace adc::product {

namespace {

std::string Quote(std::string_view path) {
  std::string quoted;
  for (size_t at = 0; at < path.size(); ++at) {
    char letter = path[at];
    if (letter == ' ' || letter == '\t') {
      // A backslash before a blank quotes the blank, so those that stand before it are doubled.
      for (size_t back = at; back > 0 && path[back - 1] == '\\'; --back) quoted += '\\';
      quoted += '\\';
    } else if (letter == '#') {
      quoted += '\\';
    } else if (letter == '$') {
      quoted += '$';
    }
    quoted += letter;
  }
  return quoted;
}

}  // namespace

std::string DepfileText(std::string_view target, std::span<const std::string> dependencies) {
  std::string text = Quote(target) + ":";
  for (const std::string& dependency : dependencies) text += " " + Quote(dependency);
  text += "\n";
  for (size_t at = 1; at < dependencies.size(); ++at) text += "\n" + Quote(dependencies[at]) + ":\n";
  return text;
}

}  // namespace adc::product
