#pragma once
// Which instructions touch which memory. Memory is split into *classes* that cannot overlap: each buffer,
// each field of a layout, each local array, each adstack, and one class for the memory of all parameters
// marked `alias`.

#include <span>

#include "analysis/structure.h"

namespace adc::analysis {

/// True when the operation reads memory (loads, atomics, add_to).
bool ReadsMemory(ir::Op op);
/// True when the operation writes memory (stores, atomics, add_to).
bool WritesMemory(ir::Op op);
/// True for an access whose base is a local array.
bool IsLocalAccess(const ir::Function& function, ir::Inst inst);
/// Pure by the table, or a load: an instruction without an effect that others could see and without regions.
bool IsPureOrRead(ir::Op op);

/// The buffer whose extents the loader demands of `buffer`, a parameter: of an adjoint or a tangent its
/// primal.
ir::Value PrimalOf(const ir::Function& function, ir::Value buffer);

inline constexpr uint32_t kNoClass = UINT32_MAX;

/// The memory classes of one function and where each is written. Const once made.
class MemoryClasses {
 public:
  explicit MemoryClasses(const Structure& structure);

  uint32_t Count() const { return static_cast<uint32_t>(writes_.size()); }
  /// The class of the memory of `base` (and `field` of a layout); kNoClass where the function never writes or
  /// names it.
  uint32_t ClassOf(ir::Value base, uint32_t field) const;
  /// The class that a load, store, atomic, add_to touches.
  uint32_t ClassOf(ir::Inst access) const;
  /// Writes of a class in textual order. A call that is given a buffer counts as a write of it.
  std::span<const ir::Inst> Writes(uint32_t memory_class) const { return writes_[memory_class]; }
  bool IsWritten(uint32_t memory_class) const {
    return memory_class != kNoClass && !writes_[memory_class].empty();
  }
  /// True when an instruction inside `control` may write the class.
  bool IsWrittenIn(uint32_t memory_class, ir::Inst control) const;
  /// True when an instruction whose textual number is in [begin, end) may write the class.
  bool IsWrittenBetween(uint32_t memory_class, uint32_t begin, uint32_t end) const;
  /// The classes written inside `control`, ascending, each once.
  const std::vector<uint32_t>& WrittenIn(ir::Inst control) const { return written_in_[control]; }

 private:
  uint64_t KeyOf(ir::Value base, uint32_t field) const;
  uint32_t ClassFor(ir::Value base, uint32_t field);

  const Structure* structure_;
  std::vector<std::vector<ir::Inst>> writes_;
  std::vector<std::vector<uint32_t>> write_positions_;
  std::unordered_map<uint64_t, uint32_t> ids_;
  IndexSet<ir::Value> whole_;  ///< layouts given to a call: one class, whatever the field
  uint32_t alias_class_ = kNoClass;
  SideTable<ir::Inst, std::vector<uint32_t>> written_in_;
};

}  // namespace adc::analysis
