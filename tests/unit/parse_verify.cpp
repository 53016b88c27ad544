// The verifier on modules that no text could give: what defective passes leave behind.

#include <random>

#include "diag/errors/parse.h"
#include "ir/builder.h"
#include "ir/module.h"
#include "parse_support.h"

using namespace adc;
using ir::Inst, ir::Op, ir::Value;

namespace {

constexpr const char* kText = R"(func @f(%a: f32, %n: i32) -> f32 {
  %r = for %t in 0..%n carry(%x = %a) {
    %y = add (sin %x), 1.0
    yield %y
  }
  return %r
}
kernel @k(%x: buffer<f32, 1> diff, %n: i32) {
  parallel %i in 0..shape(%x, 0) {
    %v = load %x[%i]
    %w = while carry(%c = %v) {
      %h = mul %c, 0.5
      continue_if (gt %c, 1.0)
    } do {
      yield %h
    }
    %z = if (lt %w, 0.0) {
      yield 0.0
    } else {
      yield (call @f(%w, %n))
    }
    store %x[%i], %z
  }
}
)";

struct Broken {
  std::unique_ptr<test::Reading> reading = test::ReadGood(kText);
  ir::Module& module = *reading->module;
  ir::Function& kernel = *module.Find("k");
  ir::Function& function = *module.Find("f");

  Inst Find(Op op, ir::Function& in) {
    for (uint32_t n = 0; n < in.InstCount(); ++n) {
      if (in[Inst(n)].op == op) return Inst(n);
    }
    return {};
  }
  /// The ids that the verifier gives.
  std::string Ids() {
    diag::Diagnostics found(0);
    bool good = verify::Verify(module, found);
    CHECK(good == !found.HasErrors());
    ir::Print(module);  // must bear it
    std::string ids;
    for (const diag::Diagnostic& each : found.All())
      ids += (ids.empty() ? "" : " ") + std::string(diag::InfoOf(each.id).id);
    return ids;
  }
};

}  // namespace

TEST_CASE("a good module verifies", "[verify]") {
  CHECK(Broken().Ids().empty());
}

TEST_CASE("a value used outside of its region", "[verify]") {
  Broken b;
  // The sum inside of the loop, stored behind it.
  Inst store = b.Find(Op::Store, b.kernel);
  Inst mul = b.Find(Op::Mul, b.kernel);
  b.kernel.SetOperand(store, 2, b.kernel.Result(mul));
  CHECK(b.Ids() == "E0201");
}

TEST_CASE("a value used before it is defined", "[verify]") {
  Broken b;
  auto& insts = b.function[b.function[b.Find(Op::For, b.function)].regions[0]].insts;
  std::swap(insts[0], insts[1]);
  CHECK(b.Ids() == "E0201");
}

TEST_CASE("an operand of another type", "[verify]") {
  Broken b;
  b.function.SetOperand(b.Find(Op::Sin, b.function), 0, b.function.Params()[1]);
  CHECK(b.Ids() == "E0107");
}

TEST_CASE("terminators", "[verify]") {
  SECTION("missing") {
    Broken b;
    b.function[b.function.Body()].insts.pop_back();
    CHECK(b.Ids() == "E0202");
  }
  SECTION("of another kind") {
    Broken b;
    b.function[b.Find(Op::Return, b.function)].op = Op::Yield;
    CHECK(b.Ids() == "E0202");
  }
  SECTION("with too few values") {
    Broken b;
    b.function.SetOperands(b.Find(Op::Yield, b.function), {});
    CHECK(b.Ids() == "E0116");
  }
  SECTION("with a value of another type") {
    Broken b;
    b.function.SetOperand(b.Find(Op::Return, b.function), 0, b.function.Params()[1]);
    CHECK(b.Ids() == "E0116");
  }
  SECTION("in the middle") {
    Broken b;
    auto& insts = b.function[b.function.Body()].insts;
    insts.insert(insts.begin(), b.function.NewInst(Op::Yield, {}, {}, {}));
    b.function[insts[0]].parent = b.function.Body();
    CHECK(b.Ids() == "E0124");
  }
}

TEST_CASE("exits", "[verify]") {
  SECTION("that name no scope, where control gets to") {
    Broken b;
    Inst yield = b.Find(Op::Yield, b.function);
    b.function[yield].op = Op::Exit;
    b.function.SetOperands(yield, {});
    CHECK(b.Ids() == "E0202");
  }
  SECTION("that name a value") {
    Broken b;
    b.function[b.Find(Op::Yield, b.function)].op = Op::Exit;
    CHECK(b.Ids() == "E0202 E0107");
  }
  SECTION("of a scope that has ended") {
    auto reading = test::ReadGood("func @f(%c: i1) { scope %s { } scope %t { if %c { exit %t } } }");
    ir::Function& function = *reading->module->Find("f");
    Value first = function[function[function[function.Body()].insts[0]].regions[0]].params[0];
    for (uint32_t n = 0; n < function.InstCount(); ++n) {
      if (function[Inst(n)].op == Op::Exit) function.SetOperand(Inst(n), 0, first);
    }
    diag::Diagnostics found(0);
    CHECK(!verify::Verify(*reading->module, found));
    CHECK(ir::Print(*reading->module).find("exit %s") != std::string::npos);
  }
  SECTION("with a value of another type") {
    auto reading = test::ReadGood("func @f(%c: i1, %a: f32) { %r = scope %t -> f32 { exit %t, %a } }");
    ir::Function& function = *reading->module->Find("f");
    for (uint32_t n = 0; n < function.InstCount(); ++n) {
      if (function[Inst(n)].op == Op::Exit) function.SetOperand(Inst(n), 1, function.Params()[0]);
    }
    diag::Diagnostics found(0);
    CHECK(!verify::Verify(*reading->module, found));
    CHECK(found.All()[0].id == diag::E0116);
  }
}

