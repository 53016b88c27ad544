#pragma once
// A SPIR-V module under construction: types, constants and decorations once each, sections in the order that
// the format wants, capabilities and extensions exactly as asked for, ids in the order of asking.
//
// All integer types are unsigned: the signedness of an operation lies in its opcode.

#include <map>
#include <optional>
#include <set>
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

/// Appends one instruction: its first word counts its words.
void AppendInstruction(Words& words, spv::Op op, std::span<const uint32_t> operands);
/// Appends text as SPIR-V packs it: bytes in words, ended by a zero byte.
void AppendText(Words& words, std::string_view text);

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

class ModuleBuilder {
 public:
  /// `version`: as in the header, 0x00010500 for 1.5. `producer`: the tool that the module names as its
  /// maker; empty: neither that nor any name, which a translation to another language would take up.
  ModuleBuilder(uint32_t version, std::string_view producer) : version_(version), producer_(producer) {}

  Id NewId() { return next_id_++; }
  uint32_t IdCount() const { return next_id_; }

  void AddCapability(spv::Capability capability) { capabilities_.insert(capability); }
  bool Has(spv::Capability capability) const { return capabilities_.count(capability) != 0; }
  /// Floats of every width that the module computes with have signed zeros, infinities and NaNs. Before any
  /// other call.
  void PreserveSpecialFloats() { preserves_ = true; }
  /// The widths in bits for which that is stated.
  std::vector<uint32_t> PreservedWidths() const;
  /// Translators to other languages read the module: the parts that one of them loses or refuses are
  /// expressed in words that it takes.
  void SetForTranslators() { for_translators_ = true; }
  bool IsForTranslators() const { return for_translators_; }
  void AddExtension(std::string_view name) { extensions_.emplace(name); }
  /// The id of the instruction set GLSL.std.450.
  Id GlslSet();
  /// The id of the instruction set NonSemantic.Shader.DebugInfo.100.
  Id DebugSet();

  Id VoidType() { return Intern(spv::OpTypeVoid, {}); }
  Id BoolType() { return Intern(spv::OpTypeBool, {}); }
  Id IntType(uint32_t width);
  Id FloatType(uint32_t width);
  Id VectorType(Id component, uint32_t count) { return Intern(spv::OpTypeVector, {component, count}); }
  Id ArrayType(Id element, uint32_t length) {
    return Intern(spv::OpTypeArray, {element, ConstantInt(32, length)});
  }
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
  Id PointerType(spv::StorageClass storage, Id pointee) {
    return Intern(spv::OpTypePointer, {static_cast<uint32_t>(storage), pointee});
  }
  /// One sample, no depth. `component`: of a texel, 32 bits; with a sign if it is an integer that has one.
  Id ImageType(Id component, const ir::ShaderImage& image);
  Id SampledImageType(Id image) { return Intern(spv::OpTypeSampledImage, {image}); }
  /// The one type of integers with a sign: of the texels of images.
  Id SignedType() { return Intern(spv::OpTypeInt, {32, 1}); }
  Id FunctionType(Id result, std::span<const Id> parameters);

  Id ConstantInt(uint32_t width, uint64_t value);
  /// From the bits of the format.
  Id ConstantFloat(uint32_t width, uint64_t bits);
  /// The bits of a constant that ConstantFloat made; none of any other value.
  std::optional<uint64_t> FloatBits(Id id) const;
  Id ConstantBool(bool value);
  /// A bool that the maker of a pipeline may set; false where it does not.
  Id SpecializedBool(uint32_t number);
  /// An integer of that kind, with a value for pipelines that do not set it.
  Id SpecializedInt(uint32_t width, uint32_t number, uint64_t value, std::string_view name);
  Id ConstantNull(Id type) { return InternTyped(spv::OpConstantNull, type, {}); }
  Id ConstantComposite(Id type, std::span<const Id> parts) {
    return InternTyped(spv::OpConstantComposite, type, parts);
  }
  Id Undefined(Id type) { return InternTyped(spv::OpUndef, type, {}); }
  /// The value of an integer or bool constant.
  std::optional<uint64_t> IntegerOf(Id id) const;

  /// Text that instructions can name: the file of a line.
  Id String(std::string_view text);
  /// A file that lines name and its text, in parts that fit into an instruction each; none: without its text.
  void AddSource(Id file, std::span<const std::string_view> parts);
  /// An instruction of DebugSet outside of functions.
  Id DebugInfo(uint32_t instruction, std::initializer_list<Id> operands);
  /// Sets the name that tools show for an id.
  void Name(Id id, std::string_view name);
  void NameMember(Id id, uint32_t member, std::string_view name);

  void Decorate(Id id, spv::Decoration decoration, std::initializer_list<uint32_t> literals = {});
  void DecorateMember(Id id, uint32_t member, spv::Decoration decoration,
                      std::initializer_list<uint32_t> literals = {});

  /// A variable outside of functions.
  Id GlobalVariable(spv::StorageClass storage, Id pointee, Id initial = 0);
  void AddEntryPoint(Id function, std::string_view name, std::span<const Id> interface, uint32_t block_size) {
    const uint32_t local_size[] = {block_size, 1, 1};
    AddEntryPoint(function, name, interface, local_size);
  }
  void AddEntryPoint(Id function, std::string_view name, std::span<const Id> interface,
                     std::span<const uint32_t, 3> local_size);
  /// Appends a whole function.
  void AddFunction(const Words& code) { functions_.insert(functions_.end(), code.begin(), code.end()); }

  /// The module. `physical`: with physical storage buffer addresses.
  Words Finish(bool physical) const;

 private:
  Id Intern(spv::Op op, std::initializer_list<uint32_t> operands) {
    return Intern(op, std::span<const uint32_t>(operands.begin(), operands.size()));
  }
  Id Intern(spv::Op op, std::span<const uint32_t> operands);
  Id InternTyped(spv::Op op, Id type, std::span<const uint32_t> operands);

  /// The array of a block, and the block around it.
  Id RuntimeArray(Id element, uint32_t stride);
  Id BlockAround(Id member, bool writable);

  uint32_t version_;
  std::string producer_;
  Id next_id_ = 1;
  Id glsl_ = 0, debug_ = 0;
  std::set<spv::Capability> capabilities_;
  std::set<std::string> extensions_;
  std::vector<Id> entries_;
  std::set<uint32_t> float_widths_;
  bool preserves_ = false;
  bool for_translators_ = false;
  Words entry_points_, execution_modes_, strings_, sources_, names_, annotations_, globals_, functions_;
  std::map<std::string, Id, std::less<>> string_ids_;
  std::map<Words, Id> interned_;
  std::map<std::tuple<Id, uint32_t, uint32_t>, Id> block_arrays_;  ///< by element, length and stride
  std::map<std::pair<Id, uint32_t>, Id> arrays_;  ///< of unknown length, by element and stride
  std::map<Words, Id> blocks_;
  std::map<Id, uint64_t> integers_, floats_;
  std::map<uint32_t, Id> specialized_;
};

}  // namespace adc::codegen::spirv
