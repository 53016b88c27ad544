#include "ir/check.h"

#include <array>

#include "diag/errors/parse.h"
#include "ir/module.h"
#include "ir/promise.h"

namespace adc::ir {
namespace {

using diag::ErrorId;

std::string Count(size_t count, const char* thing) {
  return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

std::string OperandIs(const Module& module, Op op, std::span<const Type> types, size_t position) {
  return "operand " + std::to_string(position + 1) + " of " + OpName(op) + " is " +
         TypeName(module, types[position]);
}

Misfit TypeMisfit(size_t operand, std::string text, std::string help = {}) {
  return {diag::E0107, static_cast<uint32_t>(operand), std::move(text), std::move(help)};
}

std::string CastHelp(const Module& module, Type from, Type to) {
  if (!from.IsRegister() || !to.IsRegister() || from.IsBool() || to.IsBool()) return {};
  if (from.rows != to.rows || from.columns != to.columns) return {};
  return "write 'cast ... to " + TypeName(module, to) + "'";
}

/// The first operand whose type is not that of operand `reference`.
std::optional<Misfit> Unequal(const Module& module, Op op, std::span<const Type> types, size_t reference) {
  for (size_t n = reference + 1; n < types.size(); ++n) {
    if (types[n] == types[reference]) continue;
    std::string text = OperandIs(module, op, types, n) + ", operand " + std::to_string(reference + 1) +
                       " is " + TypeName(module, types[reference]);
    std::string help = CastHelp(module, types[n], types[reference]);
    if (types[n].IsScalar() && (types[reference].IsVec() || types[reference].IsMat()))
      help =
          "only 'mul' and 'div' take a scalar beside a vector or matrix; make a vector of it with vec.make";
    return TypeMisfit(n, std::move(text), std::move(help));
  }
  return std::nullopt;
}

}  // namespace

uint32_t Arity(OpForm form) {
  if (form == OpForm::Unary) return 1;
  if (form == OpForm::Binary) return 2;
  return form == OpForm::Ternary ? 3 : 0;
}

std::string OpName(Op op) {
  return "'" + std::string(InfoOf(op).spelling) + "'";
}

Misfit ExplainOperands(const Module& module, Op op, std::span<const Type> types) {
  const OpInfo& info = InfoOf(op);
  uint32_t arity = Arity(info.form);
  if (types.empty() || (arity != 0 && types.size() != arity)) {
    return {diag::E0114, kNoAttr,
            OpName(op) + " takes " + (arity == 0 ? "at least 1 operand" : Count(arity, "operand")) +
                ", not " + std::to_string(types.size())};
  }
  auto wants = [&](size_t position, const std::string& what) {
    return TypeMisfit(position, OperandIs(module, op, types, position) + ", it must be " + what);
  };
  for (size_t n = 0; n < types.size(); ++n) {
    if (types[n].IsRegister()) continue;
    Misfit misfit = wants(n, "a scalar, vector or matrix");
    if (types[n].IsBuffer() || types[n].IsArray() || types[n].IsLayout())
      misfit.help = "read an element first: '%v = load %x[...]'";
    return misfit;
  }
  Type a = types[0];
  Type b = types.size() > 1 ? types[1] : kNoType;
  auto same_after = [&](bool first_fits, const std::string& what) {
    if (!first_fits) return wants(0, what);
    if (std::optional<Misfit> misfit = Unequal(module, op, types, 0)) return *misfit;
    return wants(0, what);
  };
  switch (info.rule) {
    case TypeRule::SameNumber:
    case TypeRule::CompareOrder:
      return same_after(!a.IsBool(), "a number");
    case TypeRule::SameNumberScale:
      if (op == Op::Div && a.IsScalar() && !b.IsScalar() && a.scalar == b.scalar)
        return TypeMisfit(1, OperandIs(module, op, types, 1) + ": a scalar cannot be divided by it",
                          "divide component by component, or multiply by its inverse");
      if (b.scalar != a.scalar && a.IsScalar() != b.IsScalar()) {
        Type wanted = b.WithScalar(a.scalar);
        return TypeMisfit(
            1, OperandIs(module, op, types, 1) + ", the scalar of operand 1 is " + TypeName(a.ScalarType()),
            CastHelp(module, b, wanted));
      }
      return same_after(!a.IsBool(), "a number");
    case TypeRule::SameFloat:
    case TypeRule::Classify:
      return same_after(a.IsFloat(), "a float");
    case TypeRule::SameInteger:
      return same_after(a.IsInteger(), "an integer");
    case TypeRule::SameBits:
      return same_after(a.IsInteger() || a.IsBool(), "an integer or i1");
    case TypeRule::SameAny:
    case TypeRule::Compare:
      return same_after(true, "a scalar, vector or matrix");
    case TypeRule::SelectRule:
      if (!a.IsBool()) return wants(0, "i1");
      if (std::optional<Misfit> misfit = Unequal(module, op, types, 1)) return *misfit;
      return wants(0, "i1, or " + TypeName(b.WithScalar(Scalar::I1)));
    case TypeRule::VecMakeRule:
      if (types.size() < 2 || types.size() > kMaxVector)
        return {diag::E0114, kNoAttr,
                "a vector has from 2 to 16 components, not " + std::to_string(types.size())};
      return same_after(a.IsScalar(), "a scalar");
    case TypeRule::VecGetRule:
      return a.IsVec() ? wants(1, "i32 or i64") : wants(0, "a vector");
    case TypeRule::VecSetRule:
      if (!a.IsVec()) return wants(0, "a vector");
      return b.IsIndex() ? wants(2, TypeName(a.ScalarType())) : wants(1, "i32 or i64");
    case TypeRule::DotRule:
      return same_after(a.IsVec() && !a.IsBool(), "a vector of numbers");
    case TypeRule::CrossRule:
      return same_after(a.IsVec() && a.rows == 3 && !a.IsBool(), "a vector of 3 numbers");
    case TypeRule::NormRule:
    case TypeRule::NormalizeRule:
      return wants(0, "a vector of floats");
    case TypeRule::MatMakeRule:
      if (a.IsMat() || a.IsBool()) return wants(0, "a number or a row of numbers");
      if (std::optional<Misfit> misfit = Unequal(module, op, types, 0)) return *misfit;
      return {diag::E0114, kNoAttr, Count(types.size(), "component") + " make no square matrix",
              "state the type: 'mat.make ... : mat<f32, 2, 3>'"};
    case TypeRule::MatGetRule:
      if (!a.IsMat()) return wants(0, "a matrix");
      return b.IsIndex() ? wants(2, "i32 or i64") : wants(1, "i32 or i64");
    case TypeRule::MatMulRule:
      if (!a.IsFloat() || a.IsScalar()) return wants(0, "a matrix or vector of floats");
      if (!a.IsMat() && !b.IsMat()) return wants(1, "a matrix, for operand 1 is a vector");
      return TypeMisfit(1,
                        OperandIs(module, op, types, 1) + ", operand 1 is " + TypeName(module, a) +
                            ": the sizes do not agree",
                        "columns of the left are rows of the right");
    case TypeRule::TransposeRule:
      return wants(0, "a matrix");
    case TypeRule::DetRule:
    case TypeRule::InverseRule:
      return wants(0, "a square matrix of floats, 2 by 2 to 4 by 4");
    case TypeRule::OuterRule:
      if (!a.IsVec() || a.IsBool()) return wants(0, "a vector of numbers");
      return wants(1, "a vector of " + TypeName(a.ScalarType()));
    case TypeRule::CastRule:
    case TypeRule::BitcastRule:
    case TypeRule::IdentityRule:
    case TypeRule::RandomRule:
    case TypeRule::ShapeRule:
    case TypeRule::LoadRule:
    case TypeRule::StoreRule:
    case TypeRule::TexelRule:
    case TypeRule::AtomicRule:
    case TypeRule::AtomicIntegerRule:
    case TypeRule::AtomicCompareRule:
    case TypeRule::AllocaRule:
    case TypeRule::ControlRule:
    case TypeRule::CallRule:
    case TypeRule::TerminatorRule:
    case TypeRule::AssertRule:
    case TypeRule::PrintRule:
    case TypeRule::BarrierRule:
    case TypeRule::StackNewRule:
    case TypeRule::StackPushRule:
    case TypeRule::StackPopRule:
    case TypeRule::RowClaimRule:
    case TypeRule::RowLoadRule:
    case TypeRule::RowStoreRule:
    case TypeRule::StatusRule:
      break;
  }
  return {diag::E0107, kNoAttr, "the operands of " + OpName(op) + " do not fit"};
}

namespace {

class InstChecker {
 public:
  InstChecker(const Module& module, const Function& function, Inst inst)
      : module_(module), function_(function), inst_(inst), data_(function[inst]) {}

