#pragma once
// The loader's handles as C++ values, for the subcommands that run or look at bundles.

#include <adrt/adrt.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace adc::product {
struct Product;
}  // namespace adc::product

namespace adc::tool {

/// Owns a handle of the loader.
template <class Object, void (*Release)(Object*)>
class Handle {
 public:
  Handle() = default;
  Handle(Handle&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Handle() {
    if (object_ != nullptr) Release(object_);
  }
  Object* get() const { return object_; }
  /// For the output argument of a create function; the handle must be empty.
  Object** Out() { return &object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  Object* object_ = nullptr;
};

using Bundle = Handle<adrt_bundle, adrt_bundle_release>;
using Device = Handle<adrt_device, adrt_device_release>;
using Module = Handle<adrt_module, adrt_module_release>;
using Memory = Handle<adrt_memory, adrt_memory_release>;
using LaunchPlan = Handle<adrt_launch_plan, adrt_plan_release>;

/// A descriptor or report with its size filled in.
template <class Descriptor>
Descriptor Sized() {
  Descriptor descriptor = {};
  descriptor.struct_size = sizeof(Descriptor);
  return descriptor;
}

/// Prints a failure of the loader with `what` before it, and gives the exit code that stands for it: a bad
/// bundle, unsupported, usage for wrong arguments, run time for the rest.
int ReportFailure(const std::string& what, adrt_status status, const adrt_error& error);

/// A kernel's parameter, as read from the bundle.
struct Param {
  adrt_param_report report;
  std::string name;
  uint64_t element_bytes = 0;  ///< of one element of a buffer, or of the by-value parameter
  uint64_t layout_bytes = 0;   ///< of a layout parameter
  /// Of a buffer of floats: words of its last axis that hold integers (integer_words.h), as far as known.
  std::vector<uint32_t> integer_words = {};
  bool takes_prints = false;  ///< the kernel records in it what it prints
  bool IsFloat() const { return report.type >= ADRT_TYPE_F16; }
  bool IsBuffer() const { return report.kind == ADRT_PARAM_BUFFER; }
  bool IsLayout() const { return report.kind == ADRT_PARAM_LAYOUT; }
  bool IsScalar() const { return report.kind == ADRT_PARAM_SCALAR; }
  bool IsSaved() const { return report.role == ADRT_ROLE_SAVED; }
  bool IsGiven() const { return report.kind < ADRT_PARAM_SCRATCH; }
  uint32_t Components() const { return report.rows * report.columns; }
  /// "buffer<vec<f32, 3>, 2>", "i32", "@grid"
  std::string TypeText(const adrt_bundle* bundle) const;
};

struct KernelPrints;

struct Kernel {
  const adrt_kernel* handle = nullptr;
  adrt_kernel_report report;
  std::vector<Param> params;
  std::shared_ptr<const KernelPrints> prints = {};  ///< its prints; null: none
  const Param* Find(std::string_view name) const;
};

/// The kernels, with the facts that the loader and the section of prints state of them.
std::vector<Kernel> AllKernels(const adrt_bundle* bundle);

/// The reason for which code of bundles may run: --trust, or a signature by a key of --key. Code that this
/// process has compiled from source needs neither.
struct Trust {
  bool all = false;
  bool confined = false;           ///< neither trusted nor signed: code runs where the device confines it
  std::vector<uint8_t> keys = {};  ///< Ed25519 public keys of 32 bytes
  bool operator==(const Trust&) const = default;
};

class CommandLine;

/// How a source file is read.
struct SourceOptions {
  std::vector<std::string> include_dirs = {};  ///< where imports and headers are looked for
  std::vector<std::string> import_dirs = {};   ///< where they may come from as well
  std::vector<std::string> defines = {};  ///< of C++ and shaders: macros; of .ir files: constants and types
  std::vector<std::string> clang_arguments = {};  ///< of C++: the words after `--`
  std::vector<std::string> diff = {};             ///< of shaders: members of blocks that have an adjoint
  std::string entry = {};                         ///< of shaders: the entry point

  /// -I, --allow-imports, -D, --diff, --entry and `--`.
  void AddTo(CommandLine& line);
};

/// --diff and --entry: the facts that a shader's text does not state.
void AddShaderOptions(CommandLine& line, std::vector<std::string>* diff, std::string* entry);
/// --allow-imports.
void AddAllowImports(CommandLine& line, std::vector<std::string>* folders);
/// "x,loss"
std::string TakeNames(std::string_view list, std::vector<std::string>* names);

/// A bundle from a file, or from source that is compiled in memory for this machine. kExitOk, or the
/// exit code after the reason was printed. The bundle holds the bytes.
struct OpenOptions : SourceOptions {
  Trust trust = {};
  bool compile_ir = true;        ///< take .ir files as well
  bool derive_tangents = false;  ///< for .ir files: derive k.jvp too
  /// For source files: derive what running this kernel takes (a k.grad, k.jvp4 or k.grad.jvp, say; empty: the
  /// only one that is not derived), and nothing else; none: every gradient.
  std::optional<std::string> derive_for = {};
  bool tangent_where_named = false;       ///< not where a function names a derivative for reverse mode only
  std::vector<std::string> targets = {};  ///< for .ir files; none: the processor that runs this
  std::string float_mode = {};            ///< for .ir files: strict, contract (as where it is empty) or fast
  std::string simd = {};                  ///< for .ir files: off (as where it is empty), auto, or a number
  bool check_bounds = false;
  bool check_writes = false;
  bool save_overwritten = false;
  bool deterministic = false;
  bool keep_going = false;  ///< for .ir files: leave out targets that cannot express a kernel
  bool bounds_record = false;
  bool prints = false;      ///< for source files: kernels record what they print
  uint32_t checkpoint = 0;  ///< for source files: as driver::CompileOptions has it
  /// For source files: the name in messages and places of a file whose name begins so.
  std::vector<std::pair<std::string, std::string>> prefix_map = {};
  /// For source files: gets all that the compiler says of them but the bytes; null: nothing.
  product::Product* product = nullptr;
};
/// --check-bounds, which is the default of commands that run what they compile, and --no-check-bounds.
struct BoundsOption {
  bool check = false, leave = false;
  void AddTo(CommandLine& line);
  /// Into options.check_bounds. kExitOk, or the exit code after a contradiction was printed.
  int Take(OpenOptions* options) const;
};
/// --simd, of commands that run what they compile.
void AddSimdOption(CommandLine& line, std::string* simd);
int OpenBundle(const std::string& path, const OpenOptions& options, Bundle* bundle);
/// Whether the code of the bundle at `path` may run; the remedy is printed where not.
bool MayRun(const std::string& path, const adrt_bundle* bundle, const Trust& trust);
/// The trust in a bundle that is opened from `path`: a bundle that was compiled here is trusted.
Trust TrustFor(const std::string& path, const OpenOptions& options);
/// Only its bytes.
int ReadBundle(const std::string& path, const OpenOptions& options, std::vector<uint8_t>* bytes);
/// The bundle of these bytes, which it copies.
adrt_status OpenBytes(const std::vector<uint8_t>& bytes, const Trust& trust, Bundle* bundle,
                      adrt_error* error);

/// The kernel named `name`, or the only primal kernel where `name` is empty. kExitOk, or the exit code after
/// the reason was printed. Where the bundle `derives` gradients only when they are asked for (it was made of
/// a source file), the reason names them too.
int FindKernel(const adrt_bundle* bundle, const std::string& name, Kernel* kernel, bool derives = false);

}  // namespace adc::tool
