#version 450
// Ends the repetition of a sequence: after each round one thread looks at the words that are watched, and where
// one of them is not 0 leaves no blocks to the tasks of the rounds that follow. runtime-loader/src/vulkan/repeat.cpp
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
layout(local_size_x = 1) in;
layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer Word {
  uint value;
};
// First an address for each word that is watched, then blocks, 1, 1 for each task.
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Rounds {
  uint done;
  uint ended;
  uint watched;
  uint tasks;
  uvec4 rows[];
};
layout(push_constant) uniform Push {
  Rounds rounds;
};

void main() {
  if (rounds.ended != 0u) return;
  rounds.done += 1u;
  uint any = 0u;
  for (uint index = 0u; index < rounds.watched; ++index) any |= Word(rounds.rows[index].xy).value;
  if (any == 0u) return;
  rounds.ended = 1u;
  for (uint index = 0u; index < rounds.tasks; ++index) rounds.rows[rounds.watched + index].x = 0u;
}
