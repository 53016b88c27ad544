#include "parse/body.h"

#include "diag/errors/parse.h"
#include "support/check.h"
#include "support/nearest.h"

namespace adc::parse {

namespace {

/// Suggestions look at every name in sight, so their number is bounded.
constexpr uint32_t kMostSuggestions = 50;
constexpr size_t kMostCandidates = 20000;

}  // namespace

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
  names_.Push();
  std::span<const Value> params = function_.Params();
  for (size_t n = 0; n < params.size(); ++n) {
    if (!names_.IsDefined(function_[params[n]].name)) {
      names_.Define(function_[params[n]].name, params[n],
                    n < param_spans.size() ? param_spans[n] : function_.span);
    }
  }
  Region region;
  region.kind = function_.IsKernel() ? Region::Kind::Kernel : Region::Kind::Function;
  if (silent_ != 0) region.kind = Region::Kind::Orphan;  // who knows what it should end with
  region.block = function_.Body();
  region.expected = function_.result_types;
  region.header = function_.span;
  region.holds_tasks = function_.IsKernel();
  ParseBraces(region);
  names_.Pop();
  if (shared_.diagnostics.ErrorTotal() != errors) function_.broken = true;
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
  if (!stream_.Is(TokenKind::LeftBrace)) {
    stream_.Unexpected("'{'");
    return false;
  }
  if (!EnterNesting(open)) {
    SkipDeepBlock();
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

void BodyParser::SkipDeepBlock() {
  bool closed = false;
  stream_.Resume(stream_.lexer().SkipBlock(stream_.Now().end, &closed));
  if (!closed) unclosed_reported_ = true;
}

void BodyParser::ParseBlock(Region& region, diag::SourceSpan open) {
  while (!stream_.Is(TokenKind::RightBrace) && !stream_.Is(TokenKind::End)) {
    if (stream_.Full()) return;
    uint32_t begin = stream_.Now().begin;
    std::vector<StringId> comments = stream_.TakeComments();
    size_t first = function_[region.block].insts.size();
    size_t end_comments = region.yield_comments.size();
    ParseStatement(region);
    if (!comments.empty() && region.kind == Region::Kind::Branch && region.ended && end_comments == 0 &&
        function_[region.block].insts.size() == first)
      region.yield_comments = comments;
    AttachComments(region, comments, first);
    if (stream_.Now().begin == begin && !stream_.Is(TokenKind::End)) stream_.Advance();
  }
  for (StringId comment : stream_.TakeComments()) function_.comments.push_back({{}, region.block, comment});
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

void BodyParser::AttachComments(Region& region, const std::vector<StringId>& comments, size_t first) {
  const std::vector<Inst>& insts = function_[region.block].insts;
  if (comments.empty() || first >= insts.size()) return;
  for (StringId comment : comments) function_.comments.push_back({insts[first], {}, comment});
}

void BodyParser::SupplyEnd(Region& region, diag::SourceSpan close) {
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
      stream_.Error(diag::E0115, close, "the function ends without a 'return'")
          .AddNote(region.header, "it declares " + std::to_string(region.expected.size()) + " result" +
                                      (region.expected.size() == 1 ? "" : "s"))
          .AddHelp("write 'return %a' before the '}'");
      return;
    case Region::Kind::Loop:
      if (region.expected.empty()) break;
      stream_.Error(diag::E0115, close, "the region ends without a 'yield'")
          .AddNote(region.header, "the loop carries " + std::to_string(region.expected.size()) + " value" +
                                      (region.expected.size() == 1 ? "" : "s"))
          .AddHelp("write 'yield' and the values for the next iteration before the '}'");
      return;
    case Region::Kind::Kernel:
    case Region::Kind::Parallel:
      break;
  }
  bool body = region.kind == Region::Kind::Function || region.kind == Region::Kind::Kernel;
  function_.Append(region.block, function_.NewInst(body ? Op::Return : Op::Yield, {}, {}, close));
}

void BodyParser::ParseStatement(Region& region) {
  uint32_t begin = stream_.Now().begin;
  std::vector<NameToken> names;
  bool good = true;
  if (stream_.Is(TokenKind::ValueName)) {
    do {
      NameToken name{stream_.module().Intern(stream_.Now().text), stream_.SpanNow()};
      good = stream_.Expect(TokenKind::ValueName, "a value name");
      if (good) names.push_back(name);
    } while (good && stream_.Accept(TokenKind::Comma));
    good = good && stream_.Expect(TokenKind::Equals, "'='");
  }
  if (good && ParseStatementAfterNames(region, names, begin)) return;
  BindPoison(names);
  if (!stream_.Full()) Recover();
}

bool BodyParser::ParseStatementAfterNames(Region& region, const std::vector<NameToken>& names,
                                          uint32_t begin) {
  diag::SourceSpan word = stream_.SpanNow();
  if (region.ended) {
    stream_.Error(diag::E0124, word, "this statement stands after the end of its region")
        .AddHelp("'yield', 'continue_if', 'break', 'continue' and 'return' come last");
    region.ended = false;  // once is enough
    region.kind = Region::Kind::Orphan;
  }
  if (stream_.IsWord("else")) {
    stream_.Error(diag::E0101, word, "there is no 'if' before this 'else'")
        .AddHelp("'else' stands right after the '}' of an 'if'");
    return false;
  }
  Op op{};
  if (!ParseOpWord(&op)) return false;
  if (ir::IsTerminator(op)) return ParseTerminator(region, op, names);
  if (op == Op::For) return ParseFor(region, names, word);
  if (op == Op::While) return ParseWhile(names, word);
  if (op == Op::If) return ParseIf(region, names, word);
  if (op == Op::Parallel || op == Op::ParallelOver) {
    if (!names.empty()) {
      stream_.Error(diag::E0117, names[0].span, "'parallel' has no results");
      BindPoison(names);
    }
    return ParseParallel(region, word);
  }
  Made made;
  if (!ParseInstruction(op, word, &made)) return false;
  if (!made.poison && names.empty() && function_[made.inst].result_count != 0 && op != Op::Call &&
      !ir::IsAtomic(op)) {
    stream_.Error(diag::E0117, stream_.SpanFrom(begin), "the result of " + ir::OpName(op) + " has no name")
        .AddHelp("write '%name = " + std::string(ir::InfoOf(op).spelling) + " ...'");
  }
  BindResults(names, made);
  return true;
}

bool BodyParser::ParseTerminator(Region& region, Op op, const std::vector<NameToken>& names) {
  diag::SourceSpan word = stream_.SpanPrevious();
  if (!names.empty()) {
    stream_.Error(diag::E0117, names[0].span, ir::OpName(op) + " has no results");
    BindPoison(names);
  }
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
  bool right = op == Op::Yield ? region.kind == Region::Kind::Loop || region.kind == Region::Kind::Branch ||
                                     region.kind == Region::Kind::Parallel
               : op == Op::ContinueIf
                   ? region.kind == Region::Kind::Test
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
  if (!CheckEndValues(*loop, op, values, span)) return true;
  std::vector<Value> operands;
  for (const Operand& value : values) operands.push_back(value.value);
  function_.Append(region.block, function_.NewInst(op, operands, {}, span));
  return true;
}

void BodyParser::EndUnreached(Region& region) {
  region.ended = true;
  if (region.kind == Region::Kind::Orphan || region.loop == nullptr) return;
  region.left = region.kind == Region::Kind::Branch;
  // A region ends with something; the values that the loop carries are there whatever it is.
  Inst loop = function_[region.loop->block].owner;
  if (!loop.Valid()) return;
  std::span<const Value> carried = function_[function_[loop].regions[0]].params;
  if (function_[loop].op != Op::While) carried = carried.last(function_[loop].result_count);
  std::vector<Value> values(carried.begin(), carried.end());
  function_.Append(region.block, function_.NewInst(Op::Continue, values, {}, function_[loop].span));
}

void BodyParser::EndRegion(Region& region, Op op, std::vector<Operand> values, diag::SourceSpan span) {
  if (region.kind == Region::Kind::Orphan) return;
  if (region.kind == Region::Kind::Branch) {
    region.yields = std::move(values);
    region.yield_span = span;
    return;
  }
  if (!CheckEndValues(region, op, values, span)) return;
  std::vector<Value> operands;
  for (const Operand& value : values) operands.push_back(value.value);
  function_.Append(region.block, function_.NewInst(op, operands, {}, span));
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
        .AddNote(region.header,
                 region.kind == Region::Kind::Loop ? "as many as this loop carries" : "for this");
    return false;
  }
  bool good = !AnyPoison(values);
  for (size_t n = 0; n < values.size(); ++n) {
    Type type = TypeOf(values[n]);
    if (values[n].IsPoison() || expected[n].IsNone() || type == expected[n]) continue;
    good = false;
    std::string source = region.kind == Region::Kind::Loop ? "the loop carries " : "its place asks for ";
    stream_
        .Error(diag::E0116, values[n].span,
               "value " + std::to_string(n + 1) + " of " + ir::OpName(op) + " is " +
                   TypeName(shared_.module, type) + ", " + source + TypeName(shared_.module, expected[n]))
        .AddNote(region.header,
                 region.kind == Region::Kind::Loop ? "the types are those of the initial values" : "here");
  }
  return good;
}

void BodyParser::Define(const NameToken& name, Value value) {
  if (names_.IsDefined(name.name)) {
    stream_
        .Error(diag::E0110, name.span,
               "'%" + std::string(shared_.module.Text(name.name)) + "' is defined twice")
        .AddNote(names_.Look(name.name).place, "it is defined here")
        .AddHelp("a name is defined once per function; choose another");
    // From here on it means the new value, so that its uses are not mistakes as well.
    names_.Define(name.name, value, names_.Look(name.name).place);
    return;
  }
  names_.Define(name.name, value, name.span);
  if (value != kPoison) function_[value].name = name.name;
}

void BodyParser::BindPoison(const std::vector<NameToken>& names) {
  for (const NameToken& name : names) {
    if (!names_.IsDefined(name.name)) names_.Define(name.name, kPoison, name.span);
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

Value BodyParser::Look(const Token& token, diag::SourceSpan span) {
  StringId name = shared_.module.Intern(token.text);
  const Names::Entry& entry = names_.Look(name);
  switch (entry.state) {
    case Names::State::Visible:
    case Names::State::Reported:
      return entry.value;
    case Names::State::OutOfScope:
      if (silent_ == 0) {
        stream_.Error(diag::E0111, span, Describe(token) + " is not visible here")
            .AddNote(entry.place, "it is defined here, inside a region that has ended")
            .AddHelp("yield it from its region and use the result");
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
  if (suggestions_++ < kMostSuggestions && names_.Visible().size() <= kMostCandidates) {
    std::vector<std::string_view> candidates;
    for (StringId visible : names_.Visible()) candidates.push_back(shared_.module.Text(visible));
    std::string_view nearest = NearestName(text, candidates);
    if (!nearest.empty()) {
      help = "did you mean '%" + std::string(nearest) + "'?";
      place = names_.Look(shared_.module.Intern(nearest)).place;
    }
  }
  diag::Diagnostic& error =
      stream_.Error(diag::E0106, span, "no value is named " + Quoted("%" + std::string(text.substr(0, 64))));
  if (place.Valid()) error.AddNote(place, "a similar name is defined here");
  error.AddHelp(std::move(help));
  names_.Report(name);
}

// Recovery. A statement that cannot be read is passed over up to the first token of a line that may begin the
// next one, or to the '}' of its region. Where it has a block of its own, the block is parsed for its own
// mistakes, with nothing said of names that the lost header would have defined.
void BodyParser::Recover() {
  for (;;) {
    bool was_quiet = stream_.lexer().Quiet();
    stream_.lexer().SetQuiet(true);
    while (!stream_.Is(TokenKind::End) && !stream_.Is(TokenKind::RightBrace) &&
           !stream_.Is(TokenKind::LeftBrace)) {
      if (stream_.Now().first_on_line && (stream_.Is(TokenKind::ValueName) || stream_.Is(TokenKind::Word)))
        break;
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
  names_.Push();
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
  names_.Pop();
  --silent_;
}

}  // namespace adc::parse
