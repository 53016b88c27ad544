// Random loop nests: every capacity covers what the interpreter saw pushed, and hardly more, whether an
// expression says it or a size kernel has counted. Lowered kernels compute what the abstract ones do.

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

 private:
  uint32_t Pick(uint32_t below) { return static_cast<uint32_t>(random_() % below); }
  std::string Name() { return "%v" + std::to_string(next_++); }
  std::string Literal(uint32_t below) { return std::to_string(Pick(below)); }

  std::string Int(uint32_t depth) {
    if (depth == 0 || Pick(3) == 0)
      return Pick(4) == 0 ? Literal(5) : ints_[Pick(static_cast<uint32_t>(ints_.size()))];
    std::string a = Int(depth - 1), b = Int(depth - 1);
    switch (Pick(15)) {
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
      case 10:
        return "(cast (sqrt (cast (max " + a + ", 0) to f32)) to i32)";
      case 11:  // these wrap
        return "(mod (add (mul " + a + ", 1103515245), 1013904223), " + std::to_string(1 + Pick(6)) + ")";
      case 12:
        return "(and (shr (mul (add " + a + ", 65521), (add " + b + ", 65537)), 3), 7)";
      case 13:
        return "(cast (mul (cast " + a + " to f32), 0.75) to i32)";
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
      body_ += "if (gt " + (uniform ? std::string(Pick(2) == 0 ? "%n" : "%m") : Int(2)) + ", " + Literal(4) +
               ") {\n";
      Statements(1 + Pick(2), depth + 1);
      body_ += "}\n";
      return;
    }
    if (kind < 9) return Pick(3) == 0 ? Growing() : Counted();
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

  /// A stack that no plain slot serves: pushed in a nest of two or three loops, where one may be gated and
  /// read its bound from data, emptied by the same nest.
  void Counted() {
    std::string stack = Name(), popped = Name();
    struct Loop {
      std::string index, bounds, gate;
    };
    std::vector<Loop> loops;
    size_t visible = ints_.size(), depth = 2 + Pick(2);
    bool reversed = Pick(4) == 0;
    for (size_t level = 0; level < depth; ++level) {
      std::string bounds = level == 0 ? Bounds() : "0.." + Int(1);
      if (level > 0 && Pick(3) == 0) bounds = "0..(load %r[(mod " + Int(1) + ", 16)])";
      if (level > 0 && Pick(5) == 0) bounds = ints_.back() + ".." + Int(1);
      std::string gate = level > 0 && Pick(4) == 0 ? "(gt " + Int(1) + ", " + Literal(4) + ")" : "";
      loops.push_back({Name() + "x", bounds, gate});
      ints_.push_back(loops.back().index);
    }
    ints_.resize(visible);
    body_ += stack + " = stack.new f32\n";
    for (bool back : {false, true}) {
      // The same names again with another ending.
      auto named = [&](std::string text) {
        for (const Loop& loop : loops) {
          std::string other = loop.index.substr(0, loop.index.size() - 1) + "y";
          for (size_t at = text.find(loop.index); back && at != std::string::npos; at = text.find(loop.index))
            text.replace(at, loop.index.size(), other);
        }
        return text;
      };
      std::string closing;
      for (const Loop& loop : loops) {
        if (!loop.gate.empty()) {
          body_ += "if " + named(loop.gate) + " {\n";
          closing += "}\n";
        }
        body_ += "for " + named(loop.index) + " in " + named(loop.bounds);
        body_ += back != reversed ? " reversed {\n" : " {\n";
        closing += "}\n";
      }
      body_ += back ? popped + " = stack.pop " + stack + "\natomic add %out[%i], " + popped + "\n"
                    : "stack.push " + stack + ", %a\n";
      body_ += closing;
    }
  }

  /// Bounds that are carried along while values are pushed.
  void Growing() {
    std::string stack = Name(), width = Name(), total = Name(), outer = Name(), w = Name(), t = Name(),
                inner = Name(), back = Name(), popped = Name();
    std::string step = Pick(2) == 0 ? Literal(3) : "(load %r[(mod " + outer + ", 16)])";
    body_ += stack + " = stack.new f32\n" + width + ", " + total + " = for " + outer + " in 0.." + Int(1) +
             " carry(" + w + " = " + Int(1) + ", " + t + " = 0) {\n for " + inner + " in 0.." + w +
             " { stack.push " + stack + ", %a }\n yield (add " + w + ", " + step + "), (add " + t +
             ", (max " + w + ", 0))\n}\n";
    body_ += "for " + back + " in 0.." + total + " reversed {\n" + popped + " = stack.pop " + stack +
             "\n atomic add %out[%i], " + popped + "\n}\n";
    ints_.push_back(width);
  }

  void While() {
    std::string stack = Name(), count = Name(), last = Name(), k = Name(), v = Name(), t = Name(), p = Name();
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

TEST_CASE("capacities of random nests are what is pushed, by expression or by count", "[adstack]") {
  uint32_t stacks = 0, by_expression = 0, by_count = 0, unknown = 0, compared_runs = 0;
  for (uint32_t seed = 0; seed < 2000; ++seed) {
    NestWriter writer(seed);
    std::string text = writer.Write();
    adstack::PlanConfig config;
    config.private_bytes = seed % 3 == 0 ? 256 : 0;
    auto planned = PlanText(text, config);
    INFO("seed " << seed << "\n" << text << planned->PlanText() << planned->Messages());
    REQUIRE_FALSE(planned->diagnostics.HasErrors());
    auto lowered = PlanText(text, config);
    std::vector<counting::SizeKernel> sizes =
        counting::AddSizeKernels(*lowered->module, *lowered->kernel, lowered->plan, {}, lowered->diagnostics);
    REQUIRE(adstack::LowerAdstacks(*lowered->module, *lowered->kernel, lowered->plan, lowered->diagnostics));
    for (counting::SizeKernel& size : sizes)
      REQUIRE(adstack::LowerAdstacks(*lowered->module, *size.function, size.plan, lowered->diagnostics));
    std::mt19937 random(seed);
    for (int launch = 0; launch < 3; ++launch) {
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
      const std::vector<adstack::PlannedStack>& planned_stacks = lowered->plan.tasks[0].stacks;
      std::vector<int64_t> counts(planned_stacks.size(), 0), caps(planned_stacks.size(), -1);
      int rounds = 0;
      if (!sizes.empty()) counts = Count(*lowered, sizes[0], again, &rounds);
      for (size_t n = 0; n < planned_stacks.size(); ++n) {
        const adstack::PlannedStack& stack = planned_stacks[n];
        int64_t need = 0;
        for (const interp::StackStatistics& seen : result.stacks) {
          if (planned->kernel->Result(seen.stack) == planned->plan.tasks[0].stacks[n].stack)
            need = static_cast<int64_t>(seen.max_depth);
        }
        ++stacks;
        INFO("stack " << n << " needs " << need << ", counted " << counts[n]);
        if (stack.counted) {
          REQUIRE(counts[n] == need);
          caps[n] = need;
          ++by_count;
        }
        if (stack.capacity == artifact::kNoNode) {
          unknown += !stack.counted;
          continue;
        }
        artifact::EvalResult capacity = env.Evaluate(lowered->plan.exprs, stack.capacity);
        REQUIRE(capacity.ok());
        INFO("capacity " << capacity.value);
        REQUIRE(std::max<int64_t>(capacity.value, 0) >= need);
        bool is_private = stack.storage == artifact::Storage::kPrivate;
        // A gate that no iteration passes leaves nothing to compare with.
        if (stack.loose || is_private || need == 0) continue;
        REQUIRE(static_cast<double>(capacity.value) <= 1.05 * static_cast<double>(need));
        ++by_expression;
      }
      // The lowered kernel in rows of exactly these sizes does the same.
      std::vector<interp::RowTask> rows = LayRows(*lowered, env, caps, 1000);
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
  CHECK(stacks > 8000);
  CHECK(by_expression > 3000);
  CHECK(by_count > 3000);
  CHECK(unknown * 50 < stacks);
  CHECK(compared_runs > 4000);
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
