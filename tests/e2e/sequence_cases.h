#pragma once
// Random sequences of what a caller may do with a plan: plan, update, write, resolve, cap, record, run,
// release. Whatever came before, a plan says and does what a fresh one says and does that is given the same
// arguments and settled the same way; what a launch computes is right, or, where contents were changed
// behind the plan's back, reported; what is refused leaves the plan usable.
//
// The seed is printed. ADC_SEQUENCES says how many sequences there are, ADC_SEQUENCE_SEED which is the first.

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <sstream>

#include "../support/numbers.h"
#include "guard_random.h"
#include "record_cases.h"

namespace adc::test {

/// Kernels of guard/waves.ir that the sequences use, random nests, and two whose loops decide most.
struct SequenceKernels {
  static constexpr uint32_t kNests = 6;
  static constexpr int64_t kCount = 70;

  explicit SequenceKernels(uint64_t seed) : file(Text(seed)) {
    for (const char* name :
         {"waves", "decay", "gated", "rounds", "kept", "some", "summed", "ranged", "parts"})
      gradients.push_back(name);
    for (uint32_t number = 0; number < kNests; ++number) gradients.push_back("nest" + std::to_string(number));
  }
  static std::string Text(uint64_t seed) {
    std::ifstream waves(waves_file);
    std::ostringstream text;
    text << waves.rdbuf();
    for (uint32_t number = 0; number < kNests; ++number) text << RandomNest(seed, number);
    // How often both loops run lies in a buffer; the first element says how often the outer one does.
    text
        << "kernel @ranged(%x: buffer<f32, 1> diff, %n: buffer<i32, 1> readonly, %y: buffer<f32, 1> diff) {\n"
           "  parallel %i in 0..(load %n[0]) {\n    %v0 = load %x[%i]\n"
           "    %v = for %t in 0..(load %n[%i]) carry(%a = %v0) { yield (add (sin %a), 0.1) }\n"
           "    store %y[%i], %v\n  }\n}\n";
    // Long enough for checkpoints within a budget.
    text << "kernel @parts(%x: buffer<f32, 1> diff, %n: buffer<i32, 1> readonly, %y: buffer<f32, 1> diff) {\n"
            "  parallel %i in 0..shape(%x, 0) {\n    %v0 = load %x[%i]\n"
            "    %v = for %t in 0..(mul (load %n[%i]), 40) carry(%a = %v0) checkpoint {\n"
            "      yield (add (sin %a), 0.1)\n    }\n"
            "    store %y[%i], %v\n  }\n}\n";
    return text.str();
  }

  PassingFile file;
  std::vector<std::string> gradients;
};

/// Handles of a device's bundle, for who makes plans of their own.
struct HandlesOf : OnDevice {
  static adrt_module* Module(OnDevice& device) { return device.*(&HandlesOf::module_); }
  static const adrt_kernel* Kernel(OnDevice& device, const std::string& name) {
    const adrt_kernel* kernel = nullptr;
    device.Must(
        adrt_bundle_find_kernel(device.*(&HandlesOf::bundle_), name.c_str(), 0, &kernel, device.Error()));
    return kernel;
  }
};

/// One plan, and what the caller has told it and done since it was fresh.
class Sequence {
 public:
  /// `recorder` is null where nothing is recorded.
  Sequence(OnDevice& device, Recorder* recorder, const std::string& path, const std::string& kernel,
           uint64_t seed)
      : device_(device),
        recorder_(recorder),
        program_(Program::OfFile(path, kernel)),
        kernel_(kernel),
        state_(seed * 2654435761u + 99) {
    for (const char* name : {"x", "y"}) program_->Zeros(name, {kCount});
    for (const char* name : {"a", "b", "n", "low", "open"}) {
      uint32_t index = interp::ParameterIndex(program_->module(), program_->function(), name);
      if (index == ir::kNoAttr) continue;
      if (!program_->TypeOf(index).IsBuffer()) {
        program_->Number(name, 5);
        number_ = index;
        continue;
      }
      program_->Zeros(name, {kCount});
      deciding_.push_back(index);
    }
    for (interp::Arguments& side : contents_) {
      side = Seeded(program_->arguments(), kCount);
      Fill(side, program_->Index("x"), "x");
      for (uint32_t n : deciding_) Fill(side, n, NameOf(n));
    }
    for (int side = 0; side < 2; ++side)
      sides_[side] = std::make_unique<OnDevice::Launch>(device, kernel + ".grad", contents_[side]);
    args_ = sides_[0]->args();
    trips_are_counted_ = kernel == "some" || kernel == "summed";
    // Iterations whose number lies in a buffer stay inside of the others.
    shapes_change_ = !trips_are_counted_ && kernel != "ranged";
    adrt_heap* heap = nullptr;
    device_.Must(adrt_heap_create_on(device.device(), &heap, device.Error()));
    heap_.reset(heap);
  }

