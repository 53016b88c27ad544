#pragma once
// Sums of floats into neighbouring cells, as the components of a vector are, in code that has been optimised.

#include <vector>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/Instructions.h"

namespace adc::codegen {

/// Cells that are summed together, at most: each takes registers.
inline constexpr size_t kMostCells = 4;

/// An address as a start, an index of elements and a number of bytes.
struct Place {
  llvm::Value* start = nullptr;
  llvm::Value* index = nullptr;  ///< null: none
  uint64_t element = 0;          ///< bytes
  int64_t offset = 0;
  bool HasBaseOf(const Place& other) const {
    return start == other.start && index == other.index && element == other.element;
  }
};

/// Sums between which nothing touches memory, in the order of the code. Their cells come up or down.
struct SumGroup {
  llvm::SmallVector<llvm::AtomicRMWInst*, kMostCells> sums;
  llvm::SmallVector<Place, kMostCells> places;

  /// From the lowest cell on.
  SumGroup Up() const;
};

/// The sums of f32 and f64 without a result for which `is_wanted`, in groups of at most kMostCells.
std::vector<SumGroup> SumGroupsOf(llvm::Function& function,
                                  llvm::function_ref<bool(const llvm::AtomicRMWInst&)> is_wanted);

}  // namespace adc::codegen
