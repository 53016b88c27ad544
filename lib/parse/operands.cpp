#include "diag/errors/parse.h"
#include "ir/module.h"
#include "parse/body.h"
#include "parse/definitions.h"
#include "parse/literal.h"

namespace adc::parse {

bool BodyParser::ParseOperandList(std::vector<Operand>* operands) {
  do {
    operands->emplace_back();
    if (!ParseOperand(&operands->back())) return false;
  } while (stream_.Accept(TokenKind::Comma));
  return !IsStrayOperand();
}

/// On the same line no operand may follow without a comma: it would be taken for the next statement.
bool BodyParser::IsStrayOperand() {
  if (stream_.Now().first_on_line) return false;
  bool operand = stream_.Is(TokenKind::Number) || stream_.Is(TokenKind::LeftParen);
  if (stream_.Is(TokenKind::ValueName)) {
    TokenKind next = stream_.PeekKind();
    operand = next != TokenKind::Equals && next != TokenKind::Comma && next != TokenKind::LeftBracket &&
              next != TokenKind::DoubleColon;
  }
  if (operand) stream_.Unexpected("','");
  return operand;
}

bool BodyParser::ParseOperand(Operand* operand) {
  Piece piece;
  return ParseExpression(&piece, /*head=*/false) && TakeOperand(piece, operand);
}

bool BodyParser::ParseName(Operand* operand) {
  operand->span = stream_.SpanNow();
  if (stream_.Is(TokenKind::Symbol)) return ParseConstantName(operand);
  if (!stream_.Is(TokenKind::ValueName)) return stream_.Unexpected("the name of a value");
  operand->value = Look(stream_.module().Intern(stream_.Now().text), operand->span);
  stream_.Advance();
  return true;
}

bool BodyParser::ParseLiteral(Operand* operand) {
  uint32_t begin = stream_.Now().begin;
  operand->literal = stream_.Now().text;
  stream_.Advance();
  if (!states_types_ || !stream_.Is(TokenKind::Colon)) return true;
  // `mat.make 1.0, 2.0 : mat<...>` states the type of the whole, `1.0:f64` that of the literal.
  if (stream_.PeekKind() != TokenKind::Word) return true;
  uint32_t colon = stream_.Now().begin;
  stream_.Advance();
  std::optional<ir::Scalar> scalar = ScalarOf(stream_, stream_.Now().text);
  if (!scalar) {
    if (stream_.IsWord("vec") || stream_.IsWord("mat") || stream_.IsWord("array")) {
      stream_.Resume(colon);
      return true;
    }
    if (ternaries_ > 0) {
      stream_.Resume(colon);
      return true;
    }
    Type ignored;
    return ParseType(stream_, &ignored);
  }
  stream_.Advance();
  // `%c ? 1.0 : f32(%x)`: the ':' is that of the choice.
  // `random(%seed, 7 : f32)`: it is that of the whole.
  bool of_group = group_states_ && stream_.Is(TokenKind::RightParen);
  if (of_group || (ternaries_ > 0 && stream_.Is(TokenKind::LeftParen))) {
    stream_.Resume(colon);
    return true;
  }
  operand->stated = Type::Of(*scalar);
  operand->span = stream_.SpanFrom(begin);
  return true;
}

bool BodyParser::ParseConstantName(Operand* operand) {
  StringId name = stream_.module().Intern(stream_.Now().text);
  uint32_t position = shared_.module.FindConstant(name);
  if (position == ir::kNoAttr && shared_.definitions != nullptr) {
    shared_.definitions->Resolve(name, operand->span);
    position = shared_.module.FindConstant(name);
  }
  if (position == ir::kNoAttr && shared_.MayBeDefined(name)) {
    operand->value = kPoison;
  } else if (position == ir::kNoAttr) {
    auto name_of = [&](const ir::ModuleConstant& constant) { return shared_.module.Text(constant.name); };
    std::string_view nearest = Suggest(stream_.Now().text, shared_.module.constants, name_of);
    stream_.Error(diag::E0112, operand->span, "no constant is named " + Describe(stream_.Now()))
        .AddHelp(nearest.empty() ? "a function is called: 'call @f(%a)'"
                                 : "did you mean '@" + std::string(nearest) + "'?");
    operand->value = kPoison;
  } else {
    operand->value = function_.Global(position, shared_.module.constants[position].type);
  }
  stream_.Advance();
  return true;
}

Type BodyParser::TypeOf(const Operand& operand) const {
  if (operand.IsLiteral()) return operand.stated;
  return operand.IsPoison() ? ir::kNoType : function_.TypeOf(operand.value);
}

std::vector<Type> BodyParser::TypesOf(std::span<const Operand> operands) const {
  std::vector<Type> types;
  types.reserve(operands.size());
  for (const Operand& operand : operands) types.push_back(TypeOf(operand));
  return types;
}

bool BodyParser::AnyPoison(std::span<const Operand> operands) {
  for (const Operand& operand : operands) {
    if (operand.IsPoison()) return true;
  }
  return false;
}

ir::LiteralKind BodyParser::KindOf(const Operand& operand) const {
  if (!operand.IsTree()) return ir::KindOfSpelling(operand.literal);
  ir::LiteralKind kind = ir::LiteralKind::Integer;
  for (uint32_t n = operand.tree_begin; n <= operand.tree; ++n) {
    if (!trees_[n].is_leaf || trees_[n].value.Valid()) continue;
    ir::LiteralKind own = ir::KindOfSpelling(trees_[n].literal);
    if (own != ir::LiteralKind::Integer) kind = own;
  }
  return kind;
}

void BodyParser::ReportUntyped(const Operand& operand) {
  std::string text(operand.IsTree() ? "these numbers" : "this number");
  stream_
      .Error(diag::E0136, operand.span,
             "nothing says which type " + text + (operand.IsTree() ? " have" : " has"))
      .AddHelp("state it at one of them: '1.0:f32', '2:i32'");
}

void BodyParser::Resolve(Operand& operand, Type wanted, bool is_guess) {
  if (!operand.IsLiteral()) return;
  if (operand.IsTree()) {
    ResolveTree(operand, wanted);
    return;
  }
  Type type = operand.stated;
  if (type.IsNone() && wanted.IsRegister()) type = wanted.ScalarType();
  if (type.IsNone()) type = ir::DefaultLiteralType(ir::KindOfSpelling(operand.literal));
  LiteralBits literal = ReadLiteral(operand.literal, type.scalar);
  if (!literal.good) {
    stream_.Error(diag::E0108, operand.span, literal.reason).AddHelp(literal.help);
    operand.value = is_guess ? function_.Constant(type, 0, {}) : kPoison;
    return;
  }
  // An integer that stands for a float prints as a float, so that its spelling tells its type wherever it is
  // used.
  bool keeps_spelling = !type.IsFloat() || ir::KindOfSpelling(operand.literal) == ir::LiteralKind::Float;
  StringId spelling = keeps_spelling ? shared_.module.Intern(operand.literal) : StringId();
  operand.value = function_.Constant(type, literal.bits, spelling);
}

/// Emits an expression of literals, of which all have the type that is wanted.
void BodyParser::ResolveTree(Operand& operand, Type wanted) {
  Type type = wanted.IsRegister() ? wanted.ScalarType() : ir::kNoType;
  if (type.IsNone() && KindOf(operand) == ir::LiteralKind::Bool) type = ir::kI1;
  operand.value = kPoison;
  if (type.IsNone()) {
    ReportUntyped(operand);
    return;
  }
  uint32_t first = operand.tree_begin;
  std::vector<unsigned char> needed(operand.tree - first + 1, 0);
  std::vector<Operand> made(needed.size());
  needed.back() = 1;
  for (uint32_t n = operand.tree + 1; n-- > first;) {
    if (needed[n - first] == 0) continue;
    for (uint32_t child : trees_[n].operands) {
      if (child != kNoTree) needed[child - first] = 1;
    }
  }
  for (uint32_t n = first; n <= operand.tree; ++n) {
    if (needed[n - first] == 0) continue;
    const TreeNode& node = trees_[n];
    Operand& result = made[n - first];
    result.span = node.span;
    result.value = node.value;
    result.literal = node.literal;
    if (node.is_leaf) {
      Resolve(result, type);
      continue;
    }
    std::vector<Operand> operands;
    for (uint32_t child : node.operands) {
      if (child != kNoTree) operands.push_back(made[child - first]);
    }
    Made one;
    MakePlain(node.op, operands, node.span, ir::kNoType, &one);
    result.value = ResultOf(one);
  }
  operand.value = made.back().value;
}

/// The type that an operand of the group has; none where all wait for one.
Type BodyParser::GroupType(std::span<Operand* const> group) const {
  for (const Operand* operand : group) {
    if (Type type = TypeOf(*operand); !type.IsNone()) return type;
  }
  return {};
}

/// The type of literals that nothing asks for; none where the group has an expression of them, or is poison.
Type BodyParser::DefaultType(std::span<Operand* const> group) const {
  ir::LiteralKind kind = ir::LiteralKind::Integer;
  bool is_tree = false;
  for (const Operand* operand : group) {
    if (operand->IsPoison()) return {};
    if (!operand->IsLiteral()) continue;
    is_tree = is_tree || operand->IsTree();
    ir::LiteralKind own = KindOf(*operand);
    if (own != ir::LiteralKind::Integer) kind = own;
  }
  return is_tree && kind != ir::LiteralKind::Bool ? ir::kNoType : ir::DefaultLiteralType(kind);
}

void BodyParser::ResolveGroup(std::span<Operand* const> group) {
  Type type = GroupType(group);
  bool poison = false;
  bool has_literal = false;
  for (const Operand* operand : group) {
    poison = poison || operand->IsPoison();
    has_literal = has_literal || operand->IsLiteral();
  }
  if (!has_literal) return;
  // Beside memory by mistake, a literal is typed by itself and the mistake is reported at the memory.
  if (!type.IsRegister()) type = DefaultType(group);
  for (Operand* operand : group) {
    if (poison && operand->IsTree() && type.IsNone()) {
      operand->value = kPoison;
    } else {
      Resolve(*operand, type);
    }
  }
}

void BodyParser::ResolvePlain(Op op, std::vector<Operand>& operands) {
  std::vector<Operand*> group;
  for (uint32_t n = 0; n < operands.size(); ++n) {
    switch (ir::PlaceOfOperand(op, n)) {
      case ir::LiteralPlace::Group:
        group.push_back(&operands[n]);
        break;
      case ir::LiteralPlace::Alone:
        Resolve(operands[n], ir::kNoType);
        break;
      case ir::LiteralPlace::Component:
        Resolve(operands[n], TypeOf(operands[0]));
        break;
      case ir::LiteralPlace::Condition:
        Resolve(operands[n], ir::kI1);
        break;
      case ir::LiteralPlace::Wide:
        Resolve(operands[n], ir::kI64);
        break;
    }
  }
  ResolveGroup(group);
}

}  // namespace adc::parse
