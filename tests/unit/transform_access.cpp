#include "analysis/access.h"
#include "analysis/loops.h"
#include "ir/module.h"
#include "transform_support.h"

using namespace adc;        // NOLINT
using namespace adc::test;  // NOLINT
using analysis::AccessFacts, analysis::Relation;
using ir::Inst, ir::Op;

namespace {

/// One kernel with its facts, and its accesses and loops in textual order.
struct Subject {
  explicit Subject(const std::string& body, const std::string& params = "")
      : parsed(
            Parse("kernel @k(%x: buffer<f32, 1>, %y: buffer<f32, 1>, %m: buffer<f32, 2>, %q: buffer<i32, 1>, "
                  "%n: i32, %p: i32" +
                  params + ") {\n" + body + "\n}")),
        kernel(parsed->Kernel("k")),
        facts(*parsed->module, kernel) {
    for (Inst inst : facts.structure().Order()) {
      if (kernel[inst].op == Op::Load && kernel.TypeOf(kernel.Operand(inst, 0)).scalar == ir::Scalar::F32)
        loads.push_back(inst);
      if (analysis::WritesMemory(kernel[inst].op)) writes.push_back(inst);
      if (analysis::IsLoop(kernel[inst].op)) loops.push_back(inst);
    }
  }

  std::unique_ptr<Parsed> parsed;
  ir::Function& kernel;
  AccessFacts facts;
  std::vector<Inst> loads, writes, loops;
};

bool Injective(const std::string& body) {
  Subject subject(body);
  return subject.facts.DistinctAcross(subject.loops[0], subject.writes[0], subject.writes[0]);
}

}  // namespace

TEST_CASE("Indices that read back the parallel index are injective") {
  CHECK(Injective("parallel %i in 0..%n { store %x[%i], 1.0 }"));
  CHECK(Injective("parallel %i in 0..%n { store %x[(add %i, 5)], 1.0 }"));
  CHECK(Injective("parallel %i in 0..%n { store %x[(sub %n, %i)], 1.0 }"));
  CHECK(Injective("parallel %i in 0..%n { store %x[(add (mul %i, 3), 2)], 1.0 }"));
  CHECK(Injective("parallel %i, %j in 0..%n, 0..%p { store %m[%j, %i], 1.0 }"));
  CHECK(Injective("parallel %i, %j in 0..%n, 0..%p { store %x[(add (mul %i, %p), %j)], 1.0 }"));
  CHECK(Injective("parallel %i, %j in 0..%n, 0..16 { store %x[(add (mul %i, 16), %j)], 1.0 }"));
  CHECK(
      Injective("parallel %i, %j, %k in 0..%n, 0..%p, 0..4 "
                "{ store %x[(add (mul (add (mul %i, %p), %j), 4), %k)], 1.0 }"));
}

TEST_CASE("Indices that forget the parallel index are not injective") {
  CHECK_FALSE(Injective("parallel %i in 0..%n { store %x[0], 1.0 }"));
  CHECK_FALSE(Injective("parallel %i in 0..%n { store %x[(div %i, 2)], 1.0 }"));
  CHECK_FALSE(Injective("parallel %i in 0..%n { store %x[(mul %i, %p)], 1.0 }"));
  CHECK_FALSE(Injective("parallel %i in 0..%n { store %x[(load %q[%i])], 1.0 }"));
  CHECK_FALSE(Injective("parallel %i, %j in 0..%n, 0..%p { store %x[%i], 1.0 }"));
  CHECK_FALSE(Injective("parallel %i, %j in 0..%n, 0..17 { store %x[(add (mul %i, 16), %j)], 1.0 }"));
  CHECK_FALSE(Injective("parallel %i, %j in 0..%n, 0..%n { store %x[(add (mul %i, %p), %j)], 1.0 }"));
  CHECK_FALSE(Injective("parallel %i, %j in 0..%n, 0..%p { store %x[(add %i, %j)], 1.0 }"));
}

