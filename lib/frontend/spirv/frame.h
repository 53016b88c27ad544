#pragma once
// The meaning of the ids of a function while it is inlined.

#include <map>
#include <memory>

#include "frontend/spirv/resources.h"

namespace adc::frontend::spirv {

/// A value of SPIR-V by its leaves.
struct Value {
  std::vector<ir::Value> parts;
};

/// An integer that is partly known: constant + dynamic, of i32.
struct Index {
  int64_t constant = 0;
  ir::Value dynamic;  ///< invalid: none
};

/// A variable of a function: an array of the IR per leaf of its type, arrays around it flattened into it.
struct Local {
  struct Leaf {
    ir::Value array;
    ir::Type element;
    ir::Value address;      ///< of a leaf that is a pointer to a buffer: the only one that is stored
    bool is_table = false;  ///< a constant of the module, number by number, takes the place of the array
  };
  Id type = 0;
  std::vector<Leaf> leaves;
};

struct Pointer {
  enum class Kind : uint8_t { None, Local, Memory, Builtin, Handle };
  Kind kind = Kind::None;
  Id pointee = 0;
  // Local: the leaf that the pointee begins at, and which element of it.
  Local* local = nullptr;
  uint32_t leaf = 0;
  Index element;
  // Local: inside a vector or matrix.
  std::optional<Index> column, component;
  // Memory.
  Resource* resource = nullptr;
  bool in_block = false;  ///< the pointee lies inside the block, in this member
  uint32_t member = 0;
  bool has_outer = false;  ///< the first index after the member, where the member is an array
  Index outer;
  uint64_t offset = 0;  ///< bytes from the member (of a unit of elements: from the element) on
  std::vector<std::pair<ir::Value, uint32_t>> terms;  ///< and indices times bytes
  uint64_t member_offset = 0;
  uint32_t outer_stride = 0;
  bool row_major = false;
  uint32_t matrix_stride = 0;
  uint32_t component_stride = 0;  ///< of a vector; 0: its scalar's size
  std::optional<Index> part;      ///< the pointee is this component of a vector at this place
  Id vector = 0;                  ///< then: the type of the vector
  uint32_t ComponentStride(uint32_t bytes) const { return component_stride == 0 ? bytes : component_stride; }
  // Builtin.
  uint32_t builtin = 0;
  // Handle: of an image or a sampler.
  Id variable = 0;
  ir::Value texel;  ///< the coordinate of the texel that it points to; invalid: the image itself
};

/// The variables of an image that was loaded, and of its sampler.
struct Handle {
  Id image = 0, sampler = 0;
};

struct Frame {
  std::map<Id, Value> values;
  std::map<Id, std::vector<ir::Value>> stored;  ///< slots of phis
  std::map<Id, Pointer> pointers;
  std::map<Id, std::unique_ptr<Local>> locals;
  std::map<Id, Handle> handles;
};

}  // namespace adc::frontend::spirv
