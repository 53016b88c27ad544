#pragma once
// What a module declares once each, however often it is asked for: types and constants.
//
// All integer types but that of texels are unsigned: the signedness of an operation lies in its opcode.

#include <map>
#include <optional>
#include <span>
#include <spirv/unified1/spirv.hpp>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "ir/shader_binding.h"

namespace adc::codegen::spirv {

using Id = uint32_t;
using Words = std::vector<uint32_t>;

class ModuleBuilder;

struct BlockMember {
  Id type = 0;
  uint32_t offset = 0;
  std::string name;
};

/// The names that tools show for a block and its only member.
struct BlockNames {
  std::string block;
  std::string member;
};

class Types {
 public:
  explicit Types(ModuleBuilder& module) : m_(module) {}

  Id Void() { return Intern({spv::OpTypeVoid}); }
  Id Bool() { return Intern({spv::OpTypeBool}); }
  Id Int(uint32_t width);
  Id Float(uint32_t width);
  Id Vector(Id component, uint32_t count) { return Intern({spv::OpTypeVector, component, count}); }
  Id Array(Id element, uint32_t length);
  /// A block that holds an array of unknown length, with `stride` bytes from one element to the next; one
  /// for all who ask for the same.
  Id BlockOfArray(Id element, uint32_t stride, bool writable);
  /// Such a block of its own, with names.
  Id BlockOfArray(Id element, uint32_t stride, bool writable, const BlockNames& names);
  /// A block with one member.
  Id BlockOfOne(Id member, const BlockNames& names);
  /// A block that holds an array of vectors of four, 16 bytes each.
  Id BlockOfVectors(Id component, uint32_t count, const BlockNames& names);
  /// An array of known length, with `stride` bytes from one element to the next.
  Id ArrayInBlock(Id element, uint32_t length, uint32_t stride);
  /// A block with named members at stated offsets.
  Id BlockOf(std::span<const BlockMember> members);
  Id Pointer(spv::StorageClass storage, Id pointee) {
    return Intern({spv::OpTypePointer, static_cast<uint32_t>(storage), pointee});
  }
  /// One sample, no depth. `component`: of a texel, 32 bits; with a sign if it is an integer that has one.
  Id Image(Id component, const ir::ShaderImage& image);
  Id SampledImage(Id image) { return Intern({spv::OpTypeSampledImage, image}); }
  /// The one type of integers with a sign: of the texels of images.
  Id Signed() { return Intern({spv::OpTypeInt, 32, 1}); }
  Id Function(Id result, std::span<const Id> parameters);

 private:
  /// `key`: the opcode and its operands.
  Id Intern(const Words& key);
  /// The array of a block, and the block around it.
  Id RuntimeArray(Id element, uint32_t stride);
  Id BlockAround(Id member, bool writable);

  ModuleBuilder& m_;
  std::map<Words, Id> interned_, blocks_;
  std::map<std::tuple<Id, uint32_t, uint32_t>, Id> block_arrays_;  ///< by element, length and stride
  std::map<std::pair<Id, uint32_t>, Id> arrays_;  ///< of unknown length, by element and stride
};

class Constants {
 public:
  explicit Constants(ModuleBuilder& module) : m_(module) {}

  Id Int(uint32_t width, uint64_t value);
  /// From the bits of the format.
  Id Float(uint32_t width, uint64_t bits);
  /// The bits of a constant that Float made; none of any other value.
  std::optional<uint64_t> FloatBits(Id id) const;
  Id Bool(bool value);
  /// A bool that the maker of a pipeline may set; false where it does not.
  Id SpecializedBool(uint32_t number);
  /// An integer of that kind, with a value for pipelines that do not set it.
  Id SpecializedInt(uint32_t width, uint32_t number, uint64_t value, std::string_view name);
  Id Null(Id type) { return Intern({spv::OpConstantNull, type}); }
  Id Composite(Id type, std::span<const Id> parts);
  Id Undefined(Id type) { return Intern({spv::OpUndef, type}); }
  /// The value of an integer or bool constant.
  std::optional<uint64_t> IntegerOf(Id id) const;

 private:
  /// `key`: the opcode, its type and its operands.
  Id Intern(const Words& key);

  ModuleBuilder& m_;
  std::map<Words, Id> interned_;
  std::map<Id, uint64_t> integers_, floats_;
  std::map<uint32_t, Id> specialized_;
};

}  // namespace adc::codegen::spirv
