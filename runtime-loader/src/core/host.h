#pragma once

#include "core/handles.h"

namespace adrt {

/// The caller's host with defaults filled in; null is the C library without trust. False: its struct_size is
/// wrong, or only one of allocate and release is given.
bool MakeHost(const adrt_host* from, Host* host, adrt_error* error);

void Log(const Host& host, const char* text);

}  // namespace adrt
