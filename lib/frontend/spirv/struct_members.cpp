// The members of structures and blocks, with their places in memory, for host programs.
//
// Strides become extents: an array of float with a stride of 16 bytes is float[n][4], of which one number of
// four is used, and a column of mat3 in std430 is a row of four, of which three are used.

#include "frontend/spirv/resources.h"

namespace adc::frontend::spirv {

namespace {

std::optional<uint64_t> DescribeNumbers(const Types& types, const MemberPlace& place, Id type,
                                        std::optional<uint64_t> stride, ir::StructMember* made) {
  ir::Type numbers = types.Register(type);
  made->scalar = types.MemoryScalar(type);
  uint64_t bytes = ir::ByteSize(made->scalar), lines = 1, length = numbers.IsVec() ? numbers.rows : 1;
  uint64_t line_bytes = stride.value_or(length * bytes);
  if (numbers.IsMat()) {
    lines = place.row_major ? numbers.rows : numbers.columns;
    length = place.row_major ? numbers.columns : numbers.rows;
    line_bytes = place.matrix_stride;
    made->counts.push_back(lines);
  }
  if (line_bytes % bytes != 0 || line_bytes < length * bytes) return std::nullopt;
  uint64_t extent = line_bytes / bytes;
  if (extent > 1) made->counts.push_back(extent);
  if (extent > length) made->used = static_cast<uint32_t>(length);
  return lines * line_bytes;
}

/// The bytes of one of type `type`; nothing where it cannot be said. `stride`: bytes to the next one.
std::optional<uint64_t> Describe(const Types& types, const MemberPlace& place, Id type,
                                 std::optional<uint64_t> stride, ir::StructMember* made) {
  switch (static_cast<uint32_t>(types.KindOf(type))) {
    case spv::OpTypeArray:
    case spv::OpTypeRuntimeArray: {
      uint64_t count = types.KindOf(type) == spv::OpTypeArray ? types.Count(type) : 0;
      uint32_t each = types.ArrayStride(type);
      made->counts.push_back(count);
      std::optional<uint64_t> element = Describe(types, place, types.Element(type), each, made);
      return element && *element == each ? std::optional(count * each) : std::nullopt;
    }
    case spv::OpTypeStruct: {
      std::optional<ir::StructMember> inner = DescribeStruct(types, type, stride.value_or(0));
      if (!inner) return std::nullopt;
      made->members = std::move(inner->members);
      made->bytes = inner->bytes;
      return made->bytes;
    }
    case spv::OpTypePointer:
      made->scalar = ir::Scalar::U64;
      return 8;
    default:
      return types.IsRegister(type) ? DescribeNumbers(types, place, type, stride, made) : std::nullopt;
  }
}

}  // namespace

std::optional<ir::StructMember> DescribeStruct(const Types& types, Id structure, uint64_t bytes) {
  if (types.KindOf(structure) != spv::OpTypeStruct) return std::nullopt;
  ir::StructMember made;
  made.name = std::string(types.binary().NameOf(structure));
  made.bytes = bytes;
  for (uint32_t n = 0; n < types.Members(structure); ++n) {
    ir::StructMember member;
    member.name = std::string(types.binary().MemberName(structure, n));
    if (member.name.empty()) member.name = "member" + std::to_string(n);
    MemberPlace place = types.PlaceOf(structure, n);
    member.offset = place.offset;
    if (!Describe(types, place, types.Member(structure, n), std::nullopt, &member)) return std::nullopt;
    made.members.push_back(std::move(member));
  }
  return made;
}

}  // namespace adc::frontend::spirv
