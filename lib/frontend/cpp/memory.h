#pragma once
// Reads and writes objects, whole ones part by part.

#include "frontend/cpp/addresses.h"

namespace adc::frontend {

class Memory : protected Addresses {
 protected:
  using Addresses::Addresses;

  Value Load(const ObjectPtr& object, SourceRange range);
  void Store(const ObjectPtr& object, Value value, SourceRange range);
  void Copy(const ObjectPtr& to, const ObjectPtr& from, SourceRange range);
  void Zero(const ObjectPtr& object, SourceRange range);
  std::optional<uint32_t> KnownComponent(const Object& component) const;
  void EachIndex(const Object& array, SourceRange range, const std::function<void(Value)>& visit);
  Value OpenElements(const Object& array);

 private:
  std::vector<Value> WordAt(const Object& spread, uint64_t n);
  Value LoadWords(const Object& spread, SourceRange range);
  void StoreWords(const Object& spread, Value value, SourceRange range);
};

}  // namespace adc::frontend
