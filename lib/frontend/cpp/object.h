#pragma once
// The things that a C++ expression may name: a variable, a part of one, an element of a buffer.
// Objects exist while a kernel is lowered; what is left of them in the IR is values and accesses.

#include <clang/AST/Type.h>

#include <memory>
#include <vector>

#include "frontend/cpp/writer.h"

namespace adc::frontend {

struct Object;
using ObjectPtr = std::shared_ptr<Object>;

enum class ObjectKind : uint8_t {
  Slot,    ///< a number, vector or matrix in a register
  Cell,    ///< one that is an element of a buffer or of a local array
  Spread,  ///< in a buffer of structs, in words along the last axis: what is more or less than a word of it
  Bits,    ///< the bits of the number `of`, as a number of another type
  Component,  ///< component or row `at` of `of`
  Choice,     ///< `of` where `at` holds, `members[0]` otherwise
  Struct,     ///< bases, then fields
  Array,      ///< elements that an index chooses: in `storage`, `members`, or the numbers in those of `of`
  Buffer,     ///< a parameter: memory with extents
  Pointer,    ///< the element of `of` whose index `slot` has (pointers.cpp)
};

/// Where the elements of an array lie: in local arrays, one for each number, vector or matrix of an element,
/// at `flat`; or in a buffer whose last axis runs over the words of a struct, from word `flat` and byte
/// `byte` of it on.
struct Storage {
  std::vector<ir::Value> bases = {};
  std::vector<ir::Value> indices = {};  ///< of the buffer, without the last
  ir::Value flat = {};                  ///< invalid: 0
  bool in_buffer = false;
  uint32_t byte = 0;
  bool alone = true;  ///< nothing else of the struct lies in these words
};

/// The state when something was declared: regions around, values and slots.
struct Born {
  size_t depth = 0, values = 0, slots = 0, loops = 0, scopes = 0;
};

struct Object {
  explicit Object(ObjectKind of_kind, clang::QualType of_type = {}) : kind(of_kind), type(of_type) {}

  ObjectKind kind;
  clang::QualType type;
  ir::Type register_type;  ///< of Slot, Cell, Spread, Bits, Component and Choice
  Slot slot = 0;
  ir::Value base;                  ///< Cell, Spread, Buffer
  std::vector<ir::Value> indices;  ///< Cell; Spread: the last one is that of the first word; Buffer: of a row
  uint32_t byte = 0;               ///< Spread: where it begins in that word
  bool alone = true;               ///< Spread: nothing else lies in its words
  ObjectPtr of;                    ///< Bits, Component, Choice, Array; Pointer: null for a null pointer
  ir::Value at;  ///< Component, Choice; Array: first number; Pointer: index of one that stays
  std::vector<ObjectPtr> members;  ///< Struct, Choice, Array
  Storage storage;                 ///< Array
  clang::QualType element;         ///< Array, Buffer
  uint64_t count = 0;              ///< Array; Buffer: rank
  bool by_words = false;           ///< Buffer: of structs, with an axis more
  ObjectPtr within;                ///< the array, or row of a buffer, that this is an element of
  ir::Value position;              ///< the index there
  ObjectPtr owner;                 ///< the struct that this is a member of
  uint64_t offset = 0;             ///< the byte there
  ObjectPtr derived;               ///< the struct that this is a base of
  bool bound = false;              ///< Pointer: it points to something, or is null
  bool may_be_null = false;        ///< Pointer: into an array; null where the index is kNullIndex
  Born born = {};                  ///< Pointer
};

/// An array that has no elements yet.
inline ObjectPtr NewArray(clang::QualType element, uint64_t count, clang::QualType type = {}) {
  auto array = std::make_shared<Object>(ObjectKind::Array, type);
  array->element = element;
  array->count = count;
  return array;
}

/// A number, vector or matrix.
inline bool IsLeaf(const Object& object) {
  return object.kind != ObjectKind::Struct && object.kind != ObjectKind::Array &&
         object.kind != ObjectKind::Buffer && object.kind != ObjectKind::Pointer;
}

}  // namespace adc::frontend
