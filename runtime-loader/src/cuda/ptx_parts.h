#pragma once
// A PTX text cut into what stands at its top, so that a few entries can be handed to the driver's compiler
// without the others: each of its modules is a whole one, of what these entries use.
//
// The text has been checked (rule H10) and is trusted. For any text, cutting ends within its length, and each
// byte of a part is from the text.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "artifact/memory.h"

namespace adrt {

using adc::artifact::Vector;

class PtxParts {
 public:
  explicit PtxParts(const adc::artifact::Allocator* allocator) : items_(allocator), by_name_(allocator) {}

  /// Cuts a text, which lives as long as this. False: out of memory.
  bool Cut(std::string_view text);

 private:
  friend class PtxPart;
  struct Item {
    std::string_view text;
    std::string_view name;  ///< empty: a directive, of which every part has a copy
  };

  Vector<Item> items_;
  Vector<uint32_t> by_name_;  ///< items that have one; a declaration has that of its definition
};

/// The module of some entries. Every function: false where memory is refused.
class PtxPart {
 public:
  PtxPart(const PtxParts& parts, const adc::artifact::Allocator* allocator)
      : parts_(parts), taken_(allocator), unread_(allocator) {}

  bool Begin() { return taken_.TryResize(parts_.items_.size()); }
  /// Takes the item of this name, if there is one.
  bool Take(std::string_view name);
  /// Takes the items that taken ones use, and writes the module, with a zero at its end.
  bool Write(Vector<uint8_t>* text);

 private:
  const PtxParts& parts_;
  Vector<uint8_t> taken_;    ///< per item
  Vector<uint32_t> unread_;  ///< items whose uses are not taken yet
};

}  // namespace adrt
