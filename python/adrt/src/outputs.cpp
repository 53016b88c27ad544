#include "outputs.h"

#include <adrt/adrt.h>

namespace adrt_python {
namespace {

// Found at the first allocation: NumPy takes longer to import than all of this package.
struct NumPy {
  PyObject* zeros = nullptr;
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
  numpy->zeros = PyObject_GetAttrString(module.get(), "zeros");
  return numpy->zeros ? numpy : nullptr;
}

}  // namespace

Ref MakeZeros(PyObject* example, const std::vector<int64_t>& shape, uint32_t type) {
  Ref extents(PyTuple_New(static_cast<Py_ssize_t>(shape.size())));
  if (!extents) return Ref();
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    PyObject* extent = PyLong_FromLongLong(shape[axis]);
    if (!extent || PyTuple_SetItem(extents.get(), static_cast<Py_ssize_t>(axis), extent) < 0) return Ref();
  }
  if (example) {
    Ref module(PyImport_ImportModule("adrt._allocate"));
    if (!module) return Ref();
    return Ref(PyObject_CallMethod(module.get(), "zeros", "OOs", example, extents.get(), kNames[type]));
  }
  NumPy* numpy = FindNumPy();
  if (!numpy) return Ref();
  return Ref(PyObject_CallFunctionObjArgs(numpy->zeros, extents.get(), numpy->types[type], nullptr));
}

}  // namespace adrt_python
