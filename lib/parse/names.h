#pragma once
// The value names of one function. A name is defined once per function and seen from its definition to the
// end of its region.

#include <vector>

#include "diag/source.h"
#include "ir/function.h"

namespace adc::parse {

/// What a name stands for after an error: an operand that silences what is built on it. In no table of a
/// function.
inline constexpr ir::Value kPoison{UINT32_MAX - 1};

class Names {
 public:
  enum class State : uint8_t { Unknown, Visible, OutOfScope, Reported };
  struct Entry {
    ir::Value value;
    diag::SourceSpan place;
    State state = State::Unknown;
  };

  const Entry& Look(StringId name) const {
    static constexpr Entry kUnknown;
    return name.raw < entries_.size() ? entries_[name.raw] : kUnknown;
  }
  bool IsDefined(StringId name) const {
    State state = Look(name).state;
    return state == State::Visible || state == State::OutOfScope;
  }
  void Define(StringId name, ir::Value value, diag::SourceSpan place) {
    Reserve(name);
    entries_[name.raw] = {value, place, State::Visible};
    order_.push_back(name);
  }
  /// An unknown name is complained about once.
  void Report(StringId name) {
    Reserve(name);
    entries_[name.raw] = {kPoison, {}, State::Reported};
    reported_.push_back(name);
  }

  void Push() { scopes_.push_back(order_.size()); }
  void Pop() {
    for (size_t n = scopes_.back(); n < order_.size(); ++n) {
      entries_[order_[n].raw].state = State::OutOfScope;
      closed_.push_back(order_[n]);
    }
    order_.resize(scopes_.back());
    scopes_.pop_back();
  }
  /// Names in sight, in the order of their definition.
  const std::vector<StringId>& Visible() const { return order_; }
  /// Forgets everything: the next function begins.
  void Clear() {
    for (const std::vector<StringId>* list : {&order_, &closed_, &reported_}) {
      for (StringId name : *list) entries_[name.raw] = {};
    }
    order_.clear();
    closed_.clear();
    reported_.clear();
    scopes_.clear();
  }

 private:
  void Reserve(StringId name) {
    if (name.raw < entries_.size()) return;
    // Doubling by hand: a string table that grows with every name would otherwise be resized for each.
    entries_.resize(std::max<size_t>(name.raw + size_t{1}, entries_.size() * 2));
  }

  std::vector<Entry> entries_;
  std::vector<StringId> order_;
  std::vector<StringId> closed_;
  std::vector<StringId> reported_;
  std::vector<size_t> scopes_;
};

}  // namespace adc::parse
