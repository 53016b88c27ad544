#pragma once
// One kernel, or one function with a derivative of its own, from Clang's tree to the IR. The parts:
// objects.cpp (what a name stands for), constants.cpp, pointers.cpp, words.cpp (buffers of structs),
// expressions.cpp, calls.cpp, contract.cpp (the names of adc/kernel.hpp), blocks.cpp, library.cpp (the
// library's functions), statements.cpp, loops.cpp.
//
// Functions are lowered where they are called. What has no lowering is refused at its place: a Refusal leaves
// the kernel, and the next one is tried.

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>

#include <functional>
#include <map>
#include <optional>
#include <set>

#include "diag/diagnostics.h"
#include "frontend/cpp/library_functions.h"
#include "frontend/cpp/object.h"
#include "frontend/cpp/places.h"
#include "frontend/cpp/writer.h"

namespace adc::frontend {

/// A construct that has no lowering, already reported.
struct Refusal {};

/// How often variables outside of functions, static ones and pointers are named otherwise than to read a
/// number, and the local pointers that stand for an array (globals.cpp).
struct OtherUses {
  std::map<const clang::VarDecl*, int> count;
  std::map<const clang::VarDecl*, std::vector<const clang::VarDecl*>> pointers;
};

/// What all kernels of a file share.
struct Shared {
  clang::ASTContext& context;
  ir::Module& module;
  Places& places;
  diag::Diagnostics& diagnostics;
  uint64_t operation_limit;
  /// Functions that name their derivative (ADC_DERIVATIVE), and those that are derivatives.
  std::map<const clang::FunctionDecl*, const clang::FunctionDecl*> derivatives = {};
  std::map<const clang::FunctionDecl*, StringId> functions = {};  ///< those that are in the module
  std::map<const clang::VarDecl*, uint32_t> constants = {};       ///< arrays that are in the module
  std::optional<OtherUses> other_uses = {};
};

/// What a call gives: a number, vector or matrix, or an object, or nothing.
struct Given {
  ir::Value value = {};
  ObjectPtr object = {};
};

/// What `e` stands for where Clang's tree holds it in place of what was written: a constant or a whole
/// expression with its temporaries, an argument of a template, a default. Null: `e` itself was written.
const clang::Expr* WrittenFor(const clang::Expr* e);

/// Whether the record is the template `name` of namespace adc; its arguments.
const clang::ClassTemplateSpecializationDecl* ContractTemplate(clang::QualType type, llvm::StringRef name);
bool InNamespace(const clang::Decl* declaration, llvm::StringRef name);

class Lowering {
 public:
  Lowering(Shared& shared, ir::Function& function);
  ~Lowering();
  Lowering(const Lowering&) = delete;
  Lowering& operator=(const Lowering&) = delete;

  /// Parameters and body of a kernel.
  void Kernel(const clang::FunctionDecl* declaration);
  /// Those of a function that calls are made to.
  void NamedFunction(const clang::FunctionDecl* declaration);

 private:
  struct Frame {
    const clang::FunctionDecl* function = nullptr;
    clang::SourceRange call;
    std::map<const clang::ValueDecl*, ObjectPtr> variables = {};
    ObjectPtr self = {};
    ObjectPtr result = {};  ///< of a value
    bool gives_reference = false;
    std::vector<ObjectPtr> places = {};  ///< what it may give references to
    Slot chosen = 0;                     ///< which of them
    Born born = {};
    size_t scope = 0;  ///< which a `return` leaves
  };

  [[noreturn]] void Refuse(clang::SourceRange range, std::string text, std::string help = {});
  [[noreturn]] void Refuse(const clang::Stmt* at, std::string text, std::string help = {}) {
    Refuse(at->getSourceRange(), std::move(text), std::move(help));
  }
  void SetPlace(clang::SourceRange range);
  void CheckSize(clang::SourceRange range);
  std::string Spell(clang::QualType type) const;

