// A module as text. What is printed parses to the same module, and prints the same again.
//
// Names. A value keeps its name where it is the first of that name in its function; a later one (passes copy
// bodies) gets `.1`, `.2`, and so on. A value without a name gets the next free number. Results of loops,
// calls and atomics that are neither named nor used are not written.
//
// Literals. A literal shows its type (`1.0:f64`) only where its place would not give it back
// (literal_places.h).
//
// The printer is also what shows a module that a defective pass has broken, so it trusts no index that it
// follows.

#include <algorithm>
#include <deque>
#include <unordered_map>

#include "ir/literal_places.h"
#include "ir/module.h"
#include "ir/number.h"

namespace adc::ir {

LiteralKind KindOfSpelling(std::string_view spelling) {
  if (spelling == "true" || spelling == "false") return LiteralKind::Bool;
  std::string_view digits = spelling.starts_with('-') ? spelling.substr(1) : spelling;
  if (digits == "inf" || digits == "nan") return LiteralKind::Float;
  bool hex = digits.starts_with("0x") || digits.starts_with("0X");
  return digits.find_first_of(hex ? ".pP" : ".eE") != std::string_view::npos ? LiteralKind::Float
                                                                             : LiteralKind::Integer;
}

namespace {

std::string ElementName(Type type) {
  std::string scalar = Spelling(type.scalar);
  if (type.rows == 0) return scalar;
  std::string rows = std::to_string(type.rows);
  if (type.columns == 0) return "vec<" + scalar + ", " + rows + ">";
  return "mat<" + scalar + ", " + rows + ", " + std::to_string(type.columns) + ">";
}

void AppendQuoted(std::string& out, std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  out += '"';
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7F) {
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

/// A loop, call or atomic whose results nobody names or reads is written without them.
bool MayDropResults(Op op) {
  return op == Op::For || op == Op::While || op == Op::Call || IsAtomic(op);
}

class FunctionPrinter {
 public:
  FunctionPrinter(const Module& module, const Function& function, std::string& out)
      : module_(module), function_(function), out_(out) {}

  void Print() {
    printed_.assign(function_.BlockCount(), 0);
    printed_[function_.Body().raw] = 1;
    CollectUses();
    AssignNames();
    IndexComments();
    for (StringId comment : function_.leading_comments) Comment(comment);
    PrintSignature();
    out_ += " {\n";
    ++depth_;
    PrintBlock(function_.Body(), /*owner=*/nullptr);
    --depth_;
    out_ += "}\n";
  }

 private:
  template <class Visit>
  void ForEachBlock(Visit visit) {
    // Textual order, without recursion: regions of an instruction before what follows it.
    struct Place {
      Block block;
      size_t next;
    };
    std::vector<unsigned char> met(function_.BlockCount(), 0);
    std::vector<Place> stack{{function_.Body(), 0}};
    met[function_.Body().raw] = 1;
    visit.Enter(function_.Body());
    while (!stack.empty()) {
      Place& top = stack.back();
      const std::vector<Inst>& insts = function_[top.block].insts;
      if (top.next == insts.size()) {
        stack.pop_back();
        continue;
      }
      Inst inst = insts[top.next++];
      if (!Known(inst)) continue;
      visit.Visit(inst);
      const InstData& data = function_[inst];
      for (int region = 1; region >= 0; --region) {
        Block block = data.regions[region];
        if (!Known(block) || met[block.raw] != 0) continue;
        met[block.raw] = 1;
        stack.push_back({block, 0});
        visit.Enter(block);
      }
    }
  }

  void CollectUses() {
    used_.assign(function_.ValueCount(), 0);
    struct Uses {
      FunctionPrinter& printer;
      void Enter(Block) {}
      void Visit(Inst inst) {
        for (Value v : printer.function_.Operands(inst)) {
          if (printer.Known(v)) printer.used_[v.raw] = 1;
        }
      }
    };
    ForEachBlock(Uses{*this});
  }

  void AssignNames() {
    struct Collect {
      FunctionPrinter& printer;
      std::vector<Value>& order;
      void Enter(Block block) {
        for (Value v : printer.function_[block].params) Add(v);
      }
      void Visit(Inst inst) {
        const InstData& data = printer.function_[inst];
        for (uint32_t n = 0; n < data.result_count; ++n) Add(printer.function_.Result(inst, n));
      }
      void Add(Value v) {
        if (!printer.Known(v)) return;
        order.push_back(v);
        std::string_view name = printer.module_.Text(printer.function_[v].name);
        if (!name.empty()) printer.names_.try_emplace(name);
      }
    };
    std::vector<Value> order;
    ForEachBlock(Collect{*this, order});
    shown_.assign(function_.ValueCount(), {});
    uint64_t number = 0;
    for (Value v : order) {
      std::string_view name = module_.Text(function_[v].name);
      if (name.empty()) {
        if (!used_[v.raw] && DroppedAlone(v)) continue;
        shown_[v.raw] = Fresh("", number);
        continue;
      }
      NameState& state = names_[name];
      if (!state.taken) {
        state.taken = true;
        shown_[v.raw] = name;
      } else {
        uint64_t suffix = state.next_suffix;
        shown_[v.raw] = Fresh(std::string(name) + ".", suffix);
        names_[name].next_suffix = suffix;
      }
    }
  }

  /// Whether the instruction of the result `v` shows no results at all.
  bool DroppedAlone(Value v) const {
    Inst inst = function_.DefiningInst(v);
    return inst.Valid() && !ShowsResults(inst);
  }
  bool ShowsResults(Inst inst) const {
    const InstData& data = function_[inst];
    if (data.result_count == 0) return false;
    if (!MayDropResults(data.op)) return true;
    for (uint32_t n = 0; n < data.result_count; ++n) {
      Value v = function_.Result(inst, n);
      if (!Known(v) || used_[v.raw] || function_[v].name.Valid()) return true;
    }
    return false;
  }

  std::string_view Fresh(const std::string& stem, uint64_t& next) {
    for (;;) {
      std::string text = stem + std::to_string(stem.empty() ? next : ++next);
      if (stem.empty()) ++next;
      if (names_.contains(text)) continue;
      generated_.push_back(std::move(text));
      names_[generated_.back()].taken = true;
      return generated_.back();
    }
  }

  void IndexComments() {
    for (uint32_t n = 0; n < function_.comments.size(); ++n) {
      const ir::Comment& comment = function_.comments[n];
      if (comment.before.Valid()) {
        before_.push_back({comment.before.raw, n});
      } else if (comment.at_end_of.Valid()) {
        at_end_.push_back({comment.at_end_of.raw, n});
      }
    }
    std::sort(before_.begin(), before_.end());
    std::sort(at_end_.begin(), at_end_.end());
  }

  using CommentIndex = std::vector<std::pair<uint32_t, uint32_t>>;
  void Comments(const CommentIndex& index, uint32_t key) {
    auto place = std::lower_bound(index.begin(), index.end(), std::pair<uint32_t, uint32_t>(key, 0));
    for (; place != index.end() && place->first == key; ++place)
      Comment(function_.comments[place->second].text);
  }
  void Comment(StringId text) {
    Indent();
    out_ += module_.Text(text);
    out_ += '\n';
  }

  bool Known(Value v) const { return v.raw < function_.ValueCount(); }
  bool Known(Inst i) const { return i.raw < function_.InstCount(); }
  bool Known(Block b) const { return b.raw < function_.BlockCount(); }
  void Indent() { out_.append(2 * size_t{depth_}, ' '); }

  void Symbol(StringId name) {
    out_ += '@';
    out_ += module_.Text(name);
  }

  /// A value, or a literal without its type.
  void Operand(Value v) {
    if (!Known(v)) {
      out_ += "%<none>";
      return;
    }
    const ValueData& data = function_[v];
    if (data.kind == ValueKind::Constant) {
      out_ += LiteralText(v);
    } else if (data.kind == ValueKind::Global) {
      if (data.owner < module_.constants.size()) {
        Symbol(module_.constants[data.owner].name);
      } else {
        out_ += "@<none>";
      }
    } else if (shown_[v.raw].empty()) {
      out_ += "%<undefined " + std::to_string(v.raw) + ">";
    } else {
      out_ += '%';
      out_ += shown_[v.raw];
    }
  }
  std::string LiteralText(Value v) const {
    const ConstantData& constant = function_.ConstantOf(v);
    if (constant.spelling.Valid()) return std::string(module_.Text(constant.spelling));
    return PrintNumber(constant.type.scalar, constant.bits);
  }
  bool IsLiteral(Value v) const { return Known(v) && function_.IsConstant(v); }

  void Typed(Value v) {
    Operand(v);
    out_ += ':';
    out_ += Spelling(function_.TypeOf(v).scalar);
  }
  /// A literal that nothing gives a type to.
  void Alone(Value v) {
    if (IsLiteral(v) && DefaultLiteralType(KindOfSpelling(LiteralText(v))) != function_.TypeOf(v)) {
      Typed(v);
    } else {
      Operand(v);
    }
  }
  /// A literal whose place gives it `type`.
  void Asked(Value v, Type type) {
    if (IsLiteral(v) && function_.TypeOf(v) != type) {
      Typed(v);
    } else {
      Operand(v);
    }
  }
  /// Whether the literals of a group would read back with another type.
  bool GroupNeedsType(std::span<const Value> group) const {
    LiteralKind kind = LiteralKind::Integer;
    Type type;
    for (Value v : group) {
      if (!IsLiteral(v)) return false;
      LiteralKind own = KindOfSpelling(LiteralText(v));
      if (own != LiteralKind::Integer) kind = own;
      type = function_.TypeOf(v);
    }
    return !group.empty() && DefaultLiteralType(kind) != type;
  }
  void List(std::span<const Value> values) {
    bool state_type = GroupNeedsType(values);
    for (size_t n = 0; n < values.size(); ++n) {
      out_ += n == 0 ? " " : ", ";
      if (state_type && n == 0) {
        Typed(values[n]);
      } else {
        Operand(values[n]);
      }
    }
  }

  void PrintSignature() {
    out_ += function_.IsKernel() ? "kernel " : "func ";
    Symbol(function_.name);
    out_ += '(';
    std::span<const Value> params = function_.Params();
    for (size_t n = 0; n < params.size(); ++n) {
      if (n != 0) out_ += ", ";
      Operand(params[n]);
      out_ += ": " + TypeName(module_, function_.TypeOf(params[n]));
      if (n >= function_.params.size()) continue;
      const ParamInfo& info = function_.params[n];
      if (info.diff) out_ += " diff";
      if (info.readonly) out_ += " readonly";
      if (info.alias) out_ += " alias";
      if (info.writeonce) out_ += " writeonce";
      if (info.role == ParamRole::Scratch) out_ += " scratch";
      if (info.role == ParamRole::Segment) out_ += " segment";
      if (info.role == ParamRole::Trips) out_ += " trips";
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
    Symbol(name);
  }

  void PrintBlock(Block block, const InstData* owner) {
    for (Inst inst : function_[block].insts) {
      if (!Known(inst)) continue;
      const InstData& data = function_[inst];
      Comments(before_, inst.raw);
      if (IsTerminator(data.op)) {
        if (data.operand_count == 0) continue;
        Indent();
        PrintTerminator(inst, block, owner);
        out_ += '\n';
        continue;
      }
      Indent();
      PrintInst(inst);
      out_ += '\n';
    }
    Comments(at_end_, block.raw);
  }

  void PrintTerminator(Inst inst, Block block, const InstData* owner) {
    const InstData& data = function_[inst];
    out_ += InfoOf(data.op).spelling;
    std::span<const Value> values = function_.Operands(inst);
    for (uint32_t n = 0; n < values.size(); ++n) {
      out_ += n == 0 ? " " : ", ";
      if (data.op == Op::ContinueIf) {
        Asked(values[n], kI1);
      } else if (data.op == Op::Return) {
        Asked(values[n], n < function_.result_types.size() ? function_.result_types[n] : kNoType);
      } else if (owner != nullptr && owner->op == Op::If) {
        PrintBranchValue(*owner, block, n, values[n]);
      } else if (owner != nullptr && n < owner->result_count) {
        Asked(values[n], function_.TypeOf(Value(owner->first_result.raw + n)));
      } else {
        Alone(values[n]);
      }
    }
  }
  /// A value that a branch yields takes its type from the other branch; two literals state it in the first.
  void PrintBranchValue(const InstData& owner, Block block, uint32_t position, Value v) {
    bool first = block == owner.regions[0];
    Block other = owner.regions[first ? 1 : 0];
    bool ends = Known(other) && !function_[other].insts.empty() && Known(function_[other].insts.back());
    Inst end = ends ? function_.Terminator(other) : Inst();
    if (!end.Valid() || position >= function_[end].operand_count) return Alone(v);
    Value opposite = function_.Operand(end, position);
    Value pair[] = {v, opposite};
    if (first && GroupNeedsType(pair)) {
      Typed(v);
    } else {
      Operand(v);
    }
  }

  void PrintResults(Inst inst) {
    const InstData& data = function_[inst];
    if (!ShowsResults(inst)) return;
    for (uint32_t n = 0; n < data.result_count; ++n) {
      if (n != 0) out_ += ", ";
      Operand(function_.Result(inst, n));
    }
    out_ += " = ";
  }

  void PrintInst(Inst inst) {
    const InstData& data = function_[inst];
    const OpInfo& info = InfoOf(data.op);
    PrintResults(inst);
    std::span<const Value> operands = function_.Operands(inst);
    Type result = data.result_count != 0 && Known(function_.Result(inst))
                      ? function_.TypeOf(function_.Result(inst))
                      : kNoType;
    switch (info.form) {
      case OpForm::Nullary:
        out_ += info.spelling;
        out_ += " " + TypeName(module_, result);
        return;
      case OpForm::Unary:
      case OpForm::Binary:
      case OpForm::Ternary:
      case OpForm::Variadic:
        return PrintPlain(data.op, operands, result);
      case OpForm::Convert:
        out_ += info.spelling;
        for (Value v : operands) {
          out_ += ' ';
          Alone(v);
        }
        out_ += " to " + TypeName(module_, result);
        return;
      case OpForm::ShapeForm:
        out_ += info.spelling;
        out_ += ' ';
        if (operands.empty()) {
          out_ += "<too few operands>";
        } else {
          Field(operands[0], data.component);
        }
        out_ += ", " + std::to_string(data.attr);
        if (result != kI32) out_ += " : " + TypeName(module_, result);
        return;
      case OpForm::Access:
        return PrintAccess(inst);
      case OpForm::AllocaForm:
        out_ += info.spelling;
        out_ += " " + TypeName(module_, result);
        return;
      case OpForm::StackNewForm:
        out_ += info.spelling;
        out_ += std::string(" ") + Spelling(result.scalar);
        return;
      case OpForm::Control:
        return PrintControl(inst);
      case OpForm::CallForm:
        return PrintCall(inst);
      case OpForm::Terminator:
        return;
      case OpForm::AssertForm:
        out_ += info.spelling;
        for (Value v : operands) {
          out_ += ' ';
          Asked(v, kI1);
        }
        out_ += (data.flags & kFlagPromise) != 0 ? ", writeonce " : ", ";
        AppendQuoted(out_, module_.Text(data.symbol));
        return;
      case OpForm::PrintForm:
        out_ += info.spelling;
        out_ += ' ';
        AppendQuoted(out_, module_.Text(data.symbol));
        for (Value v : operands) {
          out_ += ", ";
          Alone(v);
        }
        return;
      case OpForm::StackForm:
        return PrintStack(inst);
      case OpForm::RowForm:
        out_ += info.spelling;
        out_ += " " + std::to_string(data.attr);
        return;
      case OpForm::RowAccess:
        out_ += info.spelling;
        for (uint32_t n = 0; n < operands.size(); ++n) {
          out_ += n == 0 ? " " : ", ";
          if (n < 2) {
            Asked(operands[n], kI64);
          } else {
            Alone(operands[n]);
          }
        }
        if (data.op == Op::RowLoad) out_ += " : " + TypeName(module_, result);
        return;
      case OpForm::StatusForm:
        out_ += info.spelling;
        out_ += " " + std::to_string(data.attr) + ", " + std::to_string(data.component);
        for (Value v : operands) {
          out_ += ", ";
          Asked(v, kI64);
        }
        return;
    }
  }

  void PrintPlain(Op op, std::span<const Value> operands, Type result) {
    out_ += InfoOf(op).spelling;
    std::vector<Value> group;
    for (uint32_t n = 0; n < operands.size(); ++n) {
      if (PlaceOfOperand(op, n) == LiteralPlace::Group) group.push_back(operands[n]);
    }
    bool states_result = op == Op::MatMake && result.rows != result.columns && !operands.empty() &&
                         Known(operands[0]) && function_.TypeOf(operands[0]).IsScalar();
    bool state_type = !states_result && GroupNeedsType(group);
    for (uint32_t n = 0; n < operands.size(); ++n) {
      out_ += n == 0 ? " " : ", ";
      switch (PlaceOfOperand(op, n)) {
        case LiteralPlace::Group:
          if (state_type) {
            Typed(operands[n]);
            state_type = false;
          } else {
            Operand(operands[n]);
          }
          break;
        case LiteralPlace::Alone:
          Alone(operands[n]);
          break;
        case LiteralPlace::Component:
          Asked(operands[n], Known(operands[0]) ? function_.TypeOf(operands[0]).ScalarType() : kNoType);
          break;
        case LiteralPlace::Condition:
          Asked(operands[n], kI1);
          break;
        case LiteralPlace::Wide:
          Asked(operands[n], kI64);
          break;
      }
    }
    if (states_result) out_ += " : " + TypeName(module_, result);
  }

  void Field(Value base, uint32_t field) {
    Operand(base);
    if (field == kNoAttr) return;
    out_ += "::";
    Type type = Known(base) ? function_.TypeOf(base) : kNoType;
    if (type.IsLayout() && type.count < module_.layouts.size() &&
        field < module_.layouts[type.count].fields.size()) {
      out_ += module_.Text(module_.layouts[type.count].fields[field].name);
    } else {
      out_ += "<field " + std::to_string(field) + ">";
    }
  }

  void PrintAccess(Inst inst) {
    const InstData& data = function_[inst];
    out_ += InfoOf(data.op).spelling;
    out_ += ' ';
    std::span<const Value> operands = function_.Operands(inst);
    if (operands.size() < 1u + data.index_count) {
      out_ += "<too few operands>";
      return;
    }
    Field(operands[0], data.attr);
    out_ += '[';
    for (uint32_t n = 0; n < data.index_count; ++n) {
      if (n != 0) out_ += ", ";
      Alone(operands[1 + n]);
    }
    out_ += ']';
    if (data.component != kNoAttr) out_ += "." + std::to_string(data.component);
    Type element = AccessType(data, operands[0]);
    for (Value v : operands.subspan(1u + data.index_count)) {
      out_ += ", ";
      Asked(v, element);
    }
    if ((data.flags & kFlagPlain) != 0) out_ += " plain";
  }
  Type AccessType(const InstData& data, Value base) const {
    if (!Known(base)) return kNoType;
    Type type = function_.TypeOf(base);
    if (type.IsLayout() &&
        (type.count >= module_.layouts.size() || data.attr >= module_.layouts[type.count].fields.size()))
      return kNoType;
    Type element = module_.ElementType(function_, base, data.attr);
    return data.component == kNoAttr ? element : element.ScalarType();
  }

  void PrintStack(Inst inst) {
    const InstData& data = function_[inst];
    out_ += InfoOf(data.op).spelling;
    std::span<const Value> operands = function_.Operands(inst);
    bool has_slot = (data.flags & kFlagHasSlot) != 0;
    size_t plain = operands.size() - (has_slot && !operands.empty() ? 1 : 0);
    for (size_t n = 0; n < plain; ++n) {
      out_ += n == 0 ? " " : ", ";
      if (n == 0) {
        Operand(operands[n]);
      } else {
        Asked(operands[n], Known(operands[0]) ? function_.TypeOf(operands[0]).ScalarType() : kNoType);
      }
    }
    if (plain == operands.size()) return;
    out_ += " at ";
    Alone(operands[plain]);
  }

  void PrintCall(Inst inst) {
    const InstData& data = function_[inst];
    out_ += "call ";
    Symbol(data.symbol);
    out_ += '(';
    const Function* callee = module_.Find(data.symbol);
    std::span<const Value> operands = function_.Operands(inst);
    for (uint32_t n = 0; n < operands.size(); ++n) {
      if (n != 0) out_ += ", ";
      bool known = callee != nullptr && n < callee->Params().size();
      Asked(operands[n], known ? callee->TypeOf(callee->Params()[n]) : kNoType);
    }
    out_ += ')';
  }

  void PrintRegion(Block block, const InstData& owner) {
    out_ += "{\n";
    ++depth_;
    if (Known(block) && printed_[block.raw] == 0) {
      printed_[block.raw] = 1;
      PrintBlock(block, &owner);
    }
    --depth_;
    Indent();
    out_ += '}';
  }

  Value Param(Block block, uint32_t position) const {
    if (!Known(block) || position >= function_[block].params.size()) return {};
    return function_[block].params[position];
  }
  void Carry(Block block, uint32_t first_param, std::span<const Value> initial) {
    if (initial.empty()) return;
    out_ += " carry(";
    for (uint32_t n = 0; n < initial.size(); ++n) {
      if (n != 0) out_ += ", ";
      Operand(Param(block, first_param + n));
      out_ += " = ";
      Alone(initial[n]);
    }
    out_ += ')';
  }
  /// `lo..hi`, with the type stated where two literals would read back with another one.
  void Range(Value lo, Value hi, bool state_type) {
    if (state_type) {
      Typed(lo);
    } else {
      Operand(lo);
    }
    out_ += "..";
    Operand(hi);
  }

  void PrintControl(Inst inst) {
    const InstData& data = function_[inst];
    std::span<const Value> operands = function_.Operands(inst);
    if (data.op == Op::For) PrintFor(data, operands);
    if (data.op == Op::While) PrintWhile(data, operands);
    if (data.op == Op::If) PrintIf(data, operands);
    if (data.op == Op::Parallel) PrintParallel(data, operands);
    if (data.op == Op::ParallelOver) PrintParallelOver(data, operands);
  }
  void PrintFor(const InstData& data, std::span<const Value> operands) {
    out_ += "for ";
    Operand(Param(data.regions[0], 0));
    out_ += " in ";
    if (operands.size() < 3) {
      out_ += "<too few operands>";
      return;
    }
    std::span<const Value> bounds = operands.subspan(0, 3);
    bool default_step = IsLiteral(bounds[2]) && function_.IntegerConstant(bounds[2]) == 1;
    Range(bounds[0], bounds[1], GroupNeedsType(default_step ? bounds.subspan(0, 2) : bounds));
    if ((data.flags & kFlagReversed) != 0) out_ += " reversed";
    if (!default_step) {
      out_ += " step ";
      Operand(bounds[2]);
    }
    Carry(data.regions[0], 1, operands.subspan(3));
    if ((data.flags & kFlagUnroll) != 0) out_ += " unroll";
    Checkpoint(data);
    out_ += ' ';
    PrintRegion(data.regions[0], data);
  }
  void Checkpoint(const InstData& data) {
    if ((data.flags & kFlagCheckpoint) == 0) return;
    out_ += " checkpoint";
    if (data.attr != kNoAttr) out_ += " " + std::to_string(data.attr);
  }
  void PrintWhile(const InstData& data, std::span<const Value> operands) {
    out_ += "while";
    bool has_max = (data.flags & kFlagHasMax) != 0 && !operands.empty();
    if (has_max) {
      out_ += " max ";
      Alone(operands[0]);
    }
    Carry(data.regions[0], 0, operands.subspan(has_max ? 1 : 0));
    Checkpoint(data);
    out_ += ' ';
    PrintRegion(data.regions[0], data);
    out_ += " do ";
    PrintRegion(data.regions[1], data);
  }
  void PrintIf(const InstData& data, std::span<const Value> operands) {
    out_ += "if ";
    for (Value v : operands) Asked(v, kI1);
    out_ += ' ';
    PrintRegion(data.regions[0], data);
    if (data.result_count == 0 && IsEmpty(data.regions[1])) return;
    out_ += " else ";
    PrintRegion(data.regions[1], data);
  }
  void PrintParallel(const InstData& data, std::span<const Value> operands) {
    out_ += "parallel ";
    auto axes = static_cast<uint32_t>(operands.size() / 2);
    for (uint32_t n = 0; n < axes; ++n) {
      if (n != 0) out_ += ", ";
      Operand(Param(data.regions[0], n));
    }
    for (uint32_t n = 0; n < axes; ++n) {
      out_ += n == 0 ? " in " : ", ";
      std::span<const Value> bounds = operands.subspan(2 * size_t{n}, 2);
      Range(bounds[0], bounds[1], GroupNeedsType(bounds));
    }
    if (data.attr != 0 && data.attr != kNoAttr) out_ += " block " + std::to_string(data.attr);
    out_ += ' ';
    PrintRegion(data.regions[0], data);
  }
  void PrintParallelOver(const InstData& data, std::span<const Value> operands) {
    out_ += "parallel ";
    for (uint32_t n = 0; Known(data.regions[0]) && n < function_[data.regions[0]].params.size(); ++n) {
      if (n != 0) out_ += ", ";
      Operand(Param(data.regions[0], n));
    }
    out_ += " over ";
    if (!operands.empty()) Field(operands[0], data.attr);
    out_ += ' ';
    PrintRegion(data.regions[0], data);
  }

  /// Nothing to show: no statement but an empty terminator, and no comment.
  bool IsEmpty(Block block) const {
    if (!Known(block)) return true;
    auto place =
        std::lower_bound(at_end_.begin(), at_end_.end(), std::pair<uint32_t, uint32_t>(block.raw, 0));
    if (place != at_end_.end() && place->first == block.raw) return false;
    for (Inst inst : function_[block].insts) {
      if (!Known(inst) || !IsTerminator(function_[inst].op) || function_[inst].operand_count != 0)
        return false;
      auto comment =
          std::lower_bound(before_.begin(), before_.end(), std::pair<uint32_t, uint32_t>(inst.raw, 0));
      if (comment != before_.end() && comment->first == inst.raw) return false;
    }
    return true;
  }

  struct NameState {
    bool taken = false;
    uint64_t next_suffix = 0;
  };

  const Module& module_;
  const Function& function_;
  std::string& out_;
  uint32_t depth_ = 0;
  std::vector<unsigned char> used_;
  std::vector<unsigned char> printed_;  ///< blocks, so that a region that is its own descendant prints once
  std::vector<std::string_view> shown_;
  std::deque<std::string> generated_;
  std::unordered_map<std::string_view, NameState> names_;
  CommentIndex before_;
  CommentIndex at_end_;
};

class ModulePrinter {
 public:
  ModulePrinter(const Module& module, std::string& out) : module_(module), out_(out) {}

  void Print() {
    if (module_.items.empty()) {
      for (const Import& import : module_.imports) PrintImport(import);
      for (const ModuleConstant& constant : module_.constants) PrintConstant(constant);
      for (const Layout& layout : module_.layouts) PrintLayout(layout);
    } else {
      PrintItems();
    }
    PrintRest();
    if (module_.trailing_comments.empty()) return;
    if (!out_.empty()) out_ += '\n';
    Comments(module_.trailing_comments);
  }

 private:
  void PrintItems() {
    listed_.assign(module_.functions.size(), 0);
    for (const Module::Item& item : module_.items) {
      if (item.kind == Module::ItemKind::Function && item.position < listed_.size())
        listed_[item.position] = 1;
    }
    IndexDerived();
    for (const Module::Item& item : module_.items) {
      if (item.imported) continue;
      switch (item.kind) {
        case Module::ItemKind::Import:
          if (item.position < module_.imports.size()) PrintImport(module_.imports[item.position]);
          break;
        case Module::ItemKind::Constant:
          if (item.position < module_.constants.size()) PrintConstant(module_.constants[item.position]);
          break;
        case Module::ItemKind::Layout:
          if (item.position < module_.layouts.size()) PrintLayout(module_.layouts[item.position]);
          break;
        case Module::ItemKind::Function:
          if (item.position < module_.functions.size()) PrintWithDerived(item.position);
          break;
      }
    }
  }
  /// Functions that passes added, by the primal they come from.
  void IndexDerived() {
    for (uint32_t n = 0; n < module_.functions.size(); ++n) {
      StringId primal = module_.functions[n]->derived_from;
      if (!listed_[n] && primal.Valid()) derived_[primal].push_back(n);
    }
  }
  void PrintWithDerived(uint32_t first) {
    std::vector<uint32_t> pending{first};
    while (!pending.empty()) {
      uint32_t position = pending.back();
      pending.pop_back();
      PrintFunction(*module_.functions[position]);
      listed_[position] = 1;
      auto found = derived_.find(module_.functions[position]->name);
      if (found == derived_.end()) continue;
      for (size_t n = found->second.size(); n-- > 0;) {
        if (!listed_[found->second[n]]) pending.push_back(found->second[n]);
      }
    }
  }
  void PrintRest() {
    listed_.resize(module_.functions.size(), 0);
    for (uint32_t n = 0; n < module_.functions.size(); ++n) {
      if (!listed_[n]) PrintFunction(*module_.functions[n]);
    }
  }

  void Separate(bool blank_line) {
    if (!out_.empty() && (blank_line || last_was_block_)) out_ += '\n';
    last_was_block_ = blank_line;
  }
  void Comments(const std::vector<StringId>& comments) {
    for (StringId comment : comments) {
      out_ += module_.Text(comment);
      out_ += '\n';
    }
  }
  void PrintImport(const Import& import) {
    Separate(false);
    Comments(import.leading_comments);
    out_ += "import ";
    AppendQuoted(out_, module_.Text(import.path));
    out_ += '\n';
  }
  void PrintConstant(const ModuleConstant& constant) {
    Separate(false);
    Comments(constant.leading_comments);
    out_ += "const @";
    out_ += module_.Text(constant.name);
    out_ += " = ";
    bool array = constant.type.IsArray();
    if (array) out_ += '[';
    for (size_t n = 0; n < constant.elements.size(); ++n) {
      if (n != 0) out_ += ", ";
      bool spelled = n < constant.spellings.size() && constant.spellings[n].Valid();
      out_ += spelled ? std::string(module_.Text(constant.spellings[n]))
                      : PrintNumber(constant.type.scalar, constant.elements[n]);
    }
    if (array) out_ += ']';
    out_ += " : " + TypeName(module_, constant.type) + "\n";
  }
  void PrintLayout(const Layout& layout) {
    Separate(true);
    Comments(layout.leading_comments);
    out_ += "layout @";
    out_ += module_.Text(layout.name);
    out_ += " {\n";
    for (const LayoutNode& node : layout.roots) PrintNode(layout, node, 1);
    out_ += "}\n";
  }
  void PrintNode(const Layout& layout, const LayoutNode& node, uint32_t depth) {
    out_.append(2 * size_t{depth}, ' ');
    if (node.is_field) {
      if (node.field >= layout.fields.size()) {
        out_ += "<field>\n";
        return;
      }
      const LayoutField& field = layout.fields[node.field];
      out_ += module_.Text(field.name);
      out_ += ": " + TypeName(module_, field.type);
      if (field.diff) out_ += " diff";
      out_ += '\n';
      return;
    }
    out_ += "dense[";
    for (size_t n = 0; n < node.extents.size(); ++n) {
      if (n != 0) out_ += ", ";
      out_ += std::to_string(node.extents[n]);
    }
    out_ += "] {\n";
    for (const LayoutNode& member : node.members) PrintNode(layout, member, depth + 1);
    out_.append(2 * size_t{depth}, ' ');
    out_ += "}\n";
  }
  void PrintFunction(const Function& function) {
    Separate(true);
    FunctionPrinter(module_, function, out_).Print();
  }

  const Module& module_;
  std::string& out_;
  bool last_was_block_ = false;
  std::vector<unsigned char> listed_;
  std::unordered_map<StringId, std::vector<uint32_t>> derived_;
};

}  // namespace

std::string TypeName(Type type) {
  switch (type.kind) {
    case TypeKind::None:
      return "none";
    case TypeKind::Scalar:
    case TypeKind::Vec:
    case TypeKind::Mat:
      return ElementName(type);
    case TypeKind::Array:
      return "array<" + ElementName(type) + ", " + std::to_string(type.count) + ">";
    case TypeKind::Buffer:
      return "buffer<" + ElementName(type) + ", " + std::to_string(type.count) + ">";
    case TypeKind::Layout:
      return "@layout#" + std::to_string(type.count);
    case TypeKind::Stack:
      return std::string("stack of ") + Spelling(type.scalar);
  }
  return "none";
}

std::string TypeName(const Module& module, Type type) {
  if (type.IsLayout() && type.count < module.layouts.size())
    return "@" + std::string(module.Text(module.layouts[type.count].name));
  return TypeName(type);
}

std::string Print(const Module& module) {
  std::string out;
  ModulePrinter(module, out).Print();
  return out;
}

std::string Print(const Module& module, const Function& function) {
  std::string out;
  FunctionPrinter(module, function, out).Print();
  return out;
}

}  // namespace adc::ir
