#include <algorithm>
#include <new>

#include "errors.h"
#include "keys.h"
#include "objects.h"

namespace adrt_python {
namespace {

PyTypeObject* bundle_type = nullptr;

BundleState& StateOf(PyObject* self) {
  return *reinterpret_cast<BundleObject*>(self)->state;
}

void Destroy(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  delete reinterpret_cast<BundleObject*>(self)->state;
  auto release = reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free));
  release(self);
  Py_DECREF(type);
}

bool ToName(PyObject* object, std::string* name) {
  Py_ssize_t size = 0;
  const char* text = PyUnicode_Check(object) ? PyUnicode_AsUTF8AndSize(object, &size) : nullptr;
  if (text) name->assign(text, static_cast<size_t>(size));
  if (!text && !PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "a kernel is named by a str");
  return text != nullptr;
}

PyObject* Subscript(PyObject* self, PyObject* key) {
  std::string name;
  return ToName(key, &name) ? MakeKernel(self, name, {}) : nullptr;
}

Py_ssize_t Length(PyObject* self) {
  return static_cast<Py_ssize_t>(StateOf(self).KernelNames().size());
}

int Contains(PyObject* self, PyObject* key) {
  std::string name;
  if (!PyUnicode_Check(key)) return 0;
  if (!ToName(key, &name)) return -1;
  std::vector<std::string> names = StateOf(self).KernelNames();
  return std::find(names.begin(), names.end(), name) != names.end();
}

PyObject* Iterate(PyObject* self) {
  Ref names = ToList(StateOf(self).KernelNames());
  return names ? PyObject_GetIter(names.get()) : nullptr;
}

PyObject* Kernels(PyObject* self, void*) {
  return ToList(StateOf(self).KernelNames()).release();
}

PyObject* Targets(PyObject* self, void*) {
  return ToList(StateOf(self).TargetNames()).release();
}

PyObject* ContentId(PyObject* self, void*) {
  return PyUnicode_FromString(StateOf(self).ContentId().c_str());
}

PyObject* Represent(PyObject* self) {
  const BundleState& state = StateOf(self);
  return PyUnicode_FromFormat("<adrt.Bundle %s: %u kernels, %u targets>", state.name().c_str(),
                              static_cast<unsigned>(state.KernelNames().size()), state.report().target_count);
}

PyGetSetDef properties[] = {
    {"kernels", Kernels, nullptr, "Names of the kernels, those of derivatives included.", nullptr},
    {"targets", Targets, nullptr, "Targets that the bundle has code for: 'cpu:x86-64-v3', 'cuda:sm_80'.",
     nullptr},
    {"content_id", ContentId, nullptr, "The hash of what the bundle holds, in hexadecimal digits.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

constexpr char kDoc[] =
    "An opened bundle: bundle['relax'] is a kernel, iteration gives the kernels' names.\n\n"
    "Made by adrt.load. Its code for a device is loaded at the first call of a kernel there.";

PyType_Slot slots[] = {{Py_tp_doc, const_cast<char*>(kDoc)},
                       {Py_tp_dealloc, reinterpret_cast<void*>(Destroy)},
                       {Py_tp_repr, reinterpret_cast<void*>(Represent)},
                       {Py_tp_iter, reinterpret_cast<void*>(Iterate)},
                       {Py_tp_getset, properties},
                       {Py_mp_subscript, reinterpret_cast<void*>(Subscript)},
                       {Py_mp_length, reinterpret_cast<void*>(Length)},
                       {Py_sq_contains, reinterpret_cast<void*>(Contains)},
                       {0, nullptr}};

PyType_Spec spec = {"adrt.Bundle", sizeof(BundleObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE, slots};

// Takes the arguments of adrt.load about trust. False with a Python exception.
bool TakeTrust(int trust, PyObject* keys, Trust* taken) {
  if (keys == Py_None) {
    taken->anything = trust != 0;
    return true;
  }
  if (trust >= 0) {
    PyErr_SetString(PyExc_TypeError, "adrt.load: given trust and keys, of which one says what may run");
    return false;
  }
  taken->by_keys = true;
  return ReadKeys(keys, &taken->keys);
}

PyObject* OpenBundle(PyObject* bytes, const std::string& name, const Trust& trust) {
  Py_buffer buffer;
  if (PyObject_GetBuffer(bytes, &buffer, PyBUF_SIMPLE) < 0) return nullptr;
  auto state = std::make_unique<BundleState>();
  bool opened = state->Open(buffer.buf, static_cast<size_t>(buffer.len), trust, name);
  PyBuffer_Release(&buffer);
  if (!opened) return nullptr;
  auto allocate = reinterpret_cast<allocfunc>(PyType_GetSlot(bundle_type, Py_tp_alloc));
  PyObject* self = allocate(bundle_type, 0);
  if (self) reinterpret_cast<BundleObject*>(self)->state = state.release();
  return self;
}

}  // namespace

Ref ReadFile(PyObject* path) {
  Ref io(PyImport_ImportModule("io"));
  Ref file(io ? PyObject_CallMethod(io.get(), "open", "Os", path, "rb") : nullptr);
  if (!file) return Ref();
  Ref bytes(PyObject_CallMethod(file.get(), "read", nullptr));
  Ref closed(PyObject_CallMethod(file.get(), "close", nullptr));
  return closed ? std::move(bytes) : Ref();
}

Ref ToList(const std::vector<std::string>& words) {
  Ref list(PyList_New(0));
  for (const std::string& word : words) {
    Ref text(PyUnicode_FromStringAndSize(word.data(), static_cast<Py_ssize_t>(word.size())));
    if (!list || !text || PyList_Append(list.get(), text.get()) < 0) return Ref();
  }
  return list;
}

PyObject* Load(PyObject*, PyObject* args, PyObject* keywords) {
  static const char* names[] = {"", "trust", "keys", nullptr};
  PyObject *source = nullptr, *keys = Py_None;
  int told = -1;  // nothing
  Trust trust;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|$pO:load", const_cast<char**>(names), &source, &told,
                                   &keys) ||
      !TakeTrust(told, keys, &trust)) {
    return nullptr;
  }
  if (PyObject_CheckBuffer(source)) return OpenBundle(source, "the bundle", trust);
  Ref path(PyOS_FSPath(source));
  if (!path) {
    if (PyErr_ExceptionMatches(PyExc_TypeError)) {
      PyErr_Format(PyExc_TypeError, "adrt.load: given %s, wanted a path or the bytes of a bundle",
                   Describe(source).c_str());
    }
    return nullptr;
  }
  Ref bytes = ReadFile(path.get());
  Ref text(bytes ? PyObject_Str(path.get()) : nullptr);
  const char* name = text ? PyUnicode_AsUTF8AndSize(text.get(), nullptr) : nullptr;
  return name ? OpenBundle(bytes.get(), name, trust) : nullptr;
}

bool AddBundleType(PyObject* module) {
  bundle_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  return bundle_type &&
         PyModule_AddObjectRef(module, "Bundle", reinterpret_cast<PyObject*>(bundle_type)) == 0;
}

}  // namespace adrt_python
