#include "workers.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <new>
#include <thread>

#include "programs.h"
#include "trial.h"

namespace adc::farm {

namespace {

using Clock = std::chrono::steady_clock;
static_assert(std::atomic<uint64_t>::is_always_lock_free);

constexpr uint64_t kNone = UINT64_MAX;
constexpr std::chrono::seconds kLongest{120};

/// What one worker says of itself.
struct Slot {
  std::atomic<uint64_t> item{kNone};     ///< that it is at
  std::atomic<uint64_t> program{kNone};  ///< of the item, by position; none while it is compiled as a whole
  Tally tally;
};
struct Shared {
  std::atomic<uint64_t> next{0};  ///< item that nobody has taken
  std::atomic<uint64_t> end{0};
};

std::atomic<bool> interrupted{false};

/// Items of a run: the corpus in all its turns, then batches.
class Items {
 public:
  explicit Items(const RunOptions& options) : options_(options) {}
  uint64_t Corpus() const { return options_.corpus.size() * kTurns; }
  uint64_t Count() const { return Corpus() + options_.count; }
  Batch At(uint64_t item) const {
    if (item < Corpus()) return OfCorpus(options_.corpus[item / kTurns], item % kTurns);
    return OfNumber(options_.seed, NumberOf(item));
  }
  uint64_t NumberOf(uint64_t item) const { return options_.first + (item < Corpus() ? 0 : item - Corpus()); }
  std::string Repeat(uint64_t item) const {
    if (item < Corpus()) return "adc_farm --count 0";
    return "adc_farm --seed " + std::to_string(options_.seed) + " --first " + std::to_string(NumberOf(item)) +
           " --count 1";
  }

 private:
  const RunOptions& options_;
};

class Run {
 public:
  Run(const RunOptions& options, const Tally& before)
      : options_(options), before_(before), items_(options), pids_(options.jobs), since_(options.jobs) {
    // Memory that children write and the parent reads.
    size_t bytes = sizeof(Shared) + options.jobs * sizeof(Slot) + alignof(Slot);
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
      std::perror("mmap");
      std::exit(1);
    }
    shared_ = new (memory) Shared;
    slots_ = reinterpret_cast<Slot*>(static_cast<char*>(memory) + sizeof(Shared));
    for (uint32_t n = 0; n < options.jobs; ++n) new (slots_ + n) Slot;
    shared_->end = items_.Count();
  }

  RunEnd Go() {
    std::signal(SIGINT, [](int) { interrupted = true; });
    std::signal(SIGTERM, [](int) { interrupted = true; });
    for (uint32_t n = 0; n < options_.jobs; ++n) Start(n, kNone);
    Clock::time_point shown = begin_;
    while (running_ > 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      if (interrupted || (options_.seconds > 0 && Seconds() > options_.seconds)) shared_->end = 0;
      Collect();
      StopLongOnes();
      if (Clock::now() - shown < std::chrono::duration<double>(options_.tick)) continue;
      shown = Clock::now();
      ShowProgress();
      WriteState();
    }
    WriteState();
    return End();
  }

 private:
  double Seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

  /// `again`: an item at which a worker ended while it was compiled as a whole; its programs come first, one
  /// by one.
  void Start(uint32_t worker, uint64_t again, size_t from = 0) {
    std::fflush(nullptr);
    pid_t pid = fork();
    if (pid < 0) {
      std::perror("fork");
      std::exit(1);
    }
    if (pid == 0) {
      std::signal(SIGINT, SIG_IGN);
      std::signal(SIGTERM, SIG_DFL);
      if (again != kNone) WorkOneByOne(slots_[worker], again, from);
      Work(slots_[worker]);
      std::fflush(nullptr);
      _exit(0);
    }
    pids_[worker] = pid;
    since_[worker] = {kNone, Clock::now()};
    ++running_;
  }

  void Work(Slot& slot) const {
    while (true) {
      uint64_t item = shared_->next.load();
      do {
        if (item >= shared_->end.load()) return;
      } while (!shared_->next.compare_exchange_weak(item, item + 1));
      slot.program = kNone;
      slot.item = item;
      TryBatch(slot, item, Write(item, slot.tally), 0);
      slot.item = kNone;
    }
  }
  void WorkOneByOne(Slot& slot, uint64_t item, size_t from) const {
    Batch whole = items_.At(item);
    slot.item = item;
    for (size_t n = from; n < whole.programs.size(); ++n) {
      slot.program = n;
      Batch one = whole;
      one.programs = {whole.programs[n]};
      TryBatch(slot, item, one, n);
    }
    slot.item = kNone;
  }
  void TryBatch(Slot& slot, uint64_t item, const Batch& batch, size_t first) const {
    Try(
        batch, slot.tally, [&](size_t program) { slot.program = first + program; },
        [&](const Program& program, const std::string& what) {
          ++slot.tally.wrong;
          Keep(item, batch, program, what);
        });
  }
  Batch Write(uint64_t item, Tally& tally) const {
    Clock::time_point begin = Clock::now();
    Batch batch = items_.At(item);
    tally.seconds[static_cast<size_t>(Step::Write)] +=
        std::chrono::duration<double>(Clock::now() - begin).count();
    return batch;
  }

