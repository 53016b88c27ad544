#pragma once
// What a fuzz target supplies: the entry that libFuzzer knows, and inputs to start from.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// Runs one input; must return 0 and must not crash, hang, or take memory out of proportion.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

/// Valid inputs, which the seeded main mutates.
std::vector<std::string> FuzzSeeds();
