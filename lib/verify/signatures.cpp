#include <unordered_map>

#include "diag/errors/parse.h"
#include "diag/errors/verify.h"
#include "ir/module.h"
#include "support/nearest.h"
#include "verify/rules.h"

namespace adc::verify {

using ir::Function, ir::ParamInfo, ir::ParamRole, ir::Type;

namespace {

bool HasDiffField(const ir::Module& module, Type type) {
  if (!type.IsLayout() || type.count >= module.layouts.size()) return false;
  for (const ir::LayoutField& field : module.layouts[type.count].fields) {
    if (field.diff) return true;
  }
  return false;
}

bool HasFloatElements(Type type) {
  return type.IsBuffer() ? ir::IsFloat(type.scalar) : type.IsFloat();
}

class SignatureChecker {
 public:
  SignatureChecker(Context& context, const Function& function)
      : context_(context), module_(context.module), function_(function) {}

  void Check() {
    if (function_.params.size() != function_.Params().size()) return;  // a matter of structure
    for (uint32_t n = 0; n < function_.params.size(); ++n) CheckParam(n);
    for (Type type : function_.result_types) {
      if (!type.IsRegister())
        context_.Error(diag::E0113, function_.span,
                       "a function gives scalars, vectors and matrices, not " + TypeName(module_, type));
    }
    CheckCompanions();
    if (function_.vjp.Valid()) CheckVjp();
    if (function_.jvp.Valid()) CheckJvp();
    if (function_.grad.Valid()) CheckGrad();
  }

 private:
  Type TypeOf(uint32_t n) const { return function_.TypeOf(function_.Params()[n]); }
  StringId NameOf(uint32_t n) const { return function_[function_.Params()[n]].name; }
  diag::SourceSpan SpanOf(uint32_t n) const {
    return function_.params[n].span.Valid() ? function_.params[n].span : function_.span;
  }

  void CheckParam(uint32_t n) {
    const ParamInfo& info = function_.params[n];
    Type type = TypeOf(n);
    std::string shown = context_.ValueName(NameOf(n)) + " is " + TypeName(module_, type);
    bool memory = type.IsBuffer() || type.IsLayout();
    if (!memory && !type.IsRegister()) {
      context_.Error(diag::E0113, SpanOf(n), shown + ", which cannot be a parameter");
      return;
    }
    if (type.IsLayout() && type.count >= module_.layouts.size()) {
      context_.Error(diag::E0113, SpanOf(n), "a layout that the module does not have");
      return;
    }
    bool of_memory = info.readonly || info.alias || info.IsDisjoint() || info.save;
    bool any = info.diff || of_memory || info.if_read;
    if (any && !function_.IsKernel()) {
      context_.Error(diag::E0121, SpanOf(n), "attributes stand on parameters of kernels, not of functions")
          .AddHelp("functions are inlined: what they are given has its attributes already");
      return;
    }
    if (info.diff && type.IsLayout()) {
      context_.Error(diag::E0121, SpanOf(n), "'diff' stands on the fields of a layout, not on the parameter")
          .AddNote(module_.layouts[type.count].span, "the layout is defined here");
    } else if (info.diff && !HasFloatElements(type)) {
      context_.Error(diag::E0121, SpanOf(n), shown + ": 'diff' stands on floats").AddHelp("drop 'diff'");
    }
    if (!memory && of_memory) {
      context_.Error(
          diag::E0121, SpanOf(n),
          shown +
              ": 'readonly', 'alias', 'writeonce', 'settled', 'disjoint', 'checked' and 'save' stand on "
              "buffers and layouts");
    } else if (info.readonly ? info.IsDisjoint()
                             : (info.writeonce && info.settled) || (info.alias && info.checked)) {
      std::string both = !info.readonly   ? info.writeonce && info.settled ? "'writeonce' and 'settled'"
                                                                           : "'alias' and 'checked'"
                         : info.writeonce ? "'readonly' and 'writeonce'"
                         : info.settled   ? "'readonly' and 'settled'"
                         : info.checked   ? "'readonly' and 'checked'"
                                          : "'readonly' and 'disjoint'";
      context_.Error(diag::E0121, SpanOf(n), context_.ValueName(NameOf(n)) + " cannot be both " + both);
    }
    if (info.if_read && type != ir::kI32)
      context_.Error(diag::E0121, SpanOf(n), shown + ": 'if_read' stands on i32, the bound of an axis")
          .AddHelp("drop 'if_read', or make it an i32");
    if (info.role == ParamRole::Scratch && !type.IsBuffer())
      context_.Error(diag::E0121, SpanOf(n), shown + ": scratch is a buffer");
    if (info.role == ParamRole::Saved && !(type.IsBuffer() && type.count == 1 && type.Element().IsScalar()))
      context_.Error(diag::E0121, SpanOf(n), shown + ": saved values lie in a buffer of scalars of rank 1");
    if (info.role == ParamRole::Segment && type != ir::kI32)
      context_.Error(diag::E0121, SpanOf(n), shown + ": a segment length is an i32");
    if (info.role == ParamRole::Trips && (type != ir::kI64 || module_.phase < ir::Phase::Differentiated))
      context_.Error(diag::E0121, SpanOf(n),
                     shown + ": trip counts are i64 parameters that the compiler adds, and no text has them");
  }

