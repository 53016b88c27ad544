// Random loop nests: every capacity covers what the interpreter saw pushed, and where scalars and shapes
// decide it, hardly more. Lowered kernels compute what the abstract ones do.

#include <algorithm>
#include <cmath>
#include <random>

#include "adstack_support.h"

using namespace adc;
using namespace adc::test;

namespace {

/// Writes a kernel of nested loops with tapes in them.
class NestWriter {
 public:
  explicit NestWriter(uint32_t seed) : random_(seed) {}

  std::string Write() {
    ints_ = {"%n", "%m", "shape(%x, 0)", "%i"};
    body_.clear();
    Statements(2 + random_() % 2, 0);
    return "kernel @k(%x: buffer<f32, 1>, %r: buffer<i32, 1>, %n: i32, %m: i32, %out: buffer<f32, 1>) {\n"
           "  parallel %i in 0..shape(%x, 0) {\n  %a = load %x[%i]\n" +
           body_ + "  }\n}\n";
  }
  /// False where a capacity may be larger than needed: under a condition that differs between iterations.
  bool tight() const { return tight_; }

 private:
  uint32_t Pick(uint32_t below) { return static_cast<uint32_t>(random_() % below); }
  std::string Name() { return "%v" + std::to_string(next_++); }
  std::string Literal(uint32_t below) { return std::to_string(Pick(below)); }

  std::string Int(uint32_t depth) {
    if (depth == 0 || Pick(3) == 0)
      return Pick(4) == 0 ? Literal(5) : ints_[Pick(static_cast<uint32_t>(ints_.size()))];
    std::string a = Int(depth - 1), b = Int(depth - 1);
    switch (Pick(11)) {
      case 0:
      case 1:
        return "(add " + a + ", " + b + ")";
      case 2:
      case 3:
        return "(sub " + a + ", " + b + ")";
      case 4:
        return "(min " + a + ", " + b + ")";
      case 5:
        return "(max " + a + ", " + b + ")";
      case 6:
        return "(mod " + a + ", " + std::to_string(1 + Pick(5)) + ")";
      case 7:
        return "(div " + a + ", " + std::to_string(1 + Pick(3)) + ")";
      case 8:
        return "(mul " + a + ", " + Literal(3) + ")";
      case 9:
        return "(select (lt " + a + ", " + b + "), " + Int(depth - 1) + ", " + b + ")";
      default:
        return "(load %r[(mod " + a + ", 16)])";
    }
  }

  std::string Bounds() {
    std::string low = Pick(2) == 0 ? "0" : Int(1);
    std::string bounds = low + ".." + Int(2);
    if (Pick(5) == 0) bounds += " step " + std::to_string(2 + Pick(3));
    return bounds;
  }

  void Statements(uint32_t count, uint32_t depth) {
    size_t visible = ints_.size();
    for (uint32_t n = 0; n < count; ++n) Statement(depth);
    ints_.resize(visible);
  }

  void Statement(uint32_t depth) {
    uint32_t kind = depth >= 3 ? 0 : Pick(10);
    if (kind < 4) return Tape(depth);
    if (kind < 6) {
      std::string index = Name();
      body_ += "for " + index + " in " + Bounds() + " {\n";
      ints_.push_back(index);
      Statements(1 + Pick(2), depth + 1);
      ints_.erase(std::find(ints_.begin(), ints_.end(), index));
      body_ += "}\n";
      return;
    }
    if (kind < 7) {  // a counter, used by what follows
      std::string result = Name(), carried = Name(), index = Name();
      body_ +=
          result + " = for " + index + " in " + Bounds() + " carry(" + carried + " = " + Int(1) + ") {\n";
      ints_.push_back(index);
      body_ += "yield (add " + carried + ", " + (Pick(2) == 0 ? Int(1) : Literal(4)) + ")\n}\n";
      ints_.pop_back();
      ints_.push_back(result);
      return;
    }
    if (kind < 8) {
      bool uniform = Pick(2) == 0;
      tight_ = tight_ && uniform;
      body_ += "if (gt " + (uniform ? std::string(Pick(2) == 0 ? "%n" : "%m") : Int(2)) + ", " + Literal(4) +
               ") {\n";
      Statements(1 + Pick(2), depth + 1);
      body_ += "}\n";
      return;
    }
    if (kind < 9) return Counted();
    While();
  }

