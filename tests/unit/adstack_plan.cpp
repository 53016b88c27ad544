// Plans of hand-written kernels: capacities, classes, groups, sharing, private tapes, addressing.

#include "adstack_support.h"
#include "ir/module.h"

using namespace adc;
using namespace adc::test;
using Catch::Matchers::Contains;

namespace {

const char* const kRelax = R"(
kernel @relax.grad(%x: buffer<f32, 1>, %loss: buffer<f32, 0>, %n: i32, %x.adj: buffer<f32, 1>, %loss.adj: buffer<f32, 0>) {
  parallel %i in 0..shape(%x, 0) {
    %s  = stack.new f32
    %v0 = load %x[%i]
    for %t in 0..%n carry(%a = %v0) {
      stack.push %s, %a
      %b = add (sin %a), 0.1
      yield %b
    }
    %g0 = load %loss.adj[]
    %g = for %t2 in 0..%n reversed carry(%ga = %g0) {
      %p = stack.pop %s
      yield (mul %ga, (cos %p))
    }
    add_to %x.adj[%i], %g
  }
}
)";

/// A parallel over 0..%n with the statements given; %a is something to push, i32 %n and %m, buffers %x and
/// %e, %s of i32.
std::string Kernel(const std::string& body) {
  return "kernel @k(%x: buffer<f32, 1>, %e: buffer<i32, 1>, %s: buffer<i32, 1>, %n: i32, %m: i32, %out: "
         "buffer<f32, 1>) {\n"
         "  parallel %i in 0..%n {\n    %a = load %x[%i]\n" +
         body + "  }\n}\n";
}

/// A loop that fills a stack and one that empties it.
std::string Tape(const std::string& name, const std::string& bounds, const std::string& type = "f32") {
  std::string value = type == "f32" ? "%a" : "%" + name + ".v";
  std::string text = "%" + name + " = stack.new " + type + "\n";
  if (type != "f32") text += value + " = cast %a to " + type + "\n";
  text += "for %" + name + ".t in " + bounds + " { stack.push %" + name + ", " + value + " }\n";
  text += "for %" + name + ".r in " + bounds + " reversed { %" + name + ".p = stack.pop %" + name + "\n";
  text += type == "f32" ? "atomic add %out[%i], %" + name + ".p }\n"
                        : "atomic add %out[%i], (cast %" + name + ".p to f32) }\n";
  return text;
}

std::string CapacityOf(Planned& planned, size_t stack = 0) {
  std::vector<std::string_view> names;
  for (ir::Value param : planned.kernel->Params())
    names.push_back(planned.module->Text((*planned.kernel)[param].name));
  artifact::String text;
  artifact::FormatSizeExpr(planned.plan.exprs, planned.plan.tasks[0].stacks[stack].capacity, names, &text);
  return std::string(text.view());
}

artifact::SizeClass ClassOf(Planned& planned, size_t stack = 0) {
  return planned.plan.exprs.ClassOf(planned.plan.tasks[0].stacks[stack].capacity);
}

}  // namespace

TEST_CASE("relax keeps one value per step, in slots, in a row without a gate", "[adstack]") {
  auto planned = PlanText(kRelax);
  REQUIRE(planned->plan.tasks.size() == 1);
  const adstack::TaskPlan& task = planned->plan.tasks[0];
  REQUIRE(task.stacks.size() == 1);
  CHECK(CapacityOf(*planned) == "max(n, 0)");
  CHECK(ClassOf(*planned) == artifact::SizeClass::kS1);
  CHECK(task.stacks[0].addressing == artifact::Addressing::kIndexed);
  CHECK(task.groups.size() == 1);
  CHECK_FALSE(task.groups[0].place.Valid());
  CHECK_THAT(planned->PlanText(), Contains("task 0: parallel over [shape(x, 0)], class S1"));
  CHECK_THAT(planned->PlanText(),
             Contains("stack 0: f32 capacity [max(n, 0)], class S1, indexed, row of group 0"));
  CHECK_THAT(planned->PlanText(), Contains("at test.ir:7:"));
}

