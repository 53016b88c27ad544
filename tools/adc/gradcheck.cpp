// `adc gradcheck`: the reverse kernel against forward mode and against central differences, parameter by
// parameter (gradient_checker.h).

#include <algorithm>
#include <cstdio>

#include "command_line.h"
#include "commands.h"
#include "driver/options.h"
#include "gradient_checker.h"

namespace adc::tool {

namespace {

/// "1.2e-07", or "-" for a comparison that was not made.
std::string ErrorText(double error) {
  if (error < 0) return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.1e", error);
  return text;
}

/// Random values in [0.1, 0.9] for float parameters without one; kernels keep integers and undefined shapes
/// to the caller.
bool FillInputs(const adrt_bundle* bundle, const Kernel& kernel, uint64_t seed,
                const std::map<std::string, std::vector<int64_t>>& shapes, Values* values) {
  Random random(seed ^ 0x5DEECE66Dull);
  for (const Param& param : kernel.params) {
    if (!param.IsGiven() || values->contains(param.name)) continue;
    auto shape = shapes.find(param.name);
    bool known = param.IsBuffer() ? shape != shapes.end() || param.report.rank == 0 : param.IsScalar();
    if (!param.IsLayout() && (!known || !param.IsFloat())) continue;
    ArgValue value = ZeroValue(param, shape == shapes.end() ? std::vector<int64_t>() : shape->second);
    bool only_written = param.report.access == ADRT_ACCESS_WRITE;
    for (const Place& place : PlacesOf(bundle, param, value, false)) {
      if (!only_written) Write(value, place, 0.1 + 0.8 * random.Uniform());
    }
    values->emplace(param.name, std::move(value));
  }
  FillShapes(kernel, shapes, values);
  return FillCompanions(kernel, values);
}

int PrintRows(const adrt_bundle* bundle, const Kernel& kernel,
              const std::vector<std::pair<const Param*, CheckedGradient>>& rows) {
  std::printf("gradient of @%s\n%-20s %-22s %14s %14s %14s %9s %9s\n", kernel.report.name, "parameter",
              "type", "reverse", "forward", "central", "fwd err", "cd err");
  uint32_t bad = 0, silent = 0, unknown = 0;
  double worst_forward = -1, worst_central = -1;
  for (const auto& [param, row] : rows) {
    std::string verdict;
    switch (row.agreement) {
      case Agreement::Agrees:
        verdict = "ok";
        break;
      case Agreement::Differs:
        verdict = "DIFFERS";
        ++bad;
        break;
      case Agreement::SaysNothing:
        verdict = "central differences say nothing here: uncertain by " + ErrorText(row.uncertainty);
        ++silent;
        unknown += row.forward_error < 0;
        break;
    }
    worst_forward = std::max(worst_forward, row.forward_error);
    if (row.agreement != Agreement::SaysNothing) worst_central = std::max(worst_central, row.central_error);
    char forward[32] = "-";  // where nothing was compared
    if (row.forward_error >= 0) std::snprintf(forward, sizeof forward, "%.7g", row.forward);
    std::printf("%-20s %-22s %14.7g %14s %14.7g %9s %9s  %s\n", param->name.c_str(),
                param->TypeText(bundle).c_str(), row.reverse, forward, row.central,
                ErrorText(row.forward_error).c_str(), ErrorText(row.central_error).c_str(), verdict.c_str());
  }
  std::printf("worst: forward %s, central %s\n%zu parameters, %u differ", ErrorText(worst_forward).c_str(),
              ErrorText(worst_central).c_str(), rows.size(), bad);
  if (silent > 0) std::printf(", %u where central differences say nothing", silent);
  std::printf("\n");
  std::fflush(stdout);
  if (unknown > 0) {
    PrintError("nothing was left to compare with for " + std::to_string(unknown) + " of the parameters",
               "compile with --derive=grad,jvp: forward mode has no steps");
  }
  return bad == 0 && unknown == 0 ? driver::kExitOk : driver::kExitFailed;
}

/// A number with a point: tolerances.
std::string TakeDouble(std::string_view text, double* target) {
  char* end = nullptr;
  std::string copy(text);
  *target = std::strtod(copy.c_str(), &end);
  return end == copy.c_str() + copy.size() && *target > 0 ? "" : "wants a positive number";
}

}  // namespace

int Gradcheck(const std::vector<std::string>& words, Session& session) {
  std::vector<std::string> files;
  std::string kernel_name;
  ArgTexts texts;
  CheckSettings settings;
  OpenOptions open;
  DeviceChoice device;
  uint64_t workers = 0;
  CommandLine line(
      "adc gradcheck [options] bundle.adcb|kernel.ir",
      "Compares a kernel's gradient with forward mode (where the bundle holds k.jvp; for an .ir file\n"
      "unless a function names a vjp and no jvp) and with central differences, per differentiable\n"
      "parameter. Float parameters without --arg are random in [0.1, 0.9]. Central differences are taken\n"
      "at several steps and extrapolated; where rounding leaves them less certain than the tolerance,\n"
      "they say nothing, and forward mode decides.\n"
      "Exit code 1 where one differs, or where nothing says that it does not.");
  line.Section("What to check");
  line.Text("--kernel", "NAME", "the kernel, not its gradient; may be left out where there is one",
            &kernel_name);
  line.List("--arg", "NAME=VALUE", "as for adc run", &texts.args);
  line.List("--shape", "NAME=N,M", "extents of a buffer without --arg", &texts.shapes);
  line.Number("--seed", "N", "of random inputs, weights and directions; default 1", &settings.seed,
              UINT64_MAX);
  line.Number("--directions", "N", "random directions per parameter; default 4", &settings.directions,
              100000);
  line.Value("--tolerance", "NUMBER", "relative, against central differences; default 1e-6 (f64), 2e-2 (f32)",
             [&](std::string_view text) { return TakeDouble(text, &settings.tolerance_central); });
  line.Value("--tolerance-forward", "NUMBER",
             "relative, against forward mode; default 1e-10 (f64), 1e-3 (f32)",
             [&](std::string_view text) { return TakeDouble(text, &settings.tolerance_forward); });
  line.Section("How");
  AddDeviceOptions(line, &device);
  line.Number("--threads", "N", "workers; default: one per processor", &workers, 4096);
  line.Number("--adstack-cap", "BYTES", "memory for stacks whose size nothing says",
              &settings.launch.adstack_cap, UINT64_MAX);
  line.List("-I", "DIR", "for an .ir file: where imports are looked for", &open.include_dirs);
  line.Flag("--save-overwritten", "for an .ir file: save what the gradient reads of buffers that are written",
            &open.save_overwritten);
  line.Example("adc gradcheck relax.ir --shape x=100 --arg n=16", "checks relax.grad");
  line.Positional("bundle", 1, 1, &files);
  if (std::optional<int> code = line.Parse(words)) return *code;
  Machine machine(session);
  settings.launch.workers = static_cast<uint32_t>(workers);
  if (int code = machine.Open(device, settings.launch.workers); code != driver::kExitOk) return code;
  open.targets = machine.device().Targets();
  open.derive_tangents = open.tangent_where_named = true;
  Bundle bundle;
  if (int code = machine.OpenBundle(files[0], open, &bundle); code != driver::kExitOk) return code;
  Kernel primal, gradient, tangent;
  if (int code = FindKernel(bundle.get(), kernel_name, &primal); code != driver::kExitOk) return code;
  std::string name = primal.report.name;
  bool has_gradient = false, has_tangent = false;
  for (const Kernel& kernel : AllKernels(bundle.get())) {
    has_gradient = has_gradient || kernel.report.name == name + ".grad";
    has_tangent = has_tangent || kernel.report.name == name + ".jvp";
  }
  if (!has_gradient) {
    PrintError("kernel '" + name + "' has no gradient here",
               "one is derived where a parameter is 'diff', unless --derive says otherwise");
    return driver::kExitUsage;
  }
  if (int code = FindKernel(bundle.get(), name + ".grad", &gradient); code != driver::kExitOk) return code;
  if (has_tangent) FindKernel(bundle.get(), name + ".jvp", &tangent);

  Values inputs;
  std::map<std::string, std::vector<int64_t>> shapes;
  if (!ParseArguments(bundle.get(), primal, texts, &inputs, &shapes)) return driver::kExitUsage;
  if (!FillInputs(bundle.get(), primal, settings.seed, shapes, &inputs)) return driver::kExitUsage;
  if (int code = machine.Load(bundle); code != driver::kExitOk) return code;
  GradientChecker checker(bundle.get(), primal, gradient, has_tangent ? &tangent : nullptr, settings, machine,
                          std::move(inputs));
  std::vector<std::pair<const Param*, CheckedGradient>> rows;
  if (int code = checker.Run(&rows); code != driver::kExitOk) return code;
  return machine.Finish(PrintRows(bundle.get(), primal, rows));
}

}  // namespace adc::tool