TEST_CASE("structure", "[verify]") {
  SECTION("an instruction in two places") {
    Broken b;
    auto& insts = b.function[b.function.Body()].insts;
    insts.insert(insts.begin(), insts[0]);
    CHECK(b.Ids().find("E0202") != std::string::npos);
  }
  SECTION("a region in two places") {
    Broken b;
    Inst branch = b.Find(Op::If, b.kernel);
    b.kernel[branch].regions[1] = b.kernel[branch].regions[0];
    CHECK(b.Ids().find("E0202") != std::string::npos);
  }
  SECTION("a region that is not there") {
    Broken b;
    b.kernel[b.Find(Op::If, b.kernel)].regions[1] = ir::Block(77u);
    CHECK_FALSE(b.Ids().empty());
  }
  SECTION("an instruction that is not there") {
    Broken b;
    b.kernel[b.kernel.Body()].insts.insert(b.kernel[b.kernel.Body()].insts.begin(), Inst(9999u));
    CHECK_FALSE(b.Ids().empty());
  }
  SECTION("a value that is not there") {
    Broken b;
    b.kernel.SetOperand(b.Find(Op::Store, b.kernel), 2, Value(9999u));
    CHECK_FALSE(b.Ids().empty());
  }
  SECTION("a parallel inside of a loop") {
    Broken b;
    ir::Block body = b.function[b.Find(Op::For, b.function)].regions[0];
    Value zero = b.function.Constant(ir::kI32, 0);
    Value bounds[] = {zero, zero};
    ir::Builder builder(b.module, b.function, body);
    Inst parallel = builder.Parallel(bounds, 0);
    builder.SetBlock(b.function[parallel].regions[0]);
    builder.Yield({});
    auto& insts = b.function[body].insts;
    std::swap(insts[insts.size() - 1], insts[insts.size() - 2]);
    CHECK(b.Ids() == "E0125");
  }
}

TEST_CASE("what a phase forbids", "[verify]") {
  auto ids = [](const char* text, ir::Phase phase) {
    auto reading = test::ReadGood(text);
    reading->module->phase = phase;
    diag::Diagnostics found;
    verify::Verify(*reading->module, found);
    return found.ErrorTotal();
  };
  const char* vectors = "kernel @k(%v: buffer<vec<f32, 3>, 0>) {\n  %a = load %v[]\n  store %v[], %a\n}\n";
  CHECK(ids(vectors, ir::Phase::Parsed) == 0);
  CHECK(ids(vectors, ir::Phase::Scalar) == 2);
  const char* call = "func @f() {\n}\nkernel @k() {\n  call @f()\n}\n";
  CHECK(ids(call, ir::Phase::Scalar) == 1);
  const char* with_vjp =
      "func @f(%v: vec<f32, 3>) -> f32 vjp @g {\n  return (dot %v, %v)\n}\n"
      "func @g(%v: vec<f32, 3>, %d: f32) -> vec<f32, 3> {\n  return (mul %v, %d)\n}\n"
      "kernel @k(%x: buffer<f32, 0>) {\n  %a = load %x[]\n  %v = vec.make %a, %a, %a\n  store %x[], (call "
      "@f(%v))\n}\n";
  CHECK(ids(with_vjp, ir::Phase::Scalar) == 0);
  const char* stack =
      "kernel @k(%n: i32) {\n  parallel %i in 0..%n {\n    %s = stack.new f32\n    stack.push %s, 1.0\n  "
      "}\n}\n";
  CHECK(ids(stack, ir::Phase::Differentiated) == 0);
  CHECK(ids(stack, ir::Phase::Lowered) == 2);
}

// Tables are damaged at random: the verifier and the printer must bear it.
TEST_CASE("damaged modules are reported, never followed", "[verify]") {
  std::mt19937 random(11);
  uint32_t refused = 0;
  for (int round = 0; round < 3000; ++round) {
    Broken b;
    ir::Function& f = random() % 2 == 0 ? b.kernel : b.function;
    for (uint32_t damage = 1 + random() % 3; damage > 0; --damage) {
      Inst inst(static_cast<uint32_t>(random() % f.InstCount()));
      ir::InstData& data = f[inst];
      uint32_t any = random() % 4 == 0 ? 0xFFFFFFF0u : static_cast<uint32_t>(random() % 24);
      switch (random() % 10) {
        case 0:
          if (data.operand_count != 0)
            f.SetOperand(inst, static_cast<uint32_t>(random() % data.operand_count), Value(any));
          break;
        case 1:
          data.op = static_cast<Op>(random() % ir::kOpCount);
          break;
        case 2:
          data.regions[random() % 2] = ir::Block(any);
          break;
        case 3:
          data.parent = ir::Block(any);
          break;
        case 4:
          if (data.operand_count != 0) data.operand_count -= 1;
          break;
        case 5:
          data.index_count = static_cast<uint8_t>(any);
          break;
        case 6:
          data.attr = any;
          break;
        case 7:
          data.component = any;
          break;
        case 8: {
          auto& insts = f[data.parent.raw < f.BlockCount() ? data.parent : f.Body()].insts;
          if (!insts.empty()) insts[random() % insts.size()] = Inst(any);
          break;
        }
        default:
          data.words = {static_cast<ir::Word>(random() % std::size(ir::kWords))};
          break;
      }
    }
    if (!b.Ids().empty()) ++refused;
  }
  CHECK(refused > 2000);
}
