#ifndef ADRT_PYTHON_PARAMETERS_H
#define ADRT_PYTHON_PARAMETERS_H

#include <adrt/adrt.h>

#include <string>
#include <vector>

#include "array_view.h"
#include "python_api.h"

namespace adrt_python {

/// A parameter of a kernel, as Python calls it. "x.adj" of a bundle is x_adj: a character that no identifier
/// of Python has becomes an underscore, and a keyword gets one at its end. The bundle's own name is taken
/// too.
struct Parameter {
  adrt_param_report report = Sized<adrt_param_report>();
  Ref python_name;             ///< interned
  Ref bundle_name;             ///< interned
  std::string text;            ///< the name in Python, for messages
  bool hidden = false;         ///< the launch makes it
  bool is_seed = false;        ///< an adjoint that the caller gives, since the primal writes its parameter
  uint32_t number_offset = 0;  ///< in the memory of a call, of a scalar, or of a buffer of one element
  uint32_t number_bytes = 0;
  int element_axes = 0;  ///< that an element adds to an array's shape: 1 of a vector, 2 of a matrix
  uint64_t layout_bytes = 0;

  bool is_buffer() const { return report.kind == ADRT_PARAM_BUFFER; }
  bool is_scalar() const { return report.kind == ADRT_PARAM_SCALAR; }
  bool is_layout() const { return report.kind == ADRT_PARAM_LAYOUT; }
  bool is_written() const { return !is_scalar() && (report.access & ADRT_ACCESS_WRITE) != 0; }
  bool is_made_saved() const { return report.role == ADRT_ROLE_SAVED && is_written(); }
  bool has_primal() const { return report.primal != 0xFFFFFFFF; }
  /// "buffer<vec<f32, 3>, 1>".
  std::string Type() const;
};

class Parameters {
 public:
  /// False with a Python exception.
  bool Read(const adrt_bundle* bundle, const adrt_kernel* kernel, const adrt_kernel* primal);

  const std::vector<Parameter>& all() const { return all_; }
  uint32_t number_bytes() const { return number_bytes_; }  ///< that numbers of a call take
  uint32_t written() const { return written_; }            ///< how many the kernel writes
  /// The index of the parameter of that name, or -1.
  int Find(PyObject* name) const;
  /// "x, n": the names of those that a caller gives.
  std::string Names() const;

 private:
  bool ReadOne(const adrt_bundle* bundle, const adrt_kernel* kernel, uint32_t index);
  bool Name();

  std::vector<Parameter> all_;
  uint32_t number_bytes_ = 0, written_ = 0;
};

}  // namespace adrt_python

#endif
