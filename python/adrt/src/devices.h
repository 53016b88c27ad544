#ifndef ADRT_PYTHON_DEVICES_H
#define ADRT_PYTHON_DEVICES_H

#include <adrt/adrt.h>

#include <string>

#include "array_view.h"
#include "python_api.h"

namespace adrt_python {

struct Device {
  adrt_device* handle = nullptr;
  Place place;
};

/// The device on which memory lies, opened at its first use and then for as long as the process runs: the CPU
/// with a worker per processor, the primary context of a CUDA device, which is the one that PyTorch and CuPy
/// use. Null with a Python exception.
Device* FindDevice(const Place& place);

/// In a child of fork, which has none of the threads: devices are opened anew at their next use, and plans on
/// the old ones are not used again.
void ForgetDevices();

/// The devices of this machine, as a list of dicts. Kinds that have none have an entry with the reason.
PyObject* ListDevices(PyObject* module, PyObject* unused);

}  // namespace adrt_python

#endif
