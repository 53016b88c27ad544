#include "xla_call.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <shared_mutex>
#include <string_view>

#include "bundle_state.h"
#include "cuda_driver.h"
#include "xla_ffi.h"

// Calls of kernels by programs that JAX has compiled, on the CPU and on CUDA, without Python: XLA calls the
// handlers from threads of its own, which do not hold Python's lock, several of them at once.
//
// A call has three attributes. "kernel" is what NameForXla gave: the hash of the bundle's content, the
// kernel's name and its options. So a program that JAX loads from a cache in another process runs the same
// code or is refused. "places" has two numbers for each parameter that callers see: the index of the argument
// that gives it and that of the result that it is, or -1. "numbers" holds the bytes of scalars that the
// program knows: for such a parameter, -2 - offset stands in the place of the argument. For a buffer of one
// element -2 - index stands for an argument that has the bytes of the number. A buffer that is both argument
// and result starts as a copy of the argument, which XLA may have made by giving both the same memory; a
// result without an argument starts as zeros.
//
// On CUDA a launch is recorded into XLA's stream, with a heap of XLA's memory, and is not waited for, unless
// numbers or sizes are read from the device, or the kernel has checks, which are reported.

namespace adrt_python {
namespace {

struct Code {
  Device* device;
  adrt_module* module;
};

struct XlaKernel {
  KernelState* kernel;
  Options options;
  std::vector<Code> loaded;  // a device each
};

// Held for as long as the process runs.
struct Known {
  std::shared_mutex lock;
  std::map<std::string, XlaKernel, std::less<>> kernels;
};

Known& AllKnown() {
  static auto* known = new Known;
  return *known;
}

bool IsSigned(uint32_t type) {
  return type >= ADRT_TYPE_I8 && type <= ADRT_TYPE_I64;
}

int64_t ReadInteger(uint32_t type, const unsigned char* source) {
  uint64_t bits = 0;
  std::memcpy(&bits, source, adrt_type_size(type));
  uint32_t spare = 64 - 8 * adrt_type_size(type);
  return IsSigned(type) ? static_cast<int64_t>(bits << spare) >> spare : static_cast<int64_t>(bits);
}

// An integer as one of another type. False where it is out of range.
bool Narrow(uint32_t from, const unsigned char* source, uint32_t to, unsigned char* target) {
  int64_t value = ReadInteger(from, source);
  if (from == ADRT_TYPE_U64 && value < 0) return false;
  if (!IsSigned(to) && value < 0) return false;
  uint32_t size = adrt_type_size(to);
  uint32_t value_bits = to == ADRT_TYPE_I1 ? 1 : 8 * size - (IsSigned(to) ? 1 : 0);
  if (value_bits < 64 && (value < 0 ? ~value : value) >> value_bits != 0) return false;
  std::memcpy(target, &value, size);
  return true;
}

// A number as one of another type. False where that type does not have it, or the number is none.
bool Convert(uint32_t from, const unsigned char* source, uint32_t to, unsigned char* target) {
  bool is_integer = from >= ADRT_TYPE_I1 && from <= ADRT_TYPE_U64;
  if (is_integer && to <= ADRT_TYPE_U64) return Narrow(from, source, to, target);
  if (to != ADRT_TYPE_F64 || (!is_integer && from != ADRT_TYPE_F32)) return false;
  double number = 0;
  if (is_integer) {
    int64_t value = ReadInteger(from, source);
    number = from == ADRT_TYPE_U64 ? static_cast<double>(static_cast<uint64_t>(value))
                                   : static_cast<double>(value);
  } else {
    float narrow = 0;
    std::memcpy(&narrow, source, sizeof narrow);
    number = narrow;
  }
  std::memcpy(target, &number, sizeof number);
  return true;
}

class XlaCall {
 public:
  XlaCall(const xla::CallFrame& frame, DeviceKind kind) : frame_(frame), kind_(kind) {}

  /// False: Error() says why.
  bool Run();
  xla::Error* Error() const;