TEST_CASE("capacities of common bounds", "[adstack]") {
  auto capacity = [](const std::string& body) {
    auto planned = PlanText(Kernel(body));
    INFO(planned->PlanText());
    REQUIRE(planned->plan.tasks[0].stacks.size() == 1);
    return CapacityOf(*planned);
  };
  CHECK(capacity(Tape("s1", "0..(sub %n, %i)")) == "max(n, 0)");
  CHECK(capacity(Tape("s1", "0..%i")) == "max((max(n, 0) - 1), 0)");
  CHECK(capacity(Tape("s1", "%i..%n")) == "max(n, 0)");
  CHECK(capacity(Tape("s1", "%i..(add %i, %m)")) == "max(m, 0)");
  CHECK(capacity(Tape("s1", "0..shape(%x, 0)")) == "shape(x, 0)");
  CHECK(capacity(Tape("s1", "0..%n step 4")) == "ceil_div(max(n, 0), 4)");
  CHECK(capacity(Tape("s1", "0..(min %n, 1000)")) == "max(min(n, 1000), 0)");
  // The longest row, not the largest end minus the smallest start.
  CHECK(capacity("%lo = load %s[%i]\n%hi = load %e[%i]\n" + Tape("s1", "%lo..%hi")) ==
        "max(i0 in 0..max(n, 0): max((e[i0] - s[i0]), 0))");
  // Each row of an outer loop reuses the tape of the one before.
  CHECK(capacity("for %j in 0..%m {\n" + Tape("s1", "0..%j") + "}\n") == "max((max(m, 0) - 1), 0)");
  // A branch that is alike for all iterations counts.
  CHECK(capacity("if (gt %m, 3) {\n" + Tape("s1", "0..%n") + "}\n") == "select((m > 3), max(n, 0), 0)");
}

TEST_CASE("constant tapes are private up to the limit", "[adstack]") {
  auto planned = PlanText(Kernel(Tape("s1", "0..16") + Tape("s2", "0..100") + Tape("s3", "0..40")));
  const adstack::TaskPlan& task = planned->plan.tasks[0];
  INFO(planned->PlanText());
  REQUIRE(task.stacks.size() == 3);
  CHECK(task.stacks[0].storage == artifact::Storage::kRow);  // rows come first
  CHECK(CapacityOf(*planned, 0) == "100");
  CHECK(CapacityOf(*planned, 1) == "16");
  CHECK(task.stacks[1].private_length == 16);
  CHECK(CapacityOf(*planned, 2) == "40");
  CHECK(task.groups.size() == 1);
  adstack::PlanConfig config;
  config.private_bytes = 0;
  CHECK(PlanText(Kernel(Tape("s1", "0..16")), config)->plan.tasks[0].groups.size() == 1);
}

TEST_CASE("more private memory takes more stacks, and changes no number", "[adstack]") {
  // 64, 400 and 160 bytes, the last behind a gate.
  std::string body =
      Tape("s1", "0..16") + Tape("s2", "0..100") + "if (gt %m, 3) {\n" + Tape("s3", "0..40") + "}\n";
  adstack::PlanConfig config;
  config.private_bytes = 0;
  auto planned = PlanText(Kernel(body), config);
  INFO(planned->PlanText());
  REQUIRE(planned->plan.tasks[0].stacks.size() == 3);
  REQUIRE(planned->plan.tasks[0].groups.size() == 2);
  auto in_rows = [](const adstack::AdstackPlan& plan) {
    std::string text;
    for (const adstack::PlannedStack& stack : plan.tasks[0].stacks)
      text += stack.storage == artifact::Storage::kRow ? std::to_string(stack.group) : "p";
    return text;
  };
  CHECK(in_rows(planned->plan) == "001");
  size_t nodes = planned->plan.exprs.size();
  adstack::AdstackPlan same = adstack::MovePrivate(planned->plan, 63);
  CHECK(adstack::SameStorage(same, planned->plan));
  CHECK(planned->plan.exprs.size() == nodes);
  CHECK(in_rows(adstack::MovePrivate(planned->plan, 64)) == "p01");
  // The smallest first: 64 + 160, although the one of 400 comes before.
  adstack::AdstackPlan two = adstack::MovePrivate(planned->plan, 500);
  CHECK(in_rows(two) == "p0p");
  CHECK_FALSE(adstack::SameStorage(two, planned->plan));
  CHECK(two.tasks[0].groups.size() == 2);
  CHECK(two.tasks[0].stacks[2].private_length == 40);
  for (size_t n = 0; n < 3; ++n) CHECK(two.tasks[0].stacks[n].id == planned->plan.tasks[0].stacks[n].id);
  // Nothing is left in rows: no group either.
  adstack::AdstackPlan all = adstack::MovePrivate(planned->plan, 624);
  CHECK(in_rows(all) == "ppp");
  CHECK(all.tasks[0].groups.empty());
  CHECK(planned->plan.tasks[0].groups.size() == 2);
}

