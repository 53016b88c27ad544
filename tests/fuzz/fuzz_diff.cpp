// `adc diff` of any two bundles, in each of its forms: as they are, and with what hashes say put right. It
// ends with one of its exit codes, finds no difference between a bundle and itself, and the same number of
// differences in both directions' exit codes. Code is disassembled and never run.

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "adc/commands.h"
#include "adc/session.h"
#include "bundle_pair.h"
#include "fixture.h"
#include "host/exit_code.h"
#include "repack.h"
#include "seeds.h"

using namespace adc;

namespace {

/// Bytes under a name that a command can be given.
class NamedBytes {
 public:
  explicit NamedBytes(const std::vector<uint8_t>& bytes) : file_(memfd_create("bundle", 0)) {
    if (file_ < 0 || write(file_, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
      std::perror("fuzz_diff: memfd");
      std::abort();
    }
  }
  NamedBytes(const NamedBytes&) = delete;
  NamedBytes& operator=(const NamedBytes&) = delete;
  ~NamedBytes() { close(file_); }
  std::string Name() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};

std::vector<std::string> Words(uint8_t choices) {
  constexpr const char* kForms[] = {"", "--text", "--json", "--markdown"};
  constexpr const char* kGroups[] = {"",
                                     "--only=code",
                                     "--only=places,producer",
                                     "--ignore=code",
                                     "--only=interface,tasks,sizes",
                                     "--ignore=other",
                                     "--only=targets",
                                     "--ignore=code,targets"};
  std::vector<std::string> words;
  for (const char* word : {kForms[choices & 3], kGroups[choices >> 2 & 7]})
    if (*word) words.emplace_back(word);
  return words;
}

int Compare(const NamedBytes& first, const NamedBytes& second, uint8_t choices) {
  static tool::Session session([](const std::vector<std::string>&, tool::Session&) { return kExitUsage; });
  std::vector<std::string> words = Words(choices);
  words.push_back(first.Name());
  words.push_back(second.Name());
  int code = tool::Diff(words, session);
  if (code == kExitOk || code == kExitDiffers || code == kExitBadBundle || code == kExitUnsupported)
    return code;
  std::fprintf(stderr, "fuzz_diff: exit code %d\n", code);
  std::abort();
}

void Demand(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "fuzz_diff: %s\n", what);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static FILE* const kNowhere = std::freopen("/dev/null", "w", stdout);
  if (kNowhere == nullptr) std::abort();
  fuzz::BundlePair pair = fuzz::BundlePair::Read(data, size);
  for (std::vector<uint8_t>* bundle : {&pair.first, &pair.second}) {
    std::vector<uint8_t> right;
    if (pair.choices & 0x80) right = fuzz::Repack(*bundle);
    if (right.empty()) {
      fuzz::PutRight(*bundle);
    } else {
      *bundle = right;
    }
  }
  NamedBytes first(pair.first), second(pair.second);
  int code = Compare(first, second, pair.choices);
  if (code != kExitOk && code != kExitDiffers) return 0;
  Demand(Compare(second, first, pair.choices) == code, "another answer in the other direction");
  Demand(Compare(first, first, pair.choices) == kExitOk, "a bundle differs from itself");
  return 0;
}

std::vector<std::string> FuzzSeeds() {
  std::vector<uint8_t> whole = fuzz::Repack(fixture::MakeBundle());
  std::vector<std::string> seeds;
  for (uint8_t choices : {0x80, 0x81, 0x82, 0x83})
    seeds.push_back(fuzz::BundlePair{choices, whole, whole}.Write());
  return seeds;
}