 private:
  bool Fail(xla::Code code, std::string text);
  bool Wrong(const Parameter& param, const std::string& text);
  bool CheckSizes();
  bool EnterStream();
  bool ReadAttributes();
  bool FindCode();
  bool LoadCode(const Place& place);
  bool Bind();
  bool BindBuffer(const Parameter& param, int32_t argument, int32_t result, adrt_arg* arg);
  bool BindScalar(const Parameter& param, int32_t argument, adrt_arg* arg);
  bool TakeArray(const Parameter& param, const xla::Buffers& all, int32_t index, adrt_arg* arg,
                 uint64_t* bytes);
  bool Take(const Parameter& param, const xla::Buffers& all, int32_t index, const xla::Buffer** buffer);
  bool TakeBytes(const Parameter& param, int32_t argument, void** data);
  bool TakeNumber(const Parameter& param, int32_t argument, unsigned char* numbers);
  bool ReadScalar(const xla::Buffer& given, uint32_t bytes, const unsigned char** from);
  bool StartResult(const void* given, void* result, uint64_t bytes);
  bool CheckShape(const Parameter& param, const xla::Buffer& buffer);
  bool Launch();
  adrt_status Run(adrt_python::Launch* launch, adrt_error* error);
  adrt_status Record(adrt_python::Launch* launch, const adrt_plan_report& report, adrt_error* error);
  bool FailOfCuda() {
    return Fail(xla::Code::kInternal, "CUDA's driver refuses the call's stream or memory");
  }

