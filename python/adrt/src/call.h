#ifndef ADRT_PYTHON_CALL_H
#define ADRT_PYTHON_CALL_H

#include <vector>

#include "array_view.h"
#include "kernel_state.h"

namespace adrt_python {

/// One call of a kernel: binds what the caller gives to its parameters, allocates what it does not give, and
/// launches.
class Call {
 public:
  Call(KernelState& kernel, const Options& options);

  /// The outputs, a new reference; null with a Python exception.
  PyObject* Run(PyObject* keywords);

 private:
  struct Argument {
    PyObject* given = nullptr;  ///< borrowed from the caller
    Ref made;                   ///< allocated here
    ArrayView view;
    bool has_view = false;
  };

  bool TakeKeywords(PyObject* keywords);
  bool BindGiven(size_t index);
  bool BindScalar(size_t index);
  bool BindArray(size_t index);
  bool BindNumber(size_t index);
  bool TakeShape(size_t index);
  bool BindMissing(size_t index);
  bool CheckElements(size_t index);
  bool CheckPlace(size_t index);
  bool Allocate(size_t index, const std::vector<int64_t>& shape);
  bool ShapeOfMissing(size_t index, std::vector<int64_t>* shape);
  void SetArgument(size_t index);
  void SetArguments();
  bool Launch();
  bool WaitForStream();
  bool LaunchInStream(adrt_python::Launch* launch);
  bool Record(adrt_python::Launch* launch);
  bool RunAndWait(adrt_python::Launch* launch);
  bool TakeHeap(adrt_launch_plan* plan, adrt_run_desc* desc);
  bool CountSaved(size_t index, adrt_module* module, uint64_t* elements);
  bool MakeSaved();
  PyObject* Outputs();
  bool RaiseOfLoader(const adrt_error& error) const;
  bool Wrong(size_t index, const std::string& wanted) const;

  uint64_t stream() const { return options_.has_stream ? options_.stream : kDefaultStream; }
  const Parameter& param(size_t index) const { return kernel_.parameters().all()[index]; }
  unsigned char* numbers(size_t index) { return numbers_.data() + param(index).number_offset; }

  KernelState& kernel_;
  const Options& options_;
  std::vector<Argument> arguments_;
  std::vector<adrt_arg> args_;
  std::vector<unsigned char> numbers_;
  ArrayView heap_;
  Ref heap_owner_;
  bool has_place_ = false;
  Place place_;
  size_t place_of_ = 0;          ///< parameter that decided about the device
  PyObject* example_ = nullptr;  ///< whose library allocates; null: NumPy
};

}  // namespace adrt_python

#endif
