#ifndef ADRT_PYTHON_XLA_CALL_H
#define ADRT_PYTHON_XLA_CALL_H

#include "kernel_state.h"
#include "python_api.h"

namespace adrt_python {

/// Makes a kernel with these options known to the handlers, for as long as the process runs: programs that
/// JAX has compiled may call it until then. With `on_cpu` its code for the CPU is loaded now, so that calls
/// there never wait for Python's lock; code for other devices is loaded by the first call on each. A name
/// that says what it runs, a str; None where its launches need Python (memory from a function) or a stream.
/// Null with a Python exception.
PyObject* NameForXla(PyObject* bundle, KernelState& kernel, const Options& options, bool on_cpu);

/// The handlers of XLA's foreign function interface that run such kernels, as a tuple of capsules: on the
/// CPU, on CUDA.
PyObject* XlaHandlers(PyObject* module, PyObject* unused);

}  // namespace adrt_python

#endif