TEST_CASE("stacks share bytes when they never live together", "[adstack]") {
  auto share = [](const std::string& body) {
    auto planned = PlanText(Kernel(body));
    INFO(planned->PlanText());
    REQUIRE(planned->plan.tasks[0].stacks.size() == 2);
    const adstack::PlannedStack& first = planned->plan.tasks[0].stacks[0];
    const adstack::PlannedStack& second = planned->plan.tasks[0].stacks[1];
    return first.share != artifact::kNoIndex && first.share == second.share && first.group == second.group;
  };
  CHECK(share(Tape("s1", "0..%n") + Tape("s2", "0..%m", "f64")));
  // Whatever is taped: integers and flags share with floats, and flags with flags.
  std::string integers =
      "%s2 = stack.new i32\nfor %t2 in 0..%n { stack.push %s2, %t2 }\n"
      "for %u2 in 0..%n reversed { %p2 = stack.pop %s2\natomic add %out[%i], (cast %p2 to f32) }\n";
  auto flags = [](const std::string& n) {
    return "%f" + n + " = stack.new i1\nfor %v" + n + " in 0..%n { stack.push %f" + n + ", (gt %v" + n +
           ", 3) }\nfor %w" + n + " in 0..%n reversed { %q" + n + " = stack.pop %f" + n + "\nif %q" + n +
           " { atomic add %out[%i], 1.0 }\n }\n";
  };
  CHECK(share(Tape("s1", "0..%n") + integers));
  CHECK(share(integers + flags("a")));
  CHECK(share(flags("a") + flags("b")));
  CHECK(share("for %j in 0..3 {\n" + Tape("s1", "0..%n") + "}\n" + Tape("s2", "0..%m")));
  CHECK_FALSE(
      share("%s1 = stack.new f32\n%s2 = stack.new f32\n"
            "for %t in 0..%n { stack.push %s1, %a\nstack.push %s2, %a }\n"
            "for %u in 0..%n reversed { %p = stack.pop %s1\n%q = stack.pop %s2\natomic add %out[%i], (add "
            "%p, %q) }\n"));
  // One inside of the other's life.
  CHECK_FALSE(share("%s1 = stack.new f32\nfor %t in 0..%n { stack.push %s1, %a }\n" + Tape("s2", "0..%m") +
                    "for %u in 0..%n reversed { %p = stack.pop %s1\natomic add %out[%i], %p }\n"));
}

namespace {

/// Two stacks that two `if`s fill and two empty, each in one branch.
std::string Swept(const std::string& condition, const std::string& other_condition,
                  const std::string& bound) {
  auto both = [&](const std::string& in_left, const std::string& in_right) {
    return "if " + condition + " { " + in_left + " }\nif " + other_condition + " {} else { " + in_right +
           " }\n";
  };
  return "%s1 = stack.new f32\n%s2 = stack.new f32\n" +
         both("for %t in 0..%n { stack.push %s1, %a at %t }",
              "for %t in 0.." + bound + " { stack.push %s2, %a at %t }") +
         both("for %t in 0..%n reversed { %p = stack.pop %s1 at %t\natomic add %out[%i], %p }",
              "for %t in 0.." + bound + " reversed { %p = stack.pop %s2 at %t\natomic add %out[%i], %p }");
}

}  // namespace