  std::optional<Misfit> Check() {
    operands_ = function_.Operands(inst_);
    types_.reserve(operands_.size());
    for (Value v : operands_) {
      if (v.raw >= function_.ValueCount())
        return Whole(diag::E0114, OpName(data_.op) + " has an operand that is no value");
      types_.push_back(function_.TypeOf(v));
    }
    if (data_.result_count != 0 &&
        uint64_t{data_.first_result.raw} + data_.result_count > function_.ValueCount())
      return Whole(diag::E0117, OpName(data_.op) + " has results that are no values");
    switch (InfoOf(data_.op).form) {
      case OpForm::Nullary:
        return Identity();
      case OpForm::Unary:
      case OpForm::Binary:
      case OpForm::Ternary:
      case OpForm::Variadic:
        return Plain();
      case OpForm::RandomForm:
        return Random();
      case OpForm::Convert:
        return Convert();
      case OpForm::ShapeForm:
        return Shape();
      case OpForm::Access:
        return Access();
      case OpForm::AllocaForm:
        return Alloca();
      case OpForm::Control:
        return Control();
      case OpForm::CallForm:
        return Call();
      case OpForm::Terminator:
        if (data_.op == Op::Exit && !operands_.empty() && types_[0] != kLabel)
          return Wants(0, "the name of a scope", "write '%r = scope %s -> f32 { ... exit %s, %v ... }'");
        return Results({});
      case OpForm::AssertForm:
        return Assert();
      case OpForm::PrintForm:
        return PrintStatement();
      case OpForm::BarrierForm:
        if (auto misfit = OperandCount(0)) return misfit;
        return Results({});
      case OpForm::StackNewForm:
        if (auto misfit = OperandCount(0)) return misfit;
        if (auto misfit = ResultCount(1)) return misfit;
        if (!ResultAt(0).IsStack()) return Whole(diag::E0107, "'stack.new' makes a stack of scalars");
        return std::nullopt;
      case OpForm::StackForm:
        return Stack();
      case OpForm::RowForm:
        if (auto misfit = OperandCount(0)) return misfit;
        return Results(std::array{kI64});
      case OpForm::RowAccess:
        return Row();
      case OpForm::StatusForm:
        return Status();
    }
    return std::nullopt;
  }

