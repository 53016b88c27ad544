#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "diag/errors/driver.h"
#include "driver/file_errors.h"
#include "driver/reproduction.h"
#include "host/crash.h"
#include "host/files.h"
#include "host/output_places.h"
#include "host/read_text.h"
#include "product/depfile.h"
#include "support/check.h"

using namespace adc;
using namespace adc::driver;

namespace {

constexpr uint64_t kMost = uint64_t{1} << 30;

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
  auto back = ReadWhole(path, kMost);
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
  CHECK(*ReadWhole(path, kMost) == "new");
}

TEST_CASE("a full disk and a missing folder leave nothing behind and say why") {
  auto full = WriteWhole("/dev/full", std::string_view("text"));
  REQUIRE_FALSE(full.Ok());
  CHECK(full.Failure().text == "cannot write '/dev/full': No space left on device");
  Folder folder;
  auto missing = WriteWhole(folder / "none/out", std::string_view("text"));
  REQUIRE_FALSE(missing.Ok());
  CHECK(CannotWrite(missing.Failure()).id == adc::diag::E0702);
  CHECK(folder.Entries() == 0);
  auto onto_folder = WriteWhole(folder / ".", std::string_view("text"));
  CHECK_FALSE(onto_folder.Ok());
  CHECK(folder.Entries() == 0);
}

TEST_CASE("reading what is not there says why") {
  auto missing = ReadWhole("/nowhere/at/all", kMost);
  REQUIRE_FALSE(missing.Ok());
  CHECK(missing.Failure().text == "cannot read '/nowhere/at/all': No such file or directory");
  auto folder = ReadWhole("/tmp", kMost);
  REQUIRE_FALSE(folder.Ok());
  CHECK(folder.Failure().text == "cannot read '/tmp': Is a directory");
}

TEST_CASE("a depfile quotes what make would misread") {
  std::string dependencies[] = {"a b.ir", "c#d$.ir"};
  CHECK(product::DepfileText("out file", dependencies) == "out\\ file: a\\ b.ir c\\#d$$.ir\n\nc\\#d$$.ir:\n");
}

TEST_CASE("a writer that is killed leaves the old file or the new one") {
  Folder folder;
  std::string path = folder / "out";
  const std::string texts[] = {std::string(200000, 'a'), std::string(300000, 'b')};
  REQUIRE(WriteWhole(path, texts[0]).Ok());
  uint64_t seed = 20261122;
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  for (int kill_number = 0; kill_number < 200; ++kill_number) {
    pid_t writer = fork();
    REQUIRE(writer >= 0);
    if (writer == 0) {
      for (size_t n = 0;; ++n) (void)WriteWhole(path, texts[n % 2]);
    }
    usleep(static_cast<useconds_t>(random() % 4000));
    kill(writer, SIGKILL);
    REQUIRE(waitpid(writer, nullptr, 0) == writer);
    auto back = ReadWhole(path, kMost);
    REQUIRE(back.Ok());
    REQUIRE((*back == texts[0] || *back == texts[1]));
    REQUIRE(folder.Entries() <= 2);
  }
  // What the last kill has left, the next run takes away.
  REQUIRE(WriteWhole(path, texts[0]).Ok());
  CHECK(*ReadWhole(path, kMost) == texts[0]);
  CHECK(folder.Entries() == 1);
}

TEST_CASE("24 writers of one file leave one whole file and nothing else") {
  Folder folder;
  std::string path = folder / "out";
  std::vector<std::thread> writers;
  std::atomic<int> failed = 0;
  for (int n = 0; n < 24; ++n) {
    writers.emplace_back([&, n] {
      std::string text(size_t{50000} + static_cast<size_t>(n), static_cast<char>('a' + n));
      for (int again = 0; again < 20; ++again) failed += !WriteWhole(path, text).Ok();
    });
  }
  for (std::thread& writer : writers) writer.join();
  CHECK(failed == 0);
  auto back = ReadWhole(path, kMost);
  REQUIRE(back.Ok());
  REQUIRE(back->size() >= 50000);
  int writer = (*back)[0] - 'a';
  CHECK(*back == std::string(size_t{50000} + static_cast<size_t>(writer), (*back)[0]));
  CHECK(folder.Entries() == 1);
}

TEST_CASE("a name that fills its folder's limit is written too") {
  Folder folder;
  std::string name(250, 'n');
  REQUIRE(WriteWhole(folder / name.c_str(), std::string_view("text")).Ok());
  CHECK(*ReadWhole(folder / name.c_str(), kMost) == "text");
  CHECK(folder.Entries() == 1);
}

TEST_CASE("a file larger than asked for is not read") {
  Folder folder;
  std::string path = folder / "sparse";
  REQUIRE(WriteWhole(path, std::string_view("x")).Ok());
  REQUIRE(truncate(path.c_str(), off_t{4} << 30) == 0);
  auto read = ReadWhole(path, uint64_t{1} << 20);
  REQUIRE_FALSE(read.Ok());
  CHECK(read.Failure().text == "cannot read '" + path + "': it has more than 1 MiB");
  CHECK(adc::ReadTextFile("/dev/zero", uint64_t{1} << 30, false).text.size() < size_t{1} << 20);
  CHECK(adc::ReadTextFile("/dev/zero", uint64_t{1} << 30, true).end == adc::ReadEnd::Failed);
}

