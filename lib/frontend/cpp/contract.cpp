// The names of adc/kernel.hpp: what they are in the IR. Their bodies in the header are for the host.

#include "frontend/cpp/contract.h"

#include <algorithm>

#include "diag/errors/cpp.h"
#include "ir/module.h"

namespace adc::frontend {

namespace {

/// Of an atomic, or a function of numbers, vectors or matrices: by the IR's name for it.
std::optional<Op> OperationOf(llvm::StringRef name) {
  if (name == "length") return Op::Norm;
  if (name == "determinant") return Op::Det;
  std::string text = name.str();
  std::ranges::replace(text, '_', ' ');  // atomic_add
  return ir::OpFromSpelling(text);
}

/// Whether a function of namespace adc stands in the header, whose name and place may be any: where
/// adc::buffer does. Others are the user's.
bool IsOfHeader(const clang::FunctionDecl* function) {
  clang::ASTContext& context = function->getASTContext();
  const clang::SourceManager& files = context.getSourceManager();
  auto file_of = [&](const clang::Decl* at) {
    return files.getFileID(files.getExpansionLoc(at->getLocation()));
  };
  const clang::DeclContext* space = function->getEnclosingNamespaceContext();
  return llvm::any_of(space->lookup(&context.Idents.get("buffer")),
                      [&](const clang::Decl* buffer) { return file_of(buffer) == file_of(function); });
}

}  // namespace

std::optional<Given> Contract::CallContract(const clang::CallExpr* call, const clang::FunctionDecl* function,
                                            llvm::ArrayRef<const clang::Expr*> arguments) {
  if (!InNamespace(function, "adc")) return std::nullopt;
  if (function->isOverloadedOperator()) return CallOperator(function, arguments, call);
  llvm::StringRef name = NameOf(function);
  SourceRange range = call->getSourceRange();
  if (name == "parallel") return Parallel(arguments, call);
  if (name == "blocks") return Blocks(function, arguments, call);
  if (name == "print") return Print(arguments, call);
  if (name == "checkpoint") Refuse(call, "adc::checkpoint is not the first statement of a loop");
  if (name == "identity" && arguments.empty()) {
    Type type = NeedRegister(call->getType(), range);
    return function_.Result(writer_.Create(Op::Identity, {}, {&type, 1}));
  }
  if (name == "stop_gradient") {
    if (RegisterType(arguments[0]->getType())) return Operation(Op::StopGradient, arguments, range);
    return WithoutGradient(arguments[0], range);
  }
  if (!IsOfHeader(function)) return std::nullopt;
  std::optional<Op> op = OperationOf(name);
  if (op && ir::IsAtomic(*op)) return Atomic(*op, arguments, call);
  if (!op || !RegisterType(arguments[0]->getType())) return std::nullopt;
  std::vector<Value> operands = ValuesOf(arguments);
  SetPlace(range);
  // The header gives the first operand on a tie, the IR the second.
  if (*op == Op::Min || *op == Op::Max) std::reverse(operands.begin(), operands.end());
  return writer_.Make(*op, operands);
}

/// A copy of an object, through which no derivative passes.
ObjectPtr Contract::WithoutGradient(const clang::Expr* expression, SourceRange range) {
  ObjectPtr copy = Temporary(expression);
  EachLeaf(copy, range,
           [&](const ObjectPtr& leaf) { Store(leaf, Make(Op::StopGradient, {Load(leaf, range)}), range); });
  return copy;
}

/// Operators of vec and mat.
std::optional<Given> Contract::CallOperator(const clang::FunctionDecl* function,
                                            llvm::ArrayRef<const clang::Expr*> arguments,
                                            const clang::Expr* at) {
  auto kind = function->getOverloadedOperator();
  SourceRange range = at->getSourceRange();
  auto combine = [&](Op op, Value a, Value b) -> Value {
    Type left = TypeOf(a), right = TypeOf(b);
    SetPlace(range);
    if (op == Op::Mul && (left.IsMat() || right.IsMat()) && !left.IsScalar() && !right.IsScalar())
      op = Op::MatMul;
    if (left.IsScalar() != right.IsScalar()) {
      if (left.IsScalar()) a = Convert(a, right.ScalarType());
      if (right.IsScalar()) b = Convert(b, left.ScalarType());
    }
    return Make(op, {a, b});
  };
  if (kind == clang::OO_EqualEqual || kind == clang::OO_ExclaimEqual) {
    Value same = Operation(Op::Eq, arguments, range);
    Value all;
    for (uint32_t n = 0; n < TypeOf(same).Components(); ++n) {
      Value one = PartOf(same, n);
      all = all.Valid() ? Make(Op::And, {all, one}) : one;
    }
    return kind == clang::OO_EqualEqual ? all : writer_.Not(all);
  }
  if (kind == clang::OO_Minus && arguments.size() == 1) return Operation(Op::Neg, arguments, range);
  static const std::map<clang::OverloadedOperatorKind, std::pair<Op, bool>> kOperators = {
      {clang::OO_Plus, {Op::Add, false}},  {clang::OO_PlusEqual, {Op::Add, true}},
      {clang::OO_Minus, {Op::Sub, false}}, {clang::OO_MinusEqual, {Op::Sub, true}},
      {clang::OO_Star, {Op::Mul, false}},  {clang::OO_StarEqual, {Op::Mul, true}},
      {clang::OO_Slash, {Op::Div, false}}, {clang::OO_SlashEqual, {Op::Div, true}}};
  auto known = kOperators.find(kind);
  if (known == kOperators.end()) return std::nullopt;
  auto [op, assigns] = known->second;
  if (!assigns) {
    Value a = ValueOf(arguments[0]);
    Value b = ValueOf(arguments[1]);
    return combine(op, a, b);
  }
  Value b = ValueOf(arguments[1]);
  ObjectPtr place = Place(arguments[0]);
  Value a = Load(place, range);
  Store(place, combine(op, a, b), range);
  return place;
}

std::optional<Given> Contract::CallMember(const clang::CallExpr* call, const clang::CXXMethodDecl* method,
                                          const clang::Expr* object,
                                          llvm::ArrayRef<const clang::Expr*> arguments) {
  QualType type = object->getType();
  SourceRange range = call->getSourceRange();
  llvm::StringRef name = NameOf(method);
  if (IsBlock(type) && !name.empty()) return CallBlock(call, name, arguments);
  if (BufferOf(type)) {
    ObjectPtr buffer = Place(object);
    auto kind = method->getOverloadedOperator();
    if (kind == clang::OO_Subscript || kind == clang::OO_Call) {
      std::vector<Value> indices = ValuesOf(arguments);
      SetPlace(range);
      return BufferElement(buffer, std::move(indices), range);
    }
    if (kind == clang::OO_Equal) Refuse(call, "a kernel does not assign buffers", "bind a reference to one");
    if (name == "extent") {
      Value axis = ValueOf(arguments[0]);
      std::optional<int64_t> known = function_.IntegerConstant(axis);
      if (!known || *known < 0 || *known >= static_cast<int64_t>(buffer->count))
        Refuse(call, "the axis of extent() is a constant below the buffer's number of axes");
      SetPlace(range);
      return writer_.Shape(buffer->base, static_cast<uint32_t>(*known));
    }
    if (llvm::isa<clang::CXXConversionDecl>(method)) return buffer;
    if (name == "data" && buffer->count == 1) return PointerTo(call->getType(), {buffer, Number(0)}, range);
    if (method->getParent()->getNumBases() == 0)
      Refuse(call, "kernels do not know this member of adc::buffer", "use [i], (i, j) and extent(k)");
    return std::nullopt;
  }
  if (llvm::isa<clang::CXXConversionDecl>(method) && RecordOf(Unmarked(type)) != RecordOf(type) &&
      !RegisterType(type))
    return Place(object);
  bool of_array = IsStandard(context_.getRecordType(method->getParent()), "array");
  if (of_array && name == "back") {
    ObjectPtr array = Place(object);
    SetPlace(range);
    if (array->members.size() == 1 && array->members[0]->kind == ObjectKind::Array) {
      const ObjectPtr& elements = array->members[0];
      return Element(elements, Number(elements->count - 1), range);
    }
  }
  if (of_array && name == "fill") {
    ObjectPtr value = Temporary(arguments[0]);
    ObjectPtr array = Place(object);
    SetPlace(range);
    for (const ObjectPtr& elements : array->members) {
      if (elements != nullptr && elements->kind == ObjectKind::Array)
        EachIndex(*elements, range, [&](Value at) { Copy(Element(elements, at, range), value, range); });
    }
    return Given{};
  }
  std::optional<Type> leaf = RegisterType(type);
  if (!leaf || type->isPointerType() || ScalarOf(type)) return std::nullopt;
  auto kind = method->getOverloadedOperator();
  if (llvm::isa<clang::CXXConversionDecl>(method)) return ValueOf(object);
  if (kind == clang::OO_Equal) {
    Value right = ValueOf(arguments[0]);
    ObjectPtr place = Place(object);
    Store(place, right, range);
    return place;
  }
  if (kind == clang::OO_Subscript || (kind == clang::OO_Call && leaf->IsMat())) {
    ObjectPtr whole = Place(object);
    std::vector<Value> indices = ValuesOf(arguments);
    SetPlace(range);
    ObjectPtr part = ComponentOf(whole, indices[0], call->getType());
    if (indices.size() == 2) part = ComponentOf(part, indices[1], call->getType());
    return part;
  }
  return std::nullopt;
}

void Contract::CheckOutside(const clang::CallExpr* call, const char* word) {
  if (parallel_.empty()) return;
  Refuse(call, std::string(word) + " stands inside of " + parallel_,
         parallel_ == "adc::parallel" ? "give it one more extent: adc::parallel(n, m, f)"
                                      : "let each invocation take its share of the iterations in a loop");
}

std::vector<Value> Contract::BoundsOf(llvm::ArrayRef<const clang::Expr*> extents) {
  std::vector<Value> bounds;
  for (const clang::Expr* extent : extents) {
    Value hi = Index(ValueOf(extent));
    bounds.push_back(writer_.Zero(TypeOf(hi)));
    bounds.push_back(hi);
  }
  return bounds;
}

/// The function of a lambda that takes so many parameters; null where it has none.
const clang::FunctionDecl* Contract::BodyOfLambda(const clang::Expr* closure, unsigned parameters,
                                                  SourceRange call) {
  const clang::CXXRecordDecl* record = RecordOf(closure->getType());
  if (record == nullptr) return nullptr;
  const clang::CXXMethodDecl* method = nullptr;
  clang::DeclarationName name = context_.DeclarationNames.getCXXOperatorName(clang::OO_Call);
  for (clang::NamedDecl* found : record->lookup(name)) {
    if (auto* one = llvm::dyn_cast<clang::CXXMethodDecl>(found)) method = one;
    if (auto* made = llvm::dyn_cast<clang::FunctionTemplateDecl>(found)) {
      for (clang::FunctionDecl* instance : made->specializations()) {
        if (instance->getNumParams() == parameters && instance->hasBody())
          method = llvm::cast<clang::CXXMethodDecl>(instance);
      }
    }
  }
  return method != nullptr && method->getNumParams() == parameters ? BodyOf(method, call) : nullptr;
}

Given Contract::Parallel(llvm::ArrayRef<const clang::Expr*> arguments, const clang::CallExpr* call) {
  CheckOutside(call, "adc::parallel");
  std::vector<Value> bounds = BoundsOf(arguments.drop_back());
  ObjectPtr closure = Place(arguments.back());
  auto count = static_cast<unsigned>(bounds.size() / 2);
  const clang::FunctionDecl* body = BodyOfLambda(arguments.back(), count, call->getSourceRange());
  if (body == nullptr) Refuse(arguments.back(), "adc::parallel takes a lambda with an index for each extent");
  SetPlace(call->getSourceRange());
  RunParallel("adc::parallel", bounds, closure, body, [&](Frame& frame, std::span<const Value> indices) {
    for (unsigned n = 0; n < body->getNumParams(); ++n) {
      const clang::ParmVarDecl* parameter = body->getParamDecl(n);
      Type type = NeedRegister(parameter->getType(), parameter->getSourceRange());
      if (!type.IsInteger()) Refuse(parameter->getSourceRange(), "an index is an integer");
      function_[indices[n]].name = module_.Intern(std::string_view(parameter->getName()));
      ObjectPtr slot = NewSlot(type, parameter->getType().getNonReferenceType(), {});
      writer_.Set(slot->slot, Convert(indices[n], type));
      frame.variables[parameter] = slot;
    }
  });
  return {};
}

/// A parallel loop of the IR, whose body is that of a lambda; `bind` gives its parameters their values.
ir::Inst Contract::RunParallel(const char* word, std::span<const Value> bounds, const ObjectPtr& closure,
                               const clang::FunctionDecl* body,
                               const std::function<void(Frame&, std::span<const Value>)>& bind) {
  size_t slots = writer_.SlotCount();
  std::vector<Value> indices = writer_.OpenParallel(bounds);
  parallel_ = word;
  Frame frame;
  frame.function = body;
  frame.self = closure;
  bind(frame, indices);
  RunBody(frame, body->getBody(), nullptr);
  parallel_.clear();
  ir::Inst loop = writer_.Close();
  for (Slot slot : writer_.Escaped()) {
    if (slot >= slots) continue;
    shared_.diagnostics
        .Error(diag::E0802, writer_.LastStore(slot),
               "a variable that is declared outside of " + std::string(word) +
                   " is assigned by all of its iterations")
        .AddHelp("declare it inside, or sum into a buffer with adc::atomic_add");
    throw Refusal();
  }
  return loop;
}

Given Contract::Atomic(Op op, llvm::ArrayRef<const clang::Expr*> arguments, const clang::CallExpr* call) {
  SourceRange range = call->getSourceRange();
  ObjectPtr cell = Place(arguments[0]);
  Value v = ValueOf(arguments[1]);
  SetPlace(range);
  const Object* whole = cell.get();
  while (whole->kind == ObjectKind::Component) whole = whole->of.get();
  bool seen_by_others = whole->base.Valid() && (TypeOf(whole->base).IsBuffer() || IsShared(whole->base));
  if (!seen_by_others || (whole->kind != ObjectKind::Cell && whole->kind != ObjectKind::Spread))
    Refuse(arguments[0], "an atomic works on an element of a buffer or of a shared array",
           "use an ordinary assignment for what a kernel declares");
  std::optional<uint32_t> component;
  if (cell->kind == ObjectKind::Component) {
    component = KnownComponent(*cell);
    if (!component)
      Refuse(arguments[0], "an atomic on a component that is chosen at run time, or that is not there",
             "unroll the loop over components");
  }
  auto access = [&](const Object& of, Value operand, uint32_t number = ir::kNoAttr) {
    return writer_.Access(op, of.base, of.indices, {&operand, 1}, ir::kNoAttr, number);
  };
  if (whole->kind == ObjectKind::Cell) return access(*whole, v, component.value_or(ir::kNoAttr));
  if (whole->register_type.scalar != TypeOf(whole->base).scalar)
    Refuse(arguments[0],
           "an atomic on '" + Spell(whole->type) + "' in a struct of a buffer whose word is '" +
               std::string(ir::Spelling(TypeOf(whole->base).scalar)) + "'",
           "give it a buffer of its own");
  if (component) return access(*SpreadPart(*whole, *component), v);
  std::vector<Value> parts;
  Type type = cell->register_type;
  for (uint32_t n = 0; n < type.Components(); ++n) {
    ObjectPtr of = SpreadPart(*cell, n);
    parts.push_back(access(*of, PartOf(v, n)));
  }
  return Composed(type, parts);
}

Given Contract::Print(llvm::ArrayRef<const clang::Expr*> arguments, const clang::CallExpr* call) {
  const auto* text = llvm::dyn_cast<clang::StringLiteral>(arguments[0]->IgnoreParenImpCasts());
  if (text == nullptr) Refuse(arguments[0], "adc::print takes a text in quotes");
  std::vector<Value> values = ValuesOf(arguments.drop_front());
  SetPlace(call->getSourceRange());
  ir::Inst inst = writer_.Create(Op::Print, values, {});
  function_[inst].symbol = module_.Intern(std::string_view(text->getString()));
  return {};
}

}  // namespace adc::frontend