  void Run(uint32_t steps) {
    Plan();
    for (uint32_t step = 0; step < steps; ++step) Step();
  }

  struct Counts {
    uint64_t launches = 0, refused = 0, reported = 0, compared = 0;
  };
  const Counts& counts() const { return counts_; }
  /// What was done, for people.
  const std::string& log() const { return log_; }

 private:
  static constexpr int64_t kCount = SequenceKernels::kCount;

  /// Ways to settle a plan, which a fresh one repeats.
  struct Settling {
    enum Way { kResolve, kResolveUncounted, kCap, kRun } way;
    uint64_t bytes = 0;
    bool operator==(const Settling& other) const { return way == other.way && bytes == other.bytes; }
  };
  struct Outcome {
    adrt_status status = ADRT_OK;
    uint64_t needed = 0;
    std::string text;
  };
  struct FreePlan {
    void operator()(adrt_launch_plan* plan) const { adrt_plan_release(plan); }
  };
  struct FreeHeap {
    void operator()(adrt_heap* heap) const { adrt_heap_release(heap); }
  };
  using PlanHandle = std::unique_ptr<adrt_launch_plan, FreePlan>;

  uint32_t Below(uint32_t bound) {
    internal::RandomNumber(state_);
    return static_cast<uint32_t>(state_ >> 33) % bound;
  }
  void Log(const std::string& what) { log_ += what + "; "; }
  std::string NameOf(uint32_t index) const {
    return std::string(
        program_->module().Text(program_->function()[program_->function().Params()[index]].name));
  }
  adrt_arg& ArgOf(uint32_t index) {
    return *std::find_if(args_.begin(), args_.end(), [&](const adrt_arg& arg) { return arg.index == index; });
  }
  /// Where parameter `index` lies now.
  int& SideOf(uint32_t index) { return side_[index]; }

  void Fill(interp::Arguments& side, size_t index, const std::string& name) {
    double low = 0, high = 1;
    if (name == "x") low = 0.1;
    if (name == "a") high = 4.99;
    if (name == "b" || name == "n") high = 6.99;
    if (name == "low") low = 0.05, high = 0.6;
    if (name == "open") high = 1 + 0.5 * Below(3) - 0.5;
    interp::Tensor& tensor = side[index].tensor;
    std::vector<double> numbers = RandomNumbers(kCount, low, high, state_ + index);
    Below(2);
    bool whole = name == "a" || name == "b" || name == "n";
    for (int64_t n = 0; n < kCount; ++n) tensor.Set(n, whole ? std::floor(numbers[n]) : numbers[n]);
    // The outer loop's: often none at all.
    if (kernel_ == "ranged" && name == "n" && Below(3) == 0) tensor.Set(0, 0);
  }

  // ---- what a plan is asked and what it says

