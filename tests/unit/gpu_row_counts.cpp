// Rows that size kernels count, against the rows that threads claim: compiled code on waves of threads of
// this process. No thread is ever left without a row, and where nothing had to be assumed the count is exact.

#include "ir/module.h"
#include "wave_launch.h"

namespace {

using namespace adc;
using namespace adc::test;

constexpr LowerConfig kLanesOfWaves = {true, {.lanes = 32}};
constexpr uint64_t kCapacity = 128;

/// Random nests of gates and loops around values that need tapes, as text. Gates read in every way: the
/// iteration's own element, one that many share, one that another buffer names, the indices of loops, what is
/// carried; alone and compound.
class GatedKernelWriter {
 public:
  explicit GatedKernelWriter(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ull + 7) {}

  std::string Write() {
    text_ =
        "kernel @random(%x: buffer<f64, 1> diff, %sel: buffer<f64, 1> readonly, %id: buffer<i32, 1> readonly,"
        " %y: buffer<f64, 1> diff, %n: i32, %m: i32) {\n"
        "  %size = shape %x, 0\n  parallel %i in 0..%size {\n    %v0 = load %x[%i]\n";
    std::string value = Block(3, "%v0");
    text_ += "    store %y[%i], " + value + "\n  }\n}\n";
    return text_;
  }

 private:
  uint32_t Below(uint32_t bound) {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<uint32_t>((state_ >> 33) % bound);
  }
  std::string Fresh(const char* stem) { return "%" + std::string(stem) + std::to_string(counter_++); }
  void Line(const std::string& line) { text_ += "    " + line + "\n"; }

  std::string Index() {
    switch (Below(6)) {
      case 0:
        return "(mod %i, 7)";
      case 1:
        return "(div %i, 2)";
      case 2:
        return "3";
      case 3:
        return "(mod (load %id[%i]), %size)";
      case 4:
        return "(mod (add %i, %m), %size)";
      default:
        return "%i";
    }
  }
  std::string Predicate(const std::string& value) {
    switch (Below(loops_.empty() ? 6 : 8)) {
      case 0:
        return "and (" + Predicate(value) + "), (" + Predicate(value) + ")";
      case 1:
        return "or (" + Predicate(value) + "), (" + Predicate(value) + ")";
      case 2:
        return "gt " + value + ", 0." + std::to_string(Below(9));
      case 6:
        return "lt " + loops_.back() + ", " + std::to_string(Below(3));
      case 7:
        return "gt (load %sel[(mod (add %i, " + loops_.back() + "), %size)]), 0." + std::to_string(Below(9));
      default:
        return "gt (load %sel[" + Index() + "]), 0." + std::to_string(Below(9));
    }
  }

  /// Some statements; the value after them.
  std::string Block(int depth, std::string value) {
    for (uint32_t count = 1 + Below(3); count > 0; --count) {
      uint32_t kind = depth > 0 ? Below(6) : 5;
      value = kind < 2   ? Gate(depth, value)
              : kind < 4 ? Loop(depth, value)
              : kind < 5 ? While(depth, value)
                         : Step(value);
    }
    return value;
  }
  std::string Step(const std::string& value) {
    std::string name = Fresh("s");
    Line(name + " = mul " + value + ", (sin (add " + value + ", 1." + std::to_string(Below(9)) + "))");
    return name;
  }
  std::string Gate(int depth, const std::string& value) {
    std::string name = Fresh("g");
    Line(name + " = if (" + Predicate(value) + ") {");
    Line("yield " + Block(depth - 1, value));
    Line("} else {");
    Line("yield " + (Below(3) == 0 ? Block(depth - 1, value) : value));
    Line("}");
    return name;
  }
  std::string Loop(int depth, const std::string& value) {
    static constexpr const char* kTrips[] = {"3", "%n", "(mod %i, 4)", "(mod (load %id[%i]), 5)"};
    std::string name = Fresh("l"), carried = Fresh("a"), index = Fresh("t");
    Line(name + " = for " + index + " in 0.." + kTrips[Below(4)] + " carry(" + carried + " = " + value +
         ") {");
    loops_.push_back(index);
    Line("yield " + Step(Block(depth - 1, carried)));
    loops_.pop_back();
    Line("}");
    return name;
  }
  std::string While(int depth, const std::string& value) {
    std::string name = Fresh("w"), carried = Fresh("a"), index = Fresh("k");
    Line(name + "k, " + name + " = while carry(" + index + " = 0, " + carried + " = " + value + ") {");
    Line("continue_if (and (lt " + index + ", 4), (gt (abs " + carried + "), 0.2))");
    Line("} do {");
    loops_.push_back(index);
    std::string next = Step(Block(depth - 1, carried));
    loops_.pop_back();
    Line("yield (add " + index + ", 1), " + next);
    Line("}");
    return name;
  }

