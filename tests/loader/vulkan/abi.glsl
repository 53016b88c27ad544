// How a kernel reaches its launch (artifact/gpu_abi.h), written by hand: FAR through device addresses, else
// buffers through descriptors.
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_shader_explicit_arithmetic_types : require

layout(local_size_x = 64) in;

layout(buffer_reference, std430, buffer_reference_align = 8) buffer Words { uint64_t w[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Floats { float v[]; };
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Doubles { double v[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Ints { int v[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Uints { uint v[]; };

layout(push_constant) uniform Push { Words words; };

#ifdef FAR
#define BUFFER(number, type, Type, name, word) \
  Type name##_of_launch() { return Type(words.w[word]); }
#define AT(name, index) name##_of_launch().v[uint(index)]
#else
#define BUFFER(number, type, Type, name, word) \
  layout(set = 0, binding = number, std430) buffer Name_##name { type v[]; } name##_bound;
#define AT(name, index) name##_bound.v[uint(index)]
#endif

// The words behind the parameters' and the adstacks', of which there are `count`.
#define HEAP(count) words.w[count]
#define STATUS(count) words.w[(count) + 1]
#define FOR_EACH_ITERATION(i, count)                                                                     \
  if (uint64_t(gl_GlobalInvocationID.x) < words.w[(count) + 3])                                          \
    for (uint64_t i = uint64_t(gl_GlobalInvocationID.x); i < words.w[(count) + 2]; i += words.w[(count) + 3])

// Where an element of `size` bytes at byte `offset` of row `row` lies.
uint64_t InRow(uint64_t heap, uint64_t group, uint64_t stride, uint64_t row, uint64_t offset, uint64_t size) {
  const uint64_t lanes = 32ul;
  return heap + group + row / lanes * stride * lanes + offset * lanes + row % lanes * size;
}
