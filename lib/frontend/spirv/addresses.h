#pragma once
// Pointers to buffers that the functions of a module compute: each is a place of a buffer, or refused.

#include "frontend/spirv/resources.h"

namespace adc::frontend::spirv {

/// An address that the module computes: a pointer's or an integer's, and elements after it.
struct Address {
  Id base = 0;   ///< a pointer, or the load of an integer
  Id index = 0;  ///< 0: none
  uint32_t stride = 0;
  int64_t bytes = 0;
};

class Addresses {
 public:
  explicit Addresses(const Types& types) : types_(types), binary_(types.binary()) {}

  /// Which addresses the instructions compute that are places of buffers, and the uses of the blocks after
  /// them. An address that something else is made of as well is a number, and no place.
  void Find(std::span<const Instruction* const> all, Pointed& pointed);
  /// The parts of the pointer; null where it is no place.
  const Address* Of(Id pointer) const;
  /// Whether the value only goes into addresses.
  bool IsPart(Id value) const { return parts_.count(value) != 0; }
  /// The variable and the byte that an access chain of constants leads to.
  std::optional<std::pair<Id, uint64_t>> FixedPlace(Id pointer) const;

 private:
  void Match(std::span<const Instruction* const> all);
  void Tell(Id pointer, const Address& address, Pointed& pointed) const;
  bool ReadsConstant(const Instruction& load) const;
  std::optional<Address> MatchAddress(Id value, std::set<Id>& chain) const;

  const Types& types_;
  const Binary& binary_;
  std::map<Id, Address> addresses_;  ///< by the pointer that is made of them
  std::set<Id> parts_;
};

}  // namespace adc::frontend::spirv
