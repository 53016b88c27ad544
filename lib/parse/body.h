#pragma once
// The statements of one function body, from text straight to IR, in the order of the text.
//
// Operands are parsed before their types are known to agree, so that a literal waits as text in an `Operand`
// until its place gives it a type, and so does an expression of literals alone (`1.0 / 3.0`). A value that
// cannot be built because of an error is kPoison, and instructions that use kPoison are passed over in
// silence: one mistake, one message.

#include "ir/check.h"
#include "ir/literal_places.h"
#include "parse/carried_literals.h"
#include "parse/names.h"
#include "parse/token_stream.h"
#include "support/nearest.h"

namespace adc::parse {

using ir::Block, ir::Inst, ir::Op, ir::Type, ir::Value;

inline constexpr uint32_t kNoTree = UINT32_MAX;
inline constexpr uint32_t kNowhere = UINT32_MAX;
/// Strength of the operators that may stand in the brackets of a type: sums, products.
inline constexpr int kWeakestInType = 9;

struct Operand {
  Value value = {};  ///< invalid: a literal, or an expression of literals, that waits for its type
  std::string_view literal = {};
  Type stated = ir::kNoType;  ///< of the literal `1.0:f64`
  diag::SourceSpan span = {};
  uint32_t tree = kNoTree;         ///< the root of an expression of literals, in the parser's nodes
  uint32_t tree_begin = kNoTree;   ///< its first node; the nodes between are all its own
  uint32_t begun_with = kNowhere;  ///< place of the literal without a type that a carried value begins with
  bool IsLiteral() const { return !value.Valid(); }
  bool IsTree() const { return tree != kNoTree; }
  bool IsPoison() const { return value == kPoison; }
};

/// A node of an expression of literals that waits for its type: `1.0 / 3.0`. Operands come before it.
struct TreeNode {
  bool is_leaf = true;
  std::string_view literal = {};  ///< of a leaf that has no value yet
  Value value = {};               ///< of a leaf that has one: the condition of a `select`
  Op op{};
  uint32_t operands[3] = {kNoTree, kNoTree, kNoTree};
  diag::SourceSpan span = {};
};

/// A region that is being parsed, and what has to stand at its end.
struct Region {
  enum class Kind : uint8_t { Function, Kernel, Loop, Test, Branch, Scope, Parallel, Orphan };
  Kind kind = Kind::Orphan;
  Block block;
  std::vector<Type> expected = {};  ///< of the values at the end; none: unknown because of an error
  diag::SourceSpan header = {};     ///< for notes: the statement whose region it is
  bool ended = false;
  /// It may hold `parallel`: the body of a kernel, its branches and its loops that are unrolled.
  bool holds_tasks = false;
  /// The loop or parallel loop whose iteration it belongs to, and that `break` and `continue` leave.
  const Region* loop = nullptr;
  /// The scopes that `exit` may leave from here, innermost first; of a scope: itself, then those of `outer`.
  const Region* scope = nullptr;
  const Region* outer = nullptr;
  uint32_t depth = 0;  ///< regions around what it defines, as Names counts them
  /// Branch: it ended with `break`, `continue` or `exit`, and yields nothing.
  bool left = false;
  /// Branch: the values wait for those of the other branch.
  std::vector<Operand> yields = {};
  std::vector<StringId> yield_comments = {};
  diag::SourceSpan yield_span = {};
};

/// The number of the component that a letter names, of `xyzw`; empty for another word.
std::optional<uint32_t> ComponentFromLetter(std::string_view word);

struct NameToken {
  StringId name;
  diag::SourceSpan span;
};

class BodyParser {
 public:
  /// Parses from the '{' after a signature up to `end`. `silent`: the signature had errors, so that nothing
  /// is said about unknown names. Callees in `unsure` have signatures with errors.
  BodyParser(Shared& shared, const diag::SourceFile& file, uint32_t begin, uint32_t end,
             ir::Function& function, Names& names, bool silent,
             const std::unordered_map<StringId, bool>& unsure);

  /// Defines the parameters by their names and parses the body.
  void Parse(std::span<const diag::SourceSpan> param_spans);

