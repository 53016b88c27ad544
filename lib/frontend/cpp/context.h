#pragma once
// The base of all parts of the lowering: where the IR is written, how a construct without a lowering is
// refused, and what a C++ type is in the IR.

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>

#include <functional>
#include <map>
#include <optional>
#include <set>

#include "diag/diagnostics.h"
#include "frontend/cpp/object.h"
#include "frontend/cpp/places.h"
#include "frontend/cpp/writer.h"
#include "ir/struct_member.h"

namespace adc::frontend {

using clang::QualType, clang::SourceRange;
using ir::Op, ir::Scalar, ir::Type, ir::Value;

/// A construct that has no lowering, already reported.
struct Refusal {};

/// How often variables outside of functions, static ones and pointers are named otherwise than to read a
/// number, and the local pointers that stand for an array (globals.cpp).
struct OtherUses {
  std::map<const clang::VarDecl*, int> count;
  std::map<const clang::VarDecl*, std::vector<const clang::VarDecl*>> pointers;
};

/// The state that all kernels of a file share.
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

struct OpenLoop {
  std::function<void()> at_continue;  ///< run before the iteration ends
  int64_t checkpoint = -1;
};

struct OpenSwitch {
  size_t scope, loops;
};

/// The state of a function whose body is being lowered.
struct Frame {
  const clang::FunctionDecl* function = nullptr;
  SourceRange call = {};  ///< that it stands for
  Frame* caller = nullptr;
  std::map<const clang::ValueDecl*, ObjectPtr> variables = {};
  ObjectPtr self = {};
  ObjectPtr result = {};  ///< of a value
  bool gives_reference = false;
  std::vector<ObjectPtr> places = {};  ///< what it may give references to
  Slot chosen = 0;                     ///< which of them
  Born born = {};
  size_t scope = 0;  ///< which a `return` leaves
  std::vector<OpenLoop> loops = {};
  std::vector<OpenSwitch> switches = {};
};

struct ArrayType {
  QualType element;
  uint64_t count = 0;
};

struct BufferType {
  QualType element;
  uint32_t rank = 0;
};

/// A base or a field of a class.
struct Part {
  QualType type;
  uint64_t offset = 0;                      ///< in bytes
  const clang::FieldDecl* field = nullptr;  ///< null: a base
  std::string name = {};                    ///< of a field
};

/// Whether the record is the template `name` of namespace adc; its arguments.
const clang::ClassTemplateSpecializationDecl* ContractTemplate(QualType type, llvm::StringRef name);
bool InNamespace(const clang::Decl* declaration, llvm::StringRef name);
/// Empty for what has another kind of name, an operator for example.
llvm::StringRef NameOf(const clang::NamedDecl* declaration);
/// Whether the type is a class or template `name` of namespace std.
bool IsStandard(QualType type, llvm::StringRef name);

class Context {
 protected:
  Context(Shared& shared, ir::Function& function);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() = default;

  [[noreturn]] void Refuse(SourceRange range, std::string text, std::string help = {});
  [[noreturn]] void Refuse(const clang::Stmt* at, std::string text, std::string help = {}) {
    Refuse(at->getSourceRange(), std::move(text), std::move(help));
  }
  [[noreturn]] void RefuseException(const clang::Stmt* at) {
    Refuse(at, "a kernel has no exceptions", "use assert, or store what went wrong in a buffer");
  }
  /// Refuses an expression or a statement that has no lowering at all.
  [[noreturn]] void RefuseKind(const clang::Stmt* at);
  void SetPlace(SourceRange range);
  std::string Spell(QualType type) const;

  std::optional<Type> RegisterType(QualType type) const;
  Type NeedRegister(QualType type, SourceRange range);
  std::optional<Type> ScalarOf(QualType type) const;
  QualType Unmarked(QualType type, ir::ParamInfo* marks = nullptr) const;
  std::optional<BufferType> BufferOf(QualType type) const;
  const clang::CXXRecordDecl* RecordOf(QualType type) const;
  /// Also of a complex number, whose parts are elements.
  std::optional<ArrayType> ArrayOf(QualType type) const;
  std::vector<Part> LayoutOf(const clang::CXXRecordDecl* record) const;
  std::vector<Part> MembersOf(const clang::CXXRecordDecl* record, SourceRange range);
  uint64_t BytesOf(QualType type) const;
  void LeafTypes(QualType type, uint64_t count, SourceRange range,
                 std::vector<std::pair<Type, uint64_t>>* leaves);
  std::optional<uint64_t> CountOf(QualType type, QualType number) const;
  Scalar WordOf(QualType type, bool diff, SourceRange range);
  void DescribeMember(QualType type, const std::string& name, uint64_t offset,
                      std::vector<ir::StructMember>* members) const;
  void NumbersOf(QualType type, uint64_t offset, SourceRange range, std::map<uint64_t, QualType>* numbers);
  bool HaveSameBits(QualType a, QualType b) const;
  QualType NumberIn(QualType type) const;
  size_t WholeField(const clang::CXXRecordDecl* record, SourceRange range);

  Shared& shared_;
  clang::ASTContext& context_;
  ir::Module& module_;
  ir::Function& function_;
  Writer writer_;
  Frame* frame_ = nullptr;  ///< the innermost function

 private:
  void ScalarsOf(QualType type, SourceRange range, std::set<Scalar>* scalars);
};

}  // namespace adc::frontend
