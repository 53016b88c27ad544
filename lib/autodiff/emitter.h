#pragma once
// The common part of forward and reverse mode: the kernel that is built, and the places of the primal's
// values in it.
//
// Notation: "primal" values belong to the kernel that is differentiated, everything else to the kernel that
// is built. `At(v)` is the built value that holds what primal value `v` held.

#include "autodiff/derived.h"
#include "diag/diagnostics.h"
#include "transform/folding_builder.h"

namespace adc::autodiff {

/// A derived kernel while it is built.
struct DerivedBody {
  DerivedBody(ir::Module& of, const ir::Function& from, diag::Diagnostics& reports, DerivedKernel derived,
              ScopedMap parameters);

  ir::Module& module;
  const ir::Function& primal;
  diag::Diagnostics& diagnostics;
  ir::Function& built;
  std::vector<ir::Value> companions;  ///< as DerivedKernel has them
  transform::FoldingBuilder builder;
  NameGiver names;
  ScopedMap values;  ///< primal value, or another key (Sweep::AuxKey) -> built value
  bool failed = false;
};

/// Finds, copies and names values, which forward mode and both sweeps of reverse mode do alike.
class Emitter {
 protected:
  explicit Emitter(DerivedBody& body);
  ~Emitter() = default;

  ir::Value At(ir::Value v);
  std::vector<ir::Value> AtAll(std::span<const ir::Value> values);
  /// The built value of one that is no literal and not there yet.
  virtual ir::Value Provide(ir::Value v) = 0;
  /// From here on `built` is what primal value `v` is, and has its name.
  void Bind(ir::Value v, ir::Value built);
  /// The same of the results of `inst` and the first ones of `built`.
  void BindResults(ir::Inst inst, ir::Inst built);
  /// A copy of an instruction without regions.
  ir::Inst Copy(ir::Inst inst);
  ir::Value Assemble(ir::Type type, std::span<const ir::Value> components);
  ir::Value Component(ir::Value v, uint32_t component);
  void Refuse(diag::ErrorId id, ir::Inst inst, std::string text, std::string help);

  ir::Module& module_;
  const ir::Function& primal_;
  diag::Diagnostics& diagnostics_;
  ir::Function& built_;
  const std::vector<ir::Value>& companions_;
  transform::FoldingBuilder& builder_;
  NameGiver& names_;
  ScopedMap& values_;
  bool& failed_;
};

}  // namespace adc::autodiff
