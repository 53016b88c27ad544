#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <vector>

#include "../support/payloads.h"
#include "artifact/bundle.h"
#include "artifact/spirv_differences.h"

using namespace adc::artifact;

namespace {

using Bytes = std::vector<uint8_t>;
using Words = std::vector<uint32_t>;
constexpr uint32_t kOpFunction = 54, kOpFAdd = 129, kOpTypeVoid = 19;

Words WordsOf(const Bytes& bytes) {
  Words words(bytes.size() / 4);
  std::memcpy(words.data(), bytes.data(), 4 * words.size());
  return words;
}

Bytes Forth(Bytes bytes) {
  REQUIRE(ToDifferences({bytes.data(), bytes.size()}));
  return bytes;
}

bool ComesBack(const Bytes& module) {
  Bytes bytes = Forth(module);
  return FromDifferences({bytes.data(), bytes.size()}) && bytes == module;
}

/// Instructions of any operations and operands, of which some are ids.
Bytes AnyModule(std::mt19937& random, uint32_t bound) {
  payloads::Spirv module;
  payloads::Put(module.bytes, 12, bound, 4);
  for (uint32_t count = random() % 60; count > 0; --count) {
    Words operands(random() % 20);
    for (uint32_t& word : operands) word = random() % 3 == 0 || bound == 0 ? random() : random() % bound;
    module.Inst(random() % 5 == 0   ? kOpFunction
                : random() % 3 == 0 ? random() & 0xFFFF
                                    : random() % 8,
                operands);
  }
  return module.bytes;
}

Error ErrorOf(const Bytes& file) {
  BundleIndex index;
  Metadata metadata;
  Error error;
  CHECK(ReadBundle(file, {}, nullptr, &index, &metadata, &error) == error.ok());
  return error;
}

/// A bundle of one module that repeats itself.
struct Bundled {
  Bytes code, json;

  Bundled() {
    payloads::Spirv module;
    module.Inst(14, {0, 1}).Entry("adc_k_t0").Entry("adc_k_t0_far");
    payloads::Put(module.bytes, 12, 3000, 4);
    for (uint32_t id = 10; id < 2900; id += 5) {
      module.Inst(kOpFunction, {2, id, 0, 3});
      for (uint32_t n = 1; n < 5; ++n) module.Inst(kOpFAdd, {4, id + n, id + n - 1, id});
    }
    code = module.bytes;
    Metadata metadata = payloads::For("vulkan", "1.2");
    metadata.producer = "test";
    metadata.kernels[0].name = "k";
    FinishMetadata(&metadata);
    String text;
    Error error;
    REQUIRE(WriteMetadata(metadata, &text, &error));
    json = payloads::FromText(text.view());
  }
  Bytes Write(bool compress, uint32_t kind = section::kSpirv) const {
    SectionInput meta, of_code;
    meta.kind = section::kMeta;
    meta.bytes = json;
    of_code.kind = kind;
    of_code.target = 0;
    of_code.compress = compress;
    of_code.bytes = code;
    std::vector<SectionInput> sections = {meta, of_code};
    Vector<uint8_t> file;
    Error error;
    REQUIRE(WriteBundle({sections.data(), sections.size()}, &file, &error));
    return {file.begin(), file.end()};
  }
};

constexpr size_t kCodeRow = 128 + 64;

size_t SizeOfCode(const Bytes& file) {
  BundleIndex index;
  Error error;
  REQUIRE(ReadIndex(file, {}, nullptr, &index, &error));
  return index.sections[1].stored_size;
}

void Rehash(Bytes& file) {
  payloads::Put(file, 48, 0, 8);
  payloads::Put(file, 48, Hash64({file.data(), 128 + 2 * 64}), 8);
}

}  // namespace

