#pragma once
// Bundles without sections that a program does without: parts only for people and tools, or code that is
// linked into the program.

#include "artifact/bundle.h"

namespace adc::artifact {

/// Whether a bundle runs as well without sections of this kind: source map, debug information, signatures.
bool IsStrippable(uint32_t kind);

/// Takes debug information out of the code in a section of a kind, if there is any.
using TakeDebugOut = bool (*)(uint32_t kind, Vector<uint8_t>* bytes, Error* error);

/// The same bundle without its strippable sections, and with code without debug information. Where only
/// signatures were there the content id stays; it is another one without source map or debug information, so
/// that signatures would not hold in any case. `file` is one that ReadBundle accepted as `index`; of another
/// minor version than the writer's it is refused, since the written bundle would claim to be of the writer's.
bool WithoutStrippable(std::span<const uint8_t> file, const BundleIndex& index, TakeDebugOut take_debug_out,
                       Vector<uint8_t>* written, Error* error);

/// The same bundle without code of processors, and without signatures, which would not hold: for programs
/// that this code is linked into. It still has the targets, and says how their code is called.
bool WithoutProcessorCode(std::span<const uint8_t> file, const BundleIndex& index, Vector<uint8_t>* written,
                          Error* error);

}  // namespace adc::artifact
