#include "array_view.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include "cuda_driver.h"
#include "dlpack.h"

namespace adrt_python {
namespace {

// `letter` as the module struct has it, and as typestr of __cuda_array_interface__ has it: a class and a
// size.
uint32_t TypeOf(char letter, int64_t bytes) {
  constexpr uint32_t kSigned[] = {0, ADRT_TYPE_I8, ADRT_TYPE_I16, 0, ADRT_TYPE_I32, 0, 0, 0, ADRT_TYPE_I64};
  constexpr uint32_t kUnsigned[] = {0, ADRT_TYPE_U8, ADRT_TYPE_U16, 0, ADRT_TYPE_U32, 0, 0, 0, ADRT_TYPE_U64};
  constexpr uint32_t kFloats[] = {0, 0, ADRT_TYPE_F16, 0, ADRT_TYPE_F32, 0, 0, 0, ADRT_TYPE_F64};
  if (bytes < 1 || bytes > 8) return ADRT_TYPE_NONE;
  if (std::strchr("bhilqn", letter)) return kSigned[bytes];
  if (std::strchr("BHILQN", letter)) return kUnsigned[bytes];
  if (std::strchr("efd", letter)) return kFloats[bytes];
  return letter == '?' && bytes == 1 ? ADRT_TYPE_I1 : ADRT_TYPE_NONE;
}

uint32_t TypeOfFormat(const char* format, int64_t bytes) {
  if (!format) return bytes == 1 ? ADRT_TYPE_U8 : ADRT_TYPE_NONE;
  if (*format == '@' || *format == '=' || *format == '<') ++format;  // of this byte order
  return format[0] != 0 && format[1] == 0 ? TypeOf(format[0], bytes) : uint32_t{ADRT_TYPE_NONE};
}

uint32_t TypeOfDlpack(const dlpack::Tensor& tensor) {
  if (tensor.lanes != 1) return ADRT_TYPE_NONE;
  constexpr char kLetters[] = {'i', 'I', 'f', 0, 0, 0, '?'};
  char letter = tensor.type_code < sizeof kLetters ? kLetters[tensor.type_code] : 0;
  return letter != 0 ? TypeOf(letter, tensor.bits / 8) : uint32_t{ADRT_TYPE_NONE};
}

// "<f4": byte order, class, bytes.
uint32_t TypeOfTypestr(std::string_view text) {
  if (text.size() != 3 || text[0] == '>') return ADRT_TYPE_NONE;
  int64_t bytes = text[2] - '0';
  switch (text[1]) {
    case 'i':
      return TypeOf('i', bytes);
    case 'u':
      return TypeOf('I', bytes);
    case 'f':
      return TypeOf('f', bytes);
    case 'b':
      return TypeOf('?', bytes);
    default:
      return ADRT_TYPE_NONE;
  }
}

bool ToPlace(const dlpack::Tensor& tensor, Place* place) {
  switch (tensor.device_type) {
    case dlpack::kCpu:
    case dlpack::kCudaHost:
    case dlpack::kHipHost:
      *place = {DeviceKind::kCpu, 0};
      return true;
    case dlpack::kCuda:
    case dlpack::kCudaManaged:
      *place = {DeviceKind::kCuda, tensor.device_index};
      return true;
    case dlpack::kHip:
      *place = {DeviceKind::kHip, tensor.device_index};
      return true;
    default:
      PyErr_Format(PyExc_BufferError, "DLPack's device type %d is none of CPU, CUDA, HIP",
                   int{tensor.device_type});
      return false;
  }
}

// Types whose __dlpack__ has no max_version, as it was before version 1: asked once, since the exception
// takes longer than the rest of a call.
std::vector<PyObject*>& TypesWithoutVersion() {
  static auto* types = new std::vector<PyObject*>;
  return *types;
}

bool KnowsVersion(PyObject* object) {
  const std::vector<PyObject*>& types = TypesWithoutVersion();
  return std::find(types.begin(), types.end(), reinterpret_cast<PyObject*>(Py_TYPE(object))) == types.end();
}

// The result of __dlpack__: with the flags of version 1 where the library knows it. `stream` may be null.
Ref CallDlpack(PyObject* object, PyObject* exporter, PyObject* stream) {
  Ref keywords(PyDict_New());
  Ref version(Py_BuildValue("(ii)", 1, 0)), none(PyTuple_New(0));
  if (!keywords || !version || !none) return Ref();
  if (stream && PyDict_SetItemString(keywords.get(), "stream", stream) < 0) return Ref();
  bool with_version = KnowsVersion(object);
  if (with_version && PyDict_SetItemString(keywords.get(), "max_version", version.get()) < 0) return Ref();
  Ref capsule(PyObject_Call(exporter, none.get(), keywords.get()));
  if (capsule || !with_version || !PyErr_ExceptionMatches(PyExc_TypeError)) return capsule;
  PyErr_Clear();
  if (PyDict_DelItemString(keywords.get(), "max_version") < 0) return Ref();
  capsule = Ref(PyObject_Call(exporter, none.get(), keywords.get()));
  if (capsule) TypesWithoutVersion().push_back(Py_NewRef(reinterpret_cast<PyObject*>(Py_TYPE(object))));
  return capsule;
}

Ref Attribute(PyObject* object, const char* name) {
  Ref value(PyObject_GetAttrString(object, name));
  if (!value && PyErr_ExceptionMatches(PyExc_AttributeError)) PyErr_Clear();
  return value;
}

// Functions of the library that the object is of; null: it offers none. Asked once for each type.
const dlpack::Exchange* ExchangeOf(PyObject* object) {
  struct Known {
    PyObject* type;
    const dlpack::Exchange* exchange;
  };
  static auto* all = new std::vector<Known>;
  auto type = reinterpret_cast<PyObject*>(Py_TYPE(object));
  for (const Known& known : *all) {
    if (known.type == type) return known.exchange;
  }
  Ref capsule = Attribute(type, "__dlpack_c_exchange_api__");
  constexpr const char* kName = "dlpack_exchange_api";
  const dlpack::Exchange* exchange = nullptr;
  if (capsule && PyCapsule_IsValid(capsule.get(), kName))
    exchange = static_cast<dlpack::Exchange*>(PyCapsule_GetPointer(capsule.get(), kName));
  PyErr_Clear();
  bool is_known = exchange && exchange->major == 1 && exchange->tensor_of && exchange->current_stream;
  all->push_back({Py_NewRef(type), is_known ? exchange : nullptr});
  return all->back().exchange;
}

std::string TextOf(PyObject* object) {
  Ref text(object ? PyObject_Str(object) : nullptr);
  const char* said = text ? PyUnicode_AsUTF8AndSize(text.get(), nullptr) : nullptr;
  if (!said) PyErr_Clear();
  return said ? said : "?";
}

// Numbers of a tuple; -1 with an exception where it is none, or is longer than `most`.
int ReadTuple(PyObject* tuple, int64_t* numbers, int most) {
  Py_ssize_t count = tuple && PyTuple_Check(tuple) ? PyTuple_Size(tuple) : -1;
  if (count < 0 || count > most) {
    if (!PyErr_Occurred())
      PyErr_Format(PyExc_BufferError, "shape or strides are no tuple of at most %d", most);
    return -1;
  }
  for (Py_ssize_t at = 0; at < count; ++at) {
    numbers[at] = PyLong_AsLongLong(PyTuple_GetItem(tuple, at));
    if (numbers[at] == -1 && PyErr_Occurred()) return -1;
  }
  return static_cast<int>(count);
}

}  // namespace

std::string NameOf(const Place& place) {
  switch (place.kind) {
    case DeviceKind::kCpu:
      return "cpu";
    case DeviceKind::kCuda:
      return place.index < 0 ? "cuda" : "cuda:" + std::to_string(place.index);
    case DeviceKind::kHip:
      return "hip:" + std::to_string(place.index);
  }
  return "?";
}

void ArrayView::Release() {
  if (is_buffer) PyBuffer_Release(&buffer_);
  is_buffer = false;
  holder_ = Ref();
}

uint64_t ArrayView::Bytes() const {
  auto bytes = static_cast<uint64_t>(item_bytes);
  for (int axis = 0; axis < axes; ++axis) bytes *= static_cast<uint64_t>(extents[axis]);
  return bytes;
}

bool ArrayView::SetShape(int count, const int64_t* shape, const int64_t* strides, int64_t unit) {
  if (count > kMostAxes) {
    PyErr_Format(PyExc_BufferError, "an array of %d axes, of which %d are the most", count, kMostAxes);
    return false;
  }
  axes = count;
  contiguous = true;
  int64_t expected = unit;
  bool empty = false;
  for (int axis = count; axis-- > 0;) {
    extents[axis] = shape[axis];
    empty |= shape[axis] == 0;
    contiguous &= !strides || shape[axis] == 1 || strides[axis] == expected;
    expected *= shape[axis];
  }
  contiguous |= empty;
  return true;
}

ArrayView::Outcome ArrayView::TakeBuffer(PyObject* object) {
  if (PyObject_GetBuffer(object, &buffer_, PyBUF_STRIDES | PyBUF_FORMAT) < 0) return Outcome::kRefused;
  is_buffer = true;
  static_assert(sizeof(Py_ssize_t) == sizeof(int64_t));
  auto shape = reinterpret_cast<const int64_t*>(buffer_.shape);
  auto strides = reinterpret_cast<const int64_t*>(buffer_.strides);
  if (!SetShape(buffer_.ndim, shape, strides, buffer_.itemsize)) return Outcome::kRefused;
  data = buffer_.buf;
  item_bytes = buffer_.itemsize;
  type = TypeOfFormat(buffer_.format, buffer_.itemsize);
  read_only = buffer_.readonly != 0;
  place = {};
  return Outcome::kTaken;
}

// The tensor of a capsule that no consumer takes, so that it releases the tensor itself.
const dlpack::Tensor* ArrayView::TensorOfHolder() {
  read_only = false;
  if (PyCapsule_IsValid(holder_.get(), "dltensor_versioned")) {
    auto managed = static_cast<dlpack::Versioned*>(PyCapsule_GetPointer(holder_.get(), "dltensor_versioned"));
    read_only = (managed->flags & dlpack::kReadOnly) != 0;
    if (managed->major == 1) return &managed->tensor;
  } else if (PyCapsule_IsValid(holder_.get(), "dltensor")) {
    return &static_cast<dlpack::Managed*>(PyCapsule_GetPointer(holder_.get(), "dltensor"))->tensor;
  }
  PyErr_SetString(PyExc_BufferError, "__dlpack__ gives no tensor of a version that is known");
  return nullptr;
}

// Where the library may have work under way elsewhere than in `stream`, __dlpack__ lets the stream wait for
// it.
ArrayView::Outcome ArrayView::TakeExchange(PyObject* object, const dlpack::Exchange& exchange,
                                           uint64_t stream) {
  Ref gradient = Attribute(object, "requires_grad");
  if (gradient && PyObject_IsTrue(gradient.get()) != 0) return Outcome::kNoArray;
  dlpack::Tensor tensor = {};
  if (PyErr_Occurred() || exchange.tensor_of(object, &tensor) != 0) return Outcome::kRefused;
  if (!ToPlace(tensor, &place)) return Outcome::kRefused;
  void* theirs = nullptr;
  if (place.kind != DeviceKind::kCpu) {
    if (exchange.current_stream(tensor.device_type, tensor.device_index, &theirs) != 0)
      return Outcome::kRefused;
    uint64_t number = theirs ? reinterpret_cast<uintptr_t>(theirs) : kDefaultStream;
    if (number != stream) return Outcome::kNoArray;
  }
  read_only = false;
  return TakeTensor(tensor);
}

ArrayView::Outcome ArrayView::TakeDlpack(PyObject* object, PyObject* exporter, uint64_t stream) {
  holder_ = CallDlpack(object, exporter, nullptr);
  const dlpack::Tensor* tensor = holder_ ? TensorOfHolder() : nullptr;
  if (!tensor || !ToPlace(*tensor, &place)) return Outcome::kRefused;
  if (place.kind != DeviceKind::kCpu) {  // once more, so that the stream waits for what is under way
    bool is_default_of_hip = place.kind == DeviceKind::kHip && stream == kDefaultStream;
    Ref where(PyLong_FromUnsignedLongLong(is_default_of_hip ? 0 : stream));
    holder_ = where ? CallDlpack(object, exporter, where.get()) : Ref();
    tensor = holder_ ? TensorOfHolder() : nullptr;
  }
  return tensor && ToPlace(*tensor, &place) ? TakeTensor(*tensor) : Outcome::kRefused;
}

ArrayView::Outcome ArrayView::TakeTensor(const dlpack::Tensor& tensor) {
  if (!SetShape(tensor.axes, tensor.shape, tensor.strides, 1)) return Outcome::kRefused;
  data = static_cast<char*>(tensor.data) + tensor.byte_offset;
  type = TypeOfDlpack(tensor);
  item_bytes = tensor.bits * tensor.lanes / 8;
  return Outcome::kTaken;
}

ArrayView::Outcome ArrayView::TakeCudaInterface(PyObject* interface, uint64_t stream) {
  holder_ = Ref::Share(interface);
  if (!PyDict_Check(interface)) {
    PyErr_SetString(PyExc_BufferError, "__cuda_array_interface__ is no dict");
    return Outcome::kRefused;
  }
  PyObject* typestr = PyDict_GetItemString(interface, "typestr");
  PyObject* address = PyDict_GetItemString(interface, "data");
  PyObject* steps = PyDict_GetItemString(interface, "strides");
  int64_t shape[kMostAxes], strides[kMostAxes], memory[2];
  int count = ReadTuple(PyDict_GetItemString(interface, "shape"), shape, kMostAxes);
  bool has_strides = steps && steps != Py_None;
  if (count < 0 || ReadTuple(address, memory, 2) != 2 || !typestr ||
      (has_strides && ReadTuple(steps, strides, kMostAxes) != count)) {
    if (!PyErr_Occurred())
      PyErr_SetString(PyExc_BufferError, "__cuda_array_interface__ lacks what it must have");
    return Outcome::kRefused;
  }
  type = TypeOfTypestr(TextOf(typestr));
  if (!SetShape(count, shape, has_strides ? strides : nullptr, adrt_type_size(type)))
    return Outcome::kRefused;
  data = reinterpret_cast<void*>(memory[0]);
  item_bytes = adrt_type_size(type);
  read_only = memory[1] != 0;
  place = {DeviceKind::kCuda, -1};
  PyObject* busy = PyDict_GetItemString(interface, "stream");
  uint64_t theirs = busy && busy != Py_None ? PyLong_AsUnsignedLongLong(busy) : stream;
  if (PyErr_Occurred()) return Outcome::kRefused;
  if (theirs != stream && Bytes() > 0 && !SynchronizeCuda(theirs)) {
    PyErr_SetString(PyExc_BufferError, "CUDA's driver does not know the stream of __cuda_array_interface__");
    return Outcome::kRefused;
  }
  return Outcome::kTaken;
}

ArrayView::Outcome ArrayView::Take(PyObject* object, uint64_t stream) {
  Release();
  if (PyObject_CheckBuffer(object)) {
    Outcome outcome = TakeBuffer(object);
    if (outcome == Outcome::kTaken) return outcome;
    Release();
  }
  // CuPy's arrays, and JAX's, look as if they were buffers, and refuse where they are on a device.
  PyObject *kind = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&kind, &value, &trace);
  Outcome outcome = TakeOtherwise(object, stream);
  if (outcome == Outcome::kNoArray && kind) {
    PyErr_Restore(kind, value, trace);
    return Outcome::kRefused;
  }
  Py_XDECREF(kind);
  Py_XDECREF(value);
  Py_XDECREF(trace);
  return outcome;
}

ArrayView::Outcome ArrayView::TakeOtherwise(PyObject* object, uint64_t stream) {
  if (const dlpack::Exchange* exchange = ExchangeOf(object)) {
    Outcome outcome = TakeExchange(object, *exchange, stream);
    if (outcome != Outcome::kNoArray) return outcome;
  }
  Ref exporter = Attribute(object, "__dlpack__");
  if (exporter) return TakeDlpack(object, exporter.get(), stream);
  if (PyErr_Occurred()) return Outcome::kRefused;
  Ref interface = Attribute(object, "__cuda_array_interface__");
  if (interface) return TakeCudaInterface(interface.get(), stream);
  return PyErr_Occurred() ? Outcome::kRefused : Outcome::kNoArray;
}

}  // namespace adrt_python
