#include <cstring>

#include "errors.h"
#include "numbers.h"
#include "objects.h"
#include "xla_call.h"

namespace adrt_python {
namespace {

PyTypeObject* kernel_type = nullptr;
PyTypeObject* parameter_type = nullptr;

KernelObject* Of(PyObject* self) {
  return reinterpret_cast<KernelObject*>(self);
}

void Destroy(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  Py_XDECREF(Of(self)->bundle);
  Py_XDECREF(Of(self)->options.heap);
  auto release = reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free));
  release(self);
  Py_DECREF(type);
}

PyObject* Invoke(PyObject* self, PyObject* args, PyObject* keywords) {
  KernelObject* kernel = Of(self);
  if (PyTuple_Size(args) > 0) {
    return RaiseArgumentText(kernel->state->report().name, "(by position)", "arguments without names",
                             "arguments by name: " + kernel->state->Signature());
  }
  return Call(*kernel->state, kernel->options).Run(keywords);
}

bool HasDifferentiable(const KernelState& kernel) {
  for (const Parameter& param : kernel.parameters().all()) {
    if (param.report.diff) return true;
  }
  return false;
}

PyObject* Derivative(PyObject* self, const char* role, const char* what, const char* option) {
  KernelObject* kernel = Of(self);
  const char* name = kernel->state->report().name;
  const adrt_kernel* found = kernel->state->bundle().FindDerivative(name, role);
  if (!found) {
    std::string text =
        std::string("kernel '") + name + "' has no " + what + " in " + kernel->state->bundle().name();
    bool is_primal = std::strcmp(kernel->state->report().role, "primal") == 0;
    if (is_primal && !HasDifferentiable(*kernel->state)) {
      text += ": none of its parameters is marked 'diff'";
    } else {
      text += std::string(": compile it with adc --derive=") + option + ", where it can have one";
    }
    return RaiseNotFound(text);
  }
  auto report = Sized<adrt_kernel_report>();
  auto error = Sized<adrt_error>();
  if (adrt_kernel_info(found, &report, &error) != ADRT_OK) return Raise(error);
  return MakeKernel(kernel->bundle, report.name, kernel->options);
}

PyObject* Gradient(PyObject* self, void*) {
  return Derivative(self, "grad", "gradient", "grad");
}

PyObject* Forward(PyObject* self, void*) {
  bool is_gradient = std::strcmp(Of(self)->state->report().role, "grad") == 0;
  return Derivative(self, "jvp", "forward mode", is_gradient ? "'jvp(grad)'" : "grad,jvp");
}

PyObject* Name(PyObject* self, void*) {
  return PyUnicode_FromString(Of(self)->state->report().name);
}

PyObject* Role(PyObject* self, void*) {
  return PyUnicode_FromString(Of(self)->state->report().role);
}

PyObject* PrimalName(PyObject* self, void*) {
  const char* name = Of(self)->state->report().of;
  if (name[0] == 0) Py_RETURN_NONE;
  return PyUnicode_FromString(name);
}

PyObject* BundleOf(PyObject* self, void*) {
  return Py_NewRef(Of(self)->bundle);
}

const char* KindName(const Parameter& param) {
  return param.is_buffer() ? "buffer" : param.is_scalar() ? "scalar" : "layout";
}

const char* RoleName(uint32_t role) {
  constexpr const char* kNames[] = {"plain", "adjoint", "tangent", "scratch", "segment", "trips", "saved"};
  return role < std::size(kNames) ? kNames[role] : "?";
}