  void Tape(uint32_t depth) {
    std::string stack = Name(), index = Name(), back = Name(), popped = Name(), bounds = Bounds();
    const char* types[] = {"f32", "f64", "i32"};
    std::string type = types[Pick(3)], value = Name();
    body_ += value + " = cast %a to " + type + "\n" + stack + " = stack.new " + type + "\n";
    body_ += "for " + index + " in " + bounds + " {\n stack.push " + stack + ", " + value + "\n}\n";
    if (depth < 2 && Pick(3) == 0) Statement(depth + 2);
    body_ += "for " + back + " in " + bounds + " reversed {\n" + popped + " = stack.pop " + stack + "\n";
    body_ += "atomic add %out[%i], (cast " + popped + " to f32)\n";
    if (depth < 2 && Pick(2) == 0) {
      size_t visible = ints_.size();
      ints_.push_back(back);
      Statement(depth + 1);
      ints_.resize(visible);
    }
    body_ += "}\n";
  }

  /// A stack that no plain slot serves: pushed in a nest, with an optional condition, emptied by the same
  /// nest.
  void Counted() {
    std::string stack = Name(), outer = Bounds(), i = Name(), j = Name(), k = Name(), l = Name(), p = Name();
    ints_.push_back(i);
    std::string inner = "0.." + Int(1);
    ints_.pop_back();
    std::string mirrored = inner;
    for (size_t at = mirrored.find(i); at != std::string::npos; at = mirrored.find(i, at + k.size()))
      mirrored.replace(at, i.size(), k);
    body_ += stack + " = stack.new f32\nfor " + i + " in " + outer + " {\n for " + j + " in " + inner +
             " {\n stack.push " + stack + ", %a\n }\n}\n";
    body_ += "for " + k + " in " + outer + " reversed {\n for " + l + " in " + mirrored + " reversed {\n" +
             p + " = stack.pop " + stack + "\n atomic add %out[%i], " + p + "\n }\n}\n";
  }

  void While() {
    std::string stack = Name(), count = Name(), last = Name(), k = Name(), v = Name(), t = Name(), p = Name();
    tight_ = false;
    body_ += stack + " = stack.new f32\n" + count + ", " + last + " = while max " + Int(1) + " carry(" + k +
             " = 0, " + v + " = %a) {\n continue_if (and (gt " + v + ", 0.7), (lt " + k + ", " +
             std::to_string(Pick(4)) + "))\n} do {\n stack.push " + stack + ", " + v + " at " + k +
             "\n yield (add " + k + ", 1), (mul " + v + ", 0.8)\n}\n";
    body_ += "for " + t + " in 0.." + count + " reversed {\n" + p + " = stack.pop " + stack + " at " + t +
             "\n atomic add %out[%i], " + p + "\n}\n";
    ints_.push_back(count);
  }

  std::mt19937 random_;
  std::vector<std::string> ints_;
  std::string body_;
  uint32_t next_ = 0;
  bool tight_ = true;
};

interp::Arguments Launch(const Planned& planned, std::mt19937& random) {
  interp::Arguments arguments = interp::MakeArguments(*planned.module, *planned.kernel);
  int64_t length = static_cast<int64_t>(random() % 6);
  std::vector<double> x, r;
  for (int64_t k = 0; k < length; ++k) x.push_back(1.0 + static_cast<double>(random() % 200) / 64.0);
  for (int k = 0; k < 16; ++k) r.push_back(static_cast<double>(random() % 7));
  arguments[0].tensor = interp::Tensor::Filled(ir::Scalar::F32, {length}, x);
  arguments[1].tensor = interp::Tensor::Filled(ir::Scalar::I32, {16}, r);
  SetInteger(arguments, 2, static_cast<int64_t>(random() % 7));
  SetInteger(arguments, 3, static_cast<int64_t>(random() % 7) - 1);
  arguments[4].tensor = interp::Tensor::Zeros(ir::kF32, {length});
  return arguments;
}

}  // namespace

