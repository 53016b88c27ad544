#pragma once
// Vector instructions from a function of one lane. A row of a table says
//
//   {"v_add_f32", EachLane<[](float a, float b) { return a + b; }>}
//
// and the types of the function say the rest: how wide operands and result are, whether modifiers, denormals
// and the rounding of MODE apply (floats), whether a scalar register is read or written bit by bit (Bit,
// WithBit, bool), whether the destination is read (Old). All lanes are read before any is written, so that a
// destination may be a source.

#include <array>
#include <cfenv>
#include <tuple>
#include <utility>

#include "lanes.h"
#include "operands.h"

namespace adc::rdna3 {

/// Rounds as MODE says while T is computed.
template <class T>
class Rounding {
 public:
  explicit Rounding(uint32_t mode) {
    uint32_t way = std::is_same_v<T, float> ? mode & 3 : mode >> 2 & 3;
    if (way == 0) return;
    constexpr int kWays[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    std::fesetround(kWays[way]);
    changed_ = true;
  }
  ~Rounding() {
    if (changed_) std::fesetround(FE_TONEAREST);
  }
  Rounding(const Rounding&) = delete;
  Rounding& operator=(const Rounding&) = delete;

 private:
  bool changed_ = false;
};

template <class T>
using PerLane = std::array<T, kLanes>;

template <class T>
T WithSign(T value, bool absolute, bool negative) {
  using Bits = BitsOf<T>;
  constexpr Bits kSign = Bits{1} << (8 * sizeof(Bits) - 1);
  Bits bits = std::bit_cast<Bits>(value);
  if (absolute) bits = static_cast<Bits>(bits & ~kSign);
  if (negative) bits = static_cast<Bits>(bits ^ kSign);
  return std::bit_cast<T>(bits);
}

/// Source `number` of all lanes. Moves lanes of the first one.
template <class T>
void ReadSource(const Wave& wave, const Instruction& instruction, uint32_t number, PerLane<T>& values) {
  const Source& source = instruction.source[number];
  if (source.code >= kVectors) {
    const auto* word = wave.v[VectorNumber(source.code)];
    if constexpr (sizeof(T) == 8) {
      const auto* high = wave.v[VectorNumber(source.code) + 1];
      for (uint32_t lane = 0; lane < kLanes; ++lane) {
        values[lane] = std::bit_cast<T>(word[lane] | static_cast<uint64_t>(high[lane]) << 32);
      }
    } else if constexpr (sizeof(T) == 2) {
      uint32_t shift = source.high ? 16 : 0;
      for (uint32_t lane = 0; lane < kLanes; ++lane) {
        values[lane] = std::bit_cast<T>(static_cast<uint16_t>(word[lane] >> shift));
      }
    } else {
      for (uint32_t lane = 0; lane < kLanes; ++lane) values[lane] = std::bit_cast<T>(word[lane]);
    }
    if (number == 0 && instruction.move.kind != LaneMove::Kind::None)
      MoveLanes(wave, instruction.move, values);
  } else {
    BitsOf<T> bits = ScalarBits<T>(wave, source.code, instruction.literal);
    if constexpr (sizeof(T) == 2) {
      if (source.high && source.code < kScalarRegisters)
        bits = static_cast<uint16_t>(wave.s[source.code] >> 16);
    }
    values.fill(std::bit_cast<T>(bits));
  }
  if constexpr (kIsFloat<T> || std::is_same_v<T, FloatBits>) {
    if (source.absolute || source.negative) {
      for (T& value : values) value = WithSign(value, source.absolute, source.negative);
    }
  } else if (source.absolute || source.negative) {
    throw Fault("a sign modifier of an integer");
  }
  if constexpr (kIsFloat<T>) {
    if (FlushesIn<T>(wave)) {
      for (T& value : values) value = Flushed(value);
    }
  }
}

/// What one parameter of a lane's function takes its value from. `next` is the number of the next source.
template <class T>
struct Input {
  PerLane<T> values;
  Input(const Wave& wave, const Instruction& instruction, uint32_t& next) {
    ReadSource<T>(wave, instruction, next++, values);
  }
  T At(uint32_t lane) const { return values[lane]; }
};
template <>
struct Input<Bit> {
  uint32_t bits;
  Input(const Wave& wave, const Instruction& instruction, uint32_t& next)
      : bits(ScalarBits<uint32_t>(wave, instruction.source[next].code, instruction.literal)) {
    ++next;
  }
  Bit At(uint32_t lane) const { return {(bits >> lane & 1) != 0}; }
};
template <>
struct Input<VccBit> {
  uint32_t bits;
  Input(const Wave& wave, const Instruction&, uint32_t&) : bits(wave.s[kVcc]) {}
  VccBit At(uint32_t lane) const { return {(bits >> lane & 1) != 0}; }
};
template <>
struct Input<LaneNumber> {
  Input(const Wave&, const Instruction&, uint32_t&) {}
  LaneNumber At(uint32_t lane) const { return {lane}; }
};
template <class T>
struct Input<Old<T>> {
  PerLane<T> values;
  Input(const Wave& wave, const Instruction& instruction, uint32_t&) {
    Instruction reads;
    reads.source[0].code = static_cast<uint16_t>(kVectors + instruction.destination);
    reads.source[0].high = instruction.destination_high;
    ReadSource<T>(wave, reads, 0, values);
  }
  Old<T> At(uint32_t lane) const { return {values[lane]}; }
};

/// Output modifiers and denormals.
template <class T>
T Finished(const Wave& wave, const Instruction& instruction, T value) {
  if (instruction.output_scale) {
    constexpr float kScales[] = {1, 2, 4, 0.5f};
    value = static_cast<T>(value * static_cast<T>(kScales[instruction.output_scale]));
  }
  if (FlushesOut<T>(wave)) value = Flushed(value);
  if (instruction.clamp) value = value > T(0.0) ? (value < T(1.0) ? value : T(1.0)) : T(0.0);  // NaN: 0
  return value;
}

template <class T>
void WriteDestination(Wave& wave, const Instruction& instruction, uint32_t lanes, PerLane<T>& values) {
  if constexpr (kIsFloat<T>) {
    if (instruction.output_scale || instruction.clamp || FlushesOut<T>(wave)) {
      for (T& value : values) value = Finished(wave, instruction, value);
    }
  } else if (instruction.output_scale || instruction.clamp) {
    throw Fault("an output modifier of an integer");
  }
  auto* to = wave.v[instruction.destination];
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    BitsOf<T> bits = std::bit_cast<BitsOf<T>>(values[lane]);
    bool active = lanes >> lane & 1;
    if constexpr (sizeof(T) == 8) {
      auto* high = wave.v[instruction.destination + 1];
      to[lane] = active ? static_cast<uint32_t>(bits) : to[lane];
      high[lane] = active ? static_cast<uint32_t>(bits >> 32) : high[lane];
    } else if constexpr (sizeof(T) == 2) {
      uint32_t joined = instruction.destination_high ? (to[lane] & 0xFFFF) | static_cast<uint32_t>(bits) << 16
                                                     : (to[lane] & 0xFFFF0000) | bits;
      to[lane] = active ? joined : to[lane];
    } else {
      to[lane] = active ? bits : to[lane];
    }
  }
}

/// Where results go.
template <class T>
struct Output {
  using Number = T;  ///< what is rounded
  PerLane<T> values;
  void Set(uint32_t lane, T value) { values[lane] = value; }
  void Write(Wave& wave, const Instruction& instruction, uint32_t lanes) {
    WriteDestination<T>(wave, instruction, lanes, values);
  }
};
template <>
struct Output<bool> {
  using Number = uint32_t;
  uint32_t bits = 0;
  void Set(uint32_t lane, bool value) { bits |= static_cast<uint32_t>(value) << lane; }
  void Write(Wave& wave, const Instruction& instruction, uint32_t lanes) {
    SetScalar(wave, instruction.destination, bits & lanes);
  }
};
template <class T>
struct Output<WithBit<T>> {
  using Number = T;
  PerLane<T> values;
  uint32_t bits = 0;
  void Set(uint32_t lane, WithBit<T> result) {
    values[lane] = result.value;
    bits |= static_cast<uint32_t>(result.bit) << lane;
  }
  void Write(Wave& wave, const Instruction& instruction, uint32_t lanes) {
    WriteDestination<T>(wave, instruction, lanes, values);
    SetScalar(wave, instruction.mask, bits & lanes);
  }
};
template <class T>
struct Output<Saturating<T>> {
  using Number = T;
  PerLane<int64_t> values;
  void Set(uint32_t lane, Saturating<T> result) { values[lane] = result.value; }
  void Write(Wave& wave, const Instruction& instruction, uint32_t lanes) {
    PerLane<T> narrow;
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      int64_t value = values[lane];
      if (instruction.clamp) {
        value = std::min<int64_t>(std::max<int64_t>(value, std::numeric_limits<T>::min()),
                                  std::numeric_limits<T>::max());
      }
      narrow[lane] = static_cast<T>(value);
    }
    Instruction plain = instruction;
    plain.clamp = false;
    WriteDestination<T>(wave, plain, lanes, narrow);
  }
};

template <auto kFunction, class Result, class... Params>
struct LaneRunner {
  template <size_t... kPlaces>
  static void Run(Wave& wave, const Instruction& instruction, std::index_sequence<kPlaces...>) {
    uint32_t next = 0;
    // Braces: from left to right.
    std::tuple<Input<Params>...> inputs{Input<Params>(wave, instruction, next)...};
    Output<Result> output;
    {
      Rounding<typename Output<Result>::Number> rounding(wave.mode);
      for (uint32_t lane = 0; lane < kLanes; ++lane) {
        output.Set(lane, kFunction(std::get<kPlaces>(inputs).At(lane)...));
      }
    }
    output.Write(wave, instruction, LanesThatRun(wave, instruction.move));
  }
};

template <auto kFunction, class Result, class... Params>
void RunLanes(Result (*)(Params...), Wave& wave, const Instruction& instruction) {
  LaneRunner<kFunction, Result, Params...>::Run(wave, instruction, std::index_sequence_for<Params...>());
}

/// The instruction whose lanes each do `kFunction`, a lambda without captures.
template <auto kFunction>
void EachLane(Wave& wave, const Instruction& instruction) {
  RunLanes<kFunction>(+kFunction, wave, instruction);
}

}  // namespace adc::rdna3
