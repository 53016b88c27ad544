// One walk over the body, in textual order and without recursion, with the set of visible values brought up
// to date: a value enters it after its definition and leaves it at the end of its region. The values of a
// while's condition stay for its body. Every block and instruction is met at most once, so that the walk ends
// whatever the tables hold.

#include "diag/errors/parse.h"
#include "diag/errors/verify.h"
#include "ir/check.h"
#include "ir/known.h"
#include "ir/module.h"
#include "verify/rules.h"

namespace adc::verify {

using ir::Block, ir::Function, ir::Inst, ir::InstData, ir::Op, ir::Type, ir::Value, ir::ValueKind;

namespace {

class StructureChecker {
 public:
  StructureChecker(Context& context, const Function& function, std::vector<Inst>& order)
      : context_(context),
        module_(context.module),
        function_(function),
        order_(order),
        visible_(function.ValueCount(), 0),
        met_inst_(function.InstCount(), 0),
        met_block_(function.BlockCount(), 0) {}

  bool Check() {
    if (function_.params.size() != function_.Params().size()) {
      Structure(function_.span, "the body does not begin with the parameters of its function");
      return false;
    }
    Enter(function_.Body(), Inst());
    while (!frames_.empty()) Step();
    return sound_;
  }

 private:
  struct Frame {
    Block block;
    size_t next = 0;
    Inst open = {};            ///< the instruction whose region is being walked
    uint32_t region = 0;       ///< which one
    size_t inner_defined = 0;  ///< values that were visible before it
  };

  void Structure(diag::SourceSpan span, std::string text) {
    context_.Error(diag::E0202, span, std::move(text));
    sound_ = false;
  }

  /// Reports the values that stand at the end of a region that belongs to `span`.
  void BadEnd(diag::SourceSpan place, std::string text, diag::SourceSpan span, const char* note) {
    context_.Error(diag::E0116, place, std::move(text)).AddNote(span, note);
    sound_ = false;
  }

  void DefineValue(Value v) {
    if (!Known(function_, v)) return;
    visible_[v.raw] = 1;
    defined_.push_back(v);
  }
  void UndefineDownTo(size_t count) {
    while (defined_.size() > count) {
      visible_[defined_.back().raw] = 0;
      defined_.pop_back();
    }
  }

  void Step() {
    Frame& frame = frames_.back();
    if (frame.open.Valid()) {
      const InstData& open = function_[frame.open];
      if (frame.region == 0 && open.regions[1].Valid()) {
        frame.region = 1;
        if (open.op != Op::While) UndefineDownTo(frame.inner_defined);
        Enter(open.regions[1], frame.open);
        return;
      }
      UndefineDownTo(frame.inner_defined);
      DefineResults(frame.open);
      frame.open = Inst();
    }
    const std::vector<Inst>& insts = function_[frame.block].insts;
    if (frame.next == insts.size()) {
      frames_.pop_back();
      return;
    }
    Inst inst = insts[frame.next++];
    bool follow = CheckInst(inst, frame.block, frame.next == insts.size());
    if (!Known(function_, inst)) return;
    const InstData& data = function_[inst];
    if (!follow || !data.regions[0].Valid()) return DefineResults(inst);
    frame.open = inst;
    frame.region = 0;
    frame.inner_defined = defined_.size();
    Enter(data.regions[0], inst);
  }

  void DefineResults(Inst inst) {
    const InstData& data = function_[inst];
    for (uint32_t n = 0; n < data.result_count; ++n) DefineValue(function_.Result(inst, n));
  }

  void Enter(Block block, Inst owner) {
    diag::SourceSpan span = owner.Valid() ? function_[owner].span : function_.span;
    if (!Known(function_, block)) return Structure(span, "a region that the function does not have");
    if (met_block_[block.raw] != 0) return Structure(span, "a region that stands in two places");
    met_block_[block.raw] = 1;
    if (function_[block].owner != owner) Structure(span, "a region whose owner is another instruction");
    for (Value v : function_[block].params) {
      if (!Known(function_, v) || function_[v].kind != ValueKind::BlockParam ||
          function_[v].owner != block.raw) {
        Structure(span, "a region begins with a value that is no parameter of it");
      } else {
        DefineValue(v);
      }
    }
    CheckEnd(block, owner, span);
    frames_.push_back({block});
  }

