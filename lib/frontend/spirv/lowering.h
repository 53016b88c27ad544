#pragma once
// One entry point of a SPIR-V module as one kernel.
//
// Locals become arrays of the IR (`alloca`), of which memory_to_registers makes values; functions are
// inlined; control flow nests already and is followed block by block. Everything refused is thrown as
// Refused.
//
// A survey of the functions (survey.h) comes first. Then layers write the kernel, each a class that derives
// from the one below and calls nothing of those above but what it declares as pure virtual:
//
//   Values       results by their ids, constants, slots
//   Arithmetic   operations on numbers, and on parts of values
//   Invocations  the loop, built-in inputs, subgroups
//   Pointers     where access chains lead
//   Locals       variables of functions
//   Memory       loads and stores
//   Images       images and textures
//   Operations   one instruction, whatever it does
//   ControlFlow  blocks as regions, functions in the place of their calls
//
// Parts that need no ids lie beside them: builder.h, bits.h, images.h, subgroups.h.

#include "frontend/spirv/read.h"
#include "frontend/spirv/types.h"

namespace adc::frontend::spirv {

/// How deep regions may nest.
inline constexpr uint32_t kDeepestRegion = 200;

/// A specialisation constant of the module.
struct SpecConstant {
  Id id = 0;
  uint32_t number = 0;
  std::string name;
  bool given = false;   ///< its value is that of --spec
  bool frozen = false;  ///< its value decides about a type or the size of a workgroup
};

struct Request {
  const Binary& binary;
  const Types& types;
  const std::vector<SpecConstant>& specs;
  const EntryPoint& entry;
  const ReadConfig& config;
  bool turns_bits;               ///< the module makes floats of words, or words of floats
  std::vector<bool>& mark_used;  ///< set for those of the marked names that were found
};

/// Adds the kernel, named `name`, and to `names` those of units that --diff could have meant.
void LowerEntry(const Request& request, ir::Module& module, const std::string& name,
                std::vector<std::string>* names);

}  // namespace adc::frontend::spirv