PyObject* MakeParameter(const Parameters& all, const Parameter& param) {
  constexpr const char* kTypes[] = {"",       "bool",   "int8",   "int16",   "int32",   "int64",  "uint8",
                                    "uint16", "uint32", "uint64", "float16", "float32", "float64"};
  const adrt_param_report& report = param.report;
  Ref made(PyStructSequence_New(parameter_type));
  if (!made) return nullptr;
  bool reads = param.is_scalar() || (report.access & ADRT_ACCESS_READ) != 0;
  Ref element(param.element_axes == 2   ? Py_BuildValue("(II)", report.rows, report.columns)
              : param.element_axes == 1 ? Py_BuildValue("(I)", report.rows)
                                        : PyTuple_New(0));
  const char* primal = param.has_primal() ? all.all()[report.primal].text.c_str() : nullptr;
  PyObject* values[] = {PyUnicode_FromString(param.text.c_str()),
                        PyUnicode_FromString(report.name),
                        PyUnicode_FromString(KindName(param)),
                        PyUnicode_FromString(kTypes[report.type]),
                        PyLong_FromUnsignedLong(param.is_buffer() ? report.rank : 0),
                        element.release(),
                        PyBool_FromLong(reads),
                        PyBool_FromLong(param.is_written()),
                        PyUnicode_FromString(RoleName(report.role)),
                        primal ? PyUnicode_FromString(primal) : Py_NewRef(Py_None),
                        PyBool_FromLong(report.diff != 0),
                        PyBool_FromLong(param.is_seed)};
  for (size_t at = 0; at < std::size(values); ++at) {
    if (!values[at]) return nullptr;
    PyStructSequence_SetItem(made.get(), static_cast<Py_ssize_t>(at), values[at]);
  }
  return made.release();
}

PyObject* ParametersOf(PyObject* self, void*) {
  const Parameters& parameters = Of(self)->state->parameters();
  Ref list(PyList_New(0));
  for (const Parameter& param : parameters.all()) {
    if (param.hidden) continue;
    Ref made(MakeParameter(parameters, param));
    if (!list || !made || PyList_Append(list.get(), made.get()) < 0) return nullptr;
  }
  return list ? PyList_AsTuple(list.get()) : nullptr;
}

PyObject* Represent(PyObject* self) {
  return PyUnicode_FromFormat("<adrt.Kernel %s>", Of(self)->state->Signature().c_str());
}

// A number, or an object that has one: cuda_stream of PyTorch, ptr of CuPy.
bool TakeStream(PyObject* value, Options* options) {
  options->has_stream = value != Py_None;
  options->stream = 0;
  if (value == Py_None) return true;
  Ref number = PyLong_Check(value) ? Ref::Share(value) : Ref();
  for (const char* name : {"cuda_stream", "ptr"}) {
    if (number) break;
    number = Ref(PyObject_GetAttrString(value, name));
    if (!number) PyErr_Clear();
  }
  if (!number) return false;
  options->stream = PyLong_AsUnsignedLongLong(number.get());
  if (options->stream == 0) options->stream = kDefaultStream;
  return !PyErr_Occurred();
}

PyObject* Check(PyObject* self, PyObject*) {
  const Options& options = Of(self)->options;
  if (options.has_stream && !Of(self)->state->CheckStream(options.stream)) return nullptr;
  Py_RETURN_NONE;
}

PyObject* On(PyObject* self, PyObject* args, PyObject* keywords) {
  static const char* names[] = {"threads", "budget", "heap", "stream", nullptr};
  PyObject *threads = nullptr, *budget = nullptr, *heap = nullptr, *stream = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "|$OOOO:on", const_cast<char**>(names), &threads, &budget,
                                   &heap, &stream)) {
    return nullptr;
  }
  Options options = Of(self)->options;
  std::string wrong;
  if (threads && !TakeThreads(threads, &options)) wrong = "threads";
  if (budget && !TakeBudget(budget, &options)) wrong = "budget";
  if (!wrong.empty()) {
    return RaiseArgument(Of(self)->state->report().name, wrong, wrong == "threads" ? threads : budget,
                         "a number that is not negative, or 0 for as many as there are");
  }
  if (stream && !TakeStream(stream, &options)) {
    return RaiseArgument(Of(self)->state->report().name, "stream", stream,
                         "a stream of PyTorch or CuPy, its number, or None");
  }
  if (heap && heap != Py_None && !PyCallable_Check(heap)) {
    return RaiseArgument(Of(self)->state->report().name, "heap", heap,
                         "a function of a number of bytes, or None");
  }
  if (heap) options.heap = heap == Py_None ? nullptr : heap;
  return MakeKernel(Of(self)->bundle, Of(self)->state->report().name, options);
}

PyObject* Size(PyObject* self, PyObject* args, PyObject* keywords) {
  if (PyTuple_Size(args) > 0) {
    return RaiseArgumentText(Of(self)->state->report().name, "(by position)", "shapes without names",
                             "shapes by name: " + Of(self)->state->Signature());
  }
  return SizeOf(*Of(self)->state, Of(self)->options, keywords);
}

