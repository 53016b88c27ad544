#pragma once
// What a run counts. Plain numbers, since workers write them to memory that they share with their parent.

#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "diag/errors.h"
#include "ir/module.h"

namespace adc::farm {

enum class Step : uint8_t { Write, Read, Compile, Load, Native, Values, Duals };
inline constexpr const char* kStepNames[] = {"write", "read", "compile", "load", "native", "values", "duals"};

inline constexpr size_t kSteps = std::size(kStepNames), kOps = std::size(ir::kOpClasses), kRefusals = 64;

struct Tally {
  uint64_t programs = 0;
  uint64_t accepted = 0;          ///< compiled, with a gradient where one was asked for
  uint64_t without_gradient = 0;  ///< compiled once no gradient was asked for
  uint64_t refused = 0;           ///< not compiled at all
  uint64_t not_finite = 0;        ///< whose results are not all finite: no gradient is compared
  uint64_t rounding = 0;          ///< derivatives that errors in the last places of arguments explain
  uint64_t values = 0;            ///< numbers of memory that were compared
  uint64_t gradients = 0;         ///< directions along which a gradient was compared
  uint64_t tangents = 0;          ///< tangents of forward mode that were compared
  uint64_t optimised = 0;         ///< programs compiled with -O1 or more
  uint64_t wrong = 0;             ///< programs with a difference, or that ended their process
  double seconds[kSteps] = {};
  uint64_t with[kOps] = {};  ///< accepted programs that have this operation
  struct Refusal {
    uint16_t id;
    uint64_t count;
  } refusals[kRefusals] = {};

  void CountRefusal(diag::ErrorId id);
  /// The operations of the module as it is written.
  void CountOperations(const ir::Module& module);
  void Add(const Tally& other);
  uint64_t Compared() const { return values + gradients + tangents; }

  /// As lines, `name number` each; from them, lines that mean nothing passed over.
  std::string Write() const;
  void Read(const std::string& lines);
  /// For the end of a run: counts, time by step, and operations by class, with those that never occurred.
  std::string Report() const;

 private:
  struct Named {
    const char* name;
    uint64_t Tally::* number;
  };
  static const Named kNumbers[];
};

}  // namespace adc::farm
