#pragma once
// How far a module is on the way from text to Phase::Scalar: the forms that the passes of that way rely on,
// and that the verifier asks of every later phase.

#include "diag/diagnostics.h"
#include "ir/function.h"

namespace adc::verify {

/// Each form has what those above it have as well. In kernels, but for NoExits, which functions have too.
enum class Form : uint8_t {
  Any,       ///< all that text may hold
  NoExits,   ///< no `break` and no `continue`
  Inlined,   ///< no call but those of functions with derivatives of their own, and of these derivatives
  Unrolled,  ///< no loop is marked `unroll`
  Flat,      ///< `parallel` stands at the top level
  Scalars,   ///< registers and local arrays hold scalars, and random numbers are arithmetic
  Narrowed,  ///< no parameter is marked `if_read`
  Isolated,  ///< no value crosses from one task to another
};

/// Reports (E0207) what keeps a sound module from a form, all that there is; true where nothing does. The
/// phase of the module asks for a form as well, which is not looked at here.
bool CheckForm(const ir::Module& module, Form form, diag::Diagnostics& diagnostics);

}  // namespace adc::verify