  Outcome Said(adrt_status status) {
    const adrt_error& error = device_.error();
    return {status, status == ADRT_OK ? 0 : error.needed_bytes, status == ADRT_OK ? "" : device_.text()};
  }
  Outcome MakePlan(PlanHandle& plan, uint64_t budget) {
    adrt_plan_desc desc = {};
    desc.struct_size = sizeof desc;
    desc.arg_count = static_cast<uint32_t>(args_.size());
    desc.args = args_.data();
    desc.module = HandlesOf::Module(device_);
    desc.heap_budget = budget;
    desc.size_threshold = threshold_;
    desc.workers = workers_;
    adrt_launch_plan* made = nullptr;
    adrt_status status =
        adrt_plan(HandlesOf::Kernel(device_, kernel_ + ".grad"), &desc, &made, device_.Error());
    plan.reset(made);
    return Said(status);
  }

  /// The content that the plan's argument names now.
  const interp::Argument& ContentOf(uint32_t index) { return contents_[SideOf(index)][index]; }

  Outcome ResolveOnce(adrt_launch_plan* plan, bool count) {
    if (device_.kind() == "cpu") return Said(adrt_plan_resolve(plan, nullptr, 0, device_.Error()));
    adrt_count_report counting = {};
    counting.struct_size = sizeof counting;
    device_.Must(adrt_plan_counting(plan, &counting, device_.Error()));
    count = count && counting.counts_bytes > 0;
    std::unique_ptr<DeviceBytes> memory;
    if (count) {
      memory = std::make_unique<DeviceBytes>(device_, counting.memory_bytes);
      device_.Must(recorder_->RecordSize(plan, memory->region(), device_.Error()));
      recorder_->Submit();
    }
    adrt_readback_report piece = {};
    piece.struct_size = sizeof piece;
    device_.Must(adrt_plan_readback(plan, 0, &piece, device_.Error()));
    std::vector<std::byte> readback(piece.total_bytes);
    for (uint32_t index = 0, pieces = piece.count; index < pieces; ++index) {
      device_.Must(adrt_plan_readback(plan, index, &piece, device_.Error()));
      if (piece.param != ADRT_READBACK_COUNTS) {
        std::memcpy(readback.data() + piece.offset, ContentOf(piece.param).tensor.data.data(), piece.bytes);
      } else if (count) {
        memory->Read(readback.data() + piece.offset, piece.bytes);
      } else {
        readback.resize(piece.offset);
      }
    }
    return Said(adrt_plan_resolve(plan, readback.empty() ? nullptr : readback.data(), readback.size(),
                                  device_.Error()));
  }
  Outcome Settle(adrt_launch_plan* plan, const Settling& settling) {
    if (settling.way == Settling::kCap)
      return Said(adrt_plan_with_cap(plan, settling.bytes, device_.Error()));
    if (settling.way == Settling::kRun) return RunPlain(plan);
    bool count = settling.way == Settling::kResolve;
    Outcome outcome = ResolveOnce(plan, count);
    for (int rounds = 0; count && outcome.status == ADRT_OK && !Report(plan).resolved; ++rounds) {
      REQUIRE(rounds < 50);
      outcome = ResolveOnce(plan, count);
    }
    return outcome;
  }
  Outcome RunPlain(adrt_launch_plan* plan) {
    Outcome outcome = Said(adrt_run(plan, nullptr, device_.Error()));
    Restore();
    return outcome;
  }

