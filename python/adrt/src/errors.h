#ifndef ADRT_PYTHON_ERRORS_H
#define ADRT_PYTHON_ERRORS_H

#include <adrt/adrt.h>

#include <string>

#include "python_api.h"

namespace adrt_python {

/// The result of a function that has raised an exception of Python: false, or null.
struct Failed {
  operator bool() const { return false; }
  template <class T>
  operator T*() const {
    return nullptr;
  }
};

/// Makes the exceptions of the module: Error and, under it, ArgumentError, NotFoundError, NoTargetError,
/// OutOfMemoryError and UntrustedError. False with a Python exception.
bool AddErrors(PyObject* module);

/// Raises what the loader says, with its fields as attributes. Where the text names a parameter, so does the
/// exception. `more` is said after the loader's text. `parameter` is its name in Python, where the caller
/// knows it.
Failed Raise(const adrt_error& error, const std::string& more = {}, const std::string& parameter = {});
/// The parameter that a text of the loader's names, or nothing.
std::string ParameterOf(const adrt_error& error);

/// An argument that does not suit its parameter: the given object, null for none, and the wanted one, as
/// words that follow this one. An exception that is under way becomes the cause.
Failed RaiseArgument(const std::string& kernel, const std::string& parameter, PyObject* given,
                     const std::string& wanted);
/// The same, with words for what was given.
Failed RaiseArgumentText(const std::string& kernel, const std::string& parameter, const std::string& given,
                         const std::string& wanted);

/// The text of the exception under way, which ends here.
std::string TakeErrorText();

/// A description of an object, for messages: "float64 of shape (3,)", "str".
std::string Describe(PyObject* object);

/// A kernel, a derivative or a device that is not there.
Failed RaiseNotFound(const std::string& text);
/// A bundle that none of the caller's keys has signed.
Failed RaiseUntrusted(const std::string& text);

}  // namespace adrt_python

#endif
