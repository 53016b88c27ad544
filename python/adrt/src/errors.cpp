#include "errors.h"

#include <string_view>

namespace adrt_python {
namespace {

PyObject* base_error = nullptr;
PyObject* argument_error = nullptr;
PyObject* not_found_error = nullptr;
PyObject* no_target_error = nullptr;
PyObject* out_of_memory_error = nullptr;
PyObject* untrusted_error = nullptr;

// The attributes of an exception where the loader says nothing of them.
Ref Defaults() {
  Ref defaults(PyDict_New());
  for (const char* name : {"status", "status_text", "native_code", "section", "offset", "rule",
                           "needed_bytes", "parameter", "given", "wanted"}) {
    if (!defaults || PyDict_SetItemString(defaults.get(), name, Py_None) < 0) return Ref();
  }
  return defaults;
}

bool AddError(PyObject* module, const char* name, const char* doc, Ref bases, PyObject** error) {
  Ref defaults = *error == base_error ? Defaults() : Ref(PyDict_New());
  if (!bases || !defaults) return false;
  std::string full = std::string("adrt.") + name;
  *error = PyErr_NewExceptionWithDoc(full.c_str(), doc, bases.get(), defaults.get());
  return *error != nullptr && PyModule_AddObjectRef(module, name, *error) == 0;
}

PyObject* TypeFor(adrt_status status) {
  switch (status) {
    case ADRT_ERROR_ARGUMENT:
      return argument_error;
    case ADRT_ERROR_NOT_FOUND:
      return not_found_error;
    case ADRT_ERROR_NO_TARGET:
      return no_target_error;
    case ADRT_ERROR_OUT_OF_HOST_MEMORY:
    case ADRT_ERROR_OUT_OF_DEVICE_MEMORY:
      return out_of_memory_error;
    case ADRT_ERROR_UNTRUSTED:
      return untrusted_error;
    default:
      return base_error;
  }
}

void Set(PyObject* exception, const char* name, Ref value) {
  if (value) PyObject_SetAttrString(exception, name, value.get());
}

Ref Text(std::string_view text) {
  return Ref(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

Ref Make(PyObject* type, adrt_status status, const std::string& text) {
  Ref message = Text(text);
  Ref exception(message ? PyObject_CallFunctionObjArgs(type, message.get(), nullptr) : nullptr);
  if (!exception) return exception;
  Set(exception.get(), "status", Ref(PyLong_FromLong(status)));
  Set(exception.get(), "status_text", Text(adrt_status_text(status)));
  return exception;
}

Failed Throw(const Ref& exception) {
  if (exception) PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.get())), exception.get());
  return {};
}

// An exception that is under way, taken.
Ref TakeException() {
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  Py_XDECREF(type);
  Py_XDECREF(trace);
  return Ref(value);
}

std::string TextOf(PyObject* object) {
  Ref text(object ? PyObject_Str(object) : nullptr);
  const char* said = text ? PyUnicode_AsUTF8AndSize(text.get(), nullptr) : nullptr;
  if (!said) PyErr_Clear();
  return said ? said : "?";
}

Ref MakeArgumentError(const std::string& kernel, const std::string& parameter, const std::string& given,
                      const std::string& wanted) {
  std::string text =
      "kernel '" + kernel + "', parameter '" + parameter + "': given " + given + ", wanted " + wanted;
  Ref exception = Make(argument_error, ADRT_ERROR_ARGUMENT, text);
  if (!exception) return exception;
  Set(exception.get(), "parameter", Text(parameter));
  Set(exception.get(), "given", Text(given));
  Set(exception.get(), "wanted", Text(wanted));
  return exception;
}

}  // namespace

