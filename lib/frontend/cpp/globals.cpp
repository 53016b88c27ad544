#include "frontend/cpp/globals.h"

#include <clang/AST/RecursiveASTVisitor.h>

#include "ir/module.h"

namespace adc::frontend {

namespace {

bool IsPointer(const clang::ValueDecl* variable) {
  return variable->getType()->isPointerType();
}

/// The variable of which the expression is an element or a member, or into which a local pointer is indexed.
const clang::VarDecl* VariableOf(const clang::Expr* e) {
  for (;;) {
    e = e->IgnoreParens();
    if (const auto* subscript = llvm::dyn_cast<clang::ArraySubscriptExpr>(e)) {
      const auto* decay = llvm::dyn_cast<clang::ImplicitCastExpr>(subscript->getBase()->IgnoreParens());
      if (decay == nullptr) return nullptr;
      e = decay->getSubExpr();
      if (decay->getCastKind() == clang::CK_LValueToRValue) {
        const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(e->IgnoreParens());
        return name == nullptr ? nullptr : llvm::dyn_cast<clang::VarDecl>(name->getDecl());
      }
      if (decay->getCastKind() != clang::CK_ArrayToPointerDecay) return nullptr;
    } else if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(e);
               member != nullptr && !member->isArrow()) {
      if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(member->getMemberDecl())) return variable;
      e = member->getBase();
    } else {
      const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(e);
      return name == nullptr ? nullptr : llvm::dyn_cast<clang::VarDecl>(name->getDecl());
    }
  }
}

/// Counts how often each variable outside of functions, each static one and each pointer is named otherwise
/// than to read a number; a local pointer to an array may be named so instead of the array.
class Uses : public clang::RecursiveASTVisitor<Uses> {
 public:
  explicit Uses(OtherUses& uses) : uses_(uses) {}

  // NOLINTBEGIN(readability-identifier-naming): Clang's names.
  bool shouldVisitTemplateInstantiations() const { return true; }
  bool shouldVisitImplicitCode() const { return true; }
  bool TraverseUnaryExprOrTypeTraitExpr(clang::UnaryExprOrTypeTraitExpr*) { return true; }
  bool VisitDeclRefExpr(const clang::DeclRefExpr* name) { return Count(name, 1); }
  bool VisitMemberExpr(const clang::MemberExpr* member) {
    return llvm::isa<clang::VarDecl>(member->getMemberDecl()) ? Count(member, 1) : true;
  }
  bool VisitImplicitCastExpr(const clang::ImplicitCastExpr* cast) {
    bool reads = cast->getCastKind() == clang::CK_LValueToRValue && !cast->getType()->isPointerType();
    return reads ? Count(cast->getSubExpr(), -1) : true;
  }
  bool VisitVarDecl(const clang::VarDecl* variable) {
    if (!IsPointer(variable) || variable->hasGlobalStorage() || variable->getInit() == nullptr) return true;
    const auto* decay = llvm::dyn_cast<clang::ImplicitCastExpr>(variable->getInit()->IgnoreParens());
    if (decay == nullptr || decay->getCastKind() != clang::CK_ArrayToPointerDecay) return true;
    const clang::VarDecl* array = VariableOf(decay->getSubExpr());
    if (array == nullptr || IsPointer(array)) return true;
    uses_.pointers[array->getCanonicalDecl()].push_back(variable);
    return Count(decay->getSubExpr(), -1);
  }
  // NOLINTEND

 private:
  bool Count(const clang::Expr* e, int step) {
    const clang::VarDecl* variable = VariableOf(e);
    bool counts = variable != nullptr && (variable->hasGlobalStorage() || IsPointer(variable));
    if (counts) uses_.count[variable->getCanonicalDecl()] += step;
    return true;
  }

  OtherUses& uses_;
};

const clang::APValue& ElementOf(const clang::APValue& array, unsigned n) {
  return n < array.getArrayInitializedElts() ? array.getArrayInitializedElt(n) : array.getArrayFiller();
}

