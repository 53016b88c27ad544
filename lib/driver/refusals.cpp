#include "driver/refusals.h"

#include "driver/generate.h"
#include "driver/report.h"

namespace adc::driver {

void AddRefusal(const target::Target& target, const diag::Diagnostic& failure,
                std::vector<Refusal>* refusals) {
  auto without_name = [](std::string text, const std::string& name) {
    for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at))
      text.erase(at, name.size());
    return text;
  };
  for (Refusal& known : *refusals) {
    bool same = known.failure.id == failure.id && known.failure.span == failure.span &&
                without_name(known.failure.text, known.targets.front().name) ==
                    without_name(failure.text, target.name);
    if (!same) continue;
    known.targets.push_back(target);
    return;
  }
  refusals->push_back({failure, {target}});
}

diag::Diagnostic Tell(const Refusal& refusal, std::span<const std::string> able, bool others_made,
                      const CompileOptions& options) {
  diag::Diagnostic told = refusal.failure;
  std::string refused = refusal.targets.front().name;
  for (size_t at = 1; at < refusal.targets.size(); ++at) {
    refused += ", " + refusal.targets[at].name;
    told.AddNote({}, "the same holds for " + refusal.targets[at].name);
  }
  if (!IsInexpressible(told.id)) return told;
  std::string list;
  for (const std::string& name : able) list += (list.empty() ? "" : ", ") + name;
  if (!list.empty()) told.AddNote({}, "targets that can: " + list);
  bool asked_for = !options.targets.empty();
  // A warning that -Werror makes an error ends the compilation: nothing is written then.
  bool is_error = asked_for && (!options.keep_going || BecomesError(told.id, options));
  if (!others_made) return told;
  if (is_error) {
    if (told.help.empty()) {
      told.AddHelp(options.keep_going ? "without -Werror the other targets are written"
                                      : "--keep-going writes the other targets");
    }
    return told;
  }
  told.severity = asked_for ? diag::Severity::Warning : diag::Severity::Remark;
  told.AddNote({}, "what is written has no code for " + refused);
  return told;
}

}  // namespace adc::driver