TEST_CASE("capacities of random nests cover what is pushed", "[adstack]") {
  uint32_t stacks = 0, exact = 0, unknown = 0, compared_runs = 0;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    NestWriter writer(seed);
    std::string text = writer.Write();
    adstack::PlanConfig config;
    config.private_bytes = seed % 3 == 0 ? 256 : 0;
    auto planned = PlanText(text, config);
    INFO("seed " << seed << "\n" << text << planned->PlanText() << planned->Messages());
    REQUIRE_FALSE(planned->diagnostics.HasErrors());
    auto lowered = PlanText(text, config);
    REQUIRE(adstack::LowerAdstacks(*lowered->module, *lowered->kernel, lowered->plan, lowered->diagnostics));
    std::mt19937 random(seed);
    for (int launch = 0; launch < 6; ++launch) {
      interp::Arguments arguments = Launch(*planned, random);
      interp::Arguments again = arguments;
      LaunchEnv env(*planned->kernel, again);
      interp::RunOptions options;
      options.step_budget = 1 << 20;
      interp::RunResult result = interp::Run(*planned->module, *planned->kernel, arguments, options);
      if (result.error.kind == interp::ErrorKind::StepBudget || result.error.kind == interp::ErrorKind::Limit)
        continue;
      INFO(interp::Describe(result.error, planned->sources));
      REQUIRE(result.Ok());
      for (const adstack::PlannedStack& stack : planned->plan.tasks[0].stacks) {
        uint64_t need = 0;
        for (const interp::StackStatistics& seen : result.stacks) {
          if (planned->kernel->Result(seen.stack) == stack.stack) need = seen.max_depth;
        }
        if (stack.capacity == artifact::kNoNode) {  // an index that depends on the end of a while
          ++unknown;
          continue;
        }
        artifact::EvalResult capacity = env.Evaluate(planned->plan.exprs, stack.capacity);
        REQUIRE(capacity.ok());
        INFO("capacity " << capacity.value << " need " << need);
        REQUIRE(static_cast<uint64_t>(capacity.value) >= need);
        ++stacks;
        bool is_private = stack.storage == artifact::Storage::kPrivate;
        if (!writer.tight() || is_private || arguments[0].tensor.extents[0] == 0) continue;
        REQUIRE(static_cast<double>(capacity.value) <= 1.05 * static_cast<double>(need));
        ++exact;
      }
      // The lowered kernel in rows of exactly these sizes does the same.
      std::vector<interp::RowTask> rows = LayRows(*lowered, env, {}, 1000);
      options.rows = rows;
      options.step_budget = 1ull << 32;
      interp::Arguments lowered_arguments = again;
      interp::RunResult in_rows = interp::Run(*lowered->module, *lowered->kernel, lowered_arguments, options);
      INFO(lowered->Text() << interp::Describe(in_rows.error, lowered->sources));
      REQUIRE(in_rows.Ok());
      REQUIRE(in_rows.status.code == 0);
      REQUIRE(lowered_arguments[4].tensor == arguments[4].tensor);
      ++compared_runs;
    }
  }
  CHECK(stacks > 2000);
  CHECK(exact > 500);
  CHECK(unknown * 20 < stacks);
  CHECK(compared_runs > 1500);
}

TEST_CASE("rows that are too small are reported and never left", "[adstack]") {
  uint32_t overflows = 0, fitting = 0;
  for (uint32_t seed = 1000; seed < 1150; ++seed) {
    NestWriter writer(seed);
    std::string text = writer.Write();
    adstack::PlanConfig config;
    config.private_bytes = 0;
    auto planned = PlanText(text, config);
    auto lowered = PlanText(text, config);
    REQUIRE(adstack::LowerAdstacks(*lowered->module, *lowered->kernel, lowered->plan, lowered->diagnostics));
    std::mt19937 random(seed);
    interp::Arguments arguments = Launch(*planned, random);
    interp::Arguments cut = arguments;
    LaunchEnv env(*lowered->kernel, cut);
    std::vector<interp::RowTask> rows = LayRows(*lowered, env);
    if (rows.empty() || rows[0].stack_capacity.empty()) continue;
    // The bytes shrink with the capacities: a write past a capacity would leave its row or be seen in the
    // result.
    std::vector<int64_t> caps;
    for (size_t n = 0; n < rows[0].stack_capacity.size(); ++n) {
      int64_t capacity = rows[0].stack_capacity[n];
      bool constant = lowered->plan.exprs.IsConst(lowered->plan.tasks[0].stacks[n].capacity);
      caps.push_back(constant || random() % 2 == 0 ? capacity : capacity / 2);  // constants are compiled in
    }
    interp::RunOptions options;
    options.step_budget = 1 << 22;
    std::vector<interp::RowTask> small = LayRows(*lowered, env, caps);
    options.rows = small;
    interp::RunResult result = interp::Run(*lowered->module, *lowered->kernel, cut, options);
    INFO("seed " << seed << "\n" << text << planned->PlanText() << lowered->Text());
    INFO(interp::Describe(result.error, lowered->sources));
    if (result.error.kind == interp::ErrorKind::StepBudget) continue;
    REQUIRE(result.Ok());
    if (result.status.code == 0) {
      ++fitting;
      continue;
    }
    ++overflows;
    REQUIRE(result.status.code == 1);
    REQUIRE(result.status.task == 0);
    REQUIRE(result.status.index < caps.size());
    REQUIRE(static_cast<int64_t>(result.status.needed) > caps[result.status.index]);
  }
  CHECK(overflows > 20);
  CHECK(fitting > 5);
}