  /// The names that derived kernels give to the parameters they add have to be free. That a kernel of a
  /// derived name stands beside its primal is no error: printed modules do, and only deriving it again is
  /// (E0408).
  void CheckCompanions() {
    if (!function_.IsKernel() || function_.role != ir::KernelRole::Primal) return;
    // A text of a later phase holds derived kernels, which it does not call so.
    if (module_.phase >= ir::Phase::Differentiated) return;
    std::unordered_map<std::string_view, uint32_t> by_name;
    for (uint32_t n = 0; n < function_.params.size(); ++n) by_name.emplace(module_.Text(NameOf(n)), n);
    for (uint32_t n = 0; n < function_.params.size(); ++n) {
      if (!function_.params[n].diff && !HasDiffField(module_, TypeOf(n))) continue;
      for (const char* suffix : {".adj", ".tan"}) {
        std::string companion = std::string(module_.Text(NameOf(n))) + suffix;
        auto found = by_name.find(companion);
        if (found == by_name.end()) continue;
        context_
            .Error(diag::E0205, SpanOf(found->second),
                   "'%" + companion + "' is what derived kernels call the companion of " +
                       context_.ValueName(NameOf(n)))
            .AddNote(SpanOf(n), "this parameter is 'diff'")
            .AddHelp("rename the parameter");
      }
    }
  }

  const Function* Named(StringId name, ir::FunctionKind kind, const char* what) {
    const Function* found = module_.Find(name);
    if (found == nullptr) {
      std::vector<std::string_view> candidates;
      for (const auto& function : module_.functions) candidates.push_back(module_.Text(function->name));
      std::string_view nearest =
          candidates.size() < 20000 ? NearestName(module_.Text(name), candidates) : std::string_view();
      context_
          .Error(diag::E0112, function_.span,
                 std::string("no ") + what + " is named " + context_.Symbol(name))
          .AddHelp(nearest.empty() ? std::string() : "did you mean '@" + std::string(nearest) + "'?");
      return nullptr;
    }
    if (found->kind == kind) return found->broken ? nullptr : found;
    context_.Error(diag::E0206, function_.span, context_.Symbol(name) + " must be a " + what)
        .AddNote(found->span, "it is defined here");
    return nullptr;
  }

  void Compare(const Function& derivative, const std::vector<Type>& params,
               const std::vector<Type>& results) {
    std::vector<Type> found;
    for (ir::Value v : derivative.Params()) found.push_back(derivative.TypeOf(v));
    if (found == params && derivative.result_types == results) return;
    auto list = [&](const std::vector<Type>& types) {
      std::string text;
      for (Type type : types) text += (text.empty() ? "" : ", ") + TypeName(module_, type);
      return text;
    };
    std::string wanted = "(" + list(params) + ")";
    if (!results.empty()) wanted += " -> " + list(results);
    context_
        .Error(diag::E0206, derivative.span,
               context_.Symbol(derivative.name) + " does not fit as a derivative of " +
                   context_.Symbol(function_.name))
        .AddNote(function_.span, "it is named as a derivative here")
        .AddHelp("its signature has to be " + wanted);
  }