PyObject* XlaName(PyObject* self, PyObject* args) {
  int on_cpu = 0;
  if (!PyArg_ParseTuple(args, "p:_xla_name", &on_cpu)) return nullptr;
  return NameForXla(Of(self)->bundle, *Of(self)->state, Of(self)->options, on_cpu != 0);
}

PyObject* InStream(PyObject* self, PyObject* args) {
  Options options = Of(self)->options;
  unsigned long long stream = 0;
  if (!PyArg_ParseTuple(args, "K:_in_stream", &stream)) return nullptr;
  if (options.has_stream) return Py_NewRef(self);
  options.has_stream = options.may_wait = true;
  options.stream = stream != 0 ? stream : kDefaultStream;
  return MakeKernel(Of(self)->bundle, Of(self)->state->report().name, options);
}

PyObject* Number(PyObject* self, PyObject* args) {
  PyObject *name = nullptr, *value = nullptr;
  if (!PyArg_ParseTuple(args, "UO:_number", &name, &value)) return nullptr;
  const Parameters& parameters = Of(self)->state->parameters();
  int index = parameters.Find(name);
  if (index < 0) return PyErr_Format(PyExc_KeyError, "no parameter %U", name);
  const Parameter& param = parameters.all()[static_cast<size_t>(index)];
  std::vector<unsigned char> bytes(param.number_bytes);
  std::string wanted = "an array for " + param.Type();
  if (bytes.empty() || !WriteNumbers(value, param.report, bytes.data(), &wanted)) {
    return RaiseArgument(Of(self)->state->report().name, param.text, value, wanted);
  }
  return PyBytes_FromStringAndSize(reinterpret_cast<char*>(bytes.data()),
                                   static_cast<Py_ssize_t>(bytes.size()));
}

constexpr char kOnDoc[] = R"(on(*, threads=0, budget=0, heap=None, stream=None)
--

The same kernel with other options of its launches; those that are not given stay.

threads: how many workers of a CPU, or threads of a GPU that hold rows of tapes, run at once at most; 0: the
device's own number.
budget: bytes that the memory of a launch may take; 0: what it needs. Fewer threads run where that makes it
fit, and loops that were compiled with checkpoints have them. Error, with needed_bytes, where not even that
does it.
heap: where the memory of a launch comes from: called with its bytes, it gives an array of at least as many on
the device of the arguments, which is released after the launch. It is not called for a launch that takes
none. None: each kernel has memory that its launches use again.
stream: of CUDA or HIP, in which launches are recorded without waiting: a stream of PyTorch or CuPy, or its
number. None: calls keep order with the default stream, and wait.)";

constexpr char kCheckDoc[] = R"(check()
--

Raises what launches in this kernel's stream have reported since the last check. Call it once the stream is
idle.)";

constexpr char kSizeDoc[] = R"(size(**shapes_and_numbers)
--

What a launch takes, without a device.

Buffers are given as shapes (1000, or (64, 3) for two axes) or as arrays, whose shapes count; numbers as in a
call. threads, budget and target ('cuda:sm_80') choose for whom, where the kernel has no parameters of these
names. Returns adrt.Size. ArgumentError where a shape or a number is missing.)";

constexpr char kXlaNameDoc[] =
    "_xla_name(on_cpu): the name by which XLA's handlers find this kernel with its options, a str; None "
    "where a launch needs Python. on_cpu: its code for the CPU is loaded now.";

constexpr char kInStreamDoc[] =
    "_in_stream(stream): this kernel in a stream of CUDA, a number, in which its launches wait only where "
    "sizes "
    "or reports have to be read; itself where it has a stream.";

constexpr char kNumberDoc[] =
    "The bytes of a number, or of a sequence of numbers, for the parameter of that name: _number('n', 3).";

PyMethodDef methods[] = {{"on", WithKeywords(On), METH_VARARGS | METH_KEYWORDS, kOnDoc},
                         {"check", Check, METH_NOARGS, kCheckDoc},
                         {"size", WithKeywords(Size), METH_VARARGS | METH_KEYWORDS, kSizeDoc},
                         {"_xla_name", XlaName, METH_VARARGS, kXlaNameDoc},
                         {"_in_stream", InStream, METH_VARARGS, kInStreamDoc},
                         {"_number", Number, METH_VARARGS, kNumberDoc},
                         {nullptr, nullptr, 0, nullptr}};