  const xla::CallFrame& frame_;
  DeviceKind kind_;
  std::optional<CudaStream> stream_;  // on CUDA
  XlaKernel* known_ = nullptr;
  Code on_ = {};
  const int32_t* places_ = nullptr;
  size_t place_count_ = 0;
  const xla::Array* given_numbers_ = nullptr;
  std::vector<unsigned char> scalar_;  // read from the device
  std::vector<adrt_arg> args_;
  std::vector<unsigned char> numbers_;
  xla::Error* taken_ = nullptr;  // of XLA's own
  xla::Code code_ = xla::Code::kInternal;
  std::string text_;
};

bool XlaCall::Fail(xla::Code code, std::string text) {
  code_ = code;
  text_ = std::move(text);
  return false;
}

bool XlaCall::Wrong(const Parameter& param, const std::string& text) {
  return Fail(xla::Code::kInvalidArgument, std::string("kernel '") + known_->kernel->report().name +
                                               "', parameter '" + param.text + "': " + text);
}

xla::Error* XlaCall::Error() const {
  if (taken_) return taken_;
  auto args = Sized<xla::ErrorArgs>();
  args.message = text_.c_str();
  args.code = code_;
  return frame_.api->create_error(&args);
}

bool XlaCall::CheckSizes() {
  bool fits = frame_.struct_size >= sizeof(xla::CallFrame) &&
              frame_.arguments.struct_size >= sizeof(xla::Buffers) &&
              frame_.results.struct_size >= sizeof(xla::Buffers) &&
              frame_.attributes.struct_size >= sizeof(xla::Attributes);
  return fits ||
         Fail(xla::Code::kInternal,
              "adrt knows versions 0.1 to 0.3 of XLA's foreign function interface, and the structures of "
              "this one are smaller: install a JAX that suits this adrt");
}

bool XlaCall::EnterStream() {
  if (kind_ == DeviceKind::kCpu) return true;
  constexpr size_t kNeeded = offsetof(xla::Api, free) + sizeof(xla::Api::free);
  if (frame_.api->struct_size < kNeeded)
    return Fail(xla::Code::kInternal,
                "this version of XLA has no streams for foreign functions: install a newer JAX");
  auto args = Sized<xla::StreamArgs>();
  args.context = frame_.context;
  if (xla::Error* error = frame_.api->get_stream(&args)) {
    taken_ = error;
    return false;
  }
  stream_.emplace(args.stream);
  return stream_->device() >= 0 || FailOfCuda();
}

bool XlaCall::ReadAttributes() {
  const xla::Span* name = nullptr;
  const xla::Array* places = nullptr;
  for (int64_t at = 0; at < frame_.attributes.count; ++at) {
    const xla::Span& called = *frame_.attributes.names[at];
    uint32_t kind = frame_.attributes.kinds[at];
    std::string_view text(called.text, called.size);
    if (text == "kernel" && kind == xla::kString) name = static_cast<xla::Span*>(frame_.attributes.items[at]);
    if (text == "places" && kind == xla::kArray)
      places = static_cast<xla::Array*>(frame_.attributes.items[at]);
    if (text == "numbers" && kind == xla::kArray)
      given_numbers_ = static_cast<xla::Array*>(frame_.attributes.items[at]);
  }
  if (!name || !places || places->type != ADRT_TYPE_I32) {
    return Fail(xla::Code::kInvalidArgument,
                "a call of adrt.kernel needs its attributes 'kernel' and 'places'");
  }
  places_ = static_cast<const int32_t*>(places->data);
  place_count_ = places->count;
  std::string_view key(name->text, name->size);
  std::shared_lock lock(AllKnown().lock);
  auto found = AllKnown().kernels.find(key);
  if (found == AllKnown().kernels.end()) {
    return Fail(xla::Code::kNotFound,
                "the compiled program calls a kernel that this process has not loaded (" + std::string(key) +
                    "): load its bundle, and trace a call of its adrt.jax.function first");
  }
  known_ = &found->second;
  return true;
}

// With Python's lock.
bool XlaCall::LoadCode(const Place& place) {
  Device* device = FindDevice(place);
  adrt_module* module = device ? known_->kernel->bundle().ModuleOn(device) : nullptr;
  if (!module) return Fail(xla::Code::kInvalidArgument, TakeErrorText());
  on_ = {device, module};
  std::unique_lock lock(AllKnown().lock);
  known_->loaded.push_back(on_);
  return true;
}

bool XlaCall::FindCode() {
  Place place = {kind_, stream_ ? stream_->device() : 0};
  {
    std::shared_lock lock(AllKnown().lock);
    for (const Code& code : known_->loaded) {
      if (code.device->place != place) continue;
      on_ = code;
      return true;
    }
  }
  PyGILState_STATE state = PyGILState_Ensure();
  bool loaded = LoadCode(place);
  PyGILState_Release(state);
  return loaded;
}

bool XlaCall::Take(const Parameter& param, const xla::Buffers& all, int32_t index,
                   const xla::Buffer** buffer) {
  if (index >= all.count || all.kinds[index] != xla::kBuffer)
    return Wrong(param, "the call has no such buffer");
  *buffer = static_cast<const xla::Buffer*>(all.items[index]);
  return (*buffer)->struct_size >= sizeof(xla::Buffer) ||
         Wrong(param, "a buffer of an unknown version of XLA");
}

bool XlaCall::CheckShape(const Parameter& param, const xla::Buffer& buffer) {
  uint32_t rank = param.is_buffer() ? param.report.rank : 0;
  const int64_t* inner = buffer.extents + rank;
  bool fits = buffer.rank == static_cast<int64_t>(rank) + param.element_axes &&
              (param.element_axes < 1 || inner[0] == param.report.rows) &&
              (param.element_axes < 2 || inner[1] == param.report.columns);
  return fits || Wrong(param, "the array has another shape than " + param.Type());
}

// The bytes of a number, for a buffer of one element.
bool XlaCall::TakeBytes(const Parameter& param, int32_t argument, void** data) {
  const xla::Buffer* bytes = nullptr;
  if (!Take(param, frame_.arguments, -2 - argument, &bytes)) return false;
  *data = bytes->data;
  bool fits = param.number_bytes > 0 && bytes->type == ADRT_TYPE_U8 && bytes->rank == 1 &&
              bytes->extents[0] == param.number_bytes;
  return fits || Wrong(param, "the call gives other bytes than those of its number");
}

// A scalar that the program knows.
bool XlaCall::TakeNumber(const Parameter& param, int32_t argument, unsigned char* numbers) {
  size_t begin = static_cast<size_t>(-2 - static_cast<int64_t>(argument));
  bool fits = given_numbers_ && given_numbers_->type == ADRT_TYPE_U8 && begin <= given_numbers_->count &&
              param.number_bytes <= given_numbers_->count - begin;
  if (!fits) return Wrong(param, "the call gives other bytes than those of its number");
  std::memcpy(numbers, static_cast<unsigned char*>(given_numbers_->data) + begin, param.number_bytes);
  return true;
}

// Finds the memory from which the host can read the scalar.
bool XlaCall::ReadScalar(const xla::Buffer& given, uint32_t bytes, const unsigned char** from) {
  *from = static_cast<const unsigned char*>(given.data);
  if (!stream_) return true;
  scalar_.resize(bytes);
  *from = scalar_.data();
  return stream_->Read(scalar_.data(), given.data, bytes) || FailOfCuda();
}

bool XlaCall::BindScalar(const Parameter& param, int32_t argument, adrt_arg* arg) {
  unsigned char* numbers = numbers_.data() + param.number_offset;
  arg->data = numbers;
  if (argument < -1) return TakeNumber(param, argument, numbers);
  const xla::Buffer* given = nullptr;
  if (!Take(param, frame_.arguments, argument, &given) || !CheckShape(param, *given)) return false;
  uint32_t size = adrt_type_size(param.report.type), given_size = adrt_type_size(given->type);
  const unsigned char* from = nullptr;
  if (!ReadScalar(*given, param.number_bytes / size * given_size, &from)) return false;
  if (given->type == param.report.type) {
    std::memcpy(numbers, from, param.number_bytes);
    return true;
  }
  for (uint32_t at = 0; at < param.number_bytes; at += size, from += given_size) {
    if (!Convert(given->type, from, param.report.type, numbers + at)) {
      return Wrong(param, "an array has a number that " + param.Type() + " does not have");
    }
  }
  return true;
}

// The array of an argument or a result, checked against the parameter.
bool XlaCall::TakeArray(const Parameter& param, const xla::Buffers& all, int32_t index, adrt_arg* arg,
                        uint64_t* bytes) {
  const xla::Buffer* buffer = nullptr;
  if (!Take(param, all, index, &buffer)) return false;
  if (buffer->type != param.report.type)
    return Wrong(param, "the array has another type than " + param.Type());
  if (!CheckShape(param, *buffer)) return false;
  arg->data = buffer->data;
  arg->rank = param.report.rank;
  std::copy_n(buffer->extents, arg->rank, arg->extents);
  *bytes = adrt_type_size(param.report.type);
  for (int64_t axis = 0; axis < buffer->rank; ++axis) *bytes *= static_cast<uint64_t>(buffer->extents[axis]);
  return true;
}

bool XlaCall::BindBuffer(const Parameter& param, int32_t argument, int32_t result, adrt_arg* arg) {
  uint64_t given_bytes = param.number_bytes, bytes = 0;
  if (argument < -1 && !TakeBytes(param, argument, &arg->data)) return false;
  if (argument >= 0 && !TakeArray(param, frame_.arguments, argument, arg, &given_bytes)) return false;
  if (param.is_written() != (result >= 0))
    return Wrong(param, "the call has no result for it, or one too many");
  if (result < 0) return true;
  const void* given = argument == -1 ? nullptr : arg->data;
  if (!TakeArray(param, frame_.results, result, arg, &bytes)) return false;
  if (argument != -1 && bytes != given_bytes)
    return Wrong(param, "the result has another shape than the argument");
  return StartResult(given, arg->data, bytes);
}

// A result begins as a copy of what is given, or as zeros.
bool XlaCall::StartResult(const void* given, void* result, uint64_t bytes) {
  if (bytes == 0 || given == result) return true;
  if (stream_)
    return (given ? stream_->Copy(result, given, bytes) : stream_->Clear(result, bytes)) || FailOfCuda();
  if (given) {
    std::memcpy(result, given, bytes);
  } else {
    std::memset(result, 0, bytes);
  }
  return true;
}

bool XlaCall::Bind() {
  const std::vector<Parameter>& all = known_->kernel->parameters().all();
  numbers_.resize(known_->kernel->parameters().number_bytes());
  args_.reserve(all.size());
  const int32_t* place = places_;
  for (size_t index = 0; index < all.size(); ++index) {
    const Parameter& param = all[index];
    if (param.hidden) continue;
    if (place == places_ + place_count_) return Wrong(param, "the call has no place for it");
    int32_t argument = place[0], result = place[1];
    place += 2;
    if (argument == -1 && result < 0) return Wrong(param, "the call does not give it");
    adrt_arg& arg = args_.emplace_back(Sized<adrt_arg>());
    arg.kind = param.report.kind;
    arg.index = static_cast<uint32_t>(index);
    arg.type = param.report.type;
    arg.rows = param.report.rows;
    arg.columns = param.report.columns;
    bool bound =
        param.is_scalar() ? BindScalar(param, argument, &arg) : BindBuffer(param, argument, result, &arg);
    if (!bound) return false;
  }
  return true;
}

// With memory of XLA's as the heap. Memory that is freed stays the launch's until it has run.
adrt_status XlaCall::Record(adrt_python::Launch* launch, const adrt_plan_report& report, adrt_error* error) {
  constexpr uint64_t kAlignment = 16;  // XLA refuses more
  auto memory = Sized<xla::MemoryArgs>();
  memory.context = frame_.context;
  memory.bytes = report.heap_bytes + report.heap_alignment;
  memory.alignment = kAlignment;
  if (report.heap_bytes > 0) taken_ = frame_.api->allocate(&memory);
  if (taken_) return ADRT_ERROR_OUT_OF_DEVICE_MEMORY;
  uint64_t address = reinterpret_cast<uintptr_t>(memory.data), mask = report.heap_alignment - 1;
  void* heap = reinterpret_cast<void*>((address + mask) & ~mask);
  adrt_status status = launch->Record(stream_->handle(), heap, report.heap_bytes, error);
  auto free = Sized<xla::FreeArgs>();
  free.context = frame_.context;
  free.bytes = memory.bytes;
  free.data = memory.data;
  if (report.heap_bytes > 0) taken_ = frame_.api->free(&free);
  if (status != ADRT_OK || known_->kernel->report().checks == 0) return status;
  return stream_->Wait() ? launch->ReadStatus(error) : ADRT_ERROR_DRIVER;
}

adrt_status XlaCall::Run(adrt_python::Launch* launch, adrt_error* error) {
  auto report = Sized<adrt_plan_report>();
  adrt_status status = stream_ ? adrt_plan_info(launch->plan, &report, error) : ADRT_OK;
  if (status != ADRT_OK) return status;
  if (report.resolved != 0) return Record(launch, report, error);
  if (stream_ && !stream_->Wait()) return ADRT_ERROR_DRIVER;  // the data that sizes read are there then
  auto desc = Sized<adrt_run_desc>();
  desc.heap = launch->heap;
  return adrt_run(launch->plan, &desc, error);
}

bool XlaCall::Launch() {
  Options options = known_->options;
  options.has_stream = stream_.has_value();
  if (stream_) options.stream = reinterpret_cast<uintptr_t>(stream_->handle());
  std::unique_ptr<adrt_python::Launch> launch = known_->kernel->Borrow(on_.device, options);
  auto error = Sized<adrt_error>();
  adrt_status status = launch->Prepare(known_->kernel->handle(), on_.module, args_, &error);
  if (status == ADRT_OK) status = Run(launch.get(), &error);
  if (launch->heap) known_->kernel->GiveBack(std::move(launch));
  if (status == ADRT_OK && !taken_) return true;
  bool of_memory = status == ADRT_ERROR_OUT_OF_HOST_MEMORY || status == ADRT_ERROR_OUT_OF_DEVICE_MEMORY;
  return Fail(of_memory                       ? xla::Code::kResourceExhausted
              : status == ADRT_ERROR_ARGUMENT ? xla::Code::kInvalidArgument
                                              : xla::Code::kInternal,
              error.text[0] != 0 ? error.text : adrt_status_text(status));
}

bool XlaCall::Run() {
  return CheckSizes() && EnterStream() && ReadAttributes() && FindCode() && Bind() && Launch();
}

// XLA refuses a version that it does not have. The parts that adrt reads are the same in the versions between
// the oldest and the newest.
void SayVersion(const xla::CallFrame& frame, xla::Metadata* metadata) {
  metadata->version.major_version = xla::kMajor;
  metadata->version.minor_version = xla::kOldestMinor;
  if (!frame.api || frame.api->version.major_version != xla::kMajor) return;
  metadata->version.minor_version =
      std::clamp(frame.api->version.minor_version, xla::kOldestMinor, xla::kNewestMinor);
}

template <DeviceKind kind>
xla::Error* Handle(xla::CallFrame* frame) {
  for (xla::Extension* extension = frame->extensions; extension; extension = extension->next) {
    if (extension->kind != xla::kMetadata) continue;
    SayVersion(*frame, reinterpret_cast<xla::MetadataExtension*>(extension)->metadata);
    return nullptr;
  }
  if (frame->stage != xla::kExecute) return nullptr;
  XlaCall call(*frame, kind);
  return call.Run() ? nullptr : call.Error();
}

}  // namespace

PyObject* NameForXla(PyObject* bundle, KernelState& kernel, const Options& options, bool on_cpu) {
  if (options.heap || options.has_stream) Py_RETURN_NONE;
  std::vector<Code> loaded;
  if (on_cpu) {
    Device* device = FindDevice(Place());
    adrt_module* module = device ? kernel.bundle().ModuleOn(device) : nullptr;
    if (!module) return nullptr;
    loaded.push_back({device, module});
  }
  std::string name = kernel.bundle().ContentId() + ':' + kernel.report().name + ':' +
                     std::to_string(options.threads) + ':' + std::to_string(options.budget);
  {
    std::unique_lock lock(AllKnown().lock);
    if (AllKnown().kernels.emplace(name, XlaKernel{&kernel, options, std::move(loaded)}).second)
      Py_INCREF(bundle);
  }
  return PyUnicode_FromString(name.c_str());
}

PyObject* XlaHandlers(PyObject*, PyObject*) {
  Ref cpu(PyCapsule_New(reinterpret_cast<void*>(&Handle<DeviceKind::kCpu>), nullptr, nullptr));
  Ref cuda(PyCapsule_New(reinterpret_cast<void*>(&Handle<DeviceKind::kCuda>), nullptr, nullptr));
  return cpu && cuda ? PyTuple_Pack(2, cpu.get(), cuda.get()) : nullptr;
}

}  // namespace adrt_python