  // constant.cpp: a constant expression instead of a body.
  /// `in_type`: between the brackets of a type, where '>' ends it.
  bool ParseConstant(bool in_type, Operand* operand);
  /// Its value, of the type `wanted`; none: of its own, for literals i64. False after an error.
  bool FinishConstant(Operand& operand, Type wanted, Type* found, uint64_t* bits);
  TokenStream& stream() { return stream_; }
  /// The function is in no module, and neither are instances of generic functions that it calls.
  void SetProbe() { is_probe_ = true; }
  /// The types that an earlier parse of the same body has learned, and that this one learns; by default
  /// nothing is learned.
  void SetCarriedLiterals(CarriedLiterals* literals) { literals_ = literals; }

 private:
  /// An instruction in the function, or poison.
  struct Made {
    Inst inst = {};
    bool poison = false;
  };

  /// The text before the body of a parallel loop.
  struct ParallelHead {
    Op op{};
    const std::vector<NameToken>& ivs;
    std::vector<Operand> operands;
    uint32_t attr = ir::kNoAttr;
    uint32_t lanes = ir::kNoAttr;
    ir::WorkerNumbers workers = {};
    ir::Words words = {};
    diag::SourceSpan span = {};
  };

  /// The part of an expression that the parser has read: an operand that operators may follow, or an
  /// instruction in the form `add %a, %b`, which ends it.
  struct Piece {
    Operand operand = {};
    Made made = {};         ///< of an instruction
    bool is_whole = false;  ///< an instruction: nothing may follow
    bool is_call = false;   ///< of a function: `made` has its results
  };

  // body.cpp: regions, statements, names, recovery.
  void ParseBlock(Region& region, diag::SourceSpan open);
  void ParseStatements(Region& region, diag::SourceSpan open);
  bool ParseBraces(Region& region);
  void ParseStatement(Region& region);
  void ParseUncut(Region& region);
  bool ParseStatementAfterNames(Region& region, const std::vector<NameToken>& names, uint32_t begin);
  /// Whether the current word begins an expression and not an instruction: a literal, a type.
  bool BeginsExpression();
  bool ParseExpressionStatement(const std::vector<NameToken>& names, uint32_t begin);
  bool FinishExpressionStatement(const std::vector<NameToken>& names, uint32_t begin, Op op, Piece& piece,
                                 size_t values_before);
  void CheckComponentName(const NameToken& name);
  void CheckNotEnded(Region& region, diag::SourceSpan span);
  bool ParseTerminator(Region& region, Op op, const std::vector<NameToken>& names);
  bool ParseLeave(Region& region, Op op, std::vector<Operand> values, diag::SourceSpan word);
  bool ParseExit(Region& region, diag::SourceSpan word);
  void EndWith(Region& region, Op op, std::span<const Operand> values, diag::SourceSpan span);
  void EndRegion(Region& region, Op op, std::vector<Operand> values, diag::SourceSpan span);
  /// Ends a region after a branch of which both sides leave: nothing gets there.
  void EndUnreached(Region& region);
  /// Gives the values at the end of `region`, or of a branch that leaves it, their types and checks them.
  bool CheckEndValues(const Region& region, Op op, std::vector<Operand>& values, diag::SourceSpan span);
  void SupplyEnd(Region& region, diag::SourceSpan close);
  bool AttachComments(Region& region, const std::vector<StringId>& comments, size_t first);
  void Recover();
  void ParseOrphans();
  void PushNames();
  void PopNames();
  /// A name at `span` that means what is defined at `definition`.
  void NotePlace(diag::SourceSpan span, diag::SourceSpan definition, Value value);
  void Define(const NameToken& name, Value value, bool alias = false);
  std::string HelpForSecondDefinition(const NameToken& name) const;
  void BindResults(const std::vector<NameToken>& names, const Made& made);
  void BindExpression(const std::vector<NameToken>& names, Operand& operand, size_t values_before);
  void BindPoison(const std::vector<NameToken>& names);
  Value Look(StringId name, diag::SourceSpan span);
  /// The nearest to `name` of the names that `name_of` gives for a list. Suggestions look at every one of
  /// them, so their number is bounded.
  template <class List, class NameOf>
  std::string_view Suggest(std::string_view name, List&& list, NameOf name_of) {
    constexpr uint32_t kMostSuggestions = 50;
    constexpr size_t kMostCandidates = 20000;
    if (suggestions_++ >= kMostSuggestions) return {};
    std::vector<std::string_view> candidates;
    for (const auto& each : list) candidates.push_back(name_of(each));
    return candidates.size() > kMostCandidates ? std::string_view() : NearestName(name, candidates);
  }
  void ReportUnknown(StringId name, diag::SourceSpan span);
  bool EnterNesting(diag::SourceSpan span);
  void LeaveNesting() { --nesting_; }

