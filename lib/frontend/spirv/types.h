#pragma once
// Types and constants of a SPIR-V module, and what the IR has for them.
//
// Integers are signed in the IR's registers whatever SPIR-V calls them: in SPIR-V, as in most machines, the
// signedness of an operation lies in its opcode. Elements of buffers bear the type that the shader says.
//
// A value of a composite type is the list of its *leaves*, the scalars, vectors and matrices that it is made
// of, in order.

#include <cstdint>
#include <optional>

#include "diag/diagnostics.h"
#include "frontend/spirv/binary.h"
#include "ir/type.h"

namespace adc::frontend::spirv {

/// How deep types, constants, pointers and calls may nest.
inline constexpr uint32_t kDeepest = 64;

/// Thrown inside this folder alone: the module cannot be taken, for this reason.
struct Refused {
  diag::Diagnostic reason;
};
[[noreturn]] void Refuse(diag::ErrorId id, diag::SourceSpan span, std::string text, std::string help = {});

/// Integers of the width and the shape of `type`.
inline ir::Type IntegersLike(ir::Type type, bool has_sign) {
  return type.WithScalar(ir::IntegerOf(ir::BitWidth(type.scalar), has_sign));
}

/// Where a member of a structure lies; 0 where the module does not say.
struct MemberPlace {
  uint64_t offset = 0;
  uint32_t matrix_stride = 0;
  bool row_major = false;
};

class Types {
 public:
  /// `spec_values`: bits of specialisation constants by their id.
  Types(const Binary& binary, const std::map<Id, uint64_t>& spec_values)
      : binary_(binary), spec_values_(spec_values) {}

  const Binary& binary() const { return binary_; }
  spv::Op KindOf(Id type) const {
    const Instruction* inst = binary_.Find(type);
    return inst == nullptr ? spv::OpNop : inst->op;
  }
  const Instruction& Of(Id type) const;
  bool IsRegister(Id type) const;
  /// Of an image, by itself or with its sampler.
  bool IsImage(Id type) const {
    return KindOf(type) == spv::OpTypeImage || KindOf(type) == spv::OpTypeSampledImage;
  }
  /// Scalar, vector or matrix as a register holds it. Refuses others.
  ir::Type Register(Id type) const;
  /// The scalar of a register type as memory has it: with its signedness.
  ir::Scalar MemoryScalar(Id type) const;
  /// A pointer to memory by its address, which a value may hold.
  bool IsAddress(Id type) const {
    const Instruction* inst = binary_.Find(type);
    return inst != nullptr && inst->op == spv::OpTypePointer &&
           inst->At(0) == spv::StorageClassPhysicalStorageBuffer;
  }
  bool IsFloat(Id type) const { return ir::IsFloat(Register(type).scalar); }
  /// Element of a vector, column of a matrix, element of an array, pointee of a pointer.
  Id Element(Id type) const;
  uint32_t Members(Id structure) const { return static_cast<uint32_t>(Of(structure).operands.size()); }
  Id Member(Id structure, uint32_t member) const;
  /// Parts of a vector (components), matrix (columns), array or structure. Not of a runtime array.
  uint32_t Count(Id composite) const;
  /// Type of part `n`.
  Id Part(Id composite, uint32_t n) const;
  /// Leaves of a type; refuses more than a register file should hold.
  uint32_t LeafCount(Id type) const;
  void Leaves(Id type, std::vector<ir::Type>& leaves) const;
  uint32_t ArrayStride(Id array) const;
  MemberPlace PlaceOf(Id structure, uint32_t member) const;

  /// The value that --spec gave a constant.
  std::optional<uint64_t> SpecBits(Id constant) const {
    auto given = spec_values_.find(constant);
    return given == spec_values_.end() ? std::nullopt : std::optional(given->second);
  }
  /// The value of an integer or boolean constant, specialisation constants by their values.
  std::optional<int64_t> Integer(Id constant, uint32_t depth = 0) const;

 private:
  std::optional<int64_t> Operation(const Instruction& inst, uint32_t depth) const;
  uint64_t CountLeaves(Id type, uint32_t depth) const;

  const Binary& binary_;
  const std::map<Id, uint64_t>& spec_values_;
};

}  // namespace adc::frontend::spirv