  // ---- Types and objects (objects.cpp)
  std::optional<ir::Type> RegisterType(clang::QualType type) const;
  ir::Type NeedRegister(clang::QualType type, clang::SourceRange range);
  std::optional<ir::Type> ScalarOf(clang::QualType type) const;
  clang::QualType Unmarked(clang::QualType type, ir::ParamInfo* marks = nullptr) const;
  struct BufferType {
    clang::QualType element;
    uint32_t rank = 0;
  };
  std::optional<BufferType> BufferOf(clang::QualType type) const;
  const clang::CXXRecordDecl* RecordOf(clang::QualType type) const;
  bool ArrayOf(clang::QualType type, clang::QualType* element, uint64_t* count) const;
  std::vector<clang::QualType> MembersOf(const clang::CXXRecordDecl* record, clang::SourceRange range);
  void ScalarsOf(clang::QualType type, clang::SourceRange range, std::set<ir::Scalar>* scalars);
  ir::Scalar WordOf(clang::QualType type, bool diff, clang::SourceRange range);
  uint32_t WordBytes(const Storage& storage) const;
  uint64_t BytesOf(clang::QualType type) const;
  void LeafTypes(clang::QualType type, uint64_t count, clang::SourceRange range,
                 std::vector<std::pair<ir::Type, uint64_t>>* leaves);

  ObjectPtr NewObject(clang::QualType type, std::string_view name, clang::SourceRange range);
  ObjectPtr NewSlot(ir::Type type, clang::QualType cpp, std::string_view name);
  ObjectPtr View(clang::QualType type, Storage storage, clang::SourceRange range);
  ObjectPtr Member(const ObjectPtr& object, const clang::FieldDecl* field, clang::SourceRange range);
  ObjectPtr DerivedOf(const ObjectPtr& object, const clang::CXXRecordDecl* derived, clang::SourceRange range);
  ObjectPtr BaseOf(const ObjectPtr& object, const clang::CXXRecordDecl* base, clang::SourceRange range);
  ObjectPtr Element(const ObjectPtr& array, ir::Value index, clang::SourceRange range);
  ObjectPtr ElementOfStorage(const ObjectPtr& array, ir::Value index, clang::SourceRange range);
  ObjectPtr BitsOf(const ObjectPtr& number, clang::QualType type);
  bool HaveSameBits(clang::QualType a, clang::QualType b) const;
  ObjectPtr ComponentOf(const ObjectPtr& object, ir::Value at, clang::QualType type);
  Storage Moved(Storage storage, uint64_t bytes);
  ObjectPtr SpreadPart(const Object& spread, uint32_t component);
  ir::Value LoadWords(const Object& spread, clang::SourceRange range);
  void StoreWords(const Object& spread, ir::Value value, clang::SourceRange range);
  ObjectPtr ChoiceOf(ir::Value condition, const ObjectPtr& yes, const ObjectPtr& no);
  ObjectPtr ExtremeByReference(const clang::CallExpr* call);
  ObjectPtr BufferElement(const ObjectPtr& buffer, std::vector<ir::Value> indices, clang::SourceRange range);
  ir::Value Load(const ObjectPtr& object, clang::SourceRange range);
  void Store(const ObjectPtr& object, ir::Value value, clang::SourceRange range);
  void Copy(const ObjectPtr& to, const ObjectPtr& from, clang::SourceRange range);
  void Zero(const ObjectPtr& object, clang::SourceRange range);
  void EachElement(const ObjectPtr& array, clang::SourceRange range,
                   const std::function<void(const ObjectPtr&)>& visit);
  ir::Value ZeroOf(ir::Type type);
  ir::Value Index(ir::Value value);
  ObjectPtr Temporary(const clang::Expr* expression, std::string_view name = {});
  // ---- Constants that Clang has evaluated (constants.cpp)
  ObjectPtr FromConstant(const clang::APValue& value, clang::QualType type, clang::SourceRange range);
  std::optional<ir::Value> ConstantValue(const clang::APValue& value, clang::QualType type);
  std::optional<ir::Value> ConstantValue(const clang::APValue& value, ir::Type type);
  std::optional<ir::Value> TryConstant(const clang::Expr* expression);

