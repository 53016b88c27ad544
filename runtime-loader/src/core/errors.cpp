#include "core/errors.h"

#include <cstring>

namespace adrt {

void Clear(adrt_error* error) {
  uint32_t size = error->struct_size;
  std::memset(error, 0, sizeof *error);
  error->struct_size = size;
  error->section = artifact::kNoSection;
}

bool CopyDescriptorBytes(const void* from, void* to, size_t size, size_t reserved) {
  constexpr uint32_t kLargest = 1u << 12;
  uint32_t given = 0;
  std::memcpy(&given, from, sizeof given);
  if (given < sizeof given || given > kLargest) return false;
  std::memcpy(to, from, given < size ? given : size);
  uint32_t own = static_cast<uint32_t>(size);
  std::memcpy(to, &own, sizeof own);
  // The bytes after this version's struct belong to a newer one.
  const unsigned char* bytes = static_cast<const unsigned char*>(from);
  for (size_t at = reserved; at < given; ++at) {
    if (bytes[at] != 0) return false;
  }
  return true;
}

bool RefuseWith(adrt_error* error, adrt_status status, artifact::Message prefix, artifact::Message message) {
  if (error && error->struct_size >= sizeof(adrt_error)) {
    Clear(error);
    error->status = status;
    artifact::TextWriter writer(error->text, sizeof error->text);
    for (const artifact::MessagePart& part : prefix) part.Write(writer);
    for (const artifact::MessagePart& part : message) part.Write(writer);
  }
  return false;
}

adrt_status FailWith(adrt_error* error, adrt_status status, artifact::Message message) {
  RefuseWith(error, status, {}, message);
  return status;
}

void AddContext(adrt_error& error, artifact::Message where) {
  char text[sizeof error.text];
  std::memcpy(text, error.text, sizeof text);
  artifact::TextWriter writer(error.text, sizeof error.text);
  for (const artifact::MessagePart& part : where) part.Write(writer);
  writer << text;
}

void PassOn(const adrt_error& from, adrt_error* to) {
  if (!to || to->struct_size < sizeof(adrt_error)) return;
  uint32_t size = to->struct_size;
  *to = from;
  to->struct_size = size;
}

adrt_status OutOfMemory(adrt_error* error) {
  return Fail(error, ADRT_ERROR_OUT_OF_HOST_MEMORY,
              "the host's allocator refused memory, or did not align it as asked");
}

adrt_status FromArtifact(const artifact::Error& from, adrt_error* error) {
  adrt_status status = ADRT_ERROR_MALFORMED;
  switch (from.code) {
    case artifact::Code::kOk:
    case artifact::Code::kMalformed:
      break;
    case artifact::Code::kArgument:
      status = ADRT_ERROR_ARGUMENT;
      break;
    case artifact::Code::kOutOfMemory:
      status = ADRT_ERROR_OUT_OF_HOST_MEMORY;
      break;
    case artifact::Code::kBadMagic:
      status = ADRT_ERROR_BAD_MAGIC;
      break;
    case artifact::Code::kTruncated:
      status = ADRT_ERROR_TRUNCATED;
      break;
    case artifact::Code::kCorrupt:
      status = ADRT_ERROR_CORRUPT;
      break;
    case artifact::Code::kOverLimit:
      status = ADRT_ERROR_OVER_LIMIT;
      break;
    case artifact::Code::kVersion:
      status = ADRT_ERROR_VERSION;
      break;
    case artifact::Code::kUnsupported:
      status = ADRT_ERROR_UNSUPPORTED;
      break;
  }
  Fail(error, status, from.message());
  if (error && error->struct_size >= sizeof(adrt_error)) {
    error->section = from.section;
    error->offset = from.offset;
    error->rule = static_cast<uint32_t>(from.rule);
  }
  return status;
}

}  // namespace adrt

uint32_t adrt_version(void) {
  return ADRT_VERSION;
}

const char* adrt_status_text(adrt_status status) {
  switch (status) {
    case ADRT_OK:
      return "ok";
    case ADRT_ERROR_ARGUMENT:
      return "wrong argument";
    case ADRT_ERROR_OUT_OF_HOST_MEMORY:
      return "out of host memory";
    case ADRT_ERROR_OUT_OF_DEVICE_MEMORY:
      return "out of device memory";
    case ADRT_ERROR_NOT_FOUND:
      return "not found";
    case ADRT_ERROR_BAD_MAGIC:
      return "not a bundle";
    case ADRT_ERROR_TRUNCATED:
      return "truncated";
    case ADRT_ERROR_CORRUPT:
      return "corrupt";
    case ADRT_ERROR_MALFORMED:
      return "malformed";
    case ADRT_ERROR_OVER_LIMIT:
      return "over a limit";
    case ADRT_ERROR_VERSION:
      return "other version";
    case ADRT_ERROR_UNSUPPORTED:
      return "unsupported";
    case ADRT_ERROR_UNTRUSTED:
      return "untrusted";
    case ADRT_ERROR_NO_TARGET:
      return "no target for this device";
    case ADRT_ERROR_DEVICE_FEATURE:
      return "device lacks a feature";
    case ADRT_ERROR_INTERFACE_MISMATCH:
      return "interface mismatch";
    case ADRT_ERROR_DRIVER:
      return "driver error";
    case ADRT_ERROR_DEVICE_LOST:
      return "device lost";
    case ADRT_ERROR_SIZE_OVERFLOW:
      return "size overflow";
    case ADRT_ERROR_NEEDS_DEVICE_DATA:
      return "needs device data";
    case ADRT_ERROR_HEAP_TOO_SMALL:
      return "heap too small";
    case ADRT_ERROR_ADSTACK_OVERFLOW:
      return "adstack overflow";
    case ADRT_ERROR_ASSERTION:
      return "assertion failed";
    case ADRT_ERROR_INDEX_OUT_OF_BOUNDS:
      return "index out of bounds";
    case ADRT_ERROR_WRITE_PROMISE:
      return "write promise broken";
    case ADRT_ERROR_BOUNDS_CHANGED:
      return "bounds changed";
    case ADRT_ERROR_ROWS_EXHAUSTED:
      return "rows exhausted";
    case ADRT_ERROR_CANCELLED:
      return "cancelled";
    default:
      return "unknown status";
  }
}
