#ifndef ADRT_PYTHON_NUMBERS_H
#define ADRT_PYTHON_NUMBERS_H

#include <adrt/adrt.h>

#include <string>

#include "python_api.h"

namespace adrt_python {

/// Whether a Python object is a number of Python's: arrays without axes, NumPy's numbers among them, are
/// memory.
bool IsNumber(PyObject* object);

/// Writes a number into the bytes of a scalar. Where it is none of the type's, `wanted` says what would be,
/// and the exception that says why may be under way.
bool WriteNumber(PyObject* value, uint32_t type, unsigned char* bytes, std::string* wanted);

/// A vector or a matrix, row by row, of a sequence of numbers or of rows.
bool WriteNumbers(PyObject* value, const adrt_param_report& param, unsigned char* bytes, std::string* wanted);

}  // namespace adrt_python

#endif
