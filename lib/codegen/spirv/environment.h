#pragma once
// Where an entry's code finds things: its place in the launch, its words, its memory by the three ways of
// addressing (artifact/gpu_abi.h), and its images.

#include "codegen/spirv/launch_words.h"

namespace adc::codegen::spirv {

struct Environment {
  Environment(Entry& of_entry, const TaskRows* rows)
      : entry(of_entry),
        invocations(entry),
        blocks(entry),
        images(entry),
        words(entry, rows, invocations, blocks, images) {}

  Entry& entry;
  Invocations invocations;
  Blocks blocks;
  Images images;
  LaunchWords words;

  /// Element `index` of a parameter seen as an array of `storage`; `index` has IndexWidth() bits.
  Place Element(uint32_t param, Storage storage, Id index);
};

}  // namespace adc::codegen::spirv