  adrt_plan_report Report(adrt_launch_plan* plan) {
    adrt_plan_report report = {};
    report.struct_size = sizeof report;
    device_.Must(adrt_plan_info(plan, &report, device_.Error()));
    return report;
  }
  /// All numbers that a plan tells.
  std::string Told(adrt_launch_plan* plan) {
    adrt_plan_report report = Report(plan);
    std::ostringstream text;
    text << "resolved " << report.resolved << " heap " << report.heap_bytes << " scratch "
         << report.scratch_bytes << " workers " << report.workers;
    for (uint32_t number = 0; number < report.task_count; ++number) {
      adrt_task_report task = {};
      task.struct_size = sizeof task;
      device_.Must(adrt_plan_task(plan, number, &task, device_.Error()));
      text << "\n  task " << number << ": resolved " << task.resolved << " iterations " << task.iterations
           << " threads " << task.threads << " rows " << task.rows << " row_bytes " << task.row_bytes
           << " heap " << task.heap_bytes;
      // What is open is counted with the length that there is.
      if (task.resolved) text << " segment " << task.segment;
      for (uint32_t n = 0; n < task.group_count; ++n) {
        adrt_group_report group = {};
        group.struct_size = sizeof group;
        device_.Must(adrt_plan_group(plan, number, n, &group, device_.Error()));
        text << "\n    group " << n << ": counted " << group.counted << " iterations "
             << (group.counted ? group.iterations : 0) << " rows " << group.rows << " row_bytes "
             << group.row_bytes;
      }
      for (uint32_t n = 0; n < task.stack_count; ++n) {
        adrt_stack_report stack = {};
        stack.struct_size = sizeof stack;
        device_.Must(adrt_plan_stack(plan, number, n, &stack, device_.Error()));
        text << "\n    stack " << n << ": capacity " << stack.capacity << " offset " << stack.offset;
      }
    }
    return text.str();
  }

  // ---- memory

  /// Launches write; between them memory is what contents_ says.
  void Restore() {
    for (int side = 0; side < 2; ++side) sides_[side]->Write(contents_[side]);
  }
  interp::Arguments ReadAll() {
    interp::Arguments all[2] = {contents_[0], contents_[1]};
    for (int side = 0; side < 2; ++side) sides_[side]->Read(all[side]);
    interp::Arguments now = all[0];
    for (uint32_t n = 0; n < now.list.size(); ++n) now[n] = all[SideOf(n)][n];
    return now;
  }
  /// What a plan computes that has nothing behind it: no budget, no version, no cap.
  interp::Arguments Expected() {
    std::vector<adrt_arg> before = args_;
    for (adrt_arg& arg : args_) arg.content_version = 0;
    PlanHandle plan;
    Outcome outcome = MakePlan(plan, 0);
    args_ = before;
    INFO(outcome.text);
    REQUIRE(outcome.status == ADRT_OK);
    device_.Must(adrt_run(plan.get(), nullptr, device_.Error()));
    interp::Arguments expected = ReadAll();
    Restore();
    return expected;
  }

  // ---- a fresh plan in the same place

  /// Repeats on a fresh plan how the plan was settled; the last outcome.
  Outcome Repeat(PlanHandle& fresh, const std::vector<Settling>& settled) {
    Outcome outcome = MakePlan(fresh, budget_);
    for (const Settling& one : settled) {
      if (fresh) outcome = Settle(fresh.get(), one);
    }
    return outcome;
  }
  void Compare() {
    if (lied_) return;
    PlanHandle fresh;
    Repeat(fresh, settled_);
    REQUIRE(fresh);
    std::string told = Told(plan_.get()), expected = Told(fresh.get());
    INFO("fresh: " << expected);
    REQUIRE(told == expected);
    ++counts_.compared;
  }

  // ---- steps

  void Plan() {
    plan_.reset();
    threshold_ = Below(3) == 0 ? 1 : 0;
    workers_ = Below(4) == 0 ? 32 * (1 + Below(3)) : 0;
    budget_ = 0;
    settled_.clear();
    lied_ = refused_ = false;
    Remember();
    if (Below(2) == 0) {
      // Of what it would take, as far as that is known before anything is read.
      PlanHandle whole;
      std::vector<Settling> run = {{Settling::kRun, 0}};
      Repeat(whole, run);
      budget_ = Report(whole.get()).heap_bytes * (1 + Below(8)) / 8;
    }
    Outcome outcome = MakePlan(plan_, budget_);
    Log("plan budget " + std::to_string(budget_) + " threshold " + std::to_string(threshold_) + " workers " +
        std::to_string(workers_) + " = " + std::to_string(outcome.status));
    if (outcome.status == ADRT_OK) return;
    INFO(log_ << outcome.text);
    REQUIRE(outcome.status == ADRT_ERROR_HEAP_TOO_SMALL);
    REQUIRE(outcome.needed > budget_);
    budget_ = outcome.needed;
    outcome = MakePlan(plan_, budget_);
    INFO(outcome.text);
    REQUIRE(outcome.status == ADRT_OK);
  }