 private:
  Misfit Whole(ErrorId id, std::string text, std::string help = {}) const {
    return {id, kNoAttr, std::move(text), std::move(help)};
  }
  Misfit Wants(size_t position, const std::string& what, std::string help = {}) const {
    return TypeMisfit(position, OperandIs(module_, data_.op, types_, position) + ", it must be " + what,
                      std::move(help));
  }
  Type ResultAt(uint32_t n) const { return function_.TypeOf(function_.Result(inst_, n)); }

  std::optional<Misfit> OperandCount(size_t wanted) const {
    if (operands_.size() == wanted) return std::nullopt;
    return Whole(diag::E0114, OpName(data_.op) + " takes " + Count(wanted, "operand") + ", not " +
                                  std::to_string(operands_.size()));
  }
  std::optional<Misfit> ResultCount(size_t wanted) const {
    if (data_.result_count == wanted) return std::nullopt;
    return Whole(diag::E0117, OpName(data_.op) + " has " + Count(wanted, "result") + ", not " +
                                  std::to_string(data_.result_count));
  }
  std::optional<Misfit> Results(std::span<const Type> wanted) const {
    if (auto misfit = ResultCount(wanted.size())) return misfit;
    for (uint32_t n = 0; n < wanted.size(); ++n) {
      if (ResultAt(n) == wanted[n]) continue;
      return Whole(diag::E0107, "result " + std::to_string(n + 1) + " of " + OpName(data_.op) + " is " +
                                    TypeName(module_, ResultAt(n)) + ", the operands give " +
                                    TypeName(module_, wanted[n]));
    }
    return std::nullopt;
  }

  std::optional<Misfit> Assert() const {
    bool promise = data_.Has(Word::Promise), other = promise && operands_.size() == 2;
    if (promise && data_.attr >= kPromiseWords.size())
      return Whole(diag::E0107, "'assert' of a promise that has no name");
    if (auto misfit = OperandCount(other ? 2 : 1)) return misfit;
    if (types_[0] != kI1) return Wants(0, "i1");
    if (other && types_[1] != kI64) return Wants(1, "i64");
    return Results({});
  }

