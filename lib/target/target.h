#pragma once
// What a target is, for everything that generates code: names, processor, lanes, address spaces, limits.
//
// The description says what is true of a target; how code for it is written is the business of its folder
// under codegen.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace adc::target {

enum class Kind : uint8_t { Cpu };
enum class Arch : uint8_t { X86_64, AArch64 };

/// Numbers of LLVM's address spaces for the kinds of memory that kernels touch.
struct AddressSpaces {
  uint32_t global = 0;
  uint32_t constant = 0;
  uint32_t local = 0;
};

struct Target {
  std::string_view name;  ///< "cpu:x86-64-v3"
  Kind kind = Kind::Cpu;
  Arch arch = Arch::X86_64;
  std::string_view triple;     ///< as LLVM names it
  std::string_view processor;  ///< as LLVM names it
  std::string_view features;   ///< as LLVM lists them
  uint32_t level = 0;          ///< x86-64 micro-architecture level, 1 to 4; 0 elsewhere
  bool half_conversion = false;
  bool round_to_even = false;
  uint32_t row_lanes = 1;               ///< rows of an adstack heap lie interleaved in blocks of this many
  uint32_t private_bytes = 256u << 10;  ///< limit on the local arrays of one task
  bool prints = false;                  ///< `print` is compiled
  AddressSpaces spaces = {};

  std::string_view ArchName() const;  ///< "x86-64", "aarch64"
};

/// The target named `text`: a full name, "cpu" for the baseline, or "cpu:v3" for "cpu:x86-64-v3".
std::optional<Target> FindTarget(std::string_view text);
/// Every target, in the order of the table.
const std::vector<Target>& AllTargets();

}  // namespace adc::target
