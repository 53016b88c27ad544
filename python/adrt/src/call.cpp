#include "call.h"

#include <algorithm>
#include <cstring>

#include "bundle_state.h"
#include "errors.h"
#include "numbers.h"
#include "outputs.h"

// A call goes over the parameters twice: what is given is bound first, since it decides about the device and
// about the shapes of what is not given. The loader then checks the arguments against each other, and says
// what is wrong itself.

namespace adrt_python {
namespace {

constexpr const char* kArrayTypes[] = {"?",      "bool",   "int8",   "int16",   "int32",   "int64",  "uint8",
                                       "uint16", "uint32", "uint64", "float16", "float32", "float64"};

std::string Axes(uint32_t count) {
  return std::to_string(count) + (count == 1 ? " axis" : " axes");
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
  const ArrayView& view = arguments_[index].view;
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
  switch (argument.view.Take(argument.given, nullptr)) {
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

// An array of zeros, with the element's axes after those of `shape`.
bool Call::Allocate(size_t index, const std::vector<int64_t>& shape) {
  const Parameter& wanted = param(index);
  std::vector<int64_t> full = shape;
  if (wanted.element_axes > 0) full.push_back(wanted.report.rows);
  if (wanted.element_axes > 1) full.push_back(wanted.report.columns);
  Argument& argument = arguments_[index];
  argument.made = MakeZeros(example_, full, wanted.report.type);
  if (!argument.made) return false;
  bool taken = argument.view.Take(argument.made.get(), nullptr) == ArrayView::Outcome::kTaken;
  argument.has_view = true;
  if (argument.given && taken && wanted.report.rank == 0 && wanted.number_bytes > 0 &&
      place_.kind == DeviceKind::kCpu) {
    std::memcpy(argument.view.data, numbers(index), wanted.number_bytes);
  }
  return taken && CheckElements(index);
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
  if (is_number) return Wrong(index, "an array on " + NameOf(place_) + ", as the others are");
  if (argument.given) return TakeShape(index);
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
  arg.data = argument.has_view ? argument.view.data : numbers(index);
  if (wanted.is_buffer()) std::copy_n(argument.view.extents, arg.rank, arg.extents);
  if (wanted.is_layout()) {
    auto bytes = static_cast<uint64_t>(argument.view.item_bytes);
    for (int axis = 0; axis < argument.view.axes; ++axis)
      bytes *= static_cast<uint64_t>(argument.view.extents[axis]);
    arg.size = bytes;
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

bool Call::Prepare(adrt_python::Launch* launch, adrt_module* module) {
  auto error = Sized<adrt_error>();
  if (launch->plan) {
    return adrt_plan_update(launch->plan, args_.data(), static_cast<uint32_t>(args_.size()), &error) ==
               ADRT_OK ||
           RaiseOfLoader(error);
  }
  auto desc = Sized<adrt_plan_desc>();
  desc.args = args_.data();
  desc.arg_count = static_cast<uint32_t>(args_.size());
  desc.module = module;
  desc.workers = options_.threads;
  if (adrt_plan(kernel_.handle(), &desc, &launch->plan, &error) != ADRT_OK) return RaiseOfLoader(error);
  return adrt_heap_create_on(launch->device->handle, &launch->heap, &error) == ADRT_OK || Raise(error);
}

bool Call::Launch() {
  Device* device = FindDevice(place_);
  adrt_module* module = device ? kernel_.bundle().ModuleOn(device) : nullptr;
  if (!module) return false;
  std::unique_ptr<adrt_python::Launch> launch = kernel_.Borrow(device, options_.threads);
  if (!Prepare(launch.get(), module)) {
    if (launch->heap) kernel_.GiveBack(std::move(launch));
    return false;
  }
  auto desc = Sized<adrt_run_desc>();
  desc.heap = launch->heap;
  auto error = Sized<adrt_error>();
  adrt_status status = ADRT_OK;
  Py_BEGIN_ALLOW_THREADS;
  status = adrt_run(launch->plan, &desc, &error);
  Py_END_ALLOW_THREADS;
  kernel_.GiveBack(std::move(launch));
  return status == ADRT_OK || RaiseOfLoader(error);
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
    SetArgument(index);
  }
  return Launch() ? Outputs() : nullptr;
}

}  // namespace adrt_python
