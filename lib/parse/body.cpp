#include "parse/body.h"

#include "diag/errors/parse.h"
#include "ir/module.h"
#include "support/check.h"

namespace adc::parse {

BodyParser::BodyParser(Shared& shared, const diag::SourceFile& file, uint32_t begin, uint32_t end,
                       ir::Function& function, Names& names, bool silent,
                       const std::unordered_map<StringId, bool>& unsure)
    : shared_(shared),
      stream_(shared, file, begin, end),
      function_(function),
      names_(names),
      silent_(silent ? 1 : 0),
      unsure_(unsure),
      end_(end),
      block_(function.Body()) {}

void BodyParser::Parse(std::span<const diag::SourceSpan> param_spans) {
  uint32_t errors = shared_.diagnostics.ErrorTotal();
  names_.Clear();
  PushNames();
  std::span<const Value> params = function_.Params();
  for (size_t n = 0; n < params.size(); ++n) {
    if (!names_.IsVisible(function_[params[n]].name)) {
      diag::SourceSpan place = n < param_spans.size() ? param_spans[n] : function_.span;
      names_.Define(function_[params[n]].name, params[n], place);
      NotePlace(place, place, params[n]);
    }
  }
  Region region;
  region.kind = function_.IsKernel() ? Region::Kind::Kernel : Region::Kind::Function;
  if (silent_ != 0) region.kind = Region::Kind::Orphan;  // its proper end is not known
  region.block = function_.Body();
  region.expected = function_.result_types;
  region.header = function_.span;
  region.holds_tasks = function_.IsKernel();
  ParseBraces(region);
  PopNames();
  if (shared_.diagnostics.ErrorTotal() != errors) function_.broken = true;
}

void BodyParser::PushNames() {
  names_.Push();
  if (shared_.places != nullptr) scope_places_.push_back(shared_.places->values.size());
}

void BodyParser::PopNames() {
  names_.Pop();
  if (shared_.places == nullptr) return;
  std::vector<ValuePlace>& places = shared_.places->values;
  for (size_t n = scope_places_.back(); n < places.size(); ++n) {
    if (places[n].scope_end == 0) places[n].scope_end = stream_.SpanPrevious().end;
  }
  scope_places_.pop_back();
}

void BodyParser::NotePlace(diag::SourceSpan span, diag::SourceSpan definition, Value value) {
  if (shared_.places == nullptr || !definition.Valid()) return;
  Type type = value == kPoison ? ir::kNoType : function_.TypeOf(value);
  shared_.places->values.push_back({span, definition, type});
}

bool BodyParser::EnterNesting(diag::SourceSpan span) {
  ++nesting_;
  if (nesting_ <= ir::kMaxNesting) return true;
  --nesting_;
  stream_.Error(diag::E0119, span, "nested deeper than " + std::to_string(ir::kMaxNesting))
      .AddHelp("give inner values a name, or move inner regions to a function");
  return false;
}

bool BodyParser::ParseBraces(Region& region) {
  diag::SourceSpan open = stream_.SpanNow();
  if (!stream_.Is(TokenKind::LeftBrace)) return stream_.Unexpected("'{'");
  if (!EnterNesting(open)) {
    if (!stream_.SkipBlock()) unclosed_reported_ = true;
    return true;
  }
  stream_.Advance();
  Block outer = block_;
  block_ = region.block;
  ParseBlock(region, open);
  block_ = outer;
  LeaveNesting();
  return true;
}

void BodyParser::ParseBlock(Region& region, diag::SourceSpan open) {
  region.depth = names_.Depth();
  const Region* around = std::exchange(region_, &region);
  ParseStatements(region, open);
  region_ = around;
}

void BodyParser::ParseStatements(Region& region, diag::SourceSpan open) {
  std::vector<StringId> held;  // comments above a statement that makes no instruction
  while (!stream_.Is(TokenKind::RightBrace) && !stream_.Is(TokenKind::End)) {
    if (stream_.Full()) return;
    uint32_t begin = stream_.Now().begin;
    std::vector<StringId> comments = std::exchange(held, {});
    for (StringId comment : stream_.TakeComments()) comments.push_back(comment);
    size_t first = function_[region.block].insts.size();
    size_t end_comments = region.yield_comments.size();
    ParseStatement(region);
    if (!comments.empty() && region.kind == Region::Kind::Branch && region.ended && end_comments == 0 &&
        function_[region.block].insts.size() == first)
      region.yield_comments = comments;
    else if (!comments.empty() && !AttachComments(region, comments, first))
      held = std::move(comments);
    if (stream_.Now().begin == begin && !stream_.Is(TokenKind::End)) stream_.Advance();
  }
  for (StringId comment : stream_.TakeComments()) held.push_back(comment);
  for (StringId comment : held) function_.comments.push_back({{}, region.block, comment});
  diag::SourceSpan close = stream_.SpanNow();
  if (!stream_.Accept(TokenKind::RightBrace)) {
    if (!unclosed_reported_ && !stream_.Full()) {
      unclosed_reported_ = true;
      stream_.Error(diag::E0118, stream_.SpanPrevious(), "expected '}' after this")
          .AddNote(open, "this '{' is open");
    }
    return;
  }
  if (!region.ended) SupplyEnd(region, close);
}

bool BodyParser::AttachComments(Region& region, const std::vector<StringId>& comments, size_t first) {
  const std::vector<Inst>& insts = function_[region.block].insts;
  if (first >= insts.size()) return false;
  for (StringId comment : comments) function_.comments.push_back({insts[first], {}, comment});
  return true;
}

void BodyParser::SupplyEnd(Region& region, diag::SourceSpan close) {
  auto missing = [&](const char* text, const char* note, const char* help) {
    size_t count = region.expected.size();
    std::string values =
        std::to_string(count) + (region.kind == Region::Kind::Function ? " result" : " value");
    stream_.Error(diag::E0115, close, text)
        .AddNote(region.header, note + values + (count == 1 ? "" : "s"))
        .AddHelp(help);
  };
  switch (region.kind) {
    case Region::Kind::Orphan:
    case Region::Kind::Branch:  // once the other branch is known
      return;
    case Region::Kind::Test:
      stream_.Error(diag::E0115, close, "the condition of a 'while' ends with 'continue_if'")
          .AddNote(region.header, "of this loop")
          .AddHelp("write 'continue_if %c' with an i1 before the '}'");
      return;
    case Region::Kind::Function:
      if (region.expected.empty()) break;
      return missing("the function ends without a 'return'", "it declares ",
                     "write 'return %a' before the '}'");
    case Region::Kind::Loop:
      if (region.expected.empty()) break;
      return missing("the region ends without a 'yield'", "the loop carries ",
                     "write 'yield' and the values for the next iteration before the '}'");
    case Region::Kind::Scope:
      if (region.expected.empty()) break;
      return missing("the scope ends without a 'yield'", "it gives ",
                     "write 'yield' or 'exit' and the values before the '}'");
    case Region::Kind::Kernel:
    case Region::Kind::Parallel:
      break;
  }
  bool body = region.kind == Region::Kind::Function || region.kind == Region::Kind::Kernel;
  function_.Append(region.block, function_.NewInst(body ? Op::Return : Op::Yield, {}, {}, close));
}

void BodyParser::ParseStatement(Region& region) {
  if (!stream_.AcceptWord(ir::Spelling(ir::Word::Cut))) return ParseUncut(region);
  size_t before = function_[region.block].insts.size();
  ParseUncut(region);
  const std::vector<Inst>& insts = function_[region.block].insts;
  if (insts.size() > before) function_[insts.back()].words.Add(ir::Word::Cut);
}

/// A statement, without a word in front.
void BodyParser::ParseUncut(Region& region) {
  uint32_t begin = stream_.Now().begin;
  std::vector<NameToken> names;
  bool good = true;
  if (stream_.Is(TokenKind::ValueName)) {
    do {
      NameToken name{stream_.module().Intern(stream_.Now().text), stream_.SpanNow()};
      good = stream_.Expect(TokenKind::ValueName, "a value name");
      if (good) names.push_back(name);
    } while (good && stream_.Accept(TokenKind::Comma));
    bool element = stream_.Is(TokenKind::LeftBracket) || stream_.Is(TokenKind::DoubleColon);
    if (good && element && names.size() == 1) {
      if (!ParseAssignment(region, names[0]) && !stream_.Full()) Recover();
      return;
    }
    good = good && stream_.Expect(TokenKind::Equals, "'='");
  }
  if (good && ParseStatementAfterNames(region, names, begin)) return;
  BindPoison(names);
  if (!stream_.Full()) Recover();
}

void BodyParser::CheckNotEnded(Region& region, diag::SourceSpan span) {
  if (!region.ended) return;
  stream_.Error(diag::E0124, span, "this statement stands after the end of its region")
      .AddHelp("'yield', 'continue_if', 'break', 'continue', 'exit' and 'return' come last");
  region.ended = false;  // once is enough
  region.kind = Region::Kind::Orphan;
}

bool BodyParser::ParseStatementAfterNames(Region& region, const std::vector<NameToken>& names,
                                          uint32_t begin) {
  diag::SourceSpan word = stream_.SpanNow();
  CheckNotEnded(region, word);
  if (stream_.IsWord("else")) {
    stream_.Error(diag::E0101, word, "there is no 'if' before this 'else'")
        .AddHelp("'else' stands right after the '}' of an 'if'");
    return false;
  }
  bool symbol = stream_.Is(TokenKind::Symbol) && names.empty();
  if (names.empty() ? symbol : !stream_.Is(TokenKind::Word) || BeginsExpression())
    return ParseExpressionStatement(names, begin);
  Op op{};
  if (!ParseOpWord(&op)) return false;
  if (ir::IsTerminator(op)) return ParseTerminator(region, op, names);
  if (op == Op::For) return ParseFor(region, names, word);
  if (op == Op::While) return ParseWhile(names, word);
  if (op == Op::Scope) return ParseScope(names, word);
  if (op == Op::If) return ParseIf(region, names, word);
  if (op == Op::Parallel || op == Op::ParallelOver) {
    if (!names.empty()) {
      stream_.Error(diag::E0117, names[0].span, "'parallel' has no results");
      BindPoison(names);
    }
    return ParseParallel(region, word);
  }
  size_t values_before = function_.ValueCount();
  Piece piece;
  if (!ParseInstructionPiece(op, word, &piece)) return false;
  if (!piece.is_whole && !piece.is_call) {
    if (!ParsePostfixAfter(&piece) || !ParseBinaryAfter(&piece, 0) || !ParseTernary(&piece)) return false;
  } else if (HasOperator()) {
    if (piece.is_whole) return RefuseOperator(ir::InfoOf(op).spelling);
    Operand operand;
    if (!TakeOperand(piece, &operand)) return false;
    piece = Piece{.operand = operand};
    if (!ParsePostfixAfter(&piece) || !ParseBinaryAfter(&piece, 0) || !ParseTernary(&piece)) return false;
  }
  return FinishExpressionStatement(names, begin, op, piece, values_before);
}

/// A statement, after its '=', whose first token is no operation, or begins a call of a function.
bool BodyParser::ParseExpressionStatement(const std::vector<NameToken>& names, uint32_t begin) {
  size_t values_before = function_.ValueCount();
  Piece piece;
  if (!ParseExpression(&piece, /*head=*/false)) return false;
  return FinishExpressionStatement(names, begin, Op::Call, piece, values_before);
}

bool BodyParser::FinishExpressionStatement(const std::vector<NameToken>& names, uint32_t begin, Op op,
                                           Piece& piece, size_t values_before) {
  if (!piece.is_whole && !piece.is_call) {
    if (names.empty()) {
      if (piece.operand.IsPoison()) return true;
      stream_.Error(diag::E0117, stream_.SpanFrom(begin), "the value of this expression has no name")
          .AddHelp("write '%name = ...', or store it: '%x[%i] = ...'");
      return true;
    }
    BindExpression(names, piece.operand, values_before);
    return true;
  }
  const Made& made = piece.made;
  if (!made.poison && names.empty() && function_[made.inst].result_count != 0 && op != Op::Call &&
      !ir::IsAtomic(op)) {
    stream_.Error(diag::E0117, stream_.SpanFrom(begin), "the result of " + ir::OpName(op) + " has no name")
        .AddHelp("write '%name = " + std::string(ir::InfoOf(op).spelling) + " ...'");
  }
  BindResults(names, made);
  return true;
}

void BodyParser::BindExpression(const std::vector<NameToken>& names, Operand& operand, size_t values_before) {
  if (names.size() != 1) {
    stream_.Error(diag::E0117, {names.front().span.begin, names.back().span.end},
                  "an expression has 1 result, not " + std::to_string(names.size()));
    for (const NameToken& name : names) Define(name, kPoison);
    return;
  }
  if (operand.IsLiteral() && TypeOf(operand).IsNone() && KindOf(operand) != ir::LiteralKind::Bool) {
    if (!names_.IsVisible(names[0].name)) ReportUntyped(operand);
    operand.value = kPoison;
  }
  Resolve(operand, ir::kNoType);
  Value value = operand.value;
  if (value == kPoison) {
    Define(names[0], kPoison);
    return;
  }
  if (!function_.TypeOf(value).IsRegister()) {
    stream_
        .Error(diag::E0107, operand.span,
               "an expression is a scalar, a vector or a matrix, not " +
                   TypeName(shared_.module, function_.TypeOf(value)))
        .AddHelp("write '%x[%i]' for an element of '%x'");
    Define(names[0], kPoison);
    return;
  }
  // Another name for what has one already stays the parser's own.
  bool fresh = value.raw >= values_before && function_[value].kind == ir::ValueKind::Result;
  CheckComponentName(names[0]);
  Define(names[0], value, /*alias=*/!fresh);
}

/// `%p.x = %a * 2.0` would be a name of its own and leave the vector `%p` as it is.
void BodyParser::CheckComponentName(const NameToken& name) {
  std::string_view text = shared_.module.Text(name.name);
  size_t dot = text.rfind('.');
  if (dot == std::string_view::npos) return;
  const Names::Entry& entry = names_.Look(shared_.module.Intern(text.substr(0, dot)));
  bool vector =
      entry.state == Names::State::Visible && entry.value != kPoison && function_.TypeOf(entry.value).IsVec();
  std::optional<uint32_t> component = ComponentFromLetter(shared_.module.Text(name.name).substr(dot + 1));
  if (!vector || !component) return;
  std::string base(shared_.module.Text(name.name).substr(0, dot));
  stream_
      .Error(diag::E0137, name.span,
             "a component of '%" + base + "' cannot be assigned: values do not change")
      .AddHelp("write '%new = vec.set %" + base + ", " + std::to_string(*component) +
               ", ...' and use '%new'");
}

bool BodyParser::ParseTerminator(Region& region, Op op, const std::vector<NameToken>& names) {
  diag::SourceSpan word = stream_.SpanPrevious();
  if (!names.empty()) {
    stream_.Error(diag::E0117, names[0].span, ir::OpName(op) + " has no results");
    BindPoison(names);
  }
  if (op == Op::Exit) return ParseExit(region, word);
  std::vector<Operand> values;
  bool closes = stream_.Is(TokenKind::RightBrace) || stream_.Is(TokenKind::End);
  if (!closes && !ParseOperandList(&values)) {
    region.ended = true;
    region.kind = Region::Kind::Orphan;
    return false;
  }
  diag::SourceSpan span =
      values.empty() ? word : diag::SourceSpan{values.front().span.begin, values.back().span.end};
  if (op == Op::Break || op == Op::Continue) return ParseLeave(region, op, std::move(values), word);
  bool right =
      op == Op::Yield ? region.kind == Region::Kind::Loop || region.kind == Region::Kind::Branch ||
                            region.kind == Region::Kind::Scope || region.kind == Region::Kind::Parallel
      : op == Op::ContinueIf ? region.kind == Region::Kind::Test
                             : region.kind == Region::Kind::Function || region.kind == Region::Kind::Kernel;
  if (!right && region.kind != Region::Kind::Orphan) {
    const char* wanted = region.kind == Region::Kind::Test ? "'continue_if'"
                         : region.kind == Region::Kind::Function || region.kind == Region::Kind::Kernel
                             ? "'return'"
                             : "'yield'";
    stream_.Error(diag::E0125, word, ir::OpName(op) + " cannot end this region, which ends with " + wanted)
        .AddNote(region.header, "the region belongs to this");
    region.kind = Region::Kind::Orphan;
  }
  EndRegion(region, op, std::move(values), span);
  region.ended = true;
  return true;
}

bool BodyParser::ParseLeave(Region& region, Op op, std::vector<Operand> values, diag::SourceSpan word) {
  region.ended = true;
  if (region.kind == Region::Kind::Orphan) return true;
  const Region* loop = region.loop;
  bool in_parallel = loop != nullptr && loop->kind == Region::Kind::Parallel;
  if (loop == nullptr || (op == Op::Break && in_parallel)) {
    diag::Diagnostic& error =
        stream_.Error(diag::E0134, word,
                      in_parallel ? "'break' cannot end a 'parallel', whose iterations run at once"
                                  : ir::OpName(op) + " stands in no loop");
    error.AddNote(in_parallel ? loop->header : region.header, "it stands inside this");
    if (in_parallel) error.AddHelp("'continue' ends this iteration and leaves the others alone");
    region.kind = Region::Kind::Orphan;
    return true;
  }
  diag::SourceSpan span =
      values.empty() ? word : diag::SourceSpan{values.front().span.begin, values.back().span.end};
  region.left = true;
  if (CheckEndValues(*loop, op, values, span)) EndWith(region, op, values, span);
  return true;
}

/// `exit %s, values`, after the word.
bool BodyParser::ParseExit(Region& region, diag::SourceSpan word) {
  region.ended = true;
  diag::SourceSpan place = stream_.SpanNow();
  StringId name = stream_.module().Intern(stream_.Now().text);
  std::vector<Operand> values;
  if (!stream_.Expect(TokenKind::ValueName, "the name of the scope that it leaves") ||
      (stream_.Accept(TokenKind::Comma) && !ParseOperandList(&values))) {
    region.kind = Region::Kind::Orphan;
    return false;
  }
  if (region.kind == Region::Kind::Orphan) return true;
  const Names::Entry& entry = names_.Look(name);
  bool visible = entry.state == Names::State::Visible;
  bool label = visible && entry.value != kPoison && function_.TypeOf(entry.value) == ir::kLabel;
  const Region* scope = label ? region.scope : nullptr;
  while (scope != nullptr && scope->block != Block(function_[entry.value].owner)) scope = scope->outer;
  if (scope == nullptr) {
    region.kind = Region::Kind::Orphan;
    if (visible && entry.value == kPoison) return true;
    std::string quoted = Quoted("%" + std::string(shared_.module.Text(name).substr(0, 64)));
    diag::Diagnostic& error = stream_.Error(
        diag::E0134, place,
        label ? "'exit' cannot leave " + quoted + " from here" : "'exit' stands in no scope " + quoted);
    if (visible) error.AddNote(entry.place, label ? "the scope begins here" : "this is no scope");
    error.AddHelp(label ? "it leaves branches, bodies of loops and scopes, not the condition of a 'while'"
                        : "'exit' names a scope around it: 'scope %s { ... exit %s ... }'");
    return true;
  }
  NotePlace(place, entry.place, entry.value);
  region.left = true;
  diag::SourceSpan span = values.empty() ? word : diag::SourceSpan{word.begin, values.back().span.end};
  if (!CheckEndValues(*scope, Op::Exit, values, span)) return true;
  values.insert(values.begin(), Operand{.value = entry.value, .span = place});
  EndWith(region, Op::Exit, values, span);
  return true;
}

void BodyParser::EndWith(Region& region, Op op, std::span<const Operand> values, diag::SourceSpan span) {
  std::vector<Value> operands;
  for (const Operand& value : values) operands.push_back(value.value);
  function_.Append(region.block, function_.NewInst(op, operands, {}, span));
}

void BodyParser::EndUnreached(Region& region) {
  region.ended = true;
  if (region.kind == Region::Kind::Orphan) return;
  region.left = region.kind == Region::Kind::Branch;
  EndWith(region, Op::Exit, {}, region.header);
}

void BodyParser::EndRegion(Region& region, Op op, std::vector<Operand> values, diag::SourceSpan span) {
  if (region.kind == Region::Kind::Orphan) return;
  if (region.kind == Region::Kind::Branch) {
    region.yields = std::move(values);
    region.yield_span = span;
    return;
  }
  if (CheckEndValues(region, op, values, span)) EndWith(region, op, values, span);
}

bool BodyParser::CheckEndValues(const Region& region, Op op, std::vector<Operand>& values,
                                diag::SourceSpan span) {
  std::vector<Type> expected =
      region.kind == Region::Kind::Test ? std::vector<Type>{ir::kI1} : region.expected;
  for (size_t n = 0; n < values.size(); ++n)
    Resolve(values[n], n < expected.size() ? expected[n] : ir::kNoType);
  if (values.size() != expected.size()) {
    std::string wanted = expected.size() == 1 ? "1 value" : std::to_string(expected.size()) + " values";
    stream_
        .Error(diag::E0116, span,
               ir::OpName(op) + " needs " + wanted + " here, not " + std::to_string(values.size()))
        .AddNote(region.header, region.kind == Region::Kind::Loop    ? "as many as this loop carries"
                                : region.kind == Region::Kind::Scope ? "as many as this scope gives"
                                                                     : "for this");
    return false;
  }
  bool good = !AnyPoison(values);
  for (size_t n = 0; n < values.size(); ++n) {
    Type type = TypeOf(values[n]);
    if (values[n].IsPoison() || expected[n].IsNone() || type == expected[n]) continue;
    good = false;
    LearnWanted(values[n].value, expected[n]);
    Inst loop = region.kind == Region::Kind::Loop ? function_[region.block].owner : Inst();
    if (loop.Valid()) LearnWanted(function_.Result(loop, static_cast<uint32_t>(n)), type);
    std::string source = region.kind == Region::Kind::Loop    ? "the loop carries "
                         : region.kind == Region::Kind::Scope ? "the scope gives "
                                                              : "its place asks for ";
    stream_
        .Error(diag::E0116, values[n].span,
               "value " + std::to_string(n + 1) + " of " + ir::OpName(op) + " is " +
                   TypeName(shared_.module, type) + ", " + source + TypeName(shared_.module, expected[n]))
        .AddNote(region.header,
                 region.kind == Region::Kind::Loop ? "the types are those of the initial values" : "here");
  }
  return good;
}

void BodyParser::Define(const NameToken& name, Value value, bool alias) {
  const Names::Entry before = names_.Look(name.name);
  if (before.state == Names::State::Visible) {
    if (!before.twice && silent_ == 0) {
      stream_
          .Error(diag::E0110, name.span,
                 "'%" + std::string(shared_.module.Text(name.name)) + "' is defined twice")
          .AddNote(before.place, "it is defined here")
          .AddHelp(HelpForSecondDefinition(name));
    }
    // From here on, to the end of its region, it means the new value, so that its uses are no mistakes as
    // well.
    names_.Define(name.name, value, before.place);
    names_.MarkTwice(name.name);
    return;
  }
  names_.Define(name.name, value, name.span);
  NotePlace(name.span, name.span, value);
  if (value != kPoison && !alias) function_[value].name = name.name;
}

/// The author most often means an assignment: a value that changes from one iteration to the next, or in one
/// branch.
std::string BodyParser::HelpForSecondDefinition(const NameToken& name) const {
  const Names::Entry& first = names_.Look(name.name);
  std::string text = "%" + std::string(shared_.module.Text(name.name).substr(0, 64));
  const Region* loop = region_ == nullptr ? nullptr : region_->loop;
  if (loop != nullptr && loop->kind == Region::Kind::Loop && first.depth == loop->depth)
    return "values do not change: choose another name, and 'yield' it where the next iteration is to have it";
  if (loop != nullptr && first.depth < loop->depth) {
    if (loop->kind == Region::Kind::Parallel)
      return "values do not change, and iterations run at once: choose another name, or sum into a buffer "
             "with "
             "'atomic add'";
    return "values do not change; a loop carries what its iterations hand on: '%last = for ... carry(%now "
           "= " +
           text + ") { ... yield %next }'";
  }
  if (region_ != nullptr && region_->kind == Region::Kind::Branch && first.depth < region_->depth)
    return "values do not change; a branch gives its value to the 'if': '%new = if %c { ... yield %other } "
           "else { "
           "yield " +
           text + " }'";
  return "values do not change: choose another name";
}

void BodyParser::BindPoison(const std::vector<NameToken>& names) {
  for (const NameToken& name : names) {
    if (names_.IsVisible(name.name)) continue;
    names_.Define(name.name, kPoison, name.span);
    NotePlace(name.span, name.span, kPoison);
  }
}

void BodyParser::BindResults(const std::vector<NameToken>& names, const Made& made) {
  if (made.poison) {
    for (const NameToken& name : names) Define(name, kPoison);
    return;
  }
  uint32_t results = function_[made.inst].result_count;
  if (!names.empty() && names.size() != results) {
    Op op = function_[made.inst].op;
    std::string has = results == 0   ? "no results"
                      : results == 1 ? "1 result"
                                     : std::to_string(results) + " results";
    stream_.Error(diag::E0117, {names.front().span.begin, names.back().span.end},
                  ir::OpName(op) + " has " + has + ", not " + std::to_string(names.size()));
  }
  for (uint32_t n = 0; n < names.size(); ++n)
    Define(names[n], n < results ? function_.Result(made.inst, n) : kPoison);
}

Value BodyParser::Look(StringId name, diag::SourceSpan span) {
  const Names::Entry entry = names_.Look(name);
  switch (entry.state) {
    case Names::State::Visible:
    case Names::State::Reported:
      NotePlace(span, entry.place, entry.value);
      return entry.value;
    case Names::State::OutOfScope:
      if (silent_ == 0) {
        stream_
            .Error(
                diag::E0111, span,
                Quoted("%" + std::string(shared_.module.Text(name).substr(0, 64))) + " is not visible here")
            .AddNote(entry.place, "it is defined here, inside a region that has ended")
            .AddHelp("yield it from its region and use the result");
        names_.Report(name);
      }
      return kPoison;
    case Names::State::Unknown:
      if (silent_ == 0) ReportUnknown(name, span);
      return kPoison;
  }
  ADC_UNREACHABLE("state of a name");
}

void BodyParser::ReportUnknown(StringId name, diag::SourceSpan span) {
  std::string_view text = shared_.module.Text(name);
  std::string help;
  diag::SourceSpan place;
  auto name_of = [&](const Names::Definition& visible) { return shared_.module.Text(visible.name); };
  std::string_view nearest = Suggest(text, names_.Visible(), name_of);
  if (!nearest.empty()) {
    help = "did you mean '%" + std::string(nearest) + "'?";
    place = names_.Look(shared_.module.Intern(nearest)).place;
  }
  diag::Diagnostic& error =
      stream_.Error(diag::E0106, span, "no value is named " + Quoted("%" + std::string(text.substr(0, 64))));
  if (place.Valid()) error.AddNote(place, "a similar name is defined here");
  error.AddHelp(std::move(help));
  names_.Report(name);
}

// Recovery. A statement that cannot be read is passed over up to the first token of a line that may begin the
// next one, or to the '}' of its region. Where it has a block of its own, the block is parsed for its own
// mistakes, without messages about names that the lost header would have defined.
void BodyParser::Recover() {
  for (;;) {
    bool was_quiet = stream_.lexer().Quiet();
    stream_.lexer().SetQuiet(true);
    while (!stream_.Is(TokenKind::End) && !stream_.Is(TokenKind::RightBrace) &&
           !stream_.Is(TokenKind::LeftBrace)) {
      bool begins = stream_.Is(TokenKind::ValueName) || stream_.Is(TokenKind::Word) ||
                    (stream_.Is(TokenKind::Symbol) && stream_.PeekKind() == TokenKind::LeftParen);
      if (stream_.Now().first_on_line && begins) break;
      stream_.Advance();
    }
    stream_.lexer().SetQuiet(was_quiet);
    if (!stream_.Is(TokenKind::LeftBrace)) return;
    ParseOrphans();
    // The rest of the line belongs to the lost statement as well.
    if (stream_.Full() || stream_.Now().first_on_line) return;
  }
}

void BodyParser::ParseOrphans() {
  ++silent_;
  PushNames();
  do {
    Region region;
    region.block = function_.NewBlock();
    if (!ParseBraces(region)) break;
    if (stream_.Full()) break;
    bool more =
        (stream_.IsWord("else") || stream_.IsWord("do")) && stream_.PeekKind() == TokenKind::LeftBrace;
    if (!more) break;
    stream_.Advance();
  } while (stream_.Is(TokenKind::LeftBrace));
  PopNames();
  --silent_;
}

}  // namespace adc::parse
