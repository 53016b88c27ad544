#include <zstd.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "artifact/bundle.h"
#include "artifact/sha256.h"
#include "artifact/strip.h"

using namespace adc::artifact;

namespace {

using Bytes = std::vector<uint8_t>;

Bytes FromText(std::string_view text) {
  return Bytes(text.begin(), text.end());
}
std::span<const uint8_t> Span(const Bytes& bytes) {
  return {bytes.data(), bytes.size()};
}

Bytes SampleJson() {
  Metadata metadata;
  metadata.producer = "test";
  TargetMeta target;
  target.name = "cuda:sm_80";
  target.kind = "cuda";
  target.arch = "sm_80";
  metadata.targets.push_back(target);
  FinishMetadata(&metadata);
  String json;
  Error error;
  REQUIRE(WriteMetadata(metadata, &json, &error));
  return FromText(json);
}

struct Sample {
  Bytes json = SampleJson();
  Bytes ptx = FromText(".version 8.0\n.target sm_80\n" + std::string(2000, '/'));
  Bytes map = FromText("source map"), sign = Bytes(96, 7), odd = Bytes(100, 9);
  std::vector<SectionInput> inputs;

  Sample() {
    Add(section::kSignature, kNoTarget, sign);
    Add(section::kPtx, 0, ptx);
    Add(FourCC("XTRA"), kNoTarget, odd);
    Add(section::kSourceMap, kNoTarget, map);
    Add(section::kMeta, kNoTarget, json);
  }
  void Add(uint32_t kind, uint32_t target, const Bytes& bytes) {
    SectionInput input;
    input.kind = kind;
    input.target = target;
    input.bytes = Span(bytes);
    inputs.push_back(input);
  }
  Bytes Write() const {
    Vector<uint8_t> file;
    Error error;
    bool written = WriteBundle({inputs.data(), inputs.size()}, &file, &error);
    INFO(error.text);
    REQUIRE(written);
    return Bytes(file.begin(), file.end());
  }
};

Error Open(const Bytes& file, const Limits& limits = {}) {
  BundleIndex index;
  Metadata metadata;
  Error error;
  bool read = ReadBundle(Span(file), limits, nullptr, &index, &metadata, &error);
  CHECK(read == error.ok());
  return error;
}

void Put(Bytes& file, size_t at, uint64_t value, size_t size) {
  for (size_t index = 0; index < size; ++index) file[at + index] = static_cast<uint8_t>(value >> (8 * index));
}
uint64_t Get(const Bytes& file, size_t at, size_t size) {
  uint64_t value = 0;
  for (size_t index = 0; index < size; ++index) value |= uint64_t{file[at + index]} << (8 * index);
  return value;
}

// Makes the header's hash right again after a change to header or table, as an attacker would.
void Rehash(Bytes& file) {
  size_t count = Get(file, 24, 4);
  size_t size = 128 + 64 * count;
  if (size > file.size()) return;
  Put(file, 48, 0, 8);
  Put(file, 48, Hash64({file.data(), size}), 8);
}

size_t EntryOf(const Bytes& file, uint32_t kind) {
  for (size_t at = 128; at < 128 + 64 * Get(file, 24, 4); at += 64) {
    if (Get(file, at, 4) == kind) return at;
  }
  FAIL("no such section");
  return 0;
}

std::string Hex(const uint8_t* bytes, size_t size) {
  std::string text;
  for (size_t index = 0; index < size; ++index) {
    text += "0123456789abcdef"[bytes[index] >> 4];
    text += "0123456789abcdef"[bytes[index] & 15];
  }
  return text;
}

std::string Digest(std::string_view text, size_t piece, Sha256::Instructions instructions) {
  Sha256 sha(instructions);
  for (size_t at = 0; at < text.size(); at += piece) {
    sha.Update(reinterpret_cast<const uint8_t*>(text.data()) + at, std::min(piece, text.size() - at));
  }
  uint8_t digest[32];
  sha.Finish(digest);
  return Hex(digest, 32);
}

}  // namespace

