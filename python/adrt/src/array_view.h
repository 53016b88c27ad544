#ifndef ADRT_PYTHON_ARRAY_VIEW_H
#define ADRT_PYTHON_ARRAY_VIEW_H

#include <adrt/adrt.h>

#include <cstdint>
#include <string>

#include "python_api.h"

namespace adrt_python {

namespace dlpack {
struct Exchange;
struct Tensor;
}  // namespace dlpack

enum class DeviceKind : uint8_t { kCpu, kCuda, kHip };

struct Place {
  DeviceKind kind = DeviceKind::kCpu;
  int32_t index = 0;  ///< -1: known to the driver alone
  bool operator==(const Place&) const = default;
};

/// "cpu", "cuda:0".
std::string NameOf(const Place& place);

/// CUDA's default stream, as DLPack and __cuda_array_interface__ call it.
constexpr uint64_t kDefaultStream = 1;

/// The memory of a Python object, without a copy: of a buffer (NumPy, bytes, memoryview), of DLPack (PyTorch,
/// JAX, CuPy), or of __cuda_array_interface__ (Numba). The object cannot release the memory as long as the
/// view lives.
class ArrayView {
 public:
  static constexpr int kMostAxes = 10;  ///< eight of a buffer, two of its elements

  enum class Outcome : uint8_t {
    kTaken,
    kNoArray,  ///< it offers memory in none of these ways
    kRefused   ///< it does, and raised an exception, which is under way
  };

  ArrayView() = default;
  ArrayView(const ArrayView&) = delete;
  ArrayView& operator=(const ArrayView&) = delete;
  ~ArrayView() { Release(); }

  /// `stream` is where a device will use the memory: a number as DLPack and __cuda_array_interface__ count
  /// streams, in which 1 is CUDA's default stream. Work that others have under way is then done before.
  Outcome Take(PyObject* object, uint64_t stream);
  void Release();
  uint64_t Bytes() const;

  void* data = nullptr;
  uint32_t type = ADRT_TYPE_NONE;  ///< NONE: of a kind that no kernel has
  int64_t item_bytes = 0;
  int32_t axes = 0;
  int64_t extents[kMostAxes] = {};
  bool read_only = false;
  bool contiguous = true;  ///< its elements lie one after the other, the last axis first
  bool is_buffer = false;
  Place place;

 private:
  Outcome TakeBuffer(PyObject* object);
  Outcome TakeOtherwise(PyObject* object, uint64_t stream);
  const dlpack::Tensor* TensorOfHolder();
  Outcome TakeExchange(PyObject* object, const dlpack::Exchange& exchange, uint64_t stream);
  Outcome TakeDlpack(PyObject* object, PyObject* exporter, uint64_t stream);
  Outcome TakeTensor(const dlpack::Tensor& tensor);
  Outcome TakeCudaInterface(PyObject* interface, uint64_t stream);
  bool SetShape(int count, const int64_t* shape, const int64_t* strides, int64_t unit);

  Py_buffer buffer_ = {};
  Ref holder_;  ///< of what the view borrows from: a capsule of DLPack, an interface
};

}  // namespace adrt_python

#endif
