#include "frontend/cpp/kernels.h"

#include <clang/AST/Attr.h>
#include <clang/AST/RecursiveASTVisitor.h>

#include <algorithm>

#include "diag/errors/cpp.h"
#include "frontend/cpp/lowering.h"
#include "ir/module.h"

namespace adc::frontend {

namespace {

bool IsKernel(const clang::FunctionDecl* function) {
  return llvm::any_of(function->specific_attrs<clang::AnnotateAttr>(),
                      [](const auto* attribute) { return attribute->getAnnotation() == "adc.kernel"; });
}

/// Kernels, their templates, and what ADC_DERIVATIVE declares.
class Finder : public clang::RecursiveASTVisitor<Finder> {
 public:
  // NOLINTBEGIN: names that Clang calls.
  bool shouldVisitTemplateInstantiations() const { return true; }
  bool VisitFunctionDecl(clang::FunctionDecl* function) {
    if (!IsKernel(function)) return true;
    if (function->isTemplated()) {
      if (const auto* made = function->getDescribedFunctionTemplate()) templates.push_back(made);
    } else if (function == (function->getDefinition() != nullptr ? function->getDefinition()
                                                                 : function->getFirstDecl())) {
      kernels.push_back(function);
    }
    return true;
  }
  bool VisitVarDecl(clang::VarDecl* variable) {
    if (variable->getName().starts_with("adc_derivative_") &&
        ContractTemplate(variable->getType(), "derivative") != nullptr && variable->getInit() != nullptr)
      derivatives.push_back(variable);
    return true;
  }
  // Nothing of a body is a kernel, and nothing of a library's headers.
  bool TraverseStmt(clang::Stmt*) { return true; }
  // NOLINTEND

  std::vector<clang::FunctionDecl*> kernels;
  std::vector<const clang::FunctionTemplateDecl*> templates;
  std::vector<const clang::VarDecl*> derivatives;
};

/// The functions that an initialiser names, in order.
void FunctionsIn(const clang::Stmt* s, std::vector<const clang::FunctionDecl*>* found) {
  if (s == nullptr) return;
  if (const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(s)) {
    if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(reference->getDecl()))
      found->push_back(function);
  }
  for (const clang::Stmt* child : s->children()) FunctionsIn(child, found);
}

class Kernels {
 public:
  Kernels(clang::ASTContext& context, ir::Module& module, Places& places, diag::Diagnostics& diagnostics,
          uint64_t operation_limit)
      : shared_{context, module, places, diagnostics, operation_limit} {}

  void Run() {
    clang::ASTContext& context = shared_.context;
    const clang::SourceManager& files = context.getSourceManager();
    for (clang::Decl* top : context.getTranslationUnitDecl()->decls()) {
      // Headers of the system declare no kernels; they are most of a file.
      if (files.isInSystemHeader(files.getExpansionLoc(top->getLocation()))) continue;
      finder_.TraverseDecl(top);
    }
    for (const clang::VarDecl* variable : finder_.derivatives) TakeDerivative(variable);
    for (const clang::FunctionTemplateDecl* made : finder_.templates) {
      if (made->spec_begin() == made->spec_end())
        Bad(made->getTemplatedDecl(),
            "the kernel '" + made->getNameAsString() + "' is a template that is never instantiated",
            "write 'template void " + made->getNameAsString() + "<float>(...);' behind it");
    }
    std::vector<const clang::FunctionDecl*> order;
    auto before = [&](const auto* a, const auto* b) {
      return files.isBeforeInTranslationUnit(PlaceOf(a), PlaceOf(b));
    };
    for (const clang::FunctionDecl* one : finder_.kernels)
      order.insert(std::upper_bound(order.begin(), order.end(), one, before), one);
    for (const clang::FunctionDecl* kernel : order) Lower(kernel);
  }

 private:
  struct Derivatives {
    StringId reverse, forward;
  };

  /// Of an instantiation the place where it is asked for, so that several stand in that order.
  static clang::SourceLocation PlaceOf(const clang::FunctionDecl* function) {
    clang::SourceLocation place = function->getPointOfInstantiation();
    return place.isValid() ? place : function->getLocation();
  }

  void Bad(const clang::FunctionDecl* function, std::string text, std::string help) {
    shared_.diagnostics
        .Error(diag::E0803, shared_.places.Of(function->getNameInfo().getSourceRange()), std::move(text))
        .AddHelp(std::move(help));
  }

