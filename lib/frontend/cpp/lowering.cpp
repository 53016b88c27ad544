#include "frontend/cpp/lowering.h"

#include "ir/module.h"
#include "ir/param_words.h"

namespace adc::frontend {

Given Lowering::Call(const clang::CallExpr* call) {
  SourceRange range = call->getSourceRange();
  if (function_.InstCount() > shared_.operation_limit)
    Refuse(range, "the kernel has grown beyond " + std::to_string(shared_.operation_limit) + " operations",
           "functions are inlined: call fewer of them, use loops, or allow more with --limit-operations=N");
  const clang::FunctionDecl* function = call->getDirectCallee();
  if (function == nullptr)
    Refuse(range, "a call of a function that is chosen at run time",
           "pass a lambda to a template, or use a switch");
  llvm::ArrayRef<const clang::Expr*> arguments(call->getArgs(), call->getNumArgs());
  const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(function);
  const clang::Expr* object = nullptr;
  const auto* named = llvm::dyn_cast<clang::MemberExpr>(call->getCallee()->IgnoreParens());
  if (method != nullptr && method->isInstance()) {
    if (const auto* member = llvm::dyn_cast<clang::CXXMemberCallExpr>(call)) {
      object = member->getImplicitObjectArgument();
    } else {
      object = arguments[0];
      arguments = arguments.drop_front();
    }
    if (method->isVirtual() && (named == nullptr || !named->hasQualifier()))
      Refuse(range, "a virtual function is called", "use a template, or an enumeration and a switch");
    if (std::optional<Given> given = CallMember(call, method, object, arguments)) return *given;
  } else {
    if (std::optional<Given> given = CallContract(call, function, arguments)) return *given;
    if (std::optional<Given> given = CallLibrary(call, function, arguments)) return *given;
  }
  if (function->isConstexpr() && function->getNumParams() == 0 && object == nullptr) {
    if (std::optional<Value> constant = TryConstant(call)) return *constant;
  }
  const clang::FunctionDecl* canonical = function->getCanonicalDecl();
  if (shared_.derivatives.contains(canonical)) return CallFunction(canonical, arguments, range);
  // Of an assignment in operator notation the right side is evaluated first, as of a built-in one.
  const auto* notation = llvm::dyn_cast<clang::CXXOperatorCallExpr>(call);
  bool right_first = notation != nullptr && notation->isAssignmentOp();
  if (object == nullptr) return Inline(function, {}, arguments, range, right_first);
  bool arrow = named != nullptr && named->isArrow();
  auto place = [&] { return OwnerOf(object, arrow, method->getParent(), range); };
  if ((method->isCopyAssignmentOperator() || method->isMoveAssignmentOperator()) &&
      !method->isUserProvided()) {
    ObjectPtr self;
    if (!right_first) self = place();
    ObjectPtr from = CopiedFrom(arguments[0]);
    if (right_first) self = place();
    Copy(self, from, range);
    return self;
  }
  return Inline(function, place, arguments, range, right_first);
}

// ---- Kernels and functions

/// A parameter of the IR that is a number, vector or matrix, as a variable.
ObjectPtr Lowering::NumberParameter(Type type, QualType cpp, const std::string& name,
                                    const ir::ParamInfo& info) {
  Value value = function_.AddParameter(type, module_.Intern(name), info);
  ObjectPtr slot = NewSlot(type, cpp, name);
  writer_.Set(slot->slot, value);
  return slot;
}

/// A parameter of the IR that is a buffer; one of structs has an axis more than in C++.
ObjectPtr Lowering::BufferParameter(QualType type, Type element, uint32_t rank, const std::string& name,
                                    const ir::ParamInfo& info) {
  BufferType buffer = *BufferOf(type);
  auto object = std::make_shared<Object>(ObjectKind::Buffer, type);
  object->element = buffer.element;
  object->count = buffer.rank;
  object->by_words = rank != buffer.rank;
  object->base = function_.AddParameter(Type::Buffer(element, rank), module_.Intern(name), info);
  return object;
}

/// A parameter of a kernel.
ObjectPtr Lowering::Parameter(QualType type, const std::string& name, const ir::ParamInfo& marks,
                              SourceRange range) {
  ir::ParamInfo info = marks;
  info.span = shared_.places.Of(range);
  if (std::optional<BufferType> buffer = BufferOf(type)) {
    info.readonly = info.readonly || buffer->element.isConstQualified();
    if (buffer->rank > ir::kMaxRank) Refuse(range, "a buffer has at most 8 axes");
    if (std::optional<Type> leaf = RegisterType(buffer->element))
      return BufferParameter(type, *leaf, buffer->rank, name, info);
    if (RecordOf(buffer->element) == nullptr) NeedRegister(buffer->element, range);
    Type word = Type::Of(WordOf(buffer->element, info.diff, range));
    if (buffer->rank + 1 > ir::kMaxRank) Refuse(range, "a buffer of structs has at most 7 axes");
    ir::StructMember held;
    held.name = Spell(buffer->element.getUnqualifiedType());
    held.bytes = BytesOf(buffer->element);
    DescribeMember(buffer->element, "", 0, &held.members);
    // A row of numbers, as std::array is, has no members.
    bool is_row = held.members.size() == 1 && held.members[0].name.empty() && held.members[0].members.empty();
    if (!is_row) info.struct_words = module_.AddStruct(std::move(held));
    return BufferParameter(type, word, buffer->rank + 1, name, info);
  }
  if (std::optional<Type> leaf = RegisterType(type)) {
    for (const ir::ParamWord& word : ir::kParamWords)
      if (word.flag != &ir::ParamInfo::diff) info.*word.flag = false;
    return NumberParameter(*leaf, type, name, info);
  }
  const clang::CXXRecordDecl* record = RecordOf(type);
  if (record == nullptr || record->isInStdNamespace() || IsBlock(type)) {
    std::string help = type->isAnyPointerType() ? "use adc::buffer" : "";
    Refuse(range, "a kernel has no parameters of type '" + Spell(type) + "'", help);
  }
  if (record->isUnion()) {
    // Its numbers once, under their names in one of its members.
    auto field = std::next(record->field_begin(), static_cast<ptrdiff_t>(WholeField(record, range)));
    std::string own = name + (field->getName().empty() ? "" : "." + field->getNameAsString());
    std::map<uint64_t, ObjectPtr> numbers;
    NumbersIn(Parameter(field->getType(), own, marks, field->getSourceRange()), 0, range, &numbers);
    return Overlay(type, 0, numbers);
  }
  // A struct by value: a parameter for each of its members.
  auto object = std::make_shared<Object>(ObjectKind::Struct, type.getNonReferenceType());
  for (const Part& member : MembersOf(record, range)) {
    ir::ParamInfo own = marks;
    bool base = member.field == nullptr;
    QualType unmarked = base ? member.type : Unmarked(member.type, &own);
    std::string own_name = name + (member.name.empty() ? "" : "." + member.name);
    SourceRange place = base ? range : member.field->getSourceRange();
    object->members.push_back(Parameter(unmarked, own_name, own, place));
  }
  return object;
}

void Lowering::Kernel(const clang::FunctionDecl* declaration) {
  Frame frame;
  frame.function = declaration;
  if (!declaration->getReturnType()->isVoidType())
    Refuse(declaration->getReturnTypeSourceRange(), "a kernel gives no value",
           "write 'void', and store into a buffer");
  for (const clang::ParmVarDecl* one : declaration->parameters()) {
    SourceRange range = one->getSourceRange();
    std::string name = one->getNameAsString();
    if (name.empty()) Refuse(range, "a parameter of a kernel has a name");
    bool constant = one->getType().getNonReferenceType().isConstQualified();
    if (one->getType()->isReferenceType() && !constant && !BufferOf(one->getType()))
      Refuse(range, "a kernel gives nothing back through a reference", "use adc::buffer<T, 0>");
    ir::ParamInfo marks;
    QualType type = Unmarked(one->getType(), &marks);
    frame.variables[one] = Parameter(type, name, marks, range);
  }
  RunBody(frame, declaration->getBody(), nullptr);
  writer_.Terminate(ir::Op::Return, {});
}

void Lowering::NamedFunction(const clang::FunctionDecl* declaration) {
  Frame frame;
  frame.function = declaration;
  for (const clang::ParmVarDecl* one : declaration->parameters()) {
    SourceRange range = one->getSourceRange();
    std::string name = one->getNameAsString();
    ir::ParamInfo info;
    info.span = shared_.places.Of(range);
    bool constant = one->getType().getNonReferenceType().isConstQualified();
    if (std::optional<BufferType> buffer = BufferOf(one->getType())) {
      std::optional<Type> element = RegisterType(buffer->element);
      if (!element) Refuse(range, "a function with a derivative of its own takes buffers of numbers");
      frame.variables[one] = BufferParameter(one->getType(), *element, buffer->rank, name, info);
      continue;
    }
    std::optional<Type> leaf = RegisterType(one->getType());
    if (!leaf || (one->getType()->isReferenceType() && !constant))
      Refuse(range, "a function with a derivative of its own takes numbers, vectors, matrices and buffers");
    frame.variables[one] = NumberParameter(*leaf, one->getType(), name, info);
  }
  Given given = RunBody(frame, declaration->getBody(), nullptr);
  std::vector<Value> results;
  std::function<void(const ObjectPtr&)> collect = [&](const ObjectPtr& object) {
    if (object->kind == ObjectKind::Struct) {
      for (const ObjectPtr& member : PartsOf(*object, declaration->getSourceRange())) collect(member);
    } else {
      results.push_back(Load(object, declaration->getSourceRange()));
    }
  };
  if (given.value.Valid()) results.push_back(given.value);
  if (given.object != nullptr) collect(given.object);
  for (Value v : results) function_.result_types.push_back(TypeOf(v));
  writer_.Terminate(ir::Op::Return, results);
}

}  // namespace adc::frontend