PyGetSetDef properties[] = {
    {"name", Name, nullptr, "The kernel's name in the bundle: 'relax.grad'.", nullptr},
    {"role", Role, nullptr, "'primal', 'grad' or 'jvp'.", nullptr},
    {"of", PrimalName, nullptr, "The kernel that it was derived from, or None.", nullptr},
    {"bundle", BundleOf, nullptr, "The bundle that it is from.", nullptr},
    {"params", ParametersOf, nullptr, "Its parameters, a tuple of adrt.Parameter.", nullptr},
    {"grad", Gradient, nullptr, "Its gradient, a kernel. NotFoundError where the bundle has none.", nullptr},
    {"jvp", Forward, nullptr, "Its forward mode, a kernel. NotFoundError where the bundle has none.",
     nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

constexpr char kDoc[] = R"(A kernel of a bundle. A call runs it and waits; arguments are given by name.

Buffers are contiguous arrays of exactly the parameter's type, on one device, and are not copied: NumPy
arrays, and all that has the buffer protocol, DLPack or __cuda_array_interface__. vec<T, N> adds an axis of N
to the shape, mat<T, R, C> two. Scalars are numbers; vectors and matrices are sequences. A buffer without axes
may be a number.

Outputs that are not given are made, of zeros, where their shape is known: of a single element, or that of the
parameter that they are the adjoint or tangent of. Elsewhere a shape in place of the array makes one.
Returns a named tuple of all parameters that the kernel writes, given or made; None where it writes none.
ArgumentError names the parameter that is wrong.)";

PyType_Slot slots[] = {{Py_tp_doc, const_cast<char*>(kDoc)},
                       {Py_tp_dealloc, reinterpret_cast<void*>(Destroy)},
                       {Py_tp_repr, reinterpret_cast<void*>(Represent)},
                       {Py_tp_call, reinterpret_cast<void*>(Invoke)},
                       {Py_tp_methods, methods},
                       {Py_tp_getset, properties},
                       {0, nullptr}};

PyType_Spec spec = {"adrt.Kernel", sizeof(KernelObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE, slots};

PyStructSequence_Field parameter_fields[] = {
    {"name", "as Python calls it: 'x_adj'"},
    {"bundle_name", "as the bundle and the command line call it: 'x.adj'"},
    {"kind", "'buffer', 'scalar' or 'layout'"},
    {"dtype", "of one component, as NumPy calls it: 'float32'; empty for layouts"},
    {"ndim", "axes of a buffer"},
    {"element_shape", "axes that an element adds: (3,) of vec<T, 3>"},
    {"reads", "whether the kernel reads it"},
    {"writes", "whether the kernel writes it"},
    {"role", "'plain', 'adjoint', 'tangent' or 'saved'"},
    {"primal", "the parameter that it is the adjoint or tangent of, or None"},
    {"diff", "whether derivatives pass through it"},
    {"is_seed", "whether a gradient starts from it, so that it must be given"},
    {nullptr, nullptr}};

PyStructSequence_Desc parameter_desc = {"adrt.Parameter", "A parameter of a kernel.", parameter_fields, 12};

}  // namespace

PyObject* MakeKernel(PyObject* bundle, const std::string& name, const Options& options) {
  KernelState* state = reinterpret_cast<BundleObject*>(bundle)->state->Find(name);
  if (!state) return nullptr;
  auto allocate = reinterpret_cast<allocfunc>(PyType_GetSlot(kernel_type, Py_tp_alloc));
  PyObject* self = allocate(kernel_type, 0);
  if (!self) return nullptr;
  Of(self)->bundle = Py_NewRef(bundle);
  Of(self)->state = state;
  Of(self)->options = options;
  Py_XINCREF(options.heap);
  return self;
}

bool AddKernelType(PyObject* module) {
  kernel_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  parameter_type = PyStructSequence_NewType(&parameter_desc);
  return kernel_type && parameter_type &&
         PyModule_AddObjectRef(module, "Kernel", reinterpret_cast<PyObject*>(kernel_type)) == 0 &&
         PyModule_AddObjectRef(module, "Parameter", reinterpret_cast<PyObject*>(parameter_type)) == 0;
}

}  // namespace adrt_python
