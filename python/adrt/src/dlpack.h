#ifndef ADRT_PYTHON_DLPACK_H
#define ADRT_PYTHON_DLPACK_H

#include <cstdint>

// The structs of DLPack, the exchange of tensors between libraries, as its specification lays them out in
// memory (version 1; a capsule named "dltensor" has no version and no flags).
namespace adrt_python::dlpack {

enum DeviceType : int32_t { kCpu = 1, kCuda = 2, kCudaHost = 3, kHip = 10, kHipHost = 11, kCudaManaged = 13 };

enum TypeCode : uint8_t { kInt = 0, kUnsigned = 1, kFloat = 2, kBool = 6 };

struct Tensor {
  void* data;
  int32_t device_type;
  int32_t device_index;
  int32_t axes;
  uint8_t type_code;
  uint8_t bits;
  uint16_t lanes;
  const int64_t* shape;
  const int64_t* strides;  ///< in elements; null: contiguous
  uint64_t byte_offset;
};

struct Managed {
  Tensor tensor;
  void* context;
  void (*deleter)(Managed*);
};

constexpr uint64_t kReadOnly = 1;

struct Versioned {
  uint32_t major, minor;
  void* context;
  void (*deleter)(Versioned*);
  uint64_t flags;
  Tensor tensor;
};

/// Since version 1.2, in the capsule "dlpack_exchange_api" that a library's type of arrays has: the functions
/// that give a tensor without calls of Python's.
struct Exchange {
  uint32_t major, minor;
  Exchange* previous;
  void* allocate;
  void* from_object;
  void* to_object;
  /// 0, and a tensor that lives no longer than the object; or an exception. It waits for nothing. May be
  /// null.
  int (*tensor_of)(void* object, Tensor* tensor);
  /// The stream that the library works in; a null one is the default stream.
  int (*current_stream)(int32_t device_type, int32_t device_index, void** stream);
};

}  // namespace adrt_python::dlpack

#endif
