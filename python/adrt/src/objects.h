#ifndef ADRT_PYTHON_OBJECTS_H
#define ADRT_PYTHON_OBJECTS_H

#include "bundle_state.h"
#include "call.h"
#include "python_api.h"

namespace adrt_python {

/// adrt.Bundle.
struct BundleObject {
  PyObject_HEAD BundleState* state;
};

/// adrt.Kernel: keeps its bundle alive.
struct KernelObject {
  PyObject_HEAD PyObject* bundle;
  KernelState* state;
  Options options;
};

/// Adds the types to the module. False with a Python exception.
bool AddBundleType(PyObject* module);
bool AddKernelType(PyObject* module);
bool AddSizeType(PyObject* module);

/// adrt.load.
PyObject* Load(PyObject* module, PyObject* args, PyObject* keywords);

/// A kernel of the bundle by its name; null with a Python exception.
PyObject* MakeKernel(PyObject* bundle, const std::string& name, const Options& options);

/// The arguments of Kernel.on and Kernel.size. False where it is none; an exception may be under way.
bool TakeThreads(PyObject* value, Options* options);
bool TakeBudget(PyObject* value, Options* options);

/// The memory of a launch for these shapes: Kernel.size.
PyObject* SizeOf(KernelState& kernel, Options options, PyObject* keywords);

/// The bytes of a file, read by Python, whose exceptions name the file.
Ref ReadFile(PyObject* path);

/// A list of strings.
Ref ToList(const std::vector<std::string>& words);

}  // namespace adrt_python

#endif
