#ifndef ADRT_PYTHON_OUTPUTS_H
#define ADRT_PYTHON_OUTPUTS_H

#include <cstdint>
#include <vector>

#include "python_api.h"

namespace adrt_python {

/// An array of zeros of a type of the loader's. `example` is an array whose library and device are used,
/// null: NumPy's. Null with a Python exception.
Ref MakeZeros(PyObject* example, const std::vector<int64_t>& shape, uint32_t type);

}  // namespace adrt_python

#endif
