#pragma once
// Where commands that take bundles take .ir files as well: the only step of theirs that needs the compiler,
// so that they can be linked without it (tools/adc-runtime).

#include "loader.h"

namespace adc::target {
struct Target;
}
namespace adc::driver {
struct CompileOptions;
}

namespace adc::tool {

/// Hands on how a source file is read.
void ApplySource(const SourceOptions& source, driver::CompileOptions* compile);

/// Hands on which kernels are derived.
void ApplyDerivations(const OpenOptions& options, driver::CompileOptions* compile);

/// The value of --simd.
std::string TakeSimd(std::string_view word, uint16_t* simd);

/// The value of --checkpoint: a number of iterations, or auto.
std::string TakeCheckpoint(std::string_view word, uint32_t* checkpoint);

/// Whether this program writes code for a target; in a program without the compiler: whether others do.
bool WritesCodeFor(const target::Target& target);

/// Compiles the file at `path` in memory into the bytes of a bundle. kExitOk, or the exit code after the
/// reason was printed.
int CompileSource(const std::string& path, const OpenOptions& options, std::vector<uint8_t>* bytes);

}  // namespace adc::tool
