#ifndef ADRT_PYTHON_OUTPUTS_H
#define ADRT_PYTHON_OUTPUTS_H

#include <cstdint>
#include <vector>

#include "python_api.h"

namespace adrt_python {

/// An array of a type of the loader's, filled with a number, null: with zeros. `example` is an array whose
/// library and device are used, null: NumPy's. Null with a Python exception.
Ref MakeArray(PyObject* example, const std::vector<int64_t>& shape, uint32_t type, PyObject* number);

}  // namespace adrt_python

#endif