  /// The name of the function, with the arguments of its template.
  static std::string WholeNameOf(const clang::FunctionDecl* function) {
    std::string name = function->getNameAsString();
    const clang::TemplateArgumentList* arguments = function->getTemplateSpecializationArgs();
    if (arguments == nullptr) return name;
    clang::PrintingPolicy policy(function->getASTContext().getLangOpts());
    std::function<void(const clang::TemplateArgument&)> append =
        [&](const clang::TemplateArgument& argument) {
          if (argument.getKind() == clang::TemplateArgument::Pack) {
            for (const clang::TemplateArgument& one : argument.pack_elements()) append(one);
            return;
          }
          std::string text;
          llvm::raw_string_ostream out(text);
          argument.print(policy, out, /*IncludeType=*/false);
          name += '_';
          for (char c : text) {
            if (c == '-') {
              name += "minus";
            } else {
              name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
            }
          }
        };
    for (const clang::TemplateArgument& argument : arguments->asArray()) append(argument);
    return name;
  }

  void Lower(const clang::FunctionDecl* kernel) {
    std::string name = WholeNameOf(kernel);
    std::string quoted = "'" + name + "'";
    if (kernel->getDefinition() == nullptr)
      return Bad(kernel, "the kernel " + quoted + " has no body", "define it in this file");
    if (kernel->isInAnonymousNamespace())
      return Bad(kernel, "the kernel " + quoted + " is in an unnamed namespace",
                 "move it out: a kernel is known by its name outside of the file");
    if (llvm::isa<clang::CXXMethodDecl>(kernel) && llvm::cast<clang::CXXMethodDecl>(kernel)->isInstance())
      return Bad(kernel, "the kernel " + quoted + " is a member function", "make it a function, or static");
    if (kernel->getIdentifier() == nullptr)
      return Bad(kernel, "a kernel is a function with a name", "give it one");
    if (kernel->isConsteval())
      return Bad(kernel, "the kernel " + quoted + " is consteval", "leave consteval out");
    if (kernel->isVariadic())
      return Bad(kernel, "the kernel " + quoted + " takes any number of arguments", "name its parameters");
    StringId id = shared_.module.Intern(name);
    if (const ir::Function* other = shared_.module.Find(id)) {
      shared_.diagnostics
          .Error(diag::E0803, shared_.places.Of(kernel->getNameInfo().getSourceRange()),
                 "a second kernel of the name " + quoted)
          .AddNote(other->span, "the first one")
          .AddHelp("rename one of them: namespaces and parameters are no part of a kernel's name");
      return;
    }
    Make(kernel, id, ir::FunctionKind::Kernel);
  }

  bool Make(const clang::FunctionDecl* declaration, StringId name, ir::FunctionKind kind) {
    auto made = std::make_unique<ir::Function>(kind, name);
    made->span = shared_.places.Of(declaration->getNameInfo().getSourceRange());
    auto named = names_.find(declaration->getCanonicalDecl());
    if (named != names_.end()) made->vjp = named->second.reverse, made->jvp = named->second.forward;
    Lowering lowering(shared_, *made);
    try {
      made->IsKernel() ? lowering.Kernel(declaration) : lowering.NamedFunction(declaration);
    } catch (const Refusal&) {
      return false;
    }
    shared_.module.AddFunction(kind, name);
    shared_.module.Replace(std::move(made));
    return true;
  }

  /// `f`, what reverse mode uses in place of its derivative, and what forward mode uses.
  void TakeDerivative(const clang::VarDecl* variable) {
    std::vector<const clang::FunctionDecl*> named;
    FunctionsIn(variable->getInit(), &named);
    if (named.size() != 2 && named.size() != 3) return;
    const clang::FunctionDecl* of = named[0]->getCanonicalDecl();
    if (shared_.functions.contains(of))
      return Bad(of, "a function with two derivatives", "leave one of them out");
    const clang::FunctionDecl* body = nullptr;
    if (!of->hasBody(body)) return Bad(of, "a function with a derivative has no body here", "define it");
    Derivatives made;
    for (size_t n = 1; n < named.size(); ++n) {
      const clang::FunctionDecl* derivative = nullptr;
      if (!named[n]->hasBody(derivative)) return Bad(named[n], "a derivative has no body here", "define it");
      StringId& name = n == 1 ? made.reverse : made.forward;
      name = Free(WholeNameOf(named[n]));
      if (!Make(derivative, name, ir::FunctionKind::Function)) return;
    }
    names_[of] = made;
    StringId of_name = Free(WholeNameOf(of));
    if (!Make(body, of_name, ir::FunctionKind::Function)) return;
    shared_.derivatives[of] = named[1]->getCanonicalDecl();
    shared_.functions[of] = of_name;
  }

  StringId Free(const std::string& name) {
    std::string text = name;
    for (int n = 1; shared_.module.Find(shared_.module.Intern(text)) != nullptr; ++n)
      text = name + "." + std::to_string(n);
    return shared_.module.Intern(text);
  }

  Shared shared_;
  Finder finder_;
  std::map<const clang::FunctionDecl*, Derivatives> names_;  ///< by what they are of
};

}  // namespace

void LowerKernels(clang::ASTContext& context, ir::Module& module, Places& places,
                  diag::Diagnostics& diagnostics, uint64_t operation_limit) {
  Kernels(context, module, places, diagnostics, operation_limit).Run();
}

}  // namespace adc::frontend