  // ---- Expressions
  ir::Value ValueOf(const clang::Expr* expression);
  ir::Value ComputedValue(const clang::Expr* expression);
  ObjectPtr Place(const clang::Expr* expression);
  void Initialise(const ObjectPtr& object, const clang::Expr* expression);
  void Effect(const clang::Expr* expression);
  ir::Value Condition(const clang::Expr* expression);
  ir::Value ValueOfCast(const clang::CastExpr* cast);
  ir::Value Convert(ir::Value value, ir::Type to);
  ir::Value ValueOfUnary(const clang::UnaryOperator* unary);
  ir::Value ValueOfBinary(const clang::BinaryOperator* binary);
  bool Rounds(ir::Value sum, ir::Value less) const;
  ir::Value Arithmetic(clang::BinaryOperatorKind kind, ir::Value a, ir::Value b, const clang::Expr* at);
  ir::Value ValueOfConstruct(const clang::CXXConstructExpr* construct);
  ObjectPtr PlaceOfVariable(const clang::DeclRefExpr* reference);
  bool IsConstant(const clang::VarDecl* variable);
  ObjectPtr MadeConstant(const clang::VarDecl* variable, const clang::Expr* init, clang::SourceRange range);
  ObjectPtr PlaceOfGlobal(const clang::VarDecl* variable, clang::SourceRange range);
  ObjectPtr PlaceOfMember(const clang::MemberExpr* member);
  ObjectPtr PlaceOfStep(const clang::UnaryOperator* step);
  ObjectPtr PlaceOfAssignment(const clang::BinaryOperator* assignment);
  ObjectPtr Pointee(const clang::Expr* pointer);
  ObjectPtr OwnerOf(const clang::MemberExpr* member, const clang::FieldDecl* field);
  [[noreturn]] void RefusePointer(const clang::Expr* pointer);
  void InitialiseStruct(const ObjectPtr& object, const clang::InitListExpr* list);
  void InitialiseArray(const ObjectPtr& object, const clang::Expr* expression);
  void Construct(const ObjectPtr& object, const clang::CXXConstructExpr* construct);
  void MakeClosure(const ObjectPtr& object, const clang::LambdaExpr* lambda);

  // ---- Pointers (pointers.cpp)
  struct Address {
    ObjectPtr array;  ///< null: of a null pointer
    ir::Value index;
    bool may_be_null = false;  ///< null where the index is kNullIndex
  };
  static constexpr int32_t kNullIndex = INT32_MIN;
  Address NullAddress() { return {nullptr, writer_.builder().I32(kNullIndex)}; }
  Address Certain(const Address& address, clang::SourceRange range);
  ir::Value IsNull(const Address& address);
  Address AddressOf(const clang::Expr* pointer);
  Address AddressOfNew(const clang::CXXNewExpr* made);
  Address AddressOfPlace(const clang::Expr* place);
  Address AddressOfCast(const clang::CastExpr* cast);
  Address AddressOfSum(const clang::BinaryOperator* sum);
  Address AddressOfChoice(const clang::ConditionalOperator* choice);
  Address AddressInOwner(const ObjectPtr& object, clang::SourceRange range);
  Address AddressOfObject(const ObjectPtr& object, clang::SourceRange range);
  Address AddressIn(const ObjectPtr& pointer, clang::SourceRange range);
  Address InParts(const Address& outer, clang::QualType number, ir::Value part);
  Address Whole(Address address);
  Address Moved(Address from, ir::Value by, clang::SourceRange range);
  ObjectPtr At(const Address& address, clang::SourceRange range);
  ObjectPtr NewPointer(clang::QualType type, clang::SourceRange range);
  ObjectPtr PointerTo(clang::QualType type, const Address& address, clang::SourceRange range,
                      const clang::VarDecl* variable = nullptr);
  static bool IsMoved(const clang::VarDecl* variable);
  void Bind(const ObjectPtr& pointer, const Address& address, clang::SourceRange range);
  ObjectPtr AssignPointer(const clang::BinaryOperator* assignment);
  void StepPointer(const ObjectPtr& pointer, const clang::UnaryOperator* step);
  void MoveMemory(const clang::CallExpr* call, bool sets);
  ir::Value ComparePointers(const clang::BinaryOperator* binary);
  bool SameArray(const ObjectPtr& a, const ObjectPtr& b);
  bool Apart(const Object& a, const Object& b) const;
  Born Here() const {
    return {writer_.Depth(), function_.ValueCount(), writer_.SlotCount(), writer_.LoopCount(),
            writer_.ScopeCount()};
  }
  bool Outlives(const Object& object, const Born& other) const;
  bool InBuffer(const Object& array) const;
  clang::QualType NumberIn(clang::QualType type) const;
  ir::Value Narrow(ir::Value index);
  ir::Value Further(ir::Value a, ir::Value b, bool in_buffer);
  std::optional<uint64_t> CountOf(clang::QualType type, clang::QualType number) const;
  ObjectPtr FlatArray(const ObjectPtr& of, clang::QualType number);
  ObjectPtr FlatElement(const ObjectPtr& array, ir::Value index, clang::SourceRange range);
  void LeavesOf(const ObjectPtr& object, clang::QualType leaf, clang::SourceRange range,
                std::vector<ObjectPtr>* leaves);
  ObjectPtr RunOf(std::vector<ObjectPtr> members, clang::QualType element);
  ObjectPtr MemberAt(const ObjectPtr& run, ir::Value index, clang::SourceRange range);

