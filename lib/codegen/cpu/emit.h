#pragma once
// CPU code: one entry function per task, after artifact/cpu_abi.h, in an object and in an image that the
// loader maps.
//
// What it does: emits each task of each kernel as LLVM IR, optimises, writes an object file, and links it
// into a position-independent image that imports nothing but the functions of artifact/math_imports.def.
//
// Requires: a module in phase Lowered. Guarantees: the same bytes for the same module and configuration,
// whatever the folder, the number of threads or the run. Breaks: nothing, the module is only read.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "codegen/common/config.h"
#include "diag/result.h"
#include "ir/module.h"
#include "target/target.h"

namespace adc::codegen {

/// Where the adstacks of one task lie among its adstack cells.
struct TaskRows {
  uint32_t groups = 0;  ///< number of claim groups
  /// Per stack number: its position among the stacks that have a row; ir::kNoAttr for one held in private
  /// memory.
  std::vector<uint32_t> row_position;
};

struct KernelToEmit {
  const ir::Function* kernel = nullptr;
  std::vector<TaskRows> tasks;  ///< one per task, or none where no task has a row
};

struct CpuConfig {
  target::Target target;
  uint32_t optimise = 2;  ///< 0 to 3
  FloatMode float_mode = FloatMode::Contract;
  bool check_bounds = false;
  bool assertions = false;                       ///< a debug build of the artifact: `assert` is compiled
  bool debug_lines = false;                      ///< line tables that name the .ir files
  const diag::SourceManager* sources = nullptr;  ///< needed for debug_lines
  std::string directory = ".";  ///< written into the line tables as the folder of compilation
  std::string producer = "adc";
  bool want_object = true;
  bool want_image = true;  ///< implies the object
  bool want_llvm_text = false;
};

struct StepTime {
  std::string name;  ///< "emit", "optimise", "select", "link"
  double seconds = 0;
};

struct CpuCode {
  std::vector<uint8_t> object;
  std::vector<uint8_t> image;
  std::string llvm_text;                          ///< after the optimiser
  std::vector<std::vector<std::string>> symbols;  ///< entry symbol of each task of each kernel
  std::vector<StepTime> steps;
  std::vector<diag::Diagnostic> warnings;
};

/// Code for `kernels` of `module`. Fails where something cannot be generated for the target, with its place
/// and the remedy, or where the linker's temporary files cannot be written.
diag::Result<CpuCode> EmitCpu(const ir::Module& module, std::span<const KernelToEmit> kernels,
                              const CpuConfig& config);

}  // namespace adc::codegen
