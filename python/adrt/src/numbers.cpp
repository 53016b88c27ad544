#include "numbers.h"

#include <cfloat>
#include <cmath>
#include <cstring>

namespace adrt_python {
namespace {

template <class N>
void Put(N number, unsigned char* bytes) {
  std::memcpy(bytes, &number, sizeof number);
}

bool IsSigned(uint32_t type) {
  return type >= ADRT_TYPE_I8 && type <= ADRT_TYPE_I64;
}

std::string Range(uint32_t type) {
  uint32_t bits = 8 * adrt_type_size(type);
  std::string name = adrt_type_name(type);
  if (type == ADRT_TYPE_I1) return "True or False (i1)";
  return IsSigned(type) ? "an integer of " + name + ", -2**" + std::to_string(bits - 1) + " to 2**" +
                              std::to_string(bits - 1) + " - 1"
                        : "an integer of " + name + ", 0 to 2**" + std::to_string(bits) + " - 1";
}

bool WriteInteger(PyObject* value, uint32_t type, unsigned char* bytes) {
  Ref integer(PyNumber_Index(value));
  if (!integer) return false;
  uint32_t size = adrt_type_size(type), spare = 64 - 8 * size;
  if (IsSigned(type)) {
    int overflow = 0;
    int64_t number = PyLong_AsLongLongAndOverflow(integer.get(), &overflow);
    if (overflow != 0 || static_cast<int64_t>(static_cast<uint64_t>(number) << spare) >> spare != number)
      return false;
    std::memcpy(bytes, &number, size);  // little-endian, as every system that adrt knows
    return true;
  }
  uint64_t number = PyLong_AsUnsignedLongLong(integer.get());
  if (PyErr_Occurred() || number << spare >> spare != number) return false;
  std::memcpy(bytes, &number, size);
  return true;
}

// Of NumPy, whose truth values are no integers.
bool IsTruthValue(PyObject* value) {
  if (PyBool_Check(value)) return true;
  Ref name(PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(value)), "__name__"));
  const char* text = name ? PyUnicode_AsUTF8AndSize(name.get(), nullptr) : nullptr;
  return text && std::strncmp(text, "bool", 4) == 0;
}

bool WriteTruth(PyObject* value, unsigned char* bytes) {
  int truth = -1;
  if (IsTruthValue(value)) {
    truth = PyObject_IsTrue(value);
  } else if (unsigned char number = 0; WriteInteger(value, ADRT_TYPE_U8, &number) && number < 2) {
    truth = number;
  }
  if (truth < 0) return false;
  *bytes = static_cast<unsigned char>(truth);
  return true;
}

// Python rounds to 16 bits itself, in the module struct.
bool WriteHalf(double number, unsigned char* bytes) {
  Ref module(PyImport_ImportModule("struct"));
  Ref packed(module ? PyObject_CallMethod(module.get(), "pack", "sd", "<e", number) : nullptr);
  if (!packed) return false;
  std::memcpy(bytes, PyBytes_AsString(packed.get()), 2);
  return true;
}

bool WriteFloat(PyObject* value, uint32_t type, unsigned char* bytes) {
  double number = PyFloat_AsDouble(value);
  if (number == -1.0 && PyErr_Occurred()) return false;
  if (type == ADRT_TYPE_F16) return WriteHalf(number, bytes);
  if (type == ADRT_TYPE_F64) {
    Put(number, bytes);
    return true;
  }
  auto narrow = static_cast<float>(number);
  if (std::isinf(narrow) && !std::isinf(number)) return false;
  Put(narrow, bytes);
  return true;
}

// `count` numbers of a sequence; each item in turn is a sequence of `inner` where that is not 1.
bool WriteSequence(PyObject* value, uint32_t count, uint32_t inner, uint32_t type, unsigned char* bytes,
                   std::string* wanted) {
  if (PyUnicode_Check(value) || PySequence_Size(value) != static_cast<Py_ssize_t>(count)) return false;
  uint32_t size = adrt_type_size(type);
  for (uint32_t at = 0; at < count; ++at, bytes += size_t{size} * inner) {
    Ref item(PySequence_GetItem(value, at));
    if (!item) return false;
    bool good = inner == 1 ? WriteNumber(item.get(), type, bytes, wanted)
                           : WriteSequence(item.get(), inner, 1, type, bytes, wanted);
    if (!good) return false;
  }
  return true;
}

}  // namespace

bool IsNumber(PyObject* object) {
  return PyFloat_Check(object) || PyLong_Check(object);
}

bool WriteNumber(PyObject* value, uint32_t type, unsigned char* bytes, std::string* wanted) {
  bool is_float = type >= ADRT_TYPE_F16;
  bool good = is_float               ? WriteFloat(value, type, bytes)
              : type == ADRT_TYPE_I1 ? WriteTruth(value, bytes)
                                     : WriteInteger(value, type, bytes);
  if (!good) *wanted = is_float ? std::string("a number of ") + adrt_type_name(type) : Range(type);
  return good;
}

bool WriteNumbers(PyObject* value, const adrt_param_report& param, unsigned char* bytes,
                  std::string* wanted) {
  uint32_t rows = param.rows, columns = param.columns;
  if (rows == 1 && columns == 1) return WriteNumber(value, param.type, bytes, wanted);
  std::string words = std::to_string(rows);
  if (columns > 1) words += " rows of " + std::to_string(columns);
  *wanted = words + " numbers of " + adrt_type_name(param.type);
  return WriteSequence(value, rows, columns, param.type, bytes, wanted);
}

}  // namespace adrt_python