  // operands.cpp: literals and the types of operands.
  /// An operand where statements have one: a whole expression.
  bool ParseOperand(Operand* operand);
  bool ParseLiteral(Operand* operand);
  bool ParseConstantName(Operand* operand);
  bool ParseOperandList(std::vector<Operand>* operands);
  /// The name of a value or constant, and nothing after it.
  bool ParseName(Operand* operand);
  bool IsStrayOperand();
  /// `is_guess`: the type of a literal that does not fit may be learned yet, so that the body is parsed on.
  void Resolve(Operand& operand, Type wanted, bool is_guess = false);
  void ResolveTree(Operand& operand, Type wanted);
  void ResolveGroup(std::span<Operand* const> group);
  Type GroupType(std::span<Operand* const> group) const;
  Type DefaultType(std::span<Operand* const> group) const;
  void ResolvePlain(Op op, std::vector<Operand>& operands);
  void ReportUntyped(const Operand& operand);
  ir::LiteralKind KindOf(const Operand& operand) const;
  Type TypeOf(const Operand& operand) const;
  std::vector<Type> TypesOf(std::span<const Operand> operands) const;
  static bool AnyPoison(std::span<const Operand> operands);

  // expression.cpp: infix expressions.
  /// `head`: it may be an instruction in the form `add %a, %b`.
  bool ParseExpression(Piece* piece, bool head);
  bool ParseBinary(Piece* piece, bool head, int lowest);
  bool ParseBinaryAfter(Piece* piece, int lowest);
  bool ParseTernary(Piece* piece);
  bool ParseUnary(Piece* piece, bool head);
  bool ParsePostfixAfter(Piece* piece);
  bool ParsePrimary(Piece* piece, bool head);
  bool ParseValue(Operand* operand);
  bool ParseComponentOfName(std::string_view text, size_t dot, Operand* operand);
  bool ParseSymbol(Piece* piece);
  /// `stated`: where given, it is what `op` is called with, and `: type` may follow the last of several.
  bool ParseGroup(std::vector<Operand>* items, size_t most, Op op = Op::Yield, Type* stated = nullptr);
  bool ParseSimpleList(Op op, std::vector<Operand>* operands);
  bool ParseSimple(Operand* operand);
  bool ParseOperation(Piece* piece, bool head);
  bool ParseInstructionPiece(Op op, diag::SourceSpan word, Piece* piece);
  bool ParseConstruction(Piece* piece);
  bool ParseCallOfOperation(Op op, diag::SourceSpan word, Piece* piece);
  bool ParseConvertInParentheses(Op op, diag::SourceSpan word, Piece* piece);
  bool ParseShortCircuit(Op op, int strength, Piece* piece);
  void MakeChoice(const Operand& condition, Block then_block, const Operand& then_value, Block else_block,
                  const Operand& else_value, diag::SourceSpan span, Operand* result);
  void MakeOf(Op op, Type type, std::span<const Operand> items, diag::SourceSpan span, Made* made);
  bool ParseElement(Operand* base);
  bool ParseComponents(Operand* operand);
  bool ParseAssignment(Region& region, const NameToken& name);
  /// One operand made of the piece, with an error where it is none.
  bool TakeOperand(Piece& piece, Operand* operand);
  void Combine(Op op, std::span<const Operand> operands, diag::SourceSpan span, Operand* result);
  bool CombineTree(Op op, std::vector<Operand>& operands, diag::SourceSpan span, Operand* result);
  void CombineComponent(const Operand& base, uint32_t component, diag::SourceSpan span, Operand* result);
  uint32_t AddTree(const Operand& operand);
  std::string_view SpellingOf(const Piece& piece) const;
  bool IsTypeWord();
  bool HasOperator() const;
  bool IsPureBlock(Block block) const;
  void NeedCondition(Operand& operand, const char* what);
  bool RefuseOperator(std::string_view what);