  /// A function with a derivative of its own deals in values alone.
  bool ValuesAlone() {
    for (uint32_t n = 0; n < function_.params.size(); ++n) {
      if (TypeOf(n).IsRegister()) continue;
      context_
          .Error(diag::E0206, SpanOf(n),
                 "a function with a jvp of its own takes values, not " + TypeName(module_, TypeOf(n)))
          .AddHelp("name a vjp alone, or load before the call");
      return false;
    }
    return true;
  }

  /// Those results that have an adjoint and a tangent.
  std::vector<Type> FloatResults() const {
    std::vector<Type> floats;
    for (Type type : function_.result_types) {
      if (type.IsFloat()) floats.push_back(type);
    }
    return floats;
  }

  /// A function over buffers may name a vjp: it works in place, and gives no results.
  bool InPlace() {
    bool memory = false;
    for (uint32_t n = 0; n < function_.params.size(); ++n) {
      memory = memory || TypeOf(n).IsBuffer();
      if (TypeOf(n).IsRegister() || TypeOf(n).IsBuffer()) continue;
      context_
          .Error(diag::E0206, SpanOf(n),
                 "a function with a derivative of its own takes values and buffers, not " +
                     TypeName(module_, TypeOf(n)))
          .AddHelp("leave the derivative to adc, or keep the field in a buffer");
      return false;
    }
    if (!memory || function_.result_types.empty()) return true;
    context_
        .Error(diag::E0206, function_.span,
               context_.Symbol(function_.name) + " takes buffers, has a vjp of its own and gives results")
        .AddHelp("store the results in a buffer");
    return false;
  }

  /// The vjp takes the parameters, then an adjoint per result or an adjoint buffer per buffer of floats, and
  /// gives an adjoint per float value.
  void CheckVjp() {
    const Function* derivative = Named(function_.vjp, ir::FunctionKind::Function, "function");
    if (derivative == nullptr || !InPlace()) return;
    std::vector<Type> params;
    std::vector<Type> results;
    for (uint32_t n = 0; n < function_.params.size(); ++n) {
      params.push_back(TypeOf(n));
      if (TypeOf(n).IsFloat() && TypeOf(n).IsRegister()) results.push_back(TypeOf(n));
    }
    std::vector<Type> adjoints = FloatResults();
    params.insert(params.end(), adjoints.begin(), adjoints.end());
    for (uint32_t n = 0; n < function_.params.size(); ++n) {
      if (TypeOf(n).IsBuffer() && ir::IsFloat(TypeOf(n).scalar)) params.push_back(TypeOf(n));
    }
    Compare(*derivative, params, results);
  }

  void CheckJvp() {
    const Function* derivative = Named(function_.jvp, ir::FunctionKind::Function, "function");
    if (derivative == nullptr || !ValuesAlone()) return;
    std::vector<Type> params;
    for (uint32_t n = 0; n < function_.params.size(); ++n) params.push_back(TypeOf(n));
    for (uint32_t n = 0; n < function_.params.size(); ++n) {
      if (TypeOf(n).IsFloat()) params.push_back(TypeOf(n));
    }
    Compare(*derivative, params, FloatResults());
  }

  /// From differentiation on the gradient is a kernel of its own, and the primal may have scratch of passes.
  void CheckGrad() {
    if (module_.phase >= ir::Phase::Differentiated) return;
    const Function* derivative = Named(function_.grad, ir::FunctionKind::Kernel, "kernel");
    if (derivative == nullptr) return;
    std::vector<Type> params;
    for (const Function* kernel : {&function_, derivative}) {
      for (const ParamInfo& info : kernel->params) {
        if (!info.if_read) continue;
        context_
            .Error(diag::E0121, info.span,
                   "'if_read' does not go with 'grad': a gradient takes all parameters of its kernel")
            .AddNote(function_.span, "it is named here")
            .AddHelp("drop 'if_read'");
      }
    }
    for (uint32_t n = 0; n < function_.params.size(); ++n) params.push_back(TypeOf(n));
    for (uint32_t n = 0; n < function_.params.size(); ++n) {
      Type type = TypeOf(n);
      if (!function_.params[n].diff && !HasDiffField(module_, type)) continue;
      params.push_back(type.IsRegister() ? Type::Buffer(type, 0) : type);
    }
    Compare(*derivative, params, {});
  }

  Context& context_;
  const ir::Module& module_;
  const Function& function_;
};

}  // namespace

void CheckSignature(Context& context, const Function& function) {
  SignatureChecker(context, function).Check();
}

}  // namespace adc::verify