  // ---- Unions (unions.cpp)
  void NumbersOf(clang::QualType type, uint64_t offset, clang::SourceRange range,
                 std::map<uint64_t, clang::QualType>* numbers);
  void NumbersIn(const ObjectPtr& object, uint64_t offset, clang::SourceRange range,
                 std::map<uint64_t, ObjectPtr>* numbers);
  ObjectPtr Overlay(clang::QualType type, uint64_t offset, const std::map<uint64_t, ObjectPtr>& numbers);
  ObjectPtr UnionOf(clang::QualType type, clang::SourceRange range,
                    const std::function<ObjectPtr(clang::QualType number)>& make);
  Address SeenAs(const Address& address, clang::QualType type, clang::SourceRange range);
  ObjectPtr GroupedElement(const ObjectPtr& array, ir::Value index, clang::SourceRange range);
  ObjectPtr UnionIn(const Storage& storage, clang::QualType type, clang::SourceRange range);
  size_t WholeField(const clang::CXXRecordDecl* record, clang::SourceRange range);
  std::vector<ObjectPtr> PartsOf(const Object& object, clang::SourceRange range);

  // ---- Complex numbers (complex.cpp)
  struct Complex {
    ir::Value real, imaginary;  ///< imaginary: invalid of a real number
  };
  Complex ComplexOf(const clang::Expr* expression);
  Complex ComplexIn(const ObjectPtr& object, clang::SourceRange range);
  void StoreComplex(const ObjectPtr& object, Complex value, clang::SourceRange range);
  bool InitialiseComplex(const ObjectPtr& object, const clang::Expr* expression);
  ObjectPtr AssignComplex(const clang::CompoundAssignOperator* assignment);
  Complex ComplexArithmetic(clang::BinaryOperatorKind kind, Complex a, Complex b, const clang::Expr* at);
  Complex Quotient(Complex a, Complex b);
  Complex ComplexRoot(Complex z);
  Complex ComplexExp(Complex z);
  Complex ComplexLog(Complex z);
  std::optional<Given> CallComplex(const clang::CallExpr* call, llvm::StringRef name);

  // ---- Calls
  Given Call(const clang::CallExpr* call);
  Given Inline(const clang::FunctionDecl* function, ObjectPtr self,
               llvm::ArrayRef<const clang::Expr*> arguments, clang::SourceRange call,
               bool right_first = false, const std::function<ObjectPtr()>& self_last = {});
  void BindParameter(Frame& frame, const clang::ParmVarDecl* parameter, const clang::Expr* argument);
  Given RunBody(Frame& frame, const clang::Stmt* body, const clang::CXXConstructorDecl* constructor);
  void InitialiseMembers(const clang::CXXConstructorDecl* constructor);
  const clang::FunctionDecl* BodyOf(const clang::FunctionDecl* function, clang::SourceRange call);
  Given CallFunction(const clang::FunctionDecl* function, llvm::ArrayRef<const clang::Expr*> arguments,
                     clang::SourceRange call);
  std::optional<Given> CallContract(const clang::CallExpr* call, const clang::FunctionDecl* function,
                                    llvm::ArrayRef<const clang::Expr*> arguments);
  std::optional<Given> CallMember(const clang::CallExpr* call, const clang::CXXMethodDecl* method,
                                  const clang::Expr* object, llvm::ArrayRef<const clang::Expr*> arguments);
  std::optional<Given> CallOperator(const clang::FunctionDecl* function,
                                    llvm::ArrayRef<const clang::Expr*> arguments, const clang::Expr* at);
  std::optional<Given> CallLibrary(const clang::CallExpr* call, const clang::FunctionDecl* function,
                                   llvm::ArrayRef<const clang::Expr*> arguments);
  std::optional<Given> CallOnObjects(const clang::CallExpr* call, llvm::StringRef name, From from,
                                     llvm::ArrayRef<const clang::Expr*> arguments);
  std::optional<ir::Value> CallOnNumbers(const clang::CallExpr* call, llvm::StringRef name, From from,
                                         llvm::ArrayRef<const clang::Expr*> arguments, ir::Type result);
  ir::Value BitCast(const clang::CallExpr* call, const clang::Expr* argument, ir::Type to);
  std::optional<ir::Value> ExtremeOfList(const clang::Expr* list, ir::Op op, clang::SourceRange range);
  void Parallel(llvm::ArrayRef<const clang::Expr*> arguments, const clang::CallExpr* call);
  void CheckOutside(const clang::CallExpr* call, const char* word);
  std::vector<ir::Value> BoundsOf(llvm::ArrayRef<const clang::Expr*> extents);
  const clang::FunctionDecl* BodyOfLambda(const clang::Expr* closure, unsigned parameters,
                                          clang::SourceRange call);
  ir::Inst RunParallel(const char* word, std::span<const ir::Value> bounds, const ObjectPtr& closure,
                       const clang::FunctionDecl* body,
                       const std::function<void(Frame&, std::span<const ir::Value>)>& bind);
  Given Atomic(ir::Op op, llvm::ArrayRef<const clang::Expr*> arguments, const clang::CallExpr* call);
  void Print(llvm::ArrayRef<const clang::Expr*> arguments, const clang::CallExpr* call);
  bool AssertOf(const clang::Expr* expression);