  /// A report of an overflow says what was needed; that of a promise may say which iteration it met.
  std::optional<Misfit> Status() const {
    bool promise = data_.Has(Word::Promise), stated = !operands_.empty();
    bool some = CheckWord(data_.words).empty() || (promise && stated);
    if (auto misfit = OperandCount(some ? 1 : 0)) return misfit;
    if (some && types_[0] != kI64) return Wants(0, "i64");
    return Results({});
  }

  std::optional<Misfit> Plain() const {
    std::optional<Type> result = ResultType(data_.op, types_);
    Type stated = data_.result_count == 1 ? ResultAt(0) : kNoType;
    bool stated_matrix = data_.op == Op::MatMake && stated.IsMat() && !types_.empty() && types_[0].IsScalar();
    // A square number of components makes a square matrix only where no other shape of that size is stated.
    bool other_shape =
        result && stated_matrix && stated.scalar == result->scalar && stated.Components() == types_.size();
    if (other_shape) return std::nullopt;
    if (result) return Results(std::array{*result});
    if (!stated_matrix || Unequal(module_, data_.op, types_, 0))
      return ExplainOperands(module_, data_.op, types_);
    if (types_[0].IsBool()) return Wants(0, "a number");
    if (types_[0].scalar != stated.scalar)
      return Whole(diag::E0107,
                   "the components are " + TypeName(types_[0]) + ", the stated type is " + TypeName(stated));
    if (types_.size() == stated.Components()) return std::nullopt;
    return Whole(diag::E0114, TypeName(stated) + " has " + Count(stated.Components(), "component") +
                                  ", not " + std::to_string(types_.size()));
  }

  std::optional<Misfit> Identity() const {
    if (auto misfit = OperandCount(0)) return misfit;
    if (auto misfit = ResultCount(1)) return misfit;
    Type type = ResultAt(0);
    if (type.IsMat() && type.rows == type.columns && !type.IsBool()) return std::nullopt;
    return Whole(diag::E0113, "'identity' makes a square matrix of numbers, not " + TypeName(module_, type));
  }

  std::optional<Misfit> Random() const {
    if (types_.size() != 2 && types_.size() != 3)
      return Whole(diag::E0114,
                   "'random' takes a seed, a counter and, if it is to be another than 0, a stream, not " +
                       Count(types_.size(), "operand"));
    if (auto misfit = ResultCount(1)) return misfit;
    for (size_t n = 0; n < types_.size(); ++n) {
      bool wide = types_[n].IsScalar() && types_[n].IsInteger() && BitWidth(types_[n].scalar) >= 32;
      if (!wide) return Wants(n, "an integer of 32 or 64 bits");
    }
    Type type = ResultAt(0);
    bool narrow = type.scalar == Scalar::U32 || type.scalar == Scalar::F16 || type.scalar == Scalar::F32;
    bool wide = type.scalar == Scalar::U64 || type.scalar == Scalar::F64;
    uint32_t most = narrow ? 4 : 2;
    if ((narrow || wide) && (type.IsScalar() || (type.IsVec() && type.rows <= most))) return std::nullopt;
    return Whole(diag::E0113,
                 "'random' gives u32, f16 or f32, up to 4 of them, or u64 or f64, up to 2 of them, not " +
                     TypeName(module_, type));
  }

  std::optional<Misfit> Convert() const {
    if (auto misfit = OperandCount(1)) return misfit;
    if (auto misfit = ResultCount(1)) return misfit;
    Type from = types_[0];
    Type to = ResultAt(0);
    if (!from.IsRegister()) return Wants(0, "a scalar, vector or matrix");
    if (!to.IsRegister() || from.WithScalar(to.scalar) != to)
      return Whole(diag::E0107, OpName(data_.op) + " cannot turn " + TypeName(module_, from) + " into " +
                                    TypeName(module_, to) + ": the shapes differ");
    if (data_.op == Op::Bitcast && BitWidth(from.scalar) != BitWidth(to.scalar))
      return Whole(diag::E0107, "'bitcast' cannot turn " + TypeName(from) + " into " + TypeName(to) +
                                    ": the widths differ");
    return std::nullopt;
  }

