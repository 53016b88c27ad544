#pragma once
// A wave of 32 threads of AMD's RDNA3 (gfx11) and the work-group that it belongs to: what instructions read
// and write. The words of "RDNA3 Instruction Set Architecture" (AMD): SGPR, VGPR, EXEC, VCC, SCC, M0, MODE,
// LDS, scratch.
//
// Guarantees: registers and memory begin as garbage, a function of a seed. What the hardware leaves undefined
// and what code must not do (an address in no allocation, a register that the kernel did not ask for) is a
// Fault that names the place.

#include <array>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "memory.h"

namespace adc::rdna3 {

inline constexpr uint32_t kLanes = 32;
inline constexpr uint32_t kVectorRegisters = 256;

/// Numbers of registers as scalar operands name them; 0 to 105 are the SGPRs.
enum ScalarCode : uint16_t {
  kVcc = 106,
  kNull = 124,
  kM0 = 125,
  kExec = 126,
  kScalarRegisters = 128,
  kIntegers = 128,          ///< 0 to 64
  kNegativeIntegers = 193,  ///< -1 to -16
  kSharedBase = 235,
  kSharedLimit = 236,
  kPrivateBase = 237,
  kPrivateLimit = 238,
  kFloats = 240,  ///< 0.5, -0.5, 1, -1, 2, -2, 4, -4, 1 / (2 pi)
  kVccIsZero = 251,
  kExecIsZero = 252,
  kScc = 253,
  kLiteral = 255,
  kVectors = 256,
};

/// Where flat addresses mean LDS and scratch: the upper half of such an address.
inline constexpr uint32_t kSharedAperture = 0x10000, kPrivateAperture = 0x20000;

/// Numbers without a meaning, the same for the same seed (Steele, Lea, Flood: SplitMix).
class Garbage {
 public:
  explicit Garbage(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    uint64_t z = state_ += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
  }
  void Fill(void* bytes, size_t count);

 private:
  uint64_t state_;
};

struct WorkGroup {
  std::vector<uint8_t> shared;  ///< LDS
  uint32_t waves = 0;           ///< that have not ended
  uint32_t waiting = 0;         ///< at the barrier
};

struct Wave {
  std::array<uint32_t, kScalarRegisters> s = {};
  alignas(64) uint32_t v[kVectorRegisters][kLanes] = {};
  bool scc = false;
  uint32_t mode = 0;
  uint64_t pc = 0;
  bool ended = false, waiting = false;
  uint32_t vector_registers = kVectorRegisters;  ///< that the kernel asked for
  uint32_t private_bytes = 0;                    ///< scratch of a lane
  std::vector<uint8_t> scratch;                  ///< of all lanes, one after the other
  WorkGroup* group = nullptr;
  Memory* memory = nullptr;

  uint32_t exec() const { return s[kExec]; }
  bool Active(uint32_t lane) const { return s[kExec] >> lane & 1; }
};

// MODE: two bits of rounding for f32, two for f64 and f16, then two bits each of denormals.
inline constexpr uint32_t kModeRound32 = 0x3, kModeRound64 = 0xC;
inline constexpr uint32_t kModeDenormalsIn32 = 0x10, kModeDenormalsOut32 = 0x20, kModeDenormalsIn64 = 0x40,
                          kModeDenormalsOut64 = 0x80;
inline constexpr uint32_t kModeDx10Clamp = 0x100, kModeIeee = 0x200;

}  // namespace adc::rdna3