TEST_CASE("stacks of branches that exclude one another lie in one place", "[adstack]") {
  // Group and sharing of each stack of the first task.
  auto places = [](const std::string& body) {
    auto planned = PlanText(Kernel("%c = gt %a, 0.5\n%d = gt %a, 0.7\n" + body));
    INFO(planned->Messages() << planned->PlanText());
    std::string text;
    auto number = [](uint32_t n) { return n == artifact::kNoIndex ? std::string("-") : std::to_string(n); };
    for (const adstack::PlannedStack& stack : planned->plan.tasks[0].stacks) {
      text += (text.empty() ? "" : " ") + number(stack.group) + number(stack.share) + number(stack.cpu_share);
    }
    for (const adstack::PlannedGroup& group : planned->plan.tasks[0].groups)
      text += ", " + std::to_string(group.gated ? group.gates.size() : 0);
    return text;
  };
  // Group, sharing within it, sharing on a CPU; then the gates of each group.
  std::string left = Tape("s1", "0..%n"), right = Tape("s2", "0..%n");
  CHECK(places("if %c {\n" + left + "} else {\n" + right + "}\n") == "000 000, 0");
  CHECK(places("if %c {\n" + left + "} else {\n if %d {\n" + right + "}\n}\n") == "000 000, 2");
  // Every thread comes to `if %c`, but not to what a loop may leave out.
  CHECK(places("for %j in 0..%m {\nif %c {\n" + left + "} else {\n" + right + "}\n}\n") == "000 000, 2");
  CHECK(places("if %d {\nif %c {\n" + left + "} else {\n" + right + "}\n}\n") == "000 000, 1");
  // Which iterations need the longer one is not known: a row for each that needs any of them could be more.
  std::string longer = Tape("s2", "0..%m"), wider = Tape("s2", "0..%n", "f64");
  CHECK(places("if %c {\n" + left + "} else {\n" + longer + "}\n") == "0-0 1-0, 1, 1");
  CHECK(places("if %c {\n" + left + "} else {\n" + wider + "}\n") == "0-0 1-0, 1, 1");
  // What a size kernel counts may come to less than the expression.
  std::string ragged = "%lo = load %s[%i]\n%hi = load %e[%i]\n";
  CHECK(places(ragged + "if %c {\n" + Tape("s1", "%lo..%hi") + "} else {\n" + Tape("s2", "%lo..%hi") +
               "}\n") == "0-0 1-0, 1, 1");
  // Two of one branch, one of the other: that takes the place of one of them.
  CHECK(places("if %c {\n" + Swept("%d", "%d", "%n") + "} else {\n" + Tape("s3", "0..%n") + "}\n") ==
        "000 000 000, 0");
  CHECK(places("if %c {\n%s0 = stack.new f32\nfor %t in 0..%n { stack.push %s0, %a }\n" + left +
               "for %u in 0..%n reversed { %p = stack.pop %s0\natomic add %out[%i], %p }\n} else {\n" +
               right + "}\n") == "000 1-- 000, 0, 1");
  // Both branches of the inner `if` come to the gate that a longer stack has, which is over by then.
  CHECK(places("if %d {\n" + Tape("s0", "0..%m") + "if %c {\n" + left + "} else {\n" + right + "}\n}\n") ==
        "000 000 000, 1");
  // One condition decides in both sweeps; two conditions may both let an iteration pass.
  CHECK(places(Swept("%c", "%c", "%n")) == "000 000, 0");
  CHECK(places(Swept("%c", "%c", "%m")) == "0-0 1-0, 2, 2");
  CHECK(places(Swept("%c", "%d", "%n")) == "0-- 1--, 2, 2");
  // Iterations of a loop differ in what they pass, and the stacks live through all of them.
  CHECK(places("%s1 = stack.new f32\n%s2 = stack.new f32\nfor %j in 0..%n {\n%v = load %x[%j]\n"
               "%g = gt %v, 0.5\nif %g { stack.push %s1, %v } else { stack.push %s2, %v }\n"
               "if %g { %p = stack.top %s1\natomic add %out[%i], %p\n} else { %p = stack.top %s2\n"
               "atomic add %out[%i], %p\n}\n}\n") == "0-- 1--, 2, 2");
  // A stack that lives before another one, whoever passes.
  CHECK(places("if %c {\n" + left + "}\nif %d {\n" + right + "}\n") == "000 000, 2");
  CHECK(places("if %c {\n" + left + "}\n" + right) == "000 000, 0");
}