/// Whether an expression reads what belongs to a function that runs.
bool ReadsLocals(const clang::Stmt* s) {
  if (s == nullptr) return false;
  if (llvm::isa<clang::CXXThisExpr>(s)) return true;
  if (const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(s)) {
    const auto* variable = llvm::dyn_cast<clang::VarDecl>(name->getDecl());
    if (variable != nullptr && !variable->hasGlobalStorage()) return true;
  }
  return std::any_of(s->child_begin(), s->child_end(), ReadsLocals);
}

}  // namespace

ObjectPtr Globals::FromConstant(const clang::APValue& value, QualType type, SourceRange range) {
  ObjectPtr object = NewObject(type, {}, range);
  Fill(object, value, type, range);
  return object;
}

/// Stores a constant to an object.
void Globals::Fill(const ObjectPtr& to, const clang::APValue& from, QualType type, SourceRange range) {
  if (std::optional<Value> number = ConstantValue(from, type)) return Store(to, *number, range);
  if (std::optional<Type> leaf = RegisterType(type)) {
    // adc::vec and adc::mat: fields, or an array of them.
    std::vector<Value> parts;
    std::function<void(const clang::APValue&)> collect = [&](const clang::APValue& part) {
      if (part.isStruct()) {
        for (unsigned n = 0; n < part.getStructNumFields(); ++n) collect(part.getStructField(n));
      } else if (part.isArray()) {
        for (unsigned n = 0; n < part.getArraySize(); ++n) collect(ElementOf(part, n));
      } else if (std::optional<Value> one = ConstantValue(part, leaf->ScalarType())) {
        parts.push_back(*one);
      }
    };
    collect(from);
    if (parts.size() != leaf->Components()) Refuse(range, "a constant that cannot be evaluated");
    return Store(to, Composed(*leaf, parts), range);
  }
  if (from.isComplexFloat()) {
    Fill(Element(to, Number(0), range), clang::APValue(from.getComplexFloatReal()), to->element, range);
    return Fill(Element(to, Number(1), range), clang::APValue(from.getComplexFloatImag()), to->element,
                range);
  }
  if (from.isArray()) {
    for (unsigned n = 0; n < from.getArraySize(); ++n)
      Fill(Element(to, Number(n), range), ElementOf(from, n), to->element, range);
    return;
  }
  const clang::CXXRecordDecl* record = RecordOf(type);
  if (from.isUnion() && record != nullptr) {
    const clang::FieldDecl* field = from.getUnionField();
    if (field == nullptr) return Zero(to, range);
    return Fill(to->members[field->getFieldIndex()], from.getUnionValue(), field->getType(), range);
  }
  if (!from.isStruct() || record == nullptr) Refuse(range, "a constant that cannot be evaluated");
  std::vector<Part> members = MembersOf(record, range);
  unsigned bases = record->getNumBases();
  for (unsigned n = 0; n < members.size(); ++n)
    Fill(to->members[n], n < bases ? from.getStructBase(n) : from.getStructField(n - bases), members[n].type,
         range);
}

/// Whether nothing changes the variable: it is constant, or it is seen in this file alone, or in one function
/// alone, and each place that names it reads a number of it.
bool Globals::IsConstant(const clang::VarDecl* variable) {
  QualType type = variable->getType().getNonReferenceType();
  if (variable->isConstexpr() || variable->getType().isConstQualified()) return true;
  if (context_.getAsArrayType(type) != nullptr && context_.getBaseElementType(type).isConstQualified())
    return true;
  if (variable->getType()->isReferenceType() || type.isVolatileQualified()) return false;
  if (!variable->isStaticLocal() && variable->isExternallyVisible()) return false;
  if (!shared_.other_uses) {
    shared_.other_uses.emplace();
    for (clang::Decl* top : context_.getTranslationUnitDecl()->decls()) {
      if (!shared_.places.InSystemHeader(top->getLocation())) Uses(*shared_.other_uses).TraverseDecl(top);
    }
  }
  const OtherUses& uses = *shared_.other_uses;
  auto none = [&](const clang::VarDecl* of) {
    auto found = uses.count.find(of->getCanonicalDecl());
    return found == uses.count.end() || found->second == 0;
  };
  auto pointers = uses.pointers.find(variable->getCanonicalDecl());
  return none(variable) && (pointers == uses.pointers.end() || llvm::all_of(pointers->second, none));
}

