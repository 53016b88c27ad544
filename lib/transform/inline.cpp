// Callees first. Functions are put in an order in which every function stands after those it calls; each is
// inlined once into its final form, so that a call is replaced by one copy and no body is walked again. The
// size of the result is added up over that order before the first copy is made.

#include "transform/inline.h"

#include <algorithm>

#include "analysis/structure.h"
#include "diag/errors/transform.h"
#include "ir/module.h"
#include "transform/rewriter.h"

namespace adc::transform {
namespace {

using diag::ErrorId;
using ir::Block, ir::Function, ir::Inst, ir::Module, ir::Op, ir::Value;

/// The measure of an inlined function: its size, its nesting, and the call that contributes most to either.
struct Measure {
  uint64_t instructions = 0;
  uint32_t nesting = 0;
  Inst largest_call, deepest_call;
};

bool HasOwnDerivative(const Function& function) {
  return function.vjp.Valid() || function.jvp.Valid();
}

/// A function that works in place on buffers. A call of it that stays for its derivative holds its body as
/// a region, so that everything that asks what memory a kernel touches sees it.
bool TakesMemory(const Function& function) {
  for (Value param : function.Params()) {
    if (!function.TypeOf(param).IsRegister()) return true;
  }
  return false;
}

bool IsOpened(const Function& function, Inst call) {
  return function.RegionCount(call) != 0;
}

class InlineRewriter final : public Rewriter {
 public:
  InlineRewriter(Module& module, const Function& from, const InlineConfig& config)
      : Rewriter(module, from, config.fold), config_(config) {}

 private:
  void Visit(Inst inst) override {
    if (from_[inst].op != Op::Call) return Copy(inst);
    const Function& callee = *module_.Find(from_[inst].symbol);
    bool stays = config_.keep_custom_derivatives && HasOwnDerivative(callee);
    if (stays && (IsOpened(from_, inst) || !TakesMemory(callee))) return Copy(inst);
    if (IsOpened(from_, inst)) return VisitContents(from_[inst].regions[0]);
    if (stays) return Open(inst, callee);
    Paste(inst, callee);
  }

  /// The call with its body as a region.
  void Open(Inst inst, const Function& callee) {
    Inst call = CopyShell(inst, MapAll(from_.Operands(inst)));
    Block region = into_->NewBlock(call);
    (*into_)[call].regions[0] = region;
    InBlock(region, [&] {
      Paste(inst, callee);
      builder_.Yield({});
    });
  }

  void Paste(Inst inst, const Function& callee) {
    ir::ValueMap callee_map;
    for (uint32_t n = 0; n < callee.Params().size(); ++n)
      callee_map[callee.Params()[n]] = Map(from_.Operand(inst, n));
    ir::Cloner cloner(callee, builder_, callee_map);
    cloner.CloneBody(callee.Body(), false);
    Inst exit = callee.Terminator(callee.Body());
    for (uint32_t n = 0; n < from_[inst].result_count; ++n) {
      Value value = cloner.Map(callee.Operand(exit, n));
      SetMapped(from_.Result(inst, n), value);
      // The caller's name says more about a value than the callee's.
      if ((*into_)[value].kind == ir::ValueKind::Result && from_[from_.Result(inst, n)].name.Valid())
        (*into_)[value].name = from_[from_.Result(inst, n)].name;
    }
  }

  const InlineConfig& config_;
};

class InlinePass {
 public:
  InlinePass(Module& module, const InlineConfig& config, diag::Diagnostics& diagnostics)
      : module_(module), config_(config), diagnostics_(diagnostics) {}

  bool Run() {
    ReachAll();
    if (!MeasureAll()) return false;
    for (uint32_t n : order_) {
      if (!HasInlinedCall(*module_.functions[n])) continue;
      InlineRewriter rewriter(module_, *module_.functions[n], config_);
      *module_.functions[n] = std::move(*rewriter.Run());
    }
    ReachAll();
    module_.KeepFunctions(reached_);
    return true;
  }

 private:
  bool StaysCalled(const Function& callee) const {
    return config_.keep_custom_derivatives && HasOwnDerivative(callee);
  }

  bool HasInlinedCall(const Function& function) const {
    for (uint32_t n = 0; n < function.InstCount(); ++n) {
      Inst inst(n);
      if (function[inst].op != Op::Call) continue;
      const Function& callee = *module_.Find(function[inst].symbol);
      if (!StaysCalled(callee) || (TakesMemory(callee) && !IsOpened(function, inst))) return true;
    }
    return false;
  }

  uint32_t PositionOf(StringId symbol) {
    if (positions_.empty()) {
      for (uint32_t n = 0; n < module_.functions.size(); ++n)
        positions_.emplace(module_.functions[n]->name, n);
    }
    return positions_.at(symbol);
  }

  std::vector<uint32_t> Callees(const Function& function) {
    std::vector<uint32_t> callees;
    for (uint32_t n = 0; n < function.InstCount(); ++n) {
      if (function[Inst(n)].op == Op::Call) callees.push_back(PositionOf(function[Inst(n)].symbol));
    }
    return callees;
  }

