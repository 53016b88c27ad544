#pragma once
// Operations of the invocations of a subgroup together, through arrays that their workgroup shares: each puts
// down its value, all wait, and each reads those of its subgroup. A subgroup has 32 invocations, or what is
// left of the workgroup. An invocation that has ended takes no part.

#include <optional>

#include "frontend/spirv/builder.h"

namespace adc::frontend::spirv {

inline constexpr uint32_t kSubgroupSize = 32;

/// Which invocations of a subgroup a sum is over.
enum class Over : uint8_t { All, UpToOwn, BeforeOwn };

class SubgroupBuilder {
 public:
  /// `invocation`: the number in the workgroup of `size`. `make` makes a shared array.
  SubgroupBuilder(KernelBuilder& builder, ir::Value invocation, uint32_t size,
                  std::function<ir::Value(ir::Type)> make)
      : b_(builder), invocation_(invocation), size_(size), make_(std::move(make)) {}

  /// Of the own subgroup: its number, the own place in it, how many a workgroup has.
  ir::Value Number() { return With(ir::Op::Div, invocation_, kSubgroupSize); }
  ir::Value Lane() { return With(ir::Op::Rem, invocation_, kSubgroupSize); }
  ir::Value Count() { return b_.I32((size_ + kSubgroupSize - 1) / kSubgroupSize); }

  /// `op` over the values of invocations in clusters of `cluster`, a power of two.
  ir::Value Reduce(ir::Op op, ir::Value value, ir::Value identity, Over over,
                   uint32_t cluster = kSubgroupSize);
  /// Where all of these are one value.
  ir::Value AllEqual(ir::Value value);
  /// Whether no invocation before the own one takes part.
  ir::Value Elect();
  ir::Value First(ir::Value value);
  /// Of the invocation at `lane`; the own value where there is none.
  ir::Value From(ir::Value value, ir::Value lane);
  /// The bits of those for which `value` is true: an i32.
  ir::Value Ballot(ir::Value value);

 private:
  ir::Value With(ir::Op op, ir::Value a, uint32_t b) { return b_.Make(op, {a, b_.I32(b)}); }
  ir::Value FirstOf(uint32_t cluster);
  ir::Value EndOf(ir::Value first, uint32_t cluster);
  /// `with` gets an invocation that takes part and what was carried so far, and gives what is carried on.
  ir::Value Fold(ir::Value value, ir::Value begin, ir::Value first, ir::Value end,
                 const std::function<ir::Value(ir::Value at, ir::Value carried)>& with);
  void PutDown(ir::Value value);
  void TakeUp();

  KernelBuilder& b_;
  ir::Value invocation_;
  uint32_t size_;
  std::function<ir::Value(ir::Type)> make_;
  ir::Value values_, present_;
};

}  // namespace adc::frontend::spirv
