#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "diag/errors/driver.h"
#include "driver/depfile.h"
#include "driver/files.h"

using namespace adc::driver;

namespace {

/// A folder that goes with the test.
class Folder {
 public:
  Folder() {
    char name[] = "/tmp/adc-driver-test-XXXXXX";
    REQUIRE(mkdtemp(name) != nullptr);
    path_ = name;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string operator/(const char* name) const { return path_ + "/" + name; }
  size_t Entries() const {
    size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(path_)) ++count;
    return count;
  }

 private:
  std::string path_;
};

}  // namespace

TEST_CASE("a file is written whole and read back") {
  Folder folder;
  std::string path = folder / "out";
  std::string text(300000, 'x');
  REQUIRE(WriteWhole(path, std::string_view(text)).Ok());
  auto back = ReadWhole(path);
  REQUIRE(back.Ok());
  CHECK(*back == text);
  CHECK(folder.Entries() == 1);
}

TEST_CASE("writing over a file keeps its permissions") {
  Folder folder;
  std::string path = folder / "out";
  REQUIRE(WriteWhole(path, std::string_view("old")).Ok());
  REQUIRE(chmod(path.c_str(), 0640) == 0);
  REQUIRE(WriteWhole(path, std::string_view("new")).Ok());
  struct stat facts = {};
  REQUIRE(stat(path.c_str(), &facts) == 0);
  CHECK((facts.st_mode & 0777) == 0640);
  CHECK(*ReadWhole(path) == "new");
}

TEST_CASE("a full disk and a missing folder leave nothing behind and say why") {
  auto full = WriteWhole("/dev/full", std::string_view("text"));
  REQUIRE_FALSE(full.Ok());
  CHECK(full.Failure().text == "cannot write '/dev/full': No space left on device");
  Folder folder;
  auto missing = WriteWhole(folder / "none/out", std::string_view("text"));
  REQUIRE_FALSE(missing.Ok());
  CHECK(missing.Failure().id == adc::diag::E0702);
  CHECK(folder.Entries() == 0);
  auto onto_folder = WriteWhole(folder / ".", std::string_view("text"));
  CHECK_FALSE(onto_folder.Ok());
  CHECK(folder.Entries() == 0);
}

TEST_CASE("reading what is not there says why") {
  auto missing = ReadWhole("/nowhere/at/all");
  REQUIRE_FALSE(missing.Ok());
  CHECK(missing.Failure().text == "cannot read '/nowhere/at/all': No such file or directory");
  auto folder = ReadWhole("/tmp");
  REQUIRE_FALSE(folder.Ok());
  CHECK(folder.Failure().text == "cannot read '/tmp': Is a directory");
}

TEST_CASE("a depfile quotes what make would misread") {
  std::string dependencies[] = {"a b.ir", "c#d$.ir"};
  CHECK(DepfileText("out file", dependencies) == "out\\ file: a\\ b.ir c\\#d$$.ir\n\nc\\#d$$.ir:\n");
}
