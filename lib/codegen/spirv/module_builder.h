#pragma once
// A SPIR-V module under construction: sections in the order that the format wants, capabilities and
// extensions exactly as asked for, ids in the order of asking.

#include <set>

#include "codegen/spirv/declarations.h"

namespace adc::codegen::spirv {

/// Appends one instruction: its first word counts its words.
void AppendInstruction(Words& words, spv::Op op, std::span<const uint32_t> operands);
/// Operands with more of them behind.
Words Joined(Words operands, std::span<const uint32_t> more);
/// Operands with text behind, as SPIR-V packs it: bytes in words, ended by a zero byte.
Words WithText(Words operands, std::string_view text);

class ModuleBuilder {
 public:
  /// `version`: as in the header, 0x00010500 for 1.5. `producer`: the tool that the module names as its
  /// maker; empty: neither that nor any name, which a translation to another language would take up.
  ModuleBuilder(uint32_t version, std::string_view producer) : version_(version), producer_(producer) {}
  ModuleBuilder(const ModuleBuilder&) = delete;
  ModuleBuilder& operator=(const ModuleBuilder&) = delete;

  Types types{*this};
  Constants constants{*this};

  Id NewId() { return next_id_++; }
  uint32_t IdCount() const { return next_id_; }

  void AddCapability(spv::Capability capability) { capabilities_.insert(capability); }
  bool Has(spv::Capability capability) const { return capabilities_.count(capability) != 0; }
  /// Floats of every width that the module computes with have signed zeros, infinities and NaNs. Before any
  /// other call.
  void PreserveSpecialFloats() { preserves_ = true; }
  /// The widths in bits for which that is stated.
  std::vector<uint32_t> PreservedWidths() const;
  /// Such floats of `width` bits are computed with.
  void ComputeWith(uint32_t width);
  /// Translators to other languages read the module: the parts that one of them loses or refuses are
  /// expressed in words that it takes.
  void SetForTranslators() { for_translators_ = true; }
  bool IsForTranslators() const { return for_translators_; }
  void AddExtension(std::string_view name) { extensions_.emplace(name); }
  /// The id of the instruction set GLSL.std.450.
  Id GlslSet();
  /// The id of the instruction set NonSemantic.Shader.DebugInfo.100.
  Id DebugSet();

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

  /// An instruction outside of functions that has a result; `type` 0: that has none.
  Id Declare(spv::Op op, Id type, std::span<const uint32_t> operands);
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
};

}  // namespace adc::codegen::spirv
