#pragma once
// A dense map from a typed index to a fact. Facts about IR live in side tables, so that no pass edits what it
// reads.

#include <vector>

namespace adc {

template <class Key, class Fact>
class SideTable {
 public:
  SideTable() = default;
  explicit SideTable(size_t size, Fact initial = Fact()) : facts_(size, initial), initial_(initial) {}

  /// The fact of `key`; the initial fact where none was set.
  const Fact& Get(Key key) const { return key.raw < facts_.size() ? facts_[key.raw] : initial_; }
  const Fact& operator[](Key key) const { return Get(key); }
  /// The fact of `key`, to be written; the table grows as needed.
  Fact& Set(Key key) {
    if (key.raw >= facts_.size()) facts_.resize(key.raw + size_t{1}, initial_);
    return facts_[key.raw];
  }
  Fact& operator[](Key key) { return Set(key); }
  size_t Size() const { return facts_.size(); }

 private:
  std::vector<Fact> facts_;
  Fact initial_{};
};

/// SideTable<Key, bool> without std::vector<bool>'s proxies.
template <class Key>
class IndexSet {
 public:
  bool Has(Key key) const { return key.raw < bits_.size() && bits_[key.raw] != 0; }
  /// True when `key` was not in the set before.
  bool Insert(Key key) {
    if (key.raw >= bits_.size()) bits_.resize(key.raw + size_t{1}, 0);
    bool fresh = bits_[key.raw] == 0;
    bits_[key.raw] = 1;
    return fresh;
  }
  void Erase(Key key) {
    if (key.raw < bits_.size()) bits_[key.raw] = 0;
  }

 private:
  std::vector<unsigned char> bits_;
};

}  // namespace adc
