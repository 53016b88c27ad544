#pragma once
// The value names of one function. A name is seen from its definition to the end of its region, and may be
// used again where it is not seen.

#include <vector>

#include "diag/source.h"
#include "ir/function.h"

namespace adc::parse {

/// The value of a name after an error: an operand that silences all instructions that are built on it. In no
/// table of a function.
inline constexpr ir::Value kPoison{UINT32_MAX - 1};

class Names {
 public:
  enum class State : uint8_t { Unknown, Visible, OutOfScope, Reported };
  struct Entry {
    ir::Value value;
    diag::SourceSpan place;
    State state = State::Unknown;
    /// It was complained that this name is defined again.
    bool twice = false;
    uint32_t depth = 0;  ///< regions around the definition
  };
  /// A definition, and what the name stood for before it.
  struct Definition {
    StringId name;
    Entry before;
  };

  const Entry& Look(StringId name) const {
    static constexpr Entry kUnknown;
    return name.raw < entries_.size() ? entries_[name.raw] : kUnknown;
  }
  bool IsVisible(StringId name) const { return Look(name).state == State::Visible; }
  void Define(StringId name, ir::Value value, diag::SourceSpan place) {
    Reserve(name);
    Entry& entry = entries_[name.raw];
    order_.push_back({name, entry});
    bool twice = entry.state == State::Visible && entry.twice;
    entry = {value, place, State::Visible, twice, Depth()};
  }
  void MarkTwice(StringId name) { entries_[name.raw].twice = true; }
  /// An unknown name is complained about once, and so is one that is not visible.
  void Report(StringId name) {
    Reserve(name);
    entries_[name.raw] = {kPoison, {}, State::Reported};
    touched_.push_back(name);
  }

  void Push() { scopes_.push_back(order_.size()); }
  /// Ends a region: a name that one of its definitions hid by mistake is visible again.
  void Pop() {
    while (order_.size() > scopes_.back()) {
      const Definition& last = order_.back();
      Entry& entry = entries_[last.name.raw];
      bool hid = last.before.state == State::Visible || last.before.state == State::Reported;
      bool twice = entry.twice;
      if (hid) {
        entry = last.before;
        entry.twice = entry.twice || twice;
      } else if (entry.state == State::Visible) {
        entry.state = State::OutOfScope;
      }
      touched_.push_back(last.name);
      order_.pop_back();
    }
    scopes_.pop_back();
  }
  /// How many regions are open.
  uint32_t Depth() const { return static_cast<uint32_t>(scopes_.size()); }
  /// Names in sight, in the order of their definition.
  const std::vector<Definition>& Visible() const { return order_; }
  /// Forgets everything: the next function begins.
  void Clear() {
    for (const Definition& one : order_) entries_[one.name.raw] = {};
    for (StringId name : touched_) entries_[name.raw] = {};
    order_.clear();
    touched_.clear();
    scopes_.clear();
  }

 private:
  void Reserve(StringId name) {
    if (name.raw < entries_.size()) return;
    // Doubling by hand: a string table that grows with every name would otherwise be resized for each.
    entries_.resize(std::max<size_t>(name.raw + size_t{1}, entries_.size() * 2));
  }

  std::vector<Entry> entries_;
  std::vector<Definition> order_;
  std::vector<StringId> touched_;  ///< of names that order_ does not hold, those to be forgotten
  std::vector<size_t> scopes_;
};

}  // namespace adc::parse
