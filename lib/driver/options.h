#pragma once
// The options of one compilation: the command line of `adc kernel.ir`, as values.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "driver/limits.h"
#include "host/exit_code.h"

namespace adc::driver {

enum class Emit : uint8_t {
  Bundle,  ///< metadata and code of every target, one file
  Object,  ///< the relocatable object of one CPU target
  Ptx,     ///< the code of one CUDA target
  Hsaco,   ///< the code object of one HIP target
  Spirv,   ///< the module of one Vulkan target
  Msl,     ///< the source text of one Metal target
  Ir,      ///< the module as text, derived kernels included, adstacks still abstract
  Llvm,    ///< LLVM's text of one target
  Json,    ///< the metadata
  Header,  ///< a C header with names, interface hashes and parameter positions
  C,       ///< the bundle as a C source (embedded_bundle.h)
};

/// How messages are printed.
enum class MessageForm : uint8_t { Text, Json, Sarif };

enum class FloatMode : uint8_t { Strict, Contract, Fast };

/// Which derived kernels are made for each kernel that has `diff` parameters.
struct Derivations {
  bool gradient = true;                       ///< k.grad
  bool tangent = false;                       ///< k.jvp
  bool gradient_tangent = false;              ///< k.grad.jvp, forward over reverse
  std::vector<uint32_t> directions;           ///< k.jvp4 and so on: as many tangents at once
  std::vector<uint32_t> gradient_directions;  ///< k.grad.jvp4: forward over reverse, as many at once
  /// No k.jvp for a kernel that calls functions which name a derivative for reverse mode only.
  bool tangent_where_named = false;
  /// Only of the kernel of this name; empty: of every one. Of the others nothing is derived, and they save
  /// nothing for a gradient.
  std::string only;
  /// Kernels save what their gradients would read where no gradient is made as well: one that runs alone.
  bool saves_alone = false;
};

inline constexpr uint32_t kCheckpointAtLaunch = UINT32_MAX;

/// How a compilation is watched.
struct WatchOptions {
  bool verify_each = false;        ///< verify after every pass
  bool time_passes = false;        ///< a table of wall time and peak memory
  std::vector<std::string> dumps;  ///< names of passes after which to print the module; "adstack": the plans
  std::string stop_after;          ///< name of the last pass to run; empty: all
  bool progress = true;            ///< a line on a terminal where a step takes long
  std::function<bool()> cancelled = {};  ///< asked before each step; true ends the compilation
};

/// CompileOptions::simd: each parallel loop as many as are estimated to be fastest.
inline constexpr uint16_t kSimdAuto = UINT16_MAX;

struct CompileOptions {
  std::vector<std::string> inputs;
  std::string output;  ///< empty: named after the input; "-": standard output
  Emit emit = Emit::Bundle;
  std::string cache_dir;     ///< of product/product_cache.h; empty: none
  bool trust_cache = false;  ///< others may write cache_dir
  std::string cache_words;   ///< the options that decide the bytes of the product, for the cache
  std::string triple;        ///< of Emit::Object: the system that it is for; empty: Linux
  std::string prefix;        ///< of Emit::Object: the beginning of the names of entries
  std::string header;        ///< a file for what Emit::Header makes, beside the output; empty: none
  std::string json;          ///< the same for Emit::Json
  uint32_t jobs = 0;         ///< back ends at once; 0: as many as the machine has processors
  /// MAKEFLAGS, which names the job server of make that has tokens; empty: there is none.
  std::optional<std::string> make_flags;
  std::vector<std::string> targets;  ///< empty: the default ones
  /// Of each Vulkan target the one with near entries alone: no device addresses, and 32-bit indices.
  bool near_entries = false;
  /// A target that was asked for and cannot express a kernel is left out with a warning, instead of an error.
  bool keep_going = false;
  uint32_t block_size = 0;  ///< threads of a block on devices, where a kernel does not say; 0: the target's
  std::string libdevice;  ///< NVIDIA: file of a math library in bitcode; empty: the one that comes with LLVM
  Derivations derive;
  /// Names of the parameters that derived kernels differentiate, of those that are `diff`; empty: all of
  /// them.
  std::vector<std::string> active;
  /// Loops of gradients that keep checkpoints: those marked; or all long ones, with segments of this many
  /// iterations, kCheckpointAtLaunch: as each launch's memory allows.
  uint32_t checkpoint = 0;
  bool forbid_s2 = false;     ///< a kernel that needs device data at sizing is an error
  uint16_t simd = 0;          ///< iterations side by side in vectors of processors; 0: none are
  uint32_t optimisation = 2;  ///< -O0 to -O3
  FloatMode float_mode = FloatMode::Contract;
  bool check_bounds = false;
  bool save_overwritten = false;  ///< kernels save what their gradients read of buffers that they write
  /// Memory after a launch does not depend on the order of iterations (autodiff/exact_sums.h). Floats are
  /// computed as FloatMode::Strict has it, so that iterations beside each other and alone give the same bits.
  bool deterministic = false;
  bool check_writes = false;   ///< primal kernels check the promise of `writeonce`
  bool bounds_record = false;  ///< kernels with a gradient get one that records what their loops go by
  bool keep_asserts = false;   ///< `assert` is compiled in
  bool prints = false;         ///< `print` is: kernels record what they print, in a buffer of the caller
  bool debug_info = false;
  bool want_provisions = false;              ///< Product::provisions is filled
  bool leave_out_guards = false;             ///< for measuring what they cost: no command line says so
  std::vector<std::string> clang_arguments;  ///< of C++: the words after `--`
  std::string compile_database;              ///< of C++: the folder of a compile_commands.json
  std::vector<std::string> include_dirs;
  /// `NAME=VALUE`: of text, constants and names of types that it is read with instead of its own; of shaders,
  /// macros, whose value may be left out.
  std::vector<std::string> defines;
  // Of shaders.
  std::vector<std::string> diff;                          ///< members of blocks that have an adjoint
  std::vector<std::pair<std::string, std::string>> spec;  ///< values of specialisation constants
  std::vector<std::pair<std::string, std::string>>
      samplers;  ///< how textures are read, by name of the sampler
  bool native_images =
      false;  ///< of --emit=spirv: the kernel has images as the shader has them, and no gradient
  std::optional<uint32_t> adjoint_set;   ///< of --emit=spirv; empty: the first after the shader's
  std::string entry;                     ///< the entry point; empty: `main` of a source, all of a module
  std::vector<std::string> import_dirs;  ///< folders that imports may come from as well
  Limits limits;
  std::string repro;         ///< where an internal error writes its reproduction; empty: the temporary folder
  std::string command_line;  ///< for that file
  /// Old and new head of file names; the last match wins.
  std::vector<std::pair<std::string, std::string>> prefix_map;
  bool write_depfile = false;
  std::string depfile;         ///< empty: named after the output
  std::string depfile_target;  ///< empty: the output
  bool quiet_warnings = false;
  bool warnings_are_errors = false;
  std::vector<std::string> silenced;  ///< ids of warnings not to show
  uint32_t error_limit = 20;          ///< 0: none
  MessageForm message_form = MessageForm::Text;
  std::vector<std::string>* logs = nullptr;  ///< takes logs in SARIF in place of standard error
  WatchOptions watch;
};

}  // namespace adc::driver
