#ifndef ADRT_PYTHON_KEYS_H
#define ADRT_PYTHON_KEYS_H

#include <cstdint>
#include <vector>

#include "python_api.h"

namespace adrt_python {

/// The bytes of public keys, one after the other: each is given as a file of `adc sign --new-key`, or as 32
/// bytes. False with a Python exception.
bool ReadKeys(PyObject* keys, std::vector<uint8_t>* bytes);

}  // namespace adrt_python

#endif