  std::optional<Misfit> Shape() const {
    if (auto misfit = OperandCount(1)) return misfit;
    if (auto misfit = ResultCount(1)) return misfit;
    if (types_[0].IsLayout() && data_.component == kNoAttr)
      return Wants(0, "a buffer or a field of a layout", "write 'shape %g::field, 0'");
    if (!types_[0].IsBuffer() && !types_[0].IsLayout()) return Wants(0, "a buffer or a field of a layout");
    if (data_.attr >= module_.IndexCount(function_, operands_[0], data_.component))
      return Whole(diag::E0114, TypeName(module_, types_[0]) + " has no axis " + std::to_string(data_.attr),
                   "axes count from 0");
    if (!ResultAt(0).IsIndex())
      return Whole(diag::E0113, "an extent is i32 or i64, not " + TypeName(module_, ResultAt(0)));
    return std::nullopt;
  }

  std::optional<Misfit> Access() const {
    if (operands_.empty()) return Whole(diag::E0114, OpName(data_.op) + " needs a base");
    Type base = types_[0];
    if (auto misfit = AccessBase(base)) return misfit;
    uint32_t indices = module_.IndexCount(function_, operands_[0], data_.attr);
    if (data_.index_count != indices)
      return Whole(diag::E0123, AccessedName(base) + " takes " +
                                    (indices == 1 ? "1 index" : std::to_string(indices) + " indices") +
                                    ", not " + std::to_string(data_.index_count));
    if (operands_.size() < 1 + size_t{indices}) return OperandCount(1 + size_t{indices});
    for (uint32_t n = 1; n <= indices; ++n) {
      if (!types_[n].IsIndex())
        return TypeMisfit(
            n,
            "index " + std::to_string(n) + " is " + TypeName(module_, types_[n]) + ", it must be i32 or i64",
            types_[n].IsScalar() ? "write 'cast ... to i32'" : std::string());
    }
    Type element = module_.ElementType(function_, operands_[0], data_.attr);
    if (data_.component != kNoAttr) {
      if (element.IsScalar())
        return Whole(diag::E0129, "the elements of " + AccessedName(base) + " are " + TypeName(element) +
                                      ", which has no components");
      if (data_.component >= element.Components())
        return Whole(diag::E0129, TypeName(element) + " has no component " + std::to_string(data_.component),
                     "components count from 0, matrices row by row");
      element = element.ScalarType();
    }
    return AccessValues(base, element, 1 + size_t{indices});
  }

  std::string AccessedName(Type base) const {
    if (!base.IsLayout()) return TypeName(module_, base);
    return "field '" + std::string(module_.Text(module_.layouts[base.count].fields[data_.attr].name)) + "'";
  }

  std::optional<Misfit> AccessBase(Type base) const {
    bool constant = function_[operands_[0]].kind == ValueKind::Global;
    if (base.IsLayout()) {
      if (base.count >= module_.layouts.size())
        return Whole(diag::E0129, "a layout that the module does not have");
      if (data_.attr >= module_.layouts[base.count].fields.size())
        return TypeMisfit(0, "an access of " + TypeName(module_, base) + " names a field",
                          "write '%g::field[...]'");
      return std::nullopt;
    }
    if (data_.attr != kNoAttr)
      return TypeMisfit(
          0, "operand 1 of " + OpName(data_.op) + " is " + TypeName(module_, base) + ", which has no fields");
    if (base.IsArray() && constant && data_.op != Op::Load)
      return Misfit{diag::E0129, 0, "a module constant cannot be written"};
    if (base.IsArray() && IsAtomic(data_.op) && !IsShared(operands_[0]))
      return Misfit{diag::E0129, 0, "atomics work on buffers, fields and shared arrays, not on a local array",
                    "a local array belongs to one thread: load, change, store"};
    if (base.IsArray() || base.IsBuffer()) return std::nullopt;
    return Misfit{diag::E0129, 0, OpName(data_.op) + " needs memory, this is " + TypeName(module_, base),
                  "memory is a buffer, a layout field ('%g::mass') or a local array"};
  }

  /// No text can say that a parameter is an image: front ends do.
  bool IsImage(Value base) const {
    const ParamInfo* info = function_.IsParameter(base) ? &function_.params[function_[base].number] : nullptr;
    return info != nullptr && info->shader_binding < module_.shader_bindings.size() &&
           module_.shader_bindings[info->shader_binding].image.has_value();
  }

