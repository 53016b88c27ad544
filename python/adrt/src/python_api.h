#ifndef ADRT_PYTHON_API_H
#define ADRT_PYTHON_API_H

// Python as every source file of the extension sees it: the stable ABI of 3.11, the first one with buffers,
// so that one build serves that version and all later ones.
#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <utility>

namespace adrt_python {

/// A reference that the scope releases.
class Ref {
 public:
  Ref() = default;
  explicit Ref(PyObject* owned) : object_(owned) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  Ref(const Ref&) = delete;
  Ref& operator=(const Ref&) = delete;
  ~Ref() { Py_XDECREF(object_); }

  static Ref Share(PyObject* borrowed) { return Ref(Py_XNewRef(borrowed)); }

  PyObject* get() const { return object_; }
  PyObject* release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
};

/// A function that takes keywords, as tables of functions hold it.
inline PyCFunction WithKeywords(PyCFunctionWithKeywords function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

/// A descriptor of the loader's, all zero but for its size.
template <class T>
T Sized() {
  T descriptor = {};
  descriptor.struct_size = sizeof descriptor;
  return descriptor;
}

}  // namespace adrt_python

#endif
