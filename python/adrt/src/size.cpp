// The memory of a launch, computed by a plan without a module: of shapes and numbers alone.

#include <algorithm>
#include <cstring>

#include "errors.h"
#include "numbers.h"
#include "objects.h"

namespace adrt_python {
namespace {

PyTypeObject* size_type = nullptr;

PyStructSequence_Field fields[] = {
    {"heap_bytes",
     "that the launch takes for tapes and counters; of what is known, where `resolved` is False"},
    {"scratch_bytes", "part of heap_bytes: what tasks of the kernel pass on to each other"},
    {"status_bytes", "of its status block"},
    {"saved_bytes", "that all parameters of saved values take, which the caller gives"},
    {"bounds_bytes", "of its bounds record"},
    {"workers", "that run at once"},
    {"resolved", "whether heap_bytes is final; else what buffers hold decides"},
    {"target", "for which it holds: 'cpu:x86-64-v3'"},
    {"saved", "elements of each parameter of saved values, by name"},
    {nullptr, nullptr}};
PyStructSequence_Desc desc = {"adrt.Size", "What a launch of a kernel takes, in bytes.", fields, 9};

class Sizer {
 public:
  explicit Sizer(KernelState& kernel, const Options& options)
      : kernel_(kernel),
        options_(options),
        values_(kernel.parameters().all().size()),
        args_(values_.size(), Sized<adrt_arg>()),
        numbers_(kernel.parameters().number_bytes()) {}
  ~Sizer() { adrt_plan_release(plan_); }
  Sizer(const Sizer&) = delete;
  Sizer& operator=(const Sizer&) = delete;

  PyObject* Run(PyObject* keywords) {
    target_ = kernel_.bundle().DefaultTarget();
    if (!TakeKeywords(keywords)) return nullptr;
    for (size_t index = 0; index < args_.size(); ++index) {
      if (!param(index).hidden && !Bind(index)) return nullptr;
    }
    return Plan() ? Report() : nullptr;
  }

 private:
  const Parameter& param(size_t index) const { return kernel_.parameters().all()[index]; }

  bool Wrong(size_t index, const std::string& wanted) const {
    return RaiseArgument(kernel_.report().name, param(index).text, values_[index], wanted);
  }

  bool TakeOption(const char* name, PyObject* value) {
    bool is_threads = std::strcmp(name, "threads") == 0;
    if (is_threads || std::strcmp(name, "budget") == 0) {
      if (is_threads ? TakeThreads(value, &options_) : TakeBudget(value, &options_)) return true;
      return RaiseArgument(kernel_.report().name, name, value, "a number that is not negative");
    }
    if (std::strcmp(name, "target") != 0) {
      return RaiseArgumentText(kernel_.report().name, name, "a parameter of that name",
                               "one of " + kernel_.parameters().Names() + ", threads, budget, target");
    }
    const char* text = PyUnicode_Check(value) ? PyUnicode_AsUTF8AndSize(value, nullptr) : nullptr;
    int target = text ? kernel_.bundle().FindTarget(text) : -1;
    if (target < 0) {
      std::string names;
      for (const std::string& known : kernel_.bundle().TargetNames())
        names += (names.empty() ? "" : ", ") + known;
      PyErr_Clear();
      return RaiseArgumentText(kernel_.report().name, name, text ? text : Describe(value), "one of " + names);
    }
    target_ = static_cast<uint32_t>(target);
    return true;
  }

  bool TakeKeywords(PyObject* keywords) {
    PyObject *name = nullptr, *value = nullptr;
    Py_ssize_t at = 0;
    while (keywords && PyDict_Next(keywords, &at, &name, &value)) {
      int index = kernel_.parameters().Find(name);
      const char* text = PyUnicode_AsUTF8AndSize(name, nullptr);
      if (!text) return false;
      if (index < 0 || param(static_cast<size_t>(index)).hidden) {
        if (!TakeOption(text, value)) return false;
      } else {
        values_[static_cast<size_t>(index)] = value;
      }
    }
    return true;
  }

  // A number, a tuple, or an object that has a shape.
  bool BindShape(size_t index) {
    adrt_arg& arg = args_[index];
    PyObject* value = values_[index];
    bool is_number = PyLong_Check(value);
    Ref shape =
        PyTuple_Check(value) || is_number ? Ref::Share(value) : Ref(PyObject_GetAttrString(value, "shape"));
    if (!shape) return Wrong(index, "a shape");
    bool from_array = !is_number && shape.get() != value;
    Py_ssize_t count = is_number ? 1 : PySequence_Size(shape.get());
    Py_ssize_t rank = static_cast<Py_ssize_t>(arg.rank);
    if (count != rank + (from_array ? param(index).element_axes : 0)) {
      PyErr_Clear();
      return Wrong(index, "a shape of " + std::to_string(rank) + (rank == 1 ? " axis, for " : " axes, for ") +
                              param(index).Type());
    }
    for (Py_ssize_t axis = 0; axis < rank; ++axis) {
      Ref extent = is_number ? Ref::Share(value) : Ref(PySequence_GetItem(shape.get(), axis));
      arg.extents[axis] = extent ? PyLong_AsLongLong(extent.get()) : -1;
      if (arg.extents[axis] < 0) return Wrong(index, "a shape, of integers that are not negative");
    }
    return true;
  }

