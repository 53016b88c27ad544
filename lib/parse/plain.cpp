#include <ranges>

#include "diag/errors/parse.h"
#include "ir/either_side.h"
#include "ir/module.h"
#include "ir/promise.h"
#include "parse/body.h"
#include "parse/definitions.h"
#include "parse/generics.h"
#include "parse/literal.h"

namespace adc::parse {

using ir::OpForm;

bool BodyParser::ParseOpWord(Op* op) {
  if (!stream_.Is(TokenKind::Word)) return stream_.Unexpected("an operation");
  diag::SourceSpan word = stream_.SpanNow();
  std::string spelling(stream_.Now().text.substr(0, 64));
  stream_.Advance();
  if (spelling == "atomic") {
    if (!stream_.Is(TokenKind::Word))
      return stream_.Unexpected(
          "an atomic operation: add, sub, mul, min, max, and, or, xor, exchange or compare_exchange");
    spelling += " " + std::string(stream_.Now().text.substr(0, 64));
    word.end = stream_.SpanNow().end;
    stream_.Advance();
  }
  if (std::optional<Op> found = ir::OpFromSpelling(spelling)) {
    *op = *found;
    return true;
  }
  auto spelling_of = [](uint32_t number) { return ir::InfoOf(static_cast<Op>(number)).spelling; };
  std::string_view nearest = Suggest(spelling, std::views::iota(0u, ir::kOpCount), spelling_of);
  stream_.Error(diag::E0109, word, "no operation is named " + Quoted(spelling))
      .AddHelp(nearest.empty() ? std::string() : "did you mean '" + std::string(nearest) + "'?");
  return false;
}

bool BodyParser::ParseInstruction(Op op, diag::SourceSpan word, Made* made) {
  switch (ir::InfoOf(op).form) {
    case OpForm::Nullary:
      return ParseIdentity(word, made);
    case OpForm::Unary:
    case OpForm::Binary:
    case OpForm::Ternary:
    case OpForm::Variadic:
      return ParsePlain(op, word, made);
    case OpForm::RandomForm:
      return ParseRandom(word, made);
    case OpForm::Convert:
      return ParseConvert(op, word, made);
    case OpForm::ShapeForm:
      return ParseShape(word, made);
    case OpForm::Access:
      return ParseAccess(op, word, made);
    case OpForm::AllocaForm:
    case OpForm::StackNewForm:
      return ParseTypeOperand(op, word, made);
    case OpForm::CallForm:
      return ParseCall(word, made);
    case OpForm::AssertForm:
      return ParseAssert(word, made);
    case OpForm::PrintForm:
      return ParsePrint(word, made);
    case OpForm::BarrierForm:
      *made = Create(op, {}, {}, word);
      return true;
    case OpForm::StackForm:
      return ParseStack(op, word, made);
    case OpForm::RowForm:
    case OpForm::RowAccess:
      return ParseRow(op, word, made);
    case OpForm::StatusForm:
      return ParseStatus(word, made);
    case OpForm::Control:
    case OpForm::Terminator:
      break;
  }
  return false;
}

BodyParser::Made BodyParser::Create(Op op, std::span<const Operand> operands, std::span<const Type> results,
                                    diag::SourceSpan word) {
  return CreateAt(op, operands, results, SpanSince(word));
}

BodyParser::Made BodyParser::CreateAt(Op op, std::span<const Operand> operands, std::span<const Type> results,
                                      diag::SourceSpan span) {
  Made made;
  made.poison = AnyPoison(operands);
  if (made.poison) return made;
  std::vector<Value> values;
  values.reserve(operands.size());
  for (const Operand& operand : operands) values.push_back(operand.value);
  made.inst = function_.NewInst(op, values, results, span);
  function_.Append(block_, made.inst);
  return made;
}

void BodyParser::Report(const ir::Misfit& misfit, std::span<const Operand> operands, diag::SourceSpan whole) {
  LearnFromOperands(operands);
  bool at_operand = misfit.operand < operands.size();
  diag::SourceSpan span = at_operand ? operands[misfit.operand].span : whole;
  diag::Diagnostic& error = stream_.Error(misfit.id, span, misfit.text).AddHelp(misfit.help);
  if (!at_operand || operands[misfit.operand].IsLiteral() || operands[misfit.operand].IsPoison()) return;
  StringId name = function_[operands[misfit.operand].value].name;
  if (!name.Valid()) return;
  const Names::Entry& entry = names_.Look(name);
  if (entry.value != operands[misfit.operand].value) return;  // a name that is used again
  diag::SourceSpan place = entry.place;
  if (place.Valid() && place.begin != span.begin)
    error.AddNote(place, "'%" + std::string(shared_.module.Text(name)) + "' is defined here");
}

void BodyParser::Check(Made* made, std::span<const Operand> operands) {
  if (made->poison) return;
  std::optional<ir::Misfit> misfit = ir::CheckInst(shared_.module, function_, made->inst);
  if (!misfit) return;
  LearnFromAccess(made->inst, operands);
  Report(*misfit, operands, function_[made->inst].span);
  made->poison = true;
}

bool BodyParser::ParsePlain(Op op, diag::SourceSpan word, Made* made) {
  std::vector<Operand> operands;
  operands.reserve(4);
  return ParseSimpleList(op, &operands) && FinishPlain(op, word, operands, made);
}

/// Reads the clauses that may follow the operands of `op`, and builds the instruction.
bool BodyParser::FinishPlain(Op op, diag::SourceSpan word, std::vector<Operand>& operands, Made* made) {
  Type stated;
  diag::SourceSpan stated_span = stream_.SpanNow();
  if (op == Op::MatMake && stream_.Accept(TokenKind::Colon)) {
    stated_span = stream_.SpanNow();
    if (!ParseType(stream_, &stated)) return false;
    if (!stated.IsMat()) {
      stream_.Error(diag::E0113, stated_span,
                    "'mat.make' makes a matrix, not " + TypeName(shared_.module, stated));
      made->poison = true;
      return true;
    }
    for (Operand& operand : operands) Resolve(operand, stated);
  }
  ResolvePlain(op, operands);
  MakePlain(op, operands, SpanSince(word), stated, made);
  bool may_be_either = ir::MayBeEither(op) && (made->poison || TypeOf(operands[0]).IsFloat());
  bool either = may_be_either && stream_.AcceptWord("either");
  ir::Words words = ParseRaisedWords(op);
  if (made->poison) return true;
  function_[made->inst].words.Add(words);
  if (either) {
    function_[made->inst].attr = ir::kEitherSide;
    function_[made->inst].span = SpanSince(word);
  }
  Type result = function_.TypeOf(function_.Result(made->inst));
  if (!stated.IsNone() && result != stated) {
    stream_.Error(diag::E0107, stated_span,
                  "the rows make " + TypeName(result) + ", not " + TypeName(stated));
    made->poison = true;
  }
  return true;
}

void BodyParser::MakePlain(Op op, std::span<const Operand> operands, diag::SourceSpan span, Type stated,
                           Made* made) {
  made->poison = AnyPoison(operands);
  if (made->poison) return;
  std::vector<Type> types = TypesOf(operands);
  bool stated_scalars = !stated.IsNone() && types[0].IsScalar();
  std::optional<Type> result = stated_scalars ? stated : ir::ResultType(op, types);
  if (!result) {
    Report(ir::ExplainOperands(shared_.module, op, types), operands, span);
    made->poison = true;
    return;
  }
  *made = CreateAt(op, operands, {&*result, 1}, span);
  if (stated_scalars) Check(made, operands);
}

bool BodyParser::ParseRandom(diag::SourceSpan word, Made* made) {
  std::vector<Operand> operands;
  return ParseSimpleList(Op::Random, &operands) && FinishRandom(word, operands, made);
}

/// From the ':' before the type on.
bool BodyParser::FinishRandom(diag::SourceSpan word, std::vector<Operand>& operands, Made* made) {
  Type type;
  if (stream_.Accept(TokenKind::Colon)) {
    if (!ParseType(stream_, &type)) return false;
  } else if (Operand& last = operands.back(); last.IsLiteral() && !last.stated.IsNone()) {
    // `random 7, 1 : f32`: the type after the literal is that of the value.
    type = std::exchange(last.stated, ir::kNoType);
  } else {
    return stream_.Unexpected("':' and the type of the value", "write 'random %seed, %counter : f32'");
  }
  MakeRandom(type, word, operands, made);
  return true;
}

void BodyParser::MakeRandom(Type type, diag::SourceSpan word, std::vector<Operand>& operands, Made* made) {
  for (Operand& operand : operands) Resolve(operand, ir::kNoType);
  *made = Create(Op::Random, operands, {&type, 1}, word);
  Check(made, operands);
}

bool BodyParser::ParseConvert(Op op, diag::SourceSpan word, Made* made) {
  Operand operand;
  return ParseSimple(&operand) && FinishConvert(op, word, operand, made);
}

/// From the word 'to' on.
bool BodyParser::FinishConvert(Op op, diag::SourceSpan word, Operand& operand, Made* made) {
  Type type;
  if (!stream_.ExpectWord("to") || !ParseType(stream_, &type)) return false;
  Resolve(operand, ir::kNoType);
  *made = Create(op, {&operand, 1}, {&type, 1}, word);
  ir::Words words = ParseRaisedWords(op);
  if (!made->poison) function_[made->inst].words.Add(words);
  Check(made, {&operand, 1});
  return true;
}

bool BodyParser::ParseIdentity(diag::SourceSpan word, Made* made) {
  Type type;
  if (stream_.Is(TokenKind::Number)) {
    uint64_t size = 0;
    if (!ReadCount(stream_.Now().text, ir::kMaxVector, &size) || size < 2) {
      stream_.Error(diag::E0113, stream_.SpanNow(), "the size of a matrix is from 2 to 16");
      made->poison = true;
    }
    stream_.Advance();
    type = Type::Mat(ir::Scalar::F32, static_cast<uint32_t>(size), static_cast<uint32_t>(size));
  } else {
    stream_.Accept(TokenKind::Colon);
    if (!ParseType(stream_, &type)) return false;
  }
  if (made->poison) return true;
  *made = Create(Op::Identity, {}, {&type, 1}, word);
  Check(made, {});
  return true;
}

bool BodyParser::ParseAttribute(const char* what, uint64_t limit, uint32_t* value) {
  diag::SourceSpan place = stream_.SpanNow();
  Count count;
  bool symbol = stream_.Is(TokenKind::Symbol);
  if (!symbol && !stream_.Is(TokenKind::Number)) return stream_.Unexpected(what);
  if (symbol) {
    if (!ParseCount(stream_, what, &count) || !count.good) return false;
  } else {
    count.text = Quoted(stream_.Now().text);
    if (!ReadCount(stream_.Now().text, limit, &count.value)) count.value = kNoCount;
  }
  if (count.value > limit) {
    stream_.Error(
        diag::E0108, place,
        std::string(what) + " is an integer from 0 to " + std::to_string(limit) + ", not " + count.text);
    return false;
  }
  *value = static_cast<uint32_t>(count.value);
  if (!symbol) stream_.Advance();
  return true;
}

bool BodyParser::ParseShape(diag::SourceSpan word, Made* made) {
  diag::SourceSpan open = stream_.SpanNow();
  bool parenthesis = stream_.Accept(TokenKind::LeftParen);
  Operand base;
  uint32_t axis = 0, field = ir::kNoAttr;
  Type type = ir::kI32;
  if (!ParseName(&base)) return false;
  if (stream_.Is(TokenKind::DoubleColon) && !ParseField(base, &field)) return false;
  if (!stream_.Expect(TokenKind::Comma, "','") || !ParseAttribute("an axis", UINT32_MAX - 1, &axis))
    return false;
  if (stream_.Accept(TokenKind::Colon) && !ParseType(stream_, &type)) return false;
  if (parenthesis && !stream_.ExpectClosing(TokenKind::RightParen, "')'", open)) return false;
  Resolve(base, ir::kNoType);
  *made = Create(Op::Shape, {&base, 1}, {&type, 1}, word);
  if (!made->poison) {
    function_[made->inst].attr = axis;
    function_[made->inst].component = field;
  }
  Check(made, {&base, 1});
  return true;
}

bool BodyParser::ParseField(const Operand& base, uint32_t* field) {
  Type type = TypeOf(base);
  bool names_field = stream_.Accept(TokenKind::DoubleColon);
  if (!names_field) {
    if (type.IsLayout()) {
      stream_.Error(diag::E0129, base.span, "an access of a layout names a field")
          .AddHelp("write '%g::field[...]'");
      return false;
    }
    return true;
  }
  diag::SourceSpan span = stream_.SpanNow();
  std::string_view text = stream_.Now().text;
  if (!stream_.Expect(TokenKind::Word, "the name of a field")) return false;
  if (base.IsPoison()) return true;
  if (!type.IsLayout()) {
    stream_.Error(diag::E0129, span, TypeName(shared_.module, type) + " has no fields");
    return false;
  }
  const ir::Layout& layout = shared_.module.layouts[type.count];
  *field = layout.FieldIndex(shared_.module.Intern(text));
  if (*field != ir::kNoAttr) return true;
  if (shared_.broken.contains(layout.name)) return false;
  auto name_of = [&](const ir::LayoutField& each) { return shared_.module.Text(each.name); };
  std::string_view nearest = Suggest(text, layout.fields, name_of);
  stream_.Error(diag::E0112, span, TypeName(shared_.module, type) + " has no field " + Quoted(text))
      .AddNote(layout.span, "the layout is defined here")
      .AddHelp(nearest.empty() ? std::string() : "did you mean '" + std::string(nearest) + "'?");
  return false;
}

bool BodyParser::ParseIndices(std::vector<Operand>* operands) {
  diag::SourceSpan open = stream_.SpanNow();
  if (!stream_.Is(TokenKind::LeftBracket))
    return stream_.Unexpected("'['",
                              "memory is accessed with indices: '%x[%i]', or '%x[]' for a buffer of rank 0");
  stream_.Advance();
  if (!stream_.Is(TokenKind::RightBracket) && !ParseOperandList(operands)) return false;
  return stream_.ExpectClosing(TokenKind::RightBracket, "']'", open);
}

/// `.2` or `.z` after the indices of an access.
bool BodyParser::ParseComponent(uint32_t* component) {
  if (!stream_.Accept(TokenKind::Dot)) return true;
  if (!stream_.Is(TokenKind::Word)) return ParseAttribute("a component", UINT32_MAX - 1, component);
  std::optional<uint32_t> letter = ComponentFromLetter(stream_.Now().text);
  if (!letter) return stream_.Unexpected("a component", "components are x, y, z, w, or numbers: '.2'");
  *component = *letter;
  stream_.Advance();
  return true;
}

std::optional<uint32_t> ComponentFromLetter(std::string_view word) {
  size_t position = word.size() == 1 ? std::string_view("xyzw").find(word) : std::string_view::npos;
  if (position == std::string_view::npos) return std::nullopt;
  return static_cast<uint32_t>(position);
}

bool BodyParser::ParseAccess(Op op, diag::SourceSpan word, Made* made) {
  std::vector<Operand> operands(1);
  uint32_t field = ir::kNoAttr;
  uint32_t component = ir::kNoAttr;
  if (!stream_.Is(TokenKind::ValueName) && !stream_.Is(TokenKind::Symbol))
    return stream_.Unexpected("the memory that " + ir::OpName(op) + " works on",
                              "write '%x[%i]', '%g::mass[%i]' or '@w[%i]'");
  if (!ParseName(&operands[0]) || !ParseField(operands[0], &field) || !ParseIndices(&operands)) return false;
  size_t indices = operands.size() - 1;
  for (Operand& operand : operands) Resolve(operand, ir::kNoType);
  if (!ParseComponent(&component)) return false;
  if (stream_.Accept(TokenKind::Comma) && !ParseOperandList(&operands)) return false;
  ir::Words words;
  if (op == Op::AddTo && stream_.AcceptWord("plain")) words.Add(ir::Word::Plain);
  words.Add(ParseRaisedWords(op));
  FinishAccess(op, operands, indices, field, component, words, word, made);
  return true;
}

/// `operands`: the memory, `indices` indices, and the values.
void BodyParser::FinishAccess(Op op, std::vector<Operand>& operands, size_t indices, uint32_t field,
                              uint32_t component, ir::Words words, diag::SourceSpan word, Made* made) {
  Type element;
  Type base = TypeOf(operands[0]);
  bool memory = base.IsBuffer() || base.IsArray() || (base.IsLayout() && field != ir::kNoAttr);
  if (memory) {
    element = shared_.module.ElementType(function_, operands[0].value, field);
    if (component != ir::kNoAttr) element = element.ScalarType();
  }
  if (operands[0].IsPoison()) {
    made->poison = true;
    return;
  }
  for (size_t n = 1 + indices; n < operands.size(); ++n) Resolve(operands[n], element);
  bool has_result = op == Op::Load || ir::IsAtomic(op);
  if (indices > UINT8_MAX) {
    stream_.Error(diag::E0123, word, std::to_string(indices) + " indices are more than any memory has axes");
    made->poison = true;
    return;
  }
  *made = Create(op, operands, {&element, has_result ? 1u : 0u}, word);
  if (made->poison) return;
  ir::InstData& data = function_[made->inst];
  data.index_count = static_cast<uint8_t>(indices);
  data.attr = field;
  data.component = component;
  data.words = words;
  Check(made, operands);
}

ir::Words BodyParser::ParseRaisedWords(Op op) {
  ir::Words words;
  for (const ir::WordInfo& word : ir::kWords) {
    if (!stream_.Is(TokenKind::Word)) break;
    if (ir::IsRaised(word) && ir::MayHave(op, word) && stream_.AcceptWord(word.spelling))
      words.Add(word.word);
  }
  return words;
}

bool BodyParser::IsWordAfterOperands(Op op) const {
  if (stream_.IsWord("either")) return true;
  return std::any_of(std::begin(ir::kWords), std::end(ir::kWords), [&](const ir::WordInfo& word) {
    return ir::IsRaised(word) && ir::MayHave(op, word) && stream_.IsWord(word.spelling);
  });
}

bool BodyParser::ParseTypeOperand(Op op, diag::SourceSpan word, Made* made) {
  Type type;
  if (!ParseType(stream_, &type)) return false;
  if (op == Op::StackNew) {
    if (!type.IsScalar()) {
      stream_.Error(diag::E0113, stream_.SpanPrevious(),
                    "an adstack holds scalars, not " + TypeName(shared_.module, type));
      made->poison = true;
      return true;
    }
    type = Type::Stack(type.scalar);
  }
  ir::Words words;
  if (op == Op::Alloca) {
    if (stream_.AcceptWord("shared")) words.Add(ir::Word::Shared);
    if (stream_.AcceptWord("unset")) words.Add(ir::Word::Unset);
    words.Add(ParseRaisedWords(op));
  }
  *made = Create(op, {}, {&type, 1}, word);
  if (!made->poison) function_[made->inst].words.Add(words);
  Check(made, {});
  return true;
}

bool BodyParser::ParseCall(diag::SourceSpan word, Made* made) {
  diag::SourceSpan callee_span = stream_.SpanNow();
  StringId name = stream_.Is(TokenKind::Symbol) ? stream_.module().Intern(stream_.Now().text) : StringId();
  if (!stream_.Expect(TokenKind::Symbol, "the function to call ('@f')")) return false;
  Type stated;
  if (stream_.Is(TokenKind::Less) && !ParseTypeArgument(name, &stated)) return false;
  diag::SourceSpan open = stream_.SpanNow();
  if (!stream_.Expect(TokenKind::LeftParen, "'('")) return false;
  std::vector<Operand> operands;
  if (!stream_.Is(TokenKind::RightParen) && !ParseOperandList(&operands)) return false;
  if (!stream_.ExpectClosing(TokenKind::RightParen, "')'", open)) return false;
  const ir::Function* callee = shared_.module.Find(name);
  if (callee == nullptr && shared_.generics != nullptr) {
    callee = shared_.generics->InstanceNamed(name, callee_span);
  }
  if (shared_.generics != nullptr && shared_.generics->IsGeneric(name)) {
    callee = AnyPoison(operands) ? nullptr : ChooseInstance(name, stated, operands, callee_span);
    made->poison = callee == nullptr;
    if (made->poison) return true;
    name = callee->name;
  }
  for (size_t n = 0; n < operands.size(); ++n) {
    bool known = callee != nullptr && n < callee->Params().size();
    Resolve(operands[n], known ? callee->TypeOf(callee->Params()[n]) : ir::kNoType);
  }
  if (callee == nullptr) {
    made->poison = true;
    if (unsure_.contains(name) || shared_.incomplete) return true;
    auto is_called = [](const auto& each) { return !each->IsKernel(); };
    auto name_of = [&](const auto& each) { return shared_.module.Text(each->name); };
    std::string_view nearest =
        Suggest(shared_.module.Text(name), shared_.module.functions | std::views::filter(is_called), name_of);
    stream_
        .Error(diag::E0112, callee_span,
               "no function is named " + Quoted("@" + std::string(shared_.module.Text(name).substr(0, 64))))
        .AddHelp(nearest.empty() ? std::string() : "did you mean '@" + std::string(nearest) + "'?");
    return true;
  }
  if (unsure_.contains(name)) {
    made->poison = true;
    return true;
  }
  *made = Create(Op::Call, operands, callee->result_types, word);
  if (made->poison) return true;
  function_[made->inst].symbol = name;
  if (is_probe_) return true;
  std::optional<ir::Misfit> misfit = ir::CheckInst(shared_.module, function_, made->inst);
  if (!misfit) return true;
  std::span<const Value> params = callee->Params();
  for (size_t n = 0; n < std::min(params.size(), operands.size()); ++n)
    LearnWanted(operands[n].value, callee->TypeOf(params[n]));
  Report(*misfit, operands, callee_span);
  made->poison = true;
  return true;
}

/// `<f64>` after the name of a generic function.
bool BodyParser::ParseTypeArgument(StringId name, Type* type) {
  diag::SourceSpan open = stream_.SpanNow();
  stream_.Advance();
  diag::SourceSpan place = stream_.SpanNow();
  if (!ParseType(stream_, type) || !stream_.ExpectClosing(TokenKind::Greater, "'>'", open)) return false;
  bool generic = shared_.generics != nullptr && shared_.generics->IsGeneric(name);
  if (!generic && !unsure_.contains(name) && !shared_.incomplete) {
    stream_.Error(diag::E0140, open, "'@" + std::string(shared_.module.Text(name)) + "' is not generic")
        .AddHelp("call it without '<...>'");
    return false;
  }
  if (type->IsScalar() && type->IsFloat()) return true;
  stream_.Error(diag::E0140, place, "a generic function is made for a float type, not " + TypeName(*type))
      .AddHelp("these are f16, f32 and f64");
  return false;
}

/// The instance of a generic function that fits the arguments. Null after an error.
const ir::Function* BodyParser::ChooseInstance(StringId name, Type stated, std::span<const Operand> operands,
                                               diag::SourceSpan span) {
  const Generics& generics = *shared_.generics;
  std::string text = "'@" + std::string(shared_.module.Text(name)) + "'";
  size_t wanted = generics.ParamCount(name);
  if (operands.size() != wanted) {
    stream_.Error(diag::E0114, span,
                  text + " takes " + std::to_string(wanted) +
                      (wanted == 1 ? " argument, not " : " arguments, not ") +
                      std::to_string(operands.size()));
    return nullptr;
  }
  if (!stated.IsNone()) return shared_.generics->Instance(name, stated.scalar, span);
  std::vector<Type> types;
  std::string shown;
  for (const Operand& operand : operands) {
    types.push_back(TypeOf(operand));
    shown += (shown.empty() ? "" : ", ") +
             (types.back().IsNone() ? std::string("a number") : TypeName(shared_.module, types.back()));
  }
  std::vector<ir::Scalar> fitting = generics.Fitting(name, types);
  if (fitting.size() == 1) return shared_.generics->Instance(name, fitting[0], span);
  std::string word(generics.Word(name));
  if (fitting.empty()) {
    stream_.Error(diag::E0140, span, "no float type for " + word + " makes " + text + " take (" + shown + ")")
        .AddHelp("nothing is converted by itself: make the arguments agree, as with 'f32(%a)'");
  } else {
    stream_.Error(diag::E0140, span, "nothing says for which float type " + text + " is called")
        .AddHelp("state it: '@" + std::string(shared_.module.Text(name)) + "<f32>(...)'");
  }
  return nullptr;
}

bool BodyParser::ParseAssert(diag::SourceSpan word, Made* made) {
  Operand condition;
  if (!ParseOperand(&condition) || !stream_.Expect(TokenKind::Comma, "','")) return false;
  uint32_t promise = 0;
  while (promise < ir::kPromiseWords.size() && !stream_.AcceptWord(ir::kPromiseWords[promise])) ++promise;
  bool is_promise = promise < ir::kPromiseWords.size();
  if (!stream_.Is(TokenKind::String))
    return stream_.Unexpected("a string: what to say when the condition fails");
  StringId text = shared_.module.Intern(Unescape(stream_.Now().text));
  stream_.Advance();
  std::vector<Operand> operands = {condition};
  if (is_promise && stream_.Accept(TokenKind::Comma) && !ParseOperand(&operands.emplace_back())) return false;
  Resolve(operands[0], ir::kI1);
  if (operands.size() > 1) Resolve(operands[1], ir::kI64);
  *made = Create(Op::Assert, operands, {}, word);
  if (!made->poison) {
    function_[made->inst].symbol = text;
    if (is_promise) {
      function_[made->inst].words = {ir::Word::Promise};
      function_[made->inst].attr = promise;
    }
  }
  Check(made, operands);
  return true;
}

bool BodyParser::ParsePrint(diag::SourceSpan word, Made* made) {
  if (!stream_.Is(TokenKind::String))
    return stream_.Unexpected("a string: the text to print, with '{}' for each value");
  StringId text = shared_.module.Intern(Unescape(stream_.Now().text));
  stream_.Advance();
  std::vector<Operand> operands;
  if (stream_.Accept(TokenKind::Comma) && !ParseOperandList(&operands)) return false;
  for (Operand& operand : operands) Resolve(operand, ir::kNoType);
  *made = Create(Op::Print, operands, {}, word);
  if (!made->poison) function_[made->inst].symbol = text;
  Check(made, operands);
  return true;
}

bool BodyParser::ParseStack(Op op, diag::SourceSpan word, Made* made) {
  std::vector<Operand> operands;
  if (!ParseOperandList(&operands)) return false;
  for (size_t n = 1; n < operands.size(); ++n) {
    Type stack = TypeOf(operands[0]);
    Resolve(operands[n], stack.IsStack() ? Type::Of(stack.scalar) : ir::kNoType);
  }
  bool slot = stream_.AcceptWord("at");
  if (slot) {
    operands.emplace_back();
    if (!ParseOperand(&operands.back())) return false;
  }
  for (Operand& operand : operands) Resolve(operand, ir::kNoType);
  Type stack = TypeOf(operands[0]);
  Type result = Type::Of(stack.scalar);
  *made = Create(op, operands, {&result, op == Op::StackPush ? 0u : 1u}, word);
  if (slot && !made->poison) function_[made->inst].words.Add(ir::Word::HasSlot);
  Check(made, operands);
  return true;
}

bool BodyParser::ParseRow(Op op, diag::SourceSpan word, Made* made) {
  if (ir::InfoOf(op).form == OpForm::RowForm) {
    uint32_t number = 0;
    if (!ParseAttribute("the number of a group or stack", UINT32_MAX - 1, &number)) return false;
    Type type = ir::kI64;
    *made = Create(op, {}, {&type, 1}, word);
    function_[made->inst].attr = number;
    return true;
  }
  std::vector<Operand> operands(op == Op::RowLoad ? 2 : 3);
  uint32_t stack = 0;
  for (size_t n = 0; n < operands.size(); ++n) {
    if (n != 0 && !stream_.Expect(TokenKind::Comma, "','")) return false;
    if (n == 1 && (!ParseAttribute("the number of a stack", UINT32_MAX - 1, &stack) ||
                   !stream_.Expect(TokenKind::Comma, "','")))
      return false;
    states_types_ = op == Op::RowStore;
    bool good = ParseSimple(&operands[n]);
    states_types_ = true;
    if (!good) return false;
    Resolve(operands[n], n < 2 ? ir::kI64 : ir::kNoType);
  }
  Type type;
  if (op == Op::RowLoad && (!stream_.Expect(TokenKind::Colon, "':'") || !ParseType(stream_, &type)))
    return false;
  *made = Create(op, operands, {&type, op == Op::RowLoad ? 1u : 0u}, word);
  if (!made->poison) function_[made->inst].attr = stack;
  Check(made, operands);
  return true;
}

bool BodyParser::ParseStatus(diag::SourceSpan word, Made* made) {
  for (ir::Word check : {ir::Word::Access, ir::Word::Assertion, ir::Word::Promise}) {
    if (!stream_.AcceptWord(ir::Spelling(check))) continue;
    uint32_t number = 0;
    if (!ParseAttribute("the number of the check", UINT32_MAX - 1, &number)) return false;
    std::vector<Operand> other;
    if (check == ir::Word::Promise && stream_.Accept(TokenKind::Comma)) {
      if (!ParseOperand(&other.emplace_back())) return false;
      Resolve(other[0], ir::kI64);
    }
    *made = Create(Op::StatusRaise, other, {}, word);
    if (made->poison) return true;
    function_[made->inst].words = {check};
    function_[made->inst].component = number;
    Check(made, other);
    return true;
  }
  uint32_t task = 0;
  uint32_t stack = 0;
  Operand needed;
  if (!ParseAttribute("the number of a task", UINT32_MAX - 1, &task) ||
      !stream_.Expect(TokenKind::Comma, "','") ||
      !ParseAttribute("the number of a stack", UINT32_MAX - 1, &stack) ||
      !stream_.Expect(TokenKind::Comma, "','") || !ParseOperand(&needed))
    return false;
  Resolve(needed, ir::kI64);
  *made = Create(Op::StatusRaise, {&needed, 1}, {}, word);
  if (!made->poison) {
    function_[made->inst].attr = task;
    function_[made->inst].component = stack;
  }
  Check(made, {&needed, 1});
  return true;
}

}  // namespace adc::parse
