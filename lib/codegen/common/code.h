#pragma once
// The input and the output of a back end, for every target.
//
//   Result<TargetCode> EmitX(const ir::Module&, std::span<const KernelToEmit>, const CodeConfig&)
//
// Requires of every back end: a module in phase Raised, for its target. Guarantees: the same bytes for the
// same module and configuration, whatever the folder, the number of threads or the run; one entry point per
// task, all kernels of a target in one module. Breaks: nothing, the module is only read. Fails where
// something cannot be generated for the target, with its place and the remedy.

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "codegen/common/config.h"
#include "diag/result.h"
#include "diag/source.h"
#include "ir/function.h"
#include "target/target.h"

namespace adc::codegen {

/// The places of the adstacks of one task among its adstack cells (artifact/cpu_abi.h) or words
/// (artifact/gpu_abi.h).
struct TaskRows {
  uint32_t groups = 0;  ///< number of claim groups
  /// Per group: a thread takes a row when it first comes to its claim, and none where it never does. Matters
  /// on devices alone; a CPU's worker owns one row of every group.
  std::vector<bool> gated = {};
  /// Per stack number: its position among the stacks that have a row; ir::kNoAttr for one held in private
  /// memory.
  std::vector<uint32_t> row_position = {};

  bool IsGated(uint32_t group) const { return group < gated.size() && gated[group]; }
};

struct KernelToEmit {
  const ir::Function* kernel = nullptr;
  std::vector<TaskRows> tasks = {};  ///< one per task, or none where no task has a row
  std::vector<uint32_t> block_size =
      {};  ///< per task: the size that its `parallel` asks for; 0 or missing: the target's

  /// Of a task; null: it has none.
  const TaskRows* RowsOf(size_t task) const { return task < tasks.size() ? &tasks[task] : nullptr; }
  uint32_t BlockSizeOf(size_t task) const { return task < block_size.size() ? block_size[task] : 0; }
};

struct CodeConfig {
  target::Target target;
  /// SPIR-V, by SPIRV-Tools: the time that takes grows with the square of a task's size.
  bool validate = true;
  uint32_t optimise = 2;  ///< 0 to 3
  FloatMode float_mode = FloatMode::Contract;
  bool debug_lines = false;                      ///< line tables that name the files of the source
  const diag::SourceManager* sources = nullptr;  ///< needed for debug_lines
  std::string directory = ".";  ///< written into the line tables as the folder of compilation
  std::string producer = "adc";
  std::string libdevice;  ///< NVIDIA: file of a math library in bitcode; empty: the one that comes with LLVM
  /// SPIR-V of kernels that were read from shaders: descriptors where the shader has them, the others in
  /// `adjoint_set` (codegen/common/shader_layout.h).
  bool keep_bindings = false;
  uint32_t adjoint_set = 0;
  std::string triple;  ///< CPU: the system that the object is for, as LLVM names it; empty: Linux
  std::string prefix;  ///< CPU: the prefix of the entries' names in the object; the metadata is without it
  bool want_object = true;  ///< CPU
  bool want_image = true;   ///< CPU; implies the object
  bool want_llvm_text = false;
};

struct StepTime {
  std::string name;  ///< "emit", "optimise", "select", "link"
  double seconds = 0;
};

/// Measures the steps of a back end.
class Stopwatch {
 public:
  explicit Stopwatch(std::vector<StepTime>& steps) : steps_(steps) {}
  /// Ends a step that began when the last one ended.
  void Lap(const char* name) {
    auto now = std::chrono::steady_clock::now();
    steps_.push_back({name, std::chrono::duration<double>(now - start_).count()});
    start_ = now;
  }

 private:
  std::vector<StepTime>& steps_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

enum class PayloadKind : uint8_t {
  Object,  ///< relocatable object, for linking
  Image,   ///< position-independent shared image of the same code
  Ptx,
  Hsaco,
  Spirv,
  Msl,
};

struct Payload {
  PayloadKind kind = PayloadKind::Object;
  std::vector<uint8_t> bytes;
};

/// The meaning of a binding of an entry (artifact/gpu_abi.h).
enum class BindingOf : uint8_t { Param, Words, Heap, Status };

/// A descriptor of set 0 (Vulkan), or a buffer index (Metal).
struct Binding {
  uint32_t number = 0;
  BindingOf of = BindingOf::Param;
  uint32_t param = 0;                   ///< of == Param: which one
  ir::Scalar scalar = ir::Scalar::U32;  ///< type of the elements that the code sees through it
  uint32_t set = 0;                     ///< Vulkan, with CodeConfig::keep_bindings
};

/// Copies of buffers in a CPU worker's row, after the task's stacks: the worker sums into them beside others.
struct SumCopies {
  std::vector<uint32_t> params;      ///< the buffers; none where the code has no use for copies
  uint64_t bytes_per_iteration = 0;  ///< copies of more bytes for an iteration of the launch cost too much
  diag::SourceSpan place;            ///< of the first update
};

/// The code of one task.
struct EntryCode {
  std::string symbol;
  std::string far_symbol;     ///< Vulkan: the same with every buffer at a device address; empty where none
  uint32_t block_size = 0;    ///< threads of a block; CPU: iterations worth waking a worker for, 0: not known
  uint32_t shared_bytes = 0;  ///< memory shared by a block
  bool team = false;          ///< the threads of a block run an iteration together
  /// Loops of `kernel`, as the back end was given it, whose turns the threads of a block share where a launch
  /// has them run iterations together; empty where the code has no such form.
  std::vector<ir::Inst> spread;
  uint32_t team_lanes =
      0;  ///< the number of iterations that a block may run together (wave_teams.h); 0: not in this way
  const ir::Function* kernel = nullptr;
  std::vector<Binding> bindings;
  SumCopies copies;
};

struct TargetCode {
  std::vector<Payload> payloads;
  std::string llvm_text;                        ///< after the optimiser, where it was wanted
  std::vector<std::vector<EntryCode>> entries;  ///< of each task of each kernel
  std::vector<std::string> features;            ///< features of the device beyond those of the target, sorted
  std::vector<StepTime> steps;
  std::vector<diag::Diagnostic> warnings;

  bool HasTeams() const {
    for (const std::vector<EntryCode>& tasks : entries) {
      for (const EntryCode& entry : tasks) {
        if (entry.team) return true;
      }
    }
    return false;
  }
  const Payload* Find(PayloadKind kind) const {
    for (const Payload& payload : payloads) {
      if (payload.kind == kind) return &payload;
    }
    return nullptr;
  }
};

}  // namespace adc::codegen