  void Step() {
    switch (Below(10)) {
      case 0:
        if (Below(3) == 0) return Plan();
        return Refused();
      case 1:
      case 2:
        return Update();
      case 3:
        return Tell();
      case 4:
        return WriteSilently();
      case 5:
        return Settled({Below(4) == 0 && recorder_ ? Settling::kResolveUncounted : Settling::kResolve, 0});
      case 6:
        return Settled(
            {Settling::kCap, 64 + Report(plan_.get()).heap_bytes / 2 + Below(3) * 20000 + Below(3) * 64});
      case 7:
        if (recorder_) return Record();
        return Launch();
      default:
        return Launch();
    }
  }

  /// Settles the plan, and a fresh one in the same way: both say the same.
  void Settled(const Settling& settling) {
    if (lied_) return;
    std::vector<Settling> settled = settled_;
    if (settled.empty() || !(settled.back() == settling)) settled.push_back(settling);
    Outcome outcome = Settle(plan_.get(), settling);
    Log("settle " + std::to_string(settling.way) + " " + std::to_string(settling.bytes) + " = " +
        std::to_string(outcome.status));
    PlanHandle fresh;
    Outcome expected = Repeat(fresh, settled);
    INFO(log_ << "\nsaid: " << outcome.text << "\nfresh: " << expected.text);
    REQUIRE(outcome.status == expected.status);
    REQUIRE(outcome.needed == expected.needed);
    if (outcome.status != ADRT_OK) {
      ++counts_.refused;
      // Counts that nothing else tells must be among what is read back; without them nothing has happened.
      if (settling.way == Settling::kResolveUncounted && outcome.status == ADRT_ERROR_ARGUMENT) {
        REQUIRE(outcome.text.find("with what must be counted") != std::string::npos);
        return;
      }
      bool refusal = outcome.status == ADRT_ERROR_HEAP_TOO_SMALL ||
                     outcome.status == ADRT_ERROR_NEEDS_DEVICE_DATA ||
                     (outcome.status == ADRT_ERROR_ADSTACK_OVERFLOW && Capped());
      REQUIRE(refusal);
      return Again();
    }
    settled_ = settled;
    refused_ = false;
    Remember();
    Compare();
  }
  /// After a refusal nothing is assumed but that the plan goes on: as a fresh one does.
  void Again() {
    if (Capped()) return Plan();
    adrt_arg x = ArgOf(0);
    device_.Must(adrt_plan_update(plan_.get(), &x, 1, device_.Error()));
    settled_.clear();
    lied_ = refused_ = true;  // what a refusal leaves known is not repeated
  }
  bool Capped() const {
    return std::any_of(settled_.begin(), settled_.end(),
                       [](const Settling& one) { return one.way == Settling::kCap; });
  }

