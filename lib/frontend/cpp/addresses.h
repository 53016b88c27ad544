#pragma once
// Addresses, which are arrays and indices, and the pointers that hold them. Expressions are unknown here;
// pointers.cpp has those whose values are addresses.

#include "frontend/cpp/objects.h"

namespace adc::frontend {

inline constexpr int32_t kNullIndex = INT32_MIN;
inline constexpr const char* kChosen = "a pointer to one of several objects that is chosen at run time";
inline constexpr const char* kChosenHelp =
    "let it stay in one array and choose its index, or use if and else";

struct Address {
  ObjectPtr array;  ///< null: of a null pointer
  Value index;
  bool may_be_null = false;  ///< null where the index is kNullIndex
};

class Addresses : protected Objects {
 protected:
  using Objects::Objects;

  Address NullAddress() { return {nullptr, writer_.I32(kNullIndex)}; }
  Address Certain(const Address& address, SourceRange range);
  Value IsNull(const Address& address);
  Address AddressOfObject(const ObjectPtr& object, SourceRange range);
  Address AddressIn(const ObjectPtr& pointer, SourceRange range);
  Address Whole(Address address);
  Address Moved(Address from, Value by, SourceRange range);
  Address SeenAs(const Address& address, QualType type, SourceRange range);
  ObjectPtr At(const Address& address, SourceRange range);
  ObjectPtr PointerTo(QualType type, const Address& address, SourceRange range,
                      const clang::VarDecl* variable = nullptr);
  void Bind(const ObjectPtr& pointer, const Address& address, SourceRange range);
  bool Outlives(const Object& object, const Born& other) const;
  bool SameArray(const ObjectPtr& a, const ObjectPtr& b);
  bool Apart(const Object& a, const Object& b) const;

 private:
  Address AddressInOwner(const ObjectPtr& object, SourceRange range);
  Address InParts(const Address& outer, QualType number, Value part);
  static bool IsMoved(const clang::VarDecl* variable);
};

}  // namespace adc::frontend
