#include "core/errors.h"
#include "cpu/image.h"

// In place of image.cpp where no code may be loaded: this loader makes no memory executable.

namespace adrt {

Image::~Image() = default;

bool Image::Map(std::span<const uint8_t>, adrt_error* error) {
  return Refuse(
      error, ADRT_ERROR_UNSUPPORTED,
      "this loader loads no code of processors (ADRT_IMAGES=OFF): link it into the program, and use "
      "adrt_module_from_entries");
}

void Image::FindAll(std::span<Wanted>) const {}

void* Image::Find(std::string_view) const {
  return nullptr;
}

}  // namespace adrt
