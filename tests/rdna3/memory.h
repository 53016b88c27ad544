#pragma once
// The memory of a device: allocations at addresses that are none of the host's, far from each other, so that
// whatever misses its allocation is found.

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace adc::rdna3 {

/// What a program on the device must not do. The text says what, and where once it has left the wave.
struct Fault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Memory {
 public:
  /// Bytes between one allocation and the next, at least; addresses are multiples of it.
  static constexpr uint64_t kSpacing = uint64_t{1} << 20;

  /// The address of `bytes` bytes of garbage. `what` names them in messages; a `readonly` one is for the host
  /// to write.
  uint64_t Allocate(uint64_t bytes, std::string what, bool readonly = false);
  /// False where nothing was allocated there.
  bool Free(uint64_t address);
  /// The bytes at `address` for the device. Throws a Fault where they do not lie inside one allocation.
  uint8_t* At(uint64_t address, uint64_t bytes, bool write);
  /// The same for the host, which may write everything; null in place of a fault.
  uint8_t* ForHost(uint64_t address, uint64_t bytes);
  /// Allocations that are there.
  size_t Count() const { return blocks_.size(); }

 private:
  struct Block {
    uint64_t address, bytes;
    std::string what;
    bool readonly;
    std::unique_ptr<uint8_t[]> data;
  };
  const Block* Find(uint64_t address);

  std::vector<Block> blocks_;  // in the order of their addresses
  uint64_t next_ = uint64_t{0x7A} << 40, seed_ = 1;
  size_t last_ = 0;  // where the last access was: the next one is often there, too
};

}  // namespace adc::rdna3
