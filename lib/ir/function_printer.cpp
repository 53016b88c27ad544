#include "ir/function_printer.h"

#include <unordered_map>

#include "ir/known.h"
#include "ir/module.h"
#include "ir/operation_printer.h"
#include "ir/param_words.h"

namespace adc::ir {
namespace {

class FunctionPrinter {
 public:
  FunctionPrinter(const Module& module, const Function& function, std::string& out)
      : module_(module),
        function_(function),
        out_(out),
        names_(module, function),
        print_(module, function, names_, out) {}

  void Print() {
    printed_.assign(function_.BlockCount(), 0);
    printed_[function_.Body().raw] = 1;
    for (const Comment& comment : function_.comments) {
      if (comment.before.Valid()) {
        before_[comment.before].push_back(comment.text);
      } else if (comment.at_end_of.Valid()) {
        at_end_[comment.at_end_of].push_back(comment.text);
      }
    }
    PrintComments(function_.leading_comments);
    PrintSignature();
    out_ += " {\n";
    ++depth_;
    PrintBlock(function_.Body(), /*owner=*/nullptr);
    --depth_;
    out_ += "}\n";
  }

 private:
  void Indent() { out_.append(2 * size_t{depth_}, ' '); }

  void PrintComments(std::span<const StringId> comments) {
    for (StringId text : comments) {
      Indent();
      out_ += module_.Text(text);
      out_ += '\n';
    }
  }

  void PrintSignature() {
    out_ += function_.IsKernel() ? "kernel " : "func ";
    print_.Symbol(function_.name);
    out_ += '(';
    std::span<const Value> params = function_.Params();
    for (size_t n = 0; n < params.size(); ++n) {
      if (n != 0) out_ += ", ";
      print_.Operand(params[n]);
      out_ += ": " + TypeName(module_, function_.TypeOf(params[n]));
      if (n >= function_.params.size()) continue;
      const ParamInfo& info = function_.params[n];
      for (const ParamWord& word : kParamWords)
        if (info.*word.flag) out_ += " " + std::string(word.text);
      if (info.role == ParamRole::Scratch) out_ += " scratch";
      if (info.role == ParamRole::Segment) out_ += " segment";
      if (info.role == ParamRole::Trips) out_ += " trips";
      if (info.role == ParamRole::Saved) out_ += " saved";
    }
    out_ += ')';
    for (size_t n = 0; n < function_.result_types.size(); ++n) {
      out_ += n == 0 ? " -> " : ", ";
      out_ += TypeName(module_, function_.result_types[n]);
    }
    Derivative(" vjp ", function_.vjp);
    Derivative(" jvp ", function_.jvp);
    Derivative(" grad ", function_.grad);
  }

  void Derivative(const char* word, StringId name) {
    if (!name.Valid()) return;
    out_ += word;
    print_.Symbol(name);
  }

  void PrintBlock(Block block, const InstData* owner) {
    Inst last;
    for (Inst inst : function_[block].insts) {
      if (!Known(function_, inst)) continue;
      const InstData& data = function_[inst];
      if (auto found = before_.find(inst); found != before_.end()) PrintComments(found->second);
      bool ends = IsTerminator(data.op);
      bool leaves = IsLeave(data.op);
      if (ends && data.operand_count == 0 && (!leaves || data.op == Op::Exit)) continue;
      if (leaves && IsLeftByBoth(function_, last)) continue;  // nothing gets there, and reading puts it back
      last = inst;
      Indent();
      if (ends) {
        PrintTerminator(inst, block, owner);
      } else {
        PrintStatement(inst);
      }
      out_ += '\n';
    }
    if (auto found = at_end_.find(block); found != at_end_.end()) PrintComments(found->second);
  }

  void PrintTerminator(Inst inst, Block block, const InstData* owner) {
    const InstData& data = function_[inst];
    out_ += InfoOf(data.op).spelling;
    std::span<const Value> values = function_.Operands(inst);
    for (uint32_t n = 0; n < values.size(); ++n) {
      out_ += n == 0 ? " " : ", ";
      if (data.op == Op::ContinueIf) {
        print_.Asked(values[n], kI1);
      } else if (data.op == Op::Break || data.op == Op::Continue) {
        print_.Asked(values[n], CarriedType(block, n));
      } else if (data.op == Op::Exit) {
        print_.Asked(values[n], n == 0 ? kNoType : function_.TypeOf(values[n]));
      } else if (data.op == Op::Return) {
        print_.Asked(values[n], n < function_.result_types.size() ? function_.result_types[n] : kNoType);
      } else if (owner != nullptr && owner->op == Op::If) {
        PrintBranchValue(*owner, block, n, values[n]);
      } else if (owner != nullptr && n < owner->result_count) {
        print_.Asked(values[n], function_.TypeOf(Value(owner->first_result.raw + n)));
      } else {
        print_.Alone(values[n]);
      }
    }
  }

