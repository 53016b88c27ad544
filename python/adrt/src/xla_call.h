#ifndef ADRT_PYTHON_XLA_CALL_H
#define ADRT_PYTHON_XLA_CALL_H

#include "kernel_state.h"
#include "python_api.h"

namespace adrt_python {

/// Makes a kernel with these options known to the handler, for as long as the process runs: programs that JAX
/// has compiled may call it until then. A name that says what it runs, a str; None where its launches need
/// Python (memory from a function) or a stream. Null with a Python exception.
PyObject* NameForXla(PyObject* bundle, KernelState& kernel, const Options& options);

/// The handler of XLA's foreign function interface that runs such kernels, as a capsule.
PyObject* XlaHandler(PyObject* module, PyObject* unused);

}  // namespace adrt_python

#endif
