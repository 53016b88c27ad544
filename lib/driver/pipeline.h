#pragma once
// The passes between text and code generation, in one table: their names, their order, and their requirements
// of a module. `adc`, --dump, --stop-after, --time-passes, `adc opt` and the table in docs/architecture.md
// are made from it.

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "autodiff/checkpoint.h"
#include "autodiff/provisions.h"
#include "counting/record_prints.h"
#include "driver/lowered.h"
#include "driver/options.h"
#include "driver/raised.h"
#include "ir/module.h"
#include "target/target.h"
#include "verify/form.h"

namespace adc::driver {

/// The data that passes work on, and that they hand to each other beside the module.
struct PipelineState {
  ir::Module& module;
  const CompileOptions& options;
  diag::Diagnostics& diagnostics;
  std::span<const target::Target> targets = {};

  /// The kernels that derivatives are taken of, found when the first pass asks for them.
  std::optional<std::vector<ir::Function*>> primals = {};
  /// Kernels that do not save all that they overwrite although options ask for it, by name.
  std::set<StringId> left_unsaved = {};
  std::vector<autodiff::SegmentedKernel> segmented = {};  ///< of checkpoint, for reverse
  std::vector<ir::Function*> gradients = {};              ///< of reverse, for forward
  std::map<std::string, autodiff::ProvisionRecord> provisions =
      {};                                           ///< of reverse, by the name of the gradient
  std::vector<counting::KernelPrints> prints = {};  ///< of prints, for the bundle
  std::vector<LoweredModule> lowered = {};          ///< of plan; the first is `module` itself
  std::vector<RaisedModule> raised = {};            ///< of raise

  struct Version {
    ir::Module* module = nullptr;
    std::string targets;  ///< their names, where not all targets have this module
  };
  /// The modules that there are by now: more than one after lowering alone.
  std::vector<Version> Modules() const;
  /// That of the first target.
  const ir::Module& First() const;
};

enum class Stage : uint8_t {
  Read,           ///< text to module
  Normalise,      ///< to scalars and structured control
  Differentiate,  ///< to derived kernels beside their primals
  Plan,           ///< to plain memory in the place of adstacks
  Raise,          ///< to the words of one kind of target, in a module for each
  Write,          ///< module to product
};

struct Pass {
  std::string_view name;
  Stage stage;
  /// False after it has reported an error. Null: a step of the driver that is no pass over a module.
  bool (*run)(PipelineState& state);
  ir::Phase first, last;           ///< the phases that it runs in
  verify::Form form;               ///< the form that it asks of a module in Phase::Parsed
  std::optional<ir::Phase> gives;  ///< the phase of the module after it; empty: the same as before
  std::string_view summary;
  /// Whether a compilation runs it; null: all do.
  bool (*wanted)(const CompileOptions& options) = nullptr;
  /// Its results beside the module last until the next pass, which has to be this one; empty: any.
  std::string_view hands_to = {};
  /// The pass that has to have run right before it; empty: none.
  std::string_view needs = {};

  bool RunsIn(ir::Phase phase) const { return first <= phase && phase <= last; }
};

/// All of them, in the order in which a compilation runs them. A name may stand there more than once.
std::span<const Pass> Pipeline();

/// The pass that is called `name`; null where there is none.
const Pass* FindPass(std::string_view name);

/// The names of the table, each once, in its order.
std::vector<std::string_view> PassNames();
/// Those after which there is a module to print.
std::vector<std::string_view> DumpNames();

/// "parsed", "scalar", "differentiated", "lowered", "raised"
std::string_view PhaseName(ir::Phase phase);

/// Runs `pass` where its phase has come, which the caller sees to, and advances the phase. False after
/// errors.
bool RunPass(const Pass& pass, PipelineState& state);

/// Runs the passes of a stage that the options ask for, unwatched. False after errors.
bool RunStage(Stage stage, PipelineState& state);

/// Brings a verified module into Phase::Scalar, from which differentiation starts, with default options.
/// False after errors.
bool Normalise(ir::Module& module, diag::Diagnostics& diagnostics, const CompileOptions& options = {});

}  // namespace adc::driver
