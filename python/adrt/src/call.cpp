#include "call.h"

#include <algorithm>

#include "bundle_state.h"
#include "cuda_driver.h"
#include "errors.h"
#include "numbers.h"
#include "outputs.h"

// A call goes over the parameters twice: the given arguments are bound first, since they decide about the
// device and about the shapes of the others. The loader then checks the arguments against each other, and
// says what is wrong itself.

namespace adrt_python {
namespace {

constexpr const char* kArrayTypes[] = {"?",      "bool",   "int8",   "int16",   "int32",   "int64",  "uint8",
                                       "uint16", "uint32", "uint64", "float16", "float32", "float64"};

std::string Axes(uint32_t count) {
  return std::to_string(count) + (count == 1 ? " axis" : " axes");
}

// Counting may take as long as a launch: other Python threads run.
adrt_status Resolve(adrt_launch_plan* plan, adrt_error* error) {
  adrt_status status = ADRT_OK;
  Py_BEGIN_ALLOW_THREADS;
  status = adrt_plan_resolve(plan, nullptr, 0, error);
  Py_END_ALLOW_THREADS;
  return status;
}

}  // namespace

Call::Call(KernelState& kernel, const Options& options)
    : kernel_(kernel),
      options_(options),
      arguments_(kernel.parameters().all().size()),
      numbers_(kernel.parameters().number_bytes()) {
  args_.reserve(arguments_.size());
}

bool Call::Wrong(size_t index, const std::string& wanted) const {
  return RaiseArgument(kernel_.report().name, param(index).text, arguments_[index].given, wanted);
}

bool Call::TakeKeywords(PyObject* keywords) {
  PyObject *name = nullptr, *value = nullptr;
  Py_ssize_t at = 0;
  while (keywords && PyDict_Next(keywords, &at, &name, &value)) {
    int index = kernel_.parameters().Find(name);
    if (index >= 0 && !param(static_cast<size_t>(index)).hidden) {
      Argument& argument = arguments_[static_cast<size_t>(index)];
      if (argument.given) return Wrong(static_cast<size_t>(index), "one value, by one of its two names");
      argument.given = value;
      continue;
    }
    const char* text = PyUnicode_AsUTF8AndSize(name, nullptr);
    return text && RaiseArgumentText(kernel_.report().name, text, "a parameter of that name",
                                     "one of " + kernel_.parameters().Names());
  }
  return true;
}

bool Call::BindScalar(size_t index) {
  Argument& argument = arguments_[index];
  if (!argument.given) return Wrong(index, "a value of " + param(index).Type());
  std::string wanted;
  return WriteNumbers(argument.given, param(index).report, numbers(index), &wanted) || Wrong(index, wanted);
}

// A number for a buffer of one element: if the kernel writes it, of an array that is made here.
bool Call::BindNumber(size_t index) {
  Argument& argument = arguments_[index];
  std::string wanted;
  const adrt_param_report& report = param(index).report;
  if (!WriteNumbers(argument.given, report, numbers(index), &wanted)) return Wrong(index, wanted);
  return true;
}

// A shape in place of an array that the kernel writes.
bool Call::TakeShape(size_t index) {
  Argument& argument = arguments_[index];
  std::vector<int64_t> shape;
  bool is_tuple = PyTuple_Check(argument.given);
  Py_ssize_t count = is_tuple ? PyTuple_Size(argument.given) : 1;
  for (Py_ssize_t axis = 0; axis < count; ++axis) {
    shape.push_back(PyLong_AsLongLong(is_tuple ? PyTuple_GetItem(argument.given, axis) : argument.given));
    if (shape.back() < 0) return Wrong(index, "a shape, of integers that are not negative");
  }
  if (count != static_cast<Py_ssize_t>(param(index).report.rank)) {
    return Wrong(index, "a shape of " + Axes(param(index).report.rank));
  }
  return Allocate(index, shape);
}

bool Call::CheckElements(size_t index) {
  const Parameter& wanted = param(index);
  const ArrayView& view = arguments_[index].view;
  if (!view.contiguous)
    return Wrong(index, "a contiguous array, its last axis innermost (this one has other strides)");
  if (view.read_only && wanted.is_written())
    return Wrong(index, "an array that may be written (this one is read-only)");
  if (wanted.is_layout()) return true;
  if (view.type != wanted.report.type)
    return Wrong(index, std::string(kArrayTypes[wanted.report.type]) + ", for " + wanted.Type());
  uint32_t axes = wanted.report.rank + static_cast<uint32_t>(wanted.element_axes);
  const int64_t* inner = view.extents + wanted.report.rank;
  bool fits = view.axes == static_cast<int32_t>(axes) &&
              (wanted.element_axes < 1 || inner[0] == wanted.report.rows) &&
              (wanted.element_axes < 2 || inner[1] == wanted.report.columns);
  if (fits) return true;
  std::string shape = Axes(axes) + ", for " + wanted.Type();
  if (wanted.element_axes > 0) shape += ", the last of " + std::to_string(wanted.report.rows);
  if (wanted.element_axes > 1) shape += " x " + std::to_string(wanted.report.columns);
  return Wrong(index, shape);
}

bool Call::CheckPlace(size_t index) {
  ArrayView& view = arguments_[index].view;
  bool is_other_kind = has_place_ && place_.kind != view.place.kind;
  if (view.place.index < 0 && !is_other_kind) {
    view.place.index = view.Bytes() > 0 ? CudaDeviceOf(view.data) : std::max(place_.index, 0);
    if (view.place.index < 0) return Wrong(index, "memory that CUDA's driver knows");
  }
  if (!has_place_) {
    has_place_ = true;
    place_ = view.place;
    place_of_ = index;
    if (!view.is_buffer) example_ = arguments_[index].given;
  }
  if (view.place == place_) return true;
  return Wrong(index, "memory of " + NameOf(place_) + ", where '" + param(place_of_).text +
                          "' is (this one is on " + NameOf(view.place) + ")");
}

bool Call::BindArray(size_t index) {
  Argument& argument = arguments_[index];
  switch (argument.view.Take(argument.given, stream())) {
    case ArrayView::Outcome::kTaken:
      break;
    case ArrayView::Outcome::kNoArray:
      return Wrong(index, "an array for " + param(index).Type());
    case ArrayView::Outcome::kRefused:
      return Wrong(index, "an array that gives its memory for " + param(index).Type());
  }
  argument.has_view = true;
  return CheckElements(index) && CheckPlace(index);
}

bool Call::BindGiven(size_t index) {
  const Parameter& wanted = param(index);
  PyObject* given = arguments_[index].given;
  if (wanted.is_scalar()) return BindScalar(index);
  if (!given) return true;
  if (wanted.is_buffer()) {
    bool is_number = IsNumber(given);
    if (wanted.report.rank == 0 && is_number) return BindNumber(index);
    bool is_shape = PyTuple_Check(given) || (is_number && PyIndex_Check(given));
    if (is_shape && wanted.is_written()) return true;  // once the device is known
  }
  return BindArray(index);
}

// An array, with the element's axes after those of `shape`: of zeros, or of the number that is given.
bool Call::Allocate(size_t index, const std::vector<int64_t>& shape) {
  const Parameter& wanted = param(index);
  std::vector<int64_t> full = shape;
  if (wanted.element_axes > 0) full.push_back(wanted.report.rows);
  if (wanted.element_axes > 1) full.push_back(wanted.report.columns);
  Argument& argument = arguments_[index];
  bool is_number = argument.given && IsNumber(argument.given) && wanted.report.rank == 0;
  argument.made = MakeArray(example_, full, wanted.report.type, is_number ? argument.given : nullptr);
  if (!argument.made)
    return PyErr_ExceptionMatches(PyExc_TypeError) && Wrong(index, "an array for " + wanted.Type());
  bool taken = argument.view.Take(argument.made.get(), stream()) == ArrayView::Outcome::kTaken;
  argument.has_view = true;
  return taken && CheckElements(index) && CheckPlace(index);
}

// The shape of what is not given, and may be zeros: a single element; a gradient's adjoint of what the primal
// only reads; a tangent of what is zero as well.
bool Call::ShapeOfMissing(size_t index, std::vector<int64_t>* shape) {
  const Parameter& wanted = param(index);
  if (!wanted.is_buffer() || !wanted.is_written()) return false;
  if (wanted.is_seed) return false;
  if (wanted.has_primal()) {
    const Argument& primal = arguments_[wanted.report.primal];
    bool reads_given = wanted.report.role == ADRT_ROLE_TANGENT && primal.given &&
                       param(wanted.report.primal).report.access != ADRT_ACCESS_WRITE;
    if (reads_given) return false;
    if (wanted.report.rank > 0 && !primal.has_view) return false;
    shape->assign(primal.view.extents, primal.view.extents + wanted.report.rank);
    return true;
  }
  return wanted.report.rank == 0;
}

bool Call::BindMissing(size_t index) {
  const Parameter& wanted = param(index);
  Argument& argument = arguments_[index];
  if (wanted.hidden || wanted.is_scalar() || argument.has_view) return true;
  bool is_number = argument.given && wanted.report.rank == 0 && !PyTuple_Check(argument.given);
  if (is_number && wanted.is_written()) return Allocate(index, {});
  if (is_number && place_.kind == DeviceKind::kCpu) return true;
  if (is_number) return Allocate(index, {});
  if (argument.given) return TakeShape(index);
  if (wanted.is_made_saved()) return true;  // once all others are known
  std::vector<int64_t> shape;
  if (ShapeOfMissing(index, &shape)) return Allocate(index, shape);
  std::string words = "an array for " + wanted.Type();
  if (wanted.is_seed) {
    words += ": the adjoint of what the kernel wrote, from which the gradient starts";
  } else if (wanted.is_written() && wanted.report.rank > 0) {
    words += ", or its shape";
  }
  return Wrong(index, words);
}

void Call::SetArguments() {
  args_.clear();
  for (size_t index = 0; index < arguments_.size(); ++index) SetArgument(index);
}

void Call::SetArgument(size_t index) {
  const Parameter& wanted = param(index);
  Argument& argument = arguments_[index];
  if (wanted.hidden) return;
  auto arg = Sized<adrt_arg>();
  arg.kind = wanted.report.kind;
  arg.index = static_cast<uint32_t>(index);
  arg.type = wanted.report.type;
  arg.rows = wanted.report.rows;
  arg.columns = wanted.report.columns;
  arg.rank = wanted.is_buffer() ? wanted.report.rank : 0;
  bool is_number = wanted.is_scalar() || (wanted.is_buffer() && wanted.report.rank == 0);
  arg.data = argument.has_view ? argument.view.data : is_number ? numbers(index) : nullptr;
  if (wanted.is_buffer()) std::copy_n(argument.view.extents, arg.rank, arg.extents);
  if (wanted.is_layout()) {
    arg.size = argument.view.Bytes();
  }
  args_.push_back(arg);
}

// The loader's text has the bundle's names of parameters; the exception has Python's.
bool Call::RaiseOfLoader(const adrt_error& error) const {
  std::string named = ParameterOf(error);
  for (const Parameter& parameter : kernel_.parameters().all()) {
    if (named == parameter.report.name) return Raise(error, {}, parameter.text);
  }
  return Raise(error);
}

// Elements of a buffer of saved values, of a plan in which it is empty: of one without a module, or, where
// data says how many there are, of one that has read them.
bool Call::CountSaved(size_t index, adrt_module* module, uint64_t* elements) {
  auto error = Sized<adrt_error>();
  auto desc = Sized<adrt_plan_desc>();
  desc.args = args_.data();
  desc.arg_count = static_cast<uint32_t>(args_.size());
  desc.target = adrt_module_target(module);
  desc.workers = options_.threads;
  desc.heap_budget = options_.budget;
  adrt_launch_plan* plan = nullptr;
  adrt_status status = adrt_plan(kernel_.handle(), &desc, &plan, &error);
  if (status == ADRT_OK) status = adrt_plan_saved(plan, static_cast<uint32_t>(index), elements, &error);
  if (status == ADRT_ERROR_NEEDS_DEVICE_DATA) {
    adrt_plan_release(plan);
    plan = nullptr;
    desc.module = module;
    desc.target = 0;
    status = adrt_plan(kernel_.handle(), &desc, &plan, &error);
    if (status == ADRT_OK) status = Resolve(plan, &error);
    if (status == ADRT_OK) status = adrt_plan_saved(plan, static_cast<uint32_t>(index), elements, &error);
  }
  adrt_plan_release(plan);
  return status == ADRT_OK || RaiseOfLoader(error);
}

// Buffers of saved values that are not given.
bool Call::MakeSaved() {
  for (size_t index = 0; index < arguments_.size(); ++index) {
    if (!param(index).is_made_saved() || arguments_[index].has_view) continue;
    Device* device = FindDevice(place_);
    adrt_module* module = device ? kernel_.bundle().ModuleOn(device) : nullptr;
    uint64_t elements = 0;
    if (!module || !CountSaved(index, module, &elements)) return false;
    if (!Allocate(index, {static_cast<int64_t>(elements)})) return false;
    SetArguments();
  }
  return true;
}

// Memory of the caller's for this launch, aligned as the plan says.
bool Call::TakeHeap(adrt_launch_plan* plan, adrt_run_desc* desc) {
  auto report = Sized<adrt_plan_report>();
  auto error = Sized<adrt_error>();
  adrt_status status = adrt_plan_info(plan, &report, &error);
  if (status == ADRT_OK && report.resolved == 0 && place_.kind == DeviceKind::kCpu) {
    status = Resolve(plan, &error);
    if (status == ADRT_OK) status = adrt_plan_info(plan, &report, &error);
  }
  if (status != ADRT_OK) return RaiseOfLoader(error);
  if (report.heap_bytes == 0 && report.resolved != 0) return true;
  uint64_t asked = report.heap_bytes + report.heap_alignment;
  heap_owner_ = Ref(PyObject_CallFunction(options_.heap, "K", static_cast<unsigned long long>(asked)));
  if (!heap_owner_) return false;
  bool taken = heap_.Take(heap_owner_.get(), stream()) == ArrayView::Outcome::kTaken;
  uint64_t bytes = taken ? heap_.Bytes() : 0;
  if (!taken || heap_.read_only || !heap_.contiguous || heap_.place != place_ || bytes < asked) {
    return RaiseArgument(kernel_.report().name, "heap", heap_owner_.get(),
                         std::to_string(asked) + " bytes on " + NameOf(place_) + " that may be written");
  }
  uint64_t address = reinterpret_cast<uintptr_t>(heap_.data), mask = report.heap_alignment - 1;
  uint64_t skipped = (report.heap_alignment - (address & mask)) & mask;
  desc->memory = static_cast<char*>(heap_.data) + skipped;
  desc->memory_size = bytes - skipped;
  return true;
}

// Into the caller's stream, without waiting. Kernel.check reads what it reports.
bool Call::Record(adrt_python::Launch* launch) {
  auto desc = Sized<adrt_run_desc>();
  auto error = Sized<adrt_error>();
  auto report = Sized<adrt_plan_report>();
  adrt_status status = adrt_plan_info(launch->plan, &report, &error);
  if (status == ADRT_OK && report.resolved == 0) {
    error.status = ADRT_ERROR_NEEDS_DEVICE_DATA;
    return Raise(error,
                 ": buffers decide how much memory '" + std::string(kernel_.report().name) +
                     "' takes, and a launch in a stream does not wait for them: call the kernel without one");
  }
  if (status == ADRT_OK && !options_.heap) status = launch->Reserve(report.heap_bytes, &error);
  if (status != ADRT_OK) return RaiseOfLoader(error);
  if (options_.heap && !TakeHeap(launch->plan, &desc)) return false;
  void* heap = options_.heap ? desc.memory : launch->heap_memory();
  uint64_t bytes = options_.heap ? desc.memory_size : launch->heap_bytes();
  status = launch->Record(options_.stream_handle(), heap, bytes, &error);
  return status == ADRT_OK || RaiseOfLoader(error);
}

// The default stream needs no wait: the loader's own work is in it.
bool Call::WaitForStream() {
  if (options_.stream == kDefaultStream) return true;
  bool waited = false;
  Py_BEGIN_ALLOW_THREADS;
  waited = SynchronizeCuda(options_.stream);
  Py_END_ALLOW_THREADS;
  return waited || RaiseArgumentText(kernel_.report().name, "stream", std::to_string(options_.stream),
                                     "a stream that CUDA's driver knows, and that no error has stopped");
}

bool Call::LaunchInStream(adrt_python::Launch* launch) {
  if (!options_.may_wait) return Record(launch);
  auto error = Sized<adrt_error>();
  auto report = Sized<adrt_plan_report>();
  if (adrt_plan_info(launch->plan, &report, &error) != ADRT_OK) return RaiseOfLoader(error);
  if (report.resolved == 0) return WaitForStream() && RunAndWait(launch);
  if (!Record(launch)) return false;
  if (kernel_.report().checks == 0) return true;
  return WaitForStream() && (launch->ReadStatus(&error) == ADRT_OK || RaiseOfLoader(error));
}

bool Call::RunAndWait(adrt_python::Launch* launch) {
  auto desc = Sized<adrt_run_desc>();
  auto error = Sized<adrt_error>();
  if (!options_.heap) desc.heap = launch->heap;
  if (options_.heap && !TakeHeap(launch->plan, &desc)) return false;
  adrt_status status = ADRT_OK;
  Py_BEGIN_ALLOW_THREADS;
  status = adrt_run(launch->plan, &desc, &error);
  Py_END_ALLOW_THREADS;
  return status == ADRT_OK || RaiseOfLoader(error);
}

bool Call::Launch() {
  if (options_.has_stream && place_.kind == DeviceKind::kCpu) {
    return RaiseArgumentText(kernel_.report().name, "stream", "a stream",
                             "none, since the arguments are on the CPU");
  }
  Device* device = FindDevice(place_);
  adrt_module* module = device ? kernel_.bundle().ModuleOn(device) : nullptr;
  if (!module) return false;
  std::unique_ptr<adrt_python::Launch> launch = kernel_.Borrow(device, options_);
  auto error = Sized<adrt_error>();
  if (launch->Prepare(kernel_.handle(), module, args_, &error) != ADRT_OK) {
    if (launch->heap) kernel_.GiveBack(std::move(launch));
    return RaiseOfLoader(error);
  }
  bool launched = options_.has_stream ? LaunchInStream(launch.get()) : RunAndWait(launch.get());
  kernel_.GiveBack(std::move(launch));
  return launched;
}

PyObject* Call::Outputs() {
  if (!kernel_.outputs()) return Py_NewRef(Py_None);
  Ref outputs(PyStructSequence_New(kernel_.outputs()));
  if (!outputs) return nullptr;
  Py_ssize_t at = 0;
  for (size_t index = 0; index < arguments_.size(); ++index) {
    if (param(index).hidden || !param(index).is_written()) continue;
    PyObject* written = arguments_[index].made ? arguments_[index].made.get() : arguments_[index].given;
    PyStructSequence_SetItem(outputs.get(), at++, Py_NewRef(written));
  }
  return outputs.release();
}

PyObject* Call::Run(PyObject* keywords) {
  if (!TakeKeywords(keywords)) return nullptr;
  for (size_t index = 0; index < arguments_.size(); ++index) {
    if (!param(index).hidden && !BindGiven(index)) return nullptr;
  }
  for (size_t index = 0; index < arguments_.size(); ++index) {
    if (!BindMissing(index)) return nullptr;
  }
  SetArguments();
  return MakeSaved() && Launch() ? Outputs() : nullptr;
}

}  // namespace adrt_python