TEST_CASE("a file is read as far as its beginning says") {
  Folder folder;
  std::string path = folder / "file";
  std::string content(10000, 'x');
  REQUIRE(WriteWhole(path, content).Ok());
  std::vector<size_t> asked;
  auto wants = [&asked](std::vector<uint64_t> answers) {
    asked.clear();
    return [&asked, answers](std::string_view begin) {
      asked.push_back(begin.size());
      return answers[std::min(asked.size(), answers.size()) - 1];
    };
  };
  CHECK(ReadWhole(path, kMost, wants({0}))->size() == 4096);
  CHECK(ReadWhole(path, kMost, wants({5000, 6000, 0}))->size() == 6000);
  CHECK(asked == std::vector<size_t>{4096, 5000, 6000});
  // A file that ends earlier is read whole, whatever it says; a device that says so is not begun.
  CHECK(ReadWhole(path, kMost, wants({UINT64_MAX}))->size() == 10000);
  CHECK(ReadWhole("/dev/zero", kMost, wants({70000}))->size() == 70000);
  CHECK_FALSE(ReadWhole("/dev/zero", kMost, wants({kMost + 1})).Ok());
  CHECK(asked.size() == 1);
  auto small = ReadWhole("/dev/zero", 1000);
  REQUIRE_FALSE(small.Ok());
  CHECK(small.Failure().text == "cannot read '/dev/zero': it has more than 1000 bytes");
  CHECK(ReadBegin("/dev/zero")->size() == 4096);
  CHECK(*ReadBegin(path) == content.substr(0, 4096));
  CHECK(ReadWholeText("/dev/zero", kMost)->size() < size_t{1} << 20);
  CHECK_FALSE(CheckRegularFile("/dev/zero").Ok());
  CHECK(CheckRegularFile(path).Ok());
}

TEST_CASE("outputs are different places, and no inputs") {
  Folder folder;
  std::string one = folder / "one", two = folder / "two", link = folder / "link";
  REQUIRE(WriteWhole(one, std::string_view("x")).Ok());
  REQUIRE(symlink(one.c_str(), link.c_str()) == 0);
  CHECK(KeepApart({one, two, folder / "three"}).Ok());
  CHECK_FALSE(KeepApart({one, two, link}).Ok());
  CHECK_FALSE(KeepApart({two, folder / "./two"}).Ok());
  CHECK_FALSE(KeepApart({"-", "-"}).Ok());
  CHECK(KeepApart({"/dev/null", "/dev/null"}).Ok());
  CHECK_FALSE(KeepSources({two, link}, {one}).Ok());
  CHECK(KeepSources({two, "-"}, {one, "-"}).Ok());
}

namespace {

uint64_t UseStackUp(uint64_t depth) {
  volatile char page[4096];
  page[depth % sizeof page] = 1;
  if (depth == UINT64_MAX) return 0;
  return UseStackUp(depth + 1) + static_cast<uint64_t>(page[0]);
}

}  // namespace

namespace {

/// Runs `fail` in a process of its own, which has to end with status 70, and checks what it leaves: a message
/// that starts with `message`, and the reproduction file.
void CheckReproduction(void (*fail)(), const std::string& message, const std::string& large = "") {
  Folder folder;
  std::string path = folder / "repro", messages = folder / "messages";
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    rlimit stack = {size_t{1} << 20, size_t{1} << 20};
    setrlimit(RLIMIT_STACK, &stack);
    if (std::freopen(messages.c_str(), "w", stderr) == nullptr) _exit(1);
    adc::InstallCrashHandler();
    CompileOptions options;
    options.repro = path;
    options.command_line = "-O2 a.ir";
    adc::diag::SourceManager sources;
    sources.AddFile("a.ir", "import \"b.ir\"\n" + large);
    sources.AddFile("b.ir", "// no end of line");
    Reproduction reproduction(options, "adc 1.2.3", sources);
    fail();
    _exit(1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 70);
  CHECK(ReadWhole(messages, kMost)->starts_with("adc: internal error: " + message));
  CHECK(ReadWhole(messages, kMost)->find("the reproduction file is " + path) != std::string::npos);
  bool same =
      *ReadWhole(path, kMost) ==
      "// reproduction of an internal error; split-file takes the files apart\n// version: adc 1.2.3\n"
      "// command line: -O2 a.ir\n//--- a.ir\nimport \"b.ir\"\n" +
          large + "//--- b.ir\n// no end of line\n";
  CHECK(same);
}

}  // namespace

TEST_CASE("a stack that is used up ends with status 70 and a reproduction file") {
  CheckReproduction([] { _exit(static_cast<int>(UseStackUp(0))); }, "a stack was used up");
}

TEST_CASE("a broken invariant ends with status 70 and a reproduction file") {
  CheckReproduction([] { ADC_CHECK(getpid() == 0, "what never holds"); }, "what never holds (");
}

TEST_CASE("threads that fail at once leave one whole reproduction file") {
  auto fail = [] {
    std::atomic<int> ready = 0;
    std::vector<std::thread> threads;
    for (int n = 0; n < 4; ++n) {
      threads.emplace_back([&] {
        ++ready;
        while (ready < 4) std::this_thread::yield();
        ADC_UNREACHABLE("four times");
      });
    }
    for (std::thread& thread : threads) thread.join();
  };
  CheckReproduction(fail, "four times (", std::string(size_t{16} << 20, ' ') + "\n");
}
