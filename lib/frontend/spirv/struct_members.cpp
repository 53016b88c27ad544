#include "frontend/spirv/struct_members.h"

// Strides become extents: an array of float with a stride of 16 bytes is float[n][4], of which one number of
// four is used, and a column of mat3 in std430 is a row of four, of which three are used.

namespace adc::frontend::spirv {

namespace {

class Member {
 public:
  Member(const Types& types, const MemberPlace& place) : types_(types), place_(place) {}

  /// The bytes of one of type `type`; nothing where it cannot be said. `stride`: bytes to the next one.
  std::optional<uint64_t> Describe(Id type, std::optional<uint64_t> stride, ir::StructMember* made) const {
    switch (static_cast<uint32_t>(types_.KindOf(type))) {
      case spv::OpTypeArray:
      case spv::OpTypeRuntimeArray: {
        uint64_t count = types_.KindOf(type) == spv::OpTypeArray ? types_.Count(type) : 0;
        made->counts.push_back(count);
        std::optional<uint64_t> element = Describe(types_.Element(type), types_.ArrayStride(type), made);
        if (!element || *element != types_.ArrayStride(type)) return std::nullopt;
        return count * *element;
      }
      case spv::OpTypeStruct: {
        std::optional<ir::StructMember> inner = DescribeStruct(types_, type, stride.value_or(0));
        if (!inner) return std::nullopt;
        made->members = std::move(inner->members);
        made->bytes = stride.value_or(0);
        return made->bytes;
      }
      case spv::OpTypePointer:
        made->scalar = ir::Scalar::U64;
        return 8;
      default:
        return types_.IsRegister(type) ? DescribeNumbers(type, stride, made) : std::nullopt;
    }
  }

 private:
  std::optional<uint64_t> DescribeNumbers(Id type, std::optional<uint64_t> stride,
                                          ir::StructMember* made) const {
    ir::Type numbers = types_.Register(type);
    made->scalar = types_.MemoryScalar(type);
    uint64_t bytes = ir::ByteSize(made->scalar), lines = 1, length = numbers.IsVec() ? numbers.rows : 1;
    uint64_t line_bytes = stride.value_or(length * bytes);
    if (numbers.IsMat()) {
      lines = place_.row_major ? numbers.rows : numbers.columns;
      length = place_.row_major ? numbers.columns : numbers.rows;
      line_bytes = place_.matrix_stride;
      made->counts.push_back(lines);
    }
    if (line_bytes % bytes != 0 || line_bytes < length * bytes) return std::nullopt;
    uint64_t extent = line_bytes / bytes;
    if (extent > 1) made->counts.push_back(extent);
    if (extent > length) made->used = static_cast<uint32_t>(length);
    return lines * line_bytes;
  }

  const Types& types_;
  MemberPlace place_;
};

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
    if (!Member(types, place).Describe(types.Member(structure, n), std::nullopt, &member))
      return std::nullopt;
    made.members.push_back(std::move(member));
  }
  return made;
}

}  // namespace adc::frontend::spirv