  void CheckEnd(Block block, Inst owner, diag::SourceSpan span) {
    const std::vector<Inst>& insts = function_[block].insts;
    bool known = !insts.empty() && Known(function_, insts.back());
    if (known && function_[insts.back()].op == Op::Exit) return CheckExit(insts, block, span);
    if (known && owner.Valid() && CheckLeave(insts.back(), block, owner, span)) return;
    Op wanted = !owner.Valid()                                                             ? Op::Return
                : function_[owner].op == Op::While && block == function_[owner].regions[0] ? Op::ContinueIf
                                                                                           : Op::Yield;
    if (!known || function_[insts.back()].op != wanted) {
      std::string of = owner.Valid() ? " of " + ir::OpName(function_[owner].op) : std::string();
      return Structure(span, "a region" + of + " does not end with " + ir::OpName(wanted));
    }
    std::vector<Type> types = EndTypes(owner, wanted);
    std::span<const Value> values = function_.Operands(insts.back());
    diag::SourceSpan place = function_[insts.back()].span.Valid() ? function_[insts.back()].span : span;
    constexpr const char* kNote = "the region belongs to this";
    if (values.size() != types.size())
      return BadEnd(place,
                    ir::OpName(wanted) + " has " + std::to_string(values.size()) +
                        " values, its region asks for " + std::to_string(types.size()),
                    span, kNote);
    for (size_t n = 0; n < values.size(); ++n) {
      if (Known(function_, values[n]) && function_.TypeOf(values[n]) == types[n]) continue;
      std::string is =
          Known(function_, values[n]) ? TypeName(module_, function_.TypeOf(values[n])) : "no value";
      BadEnd(place,
             "value " + std::to_string(n + 1) + " of " + ir::OpName(wanted) + " is " + is +
                 ", its place asks for " + TypeName(module_, types[n]),
             span, kNote);
    }
  }

  /// True for a branch or the body of a loop that ends with `break` or `continue`, which is checked here.
  bool CheckLeave(Inst end, Block block, Inst owner, diag::SourceSpan span) {
    Op op = function_[end].op;
    if (op != Op::Break && op != Op::Continue) return false;
    Inst loop = owner;
    while (function_[loop].op == Op::If || function_[loop].op == Op::Scope) {
      block = function_[loop].parent;
      if (!Known(function_, block) || !function_[block].owner.Valid()) break;
      loop = function_[block].owner;
      if (!Known(function_, loop)) return false;
    }
    const InstData& data = function_[loop];
    bool body = data.op == Op::For || (data.op == Op::While && block == data.regions[1]) ||
                (op == Op::Continue && (data.op == Op::Parallel || data.op == Op::ParallelOver));
    if (!body || module_.phase != ir::Phase::Parsed) {
      Structure(span, ir::OpName(op) + " stands where there is no loop that it can leave");
      return true;
    }
    CheckLeavingValues(end, loop, function_.Operands(end));
    return true;
  }

  void CheckLeavingValues(Inst end, Inst target, std::span<const Value> values) {
    const InstData& data = function_[target];
    bool fits = values.size() == data.result_count;
    for (uint32_t n = 0; fits && n < values.size(); ++n) {
      Value result = function_.Result(target, n);
      fits = Known(function_, values[n]) && Known(function_, result) &&
             function_.TypeOf(values[n]) == function_.TypeOf(result);
    }
    if (fits) return;
    bool scope = data.op == Op::Scope;
    BadEnd(function_[end].span.Valid() ? function_[end].span : data.span,
           "the values of " + ir::OpName(function_[end].op) + " are not those that its " +
               (scope ? "scope gives" : "loop carries"),
           data.span, scope ? "the scope" : "the loop");
  }

  /// An `exit`: its scope is around it, with nothing between but branches, bodies of loops, and scopes.
  void CheckExit(const std::vector<Inst>& insts, Block block, diag::SourceSpan span) {
    Inst end = insts.back();
    if (module_.phase != ir::Phase::Parsed) return Structure(span, "'exit' stands where there are no scopes");
    if (function_[end].operand_count == 0) {
      if (insts.size() < 2 || !IsLeftByBoth(function_, insts[insts.size() - 2]))
        Structure(span, "an 'exit' that names no scope stands where control may get to");
      return;
    }
    Value label = function_.Operand(end, 0);
    bool named = Known(function_, label) && function_[label].kind == ValueKind::BlockParam &&
                 function_.TypeOf(label) == ir::kLabel;
    while (named && Known(function_, block) && Known(function_, function_[block].owner)) {
      Inst owner = function_[block].owner;
      const InstData& data = function_[owner];
      if (data.op == Op::Scope && block.raw == function_[label].owner)
        return CheckLeavingValues(end, owner, function_.Operands(end).subspan(1));
      bool passes = data.op == Op::If || data.op == Op::Scope || data.op == Op::For ||
                    (data.op == Op::While && block == data.regions[1]);
      if (!passes) break;
      block = data.parent;
    }
    Structure(span, "'exit' stands where there is no scope that it can leave");
  }

  std::vector<Type> EndTypes(Inst owner, Op end) const {
    if (end == Op::Return) return function_.result_types;
    if (end == Op::ContinueIf) return {ir::kI1};
    std::vector<Type> types;
    const InstData& data = function_[owner];
    for (uint32_t n = 0; n < data.result_count; ++n) {
      Value v = function_.Result(owner, n);
      types.push_back(Known(function_, v) ? function_.TypeOf(v) : ir::kNoType);
    }
    return types;
  }