  /// Other buffers, shapes or numbers.
  void Update() {
    std::vector<adrt_arg> given;
    std::vector<adrt_arg> before = args_;
    if (number_ != ir::kNoAttr && Below(3) == 0) {
      value_ = static_cast<int32_t>(Below(8));
      ArgOf(number_).data = &value_;
      given.push_back(ArgOf(number_));
      Log("number " + std::to_string(value_));
    } else if (shapes_change_ && Below(3) == 0) {
      int64_t extent = Below(3) == 0 ? 1 : Below(2) == 0 ? 33 : kCount;
      for (adrt_arg& arg : args_) {
        if (arg.kind != ADRT_PARAM_BUFFER) continue;
        arg.extents[0] = extent;
        given.push_back(arg);
      }
      Log("extent " + std::to_string(extent));
    } else {
      for (adrt_arg& arg : args_) {
        if (arg.kind != ADRT_PARAM_BUFFER || Below(2) == 0) continue;
        int side = SideOf(arg.index) = 1 - SideOf(arg.index);
        arg.data = sides_[side]->args()[static_cast<size_t>(&arg - args_.data())].data;
        given.push_back(arg);
        Log("move " + std::to_string(arg.index));
      }
    }
    Give(given, before);
  }
  /// Contents that are said to be others.
  void Tell() {
    std::vector<adrt_arg> given;
    std::vector<adrt_arg> before = args_;
    for (uint32_t n : deciding_) {
      Fill(contents_[SideOf(n)], n, NameOf(n));
      ArgOf(n).content_version = Below(3) == 0 ? 0 : ++versions_;
      given.push_back(ArgOf(n));
      Log("tell " + std::to_string(n) + " " + std::to_string(ArgOf(n).content_version));
    }
    Restore();
    lied_ = false;
    Give(given, before);
  }
  void Give(const std::vector<adrt_arg>& given, const std::vector<adrt_arg>&) {
    Outcome outcome = Said(
        adrt_plan_update(plan_.get(), given.data(), static_cast<uint32_t>(given.size()), device_.Error()));
    if (outcome.status != ADRT_OK) {
      // A budget or a cap may be too small for the new ones: as for a fresh plan.
      PlanHandle fresh;
      INFO(log_ << outcome.text);
      REQUIRE(outcome.status == ADRT_ERROR_HEAP_TOO_SMALL);
      if (!Capped()) {
        Outcome expected = MakePlan(fresh, budget_);
        REQUIRE(expected.status == outcome.status);
        REQUIRE(expected.needed == outcome.needed);
      }
      ++counts_.refused;
      return Plan();
    }
    bool capped = Capped();
    std::vector<Settling> cap;
    for (const Settling& one : settled_) {
      if (one.way == Settling::kCap) cap = {one};
    }
    // What stays settled is what a settled fresh plan says; what is open is open as in a fresh one.
    if (!Report(plan_.get()).resolved || capped) settled_ = cap;
    if (capped) return Plan();
    if (!Report(plan_.get()).resolved) Remember();
    if (!Report(plan_.get()).resolved && !lied_ && !refused_) {
      PlanHandle fresh;
      REQUIRE(MakePlan(fresh, budget_).status == ADRT_OK);
      std::string told = Told(plan_.get()), expected = Told(fresh.get());
      // Tasks that nothing of this concerns stay settled.
      REQUIRE(Report(fresh.get()).resolved == 0);
      if (Report(plan_.get()).task_count == 1) {
        INFO(log_ << "fresh: " << expected);
        REQUIRE(told == expected);
      }
    }
  }

  /// Contents that change behind the plan's back.
  void WriteSilently() {
    if (trips_are_counted_) return;  // what was counted is what runs: docs/memory.md
    for (uint32_t n : deciding_) {
      if (Below(2) == 0) continue;
      Fill(contents_[SideOf(n)], n, NameOf(n));
      Log("write " + std::to_string(n));
    }
    Restore();
  }

  /// Arguments that are wrong change nothing but that what lies in contents is open.
  void Refused() {
    adrt_arg wrong = ArgOf(deciding_[0]);
    uint32_t kind = Below(4);
    if (kind == 0) wrong.extents[0] = -1;
    if (kind == 1) wrong.rank = 2;
    if (kind == 2) wrong.data = nullptr;
    if (kind == 3) wrong.name = "nobody";
    Log("wrong " + std::to_string(kind));
    REQUIRE(adrt_plan_update(plan_.get(), &wrong, 1, device_.Error()) == ADRT_ERROR_ARGUMENT);
    if (lied_ || Capped()) return;
    if (!Report(plan_.get()).resolved) settled_.clear();
  }