  // ---- Blocks (blocks.cpp)
  struct OpenBlock {
    std::vector<ir::Value> groups;
    ir::Value thread;
    std::vector<int64_t> sizes;
    ir::Block body;
    size_t scopes = 0;  ///< around
  };
  static bool IsBlock(clang::QualType type) { return ContractTemplate(type, "block") != nullptr; }
  void Blocks(const clang::FunctionDecl* function, llvm::ArrayRef<const clang::Expr*> arguments,
              const clang::CallExpr* call);
  Given CallBlock(const clang::CallExpr* call, llvm::StringRef name,
                  llvm::ArrayRef<const clang::Expr*> arguments);
  ir::Value ThreadAlong(size_t axis);
  ObjectPtr SharedCells(clang::QualType type, clang::SourceRange range);
  void NameCells(const clang::VarDecl* variable, const ObjectPtr& object);
  bool IsShared(ir::Value array) const;

  // ---- Statements
  void RunIf(const clang::IfStmt* branch);
  void RunSwitch(const clang::SwitchStmt* choice);
  void Statement(const clang::Stmt* statement);
  void Declare(const clang::Decl* declaration);
  void DeclareVariable(const clang::VarDecl* variable);
  void Return(const clang::ReturnStmt* statement);
  void ReturnReference(const clang::ReturnStmt* statement);
  ObjectPtr ChosenPlace(const Frame& frame, clang::SourceRange range);

  // ---- Loops
  void Loop(const clang::Stmt* statement);
  void ForLoop(const clang::ForStmt* loop);
  void WhileForm(const clang::VarDecl* variable, const clang::Expr* condition, const clang::Expr* step,
                 const clang::Stmt* body, const clang::Stmt* first = nullptr);
  void DoLoop(const clang::DoStmt* loop);
  void RangeLoop(const clang::CXXForRangeStmt* loop);
  void LoopBody(const clang::Stmt* body);
  void CloseLoop();
  void LeaveLoop(bool breaks, const clang::Stmt* at);

  struct OpenLoop {
    std::function<void()> at_continue;  ///< run before the iteration ends
    int64_t checkpoint = -1;
  };
  struct OpenSwitch {
    size_t scope, loops;
  };

  Shared& shared_;
  clang::ASTContext& context_;
  ir::Module& module_;
  ir::Function& function_;
  Writer writer_;
  Frame* frame_ = nullptr;
  std::vector<Frame*> frames_;
  std::vector<OpenLoop> loops_;              ///< of this frame
  std::vector<OpenSwitch> switches_;         ///< of this frame
  std::set<const clang::VarDecl*> making_;   ///< constants whose initialisers are being run
  std::vector<ObjectPtr> parts_;             ///< objects that know what they are part of, and pointers
  std::map<ir::Value, bool> array_outside_;  ///< local arrays made outside of a parallel
  std::string parallel_;                     ///< the word for the parallel that is open
  std::optional<OpenBlock> block_;
};

}  // namespace adc::frontend
