#include "outputs.h"

#include <adrt/adrt.h>

namespace adrt_python {
namespace {

// Found at the first allocation: NumPy takes longer to import than all of this package.
struct NumPy {
  PyObject *zeros = nullptr, *full = nullptr;
  PyObject* types[ADRT_TYPE_F64 + 1] = {};
};

constexpr const char* kNames[] = {nullptr,  "bool",   "int8",   "int16",   "int32",   "int64",  "uint8",
                                  "uint16", "uint32", "uint64", "float16", "float32", "float64"};

NumPy* FindNumPy() {
  static auto* numpy = new NumPy;
  if (numpy->zeros) return numpy;
  Ref module(PyImport_ImportModule("numpy"));
  if (!module) return nullptr;
  for (uint32_t type = ADRT_TYPE_I1; type <= ADRT_TYPE_F64; ++type) {
    Ref made(PyObject_CallMethod(module.get(), "dtype", "s", kNames[type]));
    if (!made) return nullptr;
    numpy->types[type] = made.release();
  }
  numpy->full = PyObject_GetAttrString(module.get(), "full");
  numpy->zeros = numpy->full ? PyObject_GetAttrString(module.get(), "zeros") : nullptr;
  return numpy->zeros ? numpy : nullptr;
}

}  // namespace

Ref MakeArray(PyObject* example, const std::vector<int64_t>& shape, uint32_t type, PyObject* number) {
  Ref extents(PyTuple_New(static_cast<Py_ssize_t>(shape.size())));
  if (!extents) return Ref();
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    PyObject* extent = PyLong_FromLongLong(shape[axis]);
    if (!extent || PyTuple_SetItem(extents.get(), static_cast<Py_ssize_t>(axis), extent) < 0) return Ref();
  }
  if (example) {
    Ref module(PyImport_ImportModule("adrt._allocate"));
    if (!module) return Ref();
    return Ref(PyObject_CallMethod(module.get(), "filled", "OOsO", example, extents.get(), kNames[type],
                                   number ? number : Py_False));
  }
  NumPy* numpy = FindNumPy();
  if (!numpy) return Ref();
  PyObject* dtype = numpy->types[type];
  if (number) return Ref(PyObject_CallFunctionObjArgs(numpy->full, extents.get(), number, dtype, nullptr));
  return Ref(PyObject_CallFunctionObjArgs(numpy->zeros, extents.get(), dtype, nullptr));
}

}  // namespace adrt_python