  /// The type of a carried value of the loop around `block`.
  Type CarriedType(Block block, uint32_t position) const {
    Inst owner = function_[block].owner;
    while (Known(function_, owner) && (function_[owner].op == Op::If || function_[owner].op == Op::Scope) &&
           Known(function_, function_[owner].parent))
      owner = function_[function_[owner].parent].owner;
    if (!Known(function_, owner) || position >= function_[owner].result_count) return kNoType;
    return function_.TypeOf(Value(function_[owner].first_result.raw + position));
  }

  /// A value that a branch yields takes its type from the other branch; two literals state it in the first.
  void PrintBranchValue(const InstData& owner, Block block, uint32_t position, Value v) {
    bool first = block == owner.regions[0];
    Block other = owner.regions[first ? 1 : 0];
    bool ends = Known(function_, other) && !function_[other].insts.empty() &&
                Known(function_, function_[other].insts.back());
    Inst end = ends ? function_.Terminator(other) : Inst();
    if (!end.Valid() || function_[end].op != Op::Yield || position >= function_[end].operand_count)
      return print_.Alone(v);
    Value opposite = function_.Operand(end, position);
    Value pair[] = {v, opposite};
    print_.Operand(v, first && print_.GroupNeedsType(pair));
  }

  void PrintStatement(Inst inst) {
    const InstData& data = function_[inst];
    if (data.Has(Word::Cut)) out_.append(Spelling(Word::Cut)).append(" ");
    if (names_.ShowsResults(inst)) {
      for (uint32_t n = 0; n < data.result_count; ++n) {
        if (n != 0) out_ += ", ";
        print_.Operand(function_.Result(inst, n));
      }
      out_ += " = ";
    }
    if (InfoOf(data.op).form == OpForm::Control) {
      PrintControl(inst);
    } else {
      PrintOperation(module_, function_, inst, print_, out_);
    }
  }

  void PrintRegion(Block block, const InstData& owner) {
    out_ += "{\n";
    ++depth_;
    if (Known(function_, block) && printed_[block.raw] == 0) {
      printed_[block.raw] = 1;
      PrintBlock(block, &owner);
    }
    --depth_;
    Indent();
    out_ += '}';
  }

  Value Param(Block block, uint32_t position) const {
    if (!Known(function_, block) || position >= function_[block].params.size()) return {};
    return function_[block].params[position];
  }

  void Carry(Block block, uint32_t first_param, std::span<const Value> initial) {
    if (initial.empty()) return;
    out_ += " carry(";
    for (uint32_t n = 0; n < initial.size(); ++n) {
      if (n != 0) out_ += ", ";
      print_.Operand(Param(block, first_param + n));
      out_ += " = ";
      print_.Alone(initial[n]);
    }
    out_ += ')';
  }

  void PrintControl(Inst inst) {
    const InstData& data = function_[inst];
    std::span<const Value> operands = function_.Operands(inst);
    if (data.op == Op::For) PrintFor(data, operands);
    if (data.op == Op::While) PrintWhile(data, operands);
    if (data.op == Op::If) PrintIf(inst, operands);
    if (data.op == Op::Scope) PrintScope(data);
    if (data.op == Op::Parallel) PrintParallel(inst, operands);
    if (data.op == Op::ParallelOver) PrintParallelOver(inst, operands);
  }

  void PrintFor(const InstData& data, std::span<const Value> operands) {
    out_ += "for ";
    print_.Operand(Param(data.regions[0], 0));
    out_ += " in ";
    if (operands.size() < 3) {
      out_ += "<too few operands>";
      return;
    }
    std::span<const Value> bounds = operands.subspan(0, 3);
    bool default_step = print_.IsLiteral(bounds[2]) && function_.IntegerConstant(bounds[2]) == 1;
    print_.Range(bounds[0], bounds[1], print_.GroupNeedsType(default_step ? bounds.subspan(0, 2) : bounds));
    PrintWord(data, Word::Reversed);
    if (!default_step) {
      out_ += " step ";
      print_.Operand(bounds[2]);
    }
    Carry(data.regions[0], 1, operands.subspan(3));
    PrintWord(data, Word::Unroll);
    Checkpoint(data);
    if (PrintWord(data, Word::Apart) && data.attr != kNoAttr) out_ += " " + std::to_string(data.attr);
    if (data.component != kNoAttr) out_ += " turns " + std::to_string(data.component);
    out_ += ' ';
    PrintRegion(data.regions[0], data);
  }

  bool PrintWord(const InstData& data, Word word) {
    if (!data.Has(word)) return false;
    out_.append(" ").append(Spelling(word));
    return true;
  }

  void Checkpoint(const InstData& data) {
    PrintWord(data, Word::Steps);
    if (PrintWord(data, Word::Checkpoint) && data.attr != kNoAttr) out_ += " " + std::to_string(data.attr);
  }

