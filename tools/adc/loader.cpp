#include "loader.h"

#include <algorithm>

#include "bundle_file.h"
#include "command_line.h"
#include "compile_source.h"
#include "host/exit_code.h"
#include "host/input_kind.h"
#include "keys/keys.h"
#include "prints.h"
#include "support/nearest.h"
#include "support/printable.h"

namespace adc::tool {

int ReportFailure(const std::string& what, adrt_status status, const adrt_error& error) {
  std::string_view kind = adrt_status_text(status), details = error.text;
  std::string text = what + ": ";
  if (!details.starts_with(kind)) text += std::string(kind) + (details.empty() ? "" : ": ");
  text += Printable(details);
  bool names_cap = details.find("adrt_plan_with_cap") != std::string_view::npos;
  PrintError(text, names_cap ? "adrt_plan_with_cap is --adstack-cap=BYTES here" : "");
  if (status == ADRT_ERROR_UNSUPPORTED || status == ADRT_ERROR_NO_TARGET ||
      status == ADRT_ERROR_DEVICE_FEATURE) {
    return kExitUnsupported;
  }
  if (status >= 200 && status < 300) return kExitBadBundle;
  return status == ADRT_ERROR_ARGUMENT ? kExitUsage : kExitRunTime;
}

std::string Param::TypeText(const adrt_bundle* bundle) const {
  if (IsLayout()) {
    auto layout = Sized<adrt_layout_report>();
    bool known = adrt_bundle_layout(bundle, report.layout, &layout, nullptr) == ADRT_OK;
    return known ? "@" + std::string(layout.name) : "@?";
  }
  std::string element = adrt_type_name(report.type);
  if (report.columns > 1) {
    element =
        "mat<" + element + ", " + std::to_string(report.rows) + ", " + std::to_string(report.columns) + ">";
  } else if (report.rows > 1) {
    element = "vec<" + element + ", " + std::to_string(report.rows) + ">";
  }
  return IsScalar() ? element : "buffer<" + element + ", " + std::to_string(report.rank) + ">";
}

const Param* Kernel::Find(std::string_view name) const {
  for (const Param& param : params) {
    if (param.name == name) return &param;
  }
  return nullptr;
}

namespace {

/// Reads what the loader says of a kernel.
Kernel Describe(const adrt_bundle* bundle, const adrt_kernel* handle) {
  Kernel kernel;
  kernel.handle = handle;
  kernel.report = Sized<adrt_kernel_report>();
  adrt_kernel_info(handle, &kernel.report, nullptr);
  for (uint32_t index = 0; index < kernel.report.param_count; ++index) {
    Param& param = kernel.params.emplace_back();
    param.report = Sized<adrt_param_report>();
    adrt_kernel_param(handle, index, &param.report, nullptr);
    param.name = param.report.name;
    param.element_bytes = uint64_t{adrt_type_size(param.report.type)} * param.Components();
    auto layout = Sized<adrt_layout_report>();
    if (param.IsLayout() && adrt_bundle_layout(bundle, param.report.layout, &layout, nullptr) == ADRT_OK) {
      param.layout_bytes = layout.bytes;
    }
  }
  return kernel;
}

/// A buffer that is none of records gets what the command line says.
void TakePrints(std::shared_ptr<const KernelPrints> prints, Kernel* kernel) {
  for (Param& param : kernel->params) {
    param.takes_prints = param.name == prints->buffer && param.IsBuffer() && param.report.rank == 1 &&
                         param.report.type == ADRT_TYPE_U32 && param.Components() == 1;
    if (param.takes_prints) kernel->prints = prints;
  }
}

}  // namespace

std::vector<Kernel> AllKernels(const adrt_bundle* bundle) {
  std::vector<Kernel> kernels;
  auto report = Sized<adrt_bundle_report>();
  adrt_bundle_info(bundle, &report, nullptr);
  auto prints = PrintsOf(bundle);
  for (uint32_t index = 0; index < report.kernel_count; ++index) {
    const adrt_kernel* handle = nullptr;
    if (adrt_bundle_kernel(bundle, index, &handle, nullptr) != ADRT_OK) continue;
    kernels.push_back(Describe(bundle, handle));
    if (auto own = prints.find(kernels.back().report.name); own != prints.end())
      TakePrints(own->second, &kernels.back());
  }
  return kernels;
}

int ReadBundle(const std::string& path, const OpenOptions& options, std::vector<uint8_t>* bytes) {
  if (options.compile_ir && IsSourceFile(path)) return CompileSource(path, options, bytes);
  FileResult<std::string> file = ReadBundleBytes(path);
  if (!file) {
    PrintError(file.Failure().text, file.Failure().help);
    return kExitFailed;
  }
  bytes->assign(file->begin(), file->end());
  return kExitOk;
}

adrt_status OpenBytes(const std::vector<uint8_t>& bytes, const Trust& trust, Bundle* bundle,
                      adrt_error* error) {
  auto host = Sized<adrt_host>();
  host.flags = trust.all ? uint32_t{ADRT_HOST_TRUST} : 0;
  host.public_keys = trust.keys.data();
  host.public_key_count = static_cast<uint32_t>(trust.keys.size() / artifact::kPublicKeySize);
  host.check_signature = keys::Checker();
  return adrt_bundle_open(&host, bytes.data(), bytes.size(), ADRT_BUNDLE_COPY, bundle->Out(), error);
}

void SourceOptions::AddTo(CommandLine& line) {
  line.List("-I", "DIR", "for a source file: where imports and headers are looked for", &include_dirs);
  AddAllowImports(line, &import_dirs);
  line.Defines(
      "for an .ir file: the constant or type NAME of the text is VALUE; for C++ or a shader: define a macro",
      &defines);
  line.WantsSource("-D", "a bundle has what it was compiled with: adc -D NAME=VALUE kernel.ir");
  AddShaderOptions(line, &diff, &entry);
  for (std::string name : {"--diff", "--entry"})
    line.WantsSource(name, "a bundle has what it was compiled with: adc " + name + "=... shader.comp");
  line.BehindDashes(&clang_arguments);
}

void AddAllowImports(CommandLine& line, std::vector<std::string>* folders) {
  line.List(
      "--allow-imports", "DIR",
      "imports and includes may come from DIR too. Without it they come from the folders of the inputs\n"
      "and of -I, from those below them, and, in C++, from those of the system; links are followed",
      folders);
}

void AddShaderOptions(CommandLine& line, std::vector<std::string>* diff, std::string* entry) {
  line.Value("--diff", "NAMES",
             "for a shader: members of its blocks that have an adjoint, separated by commas; a name of a\n"
             "block stands for all its members of floats (docs/shaders.md)",
             [diff](std::string_view list) { return TakeNames(list, diff); });
  line.Text("--entry", "NAME", "for a shader: its entry point", entry);
}

std::string TakeNames(std::string_view list, std::vector<std::string>* names) {
  while (!list.empty()) {
    size_t comma = list.find(',');
    std::string_view name = list.substr(0, comma);
    if (name.empty()) break;
    names->emplace_back(name);
    if (comma == std::string_view::npos) return {};
    list = list.substr(comma + 1);
  }
  return "takes names of parameters, separated by commas";
}

void BoundsOption::AddTo(CommandLine& line) {
  line.SourceFlag("--check-bounds", "report accesses out of range; it is the default", &check);
  line.Flag("--no-check-bounds", "for an .ir file: do not look for accesses out of range", &leave);
  line.WantsSource("--no-check-bounds", "a bundle looks for them where it was compiled with --check-bounds");
}

int BoundsOption::Take(OpenOptions* options) const {
  options->check_bounds = !leave;
  if (!check || !leave) return kExitOk;
  PrintError("--check-bounds with --no-check-bounds", "remove one of the two");
  return kExitUsage;
}

void AddSimdOption(CommandLine& line, std::string* simd) {
  std::vector<std::string> words = {"off", "auto", "2", "4", "8", "16", "32", "64"};
  line.OneOf("--simd", "WHAT", "for an .ir file: iterations side by side in vectors, as for adc", words,
             [words, simd](size_t at) { *simd = words[at]; });
  line.WantsSource("--simd", "a bundle has what it was compiled with: adc --simd=WHAT kernel.ir");
}

int OpenBundle(const std::string& path, const OpenOptions& options, Bundle* bundle) {
  std::vector<uint8_t> bytes;
  if (int code = ReadBundle(path, options, &bytes); code != kExitOk) return code;
  auto error = Sized<adrt_error>();
  adrt_status status = OpenBytes(bytes, TrustFor(path, options), bundle, &error);
  return status == ADRT_OK ? kExitOk : ReportFailure("'" + path + "'", status, error);
}

Trust TrustFor(const std::string& path, const OpenOptions& options) {
  Trust trust = options.trust;
  if (trust.confined) return {.confined = true};
  trust.all = trust.all || (options.compile_ir && IsSourceFile(path));
  return trust;
}

bool MayRun(const std::string& path, const adrt_bundle* bundle, const Trust& trust) {
  auto report = Sized<adrt_bundle_report>();
  adrt_bundle_info(bundle, &report, nullptr);
  if (trust.all || trust.confined || report.signature == ADRT_SIGNATURE_GOOD) return true;
  PrintError("'" + path + "': its code is unverified (" + adrt_signature_text(report.signature) + ")",
             "--trust runs it with all rights of this account, as if it were a program; --key=NAME.pub runs\n"
             "what that key has signed");
  return false;
}

int FindKernel(const adrt_bundle* bundle, const std::string& name, Kernel* kernel, bool derives) {
  std::vector<Kernel> kernels = AllKernels(bundle);
  std::vector<std::string> names;
  const Kernel* found = nullptr;
  uint32_t primals = 0;
  for (const Kernel& candidate : kernels) {
    names.emplace_back(candidate.report.name);
    bool primal = std::string_view(candidate.report.role) == "primal";
    bool differentiable = std::any_of(candidate.params.begin(), candidate.params.end(),
                                      [](const Param& param) { return param.report.diff != 0; });
    if (derives && primal && differentiable) names.push_back(names.back() + ".grad");
    primals += primal;
    if (name.empty() ? primal : name == candidate.report.name) found = &candidate;
  }
  if (name.empty() && primals != 1) found = nullptr;
  if (found != nullptr) {
    *kernel = *found;
    return kExitOk;
  }
  std::string list;
  for (const std::string& known : names) list += (list.empty() ? "" : ", ") + known;
  if (name.empty()) {
    PrintError("several kernels: say which with --kernel", "the bundle holds " + list);
  } else {
    std::vector<std::string_view> known(names.begin(), names.end());
    std::string_view near = NearestName(name, known);
    PrintError("no kernel '" + name + "' in the bundle",
               near.empty() ? "the bundle holds " + list : "did you mean '" + std::string(near) + "'?");
  }
  return kExitUsage;
}

}  // namespace adc::tool
