#pragma once
// Copies instructions, regions and all, between functions or within one, through a map of values.

#include <functional>

#include "ir/builder.h"

namespace adc::ir {

/// From values of the source function to values of the destination.
using ValueMap = SideTable<Value, Value>;

class Cloner {
 public:
  /// Source and destination may be one function. `map` holds what is known already (parameters, outer
  /// values).
  Cloner(const Function& from, Builder& to, ValueMap& map) : from_(from), to_(to), map_(map) {}

  /// The destination's value for `v`. Constants and globals are made on demand; anything else must be in the
  /// map, or, when source and destination are one function, stands for itself.
  Value Map(Value v);
  /// Copies `inst` with its regions to the end of the builder's block; results enter the map. Names stay
  /// when `keep_names`.
  Inst CloneInst(Inst inst, bool keep_names = true);
  /// From here on, instructions of regions for which this holds are not copied: their operands need no
  /// counterpart, and no copied instruction may read their results.
  void LeaveOut(std::function<bool(Inst)> is_left_out) { is_left_out_ = std::move(is_left_out); }
  /// Copies every instruction of `block`, with or without its terminator.
  void CloneBody(Block block, bool with_terminator, bool keep_names = true);

 private:
  const Function& from_;
  Builder& to_;
  ValueMap& map_;
  std::function<bool(Inst)> is_left_out_;
};

/// Gives `target` what `source` says beside its operation, operands, results and regions.
inline void CopyAttributes(const InstData& source, InstData& target) {
  target.words = source.words;
  target.index_count = source.index_count;
  target.attr = source.attr;
  target.component = source.component;
  target.symbol = source.symbol;
}

/// `name`, or a longer one, which no parameter of `function` has.
StringId FreshName(Module& module, const Function& function, std::string name);

/// A function of the same signature, attributes and parameter names with an empty body; `map` gets the
/// parameters.
std::unique_ptr<Function> CloneSignature(const Function& from, StringId name, ValueMap& map);

}  // namespace adc::ir