  std::optional<Misfit> AccessValues(Type base, Type element, size_t first) const {
    bool whole_texel = InfoOf(data_.op).rule == TypeRule::TexelRule;
    if (whole_texel && (!IsImage(operands_[0]) || data_.component != kNoAttr))
      return Whole(diag::E0129, OpName(data_.op) + " writes an image, this is " + TypeName(module_, base),
                   "shaders have images: in text 'store' writes an element");
    size_t values = whole_texel                             ? element.Components()
                    : data_.op == Op::Load                  ? 0
                    : data_.op == Op::AtomicCompareExchange ? 2
                                                            : 1;
    if (whole_texel) element = element.ScalarType();
    if (operands_.size() != first + values)
      return Whole(diag::E0114, OpName(data_.op) + " takes " + Count(values, "value") +
                                    " after its place, not " + std::to_string(operands_.size() - first));
    for (size_t n = first; n < types_.size(); ++n) {
      if (types_[n] == element) continue;
      return TypeMisfit(n,
                        "the value is " + TypeName(module_, types_[n]) + ", the elements of " +
                            AccessedName(base) + " are " + TypeName(element),
                        CastHelp(module_, types_[n], element));
    }
    bool number = !element.IsBool();
    bool whole_only = data_.op == Op::AtomicExchange || data_.op == Op::AtomicCompareExchange;
    TypeRule rule = InfoOf(data_.op).rule;
    if (rule == TypeRule::AtomicIntegerRule && !element.IsInteger())
      return Whole(diag::E0129,
                   OpName(data_.op) + " works on integers, the elements are " + TypeName(element));
    if ((rule == TypeRule::AtomicRule || rule == TypeRule::AtomicCompareRule) && !number)
      return Whole(diag::E0129,
                   OpName(data_.op) + " works on numbers, the elements are " + TypeName(element));
    if (whole_only && !element.IsScalar())
      return Whole(diag::E0129, OpName(data_.op) + " works on scalars, the elements are " + TypeName(element),
                   "name a component: '%x[%i].0'");
    if (data_.op == Op::AddTo && !element.IsFloat())
      return Whole(diag::E0129, "'add_to' sums floats, the elements are " + TypeName(element));
    if (data_.op == Op::Load || IsAtomic(data_.op)) return Results(std::array{element});
    return Results({});
  }

  bool IsShared(Value array) const {
    Inst made = function_.DefiningInst(array);
    return made.Valid() && made.raw < function_.InstCount() && function_[made].Has(Word::Shared);
  }
  std::optional<Misfit> Alloca() const {
    if (auto misfit = OperandCount(0)) return misfit;
    if (auto misfit = ResultCount(1)) return misfit;
    if (ResultAt(0).IsArray() && ResultAt(0).count != 0) return std::nullopt;
    return Whole(diag::E0113, "'alloca' makes an array, not " + TypeName(module_, ResultAt(0)),
                 "write 'alloca array<f32, 9>'");
  }

  Block Region(uint32_t n) const {
    Block block = data_.regions[n];
    return block.raw < function_.BlockCount() ? block : Block();
  }
  std::optional<Misfit> RegionParams(Block region, std::span<const Type> wanted) const {
    if (!region.Valid()) return Whole(diag::E0125, OpName(data_.op) + " lacks a region");
    const std::vector<Value>& params = function_[region].params;
    bool fits = params.size() == wanted.size();
    for (size_t n = 0; fits && n < wanted.size(); ++n) {
      fits = params[n].raw < function_.ValueCount() && function_.TypeOf(params[n]) == wanted[n];
    }
    if (fits) return std::nullopt;
    return Whole(diag::E0107,
                 "the values that a region of " + OpName(data_.op) + " begins with do not fit it");
  }
  std::optional<Misfit> Bounds(size_t lo, size_t hi) const {
    if (types_[lo] == types_[hi] && !types_[lo].IsIndex()) {
      // A literal takes the type of the other bound, which is the one to look at: as a rule the upper one.
      return TypeMisfit(hi, "the bounds are " + TypeName(module_, types_[hi]) + ", they must be i32 or i64",
                        types_[hi].IsScalar() ? "write 'cast ... to i32'" : std::string());
    }
    for (size_t n : {lo, hi}) {
      if (types_[n].IsIndex()) continue;
      return TypeMisfit(n,
                        std::string(n == lo ? "the lower" : "the upper") + " bound is " +
                            TypeName(module_, types_[n]) + ", it must be i32 or i64",
                        types_[n].IsScalar() ? "write 'cast ... to i32'" : std::string());
    }
    if (types_[lo] == types_[hi]) return std::nullopt;
    return TypeMisfit(
        hi, "the upper bound is " + TypeName(types_[hi]) + ", the lower one is " + TypeName(types_[lo]),
        CastHelp(module_, types_[hi], types_[lo]));
  }
  std::optional<Misfit> Carried(size_t first) const {
    for (size_t n = first; n < types_.size(); ++n) {
      if (!types_[n].IsRegister())
        return TypeMisfit(
            n, "a loop carries scalars, vectors and matrices, not " + TypeName(module_, types_[n]));
    }
    return Results(std::span<const Type>(types_).subspan(first));
  }

