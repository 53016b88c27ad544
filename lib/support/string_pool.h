#pragma once
// Interned strings: names, texts, comments. A StringId is equal exactly when its text is.

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "support/index.h"

namespace adc {

struct StringTag;
/// Invalid means "no name".
using StringId = Index<StringTag>;

class StringPool {
 public:
  StringId Intern(std::string_view text) {
    if (auto found = ids_.find(text); found != ids_.end()) return found->second;
    texts_.emplace_back(text);
    StringId id(texts_.size() - 1);
    ids_.emplace(texts_.back(), id);
    return id;
  }
  /// The id of `text`; invalid where it was never interned.
  StringId Find(std::string_view text) const {
    auto found = ids_.find(text);
    return found == ids_.end() ? StringId() : found->second;
  }
  /// The empty text for an invalid id.
  std::string_view Text(StringId id) const {
    return id.Valid() ? std::string_view(texts_[id.raw]) : std::string_view();
  }
  size_t Size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;
  std::unordered_map<std::string_view, StringId> ids_;
};

}  // namespace adc
