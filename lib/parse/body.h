#pragma once
// The statements of one function body, from text straight to IR.
//
// Operands are parsed before their types are known to agree, so that a literal waits as text in an `Operand`
// until its place gives it a type. What cannot be built because of an error leaves kPoison behind, and
// whatever uses kPoison is passed over in silence: one mistake, one message.

#include "ir/check.h"
#include "ir/literal_places.h"
#include "parse/names.h"
#include "parse/token_stream.h"

namespace adc::parse {

using ir::Block;
using ir::Inst;
using ir::Op;
using ir::Type;
using ir::Value;

struct Operand {
  Value value;  ///< invalid: a literal that waits for its type
  std::string_view literal = {};
  Type stated = ir::kNoType;  ///< of the literal `1.0:f64`
  diag::SourceSpan span;
  bool IsLiteral() const { return !value.Valid(); }
  bool IsPoison() const { return value == kPoison; }
};

/// A region that is being parsed, and what has to stand at its end.
struct Region {
  enum class Kind : uint8_t { Function, Kernel, Loop, Test, Branch, Parallel, Orphan };
  Kind kind = Kind::Orphan;
  Block block;
  std::vector<Type> expected = {};  ///< of the values at the end; none: unknown because of an error
  diag::SourceSpan header = {};     ///< for notes: the statement whose region it is
  bool ended = false;
  /// It may hold `parallel`: the body of a kernel, its branches and its loops that are unrolled.
  bool holds_tasks = false;
  /// The loop or parallel loop whose iteration it belongs to; what `break` and `continue` leave.
  const Region* loop = nullptr;
  /// Branch: it ended with `break` or `continue`, and yields nothing.
  bool left = false;
  /// Branch: the values wait for those of the other branch.
  std::vector<Operand> yields = {};
  std::vector<StringId> yield_comments = {};
  diag::SourceSpan yield_span = {};
};

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

 private:
  /// What became of an instruction: in the function, or poison.
  struct Made {
    Inst inst;
    bool poison = false;
  };

  // body.cpp: regions, statements, names, recovery.
  void ParseBlock(Region& region, diag::SourceSpan open);
  bool ParseBraces(Region& region);
  void ParseStatement(Region& region);
  bool ParseStatementAfterNames(Region& region, const std::vector<NameToken>& names, uint32_t begin);
  bool ParseTerminator(Region& region, Op op, const std::vector<NameToken>& names);
  bool ParseLeave(Region& region, Op op, std::vector<Operand> values, diag::SourceSpan word);
  void EndRegion(Region& region, Op op, std::vector<Operand> values, diag::SourceSpan span);
  /// Ends a region after a branch of which both sides leave: nothing gets there.
  void EndUnreached(Region& region);
  /// Gives the values at the end of `region`, or of a branch that leaves it, their types and checks them.
  bool CheckEndValues(const Region& region, Op op, std::vector<Operand>& values, diag::SourceSpan span);
  void SupplyEnd(Region& region, diag::SourceSpan close);
  void AttachComments(Region& region, const std::vector<StringId>& comments, size_t first);
  void Recover();
  void ParseOrphans();
  void SkipDeepBlock();
  void Define(const NameToken& name, Value value);
  void BindResults(const std::vector<NameToken>& names, const Made& made);
  void BindPoison(const std::vector<NameToken>& names);
  Value Look(const Token& token, diag::SourceSpan span);
  void ReportUnknown(StringId name, diag::SourceSpan span);
  bool EnterNesting(diag::SourceSpan span);
  void LeaveNesting() { --nesting_; }

  // operands.cpp: operands and their literals.
  bool ParseOperand(Operand* operand, bool may_state_type = true);
  bool ParseLiteral(Operand* operand, bool may_state_type);
  bool ParseNested(Operand* operand);
  bool ParseConstantName(Operand* operand);
  bool ParseOperandList(std::vector<Operand>* operands);
  void Resolve(Operand& operand, Type wanted);
  void ResolveGroup(std::span<Operand* const> group);
  void ResolvePlain(Op op, std::vector<Operand>& operands);
  Type TypeOf(const Operand& operand) const;
  static bool AnyPoison(std::span<const Operand> operands);

  // plain.cpp: every statement without regions.
  bool ParseInstruction(Op op, diag::SourceSpan word, Made* made);
  bool ParseOpWord(Op* op);
  bool ParsePlain(Op op, diag::SourceSpan word, Made* made);
  bool ParseRandom(diag::SourceSpan word, Made* made);
  bool ParseConvert(Op op, diag::SourceSpan word, Made* made);
  bool ParseShape(diag::SourceSpan word, Made* made);
  bool ParseIdentity(diag::SourceSpan word, Made* made);
  bool ParseAccess(Op op, diag::SourceSpan word, Made* made);
  bool ParseAccessBase(Op op, Operand* base, uint32_t* field);
  bool ParseField(const Operand& base, uint32_t* field);
  bool ParseTypeOperand(Op op, diag::SourceSpan word, Made* made);
  bool ParseCall(diag::SourceSpan word, Made* made);
  bool ParseAssert(diag::SourceSpan word, Made* made);
  bool ParsePrint(diag::SourceSpan word, Made* made);
  bool ParseStack(Op op, diag::SourceSpan word, Made* made);
  bool ParseRow(Op op, diag::SourceSpan word, Made* made);
  bool ParseStatus(diag::SourceSpan word, Made* made);
  bool ParseAttribute(const char* what, uint64_t limit, uint32_t* value);
  Made Create(Op op, std::span<const Operand> operands, std::span<const Type> results, diag::SourceSpan word);
  /// Reports the first rule that the instruction breaks, with a caret at the operand.
  void Check(Made* made, std::span<const Operand> operands);
  void Report(const ir::Misfit& misfit, std::span<const Operand> operands, diag::SourceSpan whole);

  // control.cpp: statements with regions.
  bool ParseFor(const Region& around, const std::vector<NameToken>& names, diag::SourceSpan word);
  bool ParseWhile(const std::vector<NameToken>& names, diag::SourceSpan word);
  bool ParseIf(Region& around, const std::vector<NameToken>& names, diag::SourceSpan word);
  bool ParseParallel(Region& region, diag::SourceSpan word);
  bool ParseParallelRanges(const std::vector<NameToken>& ivs, diag::SourceSpan word);
  bool ParseParallelOver(const std::vector<NameToken>& ivs, diag::SourceSpan word);
  /// The number after `checkpoint`, if there is one.
  bool ParseSegmentLength(uint32_t* segment);
  bool ParseCarry(std::vector<NameToken>* names, std::vector<Operand>* initial);
  void BindParams(Block block, uint32_t first, const std::vector<NameToken>& names, bool poison);
  /// Types the results after the values of the branches; which of them have a type.
  std::vector<unsigned char> FinishBranches(Region& then_region, Region& else_region, Inst inst,
                                            size_t results);
  void YieldBranch(Region& region);

  Shared& shared_;
  TokenStream stream_;
  ir::Function& function_;
  Names& names_;
  uint32_t silent_;
  const std::unordered_map<StringId, bool>& unsure_;
  uint32_t end_;
  Block block_;  ///< where instructions go
  uint32_t nesting_ = 0;
  bool unclosed_reported_ = false;
  uint32_t suggestions_ = 0;
};

}  // namespace adc::parse
