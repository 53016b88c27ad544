#pragma once
// The loops of a gradient that a bounds record holds, and the places where their trips are known.

#include "adstack/plan.h"
#include "counting/repeatable.h"

namespace adc::counting {

/// When the trips of a loop are evaluated.
enum class RecordedAt : uint8_t {
  Launch,     ///< once: they rest on values of the whole kernel, and no branch decides whether it is reached
  Iteration,  ///< at its head; it runs at most once per iteration of its task
  Visit,      ///< at its head, which an iteration may come to often
};

struct LoopChoice {
  ir::Inst loop;  ///< for, while, parallel
  uint32_t task = 0;
  RecordedAt at = RecordedAt::Launch;
};

/// A choice of loops, in textual order.
///
/// A gradient runs a loop of its primal up to as many times as loops nest around it: once in the primal
/// sweep, again wherever the adjoint sweep reads what it computed, and reversed. All of these have the same
/// trips, so the first that can be evaluated stands for all. Where that is not so plain (a loop that the
/// primal has several times after inlining, one in segments, whose first run stops short, or one that the
/// primal does not have) every one is taken.
class RecordedLoops {
 public:
  /// `absent`: parameters whose value or content is not there when the record is made. `keeps_rows`: values
  /// that are popped from stacks in rows are known too.
  RecordedLoops(const ir::Module& module, const analysis::Structure& structure,
                const adstack::AdstackPlan& plan, bool keeps_rows, const IndexSet<ir::Value>& absent);

  const std::vector<LoopChoice>& chosen() const { return chosen_; }
  /// Places of loops of which no copy can be evaluated, each once.
  const std::vector<diag::SourceSpan>& missed() const { return missed_; }
  const Repeatable& repeatable(uint32_t task) const { return repeatable_[task]; }
  const std::vector<analysis::Task>& tasks() const { return tasks_; }

 private:
  struct Copies {
    ir::Op op;
    diag::SourceSpan place;
    bool one_is_enough = false;
    bool one_is_known = false;
    bool one_is_lost = false;
  };

  Copies& CopiesOf(ir::Inst loop);
  void Visit(ir::Inst inst, uint32_t task);
  bool Knows(ir::Inst loop, uint32_t task, RecordedAt* at) const;
  bool IsFixed(ir::Inst loop);
  bool IsFixed(ir::Value value);
  bool FindFixed(ir::Value value);
  bool IsOfLaunch(ir::Value value, uint32_t task) const;
  std::span<const ir::Value> Bounds(ir::Inst loop) const;

  const analysis::Structure& structure_;
  const ir::Function& from_;
  IndexSet<ir::Value> absent_;
  std::vector<analysis::Task> tasks_;
  std::vector<Repeatable> repeatable_;
  IndexSet<ir::Value> examined_, fixed_;
  bool in_segments_ = false;
  std::vector<std::pair<diag::SourceSpan, ir::Op>> in_primal_;  ///< every loop of the primal
  std::vector<Copies> copies_;
  std::vector<LoopChoice> chosen_;
  std::vector<diag::SourceSpan> missed_;
};

}  // namespace adc::counting