TEST_CASE("Loops inside an iteration fill a window of their own") {
  CHECK(Injective("parallel %i in 0..%n { for %t in 0..%p { store %x[(add (mul %i, %p), %t)], 1.0 } }"));
  CHECK(Injective("parallel %i in 0..%n { for %t in 0..8 { store %x[(add (mul %i, 8), %t)], 1.0 } }"));
  CHECK(Injective("parallel %i in 0..%n { for %t in 0..%p { store %m[%i, %t], 1.0 } }"));
  CHECK_FALSE(Injective("parallel %i in 0..%n { for %t in 0..9 { store %x[(add (mul %i, 8), %t)], 1.0 } }"));
  CHECK_FALSE(Injective("parallel %i in 0..%n { for %t in 0..%i { store %x[%t], 1.0 } }"));
}

TEST_CASE("Two accesses of one cell pattern stay apart across iterations") {
  Subject same(R"(parallel %i in 0..%n {
    %a = load %x[(mul %i, 3)]
    %b = load %x[(add (mul %i, 3), 2)]
    %c = load %x[(add (mul %i, 3), 3)]
    store %x[(mul %i, 3)], (add %a, (add %b, %c))
  })");
  CHECK(same.facts.DistinctAcross(same.loops[0], same.loads[0], same.writes[0]));
  CHECK(same.facts.DistinctAcross(same.loops[0], same.loads[1], same.writes[0]));
  CHECK_FALSE(same.facts.DistinctAcross(same.loops[0], same.loads[2], same.writes[0]));
  CHECK(same.facts.SameIteration(same.loads[0], same.writes[0]) == Relation::Same);
  CHECK(same.facts.SameIteration(same.loads[1], same.writes[0]) == Relation::Distinct);
  CHECK_FALSE(same.facts.MayRace(same.loads[1], same.writes[0]));
  CHECK(same.facts.MayRace(same.loads[2], same.writes[0]));
}

TEST_CASE("Cells that an unknown index names may be any") {
  Subject subject(R"(parallel %i in 0..%n {
    %k = load %q[%i]
    %a = load %x[%k]
    store %x[%i], %a
    %b = load %y[%k]
    store %y[%k], %b
  })");
  CHECK(subject.facts.SameIteration(subject.loads[0], subject.writes[0]) == Relation::Unknown);
  CHECK(subject.facts.SameIteration(subject.loads[1], subject.writes[1]) == Relation::Same);
  CHECK(subject.facts.MayOverwriteLater(subject.loads[0], subject.writes[0]));
  // The write comes later in the same iteration, to the same cell.
  CHECK(subject.facts.MayOverwriteLater(subject.loads[1], subject.writes[1]));
}

TEST_CASE("A read is safe from earlier writes, other buffers, other branches and earlier tasks") {
  Subject subject(R"(
    parallel %h in 0..%n { store %x[%h], 0.0 }
    parallel %i in 0..%n {
      store %y[%i], 1.0
      %a = load %y[%i]
      %b = load %x[%i]
      if (gt %n, 3) { %c = load %m[%i, 0]  store %x[0], %c } else { store %m[%i, 0], %a }
      store %m[%i, 1], %b
    })");
  // writes: x (task 0), y, x[0], m[i,0], m[i,1]; loads: y, x, m[i,0]
  CHECK_FALSE(subject.facts.MayOverwriteLater(subject.loads[0], subject.writes[1]));
  CHECK_FALSE(subject.facts.MayOverwriteLater(subject.loads[1], subject.writes[0]));
  CHECK_FALSE(subject.facts.MayOverwriteLater(subject.loads[0], subject.writes[2]));
  CHECK(subject.facts.MayOverwriteLater(subject.loads[1], subject.writes[2]));
  CHECK_FALSE(subject.facts.MayOverwriteLater(subject.loads[2], subject.writes[3]));
  CHECK_FALSE(subject.facts.MayOverwriteLater(subject.loads[2], subject.writes[4]));
  CHECK(subject.facts.TaskOf(subject.writes[0]) == 0);
  CHECK(subject.facts.TaskOf(subject.loads[0]) == 1);
}

TEST_CASE("Later iterations of a serial loop may overwrite, later tasks too") {
  Subject subject(R"(
    parallel %i in 0..%n {
      for %t in 0..%p {
        %a = load %m[%i, %t]
        %b = load %m[%i, 0]
        store %m[%i, %t], (add %a, %b)
      }
    }
    parallel %h in 0..%n { store %m[%h, 7], 1.0 })");
  // Own cell: overwritten later in the same iteration. Cell 0: by iteration 0 of the loop.
  CHECK(subject.facts.DistinctAcross(subject.loops[1], subject.loads[0], subject.writes[0]));
  CHECK_FALSE(subject.facts.DistinctAcross(subject.loops[1], subject.loads[1], subject.writes[0]));
  CHECK(subject.facts.DistinctAcross(subject.loops[0], subject.loads[1], subject.writes[0]));
  CHECK(subject.facts.MayOverwriteLater(subject.loads[1], subject.writes[0]));
  CHECK(subject.facts.MayOverwriteLater(subject.loads[0], subject.writes[1]));
}

