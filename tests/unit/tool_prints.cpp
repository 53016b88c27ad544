// What adrt_prints.h prints of records, against the compiler's own text of numbers, and of sections that are
// not as they should be.

#include <adrt/adrt_prints.h>

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "artifact/print_record.h"
#include "support/number.h"

namespace adc {
namespace {

static_assert(ADRT_PRINTS_HEAD == ADRT_PRINT_RECORDS * sizeof(uint32_t));

void CheckFloat(uint32_t bits) {
  char text[40];
  size_t size = adrt_prints_text(ADRT_TYPE_F32, bits, text);
  std::string wanted = PrintNumber({NumberKind::Float, 32}, bits);
  if (std::string(text, size) != wanted) FAIL(std::string(text, size) << " for " << wanted);
}

void CheckDouble(uint64_t bits) {
  char text[40];
  size_t size = adrt_prints_text(ADRT_TYPE_F64, bits, text);
  std::string wanted = PrintNumber({NumberKind::Float, 64}, bits);
  if (std::string(text, size) != wanted) FAIL(std::string(text, size) << " for " << wanted);
}

TEST_CASE("numbers of records are the shortest that read back", "[prints]") {
  std::mt19937_64 random(1);
  // Powers of two, where the numbers below lie closer than those above, and their neighbours.
  for (uint32_t exponent = 0; exponent < 256; ++exponent) {
    for (uint32_t near = 0; near < 3; ++near) CheckFloat((exponent << 23) + near - 1);
  }
  for (uint64_t exponent = 0; exponent < 2048; ++exponent) {
    for (uint64_t near = 0; near < 3; ++near) CheckDouble((exponent << 52) + near - 1);
  }
  CheckFloat(uint32_t{1} << 31);
  CheckDouble(uint64_t{1} << 63);
  for (int turn = 0; turn < 20000; ++turn) {
    CheckFloat(static_cast<uint32_t>(random()));
    CheckDouble(random());
    // Numbers of a few digits and large whole ones, which are written without an exponent.
    auto whole = static_cast<double>(static_cast<int64_t>(random()) >> (random() % 64));
    double scale = 1.0;
    for (uint64_t n = random() % 12; n > 0; --n) scale *= 10;
    CheckDouble(std::bit_cast<uint64_t>(whole));
    CheckDouble(std::bit_cast<uint64_t>(whole / scale));
    CheckFloat(std::bit_cast<uint32_t>(static_cast<float>(whole / scale)));
  }
  char text[40];
  CHECK(std::string(text, adrt_prints_text(ADRT_TYPE_I8, uint64_t(-7), text)) == "-7");
  CHECK(std::string(text, adrt_prints_text(ADRT_TYPE_U64, UINT64_MAX, text)) == "18446744073709551615");
  CHECK(std::string(text, adrt_prints_text(ADRT_TYPE_I1, 1, text)) == "true");
}

adrt_status Read(std::string json, adrt_prints* prints) {
  adrt_prints_json reader = {json.data(), 0};
  *prints = {};
  adrt_prints_begin(&reader);
  adrt_status status = adrt_prints_kernel(&reader, prints);
  ADRT_PRINTS_FREE(prints->statements);
  return status;
}

TEST_CASE("a section of prints is read, or is malformed", "[prints]") {
  std::string good =
      R"({"kernels":[{"buffer":"prints","kernel":"k","later":[{"a":"]"},2],"prints":[)"
      R"({"indices":["i32"],"part":1,"place":"k.ir:3:5","text":"a \"{}\"\n\u00e9\ud83d\ude00","values":["f32","i1"]}]}]})";
  std::string json = good;
  adrt_prints_json reader = {json.data(), 0};
  adrt_prints prints = {};
  adrt_prints_begin(&reader);
  REQUIRE(adrt_prints_kernel(&reader, &prints) == ADRT_OK);
  CHECK(std::string(prints.buffer) == "prints");
  CHECK(std::string(prints.kernel) == "k");
  REQUIRE(prints.statement_count == 1);
  const adrt_print_statement& one = prints.statements[0];
  CHECK(std::string(one.text) == "a \"{}\"\n\xC3\xA9\xF0\x9F\x98\x80");
  CHECK(one.part == 1);
  REQUIRE((one.index_count == 1 && one.value_count == 2));
  CHECK((one.indices[0] == ADRT_TYPE_I32 && one.values[0] == ADRT_TYPE_F32 && one.values[1] == ADRT_TYPE_I1));
  CHECK_FALSE(adrt_prints_more(&reader, ']'));
  CHECK(reader.bad == 0);
  ADRT_PRINTS_FREE(prints.statements);
  // Cut anywhere, and with any byte another one: an answer, within the text.
  size_t kernel_end = good.size() - 2;
  for (size_t size = 0; size < kernel_end; ++size)
    CHECK(Read(good.substr(0, size), &prints) == ADRT_ERROR_MALFORMED);
  std::mt19937 random(1);
  for (int turn = 0; turn < 20000; ++turn) {
    std::string other = good;
    other[random() % other.size()] = static_cast<char>(random());
    Read(other, &prints);
  }
}

void Add(void* text, const char* line, size_t size) {
  static_cast<std::string*>(text)->append(line, size).push_back('\n');
}

TEST_CASE("records are lines in order, whatever the buffer holds", "[prints]") {
  uint8_t i64 = ADRT_TYPE_I64, i32 = ADRT_TYPE_I32;
  adrt_print_statement statements[2] = {{"late {}", &i64, &i32, 1, 1, 2}, {"early {}", &i32, &i32, 1, 1, 1}};
  adrt_prints prints = {"prints", "k", statements, 2, nullptr};
  std::vector<uint32_t> words = {10, 3, 0, 1, 0xFFFFFFFE, 0xFFFFFFFF, 7, 2, 5, 8, 2, 4, 9};
  std::string text;
  adrt_prints_seen seen;
  REQUIRE(adrt_prints_show(&prints, words.data(), words.size() * 4, Add, &text, &seen) == ADRT_OK);
  CHECK(text == "early 9\nearly 8\nlate 7\n");
  CHECK((seen.shown == 3 && seen.all == 6));
  std::mt19937 random(1);
  for (int turn = 0; turn < 5000; ++turn) {
    std::vector<uint32_t> any(random() % 40);
    for (uint32_t& word : any) word = random() % 4 == 0 ? random() : random() % 4;
    text.clear();
    REQUIRE(adrt_prints_show(&prints, any.data(), any.size() * 4, Add, &text, &seen) == ADRT_OK);
    REQUIRE(static_cast<uint64_t>(std::count(text.begin(), text.end(), '\n')) == seen.shown);
  }
}

}  // namespace
}  // namespace adc
