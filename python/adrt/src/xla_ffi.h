#ifndef ADRT_PYTHON_XLA_FFI_H
#define ADRT_PYTHON_XLA_FFI_H

#include <adrt/adrt.h>

#include <cstddef>
#include <cstdint>

/// The arguments of a handler of XLA's foreign function interface: the memory layout of its C interface 0.1
/// to 0.3, as far as adrt reads it. XLA may append fields; every structure says how long it is.
/// tests/python/test_jax.py compares it with the header of the jaxlib that is installed.
namespace adrt_python::xla {

constexpr int kMajor = 0, kOldestMinor = 1, kNewestMinor = 3;

struct Extension {
  size_t struct_size;
  uint32_t kind;
  Extension* next;
};
constexpr uint32_t kMetadata = 1;

struct Version {
  size_t struct_size;
  Extension* extensions;
  int major_version, minor_version;
};

/// Written by the handler, when it is registered.
struct Metadata {
  size_t struct_size;
  Version version;
  uint32_t traits;
};

struct MetadataExtension {
  Extension base;
  Metadata* metadata;
};

struct Error;    // XLA's own
struct Context;  // of a call, XLA's own

enum class Code : uint32_t { kInvalidArgument = 3, kNotFound = 5, kResourceExhausted = 8, kInternal = 13 };

struct ErrorArgs {
  size_t struct_size;
  Extension* extensions;
  const char* message;
  Code code;
};

/// Gets the stream of the platform's driver in which a call's results are made.
struct StreamArgs {
  size_t struct_size;
  Extension* extensions;
  Context* context;
  void* stream;
};

/// Memory of the call's device, in the order of its stream: freed memory may be given to later work there.
struct MemoryArgs {
  size_t struct_size;
  Extension* extensions;
  Context* context;
  size_t bytes;
  size_t alignment;
  void* data;
};

/// To free memory.
struct FreeArgs {
  size_t struct_size;
  Extension* extensions;
  Context* context;
  size_t bytes;
  void* data;
};

struct Api {
  size_t struct_size;
  Extension* extensions;
  Version version;
  const void* internal;
  Error* (*create_error)(ErrorArgs*);
  const void* unused[3];
  Error* (*get_stream)(StreamArgs*);
  const void* unused_too[4];
  Error* (*allocate)(MemoryArgs*);
  Error* (*free)(FreeArgs*);
};

struct Buffer {
  size_t struct_size;
  Extension* extensions;
  uint32_t type;
  void* data;
  int64_t rank;
  int64_t* extents;
};
constexpr uint32_t kBuffer = 1;  // kind of an argument, and of a result

// Types of elements have the loader's numbers.
static_assert(ADRT_TYPE_I1 == 1 && ADRT_TYPE_I8 == 2 && ADRT_TYPE_I64 == 5 && ADRT_TYPE_U8 == 6 &&
              ADRT_TYPE_U64 == 9 && ADRT_TYPE_F16 == 10 && ADRT_TYPE_F32 == 11 && ADRT_TYPE_F64 == 12);

/// Arguments, and results.
struct Buffers {
  size_t struct_size;
  Extension* extensions;
  int64_t count;
  uint32_t* kinds;
  void** items;
};

struct Span {
  const char* text;
  size_t size;
};

struct Array {
  uint32_t type;
  size_t count;
  void* data;
};

struct Attributes {
  size_t struct_size;
  Extension* extensions;
  int64_t count;
  uint32_t* kinds;
  Span** names;
  void** items;
};
constexpr uint32_t kArray = 1, kString = 4;  // kinds of attributes

struct CallFrame {
  size_t struct_size;
  Extension* extensions;
  const Api* api;
  Context* context;
  uint32_t stage;
  Buffers arguments;
  Buffers results;
  Attributes attributes;
};
constexpr uint32_t kExecute = 3;  // stage

}  // namespace adrt_python::xla

#endif
