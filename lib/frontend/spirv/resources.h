#pragma once
// The blocks of a shader as parameters of a kernel.
//
// A *unit* is one parameter. A storage block with one member of one kind of number is one unit whose type
// says what it is: `float x[]` a buffer<f32, 1>, `vec2 p[]` a buffer<vec<f32, 2>, 1>, `float loss` a
// buffer<f32, 0>. An array of anything wider or padded (structures, `vec3` in std430, matrices) is a
// buffer<T, 2>: element, then T of the element, as many as the stride holds. Of other blocks each member and
// kind of number is a unit that sees the whole memory of the block, word by word, with its own words in it:
// the units of a block have no element in common.
//
// Members of uniform blocks and push constants are parameters by value; arrays in uniform blocks are units.

#include <map>
#include <optional>
#include <set>

#include "frontend/spirv/lowering.h"
#include "ir/function.h"
#include "ir/shader_binding.h"
#include "ir/struct_member.h"

namespace adc::frontend::spirv {

enum class View : uint8_t {
  Value,     ///< a parameter by value
  Single,    ///< buffer<T, 0>, T a scalar or a vector
  Elements,  ///< buffer<T, 1>, T a scalar or a vector without padding
  Rows,      ///< buffer<scalar, 2>: element of the array, scalar of the element
  Words,     ///< buffer<scalar, 1>: scalars from the start of the block on
  Texels,    ///< of an image: the resource is no block
};

struct Unit {
  View view = View::Words;
  ir::Value param = {};
  Id type = 0;          ///< View::Value, Single: of the member; Elements, Rows: of the element
  uint32_t member = 0;  ///< of the block
  uint64_t offset = 0;  ///< View::Value: in the block
  uint32_t stride = 0;  ///< View::Elements, Rows: from element to element
  ir::Scalar scalar = ir::Scalar::F32;  ///< as memory has it
  bool float_words = false;             ///< the shader has words, and moves bits of floats in them
};

/// The shader's uses of a block.
struct Use {
  bool written = false;
  bool compares_signed = false;    ///< its atomic minima and maxima are those of signed integers, ...
  bool compares_unsigned = false;  ///< ... of unsigned ones
  uint32_t stride = 0;  ///< behind a pointer blocks may follow each other, at this distance; 0: there is one
};

struct Resource {
  Id variable = 0, block = 0;  ///< by_pointer: the variable whose block holds the pointer
  ir::ShaderBinding::Kind kind = ir::ShaderBinding::Kind::StorageBuffer;
  uint32_t set = 0, binding = 0;
  std::string name;
  bool read_only = false;
  bool aliased = false;  ///< another buffer may be the same memory
  bool by_pointer = false;
  uint64_t pointer_offset = 0;  ///< by_pointer: where the pointer lies in the block of `variable`
  Use use;
  std::vector<Unit> units;

  Unit* Find(uint32_t member, ir::Scalar scalar);
};

/// Whether two scalars can be elements of one unit: floats of one width, or integers of one width.
bool SameKind(ir::Scalar a, ir::Scalar b);

/// The shader's uses of memory that pointers lead to.
struct Pointed {
  std::map<Id, Use> blocks;
  /// The block that an integer is the address of: by the variable, and the place in its block.
  std::map<std::pair<Id, uint64_t>, Id> addresses;
};

/// Adds the parameters of `variables`, by kind, set and binding.
class Resources {
 public:
  Resources(const Request& request, ir::Module& module, ir::Function& kernel)
      : request_(request), types_(request.types), module_(module), kernel_(kernel) {}

  void Add(std::vector<Resource> found, const Pointed& pointed);
  Resource* Find(Id variable);
  /// The block that the pointer there, in the block of `variable`, leads to; null if there is none.
  Resource* FindPointed(Id variable, uint64_t offset);
  std::vector<Resource>& all() { return resources_; }
  /// A by-value parameter of its own, with a name like `name`.
  ir::Value AddScalar(std::string_view name, ir::Type type, ir::ShaderBinding binding,
                      ir::ParamInfo info = {});
  /// Names that could have an adjoint.
  const std::vector<std::string>& names() const { return names_; }

 private:
  struct Kinds {
    std::vector<ir::Scalar> scalars;  ///< one per kind of number, in order of appearance
    bool has_array = false;
  };
  void AddStorage(Resource& resource);
  void AddImage(Resource& resource);
  void AddBlocks(Resource& resource);
  void AddPointed(const Resource& holder, Id type, uint64_t offset, const std::string& name,
                  std::vector<Resource>& out);
  bool IsPointer(const Resource& holder, Id type, uint64_t offset) const;
  void AddValues(Resource& resource);
  void AddValue(Resource& resource, Id type, MemberPlace place, const std::string& name, uint32_t member);
  std::string NameOfMember(const Resource& resource, uint32_t member) const;
  void AddUnit(Resource& resource, Unit unit, ir::Type type, const std::string& name, bool whole);
  bool IsTight(Id type, uint32_t stride) const;
  void FindKinds(Id type, Kinds& kinds, uint32_t depth) const;
  /// Bytes of the block in front of an array of unknown length, and that array's stride.
  void Measure(const Resource& resource, uint64_t* fixed, uint32_t* stride) const;
  uint64_t SizeOf(Id type, uint32_t matrix_stride, bool row_major) const;
  std::string Free(std::string_view wanted);
  bool HasFloatWords(const Resource& resource, const std::string& name, Id array) const;
  /// The statement about a unit, by its own name or by its block's.
  ir::ParamInfo MarksOf(const std::string& name, const Resource& resource, ir::Scalar scalar, bool buffer);

  const Request& request_;
  const Types& types_;
  ir::Module& module_;
  ir::Function& kernel_;
  const Pointed* pointed_ = nullptr;
  std::vector<Resource> resources_;
  std::vector<std::string> names_;
  std::set<std::string> taken_;
  diag::SourceSpan here_;  ///< the block that is being added: types have no lines
};

/// The members of `structure`, with their places in memory, for host programs; `bytes` lie from one to the
/// next, 0 of a block that is all of a buffer. Nothing for other types, and where strides are no multiples of
/// numbers.
std::optional<ir::StructMember> DescribeStruct(const Types& types, Id structure, uint64_t bytes);

}  // namespace adc::frontend::spirv
