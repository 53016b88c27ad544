// The module adrt._adrt. The package adrt shows its names, and adds what is written in Python.

#include "errors.h"
#include "objects.h"
#include "xla_call.h"

namespace adrt_python {
namespace {

PyObject* Forget(PyObject*, PyObject*) {
  ForgetDevices();
  Py_RETURN_NONE;
}

constexpr char kLoadDoc[] = R"(load(source, /, *, trust=True, keys=None)
--

Opens a bundle: a path, or the bytes of one, which are copied.

Opening is safe for any bytes. Calls run the bundle's code in this process: load what you compiled, or what
you would import. trust=False opens a bundle to look at it, and calls of its kernels are refused. keys, public
keys of `adc sign`, each as the path of its file or as 32 bytes: opens what one of them has signed, and raises
adrt.UntrustedError for anything else.
Raises adrt.Error with the place and the rule that a broken bundle breaks.)";

constexpr char kDevicesDoc[] = R"(devices()
--

This machine's devices, a list of dicts with the keys device ('cpu', 'cuda:0'), kind, name, arch, threads and
features; a kind without a device has the keys device and absent, the reason.)";

PyMethodDef functions[] = {
    {"load", WithKeywords(Load), METH_VARARGS | METH_KEYWORDS, kLoadDoc},
    {"devices", ListDevices, METH_NOARGS, kDevicesDoc},
    {"_forget_devices", Forget, METH_NOARGS, "Opens devices anew at their next use: in a child of fork."},
    {"_xla_handlers", XlaHandlers, METH_NOARGS,
     "The handlers of XLA's foreign function interface that run kernels, as capsules: on the CPU, on CUDA."},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "adrt._adrt",
                          "Kernels of bundles, called from Python: see the package adrt.",
                          -1,
                          functions,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

}  // namespace
}  // namespace adrt_python

PyMODINIT_FUNC PyInit__adrt() {  // NOLINT(bugprone-reserved-identifier): Python looks for this name
  using namespace adrt_python;
  Ref module(PyModule_Create(&definition));
  bool added = module && AddErrors(module.get()) && AddBundleType(module.get()) &&
               AddKernelType(module.get()) && AddSizeType(module.get());
  return added ? module.release() : nullptr;
}
