#include "parameters.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "errors.h"

namespace adrt_python {
namespace {

constexpr std::string_view kKeywords[] = {
    "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
    "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
    "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
    "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};

std::string ToPython(std::string_view name) {
  std::string made;
  for (char letter : name) {
    bool known = std::isalnum(static_cast<unsigned char>(letter)) != 0;
    made += known ? letter : '_';
  }
  if (made.empty() || std::isdigit(static_cast<unsigned char>(made[0]))) made.insert(0, "_");
  if (std::find(std::begin(kKeywords), std::end(kKeywords), made) != std::end(kKeywords)) made += '_';
  return made;
}

std::string ElementType(const adrt_param_report& report) {
  std::string type = adrt_type_name(report.type);
  if (report.rows == 1 && report.columns == 1) return type;
  if (report.columns == 1) return "vec<" + type + ", " + std::to_string(report.rows) + ">";
  return "mat<" + type + ", " + std::to_string(report.rows) + ", " + std::to_string(report.columns) + ">";
}

}  // namespace

std::string Parameter::Type() const {
  if (is_layout()) return "layout";
  if (is_scalar()) return ElementType(report);
  return "buffer<" + ElementType(report) + ", " + std::to_string(report.rank) + ">";
}

bool Parameters::ReadOne(const adrt_bundle* bundle, const adrt_kernel* kernel, uint32_t index) {
  adrt_error error = Sized<adrt_error>();
  Parameter param;
  if (adrt_kernel_param(kernel, index, &param.report, &error) != ADRT_OK) return Raise(error);
  param.hidden = param.report.kind > ADRT_PARAM_LAYOUT;
  param.text = ToPython(param.report.name);
  if (param.is_layout()) {
    auto layout = Sized<adrt_layout_report>();
    if (adrt_bundle_layout(bundle, param.report.layout, &layout, &error) != ADRT_OK) return Raise(error);
    param.layout_bytes = layout.bytes;
  } else if (!param.hidden) {
    param.element_axes = param.report.columns > 1 ? 2 : param.report.rows > 1 ? 1 : 0;
    if (param.is_scalar() || param.report.rank == 0) {
      param.number_bytes = adrt_type_size(param.report.type) * param.report.rows * param.report.columns;
      param.number_offset = number_bytes_;
      number_bytes_ += (param.number_bytes + 7) / 8 * 8;
    }
  }
  written_ += !param.hidden && param.is_written();
  all_.push_back(std::move(param));
  return true;
}

// Two parameters of one name in Python: the one whose own name that is has it, the others have that of the
// bundle alone.
bool Parameters::Name() {
  for (Parameter& param : all_) {
    auto same = [&](const Parameter& other) {
      return &other != &param && (other.text == param.text || other.report.name == param.text);
    };
    if (param.text != param.report.name && std::any_of(all_.begin(), all_.end(), same))
      param.text = param.report.name;
  }
  for (Parameter& param : all_) {
    param.python_name = Ref(PyUnicode_InternFromString(param.text.c_str()));
    param.bundle_name = Ref(PyUnicode_InternFromString(param.report.name));
    if (!param.python_name || !param.bundle_name) return false;
  }
  return true;
}

bool Parameters::Read(const adrt_bundle* bundle, const adrt_kernel* kernel, const adrt_kernel* primal) {
  adrt_error error = Sized<adrt_error>();
  auto report = Sized<adrt_kernel_report>();
  if (adrt_kernel_info(kernel, &report, &error) != ADRT_OK) return Raise(error);
  for (uint32_t index = 0; index < report.param_count; ++index) {
    if (!ReadOne(bundle, kernel, index)) return false;
  }
  auto primal_report = Sized<adrt_kernel_report>();
  if (primal && adrt_kernel_info(primal, &primal_report, &error) != ADRT_OK) return Raise(error);
  for (uint32_t index = 0; index < primal_report.param_count; ++index) {
    auto theirs = Sized<adrt_param_report>();
    if (adrt_kernel_param(primal, index, &theirs, &error) != ADRT_OK) return Raise(error);
    for (Parameter& param : all_) {
      bool is_adjoint = param.report.role == ADRT_ROLE_ADJOINT && param.has_primal();
      bool of_it = is_adjoint && std::string_view(all_[param.report.primal].report.name) == theirs.name;
      param.is_seed |= of_it && theirs.kind != ADRT_PARAM_SCALAR && (theirs.access & ADRT_ACCESS_WRITE) != 0;
    }
  }
  return Name();
}

int Parameters::Find(PyObject* name) const {
  int count = static_cast<int>(all_.size());
  for (int index = 0; index < count; ++index) {
    if (all_[index].python_name.get() == name) return index;
  }
  for (int index = 0; index < count; ++index) {
    if (PyUnicode_Compare(all_[index].python_name.get(), name) == 0 ||
        PyUnicode_Compare(all_[index].bundle_name.get(), name) == 0) {
      return index;
    }
  }
  return -1;
}

std::string Parameters::Names() const {
  std::string names;
  for (const Parameter& param : all_) {
    if (!param.hidden) names += (names.empty() ? "" : ", ") + param.text;
  }
  return names;
}

}  // namespace adrt_python