bool AddErrors(PyObject* module) {
  return AddError(
             module, "Error",
             "What the loader refuses, or what a launch reports.\n\n"
             "status: the loader's number (ADRT_ERROR_* in adrt.h); status_text: its short name;\n"
             "native_code: errno, or the driver's code, of the call that failed; section, offset, rule: the\n"
             "place and the rule of a broken bundle; needed_bytes: how much memory would do; parameter,\n"
             "given, wanted: of an argument that does not suit. None where nothing is known.",
             Ref::Share(PyExc_RuntimeError), &base_error) &&
         AddError(module, "ArgumentError",
                  "An argument is wrong: `parameter` names it, `given` and `wanted` say what differs.",
                  Ref(PyTuple_Pack(3, base_error, PyExc_TypeError, PyExc_ValueError)), &argument_error) &&
         AddError(module, "NotFoundError", "No kernel, no derivative, or no device of that name.",
                  Ref(PyTuple_Pack(3, base_error, PyExc_LookupError, PyExc_AttributeError)),
                  &not_found_error) &&
         AddError(module, "NoTargetError",
                  "The bundle has no code for the device on which the arguments lie.", Ref::Share(base_error),
                  &no_target_error) &&
         AddError(module, "OutOfMemoryError",
                  "Memory of the host or of the device is used up: `needed_bytes`.",
                  Ref(PyTuple_Pack(2, base_error, PyExc_MemoryError)), &out_of_memory_error) &&
         AddError(module, "UntrustedError",
                  "The bundle's code may not run: it is not trusted, and none of the keys has signed it.",
                  Ref::Share(base_error), &untrusted_error);
}

Failed Raise(const adrt_error& error, const std::string& more, const std::string& parameter) {
  std::string_view said = error.text[0] != 0 ? error.text : adrt_status_text(error.status);
  Ref exception = Make(TypeFor(error.status), error.status, std::string(said) + more);
  if (!exception) return {};
  if (error.native_code != 0) Set(exception.get(), "native_code", Ref(PyLong_FromLong(error.native_code)));
  bool of_bundle = error.status >= ADRT_ERROR_BAD_MAGIC && error.status < ADRT_ERROR_NO_TARGET;
  if (of_bundle && error.section != 0xFFFFFFFF)
    Set(exception.get(), "section", Ref(PyLong_FromUnsignedLong(error.section)));
  if (error.offset != 0) Set(exception.get(), "offset", Ref(PyLong_FromUnsignedLongLong(error.offset)));
  if (error.rule != 0) Set(exception.get(), "rule", Ref(PyLong_FromUnsignedLong(error.rule)));
  if (error.needed_bytes != 0) {
    Set(exception.get(), "needed_bytes", Ref(PyLong_FromUnsignedLongLong(error.needed_bytes)));
  }
  std::string named = parameter.empty() ? ParameterOf(error) : parameter;
  if (!named.empty()) Set(exception.get(), "parameter", Text(named));
  return Throw(exception);
}

// The loader's texts name a parameter as "parameter 'x'".
std::string ParameterOf(const adrt_error& error) {
  constexpr std::string_view kMark = "parameter '";
  std::string_view text = error.text;
  size_t begin = text.find(kMark);
  if (begin == std::string_view::npos) return {};
  begin += kMark.size();
  size_t end = text.find('\'', begin);
  return end == std::string_view::npos ? std::string() : std::string(text.substr(begin, end - begin));
}

Failed RaiseArgument(const std::string& kernel, const std::string& parameter, PyObject* given,
                     const std::string& wanted) {
  Ref cause = TakeException();
  Ref exception = MakeArgumentError(kernel, parameter, given ? Describe(given) : "nothing", wanted);
  if (exception && cause) PyException_SetCause(exception.get(), cause.release());
  return Throw(exception);
}

Failed RaiseArgumentText(const std::string& kernel, const std::string& parameter, const std::string& given,
                         const std::string& wanted) {
  return Throw(MakeArgumentError(kernel, parameter, given, wanted));
}

std::string TakeErrorText() {
  return TextOf(TakeException().get());
}

std::string Describe(PyObject* object) {
  if (PyLong_Check(object) || PyFloat_Check(object) || object == Py_None) return TextOf(object);
  Ref type(PyObject_GetAttrString(object, "dtype")), shape(PyObject_GetAttrString(object, "shape"));
  PyErr_Clear();
  if (type && shape) return TextOf(type.get()) + " of shape " + TextOf(shape.get());
  Ref name(PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(object)), "__name__"));
  return TextOf(name.get());
}

Failed RaiseNotFound(const std::string& text) {
  return Throw(Make(not_found_error, ADRT_ERROR_NOT_FOUND, text));
}

Failed RaiseUntrusted(const std::string& text) {
  return Throw(Make(untrusted_error, ADRT_ERROR_UNTRUSTED, text));
}

}  // namespace adrt_python