  /// False where nothing of the instruction may be followed.
  bool CheckInst(Inst inst, Block block, bool last) {
    if (!Known(function_, inst)) {
      Structure(function_.span, "an instruction that the function does not have");
      return false;
    }
    const InstData& data = function_[inst];
    if (met_inst_[inst.raw] != 0) {
      Structure(data.span, ir::OpName(data.op) + " stands in two places");
      return false;
    }
    met_inst_[inst.raw] = 1;
    order_.push_back(inst);
    if (data.parent != block)
      Structure(data.span, ir::OpName(data.op) + " does not know the region that it stands in");
    if (ir::IsTerminator(data.op) && !last) {
      context_.Error(diag::E0124, data.span, ir::OpName(data.op) + " stands before the end of its region");
      sound_ = false;
    }
    CheckVisible(inst);
    CheckPlace(inst, block);
    std::optional<ir::Misfit> misfit = ir::CheckInst(module_, function_, inst);
    if (!misfit) return true;
    context_.Error(misfit->id, data.span, misfit->text).AddHelp(misfit->help);
    // An instruction that breaks a rule may still hold regions, but not for long: its tables are not trusted.
    sound_ = false;
    return !ir::HasRegions(data.op);
  }

  void CheckVisible(Inst inst) {
    std::span<const Value> operands = function_.Operands(inst);
    for (size_t n = 0; n < operands.size(); ++n) {
      Value v = operands[n];
      if (!Known(function_, v)) continue;  // the rules of the instruction say so
      const ir::ValueData& data = function_[v];
      if (data.kind == ValueKind::Constant) continue;
      if (data.kind == ValueKind::Global) {
        bool fits = data.owner < module_.constants.size() && module_.constants[data.owner].type == data.type;
        if (!fits) Structure(function_[inst].span, "a module constant that the module does not have");
        continue;
      }
      if (visible_[v.raw] != 0) continue;
      sound_ = false;
      std::string name = data.name.Valid() ? " " + context_.ValueName(data.name) : std::string();
      diag::Diagnostic& error = context_.Error(diag::E0201, function_[inst].span,
                                               "operand " + std::to_string(n + 1) + name + " of " +
                                                   ir::OpName(function_[inst].op) + " is not visible here");
      Inst definition = function_.DefiningInst(v);
      if (Known(function_, definition)) error.AddNote(function_[definition].span, "it is defined here");
    }
  }

  void CheckPlace(Inst inst, Block block) {
    const InstData& data = function_[inst];
    if (data.op == Op::Barrier || data.op == Op::Alloca) return CheckWorkgroupPlace(inst, block);
    if (data.op != Op::Parallel && data.op != Op::ParallelOver) return;
    // As the text has it, it may also stand in branches, scopes and loops that are unrolled.
    while (module_.phase == ir::Phase::Parsed && block != function_.Body()) {
      Inst owner = function_[block].owner;
      if (!Known(function_, owner)) break;
      const InstData& around = function_[owner];
      bool unrolled = (around.op == Op::For || around.op == Op::While) && around.Has(ir::Word::Unroll);
      if (around.op != Op::If && around.op != Op::Scope && !unrolled) break;
      block = around.parent;
    }
    if (function_.IsKernel() && block == function_.Body()) return;
    context_.Error(diag::E0125, data.span, "'parallel' stands at the top level of a kernel")
        .AddHelp("write 'for' here, or add the loop as a further axis");
    sound_ = false;
  }

  /// A barrier waits for a workgroup, a shared array is one's. A function is called where there may be one.
  void CheckWorkgroupPlace(Inst inst, Block block) {
    const InstData& data = function_[inst];
    bool is_shared = data.op == Op::Alloca && data.Has(ir::Word::Shared);
    bool in_function = data.op == Op::Barrier && !function_.IsKernel();
    if ((data.op == Op::Alloca && !is_shared) || in_function) return;
    for (; block != function_.Body(); block = function_[function_[block].owner].parent) {
      Inst owner = function_[block].owner;
      if (!Known(function_, owner)) return;
      const InstData& around = function_[owner];
      if (around.op == Op::Parallel && around.Has(ir::Word::Workgroup)) return;
      if (is_shared) break;
    }
    context_
        .Error(diag::E0125, data.span,
               is_shared ? "a 'shared' array stands right in a 'parallel' that is marked 'workgroup'"
                         : "'barrier' stands in a 'parallel' that is marked 'workgroup'")
        .AddHelp("write 'parallel %g, %l in 0..%groups, 0..64 workgroup { ... }' around it");
    sound_ = false;
  }

  Context& context_;
  const ir::Module& module_;
  const Function& function_;
  std::vector<Inst>& order_;
  std::vector<unsigned char> visible_;
  std::vector<unsigned char> met_inst_;
  std::vector<unsigned char> met_block_;
  std::vector<Value> defined_;
  std::vector<Frame> frames_;
  bool sound_ = true;
};

}  // namespace

bool CheckStructure(Context& context, const Function& function, std::vector<Inst>* order) {
  return StructureChecker(context, function, *order).Check();
}

}  // namespace adc::verify
