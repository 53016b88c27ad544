#ifndef ADRT_PYTHON_DLPACK_H
#define ADRT_PYTHON_DLPACK_H

#include <cstdint>

// The structs of DLPack, the exchange of tensors between libraries, as its specification lays them out in
// memory (version 1.0; a capsule named "dltensor" has no version and no flags).
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

}  // namespace adrt_python::dlpack

#endif
