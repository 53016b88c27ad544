#pragma once
// A note inside of a payload that says what the code was compiled to be launched with.
//
// Launchers go by metadata, and most of it no form of code states in its own words: types and sizes of
// stacks, numbers of iterations, in some forms parameters and bindings too. So the compiler says it again in
// each payload, as digests, and `adc verify` compares. This finds mistakes and careless changes. An attacker
// who changes metadata can change the note as well; signatures protect against that.
//
//   adc facts: ppppppppiiiiiiiisssssssseeeeeeee,...     of each kernel with code for the target, in the
//                                                       metadata's order: parameters, iterations, stacks,
//                                                       entry points, in hexadecimal
//
//   adc needs: avx,avx2,...                           for processors: the features that the code may use
//
// A line of its own at the end of text, an OpModuleProcessed of SPIR-V, and a line after the last byte of an
// ELF file, which readers of ELF ignore.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "artifact/metadata.h"
#include "codegen/common/code.h"

namespace adc::product {

/// The payload with the note of its target.
std::vector<uint8_t> WithFactNote(const artifact::Metadata& metadata, uint32_t target,
                                  const codegen::Payload& payload);

/// The differences between the note in a payload of `target` and the metadata: "the stacks of @relax.grad",
/// by kernel, in words; empty where they agree. None where there is no note.
std::optional<std::string> CompareFactNote(const artifact::Metadata& metadata, uint32_t target,
                                           std::span<const uint8_t> payload);

}  // namespace adc::product
