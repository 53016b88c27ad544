#include "keys.h"

#include <cstring>
#include <string>

#include "errors.h"
#include "keys/keys.h"
#include "objects.h"

namespace adrt_python {
namespace {

using adc::keys::PublicKey;

bool ReadBytes(PyObject* object, PublicKey* key) {
  Py_buffer buffer;
  if (PyObject_GetBuffer(object, &buffer, PyBUF_SIMPLE) < 0) return false;
  bool fits = static_cast<size_t>(buffer.len) == key->size();
  if (fits) std::memcpy(key->data(), buffer.buf, key->size());
  if (!fits) PyErr_Format(PyExc_ValueError, "keys: given %zd bytes, a public key has 32", buffer.len);
  PyBuffer_Release(&buffer);
  return fits;
}

bool ReadKeyFile(PyObject* object, PublicKey* key) {
  Ref path(PyOS_FSPath(object));
  if (!path) {
    PyErr_Clear();
    PyErr_Format(PyExc_TypeError, "keys: given %s, wanted paths of public keys, or their 32 bytes",
                 Describe(object).c_str());
    return false;
  }
  Ref bytes = ReadFile(path.get());
  char* text = nullptr;
  Py_ssize_t size = 0;
  if (!bytes || PyBytes_AsStringAndSize(bytes.get(), &text, &size) < 0) return false;
  std::string wrong;
  auto read = adc::keys::PublicFromText({text, static_cast<size_t>(size)}, &wrong);
  if (read) *key = *read;
  if (!read) PyErr_Format(PyExc_ValueError, "keys: '%S' %s", path.get(), wrong.c_str());
  return read.has_value();
}

}  // namespace

bool ReadKeys(PyObject* keys, std::vector<uint8_t>* bytes) {
  if (!PyList_Check(keys) && !PyTuple_Check(keys)) {
    PyErr_Format(PyExc_TypeError, "keys: given %s, wanted a list of public keys", Describe(keys).c_str());
    return false;
  }
  Py_ssize_t count = PySequence_Size(keys);
  for (Py_ssize_t index = 0; index < count; ++index) {
    Ref object(PySequence_GetItem(keys, index));
    PublicKey key = {};
    if (!object) return false;
    bool read =
        PyObject_CheckBuffer(object.get()) ? ReadBytes(object.get(), &key) : ReadKeyFile(object.get(), &key);
    if (!read) return false;
    bytes->insert(bytes->end(), key.begin(), key.end());
  }
  return true;
}

}  // namespace adrt_python
