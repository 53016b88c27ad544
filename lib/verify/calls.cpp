// The graph of calls: no cycles, and the memory that a call writes without its caller's knowledge. Functions
// are finished in the order of a depth-first walk, callees first, so that one pass over their instructions
// knows what each call writes.

#include "diag/errors/verify.h"
#include "ir/module.h"
#include "verify/rules.h"

namespace adc::verify {

using ir::Function, ir::Inst, ir::InstData, ir::Op, ir::Value, ir::ValueKind;

namespace {

constexpr uint32_t kNobody = UINT32_MAX;

struct Call {
  uint32_t callee = kNobody;
  Inst inst;
};

class CallChecker {
 public:
  CallChecker(Context& context, const std::vector<std::vector<Inst>>& bodies)
      : context_(context), module_(context.module), bodies_(bodies) {}

  void Check() {
    size_t count = module_.functions.size();
    for (uint32_t n = 0; n < count; ++n) positions_.emplace(module_.functions[n]->name, n);
    calls_.resize(count);
    written_.resize(count);
    for (uint32_t n = 0; n < count; ++n) FindCalls(n);
    state_.assign(count, State::New);
    reported_.assign(count, 0);
    for (uint32_t n = 0; n < count; ++n) {
      if (state_[n] == State::New) Walk(n);
    }
  }

 private:
  enum class State : uint8_t { New, Open, Done };

  const Function& FunctionAt(uint32_t n) const { return *module_.functions[n]; }

  void FindCalls(uint32_t n) {
    const Function& function = FunctionAt(n);
    auto add = [&](Inst inst) {
      if (function[inst].op != Op::Call) return;
      auto found = positions_.find(function[inst].symbol);
      bool calls_function = found != positions_.end() && !FunctionAt(found->second).IsKernel();
      if (calls_function) calls_[n].push_back({found->second, inst});
    };
    for (Inst inst : bodies_[n]) add(inst);
    // Of a function whose text had errors, the table still says whom it calls.
    for (uint32_t raw = 0; function.broken && raw < function.InstCount(); ++raw) add(Inst(raw));
  }

  void Walk(uint32_t root) {
    struct Frame {
      uint32_t function;
      size_t next;
    };
    std::vector<Frame> frames{{root, 0}};
    state_[root] = State::Open;
    while (!frames.empty()) {
      Frame& frame = frames.back();
      const std::vector<Call>& calls = calls_[frame.function];
      if (frame.next == calls.size()) {
        state_[frame.function] = State::Done;
        Finish(frame.function);
        frames.pop_back();
        continue;
      }
      Call call = calls[frame.next++];
      if (state_[call.callee] == State::New) {
        state_[call.callee] = State::Open;
        frames.push_back({call.callee, 0});
      } else if (state_[call.callee] == State::Open && reported_[call.callee] == 0) {
        reported_[call.callee] = 1;
        std::vector<std::pair<uint32_t, Inst>> cycle;
        size_t first = 0;
        while (frames[first].function != call.callee) ++first;
        for (size_t n = first; n < frames.size(); ++n)
          cycle.emplace_back(frames[n].function, calls_[frames[n].function][frames[n].next - 1].inst);
        ReportCycle(cycle);
      }
    }
  }

  void ReportCycle(const std::vector<std::pair<uint32_t, Inst>>& cycle) {
    constexpr size_t kMostNotes = 16;
    const Function& first = FunctionAt(cycle[0].first);
    diag::Diagnostic& error = context_.Error(diag::E0203, first.span,
                                             context_.Symbol(first.name) + " calls itself" +
                                                 (cycle.size() == 1 ? "" : " through other functions"));
    for (size_t n = 0; n < cycle.size() && n < kMostNotes; ++n) {
      const Function& caller = FunctionAt(cycle[n].first);
      const InstData& call = caller[cycle[n].second];
      error.AddNote(call.span,
                    context_.Symbol(caller.name) + " calls " + context_.Symbol(call.symbol) + " here");
    }
    if (cycle.size() > kMostNotes)
      error.AddNote({}, "and so on, through " + std::to_string(cycle.size() - kMostNotes) + " more");
    error.AddHelp("functions are inlined; write a loop instead");
  }

  /// Which parameters the function writes, now that its callees are known; reports those that are readonly.
  void Finish(uint32_t n) {
    const Function& function = FunctionAt(n);
    written_[n].assign(function.params.size(), 0);
    for (Inst inst : bodies_[n]) {
      const InstData& data = function[inst];
      if (data.op == Op::Store || data.op == Op::AddTo || ir::IsAtomic(data.op)) {
        if (data.operand_count != 0) Written(n, inst, function.Operand(inst, 0));
      } else if (data.op == Op::Call) {
        auto found = positions_.find(data.symbol);
        if (found == positions_.end() || state_[found->second] != State::Done) continue;
        const std::vector<unsigned char>& callee = written_[found->second];
        std::span<const Value> arguments = function.Operands(inst);
        for (size_t a = 0; a < arguments.size() && a < callee.size(); ++a) {
          if (callee[a] != 0) Written(n, inst, arguments[a]);
        }
      }
    }
  }

  void Written(uint32_t n, Inst inst, Value base) {
    const Function& function = FunctionAt(n);
    if (base.raw >= function.ValueCount()) return;
    const ir::ValueData& data = function[base];
    if (data.kind != ValueKind::BlockParam || data.owner != function.Body().raw ||
        data.number >= written_[n].size())
      return;
    bool first = written_[n][data.number] == 0;
    written_[n][data.number] = 1;
    const ir::ParamInfo& info = function.params[data.number];
    if (!info.readonly || !first) return;
    std::string how = function[inst].op == Op::Call ? " is written by the function that is called here"
                                                    : " is written here";
    context_
        .Error(diag::E0204, function[inst].span, context_.ValueName(data.name) + " is 'readonly' and" + how)
        .AddNote(info.span, "it is declared here")
        .AddHelp("drop 'readonly'");
  }

  Context& context_;
  const ir::Module& module_;
  const std::vector<std::vector<Inst>>& bodies_;
  std::unordered_map<StringId, uint32_t> positions_;
  std::vector<std::vector<Call>> calls_;
  std::vector<std::vector<unsigned char>> written_;
  std::vector<State> state_;
  std::vector<unsigned char> reported_;  ///< functions whose cycle has been reported
};

}  // namespace

void CheckCalls(Context& context, const std::vector<std::vector<Inst>>& bodies) {
  CallChecker(context, bodies).Check();
}

}  // namespace adc::verify