  std::optional<Misfit> Control() const {
    if (data_.op == Op::For) return For();
    if (data_.op == Op::While) return While();
    if (data_.op == Op::If) return If();
    if (data_.op == Op::Scope) return Scope();
    return data_.op == Op::Parallel ? Parallel() : ParallelOver();
  }
  std::optional<Misfit> For() const {
    if (operands_.size() < 3) return OperandCount(3);
    if (auto misfit = Bounds(0, 1)) return misfit;
    if (types_[2] != types_[0])
      return TypeMisfit(
          2, "the step is " + TypeName(module_, types_[2]) + ", the bounds are " + TypeName(types_[0]));
    std::optional<int64_t> step = function_.IntegerConstant(operands_[2]);
    if (!step || *step <= 0)
      return Misfit{diag::E0128, 2, "the step of a loop is a positive constant",
                    "for the opposite order write 'reversed'"};
    if (auto misfit = Carried(3)) return misfit;
    std::vector<Type> params{types_[0]};
    params.insert(params.end(), types_.begin() + 3, types_.end());
    return RegionParams(Region(0), params);
  }
  std::optional<Misfit> While() const {
    size_t first = data_.Has(Word::HasMax) ? 1 : 0;
    if (operands_.size() < first) return OperandCount(first);
    if (first == 1 && !types_[0].IsIndex())
      return TypeMisfit(
          0, "the bound after 'max' is " + TypeName(module_, types_[0]) + ", it must be i32 or i64");
    if (first == 0 && data_.Has(Word::OrNone)) return Whole(diag::E0114, "'or none' stands after a bound");
    if (auto misfit = Carried(first)) return misfit;
    if (auto misfit = RegionParams(Region(0), std::span<const Type>(types_).subspan(first))) return misfit;
    return RegionParams(Region(1), {});
  }
  std::optional<Misfit> If() const {
    if (auto misfit = OperandCount(1)) return misfit;
    if (types_[0] != kI1)
      return TypeMisfit(0, "the condition of 'if' is " + TypeName(module_, types_[0]) + ", it must be i1",
                        types_[0].IsScalar() ? "compare it: 'ne %a, 0'" : std::string());
    if (auto misfit = RegisterResults("an 'if'")) return misfit;
    if (auto misfit = RegionParams(Region(0), {})) return misfit;
    return RegionParams(Region(1), {});
  }
  std::optional<Misfit> Scope() const {
    if (auto misfit = OperandCount(0)) return misfit;
    if (auto misfit = RegisterResults("a 'scope'")) return misfit;
    return RegionParams(Region(0), std::array{kLabel});
  }
  std::optional<Misfit> RegisterResults(const std::string& what) const {
    for (uint32_t n = 0; n < data_.result_count; ++n) {
      if (!ResultAt(n).IsRegister())
        return Whole(diag::E0107,
                     what + " gives scalars, vectors and matrices, not " + TypeName(module_, ResultAt(n)));
    }
    return std::nullopt;
  }
  std::optional<Misfit> Parallel() const {
    if (operands_.empty() || operands_.size() % 2 != 0)
      return Whole(diag::E0114, "'parallel' has two bounds per axis");
    if (operands_.size() / 2 > kMaxRank) return Whole(diag::E0114, "'parallel' has at most 8 axes");
    std::vector<Type> params;
    for (size_t n = 0; n < types_.size(); n += 2) {
      if (auto misfit = Bounds(n, n + 1)) return misfit;
      params.push_back(types_[n]);
    }
    if (auto misfit = Results({})) return misfit;
    if (data_.Has(Word::Workgroup) && !CountsWorkgroup())
      return Whole(diag::E0108,
                   "'workgroup' needs two axes, the last one from 0 to a constant from 1 to 65536",
                   "the last axis counts the invocations of a workgroup: 'in 0..%groups, 0..64 workgroup'");
    return RegionParams(Region(0), params);
  }
  bool CountsWorkgroup() const {
    if (operands_.size() < 4 || types_.back() != kI32) return false;
    std::optional<int64_t> first = function_.IntegerConstant(operands_[operands_.size() - 2]);
    std::optional<int64_t> end = function_.IntegerConstant(operands_.back());
    return first == 0 && end && *end >= 1 && *end <= 65536;
  }
  std::optional<Misfit> ParallelOver() const {
    if (auto misfit = OperandCount(1)) return misfit;
    if (auto misfit = Results({})) return misfit;
    Type base = types_[0];
    if (!base.IsLayout() || base.count >= module_.layouts.size() ||
        data_.attr >= module_.layouts[base.count].fields.size())
      return Whole(diag::E0129, "'parallel over' needs a field of a layout");
    uint32_t axes = module_.IndexCount(function_, operands_[0], data_.attr);
    std::vector<Type> params(axes, kI32);
    return RegionParams(Region(0), params);
  }