  /// Workers that ended. One that ended at a program goes on behind it; one that ended at a batch as a whole
  /// takes it again.
  void Collect() {
    for (uint32_t n = 0; n < options_.jobs; ++n) {
      int status = 0;
      if (pids_[n] == 0 || waitpid(pids_[n], &status, WNOHANG) != pids_[n]) continue;
      pids_[n] = 0;
      --running_;
      uint64_t item = slots_[n].item.exchange(kNone), program = slots_[n].program.exchange(kNone);
      if (item == kNone) continue;
      if (program == kNone) {
        std::fprintf(stderr, "a process ended; its batch again, one by one: %s\n",
                     items_.Repeat(item).c_str());
        Start(n, item);
        continue;
      }
      ++slots_[n].tally.wrong;
      std::string what = WIFSIGNALED(status)
                             ? "its process got signal " + std::to_string(WTERMSIG(status))
                             : "its process ended with " + std::to_string(WEXITSTATUS(status));
      Batch batch = items_.At(item);
      Keep(item, batch, batch.programs[program], what);
      Start(n, item, program + 1);
    }
  }

  /// Says what is wrong, and keeps the program.
  void Keep(uint64_t item, const Batch& batch, const Program& program, const std::string& what) const {
    std::error_code ignored;
    std::filesystem::create_directories(options_.found, ignored);
    std::string path = options_.found + "/" + program.name + ".ir";
    std::ofstream file(path);
    file << "// " << what << "\n// " << batch.Words() << ", arguments of seed " << program.arguments
         << "\n// " << items_.Repeat(item) << "\n"
         << program.text;
    std::fprintf(stderr, "%s: %s\n", path.c_str(), what.c_str());
    if (!file.good()) std::fprintf(stderr, "%s cannot be written\n", path.c_str());
  }

  void StopLongOnes() {
    for (uint32_t n = 0; n < options_.jobs; ++n) {
      uint64_t item = slots_[n].item;
      if (item != since_[n].item) since_[n] = {item, Clock::now()};
      if (pids_[n] != 0 && item != kNone && Clock::now() - since_[n].when > kLongest) kill(pids_[n], SIGKILL);
    }
  }

  RunEnd End() const {
    RunEnd end;
    end.tally = before_;
    for (uint32_t n = 0; n < options_.jobs; ++n) end.tally.Add(slots_[n].tally);
    uint64_t taken = shared_->next;
    for (uint32_t n = 0; n < options_.jobs; ++n) taken = std::min(taken, slots_[n].item.load());
    end.next = items_.NumberOf(taken);
    return end;
  }

  void ShowProgress() const {
    RunEnd end = End();
    std::fprintf(
        stderr,
        "%.0f s: %lu programs, %.0f a second; %lu numbers, %lu without a gradient, %lu refused, %lu wrong\n",
        Seconds(), end.tally.programs, static_cast<double>(end.tally.programs - before_.programs) / Seconds(),
        end.tally.Compared(), end.tally.without_gradient, end.tally.refused, end.tally.wrong);
  }

  /// In one step, so that a run that is killed leaves the state before or after.
  void WriteState() const {
    if (options_.state.empty()) return;
    RunEnd end = End();
    std::string part = options_.state + ".part";
    std::ofstream file(part);
    file << "seed " << options_.seed << "\nnext " << end.next << '\n' << end.tally.Write();
    file.close();
    std::error_code error;
    if (file.good()) std::filesystem::rename(part, options_.state, error);
    if (!file.good() || error) std::fprintf(stderr, "%s cannot be written\n", options_.state.c_str());
  }

  struct Since {
    uint64_t item = kNone;
    Clock::time_point when;
  };

  const RunOptions& options_;
  const Tally& before_;
  Items items_;
  Shared* shared_ = nullptr;
  Slot* slots_ = nullptr;
  std::vector<pid_t> pids_;
  std::vector<Since> since_;
  uint32_t running_ = 0;
  Clock::time_point begin_ = Clock::now();
};

}  // namespace

RunEnd RunPrograms(const RunOptions& options, const Tally& before) {
  return Run(options, before).Go();
}

}  // namespace adc::farm
