// The mutator of targets whose input is a list of records of FUZZ_RECORD bytes each: nodes of size
// expressions, fields of an image, words of code. Records are copied, moved, taken away, exchanged and
// changed in one field; bytes that come and go would shift what follows them, and are every fourth mutation.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <random>
#include <vector>

extern "C" size_t LLVMFuzzerMutate(uint8_t* bytes, size_t size, size_t most);

namespace {

constexpr size_t kRecord = FUZZ_RECORD;
constexpr uint64_t kNumbers[] = {
    0, 1, 2, 0x7F, 0x80, 0xFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, ~uint64_t{0}, uint64_t{1} << 63};

class Records {
 public:
  Records(const uint8_t* bytes, size_t size, unsigned int seed)
      : bytes_(bytes, bytes + size), random_(seed) {}

  std::vector<uint8_t> Run() {
    for (size_t count = 1 + Below(3); count > 0; --count) Change();
    return std::move(bytes_);
  }

 private:
  size_t Below(size_t count) { return count == 0 ? 0 : random_() % count; }
  size_t Count() const { return bytes_.size() / kRecord; }
  auto At(size_t record) { return bytes_.begin() + static_cast<std::ptrdiff_t>(record * kRecord); }
  /// A run of up to eight records from `first` on.
  std::vector<uint8_t> Taken(size_t first) {
    size_t count = std::min(1 + Below(8), Count() - first);
    return {At(first), At(first + count)};
  }

  void Change() {
    if (Count() < 2) return;
    size_t here = Below(Count()), there = Below(Count());
    switch (Below(6)) {
      case 0: {
        std::vector<uint8_t> copy = Taken(there);
        bytes_.insert(At(here), copy.begin(), copy.end());
        return;
      }
      case 1: {
        std::vector<uint8_t> copy = Taken(there);
        size_t behind = bytes_.size() - here * kRecord;
        std::copy_n(copy.begin(), std::min(copy.size(), behind), At(here));
        return;
      }
      case 2: {
        size_t count = std::min(1 + Below(4), Count() - here);
        bytes_.erase(At(here), At(here + count));
        return;
      }
      case 3:
        std::swap_ranges(At(here), At(here + 1), At(there));
        return;
      case 4: {  // a number in a field of one, two, four or eight bytes
        size_t width = std::min(size_t{1} << Below(4), kRecord), field = Below(kRecord / width);
        uint64_t number = kNumbers[Below(std::size(kNumbers))];
        std::memcpy(&bytes_[here * kRecord + field * width], &number, width);
        return;
      }
      case 5: {  // the field of another record, or one more or less than it
        size_t width = std::min(size_t{1} << Below(4), kRecord), field = Below(kRecord / width) * width;
        uint64_t number = 0;
        std::memcpy(&number, &bytes_[there * kRecord + field], width);
        number += Below(3) - 1;
        std::memcpy(&bytes_[here * kRecord + field], &number, width);
        return;
      }
    }
  }

  std::vector<uint8_t> bytes_;
  std::mt19937 random_;
};

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* bytes, size_t size, size_t most, unsigned int seed) {
  if (seed % 4 == 0 || size < 2 * kRecord) return LLVMFuzzerMutate(bytes, size, most);
  std::vector<uint8_t> changed = Records(bytes, size, seed / 4).Run();
  size = std::min(changed.size(), most);
  std::copy_n(changed.begin(), size, bytes);
  return size;
}