  // plain.cpp: every statement without regions.
  bool ParseInstruction(Op op, diag::SourceSpan word, Made* made);
  bool ParseOpWord(Op* op);
  bool ParsePlain(Op op, diag::SourceSpan word, Made* made);
  bool FinishPlain(Op op, diag::SourceSpan word, std::vector<Operand>& operands, Made* made);
  /// Makes the instruction of operands that have their types.
  void MakePlain(Op op, std::span<const Operand> operands, diag::SourceSpan span, Type stated, Made* made);
  bool ParseRandom(diag::SourceSpan word, Made* made);
  bool FinishRandom(diag::SourceSpan word, std::vector<Operand>& operands, Made* made);
  void MakeRandom(Type type, diag::SourceSpan word, std::vector<Operand>& operands, Made* made);
  bool ParseConvert(Op op, diag::SourceSpan word, Made* made);
  bool FinishConvert(Op op, diag::SourceSpan word, Operand& operand, Made* made);
  bool ParseShape(diag::SourceSpan word, Made* made);
  bool ParseIdentity(diag::SourceSpan word, Made* made);
  bool ParseAccess(Op op, diag::SourceSpan word, Made* made);
  bool ParseIndices(std::vector<Operand>* operands);
  bool ParseComponent(uint32_t* component);
  void FinishAccess(Op op, std::vector<Operand>& operands, size_t indices, uint32_t field, uint32_t component,
                    ir::Words words, diag::SourceSpan word, Made* made);
  bool ParseField(const Operand& base, uint32_t* field);
  /// The words of raised modules that stand here.
  ir::Words ParseRaisedWords(Op op);
  /// At a word that may follow the operands of `op`.
  bool IsWordAfterOperands(Op op) const;
  bool ParseRaisedNumbers(ParallelHead* head);
  bool ParseTypeOperand(Op op, diag::SourceSpan word, Made* made);
  bool ParseCall(diag::SourceSpan word, Made* made);
  bool ParseTypeArgument(StringId name, Type* type);
  const ir::Function* ChooseInstance(StringId name, Type stated, std::span<const Operand> operands,
                                     diag::SourceSpan span);
  bool ParseAssert(diag::SourceSpan word, Made* made);
  bool ParsePrint(diag::SourceSpan word, Made* made);
  bool ParseStack(Op op, diag::SourceSpan word, Made* made);
  bool ParseRow(Op op, diag::SourceSpan word, Made* made);
  bool ParseStatus(diag::SourceSpan word, Made* made);
  bool ParseAttribute(const char* what, uint64_t limit, uint32_t* value);
  /// From the word of a statement to where the parser is.
  diag::SourceSpan SpanSince(diag::SourceSpan word) const { return {word.begin, stream_.SpanPrevious().end}; }
  Made Create(Op op, std::span<const Operand> operands, std::span<const Type> results, diag::SourceSpan word);
  Made CreateAt(Op op, std::span<const Operand> operands, std::span<const Type> results,
                diag::SourceSpan span);
  /// Reports the first rule that the instruction breaks, with a caret at the operand.
  void Check(Made* made, std::span<const Operand> operands);
  /// The first result; poison after an error.
  Value ResultOf(const Made& made) const { return made.poison ? kPoison : function_.Result(made.inst); }
  void Report(const ir::Misfit& misfit, std::span<const Operand> operands, diag::SourceSpan whole);

