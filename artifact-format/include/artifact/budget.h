#pragma once
// The time and memory that untrusted bytes may take. Limits bound each number of a bundle; a budget bounds
// their total, so that a walk over one list for each element of another takes time in proportion to the
// file. There is one budget per open, and one count of steps per plan. Code that walks asks it first.
//
// A step is a byte that a pass reads, or equal work: 0.3 to 0.75 ns on a processor that hashes by
// instructions, so that the default budget of an open amounts to 15 ms and 30 ns for each byte of the file. A
// loop that does more work for an element spends more steps on it.

#include <cstdint>
#include <span>

#include "artifact/bundle.h"
#include "artifact/error.h"
#include "artifact/memory.h"
#include "artifact/metadata.h"
#include "artifact/size_expr.h"

namespace adc::artifact {

/// Steps that something may take.
class Steps {
 public:
  explicit Steps(uint64_t limit = UINT64_MAX) : limit_(limit) {}

  /// Begins again with a limit.
  void Reset(uint64_t limit) {
    limit_ = limit;
    taken_ = 0;
    exceeded_ = false;
  }
  /// Takes `steps`. False if fewer are left, and from then on.
  bool Spend(uint64_t steps) {
    if (exceeded_ || steps > limit_ - taken_) {
      exceeded_ = true;
      return false;
    }
    taken_ += steps;
    return true;
  }
  /// Allows `by` more, up to `most` in all.
  void Raise(uint64_t by, uint64_t most) {
    if (limit_ < most) limit_ += by < most - limit_ ? by : most - limit_;
  }
  uint64_t limit() const { return limit_; }
  uint64_t taken() const { return taken_; }
  uint64_t left() const { return exceeded_ ? 0 : limit_ - taken_; }
  bool exceeded() const { return exceeded_; }

 private:
  uint64_t limit_;
  uint64_t taken_ = 0;
  bool exceeded_ = false;
};

/// The limits of one open; 0 stands for the default, in proportion to the size of the file.
struct OpenLimits {
  /// At any one time: kOpenMemory + kOpenMemoryPerByte for each byte of the file; UINT64_MAX: not counted.
  uint64_t memory_bytes = 0;
  uint64_t raw_bytes = 0;  ///< of all sections, decompressed: kOpenRaw + kOpenRawPerByte for each
  /// kOpenSteps + kOpenStepsPerByte for each byte of the file and of raw_bytes, but at most
  /// kMostOpenSteps + kMostOpenStepsPerByte for each byte of the file.
  uint64_t steps = 0;
};
inline constexpr uint64_t kOpenMemory = 8 << 20, kOpenMemoryPerByte = 64;
inline constexpr uint64_t kOpenRaw = 4 << 20, kOpenRawPerByte = 16;
/// Steps of one call that plans a launch.
inline constexpr uint64_t kPlanSteps = 1 << 28;
inline constexpr uint64_t kOpenSteps = 256 << 10, kOpenStepsPerByte = 16;
inline constexpr uint64_t kMostOpenSteps = 19 << 20, kMostOpenStepsPerByte = 40;
/// About what an honest bundle spends for a raw byte of metadata, and of another section.
inline constexpr uint64_t kOpenStepsOfMetadata = 13, kOpenStepsOfSection = 7;
/// More for a raw byte of SPIR-V that has differences.
inline constexpr uint64_t kOpenStepsOfDifferences = 2;

/// The steps and bytes that one open has left. Its memory comes from an allocator that counts, as long as the
/// open lasts.
class OpenBudget {
 public:
  /// `host` may be null and outlives the budget. Memory that is allocated through it must be released before
  /// the budget is destroyed, unless memory is not counted.
  OpenBudget(const Allocator* host, const OpenLimits& limits, uint64_t file_bytes);
  OpenBudget(const OpenBudget&) = delete;
  OpenBudget& operator=(const OpenBudget&) = delete;

  const Allocator* allocator() const { return most_bytes_ == UINT64_MAX ? host_ : &own_; }
  bool Spend(uint64_t steps) { return steps_.Spend(steps); }
  /// For walks that use only steps.
  Steps* steps_left() { return &steps_; }
  /// Asks for `bytes` decompressed bytes, before the first one is decompressed.
  bool TakeRaw(uint64_t bytes);
  /// The open is over: from now on allocations are passed on without being counted, from any thread.
  void Finish() { finished_ = true; }

  uint64_t steps() const { return steps_.taken(); }
  uint64_t peak_bytes() const { return peak_; }
  uint64_t raw_bytes() const { return raw_; }
  bool exceeded() const { return steps_.exceeded() || refused_memory_ || refused_raw_; }
  /// If the budget is exceeded, makes `error`, which may be null, say so instead of the consequence. Returns
  /// false.
  bool Explain(Error* error) const;

 private:
  void* Take(size_t size, size_t alignment);
  void Give(void* memory, size_t size, size_t alignment);

  const Allocator* host_;
  Allocator own_;
  Steps steps_;
  uint64_t most_bytes_, most_raw_, most_steps_;
  uint64_t live_ = 0, peak_ = 0, raw_ = 0, wanted_ = 0;
  bool refused_memory_ = false, refused_raw_ = false, finished_ = false;
};

/// ReadBundle of bundle.h within a budget, from which all memory comes. The one in bundle.h uses the default
/// budget, and does not count memory.
bool ReadBundle(std::span<const uint8_t> file, const Limits& limits, OpenBudget* budget, BundleIndex* index,
                Metadata* metadata, Error* error);

/// ReadMetadata of metadata.h within a budget. The one in metadata.h has none.
bool ReadMetadata(std::string_view json, uint32_t minor, const Limits& limits, OpenBudget* budget,
                  Metadata* metadata, Error* error);

/// Evaluates as Evaluate of size_expr.h does, and takes the steps from `steps`, which may be null. The
/// status is kBudget if either these or env.budget do not suffice.
EvalResult Evaluate(const SizeExprPool& pool, NodeId root, const SizeEnv& env, Steps* steps);

}  // namespace adc::artifact
