#pragma once
// Filling the caller's adrt_error, and reading its descriptors of any size.

#include <adrt/adrt.h>

#include <cstddef>
#include <cstring>

#include "artifact/error.h"

namespace adrt {

namespace artifact = adc::artifact;

/// An error with nothing said yet.
void Clear(adrt_error* error);

/// Fills `error` (which may be null) and gives the status back.
adrt_status FailWith(adrt_error* error, adrt_status status, artifact::Message message);

/// The same with the parts one after the other: `return Fail(error, ADRT_ERROR_ARGUMENT, "plan: ", ...)`.
template <class... Parts>
ADC_ALWAYS_INLINE adrt_status Fail(adrt_error* error, adrt_status status, const Parts&... parts) {
  const artifact::MessagePart list[] = {artifact::MessagePart(parts)...};
  return FailWith(error, status, list);
}

/// The same for internal functions that return bool.
template <class... Parts>
ADC_ALWAYS_INLINE bool Refuse(adrt_error* error, adrt_status status, const Parts&... parts) {
  const artifact::MessagePart list[] = {artifact::MessagePart(parts)...};
  FailWith(error, status, list);
  return false;
}

/// For a checker that says the same thing first in each message: `prefix`, then the message.
bool RefuseWith(adrt_error* error, adrt_status status, artifact::Message prefix, artifact::Message message);

/// Puts `where` in front of the text of an error that was reported.
void AddContext(adrt_error& error, artifact::Message where);

/// Copies an error that a function noted for itself into the caller's.
void PassOn(const adrt_error& from, adrt_error* to);

adrt_status OutOfMemory(adrt_error* error);

/// The caller's error where it can take details, else `own`: never null, so that functions may read it.
inline adrt_error* DetailsOf(adrt_error* error, adrt_error* own) {
  own->struct_size = sizeof *own;
  return error && error->struct_size >= sizeof(adrt_error) ? error : own;
}

/// A failure of the artifact format as the loader reports it.
adrt_status FromArtifact(const artifact::Error& from, adrt_error* error);

/// The text about a descriptor that CopyDescriptor refuses.
inline constexpr char kNotSet[] = "struct_size is wrong, or a reserved word is not zero";

/// CopyDescriptor without types: `reserved` is where the reserved words begin in `to`, which is all zero.
bool CopyDescriptorBytes(const void* from, void* to, size_t size, size_t reserved);

/// Copies what the caller filled of a descriptor; the rest stays zero. False where struct_size is not
/// plausible, or where the caller asks for what this version does not know: by a reserved word, or after the
/// end of the struct.
template <class T>
bool CopyDescriptor(const T* from, T* to) {
  return CopyDescriptorBytes(from, to, sizeof(T), offsetof(T, reserved));
}

/// CopyDescriptor of an element of a caller's array, whose stride is the struct_size of each: one of another
/// size is refused, and a stride by which elements would not lie where their type must.
template <class T>
bool CopyElement(const T* first, uint32_t index, T* to) {
  uint32_t stride = first->struct_size;
  if (stride % alignof(T) != 0) return false;
  const auto* place = reinterpret_cast<const unsigned char*>(first) + size_t{index} * stride;
  const T* from = reinterpret_cast<const T*>(place);
  return from->struct_size == stride && CopyDescriptor(from, to);
}

/// Writes a report into a caller's struct that may be older, hence smaller, than this one.
template <class T>
bool CopyReport(const T& from, T* to) {
  uint32_t size = to->struct_size;
  if (size < sizeof(uint32_t)) return false;
  std::memcpy(to, &from, size < sizeof(T) ? size : sizeof(T));
  to->struct_size = size;
  return true;
}

}  // namespace adrt