  // carried_literals.cpp: types of carried values that begin with literals.
  void ResolveCarried(Operand& operand);
  void BeginWith(std::span<const Operand> initial, Block block, uint32_t first_param, Inst loop);
  uint32_t LiteralBehind(Value v) const;
  void LearnWanted(Value v, Type wanted);
  void LearnFromAccess(Inst inst, std::span<const Operand> operands);
  void LearnFromOperands(std::span<const Operand> operands);

  // control.cpp: statements with regions.
  bool ParseFor(const Region& around, const std::vector<NameToken>& names, diag::SourceSpan word);
  bool ParseWhile(const std::vector<NameToken>& names, diag::SourceSpan word);
  bool ParseScope(const std::vector<NameToken>& names, diag::SourceSpan word);
  bool ParseIf(Region& around, const std::vector<NameToken>& names, diag::SourceSpan word);
  /// An `if` and the chain of `else if` after it; its results, of which some are poison after an error.
  /// `hints`: types that literals have where no branch says one; none, or one per result.
  bool ParseBranches(Region& around, size_t results, diag::SourceSpan word, std::span<const Type> hints,
                     std::vector<Value>* values);
  bool ParseElseIf(Region& branch, size_t results, std::span<const Type> hints);
  bool CheckBranches(Region* branches, size_t results, bool has_else, diag::SourceSpan header);
  bool ParseParallel(Region& region, diag::SourceSpan word);
  bool ParseParallelRanges(const std::vector<NameToken>& ivs, diag::SourceSpan word);
  bool ParseParallelOver(const std::vector<NameToken>& ivs, diag::SourceSpan word);
  bool EndParallelHead(ParallelHead* head, diag::SourceSpan word, const char* expected);
  void ParseParallelBody(const ParallelHead& head, diag::SourceSpan word, bool good);
  void ParseSerialBody(const ParallelHead& head, diag::SourceSpan word, size_t axis);
  /// The number after `checkpoint`, if there is one.
  bool ParseSegmentLength(uint32_t* segment);
  /// The clauses between the bounds of a `for`, or the word `while`, and the body.
  struct LoopClauses {
    ir::Words words;
    uint32_t segment = ir::kNoAttr, turns = ir::kNoAttr;
    std::optional<Operand> step;  ///< of a `while`: its bound
    std::vector<NameToken> carried;
    std::vector<Operand> initial;
  };
  bool ParseForClauses(LoopClauses* clauses);
  bool ParseWhileClauses(LoopClauses* clauses);
  Operand KnownStep(Operand step);
  bool ParseCarry(std::vector<NameToken>* names, std::vector<Operand>* initial);
  /// A region of the instruction, which begins with parameters of these types; of poison a block alone.
  Block AddRegion(const Made& made, uint32_t number, std::span<const Type> params = {});
  void BindParams(Block block, uint32_t first, const std::vector<NameToken>& names, bool poison);
  /// Types the results after the values of the branches; which of them have a type.
  std::vector<unsigned char> FinishBranches(Region& then_region, Region& else_region, Inst inst,
                                            size_t results, std::span<const Type> hints);
  void ResolveYield(Region& region, size_t position, Type type);
  void YieldBranch(const Region& region);

  Shared& shared_;
  TokenStream stream_;
  ir::Function& function_;
  Names& names_;
  uint32_t silent_;
  const std::unordered_map<StringId, bool>& unsure_;
  uint32_t end_;
  std::vector<size_t> scope_places_;  ///< how many places there were where each open region began
  Block block_;                       ///< where instructions go
  const Region* region_ = nullptr;    ///< the one that is being parsed
  std::vector<TreeNode> trees_;       ///< of expressions of literals
  uint32_t ternaries_ = 0;            ///< between a '?' and its ':'
  bool group_states_ = false;         ///< in parentheses that may end with ': type'
  bool states_types_ = true;          ///< a ':' after a literal states its type
  uint32_t nesting_ = 0;
  bool is_probe_ = false;
  bool unclosed_reported_ = false;
  uint32_t suggestions_ = 0;
  CarriedLiterals* literals_ = nullptr;
  std::unordered_map<Value, uint32_t> begun_with_;  ///< place of a literal, by carried value and result
};

}  // namespace adc::parse
