#pragma once
// Interned strings: names, texts, comments. A StringId is equal exactly when its text is.
//
// The table is open addressing over (hash, id) pairs: a text is fetched only where 32 bits of hash agree,
// which makes a million distinct names cheap to look up.

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "support/index.h"

namespace adc {

struct StringTag;
/// Invalid means "no name".
using StringId = Index<StringTag>;

class StringPool {
 public:
  StringId Intern(std::string_view text) {
    if (texts_.size() * 2 >= slots_.size()) Grow();
    uint32_t hash = Hash(text);
    Slot& slot = slots_[Place(text, hash)];
    if (slot.id.Valid()) return slot.id;
    slot = {hash, StringId(texts_.size())};
    texts_.emplace_back(text);
    return slot.id;
  }
  /// The id of `text`; invalid where it was never interned.
  StringId Find(std::string_view text) const {
    return slots_.empty() ? StringId() : slots_[Place(text, Hash(text))].id;
  }
  /// The empty text for an invalid id.
  std::string_view Text(StringId id) const {
    return id.Valid() ? std::string_view(texts_[id.raw]) : std::string_view();
  }
  size_t Size() const { return texts_.size(); }

 private:
  struct Slot {
    uint32_t hash = 0;
    StringId id;
  };

  static uint32_t Hash(std::string_view text) {
    uint64_t hash = std::hash<std::string_view>()(text);
    return static_cast<uint32_t>(hash ^ (hash >> 32));
  }
  /// Where `text` is, or the free slot where it belongs.
  size_t Place(std::string_view text, uint32_t hash) const {
    size_t mask = slots_.size() - 1;
    size_t at = hash & mask;
    while (slots_[at].id.Valid() && (slots_[at].hash != hash || texts_[slots_[at].id.raw] != text))
      at = (at + 1) & mask;
    return at;
  }
  void Grow() {
    std::vector<Slot> old(slots_.empty() ? 64 : slots_.size() * 2);
    old.swap(slots_);
    size_t mask = slots_.size() - 1;
    for (const Slot& slot : old) {
      if (!slot.id.Valid()) continue;
      size_t at = slot.hash & mask;
      while (slots_[at].id.Valid()) at = (at + 1) & mask;
      slots_[at] = slot;
    }
  }

  std::deque<std::string> texts_;
  std::vector<Slot> slots_;  // a power of two of them, at most half full
};

}  // namespace adc