  uint64_t state_;
  int counter_ = 0;
  std::string text_;
  std::vector<std::string> loops_;
};

/// How often counts were looked at, and how they compare with what was claimed.
struct Tally {
  int groups = 0, exact = 0, above = 0, several_gates = 0, none = 0, some = 0, all = 0;
};

class CountedRuns {
 public:
  CountedRuns(const LoweredModule& lowered, const WaveCode& code) : lowered_(lowered), code_(code) {}

  /// Runs the tasks of a kernel in order, each with as many rows as its size kernel has counted for it, as
  /// far as `threads` may want them.
  void Run(size_t number, interp::Arguments& arguments, uint64_t threads, Tally& tally) {
    const LoweredKernel& one = lowered_.kernels[number];
    WaveLaunch launch(lowered_, number);
    launch.Arguments(*one.kernel, arguments);
    for (size_t task = 0; task < one.plan.tasks.size(); ++task) {
      const adstack::TaskPlan& plan = one.plan.tasks[task];
      uint64_t total = plan.kind == artifact::TaskKind::kParallel ? kExtent : 1;
      uint64_t used = std::min(threads, total);
      std::vector<int64_t> counts = Counts(plan, launch.cells);
      std::vector<uint64_t> rows;
      for (size_t group = 0; group < plan.groups.size(); ++group) {
        uint64_t own = used;
        if (plan.groups[group].counted)
          own = std::min<uint64_t>(own, static_cast<uint64_t>(counts[plan.stacks.size() + group]));
        rows.push_back(std::max<uint64_t>(own, 1));
      }
      code_.Run(code_.Entries()[number][task], launch.Words(task, total, used, rows, kCapacity), used);
      REQUIRE(launch.status[0] == 0);
      for (size_t group = 0; group < plan.groups.size(); ++group) {
        if (!plan.groups[group].counted) continue;
        int64_t counted = counts[plan.stacks.size() + group], claimed = launch.Counter(group);
        INFO("task " << task << " group " << group << " of " << plan.groups[group].gates.size() << " gates");
        REQUIRE(claimed <= counted);
        if (used < total) continue;  // a thread that comes by twice claims once
        ++tally.groups;
        ++(claimed == counted ? tally.exact : tally.above);
        tally.several_gates += plan.groups[group].gates.size() > 1;
        ++(claimed == 0 ? tally.none : claimed < static_cast<int64_t>(total) ? tally.some : tally.all);
      }
    }
  }

 private:
  std::vector<int64_t> Counts(const adstack::TaskPlan& plan, const std::vector<uint64_t>& cells) const {
    std::vector<int64_t> counts(plan.stacks.size() + plan.groups.size(), 0);
    if (plan.size_kernel.empty()) return counts;
    for (size_t number = 0; number < lowered_.kernels.size(); ++number) {
      if (lowered_.module->Text(lowered_.kernels[number].kernel->name) != plan.size_kernel) continue;
      WaveLaunch launch(lowered_, number);
      launch.cells = cells;
      launch.cells.push_back(reinterpret_cast<uint64_t>(counts.data()));
      launch.cells.push_back(counts.size());
      const std::vector<adstack::TaskPlan>& tasks = lowered_.kernels[number].plan.tasks;
      for (size_t task = 0; task < tasks.size(); ++task) {
        uint64_t total = tasks[task].kind == artifact::TaskKind::kParallel ? kExtent : 1;
        std::vector<uint64_t> words = launch.Words(task, total, total, total, kCapacity);
        code_.Run(code_.Entries()[number][task], words, total);
      }
    }
    return counts;
  }

  const LoweredModule& lowered_;
  const WaveCode& code_;
};

}  // namespace

TEST_CASE("threads of random gradients never claim more rows than were counted") {
  Tally tally;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    std::string text = GatedKernelWriter(seed).Write();
    INFO("seed " << seed << "\n" << text);
    // Nothing in private memory: every tape needs a row.
    LowerConfig config = kLanesOfWaves;
    config.plan.private_bytes = 0;
    auto lowered = LowerText(text, config);
    WaveCode code(*lowered->module, lowered->ToEmit(), WaveConfig(static_cast<uint32_t>(seed % 3)));
    for (size_t number = 0; number < lowered->kernels.size(); ++number) {
      const LoweredKernel& one = lowered->kernels[number];
      if (one.kernel->role == ir::KernelRole::Size) continue;
      for (uint64_t threads : {uint64_t{kExtent}, 1 + seed % 20}) {
        interp::Arguments arguments = RandomArguments(*lowered->module, *one.kernel, seed, kExtent);
        CountedRuns(*lowered, code).Run(number, arguments, threads, tally);
      }
    }
  }
  WARN(tally.groups << " groups: " << tally.exact << " exact, " << tally.above << " above; " << tally.none
                    << " never claimed, " << tally.some << " by some, " << tally.all << " by all; "
                    << tally.several_gates << " with several gates");
  CHECK(tally.groups > 100);
  CHECK(tally.exact > tally.above);
  CHECK(tally.several_gates > 20);
  CHECK(tally.none > 10);
  CHECK(tally.some > 30);
}