TEST_CASE("a group has the innermost branch around its stacks as its gate", "[adstack]") {
  auto planned = PlanText(Kernel("%c = gt %a, 0.5\nif %c {\n for %j in 0..3 {\n" + Tape("s1", "0..%n") +
                                 Tape("s2", "0..%n") + "}\n}\n" + Tape("s3", "0..%m")));
  const adstack::TaskPlan& task = planned->plan.tasks[0];
  INFO(planned->PlanText());
  REQUIRE(task.groups.size() == 2);
  CHECK(task.groups[0].place.Valid());
  CHECK_FALSE(task.groups[1].place.Valid());
  CHECK(task.stacks[0].group == 0);
  CHECK(task.stacks[1].group == 0);
  CHECK(task.stacks[2].group == 1);
  CHECK_THAT(planned->PlanText(), Contains("group 0: gate  at test.ir:5:"));
}

TEST_CASE("while loops: max bounds them, nothing else does", "[adstack]") {
  auto loop = [](const std::string& max) {
    return Kernel("%s1 = stack.new f32\n%count, %last = while" + max +
                  " carry(%k = 0, %v = %a) { continue_if (gt %v, 1.0) } do {\n stack.push %s1, %v at %k\n"
                  " yield (add %k, 1), (mul %v, 0.5) }\n"
                  "for %t in 0..%count reversed { %p = stack.pop %s1 at %t\natomic add %out[%i], %p }\n");
  };
  auto bounded = PlanText(loop(" max %m"));
  CHECK(CapacityOf(*bounded) == "max(m, 0)");
  CHECK(ClassOf(*bounded) == artifact::SizeClass::kS1);
  CHECK(bounded->plan.tasks[0].stacks[0].accesses[0].guard.Valid());
  auto open = PlanText(loop(""));
  CHECK(open->plan.tasks[0].stacks[0].capacity == artifact::kNoNode);
  CHECK(ClassOf(*open) == artifact::SizeClass::kS2);
  CHECK_THAT(open->PlanText(), Contains("capacity [unknown before the launch], class S2"));
  adstack::PlanConfig config;
  config.forbid_s2 = true;
  CHECK_THAT(PlanText(loop(""), config)->Messages(),
             Contains("E0504") && Contains("that this loop tapes is computed from data"));
  CHECK(PlanText(loop(" max %m"), config)->Messages().empty());
  // Constant and small: in private memory, whatever bounds it.
  CHECK(PlanText(loop(" max 4"), config)->Messages().empty());
}

TEST_CASE("counted stacks: what is emptied in every round counts once", "[adstack]") {
  // Two pushes per step: no plain slot, so the stack counts.
  std::string tape =
      "%s1 = stack.new f32\n"
      "for %j in 0..3 {\n"
      "  for %t in 0..%n { stack.push %s1, %a\n stack.push %s1, %a }\n"
      "  for %u in 0..%n reversed { %p = stack.pop %s1\n %q = stack.pop %s1\n atomic add %out[%i], (add %p, "
      "%q) }\n"
      "}\n";
  auto planned = PlanText(Kernel(tape));
  CHECK(planned->plan.tasks[0].stacks[0].addressing == artifact::Addressing::kCounted);
  LaunchEnv five(*planned->kernel, [&] {
    static interp::Arguments arguments;
    arguments = interp::MakeArguments(*planned->module, *planned->kernel);
    SetInteger(arguments, 3, 5);
    return std::cref(arguments);
  }());
  CHECK(five.Evaluate(planned->plan.exprs, planned->plan.tasks[0].stacks[0].capacity).value == 10);
}

TEST_CASE("misuse of stacks is reported", "[adstack]") {
  CHECK_THAT(
      PlanText(
          Kernel(
              "%s1 = stack.new f32\nstack.push %s1, %a at 0\n%p = stack.pop %s1\natomic add %out[%i], %p\n"))
          ->Messages(),
      Contains("E0501"));
}

TEST_CASE("what nothing pops, or nothing pushes, needs no stack", "[adstack]") {
  auto planned = PlanText(
      Kernel("%s1 = stack.new f32\nfor %t in 0..%n { stack.push %s1, %a at %t }\nstore %out[%i], %a\n"));
  CHECK(planned->plan.tasks[0].stacks.empty());
  CHECK(planned->plan.idle_stacks.size() == 1);
  REQUIRE(adstack::LowerAdstacks(*planned->module, *planned->kernel, planned->plan, planned->diagnostics));
  CHECK_THAT(planned->Text(), !Contains("stack."));
}
