#pragma once
// One function per form of code for devices: true, or false with what is wrong in `error`. `names` are the
// entry points that the metadata states for the target; each reports those that it finds.

#include <span>

#include "artifact/metadata.h"
#include "names.h"

namespace adc::artifact {

/// Whether it is ELF for the target's processor, of the type that the kind of section holds: OBJ_ or SHLB.
bool IsCpuElf(uint32_t kind, std::span<const uint8_t> bytes, const TargetMeta& target);

/// Code of a processor, in a form that IsCpuElf has seen: a function in a section of code for each entry
/// point. A shared image is mapped, and checked again, from its segments; this finds entries that neither
/// has.
bool CheckCpuElf(std::span<const uint8_t> bytes, const TargetMeta& target, WantedNames* names, Error* error);

/// A SPIR-V module: its header, its instructions up to their ends, a version that the target's Vulkan has,
/// capabilities that `target.features` covers, compute entry points alone.
bool CheckSpirv(std::span<const uint8_t> bytes, const TargetMeta& target, WantedNames* names, Error* error);

/// An AMD code object: ELF for the target's processor, with a symbol `<entry>.kd` of a kernel descriptor's
/// size for each entry point.
bool CheckHsaco(std::span<const uint8_t> bytes, const TargetMeta& target, WantedNames* names, Error* error);

/// Metal's language: text, with `kernel void <entry>` for each entry point.
bool CheckMsl(std::span<const uint8_t> bytes, WantedNames* names, Error* error);

/// PTX: text with a version and a target, and `.entry <entry>` for each entry point.
bool CheckPtx(std::span<const uint8_t> bytes, const TargetMeta& target, WantedNames* names, Error* error);

/// UTF-8 without a zero byte.
bool IsText(std::span<const uint8_t> bytes);

}  // namespace adc::artifact
