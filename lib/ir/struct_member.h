#pragma once
// What the words of a buffer are in the language of the user: the members of a struct or of a shader's block.
// The kernel has words; headers for host programs say members.

#include <cstdint>
#include <string>
#include <vector>

#include "ir/type.h"

namespace adc::ir {

/// A number, a struct with `members`, or an array of these.
struct StructMember {
  std::string name;              ///< in the source; may be empty
  Scalar scalar = Scalar::F32;   ///< of what has no members
  std::vector<uint64_t> counts;  ///< extents of an array, outermost first; 0: as long as the memory
  uint32_t used = 0;             ///< not 0: of the innermost extent so many are used, and the rest is padding
  uint64_t offset = 0;           ///< bytes from the start of the struct around it
  uint64_t bytes = 0;  ///< of a struct, from one to the next; 0: the members are those of a whole buffer
  std::vector<StructMember> members;

  bool operator==(const StructMember& other) const;
};

}  // namespace adc::ir
