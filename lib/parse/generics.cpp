#include "parse/generics.h"

#include <algorithm>
#include <utility>

#include "ir/module.h"
#include "parse/body.h"

namespace adc::parse {

void Generics::Add(StringId name, std::string_view word, const PendingFunction& pending) {
  Generic& generic = order_.emplace_back();
  generic.name = name;
  generic.pending = pending;
  generic.pending.bound_word = word;
  for (size_t n = 0; n < kScalars.size(); ++n) {
    ir::Function* probe = Probe(generic, n);
    if (probe == nullptr) return;  // its calls are not judged
    for (ir::Value param : probe->Params()) generic.params[n].push_back(probe->TypeOf(param));
  }
  generics_.emplace(name, &generic);
}

PendingFunction Generics::Bound(const Generic& generic, size_t n, diag::SourceSpan use) const {
  PendingFunction bound = generic.pending;
  bound.bound_type = ir::Type::Of(kScalars[n]);
  bound.use = use;
  return bound;
}

/// The function for one type, with parameters and results, in no module. Null after an error.
ir::Function* Generics::Probe(Generic& generic, size_t n) {
  if (generic.probes[n] != nullptr) return generic.probes[n];
  PendingFunction bound = Bound(generic, n, {});
  bound.instance = generic.name;
  bound.is_probe = true;
  ParseSignature(shared_, bound, gathered_);
  if (!bound.bad_signature) generic.probes[n] = bound.function;
  return generic.probes[n];
}

const ir::Function* Generics::Instance(StringId name, ir::Scalar scalar, diag::SourceSpan use) {
  Generic& generic = *generics_.at(name);
  size_t n = static_cast<size_t>(std::find(kScalars.begin(), kScalars.end(), scalar) - kScalars.begin());
  if (generic.instances[n] != nullptr) return generic.instances[n];
  if (probing_) return Probe(generic, n);
  PendingFunction bound = Bound(generic, n, use);
  bound.instance = shared_.module.Intern(std::string(shared_.module.Text(name)) + "." + Spelling(scalar));
  bound.comments.clear();
  ParseSignature(shared_, bound, gathered_);
  generic.instances[n] = bound.function;
  gathered_.functions.push_back(std::move(bound));
  // The derivatives that it names are instances for the same type.
  for (StringId* derivative : {&generic.instances[n]->vjp, &generic.instances[n]->jvp}) {
    if (!derivative->Valid() || !IsGeneric(*derivative)) continue;
    if (const ir::Function* made = Instance(*derivative, scalar, use)) *derivative = made->name;
  }
  return generic.instances[n];
}

const ir::Function* Generics::InstanceNamed(StringId name, diag::SourceSpan use) {
  std::string_view text = shared_.module.Text(name);
  size_t dot = text.rfind('.');
  if (order_.empty() || dot == std::string_view::npos) return nullptr;
  std::optional<ir::Scalar> scalar = ScalarFromWord(text.substr(dot + 1));
  if (!scalar || !ir::IsFloat(*scalar)) return nullptr;
  StringId base = shared_.module.Intern(text.substr(0, dot));
  return IsGeneric(base) ? Instance(base, *scalar, use) : nullptr;
}

void Generics::InstanceDerivatives() {
  for (size_t n = 0; !order_.empty() && n < shared_.module.functions.size(); ++n) {
    ir::Function& function = *shared_.module.functions[n];
    for (StringId derivative : {function.vjp, function.jvp}) {
      if (derivative.Valid() && shared_.module.Find(derivative) == nullptr)
        InstanceNamed(derivative, function.span);
    }
  }
}

std::vector<ir::Scalar> Generics::Fitting(StringId name, std::span<const ir::Type> arguments) const {
  const Generic& generic = *generics_.at(name);
  std::vector<ir::Scalar> fitting;
  for (size_t n = 0; n < kScalars.size(); ++n) {
    bool fits = generic.params[n].size() == arguments.size();
    for (size_t at = 0; fits && at < arguments.size(); ++at) {
      fits = arguments[at].IsNone() ? generic.params[n][at].IsRegister()
                                    : arguments[at] == generic.params[n][at];
    }
    if (fits) fitting.push_back(kScalars[n]);
  }
  return fitting;
}

size_t Generics::ParamCount(StringId name) const {
  return generics_.at(name)->params[0].size();
}

std::string_view Generics::Word(StringId name) const {
  return generics_.at(name)->pending.bound_word;
}

void Generics::CheckUnused() {
  probing_ = true;
  Names names;
  for (Generic& generic : order_) {
    if (shared_.diagnostics.Full()) break;
    bool used = false;
    for (const ir::Function* instance : generic.instances) used = used || instance != nullptr;
    if (used || !IsGeneric(generic.name)) continue;
    constexpr size_t kF32 = 1;
    PendingFunction bound = Bound(generic, kF32, {});
    bound.instance = generic.name;
    bound.is_probe = true;
    ParseSignature(shared_, bound, gathered_);
    BodyParser body(shared_, *bound.file, bound.body, bound.end, *bound.function, names, /*silent=*/false,
                    gathered_.unsure);
    body.stream().Bind(bound.bound_word, bound.bound_type);
    body.SetProbe();
    body.Parse(bound.param_spans);
  }
  probing_ = false;
}

void Generics::PlaceInstances() {
  if (order_.empty()) return;
  std::vector<ir::Module::Item>& items = shared_.module.items;
  std::vector<ir::Module::Item> placed;
  for (size_t at = 0; at < items.size(); ++at) {
    auto generic = std::find_if(order_.begin(), order_.end(),
                                [&](const Generic& each) { return each.pending.item == at; });
    if (generic == order_.end()) {
      placed.push_back(items[at]);
      continue;
    }
    bool first = true;
    for (ir::Function* instance : generic->instances) {
      if (instance == nullptr) continue;
      if (std::exchange(first, false)) instance->leading_comments = generic->pending.comments;
      for (uint32_t n = 0; n < shared_.module.functions.size(); ++n) {
        if (shared_.module.functions[n].get() == instance)
          placed.push_back({items[at].kind, n, items[at].imported});
      }
    }
  }
  items = std::move(placed);
}

}  // namespace adc::parse
