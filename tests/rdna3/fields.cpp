// The microcode formats of gfx11: where each has its operands ("RDNA3 Instruction Set Architecture",
// chapter 15).
//
// A source of nine bits is a scalar register or a constant below 256, a VGPR from there on. A word behind the
// instruction holds a literal constant, or, where the first source says so, how lanes are moved (DPP). In
// formats of one word a 16-bit operand takes the highest bit of a VGPR's number as "the upper half".

#include "fields.h"

#include <cstring>

namespace adc::rdna3 {
namespace {

constexpr uint32_t kDpp8 = 233, kDpp8FetchInactive = 234, kDpp16 = 250;

struct Bits {
  uint32_t word;
  uint32_t operator()(uint32_t high, uint32_t low) const {
    return word >> low & ((uint64_t{1} << (high - low + 1)) - 1);
  }
  bool operator()(uint32_t bit) const { return word >> bit & 1; }
};

uint16_t Vector(uint32_t number) {
  return static_cast<uint16_t>(kVectors + number);
}
int32_t SignExtended(uint32_t value, uint32_t bits) {
  return static_cast<int32_t>(value << (32 - bits)) >> (32 - bits);
}

Format FormatOf(uint32_t word) {
  Bits bits{word};
  if (!bits(31)) {
    if (bits(31, 25) == 0b0111111) return Format::Vop1;
    return bits(31, 25) == 0b0111110 ? Format::Vopc : Format::Vop2;
  }
  if (bits(31, 30) == 0b10) {
    switch (bits(31, 23)) {
      case 0b101111101:
        return Format::Sop1;
      case 0b101111110:
        return Format::Sopc;
      case 0b101111111:
        return Format::Sopp;
      default:
        return bits(31, 28) == 0b1011 ? Format::Sopk : Format::Sop2;
    }
  }
  switch (bits(31, 26)) {
    case 0b110010:
      return Format::Vopd;
    case 0b110011:
      return Format::Vop3p;
    case 0b110101:
      return Format::Vop3;
    case 0b110110:
      return Format::Ds;
    case 0b110111:
      return Format::Flat;
    case 0b111101:
      return Format::Smem;
    default:
      return Format::Other;
  }
}

// ------------------------------------------------------------------------------------------ what names say

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// Which of a VOP1, VOP2 or VOPC instruction's registers are of 16 bits.
struct HalfWidths {
  bool destination = false, first = false, second = false;
};
HalfWidths HalvesOf(std::string_view name, Format format) {
  auto is_half = [](std::string_view type) {
    return type == "f16" || type == "i16" || type == "u16" || type == "b16";
  };
  auto suffix = [&name](size_t from_end) {
    std::string_view rest = name;
    for (; from_end > 0; --from_end) rest = rest.substr(0, rest.rfind('_'));
    return rest.substr(rest.rfind('_') + 1);
  };
  std::string_view last = suffix(0);
  if (Contains(name, "cmp")) return {false, is_half(last), is_half(last) && !Contains(name, "class")};
  if (format == Format::Vop1 && (Contains(name, "cvt") || Contains(name, "frexp_exp"))) {
    return {is_half(suffix(1)), is_half(last), false};
  }
  if (Contains(name, "cvt_pk") || Contains(name, "pack")) return {};
  return {is_half(last), is_half(last), is_half(last)};
}

// -------------------------------------------------------------------------------------------- extra words

/// The words behind the instruction's own.
void ReadExtra(std::span<const uint32_t> words, uint32_t own, Instruction& i) {
  if (words.size() > own) i.literal = words[own];
}

/// A first source that stands for a moved VGPR.
void ReadMove(Instruction& i) {
  uint16_t code = i.source[0].code;
  if (code != kDpp8 && code != kDpp8FetchInactive && code != kDpp16) return;
  Bits bits{i.literal};
  i.source[0].code = Vector(bits(7, 0));
  if (code == kDpp16) {
    i.move = {LaneMove::Kind::Row,
              bits(16, 8),
              static_cast<uint8_t>(bits(31, 28)),
              static_cast<uint8_t>(bits(27, 24)),
              bits(19),
              bits(18)};
    if (i.format != Format::Vop3) {
      i.source[0].negative = bits(20);
      i.source[0].absolute = bits(21);
      i.source[1].negative = bits(22);
      i.source[1].absolute = bits(23);
    }
  } else {
    i.move = {LaneMove::Kind::Eight, bits(31, 8), 0xF, 0xF, true, code == kDpp8FetchInactive};
  }
}

/// Takes "the upper half" out of the number of a VGPR.
void SplitHalf(uint16_t& code, bool& high) {
  if (code < kVectors || (code & 0x80) == 0) return;
  code &= static_cast<uint16_t>(~0x80u);
  high = true;
}

// ------------------------------------------------------------------------------------------------- formats

void ReadVectorShort(Bits bits, std::string_view name, Instruction& i) {
  i.source[0].code = static_cast<uint16_t>(bits(8, 0));
  if (i.format != Format::Vop1) i.source[1].code = Vector(bits(16, 9));
  i.destination = static_cast<uint16_t>(i.format == Format::Vopc ? kVcc : bits(24, 17));
  // A carry or a condition is in VCC.
  i.source[2].code = kVcc;
  if (Contains(name, "readfirstlane")) return;
  if (Contains(name, "fmaak")) i.source[2].code = kLiteral;
  if (Contains(name, "fmamk")) {
    i.source[2] = i.source[1];
    i.source[1] = {.code = kLiteral};
  }
  ReadMove(i);
  HalfWidths halves = HalvesOf(name, i.format);
  if (halves.first) SplitHalf(i.source[0].code, i.source[0].high);
  if (halves.second) {
    SplitHalf(i.source[1].code, i.source[1].high);
    SplitHalf(i.source[2].code, i.source[2].high);
  }
  if (halves.destination && i.destination & 0x80) {
    i.destination &= 0x7F;
    i.destination_high = true;
  }
}

bool HasTwoDestinations(std::string_view name) {
  return Contains(name, "_co_") || Contains(name, "div_scale") || Contains(name, "mad_u64_u32") ||
         Contains(name, "mad_i64_i32");
}

void ReadVectorLong(Bits low, Bits high, std::string_view name, Instruction& i) {
  i.destination = static_cast<uint16_t>(low(7, 0));
  i.clamp = low(15);
  bool two = HasTwoDestinations(name);
  if (two) i.mask = static_cast<uint16_t>(low(14, 8));
  for (uint32_t number = 0; number < 3; ++number) {
    Source& source = i.source[number];
    source.code = static_cast<uint16_t>(high(9 * number + 8, 9 * number));
    source.negative = high(29 + number);
    if (!two) {
      source.absolute = low(8 + number);
      source.high = low(11 + number);
    }
  }
  if (!two) i.destination_high = low(14);
  i.output_scale = static_cast<uint8_t>(high(28, 27));
  ReadMove(i);
}

void ReadPacked(Bits low, Bits high, Instruction& i) {
  i.destination = static_cast<uint16_t>(low(7, 0));
  i.clamp = low(15);
  for (uint32_t number = 0; number < 3; ++number) {
    i.source[number].code = static_cast<uint16_t>(high(9 * number + 8, 9 * number));
  }
  i.half_low = static_cast<uint8_t>(low(13, 11));
  i.half_high = static_cast<uint8_t>(high(28, 27) | static_cast<uint32_t>(low(14)) << 2);
  i.negative_low = static_cast<uint8_t>(high(31, 29));
  i.negative_high = static_cast<uint8_t>(low(10, 8));
  ReadMove(i);
}

void ReadScalar(Bits bits, Instruction& i) {
  i.destination = static_cast<uint16_t>(bits(22, 16));
  i.source[0].code = static_cast<uint16_t>(bits(7, 0));
  if (i.format == Format::Sop2 || i.format == Format::Sopc)
    i.source[1].code = static_cast<uint16_t>(bits(15, 8));
  if (i.format == Format::Sopk || i.format == Format::Sopp) i.offset = SignExtended(bits(15, 0), 16);
}

void ReadScalarMemory(Bits low, Bits high, Instruction& i) {
  i.source[0].code = static_cast<uint16_t>(low(5, 0) * 2);
  i.destination = static_cast<uint16_t>(low(12, 6));
  i.offset = SignExtended(high(20, 0), 21);
  i.source[1].code = static_cast<uint16_t>(high(31, 25));
}

void ReadShared(Bits low, Bits high, std::string_view name, Instruction& i) {
  i.source[0].code = Vector(high(7, 0));
  i.source[1].code = Vector(high(15, 8));
  i.source[2].code = Vector(high(23, 16));
  i.destination = static_cast<uint16_t>(high(31, 24));
  bool two = Contains(name, "2addr");
  i.offset = static_cast<int32_t>(two ? low(7, 0) : low(15, 0));
  i.second_offset = static_cast<int32_t>(low(15, 8));
}

void ReadFlat(Bits low, Bits high, std::string_view name, Instruction& i) {
  i.offset = SignExtended(low(12, 0), 13);
  i.returns = low(14);
  i.source[0].code = Vector(high(7, 0));
  i.source[1].code = Vector(high(15, 8));
  i.source[2].code = static_cast<uint16_t>(high(22, 16));
  // Flat instructions have no scalar address; scratch ones say whether they have a vector one.
  if (name.starts_with("flat")) i.source[2].code = kNull;
  if (name.starts_with("scratch") && !high(23)) i.source[0].code = kNull;
  i.destination = static_cast<uint16_t>(high(31, 24));
}

// ------------------------------------------------------------------------------------------- two at once

/// By opcode; those from 16 on only the second of the two can be.
constexpr std::string_view kDualNames[] = {"v_fmac_f32",
                                           "v_fmaak_f32",
                                           "v_fmamk_f32",
                                           "v_mul_f32",
                                           "v_add_f32",
                                           "v_sub_f32",
                                           "v_subrev_f32",
                                           "v_mul_dx9_zero_f32",
                                           "v_mov_b32",
                                           "v_cndmask_b32",
                                           "v_max_f32",
                                           "v_min_f32",
                                           "",
                                           "",
                                           "",
                                           "",
                                           "v_add_nc_u32",
                                           "v_lshlrev_b32",
                                           "v_and_b32"};

void ReadHalfOfDual(uint32_t opcode, Bits bits, uint32_t destination, uint32_t literal, Instruction& i) {
  std::string_view name = opcode < std::size(kDualNames) ? kDualNames[opcode] : "";
  i.format = Format::Vop2;
  i.literal = literal;
  i.destination = static_cast<uint16_t>(destination);
  i.source[0].code = static_cast<uint16_t>(bits(8, 0));
  i.source[1].code = Vector(bits(16, 9));
  i.source[2].code = kVcc;
  if (Contains(name, "fmaak")) i.source[2].code = kLiteral;
  if (Contains(name, "fmamk")) {
    i.source[2] = i.source[1];
    i.source[1] = {.code = kLiteral};
  }
  i.run = FindHandler(name);
}

/// Both read before either writes: what the first one writes comes last.
void RunDual(Wave& wave, const Instruction& i) {
  uint32_t before[kLanes], result[kLanes];
  uint32_t* register_of_first = wave.v[i.destination];
  std::memcpy(before, register_of_first, sizeof before);
  i.first(wave, i);
  std::memcpy(result, register_of_first, sizeof result);
  std::memcpy(register_of_first, before, sizeof before);
  i.other->run(wave, *i.other);
  std::memcpy(register_of_first, result, sizeof result);
}

}  // namespace

void ReadFields(std::span<const uint8_t> bytes, std::string_view name, Instruction& i) {
  uint32_t storage[4] = {};
  std::span<const uint32_t> words(storage, bytes.size() / 4);
  std::memcpy(storage, bytes.data(), words.size_bytes());
  Bits low{storage[0]}, high{storage[1]};
  i.format = FormatOf(storage[0]);
  switch (i.format) {
    case Format::Vop1:
    case Format::Vop2:
    case Format::Vopc:
      ReadExtra(words, 1, i);
      ReadVectorShort(low, name, i);
      break;
    case Format::Vop3:
      ReadExtra(words, 2, i);
      ReadVectorLong(low, high, name, i);
      break;
    case Format::Vop3p:
      ReadExtra(words, 2, i);
      ReadPacked(low, high, i);
      break;
    case Format::Sop1:
    case Format::Sop2:
    case Format::Sopc:
    case Format::Sopk:
    case Format::Sopp:
      ReadExtra(words, 1, i);
      ReadScalar(low, i);
      break;
    case Format::Smem:
      ReadScalarMemory(low, high, i);
      break;
    case Format::Ds:
      ReadShared(low, high, name, i);
      break;
    case Format::Flat:
      ReadFlat(low, high, name, i);
      break;
    case Format::Vopd:
    case Format::Other:
      break;
  }
}

bool ReadDual(std::span<const uint8_t> bytes, Instruction& first, Instruction& second) {
  uint32_t words[3] = {};
  std::memcpy(words, bytes.data(), bytes.size());
  if (FormatOf(words[0]) != Format::Vopd) return false;
  Bits low{words[0]}, high{words[1]};
  // The second destination has the other parity.
  uint32_t first_destination = high(31, 24),
           second_destination = high(23, 17) << 1 | (~first_destination & 1);
  ReadHalfOfDual(low(25, 22), low, first_destination, words[2], first);
  ReadHalfOfDual(low(21, 17), high, second_destination, words[2], second);
  first.format = Format::Vopd;
  if (!first.run || !second.run) {
    first.run = nullptr;
  } else {
    first.first = first.run;
    first.run = RunDual;
  }
  return true;
}

}  // namespace adc::rdna3
