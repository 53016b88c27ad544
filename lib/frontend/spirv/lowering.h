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
//   Values       ids, constants and slots             Memory      loads and stores
//   Arithmetic   operations on numbers, parts          Images      images and textures
//   Invocations  indices, subgroups                    Operations  an instruction, whatever it does
//   Pointers     where access chains lead              ControlFlow blocks as regions, calls
//   Locals       variables of functions
//
// What needs no ids lies beside them: bits.h and packing.h, images.h, subgroups.h.

#include "frontend/spirv/request.h"

namespace adc::frontend::spirv {

/// Adds the kernel, named `name`. Names of units that --diff could have meant go to `names`.
void LowerEntry(const Request& request, ir::Module& module, const std::string& name,
                std::vector<std::string>* names);

}  // namespace adc::frontend::spirv