  bool Bind(size_t index) {
    const Parameter& wanted = param(index);
    adrt_arg& arg = args_[index];
    arg.kind = wanted.report.kind;
    arg.index = static_cast<uint32_t>(index);
    arg.type = wanted.report.type;
    arg.rows = wanted.report.rows;
    arg.columns = wanted.report.columns;
    arg.size = wanted.layout_bytes;
    if (wanted.is_scalar()) {
      std::string words;
      arg.data = numbers_.data() + wanted.number_offset;
      if (!values_[index]) return Wrong(index, "a value of " + wanted.Type());
      return WriteNumbers(values_[index], wanted.report, static_cast<unsigned char*>(arg.data), &words) ||
             Wrong(index, words);
    }
    if (!wanted.is_buffer()) return true;
    arg.rank = wanted.report.rank;
    if (arg.rank == 0 || (!values_[index] && wanted.report.role == ADRT_ROLE_SAVED)) return true;
    if (values_[index]) return BindShape(index);
    if (!wanted.has_primal()) return Wrong(index, "the shape of " + wanted.Type());
    std::copy_n(args_[wanted.report.primal].extents, arg.rank, arg.extents);
    return true;
  }

  bool Plan() {
    auto plan = Sized<adrt_plan_desc>();
    auto error = Sized<adrt_error>();
    std::vector<adrt_arg> given;
    for (size_t index = 0; index < args_.size(); ++index) {
      if (!param(index).hidden) given.push_back(args_[index]);
    }
    plan.args = given.data();
    plan.arg_count = static_cast<uint32_t>(given.size());
    plan.target = target_;
    plan.workers = options_.threads;
    plan.heap_budget = options_.budget;
    return adrt_plan(kernel_.handle(), &plan, &plan_, &error) == ADRT_OK || Raise(error);
  }

  Ref Saved() {
    Ref saved(PyDict_New());
    for (size_t index = 0; index < args_.size() && saved; ++index) {
      if (param(index).report.role != ADRT_ROLE_SAVED) continue;
      uint64_t elements = 0;
      auto error = Sized<adrt_error>();
      adrt_status status = adrt_plan_saved(plan_, static_cast<uint32_t>(index), &elements, &error);
      if (status != ADRT_OK && status != ADRT_ERROR_NEEDS_DEVICE_DATA) {
        Raise(error);
        return Ref();
      }
      Ref count(PyLong_FromUnsignedLongLong(elements));
      if (!count || PyDict_SetItem(saved.get(), param(index).python_name.get(), count.get()) < 0)
        return Ref();
    }
    return saved;
  }

  PyObject* Report() {
    auto report = Sized<adrt_plan_report>();
    auto error = Sized<adrt_error>();
    if (adrt_plan_info(plan_, &report, &error) != ADRT_OK) return Raise(error);
    Ref made(PyStructSequence_New(size_type)), saved = Saved();
    if (!made || !saved) return nullptr;
    PyObject* values[] = {PyLong_FromUnsignedLongLong(report.heap_bytes),
                          PyLong_FromUnsignedLongLong(report.scratch_bytes),
                          PyLong_FromUnsignedLongLong(report.status_bytes),
                          PyLong_FromUnsignedLongLong(report.saved_bytes),
                          PyLong_FromUnsignedLongLong(report.bounds_bytes),
                          PyLong_FromUnsignedLong(report.workers),
                          PyBool_FromLong(report.resolved != 0),
                          PyUnicode_FromString(kernel_.bundle().TargetNames()[target_].c_str()),
                          saved.release()};
    for (size_t at = 0; at < std::size(values); ++at) {
      if (!values[at]) return nullptr;
      PyStructSequence_SetItem(made.get(), static_cast<Py_ssize_t>(at), values[at]);
    }
    return made.release();
  }

  KernelState& kernel_;
  Options options_;
  uint32_t target_ = 0;
  std::vector<PyObject*> values_;  // borrowed
  std::vector<adrt_arg> args_;
  std::vector<unsigned char> numbers_;
  adrt_launch_plan* plan_ = nullptr;
};

}  // namespace

bool TakeThreads(PyObject* value, Options* options) {
  unsigned long threads = PyLong_AsUnsignedLong(value);
  if (PyErr_Occurred() || threads > UINT32_MAX) return false;
  options->threads = static_cast<uint32_t>(threads);
  return true;
}

bool TakeBudget(PyObject* value, Options* options) {
  options->budget = PyLong_AsUnsignedLongLong(value);
  return !PyErr_Occurred();
}

PyObject* SizeOf(KernelState& kernel, Options options, PyObject* keywords) {
  return Sizer(kernel, options).Run(keywords);
}

bool AddSizeType(PyObject* module) {
  size_type = PyStructSequence_NewType(&desc);
  return size_type && PyModule_AddObjectRef(module, "Size", reinterpret_cast<PyObject*>(size_type)) == 0;
}

}  // namespace adrt_python
