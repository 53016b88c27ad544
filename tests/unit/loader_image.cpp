#include <elf.h>

#include <cstring>
#include <functional>

#include "session.h"

// Hostile shared images. The bundle around them is right in every hash, so that what refuses them is the
// mapper.

using namespace fixture;

namespace {

using Bytes = std::vector<uint8_t>;

template <class T>
T Load(const Bytes& bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}
template <class T>
void Store(Bytes& bytes, size_t at, const T& value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

struct Outcome {
  adrt_status status = ADRT_OK;
  ErrorBox error;
};

// Opens and loads a bundle with this image; what opening refuses counts as well.
Outcome LoadImage(const Bytes& image, const adc::artifact::Metadata& metadata = MakeMetadata()) {
  Bytes file = MakeBundle(metadata, image);
  Outcome outcome;
  adrt_host host = TrustingHost();
  adrt_bundle* bundle = nullptr;
  adrt_device* device = nullptr;
  adrt_module* module = nullptr;
  REQUIRE(adrt_device_wrap_cpu(&host, nullptr, &device, nullptr) == ADRT_OK);
  outcome.status =
      adrt_bundle_open(&host, file.data(), file.size(), ADRT_BUNDLE_BORROW, &bundle, &outcome.error);
  if (outcome.status == ADRT_OK) outcome.status = adrt_module_load(device, bundle, &module, &outcome.error);
  adrt_module_release(module);
  adrt_device_release(device);
  adrt_bundle_release(bundle);
  return outcome;
}

size_t HeaderOf(const Bytes& image, uint32_t type, uint32_t flags = 0) {
  Elf64_Ehdr header = Load<Elf64_Ehdr>(image, 0);
  for (size_t index = 0; index < header.e_phnum; ++index) {
    size_t at = header.e_phoff + index * sizeof(Elf64_Phdr);
    Elf64_Phdr segment = Load<Elf64_Phdr>(image, at);
    if (segment.p_type == type && (segment.p_flags & flags) == flags) return at;
  }
  FAIL("no such segment");
  return 0;
}

size_t DynamicOf(const Bytes& image, int64_t tag) {
  Elf64_Phdr dynamic = Load<Elf64_Phdr>(image, HeaderOf(image, PT_DYNAMIC));
  for (size_t at = dynamic.p_offset; at < dynamic.p_offset + dynamic.p_filesz; at += sizeof(Elf64_Dyn)) {
    if (Load<Elf64_Dyn>(image, at).d_tag == tag) return at;
  }
  FAIL("no such entry");
  return 0;
}

void ChangeSegment(Bytes& image, uint32_t type, uint32_t flags,
                   const std::function<void(Elf64_Phdr&)>& change) {
  size_t at = HeaderOf(image, type, flags);
  Elf64_Phdr segment = Load<Elf64_Phdr>(image, at);
  change(segment);
  Store(image, at, segment);
}

void ChangeDynamic(Bytes& image, int64_t tag, int64_t new_tag, uint64_t value) {
  size_t at = DynamicOf(image, tag);
  Elf64_Dyn entry = Load<Elf64_Dyn>(image, at);
  entry.d_tag = new_tag;
  entry.d_un.d_val = value;
  Store(image, at, entry);
}

}  // namespace

TEST_CASE("the fixture's image loads", "[loader]") {
  CHECK(LoadImage(ReadImage()).status == ADRT_OK);
}

TEST_CASE("an image that would need more than copying is refused with the reason", "[loader]") {
  struct Row {
    const char* name;
    std::function<void(Bytes&)> change;
    const char* says;
  };
  const Row rows[] = {
      {"other machine", [](Bytes& b) { Store<uint16_t>(b, 18, EM_RISCV); }, "code"},
      {"executable", [](Bytes& b) { Store<uint16_t>(b, 16, ET_EXEC); }, "code"},
      {"32 bits", [](Bytes& b) { b[EI_CLASS] = ELFCLASS32; }, "code"},
      {"program headers outside", [](Bytes& b) { Store<uint64_t>(b, 32, b.size() - 8); }, "program headers"},
      {"program headers far outside", [](Bytes& b) { Store<uint64_t>(b, 32, ~uint64_t{0} - 8); },
       "program headers"},
      {"writable code",
       [](Bytes& b) { ChangeSegment(b, PT_LOAD, PF_X, [](Elf64_Phdr& s) { s.p_flags |= PF_W; }); },
       "writable and executable"},
      {"segment outside",
       [](Bytes& b) { ChangeSegment(b, PT_LOAD, PF_X, [](Elf64_Phdr& s) { s.p_offset = ~uint64_t{0}; }); },
       "not inside"},
      {"segment of a terabyte",
       [](Bytes& b) {
         ChangeSegment(b, PT_LOAD, PF_X, [](Elf64_Phdr& s) { s.p_memsz = uint64_t{1} << 40; });
       },
       "not inside"},
      {"segment at the end of the world",
       [](Bytes& b) {
         ChangeSegment(b, PT_LOAD, PF_X, [](Elf64_Phdr& s) { s.p_vaddr = ~uint64_t{0} - 100; });
       },
       "not inside"},
      {"smaller than stored",
       [](Bytes& b) { ChangeSegment(b, PT_LOAD, PF_X, [](Elf64_Phdr& s) { s.p_memsz = s.p_filesz - 1; }); },
       "not inside"},
      {"overlap", [](Bytes& b) { ChangeSegment(b, PT_LOAD, PF_X, [](Elf64_Phdr& s) { s.p_vaddr = 0; }); },
       "share a page"},
      {"thread-local storage",
       [](Bytes& b) { ChangeSegment(b, PT_GNU_STACK, 0, [](Elf64_Phdr& s) { s.p_type = PT_TLS; }); },
       "thread-local"},
      {"interpreter",
       [](Bytes& b) { ChangeSegment(b, PT_GNU_STACK, 0, [](Elf64_Phdr& s) { s.p_type = PT_INTERP; }); },
       "interpreter"},
      {"executable stack",
       [](Bytes& b) { ChangeSegment(b, PT_GNU_STACK, 0, [](Elf64_Phdr& s) { s.p_flags |= PF_X; }); },
       "executable stack"},
      {"no dynamic section",
       [](Bytes& b) { ChangeSegment(b, PT_DYNAMIC, 0, [](Elf64_Phdr& s) { s.p_type = PT_NULL; }); },
       "dynamic"},
      {"dynamic section outside",
       [](Bytes& b) { ChangeSegment(b, PT_DYNAMIC, 0, [](Elf64_Phdr& s) { s.p_vaddr = 1u << 29; }); },
       "dynamic"},
      {"dependency", [](Bytes& b) { ChangeDynamic(b, DT_STRSZ, DT_NEEDED, 1); }, "another library"},
      {"initialiser", [](Bytes& b) { ChangeDynamic(b, DT_STRSZ, DT_INIT, 0x1000); }, "run at loading"},
      {"initialisers", [](Bytes& b) { ChangeDynamic(b, DT_STRSZ, DT_INIT_ARRAY, 0x1000); }, "run at loading"},
      {"text relocations", [](Bytes& b) { ChangeDynamic(b, DT_STRSZ, DT_TEXTREL, 0); }, "unknown form"},
      {"names outside", [](Bytes& b) { ChangeDynamic(b, DT_STRTAB, DT_STRTAB, ~uint64_t{0}); }, "names"},
      {"names without end",
       [](Bytes& b) {
         ChangeDynamic(b, DT_STRSZ, DT_STRSZ, Load<Elf64_Dyn>(b, DynamicOf(b, DT_STRSZ)).d_un.d_val - 1);
       },
       "names"},
      {"names that a relocation may write",
       [](Bytes& b) { ChangeSegment(b, PT_LOAD, 0, [](Elf64_Phdr& s) { s.p_flags |= PF_W; }); }, "names"},
      {"symbols outside", [](Bytes& b) { ChangeDynamic(b, DT_SYMTAB, DT_SYMTAB, 1u << 29); }, "symbols"},
      {"symbols of another size", [](Bytes& b) { ChangeDynamic(b, DT_SYMENT, DT_SYMENT, 16); },
       "unknown size"},
      {"relocations outside", [](Bytes& b) { ChangeDynamic(b, DT_JMPREL, DT_JMPREL, 1u << 29); },
       "relocations"},
      {"relocations cut", [](Bytes& b) { ChangeDynamic(b, DT_PLTRELSZ, DT_PLTRELSZ, 23); }, "relocations"},
      {"hash table outside",
       [](Bytes& b) {
         ChangeDynamic(b, DT_GNU_HASH, DT_GNU_HASH, 1u << 29);
         ChangeDynamic(b, DT_HASH, DT_HASH, 1u << 29);
       },
       "hash table"},
      {"no hash table",
       [](Bytes& b) {
         ChangeDynamic(b, DT_GNU_HASH, DT_DEBUG, 0);
         ChangeDynamic(b, DT_HASH, DT_DEBUG, 0);
       },
       "hash table"},
  };
  for (const Row& row : rows) {
    Bytes image = ReadImage();
    row.change(image);
    Outcome outcome = LoadImage(image);
    INFO(row.name << ": " << outcome.error.text);
    CHECK(outcome.status == ADRT_ERROR_MALFORMED);
    CHECK(outcome.error.rule == 10);
    CHECK(outcome.error.Says(row.says));
  }
}

TEST_CASE("either hash table gives the symbols", "[loader]") {
  Bytes image = ReadImage();
  ChangeDynamic(image, DT_HASH, DT_DEBUG, 0);
  CHECK(LoadImage(image).status == ADRT_OK);
  image = ReadImage();
  ChangeDynamic(image, DT_GNU_HASH, DT_DEBUG, 0);
  CHECK(LoadImage(image).status == ADRT_OK);
}

TEST_CASE("an import outside of the table is refused by name", "[loader]") {
  Bytes image = ReadImage();
  const char name[] = "sinf";
  size_t renamed = 0;
  for (size_t at = 0; at + sizeof name <= image.size(); ++at) {
    if (std::memcmp(image.data() + at, name, sizeof name) != 0) continue;
    std::memcpy(image.data() + at, "exit", 4);
    ++renamed;
  }
  REQUIRE(renamed > 0);
  Outcome outcome = LoadImage(image);
  CHECK(outcome.status == ADRT_ERROR_MALFORMED);
  CHECK(outcome.error.Says("'exit'"));
}

TEST_CASE("an entry that the image does not have is refused by name", "[loader]") {
  adc::artifact::Metadata metadata = MakeMetadata();
  metadata.kernels[0].tasks[0].entries[0].symbol = "adc_absent_t0";
  Outcome outcome = LoadImage(ReadImage(), metadata);
  CHECK(outcome.status == ADRT_ERROR_MALFORMED);
  CHECK(outcome.error.Says("'adc_absent_t0'"));
  // An imported function is no entry.
  metadata.kernels[0].tasks[0].entries[0].symbol = "sinf";
  CHECK(LoadImage(ReadImage(), metadata).status == ADRT_ERROR_MALFORMED);
}

TEST_CASE("an image cut or damaged anywhere loads or is refused, and never crashes", "[loader]") {
  Bytes image = ReadImage();
  int refused = 0;
  for (size_t length = 1; length < image.size(); length += 7) {
    refused += LoadImage(Bytes(image.begin(), image.begin() + static_cast<std::ptrdiff_t>(length))).status !=
               ADRT_OK;
  }
  CHECK(refused > 100);
  // Headers, tables and relocations, one byte at a time; code itself is not run.
  for (size_t at = 0; at < image.size(); ++at) {
    constexpr uint8_t kFlips[] = {0x01, 0x80, 0xFF};
    Bytes damaged = image;
    damaged[at] ^= kFlips[at % 3];
    adrt_status status = LoadImage(damaged).status;
    bool known = status == ADRT_OK || status == ADRT_ERROR_MALFORMED || status == ADRT_ERROR_DRIVER;
    INFO("byte " << at);
    REQUIRE(known);
  }
}
