#include "diag/errors/parse.h"
#include "ir/module.h"
#include "parse/body.h"

namespace adc::parse {

bool BodyParser::ParseCarry(std::vector<NameToken>* names, std::vector<Operand>* initial) {
  diag::SourceSpan open = stream_.SpanNow();
  if (!stream_.Expect(TokenKind::LeftParen, "'('")) return false;
  do {
    NameToken name{stream_.module().Intern(stream_.Now().text), stream_.SpanNow()};
    if (!stream_.Expect(TokenKind::ValueName, "the name of a carried value")) return false;
    if (!stream_.Expect(TokenKind::Equals, "'=' and an initial value")) return false;
    names->push_back(name);
    initial->emplace_back();
    if (!ParseOperand(&initial->back())) return false;
    ResolveCarried(initial->back());
  } while (stream_.Accept(TokenKind::Comma));
  return stream_.ExpectClosing(TokenKind::RightParen, "')'", open);
}

void BodyParser::BindParams(Block block, uint32_t first, const std::vector<NameToken>& names, bool poison) {
  for (size_t n = 0; n < names.size(); ++n)
    Define(names[n], poison ? kPoison : function_[block].params[first + n]);
}

Block BodyParser::AddRegion(const Made& made, uint32_t number, std::span<const Type> params) {
  Block region = function_.NewBlock(made.inst);
  if (made.poison) return region;
  function_[made.inst].regions[number] = region;
  for (Type type : params) function_.AddParam(region, type);
  return region;
}

bool BodyParser::ParseSegmentLength(uint32_t* segment) {
  if (!stream_.Is(TokenKind::Number)) return true;
  diag::SourceSpan number = stream_.SpanNow();
  if (!ParseAttribute("the segment length", INT32_MAX, segment)) return false;
  if (*segment == 0) stream_.Error(diag::E0108, number, "a segment has at least 1 iteration");
  return true;
}

bool BodyParser::ParseFor(const Region& around, const std::vector<NameToken>& names, diag::SourceSpan word) {
  std::vector<NameToken> iv(1);
  iv[0] = {stream_.module().Intern(stream_.Now().text), stream_.SpanNow()};
  std::vector<Operand> operands(3);
  if (!stream_.Expect(TokenKind::ValueName, "the name of the loop index") || !stream_.ExpectWord("in") ||
      !ParseOperand(&operands[0]) || !stream_.Expect(TokenKind::DotDot, "'..'") ||
      !ParseOperand(&operands[1]))
    return false;
  LoopClauses clauses;
  if (!ParseForClauses(&clauses)) return false;
  auto& [words, segment, turns, step, carried, initial] = clauses;
  diag::SourceSpan header{word.begin, stream_.SpanPrevious().end};
  if (!stream_.Is(TokenKind::LeftBrace)) return stream_.Unexpected("'{'");
  operands[2] = step ? KnownStep(*step) : Operand{.literal = "1", .span = operands[1].span};
  Operand* group[] = {&operands[0], &operands[1], &operands[2]};
  ResolveGroup(group);
  operands.insert(operands.end(), initial.begin(), initial.end());
  std::vector<Type> types = TypesOf(initial);
  Made made = Create(Op::For, operands, types, word);
  Region region;
  region.kind = Region::Kind::Loop;
  region.expected = types;
  region.header = header;
  region.loop = &region;
  region.scope = around.scope;
  region.holds_tasks = around.holds_tasks && words.Has(ir::Word::Unroll);
  types.insert(types.begin(), TypeOf(operands[0]));
  region.block = AddRegion(made, 0, types);
  if (!made.poison) {
    function_[made.inst].words = words;
    function_[made.inst].attr = segment;
    function_[made.inst].component = turns;
    BeginWith(initial, region.block, 1, made.inst);
    Check(&made, operands);
  }
  PushNames();
  if (made.poison) {
    // The index and the carried values may still be of use for what the body says by itself.
    BindPoison(iv);
    BindPoison(carried);
  } else {
    BindParams(region.block, 0, iv, false);
    BindParams(region.block, 1, carried, false);
  }
  ParseBraces(region);
  PopNames();
  BindResults(names, made);
  return true;
}

/// A constant of the module is as good as the number that it stands for.
Operand BodyParser::KnownStep(Operand step) {
  if (step.IsLiteral() || step.IsPoison()) return step;
  const ir::ValueData& value = function_[step.value];
  const ir::ModuleConstant* constant =
      value.kind == ir::ValueKind::Global ? &shared_.module.constants[value.owner] : nullptr;
  if (constant != nullptr && constant->type.IsScalar())
    step.value = function_.Constant(constant->type, constant->elements[0]);
  return step;
}

bool BodyParser::ParseForClauses(LoopClauses* clauses) {
  auto& [words, segment, turns, step, carried, initial] = *clauses;
  while (stream_.Is(TokenKind::Word)) {
    diag::SourceSpan place = stream_.SpanNow();
    std::string_view text = stream_.Now().text;
    const ir::WordInfo* known = ir::FindWord(Op::For, text);
    bool again = (known != nullptr && words.Has(known->word)) || (text == "step" && step) ||
                 (text == "carry" && !carried.empty());
    if (again) stream_.Error(diag::E0101, place, Quoted(text) + " is stated twice");
    if (known != nullptr) {
      words.Add(known->word);
      stream_.Advance();
      if (known->word == ir::Word::Checkpoint && !ParseSegmentLength(&segment)) return false;
      bool has_number = known->word == ir::Word::Apart && stream_.Is(TokenKind::Number);
      if (has_number && !ParseAttribute("the number of invocations", 65536, &segment)) return false;
      if (words.Has(ir::Word::Apart) && words.Has(ir::Word::Checkpoint))
        stream_.Error(diag::E0108, place, "a loop that is 'apart' has no checkpoints");
    } else if (text == "step") {
      stream_.Advance();
      if (!ParseOperand(&step.emplace())) return false;
    } else if (text == "carry") {
      stream_.Advance();
      if (!ParseCarry(&carried, &initial)) return false;
    } else if (text == "turns" && turns == ir::kNoAttr) {
      stream_.Advance();
      if (!ParseAttribute("the number of turns", 1024, &turns)) return false;
    } else {
      return stream_.Unexpected("'reversed', 'step', 'carry', 'unroll', 'checkpoint', 'apart' or '{'");
    }
  }
  return true;
}

bool BodyParser::ParseWhileClauses(LoopClauses* clauses) {
  auto& [words, segment, turns, bound, carried, initial] = *clauses;
  while (stream_.Is(TokenKind::Word)) {
    const ir::WordInfo* known = ir::FindWord(Op::While, stream_.Now().text);
    if (known != nullptr && known->since != ir::Phase::Raised && !words.Has(known->word)) {
      stream_.Advance();
      words.Add(known->word);
      if (known->word == ir::Word::Checkpoint && !ParseSegmentLength(&segment)) return false;
      if (known->word != ir::Word::HasMax) continue;
      if (!ParseOperand(&bound.emplace())) return false;
      Resolve(*bound, ir::kNoType);
      if (!stream_.AcceptWord("or")) continue;
      if (!stream_.ExpectWord("none")) return false;
      words.Add(ir::Word::OrNone);
    } else if (stream_.IsWord("carry") && carried.empty()) {
      stream_.Advance();
      if (!ParseCarry(&carried, &initial)) return false;
    } else {
      return stream_.Unexpected("'max', 'carry', 'checkpoint', 'unroll', 'no_wrap' or '{'");
    }
  }
  return true;
}

bool BodyParser::ParseWhile(const std::vector<NameToken>& names, diag::SourceSpan word) {
  LoopClauses clauses;
  if (!ParseWhileClauses(&clauses)) return false;
  auto& [words, segment, turns, bound, carried, initial] = clauses;
  diag::SourceSpan header{word.begin, stream_.SpanPrevious().end};
  if (!stream_.Is(TokenKind::LeftBrace))
    return stream_.Unexpected("'{'",
                              "write 'while carry(%a = %x) { ... continue_if %c } do { ... yield %a2 }'");
  std::vector<Operand> operands = initial;
  if (bound) operands.insert(operands.begin(), *bound);
  std::vector<Type> types = TypesOf(initial);
  Made made = Create(Op::While, operands, types, word);
  Region test;
  test.kind = Region::Kind::Test;
  test.header = header;
  Region body;
  body.kind = Region::Kind::Loop;
  body.header = header;
  body.expected = types;
  body.loop = &body;
  body.scope = region_ == nullptr ? nullptr : region_->scope;
  body.holds_tasks = region_ != nullptr && region_->holds_tasks && words.Has(ir::Word::Unroll);
  test.block = AddRegion(made, 0, types);
  body.block = AddRegion(made, 1);
  if (!made.poison) {
    function_[made.inst].words = words;
    function_[made.inst].attr = segment;
    BeginWith(initial, test.block, 0, made.inst);
    Check(&made, operands);
  }
  PushNames();
  if (made.poison) {
    BindPoison(carried);
  } else {
    BindParams(test.block, 0, carried, false);
  }
  ParseBraces(test);
  bool good = stream_.Full() || stream_.AcceptWord("do");
  if (!good) stream_.Unexpected("'do' and the body of the loop");
  if (good && !stream_.Full()) ParseBraces(body);
  PopNames();
  if (!good) return false;
  BindResults(names, made);
  return true;
}

bool BodyParser::ParseScope(const std::vector<NameToken>& names, diag::SourceSpan word) {
  NameToken label{stream_.module().Intern(stream_.Now().text), stream_.SpanNow()};
  if (!stream_.Expect(TokenKind::ValueName, "the name of the scope")) return false;
  Region region;
  region.kind = Region::Kind::Scope;
  if (stream_.Accept(TokenKind::Arrow)) {
    do {
      region.expected.emplace_back();
      if (!ParseType(stream_, &region.expected.back())) return false;
    } while (stream_.Accept(TokenKind::Comma));
  }
  region.header = {word.begin, stream_.SpanPrevious().end};
  if (!stream_.Is(TokenKind::LeftBrace))
    return stream_.Unexpected("'->' and types, or '{'",
                              "write '%r = scope %s -> f32 { ... exit %s, %a ... yield %b }'");
  Made made = Create(Op::Scope, {}, region.expected, word);
  region.block = AddRegion(made, 0, {&ir::kLabel, 1});
  region.loop = region_->loop;
  region.scope = &region;
  region.outer = region_->scope;
  Check(&made, {});
  PushNames();
  BindParams(region.block, 0, {label}, false);
  ParseBraces(region);
  PopNames();
  BindResults(names, made);
  return true;
}

bool BodyParser::ParseIf(Region& around, const std::vector<NameToken>& names, diag::SourceSpan word) {
  std::vector<Value> values;
  if (!ParseBranches(around, names.size(), word, {}, &values)) return false;
  if (stream_.Full()) return true;
  for (size_t n = 0; n < names.size(); ++n) Define(names[n], values[n]);
  return true;
}

bool BodyParser::ParseBranches(Region& around, size_t results, diag::SourceSpan word,
                               std::span<const Type> hints, std::vector<Value>* values) {
  values->assign(results, kPoison);
  std::vector<Operand> condition(1);
  if (!ParseOperand(&condition[0])) return false;
  diag::SourceSpan header{word.begin, stream_.SpanPrevious().end};
  ir::Words words = ParseRaisedWords(Op::If);
  if (!stream_.Is(TokenKind::LeftBrace)) return stream_.Unexpected("'{'");
  Resolve(condition[0], ir::kI1);
  // The types of the results follow from the branches; until then f32 stands for them.
  std::vector<Type> types(results, ir::kF32);
  Made made = Create(Op::If, condition, types, word);
  Region branches[2];
  for (uint32_t n = 0; n < 2; ++n) {
    Region& branch = branches[n];
    branch.kind = Region::Kind::Branch;
    branch.header = header;
    branch.yield_span = header;
    branch.holds_tasks = around.holds_tasks;
    branch.loop = around.loop;
    branch.scope = around.scope;
    branch.block = AddRegion(made, n);
  }
  if (!made.poison) {
    function_[made.inst].words = words;
    Check(&made, condition);
  }
  PushNames();
  ParseBraces(branches[0]);
  PopNames();
  if (stream_.Full()) return true;
  bool has_else = stream_.AcceptWord("else");
  if (has_else && stream_.IsWord("if")) {
    std::vector<Type> asked(hints.begin(), hints.end());
    if (asked.empty() && branches[0].yields.size() == results) {
      for (const Operand& yielded : branches[0].yields) asked.push_back(TypeOf(yielded));
    }
    if (!ParseElseIf(branches[1], results, asked)) return false;
  } else if (has_else) {
    PushNames();
    bool braces = ParseBraces(branches[1]);
    PopNames();
    if (!braces) return false;
  }
  if (stream_.Full()) return true;
  if (!CheckBranches(branches, results, has_else, header)) made.poison = true;
  std::vector<unsigned char> good(results, 0);
  if (!made.poison) {
    good = FinishBranches(branches[0], branches[1], made.inst, results, hints);
    for (const Region& branch : branches) YieldBranch(branch);
  }
  if (branches[0].left && branches[1].left) EndUnreached(around);
  for (uint32_t n = 0; n < results; ++n) {
    if (good[n] != 0) (*values)[n] = function_.Result(made.inst, n);
  }
  return true;
}

/// `else if ...`: the other branch holds one `if`, and yields its results.
bool BodyParser::ParseElseIf(Region& branch, size_t results, std::span<const Type> hints) {
  diag::SourceSpan word = stream_.SpanNow();
  if (!EnterNesting(word)) return false;
  stream_.Advance();
  Block outer = std::exchange(block_, branch.block);
  const Region* around = std::exchange(region_, &branch);
  PushNames();
  branch.depth = names_.Depth();
  std::vector<Value> values;
  bool good = ParseBranches(branch, results, word, hints, &values);
  PopNames();
  region_ = around;
  block_ = outer;
  LeaveNesting();
  if (!good || branch.left) return good;
  branch.ended = true;
  branch.yield_span = word;
  for (Value value : values) branch.yields.push_back({.value = value, .span = word});
  return true;
}

/// Whether the branches give what the results ask for; says what is wrong.
bool BodyParser::CheckBranches(Region* branches, size_t results, bool has_else, diag::SourceSpan header) {
  bool good = true;
  for (size_t n = 0; n < 2; ++n) {
    bool orphan = branches[n].kind == Region::Kind::Orphan;
    if (orphan) good = false;
    if (branches[n].left) {
      // A branch that does not come to its end need not give results.
      bool other_too = n == 1 && branches[0].left && results != 0;
      if (other_too) {
        stream_.Error(diag::E0134, header, "neither branch of this 'if' yields its results")
            .AddHelp("leave the names away: both branches leave the iteration");
        good = false;
      }
      continue;
    }
    if (orphan || (n == 1 && !has_else && results == 0)) continue;
    if (branches[n].yields.size() == results) continue;
    good = false;
    std::string count = std::to_string(branches[n].yields.size());
    if (n == 1 && !has_else) {
      stream_.Error(diag::E0115, header, "an 'if' with results needs an 'else'")
          .AddHelp("write 'else { yield ... }' with the values for the other case");
    } else if (!branches[n].ended) {
      stream_
          .Error(
              diag::E0115,
              function_[branches[n].block].insts.empty()
                  ? header
                  : function_[function_[branches[n].block].insts.back()].span,
              n == 0 ? "the first branch ends without a 'yield'" : "the 'else' branch ends without a 'yield'")
          .AddNote(header, "this 'if' has " + std::to_string(results) + " results")
          .AddHelp("write 'yield' and the values before the '}'");
    } else if (results == 0) {
      stream_.Error(diag::E0117, branches[n].yield_span, "the values of this 'if' have no names")
          .AddNote(header, "of this 'if'")
          .AddHelp("write '%r = if ...'");
      break;
    } else {
      stream_
          .Error(diag::E0116, branches[n].yield_span,
                 "this branch yields " + count + (count == "1" ? " value" : " values") + ", the 'if' has " +
                     std::to_string(results))
          .AddNote(header, "of this 'if'");
    }
  }
  return good;
}

/// Gives this type to the value that the branch yields there; instructions that this takes belong to the
/// branch.
void BodyParser::ResolveYield(Region& region, size_t position, Type type) {
  Block outer = std::exchange(block_, region.block);
  Resolve(region.yields[position], type);
  block_ = outer;
}

std::vector<unsigned char> BodyParser::FinishBranches(Region& then_region, Region& else_region, Inst inst,
                                                      size_t results, std::span<const Type> hints) {
  std::vector<unsigned char> good(results, 0);
  constexpr const char* kRegisters = "an 'if' gives scalars, vectors and matrices, not ";
  auto hint = [&](size_t n) { return n < hints.size() ? hints[n] : ir::kNoType; };
  auto give = [&](size_t n, Type type) {
    function_[function_.Result(inst, static_cast<uint32_t>(n))].type = type;
    good[n] = 1;
  };
  if (then_region.left || else_region.left) {
    Region& staying = then_region.left ? else_region : then_region;
    for (size_t n = 0; n < staying.yields.size(); ++n) {
      Operand& only = staying.yields[n];
      ResolveYield(staying, n, hint(n));
      Type type = TypeOf(only);
      if (only.IsPoison()) continue;
      if (type.IsRegister()) {
        give(n, type);
        continue;
      }
      stream_.Error(diag::E0116, only.span, kRegisters + TypeName(shared_.module, type));
      only.value = kPoison;
    }
    return good;
  }
  for (size_t n = 0; n < results; ++n) {
    Operand* pair[] = {&then_region.yields[n], &else_region.yields[n]};
    Type type = GroupType(pair);
    if (type.IsNone()) type = hint(n);
    if (type.IsNone()) type = DefaultType(pair);
    ResolveYield(then_region, n, type);
    ResolveYield(else_region, n, type);
    Type left = TypeOf(*pair[0]);
    Type right = TypeOf(*pair[1]);
    if (pair[0]->IsPoison() || pair[1]->IsPoison()) continue;
    if (left == right && left.IsRegister()) {
      give(n, left);
      continue;
    }
    std::string text = "value " + std::to_string(n + 1) + " of 'yield' is " +
                       TypeName(shared_.module, right) + ", the other branch yields " +
                       TypeName(shared_.module, left);
    LearnWanted(pair[0]->value, right);
    LearnWanted(pair[1]->value, left);
    if (left == right) text = kRegisters + TypeName(shared_.module, left);
    stream_.Error(diag::E0116, pair[1]->span, std::move(text)).AddNote(pair[0]->span, "the other branch");
    pair[1]->value = kPoison;
  }
  return good;
}

void BodyParser::YieldBranch(const Region& region) {
  if (region.left || AnyPoison(region.yields)) return;
  std::vector<Value> values;
  for (const Operand& operand : region.yields) values.push_back(operand.value);
  Inst inst = function_.NewInst(Op::Yield, values, {}, region.yield_span);
  function_.Append(region.block, inst);
  for (StringId comment : region.yield_comments) function_.comments.push_back({inst, {}, comment});
}

bool BodyParser::ParseParallel(Region& region, diag::SourceSpan word) {
  if (!region.holds_tasks && region.kind != Region::Kind::Orphan) {
    bool in_function = region.kind == Region::Kind::Function;
    stream_
        .Error(diag::E0125, word,
               in_function ? "'parallel' stands in a kernel, not in a function"
                           : "'parallel' stands at the top level of a kernel, in branches there and in "
                             "loops there that are unrolled")
        .AddNote(region.header, "it stands inside this")
        .AddHelp(
            region.kind == Region::Kind::Loop
                ? "mark a loop with few, constant iterations 'unroll', launch the kernel once for each, or "
                  "write "
                  "'for' here"
                : "write 'for' here, or add the loop as a further axis: 'parallel %i, %j in 0..%n, 0..%m'");
  }
  std::vector<NameToken> ivs;
  if (!stream_.IsWord("over")) {
    do {
      NameToken name{stream_.module().Intern(stream_.Now().text), stream_.SpanNow()};
      if (!stream_.Expect(TokenKind::ValueName, "the name of an index")) return false;
      ivs.push_back(name);
    } while (stream_.Accept(TokenKind::Comma));
  }
  if (stream_.AcceptWord("over")) return ParseParallelOver(ivs, word);
  if (stream_.AcceptWord("in")) return ParseParallelRanges(ivs, word);
  return stream_.Unexpected("'in' or 'over'");
}

/// The numbers that raising writes on a parallel loop.
bool BodyParser::ParseRaisedNumbers(ParallelHead* head) {
  auto& [waking, copies, reach] = head->workers;
  auto parse = [&](const char* word, const char* what, uint64_t limit, uint32_t* number) {
    return !stream_.AcceptWord(word) || ParseAttribute(what, limit, number);
  };
  bool good = parse("lanes", "the number of lanes", 1024, &head->lanes) &&
              parse("waking", "the number of iterations", ir::kNoAttr, &waking) &&
              parse("copies", "the number of bytes", ir::kNoAttr, &copies);
  if (good && stream_.AcceptWord("reach")) reach.resize(head->ivs.size());
  for (size_t axis = 0; axis < reach.size() && good; ++axis) {
    good = (axis == 0 || stream_.Expect(TokenKind::Comma, "','")) &&
           ParseAttribute("the distance of iterations", ir::kNoAttr, &reach[axis]);
  }
  return good;
}

bool BodyParser::ParseParallelRanges(const std::vector<NameToken>& ivs, diag::SourceSpan word) {
  std::vector<Operand> operands;
  do {
    operands.resize(operands.size() + 2);
    if (!ParseOperand(&operands[operands.size() - 2]) || !stream_.Expect(TokenKind::DotDot, "'..'") ||
        !ParseOperand(&operands[operands.size() - 1]))
      return false;
    Operand* pair[] = {&operands[operands.size() - 2], &operands[operands.size() - 1]};
    ResolveGroup(pair);
  } while (stream_.Accept(TokenKind::Comma));
  uint32_t block_size = 0;
  if (stream_.AcceptWord("block")) {
    diag::SourceSpan place = stream_.SpanNow();
    if (!ParseAttribute("the block size", 65536, &block_size)) return false;
    if (block_size == 0) stream_.Error(diag::E0108, place, "a block has at least 1 iteration");
  }
  bool workgroup = stream_.AcceptWord("workgroup");
  diag::SourceSpan in_order = stream_.SpanNow();
  bool serial = stream_.AcceptWord("serial");
  if (serial && (block_size != 0 || workgroup))
    stream_.Error(diag::E0108, in_order, "one thread runs iterations in order: there are no blocks");
  ParallelHead head{.op = Op::Parallel, .ivs = ivs, .operands = std::move(operands), .attr = block_size};
  if (!EndParallelHead(&head, word, serial ? "'{'" : "',', 'block', 'workgroup', 'serial' or '{'"))
    return false;
  if (workgroup) head.words.Add(ir::Word::Workgroup);
  bool good = head.operands.size() == 2 * ivs.size();
  if (!good) {
    stream_.Error(diag::E0114, head.span,
                  std::to_string(ivs.size()) + " indices run over " +
                      std::to_string(head.operands.size() / 2) + " ranges");
  }
  // A head with errors is reported as that of a parallel loop.
  if (serial && good && head.ivs.size() <= ir::kMaxRank && !AnyPoison(head.operands)) {
    ParseSerialBody(head, word, 0);
  } else {
    ParseParallelBody(head, word, good);
  }
  return true;
}

bool BodyParser::ParseParallelOver(const std::vector<NameToken>& ivs, diag::SourceSpan word) {
  std::vector<Operand> base(1);
  uint32_t field = ir::kNoAttr;
  if (!stream_.Is(TokenKind::ValueName))
    return stream_.Unexpected("a field of a layout", "write 'parallel %i over %g::mass { ... }'");
  if (!ParseName(&base[0]) || !ParseField(base[0], &field)) return false;
  ParallelHead head{.op = Op::ParallelOver, .ivs = ivs, .operands = base, .attr = field};
  if (!EndParallelHead(&head, word, "'{'")) return false;
  bool good = true;
  Type type = TypeOf(base[0]);
  if (!base[0].IsPoison() && !type.IsLayout()) {
    stream_
        .Error(diag::E0129, base[0].span,
               "'parallel over' runs over a field of a layout, this is " + TypeName(shared_.module, type))
        .AddHelp("write 'parallel %i in 0..shape(%x, 0)' for a buffer");
    good = false;
  }
  if (good && !base[0].IsPoison()) {
    uint32_t axes = shared_.module.IndexCount(function_, base[0].value, field);
    if (axes != ivs.size() || axes == 0) {
      stream_.Error(diag::E0123, base[0].span,
                    "the field has " + std::to_string(axes) + " axes, the loop " +
                        std::to_string(ivs.size()) + " indices");
      good = false;
    }
  }
  ParseParallelBody(head, word, good);
  return true;
}

/// The end of both forms: the words of raised modules, up to the brace.
bool BodyParser::EndParallelHead(ParallelHead* head, diag::SourceSpan word, const char* expected) {
  head->words = ParseRaisedWords(head->op);
  if (!ParseRaisedNumbers(head)) return false;
  head->span = {word.begin, stream_.SpanPrevious().end};
  if (stream_.Is(TokenKind::LeftBrace)) return true;
  return stream_.Unexpected(expected);
}

/// Iterations in order: a `for` for each axis, the last one innermost.
void BodyParser::ParseSerialBody(const ParallelHead& head, diag::SourceSpan word, size_t axis) {
  std::vector<Operand> operands = {head.operands[2 * axis], head.operands[2 * axis + 1]};
  operands.push_back({.literal = "1", .span = operands[1].span});
  Operand* group[] = {&operands[0], &operands[1], &operands[2]};
  ResolveGroup(group);
  Made made = Create(Op::For, operands, {}, word);
  bool innermost = axis + 1 == head.ivs.size();
  Region region;
  // A `break` would end the last axis alone.
  region.kind = axis != 0 && innermost ? Region::Kind::Parallel : Region::Kind::Loop;
  region.header = head.span;
  region.loop = &region;
  Type type = TypeOf(operands[0]);
  region.block = AddRegion(made, 0, {&type, 1});
  Check(&made, operands);
  PushNames();
  BindParams(region.block, 0, {head.ivs[axis]}, made.poison);
  if (innermost) {
    ParseBraces(region);
  } else {
    Block outer = std::exchange(block_, region.block);
    ParseSerialBody(head, word, axis + 1);
    block_ = outer;
    function_.Append(region.block, function_.NewInst(Op::Yield, {}, {}, head.span));
  }
  PopNames();
}

void BodyParser::ParseParallelBody(const ParallelHead& head, diag::SourceSpan word, bool good) {
  Made made{.poison = !good};
  if (good) made = Create(head.op, head.operands, {}, word);
  Region region;
  region.kind = Region::Kind::Parallel;
  region.header = head.span;
  region.loop = &region;
  std::vector<Type> types(head.ivs.size(), ir::kI32);
  for (size_t n = 0; good && head.op == Op::Parallel && n < types.size(); ++n)
    types[n] = TypeOf(head.operands[2 * n]);
  region.block = AddRegion(made, 0, types);
  if (!made.poison) {
    function_[made.inst].attr = head.attr;
    function_[made.inst].words = head.words;
    function_[made.inst].component = head.lanes;
    if (head.workers != ir::WorkerNumbers()) function_.workers[made.inst] = head.workers;
    Check(&made, head.operands);
  }
  PushNames();
  BindParams(region.block, 0, head.ivs, made.poison);
  ParseBraces(region);
  PopNames();
}

}  // namespace adc::parse