  std::optional<Misfit> Call() const {
    const Function* callee = module_.Find(data_.symbol);
    if (callee == nullptr)
      return Whole(diag::E0112, "no function is named '@" + std::string(module_.Text(data_.symbol)) + "'");
    std::string name = "'@" + std::string(module_.Text(data_.symbol)) + "'";
    if (callee->IsKernel()) return Whole(diag::E0125, name + " is a kernel; only functions are called");
    std::span<const Value> params = callee->Params();
    if (params.size() != operands_.size())
      return Whole(diag::E0114, name + " takes " + Count(params.size(), "argument") + ", not " +
                                    std::to_string(operands_.size()));
    for (size_t n = 0; n < params.size(); ++n) {
      Type wanted = callee->TypeOf(params[n]);
      if (types_[n] == wanted) continue;
      return TypeMisfit(n,
                        "argument " + std::to_string(n + 1) + " of " + name + " is " +
                            TypeName(module_, types_[n]) + ", it must be " + TypeName(module_, wanted),
                        CastHelp(module_, types_[n], wanted));
    }
    return Results(callee->result_types);
  }

  std::optional<Misfit> PrintStatement() const {
    if (auto misfit = Results({})) return misfit;
    std::string_view format = module_.Text(data_.symbol);
    size_t places = 0;
    for (size_t at = format.find("{}"); at != std::string_view::npos; at = format.find("{}", at + 2))
      ++places;
    if (places != operands_.size())
      return Whole(diag::E0114, "the text has " + Count(places, "place") + " '{}', but " +
                                    Count(operands_.size(), "value") + " to print");
    for (size_t n = 0; n < types_.size(); ++n) {
      if (!types_[n].IsRegister()) return Wants(n, "a scalar, vector or matrix");
    }
    return std::nullopt;
  }

  std::optional<Misfit> Stack() const {
    bool slot = data_.Has(Word::HasSlot);
    size_t plain = data_.op == Op::StackPush ? 2 : 1;
    if (auto misfit = OperandCount(plain + (slot ? 1 : 0))) return misfit;
    if (!types_[0].IsStack()) return Wants(0, "a stack");
    Type scalar = Type::Of(types_[0].scalar);
    if (data_.op == Op::StackPush && types_[1] != scalar) return Wants(1, TypeName(scalar));
    if (slot && !types_[plain].IsIndex()) return Wants(plain, "i32 or i64");
    if (data_.op == Op::StackPush) return Results({});
    return Results(std::array{scalar});
  }

  std::optional<Misfit> Row() const {
    if (auto misfit = OperandCount(data_.op == Op::RowLoad ? 2 : 3)) return misfit;
    if (types_[0] != kI64) return Wants(0, "i64");
    if (!types_[1].IsIndex()) return Wants(1, "i32 or i64");
    if (data_.attr == kNoAttr) return Whole(diag::E0114, OpName(data_.op) + " names no stack");
    if (data_.op == Op::RowStore) {
      if (!types_[2].IsScalar()) return Wants(2, "a scalar");
      return Results({});
    }
    if (auto misfit = ResultCount(1)) return misfit;
    if (!ResultAt(0).IsScalar()) return Whole(diag::E0107, "'row.load' reads a scalar");
    return std::nullopt;
  }

  const Module& module_;
  const Function& function_;
  Inst inst_;
  const InstData& data_;
  std::span<const Value> operands_;
  std::vector<Type> types_;
};

}  // namespace

std::optional<Misfit> CheckInst(const Module& module, const Function& function, Inst inst) {
  return InstChecker(module, function, inst).Check();
}

}  // namespace adc::ir