TEST_CASE("SHA-256 gives the published digests, however the bytes come", "[bundle]") {
  // By the processor's instructions for it, if it has them, and without.
  for (auto instructions : {Sha256::Instructions::kUnknown, Sha256::Instructions::kNone}) {
    auto digest = [&](std::string_view text, size_t piece) { return Digest(text, piece, instructions); };
    CHECK(digest("", 1) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK(digest("abc", 64) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    std::string two_blocks = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    for (size_t piece : {1, 7, 55, 56, 64})
      CHECK(digest(two_blocks, piece) == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    CHECK(digest(std::string(1000000, 'a'), 1000) ==
          "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  }
}

TEST_CASE("SHA-256 is the same with the processor's instructions and without", "[bundle]") {
  std::string bytes;
  for (uint32_t state = 1; bytes.size() < 700; state = state * 1664525 + 1013904223)
    bytes += static_cast<char>(state >> 24);
  for (size_t size = 0; size <= bytes.size(); ++size) {
    INFO(size);
    std::string_view text(bytes.data(), size);
    CHECK(Digest(text, 1 + size % 130, Sha256::Instructions::kUnknown) ==
          Digest(text, 1 + size % 90, Sha256::Instructions::kNone));
  }
}

TEST_CASE("a bundle comes back as it was written", "[bundle]") {
  Sample sample;
  Bytes file = sample.Write();
  BundleIndex index;
  Metadata metadata;
  Error error;
  REQUIRE(ReadBundle(Span(file), {}, nullptr, &index, &metadata, &error));
  CHECK(index.sections.size() == 5);
  CHECK(index.sections[0].kind == section::kMeta);
  CHECK(index.sections[4].kind == section::kSignature);
  CHECK(metadata.producer == "test");
  const Section* ptx = index.Find(section::kPtx, 0);
  REQUIRE(ptx != nullptr);
  CHECK((ptx->flags & kSectionZstd) != 0);
  CHECK(ptx->stored_size < 200);
  Vector<uint8_t> bytes;
  REQUIRE(ReadSection(Span(file), index, static_cast<uint32_t>(ptx - index.sections.begin()), {}, &bytes,
                      &error));
  CHECK(Bytes(bytes.begin(), bytes.end()) == sample.ptx);
}

TEST_CASE("equal content is equal bytes, whatever order it is given in", "[bundle]") {
  Sample sample;
  Bytes first = sample.Write();
  std::swap(sample.inputs[0], sample.inputs[4]);
  std::swap(sample.inputs[1], sample.inputs[2]);
  CHECK(sample.Write() == first);
}

TEST_CASE("the content id ignores compression and the signature, and nothing else", "[bundle]") {
  auto id = [](const Sample& sample) {
    Bytes file = sample.Write();
    return Hex(file.data() + 56, 32);
  };
  Sample sample;
  std::string before = id(sample);
  for (SectionInput& input : sample.inputs) input.compress = false;
  CHECK(id(sample) == before);
  sample.sign[0] ^= 1;
  CHECK(id(sample) == before);
  sample.map[0] ^= 1;
  CHECK(id(sample) != before);
  sample.map[0] ^= 1;
  sample.inputs[3].required = true;
  CHECK(id(sample) != before);
}

TEST_CASE("what cannot be a bundle is not written", "[bundle]") {
  auto refused = [](const std::function<void(Sample&)>& change) {
    Sample sample;
    change(sample);
    Vector<uint8_t> file;
    Error error;
    bool written = WriteBundle({sample.inputs.data(), sample.inputs.size()}, &file, &error);
    return !written && !error.message().empty();
  };
  CHECK(refused([](Sample& sample) { sample.inputs.pop_back(); }));
  CHECK(refused([](Sample& sample) { sample.inputs.push_back(sample.inputs[1]); }));
  CHECK(refused([](Sample& sample) { sample.inputs[1].bytes = {}; }));
  CHECK(refused([](Sample& sample) { sample.inputs[1].alignment = 3; }));
}

TEST_CASE("a bundle cut at any byte is refused", "[bundle]") {
  Bytes file = Sample().Write();
  for (size_t length = 0; length < file.size(); ++length) {
    Error error = Open(Bytes(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(length)));
    INFO(length << ": " << error.text);
    if (length == 0) {
      REQUIRE(error.code == Code::kBadMagic);
    } else {
      REQUIRE(error.code == Code::kTruncated);
    }
  }
}

TEST_CASE("every flipped bit of a bundle is noticed", "[bundle]") {
  Bytes file = Sample().Write();
  int accepted = 0;
  for (size_t bit = 0; bit < file.size() * 8; ++bit) {
    Bytes flipped = file;
    flipped[bit / 8] ^= static_cast<uint8_t>(1u << (bit % 8));
    accepted += Open(flipped).ok();
  }
  CHECK(accepted == 0);
}

TEST_CASE("flips in header and table that hash right are still refused", "[bundle]") {
  // Kind, target and required flag of the unknown optional section mean nothing to a reader, but the content
  // id has them.
  Bytes file = Sample().Write();
  size_t table_end = 128 + 64 * Get(file, 24, 4);
  for (size_t bit = 0; bit < table_end * 8; ++bit) {
    if (bit / 8 >= 48 && bit / 8 < 56) continue;  // the hash itself
    // The minor version may be any: newer ones are read as far as they are known.
    if (bit / 8 == 10 || bit / 8 == 11) continue;
    Bytes flipped = file;
    flipped[bit / 8] ^= static_cast<uint8_t>(1u << (bit % 8));
    Rehash(flipped);
    Error error = Open(flipped);
    INFO("bit " << bit % 8 << " of byte " << bit / 8);
    REQUIRE_FALSE(error.ok());
  }
}

TEST_CASE("header and table say what is wrong with them", "[bundle]") {
  struct Row {
    const char* name;
    std::function<void(Bytes&)> change;
    Code code;
  };
  const uint32_t kMap = section::kSourceMap;
  const Row rows[] = {
      {"other major", [](Bytes& f) { Put(f, 8, 2, 2); }, Code::kVersion},
      {"bytes behind", [](Bytes& f) { f.push_back(0); }, Code::kMalformed},
      {"flags", [](Bytes& f) { Put(f, 40, 1, 4); }, Code::kMalformed},
      {"features", [](Bytes& f) { Put(f, 44, 1, 4); }, Code::kUnsupported},
      {"features of a newer version",
       [](Bytes& f) {
         Put(f, 10, kFormatMinor + 1, 2);
         Put(f, 44, 1, 4);
       },
       Code::kVersion},
      {"header padding", [](Bytes& f) { f[127] = 1; }, Code::kMalformed},
      {"no sections", [](Bytes& f) { Put(f, 24, 0, 4); }, Code::kMalformed},
      {"a billion sections", [](Bytes& f) { Put(f, 24, 1000000000, 4); }, Code::kOverLimit},
      {"more sections than bytes", [](Bytes& f) { Put(f, 24, 1000, 4); }, Code::kTruncated},
      {"offset past the end", [](Bytes& f) { Put(f, EntryOf(f, section::kSourceMap) + 8, ~0ull, 8); },
       Code::kMalformed},
      {"size past the end", [](Bytes& f) { Put(f, EntryOf(f, section::kSignature) + 16, ~0ull - 10, 8); },
       Code::kMalformed},
      {"overlap", [](Bytes& f) { Put(f, EntryOf(f, section::kSourceMap) + 8, 128, 8); }, Code::kMalformed},
      {"required unknown", [](Bytes& f) { f[EntryOf(f, FourCC("XTRA")) + 4] |= 1; }, Code::kUnsupported},
      {"raw size of a terabyte", [](Bytes& f) { Put(f, EntryOf(f, section::kPtx) + 24, 1ull << 40, 8); },
       Code::kOverLimit},
      {"ratio", [](Bytes& f) { Put(f, EntryOf(f, section::kPtx) + 24, 100000000, 8); }, Code::kOverLimit},
      {"other raw size", [](Bytes& f) { Put(f, EntryOf(f, section::kPtx) + 24, 2028, 8); }, Code::kMalformed},
      {"zstd flag on plain bytes", [=](Bytes& f) { f[EntryOf(f, kMap) + 4] |= 2; }, Code::kMalformed},
      {"alignment 0", [=](Bytes& f) { Put(f, EntryOf(f, kMap) + 52, 0, 2); }, Code::kMalformed},
      {"target of a source map", [=](Bytes& f) { Put(f, EntryOf(f, kMap) + 48, 0, 4); }, Code::kMalformed},
      {"reserved", [=](Bytes& f) { f[EntryOf(f, kMap) + 63] = 1; }, Code::kMalformed},
  };
  for (const Row& row : rows) {
    Bytes file = Sample().Write();
    row.change(file);
    Rehash(file);
    Error error = Open(file);
    INFO(row.name << ": " << error.text);
    CHECK(error.code == row.code);
    CHECK_FALSE(error.message().empty());
  }
  Bytes text = FromText("#!/bin/sh\n");
  CHECK(Open(text).code == Code::kBadMagic);
  Bytes transferred = Sample().Write();
  transferred.erase(transferred.begin() + 4);  // a text-mode transfer turned CR LF into LF
  CHECK(Open(transferred).code == Code::kBadMagic);
}

TEST_CASE("compressed sections are one plain frame of the stated size", "[bundle]") {
  // Replaces the compressed PTX by another frame of any kind and makes every hash right again.
  auto open_with = [](const Bytes& frame) {
    Sample sample;
    sample.inputs = {sample.inputs[1], sample.inputs[4]};
    Bytes file = sample.Write();
    size_t entry = EntryOf(file, section::kPtx);
    file.resize(Get(file, entry + 8, 8));
    file.insert(file.end(), frame.begin(), frame.end());
    Put(file, entry + 16, frame.size(), 8);
    Put(file, entry + 32, Hash64(Span(frame)), 8);
    Put(file, 16, file.size(), 8);
    Rehash(file);
    return Open(file);
  };
  Bytes raw = Sample().ptx;
  auto compress = [&](const std::function<void(ZSTD_CCtx*)>& set, const Bytes& bytes) {
    Bytes frame(ZSTD_compressBound(bytes.size()));
    ZSTD_CCtx* context = ZSTD_createCCtx();
    set(context);
    frame.resize(ZSTD_compress2(context, frame.data(), frame.size(), bytes.data(), bytes.size()));
    ZSTD_freeCCtx(context);
    return frame;
  };
  Bytes plain = compress([](ZSTD_CCtx*) {}, raw);
  CHECK(open_with(plain).ok());
  Bytes twice = plain;
  twice.insert(twice.end(), plain.begin(), plain.end());
  CHECK(open_with(twice).rule == Rule::kH5);
  Bytes skippable = {0x50, 0x2A, 0x4D, 0x18, 0, 0, 0, 0};
  skippable.insert(skippable.end(), plain.begin(), plain.end());
  CHECK(open_with(skippable).rule == Rule::kH5);
  CHECK(open_with(compress([](ZSTD_CCtx* c) { ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1); }, raw))
            .rule == Rule::kH5);
  CHECK(open_with(compress([](ZSTD_CCtx* c) { ZSTD_CCtx_setParameter(c, ZSTD_c_contentSizeFlag, 0); }, raw))
            .rule == Rule::kH5);
  CHECK(open_with(compress([](ZSTD_CCtx*) {}, Bytes(raw.begin(), raw.end() - 1))).rule == Rule::kH5);
  Bytes windowed = {0x28, 0xB5, 0x2F, 0xFD, 0x80, 0xFF, 0, 0, 0, 0};
  CHECK(open_with(windowed).rule == Rule::kH5);
  Bytes dictionary = plain;
  dictionary[4] |= 1;
  CHECK(open_with(dictionary).rule == Rule::kH5);
  Bytes damaged = plain;
  damaged[damaged.size() / 2] ^= 0x55;
  CHECK_FALSE(open_with(damaged).ok());
}

TEST_CASE("code for processors is stored as what differs from the first", "[bundle]") {
  Bytes noise(20'000);
  uint32_t state = 1;
  for (uint8_t& byte : noise) byte = static_cast<uint8_t>((state = state * 1664525 + 1013904223) >> 24);
  Bytes object = noise, second = noise;
  object.insert(object.begin() + 5000, 300, 7);
  second[9000] ^= 1;
  auto write = [&](bool compress) {
    Sample sample;
    sample.Add(section::kImage, 0, noise);
    sample.Add(section::kObject, 0, object);
    sample.Add(section::kImage, 1, second);
    for (SectionInput& input : sample.inputs) input.compress = compress;
    return sample.Write();
  };
  // By target, then kind: META; SHLB, OBJ_ and PTX_ of target 0; SHLB of target 1.
  const Bytes* contents[] = {nullptr, &noise, &object, nullptr, &second};
  Bytes file = write(true), plain = write(false);
  BundleIndex index, of_plain;
  Error error;
  REQUIRE(ReadIndex(Span(file), Limits(), nullptr, &index, &error));
  REQUIRE(ReadIndex(Span(plain), Limits(), nullptr, &of_plain, &error));
  CHECK(std::memcmp(index.content_id, of_plain.content_id, kContentIdSize) == 0);
  CHECK(index.sections[1].flags == 0);
  for (uint32_t number : {1, 2, 4}) {
    INFO(number);
    Vector<uint8_t> raw;
    REQUIRE(ReadSection(Span(file), index, number, Limits(), &raw, &error));
    CHECK(Bytes(raw.begin(), raw.end()) == *contents[number]);
    REQUIRE(ReadSectionAgain(Span(file), index, number, Limits(), &raw, &error));
    CHECK(Bytes(raw.begin(), raw.end()) == *contents[number]);
    if (number == 1) continue;
    CHECK(index.sections[number].flags == (kSectionZstd | kSectionPrefix));
    CHECK(index.sections[number].stored_size < 200);
  }

  // The flag stands where there is something to follow, and with a frame.
  auto code_with = [](Bytes changed, uint32_t number, uint32_t flags) {
    Put(changed, 128 + 64 * number + 4, flags, 4);
    Rehash(changed);
    BundleIndex read;
    Error why;
    Vector<uint8_t> raw;
    if (ReadIndex(Span(changed), Limits(), nullptr, &read, &why))
      CHECK_FALSE(ReadSection(Span(changed), read, number, Limits(), &raw, &why));
    return why.code;
  };
  CHECK(code_with(file, 1, kSectionPrefix) == Code::kMalformed);
  CHECK(code_with(file, 1, kSectionZstd | kSectionPrefix) == Code::kMalformed);
  CHECK(code_with(plain, 2, kSectionPrefix) == Code::kMalformed);
  CHECK(code_with(file, 2, kSectionZstd) == Code::kCorrupt);
  CHECK(code_with(file, 2, kSectionZstd | kSectionPrefix | kSectionDifferences) == Code::kMalformed);
  CHECK(code_with(file, 3, kSectionZstd | kSectionPrefix) == Code::kMalformed);
  // After another prefix the bytes are others, and do not have their hash.
  Bytes damaged = file;
  damaged[index.sections[1].offset + 100] ^= 1;
  uint64_t hash = Hash64(Span(damaged).subspan(index.sections[1].offset, noise.size()));
  for (size_t at : {32, 40}) Put(damaged, 128 + 64 + at, hash, 8);
  Rehash(damaged);
  Vector<uint8_t> raw;
  REQUIRE(ReadIndex(Span(damaged), Limits(), nullptr, &index, &error));
  CHECK_FALSE(ReadSection(Span(damaged), index, 2, Limits(), &raw, &error));
  CHECK(error.code == Code::kCorrupt);
}

TEST_CASE("what compresses too well is stored as small as readers take it", "[bundle]") {
  constexpr size_t kRaw = 4'000'000;
  auto write = [](size_t comment, bool over_budget) {
    Sample sample;
    sample.ptx = FromText(".version 8.0\n.target sm_80\n" + std::string(comment, '/'));
    sample.inputs = {sample.inputs[1], sample.inputs[4]};
    sample.inputs[0].bytes = Span(sample.ptx);
    sample.inputs[0].over_budget = over_budget;
    Bytes file = sample.Write();
    BundleIndex index;
    Error error;
    REQUIRE(ReadIndex(Span(file), Limits(), nullptr, &index, &error));
    CHECK((index.sections[1].flags & kSectionZstd) != 0);
    Vector<uint8_t> raw;
    REQUIRE(ReadSection(Span(file), index, 1, Limits(), &raw, &error));
    CHECK(Bytes(raw.begin(), raw.end()) == sample.ptx);
    return file;
  };
  // By the steps of an open: 7 for each byte of the content are 19 * 2^20 and 40 for each byte of the file.
  Bytes cheap = write(kRaw, false);
  CHECK(Open(cheap).ok());
  size_t least = (7 * kRaw - (19 << 20)) / 39;
  CHECK(cheap.size() >= least);
  CHECK(cheap.size() <= least + 1000);
  // By the ratio of a section alone.
  Bytes small = write(kRaw, true);
  CHECK(small.size() <= kRaw / 1000 + 1000);
}

TEST_CASE("payloads are what their kind says", "[bundle]") {
  auto open_with = [](uint32_t kind, uint32_t target, const Bytes& bytes) {
    Sample sample;
    sample.inputs = {sample.inputs[4]};
    sample.Add(kind, target, bytes);
    return Open(sample.Write()).rule;
  };
  CHECK(open_with(section::kPtx, 0, Sample().ptx) == Rule::kNone);
  CHECK(open_with(section::kPtx, 0, FromText("no ptx")) == Rule::kH10);
  CHECK(open_with(section::kPtx, 1, Sample().ptx) == Rule::kH10);
  CHECK(open_with(section::kPtx, kNoTarget, Sample().ptx) == Rule::kH10);
  CHECK(open_with(section::kImage, 0, Bytes(200, 0)) == Rule::kH10);
  CHECK(open_with(section::kSpirv, 0, Bytes(200, 0)) == Rule::kH10);
}

TEST_CASE("a target whose code was taken out is found", "[bundle]") {
  Metadata metadata;
  for (std::string_view abi : {"elf", "ptx", "hsaco", "spirv", "msl", "ptx"}) {
    TargetMeta target;
    target.abi = abi;
    metadata.targets.push_back(target);
  }
  constexpr uint32_t kKinds[] = {section::kImage, section::kPtx, section::kHsaco,
                                 section::kSpirv, section::kMsl, section::kPtx};
  BundleIndex index;
  for (uint32_t target = 0; target < 6; ++target) {
    Section held;
    held.kind = kKinds[target];
    held.target = target;
    index.sections.push_back(held);
  }
  CHECK(TargetWithoutCode(metadata, index) == kNoTarget);
  index.sections[0].kind = section::kObject;  // a CPU's code to link is code
  CHECK(TargetWithoutCode(metadata, index) == kNoTarget);
  index.sections[1].kind = section::kHsaco;  // of another form
  index.sections[4].target = kNoTarget;
  CHECK(TargetWithoutCode(metadata, index) == 1);
  CHECK(TargetWithoutCode(metadata, index, 2) == 4);
  CHECK(TargetWithoutCode(metadata, index, 5) == kNoTarget);
}

TEST_CASE("limits of a reader hold", "[bundle]") {
  Bytes file = Sample().Write();
  auto code = [&](const std::function<void(Limits&)>& lower) {
    Limits limits;
    lower(limits);
    return Open(file, limits).code;
  };
  CHECK(code([](Limits&) {}) == Code::kOk);
  CHECK(code([](Limits& limits) { limits.file_bytes = 300; }) == Code::kOverLimit);
  CHECK(code([](Limits& limits) { limits.sections = 4; }) == Code::kOverLimit);
  CHECK(code([](Limits& limits) { limits.section_bytes = 1000; }) == Code::kOverLimit);
  CHECK(code([](Limits& limits) { limits.ratio = 2; }) == Code::kOverLimit);
  CHECK(code([](Limits& limits) { limits.metadata_bytes = 10; }) == Code::kOverLimit);
  CHECK(code([](Limits& limits) { limits.targets = 0; }) == Code::kOverLimit);
  CHECK(code([](Limits& limits) { limits.name_bytes = 2; }) == Code::kOverLimit);
}

TEST_CASE("a refused allocation is reported and leaks nothing", "[bundle]") {
  struct Counter {
    long calls = 0, fail_at = 0, held = 0;
  } counter;
  Allocator allocator;
  allocator.user = &counter;
  allocator.allocate = [](void* user, size_t size, size_t) -> void* {
    Counter& c = *static_cast<Counter*>(user);
    if (++c.calls == c.fail_at) return nullptr;
    ++c.held;
    return std::malloc(size);
  };
  allocator.release = [](void* user, void* memory, size_t, size_t) {
    --static_cast<Counter*>(user)->held;
    std::free(memory);
  };
  Bytes file = Sample().Write();
  bool opened = false;
  for (long at = 1; !opened; ++at) {
    counter = {};
    counter.fail_at = at;
    {
      BundleIndex index;
      Metadata metadata;
      Error error;
      opened = ReadBundle(Span(file), {}, &allocator, &index, &metadata, &error);
      INFO("allocation " << at);
      if (!opened) REQUIRE(error.code == Code::kOutOfMemory);
    }
    REQUIRE(counter.held == 0);
    REQUIRE(at < 1000);
  }
  CHECK(counter.calls > 10);
}

TEST_CASE("stripping leaves what runs, and what nobody knows", "[bundle]") {
  Sample sample;
  sample.Add(section::kDebugInfo, kNoTarget, sample.map);
  Bytes file = sample.Write();
  BundleIndex index, stripped;
  Metadata metadata;
  Error error;
  REQUIRE(ReadBundle(Span(file), {}, nullptr, &index, &metadata, &error));
  Vector<uint8_t> written;
  REQUIRE(WithoutStrippable(Span(file), index, nullptr, &written, &error));
  REQUIRE(ReadBundle({written.data(), written.size()}, {}, nullptr, &stripped, &metadata, &error));
  CHECK(stripped.sections.size() == 3);
  for (uint32_t kind : {section::kSourceMap, section::kDebugInfo, section::kSignature}) {
    CHECK(index.Find(kind));
    CHECK_FALSE(stripped.Find(kind));
  }
  CHECK(stripped.Find(section::kMeta));
  CHECK(stripped.Find(section::kPtx, 0));
  CHECK(stripped.Find(FourCC("XTRA")));
  CHECK(std::memcmp(stripped.content_id, index.content_id, kContentIdSize) != 0);

  // Signatures alone: the content is the same. Once more: the same bytes.
  Vector<SectionInput> inputs;
  for (const SectionInput& input : sample.inputs) {
    if (input.kind != section::kSourceMap && input.kind != section::kDebugInfo) inputs.push_back(input);
  }
  Vector<uint8_t> is_signed, again;
  REQUIRE(WriteBundle({inputs.data(), inputs.size()}, &is_signed, &error));
  REQUIRE(ReadIndex({is_signed.data(), is_signed.size()}, {}, nullptr, &index, &error));
  CHECK(std::memcmp(stripped.content_id, index.content_id, kContentIdSize) == 0);
  REQUIRE(WithoutStrippable({is_signed.data(), is_signed.size()}, index, nullptr, &again, &error));
  CHECK(std::equal(again.begin(), again.end(), written.begin(), written.end()));
  index.minor = kFormatMinor - 1;
  CHECK_FALSE(WithoutStrippable({is_signed.data(), is_signed.size()}, index, nullptr, &again, &error));
  CHECK(error.code == Code::kVersion);
}
