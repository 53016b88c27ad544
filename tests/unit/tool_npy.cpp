#include <catch2/catch.hpp>

#include "npy/npy.h"

using adc::tool::NpyArray, adc::tool::NpyText, adc::tool::ParseNpy;

namespace {

std::string File(const std::string& header, const std::string& data, char version = 1) {
  std::string file = std::string("\x93NUMPY", 6) + version + '\0';
  file += static_cast<char>(header.size() & 0xFF);
  file += static_cast<char>(header.size() >> 8);
  if (version > 1) file += std::string(2, '\0');
  return file + header + data;
}

std::string Error(const std::string& file) {
  NpyArray array;
  return ParseNpy(file, &array);
}

}  // namespace

TEST_CASE("array files round-trip", "[interp]") {
  for (const char* type : {"i1", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "f32", "f64"}) {
    uint32_t size = std::string(type) == "i1" ? 1 : static_cast<uint32_t>(std::stoi(type + 1)) / 8;
    for (const std::vector<int64_t>& extents : {std::vector<int64_t>{}, {3}, {2, 3}, {0, 4}}) {
      NpyArray array{type, extents, {}};
      int64_t count = 1;
      for (int64_t e : extents) count *= e;
      for (int64_t n = 0; n < count * size; ++n) array.bytes += static_cast<char>(n % 2);
      std::string file = NpyText(array);
      CHECK((file.size() - array.bytes.size()) % 64 == 0);
      NpyArray back;
      CHECK(ParseNpy(file, &back) == "");
      CHECK(back.type == array.type);
      CHECK(back.extents == array.extents);
      CHECK(back.bytes == array.bytes);
    }
  }
}

TEST_CASE("Fortran order and big-endian numbers are converted", "[interp]") {
  NpyArray array;
  std::string data;
  for (char n : {1, 2, 3, 4, 5, 6}) data += std::string(1, '\0') + n;
  REQUIRE(Error(File("{'descr': '>u2', 'fortran_order': True, 'shape': (2, 3)}\n", data, 2)) == "");
  ParseNpy(File("{'descr': '>u2', 'fortran_order': True, 'shape': (2, 3)}\n", data, 2), &array);
  std::string expected;
  for (char n : {1, 3, 5, 2, 4, 6}) expected += n + std::string(1, '\0');
  CHECK(array.bytes == expected);
}

TEST_CASE("an array file says how long it is", "[interp]") {
  using adc::tool::NpyWanted;
  std::string file = File("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n", std::string(8, 'x'));
  CHECK(NpyWanted(file) == file.size() + 1);
  CHECK(NpyWanted(file.substr(0, file.size() - 8)) == file.size() + 1);
  CHECK(NpyWanted(file + "more") == file.size() + 1);
  // The header first, where that is not all there; no more of anything else.
  CHECK(NpyWanted(file.substr(0, 20)) == file.size() - 8);
  CHECK(NpyWanted(std::string(100, '\0')) == 100);
  CHECK(NpyWanted(File("{'descr': '<f4'}\n", "x")) == 10 + 17 + 1);
  CHECK(NpyWanted(File("{'descr': '<f8', 'fortran_order': False, 'shape': (1152921504606846976,), }\n", "")) >
        uint64_t{1} << 62);
  CHECK(Error(file + "x") == "the header says 2 elements of 4 bytes, the file holds more");
}

TEST_CASE("malformed array files are refused with a reason", "[interp]") {
  std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n";
  CHECK(Error(File(good, std::string(8, 'x'))) == "");
  CHECK(Error("") == "not a .npy file");
  CHECK(Error("\x93NUMPY") == "the file ends inside its header");
  CHECK(Error(File(good, std::string(7, 'x'))).find("holds 7 bytes") != std::string::npos);
  CHECK_FALSE(
      Error(File("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 8)}", "")).empty());
  CHECK_FALSE(
      Error(File("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", "")).empty());
  CHECK_FALSE(Error(File("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", "")).empty());
  CHECK_FALSE(Error(File("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': ()}", "")).empty());
  CHECK_FALSE(
      Error(File("{'descr': '<c8', 'fortran_order': False, 'shape': ()}", std::string(8, 'x'))).empty());
  CHECK_FALSE(Error(File("{'descr': '<f4'", "")).empty());
  CHECK_FALSE(Error(File(std::string(200, '{'), "")).empty());
  // Every prefix of a good file.
  std::string file = File(good, std::string(8, 'x'));
  for (size_t n = 0; n < file.size(); ++n) CHECK_FALSE(Error(file.substr(0, n)).empty());
}