  /// What a plan knew of contents when it was settled.
  void Remember() {
    known_.clear();
    for (uint32_t n : deciding_) known_.push_back({ContentOf(n).tensor.data, ArgOf(n).content_version});
  }
  /// Whether contents changed although the caller said that they had not, or nobody asked.
  bool Changed(bool recorded) {
    for (size_t n = 0; n < deciding_.size(); ++n) {
      bool vouched = ArgOf(deciding_[n]).content_version != 0;
      if ((recorded || vouched) && known_[n].first != ContentOf(deciding_[n]).tensor.data) return true;
    }
    return false;
  }

  void Launch() {
    bool changed = Changed(false) || lied_;
    interp::Arguments expected = Expected();
    adrt_run_desc desc = {};
    desc.struct_size = sizeof desc;
    if (Below(2) == 0) desc.heap = heap_.get();
    Outcome outcome = Said(adrt_run(plan_.get(), &desc, device_.Error()));
    interp::Arguments found = ReadAll();
    Restore();
    Log("run = " + std::to_string(outcome.status) + (changed ? " changed" : ""));
    INFO(log_ << "\nsaid: " << outcome.text);
    ++counts_.launches;
    if (!changed) {
      std::vector<Settling> settled = settled_;
      if (settled.empty() || settled.back().way != Settling::kRun) settled.push_back({Settling::kRun, 0});
      PlanHandle fresh;
      Outcome same = Repeat(fresh, settled);
      INFO("fresh: " << same.text);
      REQUIRE(outcome.status == same.status);
      REQUIRE(outcome.needed == same.needed);
      if (outcome.status != ADRT_OK) {
        ++counts_.refused;
        REQUIRE((outcome.status == ADRT_ERROR_HEAP_TOO_SMALL ||
                 (outcome.status == ADRT_ERROR_ADSTACK_OVERFLOW && Capped())));
        return Again();
      }
      REQUIRE(Difference(expected, found) < 1e-5);
      settled_ = settled;
      refused_ = false;
      Remember();
      return Compare();
    }
    if (outcome.status == ADRT_OK) {
      REQUIRE(Difference(expected, found) < 1e-5);
      lied_ = true;
      return;
    }
    ++counts_.reported;
    REQUIRE((outcome.status == ADRT_ERROR_ADSTACK_OVERFLOW || outcome.status == ADRT_ERROR_ROWS_EXHAUSTED ||
             outcome.status == ADRT_ERROR_HEAP_TOO_SMALL));
    if (Capped() || outcome.status == ADRT_ERROR_HEAP_TOO_SMALL) return Plan();
    // The next launch reads and counts again, whatever the versions say.
    outcome = Said(adrt_run(plan_.get(), &desc, device_.Error()));
    found = ReadAll();
    Restore();
    INFO("again: " << outcome.text);
    if (outcome.status == ADRT_ERROR_HEAP_TOO_SMALL && budget_ > 0) return Plan();
    REQUIRE(outcome.status == ADRT_OK);
    REQUIRE(Difference(expected, found) < 1e-5);
    lied_ = true;
    Remember();
  }

  void Record() {
    bool changed = Changed(true) || lied_;
    interp::Arguments expected = Expected();
    uint64_t heap_bytes = Report(plan_.get()).heap_bytes;
    DeviceBytes heap(device_, std::max<uint64_t>(heap_bytes, 256)), block(device_, ADRT_STATUS_BYTES);
    Outcome outcome =
        Said(recorder_->RecordLaunch(plan_.get(), &heap.region(), block.region(), device_.Error()));
    Log("record = " + std::to_string(outcome.status) + (changed ? " changed" : ""));
    INFO(log_ << "\nsaid: " << outcome.text);
    recorder_->Submit();
    if (outcome.status != ADRT_OK) {
      ++counts_.refused;
      REQUIRE(outcome.status == ADRT_ERROR_NEEDS_DEVICE_DATA);
      REQUIRE(Report(plan_.get()).resolved == 0);
      return;
    }
    REQUIRE(Report(plan_.get()).resolved != 0);
    ++counts_.launches;
    std::vector<uint32_t> words(ADRT_STATUS_BYTES / 4);
    block.Read(words.data(), ADRT_STATUS_BYTES);
    outcome = Said(adrt_status_read(plan_.get(), words.data(), device_.Error()));
    interp::Arguments found = ReadAll();
    Restore();
    INFO("status: " << outcome.text);
    if (outcome.status == ADRT_OK) {
      REQUIRE(Difference(expected, found) < 1e-5);
      return;
    }
    ++counts_.reported;
    REQUIRE((changed || Capped()));
    REQUIRE((outcome.status == ADRT_ERROR_ADSTACK_OVERFLOW || outcome.status == ADRT_ERROR_ROWS_EXHAUSTED));
  }