  void RaisedWords(Inst inst) {
    const InstData& data = function_[inst];
    out_ += RaisedText(data.op, data.words);
    bool parallel = data.op == Op::Parallel || data.op == Op::ParallelOver;
    if (parallel && data.component != kNoAttr) out_ += " lanes " + std::to_string(data.component);
    const WorkerNumbers& workers = function_.WorkersOf(inst);
    if (workers.waking != 0) out_ += " waking " + std::to_string(workers.waking);
    if (workers.copies != 0) out_ += " copies " + std::to_string(workers.copies);
    for (size_t axis = 0; axis < workers.reach.size(); ++axis)
      out_ += (axis == 0 ? " reach " : ", ") + std::to_string(workers.reach[axis]);
  }

  void PrintWhile(const InstData& data, std::span<const Value> operands) {
    out_ += "while";
    bool has_max = data.Has(Word::HasMax) && !operands.empty();
    if (has_max) {
      out_ += " max ";
      print_.Alone(operands[0]);
      PrintWord(data, Word::OrNone);
    }
    Carry(data.regions[0], 0, operands.subspan(has_max ? 1 : 0));
    PrintWord(data, Word::Unroll);
    PrintWord(data, Word::Unwrapped);
    Checkpoint(data);
    out_ += ' ';
    PrintRegion(data.regions[0], data);
    out_ += " do ";
    PrintRegion(data.regions[1], data);
  }

  void PrintIf(Inst inst, std::span<const Value> operands) {
    const InstData& data = function_[inst];
    out_ += "if ";
    for (Value v : operands) print_.Asked(v, kI1);
    RaisedWords(inst);
    out_ += ' ';
    PrintRegion(data.regions[0], data);
    if (data.result_count == 0 && IsEmpty(data.regions[1])) return;
    out_ += " else ";
    PrintRegion(data.regions[1], data);
  }

  void PrintScope(const InstData& data) {
    out_ += "scope ";
    print_.Operand(Param(data.regions[0], 0));
    for (uint32_t n = 0; n < data.result_count; ++n) {
      out_ += n == 0 ? " -> " : ", ";
      out_ += TypeName(module_, function_.TypeOf(Value(data.first_result.raw + n)));
    }
    out_ += ' ';
    PrintRegion(data.regions[0], data);
  }

  void PrintParallel(Inst inst, std::span<const Value> operands) {
    const InstData& data = function_[inst];
    out_ += "parallel ";
    auto axes = static_cast<uint32_t>(operands.size() / 2);
    for (uint32_t n = 0; n < axes; ++n) {
      if (n != 0) out_ += ", ";
      print_.Operand(Param(data.regions[0], n));
    }
    for (uint32_t n = 0; n < axes; ++n) {
      out_ += n == 0 ? " in " : ", ";
      std::span<const Value> bounds = operands.subspan(2 * size_t{n}, 2);
      print_.Range(bounds[0], bounds[1], print_.GroupNeedsType(bounds));
    }
    if (data.attr != 0 && data.attr != kNoAttr) out_ += " block " + std::to_string(data.attr);
    PrintWord(data, Word::Workgroup);
    RaisedWords(inst);
    out_ += ' ';
    PrintRegion(data.regions[0], data);
  }

  void PrintParallelOver(Inst inst, std::span<const Value> operands) {
    const InstData& data = function_[inst];
    out_ += "parallel ";
    for (uint32_t n = 0; Known(function_, data.regions[0]) && n < function_[data.regions[0]].params.size();
         ++n) {
      if (n != 0) out_ += ", ";
      print_.Operand(Param(data.regions[0], n));
    }
    out_ += " over ";
    if (!operands.empty()) print_.Field(operands[0], data.attr);
    RaisedWords(inst);
    out_ += ' ';
    PrintRegion(data.regions[0], data);
  }

  /// Nothing to show: no statement but an empty terminator, and no comment.
  bool IsEmpty(Block block) const {
    if (!Known(function_, block)) return true;
    if (at_end_.contains(block)) return false;
    for (Inst inst : function_[block].insts) {
      if (!Known(function_, inst) || function_[inst].op != Op::Yield || function_[inst].operand_count != 0)
        return false;
      if (before_.contains(inst)) return false;
    }
    return true;
  }

  const Module& module_;
  const Function& function_;
  std::string& out_;
  ShownNames names_;
  OperandPrinter print_;

  uint32_t depth_ = 0;
  std::vector<unsigned char> printed_;  ///< blocks, so that a region that is its own descendant prints once
  std::unordered_map<Inst, std::vector<StringId>> before_;   ///< comments
  std::unordered_map<Block, std::vector<StringId>> at_end_;  ///< comments
};

}  // namespace

void PrintFunction(const Module& module, const Function& function, std::string& out) {
  FunctionPrinter(module, function, out).Print();
}

}  // namespace adc::ir
