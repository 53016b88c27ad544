#include <elf.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "artifact/linkable.h"

// Objects under other names: those of the fixture's kernels.

namespace {

using Bytes = std::vector<uint8_t>;

Bytes ReadObject() {
  std::ifstream file(ADRT_FIXTURE_OBJECT, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(file), {});
}

template <class T>
T At(const Bytes& bytes, uint64_t at) {
  T value;
  REQUIRE(at + sizeof value <= bytes.size());
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

/// The symbols that others see, by name, with the place of their definition; section 0: from elsewhere.
std::map<std::string, std::pair<uint16_t, uint64_t>> GlobalsOf(const Bytes& object) {
  auto header = At<Elf64_Ehdr>(object, 0);
  std::map<std::string, std::pair<uint16_t, uint64_t>> found;
  for (uint32_t number = 0; number < header.e_shnum; ++number) {
    auto section = At<Elf64_Shdr>(object, header.e_shoff + number * sizeof(Elf64_Shdr));
    if (section.sh_type != SHT_SYMTAB) continue;
    auto names = At<Elf64_Shdr>(object, header.e_shoff + section.sh_link * sizeof(Elf64_Shdr));
    for (uint64_t at = 0; at < section.sh_size; at += sizeof(Elf64_Sym)) {
      auto symbol = At<Elf64_Sym>(object, section.sh_offset + at);
      if (ELF64_ST_BIND(symbol.st_info) == STB_LOCAL) continue;
      REQUIRE(symbol.st_name < names.sh_size);
      const char* name = reinterpret_cast<const char*>(object.data()) + names.sh_offset + symbol.st_name;
      found[name] = {symbol.st_shndx, symbol.st_value};
    }
  }
  return found;
}

bool Rename(const Bytes& object, Bytes* written, adc::artifact::Error* error) {
  adc::artifact::Vector<uint8_t> bytes;
  bool done = adc::artifact::WithPrefix(object, "mine_", "mine_mark", "adc_tape_t0", &bytes, error);
  written->assign(bytes.begin(), bytes.end());
  return done;
}

}  // namespace

TEST_CASE("an object has its names with a prefix, and one more", "[loader]") {
  Bytes object = ReadObject(), written;
  auto before = GlobalsOf(object);
  REQUIRE(before.size() > 10);
  adc::artifact::Error error;
  REQUIRE(Rename(object, &written, &error));
  auto after = GlobalsOf(written);
  CHECK(after.size() == before.size() + 1);
  for (const auto& [name, place] : before) {
    INFO(name);
    auto renamed = after.find(place.first == SHN_UNDEF ? name : "mine_" + name);
    REQUIRE(renamed != after.end());
    CHECK(renamed->second == place);
  }
  REQUIRE(after.count("mine_mark") == 1);
  CHECK(after["mine_mark"] == before["adc_tape_t0"]);
  CHECK(after.count("sinf") == 1);
}

TEST_CASE("renaming is safe for any bytes", "[loader]") {
  Bytes object = ReadObject(), written;
  adc::artifact::Error error;
  uint32_t refused = 0;
  for (size_t size = 0; size < object.size(); size += size < 256 ? 1 : 61) {
    Bytes cut(object.begin(), object.begin() + static_cast<std::ptrdiff_t>(size));
    refused += Rename(cut, &written, &error) ? 0 : 1;
  }
  CHECK(refused > 256);
  // Each byte of the header, of the sections' rows and of the symbols, changed in three ways.
  auto header = At<Elf64_Ehdr>(object, 0);
  std::vector<std::pair<uint64_t, uint64_t>> stretches = {
      {0, sizeof header}, {header.e_shoff, header.e_shoff + header.e_shnum * sizeof(Elf64_Shdr)}};
  for (uint32_t number = 0; number < header.e_shnum; ++number) {
    auto section = At<Elf64_Shdr>(object, header.e_shoff + number * sizeof(Elf64_Shdr));
    if (section.sh_type == SHT_SYMTAB)
      stretches.emplace_back(section.sh_offset, section.sh_offset + section.sh_size);
  }
  refused = 0;
  for (auto [begin, end] : stretches) {
    for (uint64_t at = begin; at < end; ++at) {
      for (uint8_t change : {0x01, 0x80, 0xFF}) {
        Bytes changed = object;
        changed[at] ^= change;
        refused += Rename(changed, &written, &error) ? 0 : 1;
      }
    }
  }
  CHECK(refused > 0);
  // A function that is missing.
  adc::artifact::Vector<uint8_t> bytes;
  adc::artifact::Error missing;
  CHECK_FALSE(adc::artifact::WithPrefix(object, "mine_", "mark", "adc_nothing_t0", &bytes, &missing));
  CHECK(missing.message().find("no function for the first entry") != std::string_view::npos);
}
