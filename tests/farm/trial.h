#pragma once
// A batch of programs, compiled for a processor and run there, against the interpreter.

#include <functional>
#include <string>

#include "programs.h"
#include "tally.h"

namespace adc::farm {

/// Compares of each program memory after the kernel with the interpreter's; its gradient, and with
/// --derive=jvp its tangent, with the interpreter's dual numbers. Tells `differs` what differs, in words.
/// `at` is told which program it is at; a batch that is refused is compiled again, one program at a time.
void Try(const Batch& batch, Tally& tally, const std::function<void(size_t program)>& at,
         const std::function<void(const Program&, const std::string& what)>& differs);

}  // namespace adc::farm
