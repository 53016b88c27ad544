#pragma once
// A task as an entry function: its prologue, then its iterations, one after the other, in steps of the number
// of threads.

#include "analysis/tasks.h"
#include "codegen/spirv/body.h"

namespace adc::codegen::spirv {

/// Emits the whole task and ends the function. Gives the number of iterations that a workgroup may run
/// together (common/wave_teams.h); 0: not in this way.
uint32_t EmitTask(const analysis::Task& task, Environment& environment, ValueTable& values,
                  StatusReporter& status, MemoryEmitter& memory, BodyEmitter& body, uint32_t block_size);

/// The axes of a dispatch that the counters of a loop run along; none where the loop is not one iteration
/// per invocation of a shader.
std::vector<uint32_t> InvocationAxes(const ir::Module& module, const ir::Function& kernel, ir::Inst loop);

}  // namespace adc::codegen::spirv
