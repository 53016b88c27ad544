#pragma once
// Compiles Metal source as C++ behind the host's metal_stdlib, and runs its kernels thread by thread.
//
// Requires clang (ADC_CLANG) and a kernel's parameters as SPIRV-Cross writes them: references or pointers
// with
// [[buffer(n)]], and built-in indices. Guarantees: what the compiler or the signature objects to comes back
// as text. Threads run one after the other, in the order of their index.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace adc::msl_host {

/// Entries in an argument table of buffers, as on a device.
inline constexpr uint32_t kBuffers = 31;

class Library {
 public:
  /// Null where the text does not compile: `error` is then what the compiler said.
  static std::unique_ptr<Library> Compile(std::string_view source, std::string& error);
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library();

  /// Null where no kernel has this name. Returns 0, or the number of a needed buffer that is null, plus one.
  using Entry = uint32_t (*)(void* const* buffers, uint32_t blocks, uint32_t block_size);
  Entry Find(std::string_view name) const;

 private:
  explicit Library(void* image) : image_(image) {}
  void* image_;
};

/// The C++ that calls each kernel of `source` from a loop over threads; empty, with `error` set, where a
/// signature has a parameter that is not understood.
std::string LaunchersOf(std::string_view source, std::string& error);

}  // namespace adc::msl_host