  /// Puts everything that the kernels need into order_, callees before callers. A derivative that a function
  /// names is needed too, but not called by it (it may call the function in turn): it starts a walk of its
  /// own.
  void ReachAll() {
    order_.clear();
    positions_.clear();
    reached_.assign(module_.functions.size(), 0);
    std::vector<uint32_t> roots;
    for (uint32_t n = 0; n < module_.functions.size(); ++n) {
      if (module_.functions[n]->IsKernel() || config_.keep_functions) roots.push_back(n);
    }
    for (size_t next = 0; next < roots.size(); ++next) Reach(roots[next], roots);
  }

  void Reach(uint32_t root, std::vector<uint32_t>& roots) {
    struct Frame {
      uint32_t position;
      std::vector<uint32_t> callees;
      size_t next = 0;
    };
    std::vector<Frame> stack;
    auto enter = [&](uint32_t position) {
      if (reached_[position]) return;
      reached_[position] = 1;
      const Function& function = *module_.functions[position];
      // Once every call is inlined, nothing asks for derivatives of functions.
      for (StringId own : {function.vjp, function.jvp, function.grad}) {
        if (own.Valid() && (function.IsKernel() || config_.keep_custom_derivatives))
          roots.push_back(PositionOf(own));
      }
      stack.push_back({position, Callees(function)});
    };
    enter(root);
    while (!stack.empty()) {
      Frame& top = stack.back();
      if (top.next < top.callees.size()) {
        enter(top.callees[top.next++]);
        continue;
      }
      order_.push_back(top.position);
      stack.pop_back();
    }
  }

  bool MeasureAll() {
    measures_.resize(module_.functions.size());
    constexpr uint64_t kHuge = uint64_t{1} << 48;
    for (uint32_t n : order_) {
      const Function& function = *module_.functions[n];
      analysis::Structure structure(function);
      Measure& measure = measures_[n];
      uint64_t largest = 0;
      for (Inst inst : structure.Order()) {
        uint32_t depth = structure.Depth(function[inst].parent);
        measure.nesting = std::max(measure.nesting, depth);
        measure.instructions += 1;
        if (function[inst].op != Op::Call) continue;
        uint32_t callee = PositionOf(function[inst].symbol);
        if (StaysCalled(*module_.functions[callee]) && !TakesMemory(*module_.functions[callee])) continue;
        const Measure& inner = measures_[callee];
        measure.instructions = std::min(measure.instructions + inner.instructions, kHuge);
        if (inner.instructions >= largest) {
          largest = inner.instructions;
          measure.largest_call = inst;
        }
        if (depth + inner.nesting > measure.nesting) {
          measure.nesting = depth + inner.nesting;
          measure.deepest_call = inst;
        }
      }
    }
    bool fits = true;
    for (uint32_t n : order_) {
      const Function& function = *module_.functions[n];
      const Measure& measure = measures_[n];
      if (!function.IsKernel() && !StaysCalled(function)) continue;
      if (measure.instructions > config_.instruction_limit) {
        bool calls = measure.largest_call.Valid();
        std::string name = "'" + std::string(module_.Text(function.name)) + "'";
        Report(diag::E0301, n, &Measure::largest_call,
               (calls ? "inlining makes " + name + " larger than " : name + " has more than ") +
                   std::to_string(config_.instruction_limit) + " instructions",
               calls ? "call the functions along this chain from a loop instead of several times each, or "
                       "allow more with --limit-operations=N"
                     : "allow more with --limit-operations=N");
        fits = false;
      } else if (measure.nesting > config_.nesting_limit) {
        Report(diag::E0302, n, &Measure::deepest_call,
               "inlining nests the regions of '" + std::string(module_.Text(function.name)) +
                   "' deeper than " + std::to_string(config_.nesting_limit),
               "flatten the functions along this chain");
        fits = false;
      }
    }
    return fits;
  }

  /// An error whose notes walk down the chain of calls that `call` of each measure names.
  void Report(ErrorId id, uint32_t position, Inst Measure::* call, std::string text, const char* help) {
    constexpr uint32_t kShown = 8;
    const Function& root = *module_.functions[position];
    diag::Diagnostic& error = diagnostics_.Error(id, root.span, std::move(text));
    for (uint32_t shown = 0; shown < kShown; ++shown) {
      const Function& function = *module_.functions[position];
      Inst inst = measures_[position].*call;
      if (!inst.Valid()) break;
      position = PositionOf(function[inst].symbol);
      error.AddNote(function[inst].span,
                    "'" + std::string(module_.Text(function.name)) + "' calls '" +
                        std::string(module_.Text(function[inst].symbol)) + "', which becomes " +
                        std::to_string(measures_[position].instructions) + " instructions");
    }
    error.AddHelp(help);
  }

  Module& module_;
  const InlineConfig& config_;
  diag::Diagnostics& diagnostics_;
  std::unordered_map<StringId, uint32_t> positions_;
  std::vector<unsigned char> reached_;
  std::vector<uint32_t> order_;
  std::vector<Measure> measures_;
};

}  // namespace

bool Inline(Module& module, const InlineConfig& config, diag::Diagnostics& diagnostics) {
  return InlinePass(module, config, diagnostics).Run();
}

}  // namespace adc::transform
