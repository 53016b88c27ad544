// Runs relax.comp's kernel and its gradient in a Vulkan program that knows no loader: the build compiled the
// shader with `adc --emit=spirv` and `--emit=header`, and every set, binding, offset and size comes from the
// header. The gradient is compared with central differences of the kernel.
//
//   adc_shader_sample relax.spv

#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "relax.h"
#include "vulkan_device.h"

namespace {

constexpr uint32_t kCount = 200;
constexpr int32_t kSteps = 12;
constexpr uint32_t kGroups = (kCount + adc_relax_local_size_x - 1) / adc_relax_local_size_x;

float* Floats(const shaders::Buffer& buffer) {
  return static_cast<float*>(buffer.mapped);
}

std::vector<uint8_t> PushConstants() {
  std::vector<uint8_t> bytes(8);
  std::memcpy(bytes.data() + adc_relax_n_push_offset, &kSteps, 4);
  std::memcpy(bytes.data() + adc_relax_count_push_offset, &kCount, 4);
  return bytes;
}

shaders::Descriptor At(uint32_t set, uint32_t binding, const shaders::Buffer& buffer) {
  shaders::Descriptor descriptor;
  descriptor.set = set;
  descriptor.binding = binding;
  descriptor.buffer = &buffer;
  return descriptor;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) shaders::Fail("usage: adc_shader_sample relax.spv");
  shaders::Device device;
  shaders::Buffer x = device.MakeBuffer(4 * kCount), y = device.MakeBuffer(4 * kCount);
  for (uint32_t n = 0; n < kCount; ++n) Floats(x)[n] = 0.1f + 0.01f * static_cast<float>(n);

  shaders::Dispatch primal;
  primal.code = shaders::ReadCode(arguments[1]);
  primal.entry = adc_relax_t0_entry;
  primal.push_constants = PushConstants();
  primal.groups[0] = kGroups;
  primal.descriptors = {At(adc_relax_x_set, adc_relax_x_binding, x),
                        At(adc_relax_y_set, adc_relax_y_binding, y)};
  device.Run(primal);

  // The gradient has the same bindings and a set of its own. Its tape lies in a heap, whose size follows from
  // the number of steps.
  uint64_t capacity[adc_relax_grad_t0_stack_count] = {static_cast<uint64_t>(kSteps)};
  uint64_t words[adc_relax_grad_t0_word_count];
  uint64_t heap_bytes = adc_relax_grad_t0_words(capacity, uint64_t{kGroups} * adc_relax_local_size_x, words);
  shaders::Buffer x_adj = device.MakeBuffer(4 * kCount), y_adj = device.MakeBuffer(4 * kCount);
  shaders::Buffer word_buffer = device.MakeBuffer(sizeof words), heap = device.MakeBuffer(heap_bytes);
  shaders::Buffer status = device.MakeBuffer(64);
  std::memcpy(word_buffer.mapped, words, sizeof words);
  for (uint32_t n = 0; n < kCount; ++n) Floats(y_adj)[n] = 1;
  shaders::Dispatch gradient = primal;
  gradient.entry = adc_relax_grad_t0_entry;
  gradient.descriptors = {At(adc_relax_grad_x_set, adc_relax_grad_x_binding, x),
                          At(adc_relax_grad_x_adj_set, adc_relax_grad_x_adj_binding, x_adj),
                          At(adc_relax_grad_y_adj_set, adc_relax_grad_y_adj_binding, y_adj),
                          At(adc_relax_grad_words_set, adc_relax_grad_words_binding, word_buffer),
                          At(adc_relax_grad_heap_set, adc_relax_grad_heap_binding, heap),
                          At(adc_relax_grad_status_set, adc_relax_grad_status_binding, status)};
  device.Run(gradient);
  if (static_cast<uint32_t*>(status.mapped)[0] != 0) shaders::Fail("the tape was too small");

  // y[i] depends on x[i] alone, so that all elements are moved at once.
  constexpr float kMove = 1e-3f;
  std::vector<float> low(kCount), high(kCount), start(Floats(x), Floats(x) + kCount);
  for (float move : {-kMove, kMove}) {
    for (uint32_t n = 0; n < kCount; ++n) Floats(x)[n] = start[n] + move;
    device.Run(primal);
    std::memcpy((move < 0 ? low : high).data(), y.mapped, 4 * kCount);
  }
  float worst = 0, largest = 0;
  for (uint32_t n = 0; n < kCount; ++n) {
    float difference = (high[n] - low[n]) / (2 * kMove);
    worst = std::max(worst, std::fabs(difference - Floats(x_adj)[n]));
    largest = std::max(largest, std::fabs(difference));
  }
  std::printf(
      "%s: %u elements, %d steps, heap of %llu bytes: gradient up to %g, off central differences by %g\n",
      device.name().c_str(), kCount, kSteps, static_cast<unsigned long long>(heap_bytes),
      static_cast<double>(largest), static_cast<double>(worst));
  for (shaders::Buffer* buffer : {&x, &y, &x_adj, &y_adj, &word_buffer, &heap, &status})
    device.Destroy(*buffer);
  return worst < 1e-3f && largest > 1e-2f ? 0 : 1;
}
