#pragma once
// A map from dense numbers to values of the function being built, with scopes: an entry that is set inside a
// region is forgotten when the region is left, because it does not dominate what follows.

#include <utility>
#include <vector>

#include "ir/function.h"

namespace adc::autodiff {

class ScopedMap {
 public:
  ir::Value Get(uint32_t key) const { return key < values_.size() ? values_[key] : ir::Value(); }
  void Set(uint32_t key, ir::Value value) {
    if (key >= values_.size()) values_.resize(key + size_t{1});
    log_.emplace_back(key, values_[key]);
    values_[key] = value;
  }
  size_t Mark() const { return log_.size(); }
  /// Forgets everything set since `mark`.
  void Rollback(size_t mark) {
    while (log_.size() > mark) {
      values_[log_.back().first] = log_.back().second;
      log_.pop_back();
    }
  }

 private:
  std::vector<ir::Value> values_;
  std::vector<std::pair<uint32_t, ir::Value>> log_;
};

}  // namespace adc::autodiff
