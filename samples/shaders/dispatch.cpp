// dispatch FILE.spv ENTRY GX GY GZ [push=FILE] [NUMBER:VALUE]... [SET.BINDING[u]=FILE]...
//
// Runs a compute shader on files: a buffer per file (with `u` a uniform buffer), which is written back.
// SET.BINDING@FORMAT@WIDTHxHEIGHTxDEPTH=FILE is an image of that format, rgba8 or r32f, and with % in the
// place of @ a texture. NUMBER:VALUE specialises a 32-bit constant. Several dispatches are separated by `--`.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include "vulkan_device.h"

namespace {

std::vector<uint8_t> ReadBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) shaders::Fail("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

struct Format {
  const char* name;
  VkFormat format;
  uint32_t bytes;
};
constexpr Format kFormats[] = {{"rgba32f", VK_FORMAT_R32G32B32A32_SFLOAT, 16},
                               {"r32f", VK_FORMAT_R32_SFLOAT, 4},
                               {"rgba16f", VK_FORMAT_R16G16B16A16_SFLOAT, 8},
                               {"rgba8", VK_FORMAT_R8G8B8A8_UNORM, 4},
                               {"r8", VK_FORMAT_R8_UNORM, 1},
                               {"rg8_snorm", VK_FORMAT_R8G8_SNORM, 2},
                               {"r32i", VK_FORMAT_R32_SINT, 4},
                               {"rgba8ui", VK_FORMAT_R8G8B8A8_UINT, 4}};

/// An image by what stands behind its place: FORMAT@WIDTHxHEIGHTxDEPTH.
shaders::Image MakeImage(const shaders::Device& device, const std::string& word) {
  size_t end = word.find_first_of("@%");
  VkExtent3D extent = {1, 1, 1};
  if (end == std::string::npos ||
      std::sscanf(word.c_str() + end + 1, "%ux%ux%u", &extent.width, &extent.height, &extent.depth) != 3)
    shaders::Fail("what is " + word + "?");
  for (const Format& known : kFormats) {
    if (word.substr(0, end) == known.name) return device.MakeImage(known.format, known.bytes, extent);
  }
  shaders::Fail("no format " + word.substr(0, end));
}

void RunOne(const shaders::Device& device, const std::vector<std::string>& words) {
  if (words.size() < 5) shaders::Fail("wants FILE.spv ENTRY GX GY GZ");
  shaders::Dispatch dispatch;
  dispatch.code = shaders::ReadCode(words[0]);
  dispatch.entry = words[1];
  for (size_t axis = 0; axis < 3; ++axis)
    dispatch.groups[axis] = static_cast<uint32_t>(std::strtoul(words[2 + axis].c_str(), nullptr, 10));
  std::vector<shaders::Buffer> buffers(words.size());
  std::vector<shaders::Image> images(words.size());
  std::vector<std::string> files(words.size());
  for (size_t n = 5; n < words.size(); ++n) {
    size_t equals = words[n].find('='), colon = words[n].find(':');
    if (equals == std::string::npos) {
      if (colon == std::string::npos) shaders::Fail("what is " + words[n] + "?");
      dispatch.specialization[static_cast<uint32_t>(std::strtoul(words[n].c_str(), nullptr, 10))] =
          static_cast<uint32_t>(std::strtoll(words[n].c_str() + colon + 1, nullptr, 0));
      continue;
    }
    std::string place = words[n].substr(0, equals), file = words[n].substr(equals + 1);
    std::vector<uint8_t> bytes = ReadBytes(file);
    if (place == "push") {
      dispatch.push_constants = bytes;
      continue;
    }
    shaders::Descriptor descriptor;
    descriptor.set = static_cast<uint32_t>(std::strtoul(place.c_str(), nullptr, 10));
    descriptor.binding =
        static_cast<uint32_t>(std::strtoul(place.c_str() + place.find('.') + 1, nullptr, 10));
    if (place.back() == 'u') descriptor.type = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER;
    if (size_t kind = place.find_first_of("@%"); kind != std::string::npos) {
      descriptor.type =
          place[kind] == '@' ? VK_DESCRIPTOR_TYPE_STORAGE_IMAGE : VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
      images[n] = MakeImage(device, place.substr(kind + 1));
      buffers[n] = images[n].texels;
      descriptor.image = &images[n];
    } else {
      buffers[n] = device.MakeBuffer(bytes.size());
      descriptor.buffer = &buffers[n];
    }
    if (buffers[n].bytes != bytes.size()) shaders::Fail(file + " has another size than " + place);
    std::memcpy(buffers[n].mapped, bytes.data(), bytes.size());
    files[n] = file;
    dispatch.descriptors.push_back(descriptor);
  }
  device.Run(dispatch);
  for (size_t n = 5; n < words.size(); ++n) {
    if (files[n].empty()) continue;
    std::ofstream file(files[n], std::ios::binary);
    file.write(static_cast<const char*>(buffers[n].mapped), static_cast<std::streamsize>(buffers[n].bytes));
    images[n].handle == VK_NULL_HANDLE ? device.Destroy(buffers[n]) : device.Destroy(images[n]);
  }
}

}  // namespace

int main(int count, char** arguments) {
  shaders::Device device;
  std::vector<std::string> words;
  for (int n = 1; n <= count; ++n) {
    if (n < count && std::strcmp(arguments[n], "--") != 0) {
      words.emplace_back(arguments[n]);
      continue;
    }
    if (!words.empty()) RunOne(device, words);
    words.clear();
  }
  return 0;
}