  OnDevice& device_;
  Recorder* recorder_;
  std::unique_ptr<Program> program_;
  std::string kernel_;
  uint64_t state_;
  std::string log_;
  std::vector<uint32_t> deciding_;
  uint32_t number_ = ir::kNoAttr;
  int32_t value_ = 5;
  bool trips_are_counted_ = false, shapes_change_ = true;
  interp::Arguments contents_[2];
  std::unique_ptr<OnDevice::Launch> sides_[2];
  std::map<uint32_t, int> side_;
  std::vector<adrt_arg> args_;
  std::unique_ptr<adrt_heap, FreeHeap> heap_;

  PlanHandle plan_;
  uint64_t budget_ = 0, threshold_ = 0, versions_ = 0;
  uint32_t workers_ = 0;
  std::vector<Settling> settled_;  ///< how the plan was settled since its arguments are what they are
  bool lied_ = false;              ///< the plan may know what does not hold any more
  bool refused_ = false;           ///< an attempt to settle it has failed, and none has gone well since
  std::vector<std::pair<std::vector<std::byte>, uint64_t>> known_;
  Counts counts_;
};

/// `share` sequences in a test run; ADC_SEQUENCES says another number.
inline void CheckSequences(
    const std::function<std::unique_ptr<OnDevice>(const std::string& path, Recorder** recorder)>& open,
    uint32_t share) {
  const char *count = std::getenv("ADC_SEQUENCES"), *first = std::getenv("ADC_SEQUENCE_SEED");
  uint64_t seed = first ? std::strtoull(first, nullptr, 10) : 1;
  uint64_t end = seed + (count ? std::strtoull(count, nullptr, 10) : share);
  Sequence::Counts all;
  constexpr uint32_t kSteps = 24, kSeedsOfKernels = 50;
  std::printf("sequences %llu to %llu\n", static_cast<unsigned long long>(seed),
              static_cast<unsigned long long>(end - 1));
  std::unique_ptr<SequenceKernels> kernels;
  std::unique_ptr<OnDevice> device;
  Recorder* recorder = nullptr;
  for (; seed < end; ++seed) {
    if (!kernels || seed % kSeedsOfKernels == 0) {
      device.reset();
      kernels = std::make_unique<SequenceKernels>(seed / kSeedsOfKernels);
      device = open(kernels->file.path, &recorder);
    }
    const std::string& kernel = kernels->gradients[seed % kernels->gradients.size()];
    INFO("ADC_SEQUENCES=1 ADC_SEQUENCE_SEED=" << seed << ": @" << kernel << " on " << device->kind());
    Sequence sequence(*device, recorder, kernels->file.path, kernel, seed);
    sequence.Run(kSteps);
    all.launches += sequence.counts().launches;
    all.refused += sequence.counts().refused;
    all.reported += sequence.counts().reported;
    all.compared += sequence.counts().compared;
  }
  std::printf("%llu launches, %llu refused, %llu reported, %llu compared with fresh plans\n",
              static_cast<unsigned long long>(all.launches), static_cast<unsigned long long>(all.refused),
              static_cast<unsigned long long>(all.reported), static_cast<unsigned long long>(all.compared));
  CHECK(all.launches > 0);
  CHECK(all.compared > 0);
}

}  // namespace adc::test
