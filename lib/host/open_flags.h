#pragma once
// How a file is opened whose bytes are read as they come.

#include <fcntl.h>

namespace adc {

#if defined(_WIN32)
inline constexpr int kOpenToRead = O_RDONLY | O_BINARY | O_NOINHERIT;
#else
inline constexpr int kOpenToRead = O_RDONLY | O_CLOEXEC | O_NOCTTY;
#endif

}  // namespace adc