TEST_CASE("ids become how far they are from others, as the format says", "[differences]") {
  payloads::Spirv module;
  payloads::Put(module.bytes, 12, 20, 4);
  module.Inst(kOpTypeVoid, {3}).Inst(kOpTypeVoid, {5}).Inst(kOpTypeVoid, {1000});
  // Ids below 6 are shared from here on.
  module.Inst(kOpFunction, {3, 6, 0, 5}).Inst(kOpFAdd, {5, 7, 6, 6}).Inst(kOpFAdd, {3, 8, 7, 2});
  Words words = WordsOf(Forth(module.bytes));
  auto operands = [&](size_t at, size_t count) {
    auto begin = words.begin() + static_cast<ptrdiff_t>(at);
    return Words(begin, begin + static_cast<ptrdiff_t>(count));
  };
  CHECK(words[6] == 3);
  CHECK(words[8] == 2);
  CHECK(words[10] == 1000);
  CHECK(operands(12, 4) == Words{3, 6, 0, 5});
  // 7 is the next id, and 6 is then two in front of the next, 8, in the 14 from 6 to 19.
  CHECK(operands(17, 4) == Words{5, 6, 18, 18});
  // 3 is 4 more than 5 among the 6 that are shared.
  CHECK(operands(22, 4) == Words{4, 6, 18, 2});
}

TEST_CASE("whatever its words are, a module comes back", "[differences]") {
  std::mt19937 random(1);
  for (int round = 0; round < 20000; ++round) {
    uint32_t bounds[] = {0, 1, 2, 7, 100, 0x10000, 0x80000001u, 0xFFFFFFFFu};
    Bytes module = AnyModule(random, bounds[random() % 8]);
    INFO("round " << round);
    if (!ComesBack(module)) FAIL("another module");
    // What was never made by going forth is a module too.
    Bytes back = module;
    if (!FromDifferences({back.data(), back.size()}) || Forth(back) != module)
      FAIL("differences of other words than the module");
  }
}

TEST_CASE("what is not whole instructions has no differences", "[differences]") {
  Bytes module = Bundled().code;
  for (size_t size : {size_t{0}, size_t{4}, size_t{19}, module.size() - 1, module.size() - 4}) {
    Bytes cut(module.begin(), module.begin() + static_cast<ptrdiff_t>(size));
    INFO(size);
    CHECK_FALSE(ToDifferences({cut.data(), cut.size()}));
    CHECK_FALSE(FromDifferences({cut.data(), cut.size()}));
  }
  payloads::Put(module, 20, 0, 4);  // an instruction of no words
  CHECK_FALSE(ToDifferences({module.data(), module.size()}));
}

TEST_CASE("SPIR-V is stored by differences, and is the same", "[differences]") {
  Bundled bundled;
  Bytes file = bundled.Write(true), plain = bundled.Write(false);
  BundleIndex index, of_plain;
  Metadata metadata;
  Error error;
  REQUIRE(ReadBundle(file, {}, nullptr, &index, &metadata, &error));
  REQUIRE(ReadBundle(plain, {}, nullptr, &of_plain, &metadata, &error));
  CHECK(index.sections[1].flags == (kSectionZstd | kSectionDifferences));
  CHECK(of_plain.sections[1].flags == 0);
  CHECK(std::memcmp(index.content_id, of_plain.content_id, kContentIdSize) == 0);
  Vector<uint8_t> bytes;
  REQUIRE(ReadSection(file, index, 1, {}, &bytes, &error));
  CHECK(Bytes(bytes.begin(), bytes.end()) == bundled.code);
  // As text of another kind the same bytes are compressed alone.
  CHECK(index.sections[1].stored_size * 10 < SizeOfCode(bundled.Write(true, FourCC("XTRA"))));
}

TEST_CASE("sections with differences are compressed SPIR-V, or refused", "[differences]") {
  Bundled bundled;
  auto with_flags = [](Bytes file, uint32_t flags) {
    payloads::Put(file, kCodeRow + 4, flags, 4);
    Rehash(file);
    return ErrorOf(file);
  };
  CHECK(with_flags(bundled.Write(true), kSectionZstd | kSectionDifferences).ok());
  CHECK(with_flags(bundled.Write(false), kSectionDifferences).code == Code::kMalformed);
  CHECK(with_flags(bundled.Write(true, FourCC("XTRA")), kSectionZstd | kSectionDifferences).code ==
        Code::kMalformed);
  CHECK(with_flags(bundled.Write(true), kSectionZstd).code == Code::kCorrupt);
  bundled.code.resize(bundled.code.size() - 3);
  CHECK(with_flags(bundled.Write(true), kSectionZstd).code == Code::kMalformed);
  CHECK(with_flags(bundled.Write(true), kSectionZstd | kSectionDifferences).code == Code::kCorrupt);
}