TEST_CASE("Fields, components and time frames are told apart") {
  auto parsed = Parse(R"(
    layout @g { dense[8, 4] { mass: f32  vel: vec<f32, 3> } }
    kernel @k(%g: @g, %f: i32) {
      parallel %i, %j over %g::mass {
        %a = load %g::mass[%i, %j]
        %v = load %g::vel[0, %f].1
        store %g::mass[%i, %j], %a
        store %g::vel[1, %f].1, %v
        store %g::vel[0, %f].2, %v
      }
    })");
  ir::Function& kernel = parsed->Kernel("k");
  AccessFacts facts(*parsed->module, kernel);
  std::vector<Inst> loads, stores, loops;
  for (Inst inst : facts.structure().Order()) {
    if (kernel[inst].op == Op::Load) loads.push_back(inst);
    if (kernel[inst].op == Op::Store) stores.push_back(inst);
    if (analysis::IsParallel(kernel[inst].op)) loops.push_back(inst);
  }
  CHECK(facts.DistinctAcross(loops[0], stores[0], stores[0]));
  CHECK(facts.SameIteration(loads[0], stores[1]) == Relation::Distinct);
  CHECK(facts.SameIteration(loads[1], stores[1]) == Relation::Distinct);
  CHECK(facts.SameIteration(loads[1], stores[2]) == Relation::Distinct);
  CHECK(facts.DistinctAcross(loops[0], loads[1], stores[1]));
  CHECK(facts.AllInRange(loads[0]));
  CHECK_FALSE(facts.AllInRange(loads[1]));
}

TEST_CASE("An index of a loop over an extent is in range") {
  Subject subject(R"(
    parallel %i in 0..shape(%x, 0) {
      %a = load %x[%i]
      %b = load %x[(add %i, 1)]
      %c = load %y[%i]
      %l = alloca array<f32, 8>
      for %t in 0..7 { store %l[(add %t, 1)], %a }
      for %u in 1..shape(%x, 0) { store %x[(sub %u, 1)], (add %b, %c) }
      for %w in 0..8 { store %l[(add %w, 1)], %a }
    })");
  CHECK(subject.facts.AllInRange(subject.loads[0]));
  CHECK_FALSE(subject.facts.AllInRange(subject.loads[1]));
  CHECK_FALSE(subject.facts.AllInRange(subject.loads[2]));
  CHECK(subject.facts.AllInRange(subject.writes[0]));
  CHECK(subject.facts.AllInRange(subject.writes[1]));
  CHECK_FALSE(subject.facts.AllInRange(subject.writes[2]));
}

TEST_CASE("Products of sums are polynomials") {
  Subject subject("parallel %i in 0..%n { store %x[(add (mul (add %i, 2), %p), (sub %n, %n))], 1.0 }");
  ir::Value index = subject.kernel.Indices(subject.writes[0])[0];
  const analysis::AffineForm* form = &subject.facts.forms().Of(index);
  CHECK(form->constant == 0);
  REQUIRE(form->terms.size() == 2);  // p*i + 2*p
  CHECK(form->terms[0].coefficient == 1);
  CHECK(form->terms[0].monomial.degree == 2);
  CHECK(form->terms[1].coefficient == 2);
  CHECK(form->terms[1].monomial.degree == 1);
}

TEST_CASE("Constant trip counts") {
  auto trips = [](const std::string& bounds) {
    Subject subject("parallel %i in 0..%n { for %t in " + bounds + " { store %x[%t], 1.0 } }");
    return analysis::ConstantTrips(subject.kernel, subject.loops[1]);
  };
  CHECK(trips("0..7 step 3") == 3u);
  CHECK(trips("0..6 step 3") == 2u);
  CHECK(trips("5..2") == 0u);
  CHECK(trips("-2147483648..2147483647") == 4294967295u);
  CHECK_FALSE(trips("0..%n").has_value());
}