/// A constant whose initialiser runs when the program begins: it gives the same wherever it runs.
ObjectPtr Globals::MadeConstant(const clang::VarDecl* variable, const clang::Expr* init, SourceRange range) {
  if (variable->getType()->isReferenceType() || init->isValueDependent() || ReadsLocals(init) ||
      !making_.insert(variable).second)
    return nullptr;
  ObjectPtr object = NewObject(variable->getType(), variable->getName().str(), range);
  Initialise(object, init);
  making_.erase(variable);
  return object;
}

/// A constant of the file or of a class. Arrays of numbers become constants of the module.
ObjectPtr Globals::PlaceOfGlobal(const clang::VarDecl* variable, SourceRange range) {
  std::string name = "'" + variable->getNameAsString() + "'";
  QualType type = variable->getType().getNonReferenceType();
  if (!IsConstant(variable))
    Refuse(range, name + " is a variable outside of the kernel, which others may change",
           "pass it as a parameter, or make it constexpr");
  const clang::VarDecl* defined = nullptr;
  const clang::Expr* init = variable->getAnyInitializer(defined);
  const clang::APValue* value = nullptr;
  if (init != nullptr && !init->isValueDependent() && !variable->getType()->isReferenceType())
    value = defined->evaluateValue();
  if (defined != nullptr) type = defined->getType().getNonReferenceType();
  if (value == nullptr && init != nullptr) {
    if (ObjectPtr made = MadeConstant(defined, init, range)) return made;
  }
  if (value == nullptr)
    Refuse(range, name + " has no value that is known to the compiler",
           "make it constexpr, or pass it as a parameter");
  // std::array has one member, the array.
  const clang::APValue* elements = value;
  QualType inner = type;
  if (IsStandard(type, "array") && value->isStruct() && value->getStructNumFields() == 1) {
    elements = &value->getStructField(0);
    inner = RecordOf(type)->field_begin()->getType();
  }
  std::optional<ArrayType> array = ArrayOf(inner);
  std::optional<Type> scalar = array ? ScalarOf(array->element) : std::nullopt;
  if (!scalar || !elements->isArray()) return FromConstant(*value, type, range);
  auto [known, fresh] = shared_.constants.try_emplace(variable->getCanonicalDecl(), 0);
  if (fresh) {
    ir::ModuleConstant made;
    std::string text = variable->getNameAsString();
    for (int n = 1; module_.FindConstant(module_.Intern(text)) != ir::kNoAttr; ++n)
      text = variable->getNameAsString() + "." + std::to_string(n);
    made.name = module_.Intern(text);
    made.type = Type::Array(*scalar, static_cast<uint32_t>(array->count));
    for (unsigned n = 0; n < array->count; ++n) {
      Value one = *ConstantValue(ElementOf(*elements, n), *scalar);
      made.elements.push_back(function_.ConstantOf(one).bits);
    }
    made.spellings.resize(made.elements.size());
    made.span = shared_.places.Of(variable->getSourceRange());
    known->second = module_.AddConstant(std::move(made));
  }
  Value base = function_.Global(known->second, module_.constants[known->second].type);
  ObjectPtr object = View(inner, {.bases = {base}}, range);
  if (inner == type) return object;
  auto wrapper = std::make_shared<Object>(ObjectKind::Struct, type);
  wrapper->members = {object};
  return wrapper;
}

}  // namespace adc::frontend
