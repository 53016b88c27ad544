// What PTX looks like where it matters for speed, and where a launch has more words than parameters.

#include <catch2/catch.hpp>
#include <sstream>

#include "artifact/gpu_abi.h"
#include "diag/errors/codegen.h"
#include "nvptx_support.h"

namespace {

using namespace adc;
using namespace adc::test;

const char* const kRecurrence = R"(
kernel @recur(%x: buffer<f32, 1> diff, %loss: buffer<f32, 0> diff, %c: f32 diff, %n: i32) {
  parallel %i in 0..shape(%x, 0) {
    %v0 = load %x[%i]
    %v = for %t in 0..%n carry(%a = %v0) {
      %s = mul %a, %a
      %b = sub 1.0, (mul %c, %s)
      yield %b
    }
    atomic add %loss[], %v
  }
}
)";

/// The lines of the longest run from a label to the branch back to it that holds no other label.
std::vector<std::vector<std::string>> Loops(const std::string& entry) {
  std::vector<std::vector<std::string>> loops;
  std::vector<std::string> body;
  std::string label;
  std::stringstream lines(entry);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("$L_", 0) == 0) {
      label = line.substr(0, line.size() - 1);
      body.clear();
      continue;
    }
    body.push_back(line);
    if (!label.empty() && line.find("bra") != std::string::npos &&
        line.find(label + ";") != std::string::npos)
      loops.push_back(body);
  }
  return loops;
}

size_t CountLines(const std::vector<std::string>& lines, const std::string& what) {
  size_t count = 0;
  for (const std::string& line : lines) count += line.find(what) != std::string::npos;
  return count;
}

}  // namespace

TEST_CASE("the tape of a recurrence is written and read eight elements at a time, a line of 128 bytes each") {
  auto lowered = LowerText(kRecurrence, {true, {.lanes = 32}});
  std::string ptx = PtxFor(*lowered, PtxConfig("cuda:sm_80"));
  std::string entry = EntryText(ptx, "adc_recur_2Egrad_t0");
  bool wrote = false, read = false;
  for (const std::vector<std::string>& loop : Loops(entry)) {
    CHECK(CountLines(loop, "div.") == 0);
    CHECK(CountLines(loop, "rem.") == 0);
    CHECK(CountLines(loop, "mul.lo.s64") == 0);
    size_t stores = CountLines(loop, "st.global.f32"), loads = CountLines(loop, "ld.global.f32");
    if (stores == 8) {
      wrote = true;
      // One pointer, which moves on by eight lines.
      CHECK(CountLines(loop, ", 1024;") == 1);
      CHECK(CountLines(loop, "+128]") == 1);
    }
    if (loads == 8) {
      read = true;
      CHECK(CountLines(loop, ", -1024;") == 1);
      CHECK(stores == 0);
    }
  }
  CHECK(wrote);
  CHECK(read);
}

TEST_CASE("loads go before the atomic updates of the same turn, and before those of the turns after it") {
  // Neighbours have cells of their own, but for `meet`, where data decide, and branches stand around the
  // updates.
  auto lowered = LowerText(R"(
kernel @scatter(%x: buffer<f32, 1> diff, %w: buffer<f32, 1> diff, %k: buffer<i32, 1> readonly,
                %y: buffer<f32, 1> diff, %n: i32) {
  parallel %i in 0..shape(%x, 0) {
    %v0 = load %x[%i]
    %v = for %t in 0..%n carry(%a = %v0) {
      %j = add (load %k[(add %i, %t)]), %i
      %b = sub (mul %a, %a), (load %w[%j])
      yield %b
    }
    store %y[%i], %v
  }
}
kernel @meet(%x: buffer<f32, 1> diff, %w: buffer<f32, 1> diff, %k: buffer<i32, 1> readonly,
             %y: buffer<f32, 1> diff, %n: i32) {
  parallel %i in 0..shape(%x, 0) {
    %v0 = load %x[%i]
    %v = for %t in 0..%n carry(%a = %v0) {
      %j = load %k[(add %i, %t)]
      %b = sub (mul %a, %a), (load %w[%j])
      yield %b
    }
    store %y[%i], %v
  }
}
)",
                           {true, {.lanes = 32}});
  std::string ptx = PtxFor(*lowered, PtxConfig("cuda:sm_80"));
  std::string entry = EntryText(ptx, "adc_scatter_2Egrad_t0");
  bool seen = false;
  for (const std::vector<std::string>& loop : Loops(entry)) {
    size_t updates = CountLines(loop, "atom.global.add.f32");
    if (updates < 4) continue;
    seen = true;
    size_t first_update = loop.size(), last_load = 0;
    for (size_t n = 0; n < loop.size(); ++n) {
      if (loop[n].find("atom.") != std::string::npos) first_update = std::min(first_update, n);
      if (loop[n].find("ld.global") != std::string::npos) last_load = n;
    }
    CHECK(last_load < first_update);
  }
  CHECK(seen);
  std::string meet = EntryText(ptx, "adc_meet_2Egrad_t0");
  size_t most = 0;
  for (size_t begin = 0, end = 0; begin != std::string::npos; begin = end) {
    end = meet.find("ld.global", begin + 1);
    most = std::max(most, Count(meet.substr(begin, end - begin), "activemask"));
  }
  CHECK(most >= 4);
}

TEST_CASE("what a task only reads goes through the read-only path, what it writes does not") {
  auto lowered = LowerText(R"(
kernel @copy(%x: buffer<f32, 1>, %y: buffer<f32, 1>, %a: buffer<f32, 1> alias, %b: buffer<f32, 1> alias) {
  parallel %i in 0..shape(%x, 0) {
    %v = load %x[%i]
    %w = load %y[%i]
    store %y[%i], (add %v, %w)
    %u = load %a[%i]
    store %b[%i], %u
  }
}
)");
  std::string ptx = PtxFor(*lowered, PtxConfig("cuda:sm_70"));
  CHECK(Count(ptx, "ld.global.nc.f32") == 1);
  CHECK(Count(ptx, "ld.global.f32") == 2);
}

TEST_CASE("atomic updates are instructions where there are any, else loops over the word around the cell") {
  auto lowered = LowerText(R"(
kernel @f32_add(%x: buffer<f32, 1>, %k: buffer<i32, 1> readonly) {
  parallel %i in 0..shape(%x, 0) { %j = load %k[%i]  %old = atomic add %x[%j], 1.0  atomic sub %x[%i], %old }
}
kernel @f64_add(%x: buffer<f64, 1>, %k: buffer<i32, 1> readonly) {
  parallel %i in 0..shape(%x, 0) { %j = load %k[%i]  %old = atomic add %x[%j], 1.0  atomic sub %x[%i], %old }
}
kernel @f16_add(%x: buffer<f16, 1>, %k: buffer<i32, 1> readonly) {
  parallel %i in 0..shape(%x, 0) { %j = load %k[%i]  atomic add %x[%j], 1.0 }
}
kernel @f32_min(%x: buffer<f32, 1>, %k: buffer<i32, 1> readonly) {
  parallel %i in 0..shape(%x, 0) { %j = load %k[%i]  atomic min %x[%j], 1.0 }
}
kernel @u8_or(%x: buffer<u8, 1>, %k: buffer<i32, 1> readonly) {
  parallel %i in 0..shape(%x, 0) { %j = load %k[%i]  atomic or %x[%j], 4 }
}
kernel @i16_max(%x: buffer<i16, 1>, %k: buffer<i32, 1> readonly) {
  parallel %i in 0..shape(%x, 0) { %j = load %k[%i]  atomic max %x[%j], 4 }
}
kernel @i64_min(%x: buffer<i64, 1>, %k: buffer<i32, 1> readonly) {
  parallel %i in 0..shape(%x, 0) { %j = load %k[%i]  atomic min %x[%j], 4 }
}
kernel @i32_exchange(%x: buffer<i32, 1>, %k: buffer<i32, 1> readonly) {
  parallel %i in 0..shape(%x, 0) {
    %j = load %k[%i]
    %old = atomic exchange %x[%j], 4
    %was = atomic compare_exchange %x[%i], %old, 7
  }
}
)");
  std::string ptx = PtxFor(*lowered, PtxConfig("cuda:sm_70"));
  auto entry = [&](const char* name) { return EntryText(ptx, std::string("adc_") + name + "_t0"); };
  CHECK(Count(entry("f32_add"), "atom.global.add.f32") == 2);
  CHECK(Count(entry("f64_add"), "atom.global.add.f64") == 2);
  // By a function, for lanes with one cell; the loop is for totals beyond f16.
  CHECK(Count(entry("f16_add"), "atom") == 0);
  CHECK(Count(ptx, "atom.global.add.noftz.f16") == 1);
  CHECK(Count(entry("f32_min"), "atom.global.cas.b32") == 1);
  CHECK(Count(entry("u8_or"), "atom.global.or.b32") + Count(entry("u8_or"), "atom.global.cas.b32") == 1);
  CHECK(Count(entry("i16_max"), "atom.global.cas.b") == 1);
  CHECK(Count(entry("i64_min"), "atom.global.min.s64") == 1);
  CHECK(Count(entry("i32_exchange"), "atom.global.exch.b32") == 1);
  CHECK(Count(entry("i32_exchange"), "atom.global.cas.b32") == 1);
  if (!Ptxas().empty()) CHECK(Assemble(ptx, "sm_75").good);
}

TEST_CASE("where data choose the cell, one vote tells whether lanes add up first, and components share it") {
  auto lowered = LowerText(R"(
kernel @pick(%at: buffer<i32, 1>, %x: buffer<f32, 1>) {
  parallel %i in 0..shape(%x, 0) { atomic add %x[(load %at[%i])], 1.0 }
}
kernel @three(%at: buffer<i32, 1>, %x: buffer<vec<f32, 3>, 1>) {
  parallel %i in 0..shape(%at, 0) { atomic add %x[(load %at[%i])], (vec.make 1.0, 2.0, 3.0) }
}
kernel @next(%x: buffer<f32, 1>) {
  parallel %i in 0..shape(%x, 0) { atomic add %x[(add %i, 1)], 1.0 }
}
)");
  for (const char* target : {"cuda:sm_70", "cuda:sm_90"}) {
    std::string ptx = PtxFor(*lowered, PtxConfig(target));
    auto entry = [&](const char* name) { return EntryText(ptx, std::string("adc_") + name + "_t0"); };
    // The copies of four iterations at once are not few.
    size_t copies = Count(entry("pick"), "atom.global.add.f32");
    CHECK(copies != 0);
    for (const char* part : {"activemask", "shfl.sync.idx", "vote.sync.ballot", "adc_$_flush_$_f32_$_1,"})
      CHECK(Count(entry("pick"), part) == copies);
    copies = Count(entry("three"), "adc_$_flush_$_f32_$_3,");
    CHECK(copies != 0);
    CHECK(Count(entry("three"), "vote.sync.ballot") == copies);
    CHECK(Count(entry("three"), "atom.global.add.f32") == 3 * copies);
    CHECK(Count(entry("next"), "vote.sync") == 0);
    CHECK(Count(entry("next"), "atom.global.add.f32") != 0);
    if (!Ptxas().empty()) CHECK(Assemble(ptx, "sm_90").good);
  }
}

TEST_CASE("sums into neighbouring components are one instruction where PTX has it, if they are aligned") {
  auto lowered = LowerText(R"(
kernel @two(%at: buffer<i32, 1>, %x: buffer<vec<f32, 2>, 1>) {
  parallel %i in 0..shape(%at, 0) { atomic add %x[(load %at[%i])], (vec.make 1.0, 2.0) }
}
kernel @three(%at: buffer<i32, 1>, %x: buffer<vec<f32, 3>, 1>) {
  parallel %i in 0..shape(%at, 0) { atomic add %x[(load %at[%i])], (vec.make 1.0, 2.0, 3.0) }
}
kernel @four(%at: buffer<i32, 1>, %x: buffer<vec<f32, 4>, 1>) {
  parallel %i in 0..shape(%at, 0) { atomic sub %x[(load %at[%i])], (vec.make 1.0, 2.0, 3.0, 4.0) }
}
kernel @next(%x: buffer<vec<f32, 4>, 1>) {
  parallel %i in 0..shape(%x, 0) { atomic add %x[(add %i, 1)], (vec.make 1.0, 2.0, 3.0, 4.0) }
}
kernel @wide(%at: buffer<i32, 1>, %x: buffer<vec<f64, 2>, 1>) {
  parallel %i in 0..shape(%at, 0) { atomic add %x[(load %at[%i])], (vec.make 1.0:f64, 2.0) }
}
)");
  std::string ptx = PtxFor(*lowered, PtxConfig("cuda:sm_90:ptx81"));
  auto entry = [&](const char* name) { return EntryText(ptx, std::string("adc_") + name + "_t0"); };
  auto counts = [&](const char* name) {
    std::string text = entry(name);
    return std::array{Count(text, "red.global.add.v2.f32"), Count(text, "red.global.add.v4.f32"),
                      Count(text, "atom.global.add.f32")};
  };
  auto [two, none_of_two, alone] = counts("two");
  CHECK((two != 0 && none_of_two == 0 && alone == 2 * two));
  // An address of three is never aligned to eight bytes for sure, and one pair of its cells always is.
  auto [three, none_of_three, single] = counts("three");
  CHECK((three != 0 && none_of_three == 0 && single == three));
  for (const char* name : {"four", "next"}) {
    auto [none_of_four, four, each] = counts(name);
    CHECK((none_of_four == 0 && four != 0 && each == 4 * four));
  }
  CHECK(Count(entry("wide"), "red.") == 0);
  if (!Ptxas().empty()) CHECK(Assemble(ptx, "sm_90").good);
  for (const char* target : {"cuda:sm_90", "cuda:sm_89:ptx81"})
    CHECK(Count(PtxFor(*lowered, PtxConfig(target)), "red.global") == 0);
}

TEST_CASE("tables lie in global memory, where every lane looks up its own entry, and may be large") {
  std::string text = "const @w = [0.5";
  for (int n = 1; n < 20000; ++n) text += ", " + std::to_string(n) + ".0";
  text += R"(] : array<f32, 20000>
kernel @table(%x: buffer<f64, 1>, %k: buffer<i32, 1> readonly) {
  parallel %i in 0..shape(%x, 0) {
    %j = load %k[%i]
    %w = cast (load @w[%j]) to f64
    store %x[%i], (mul %w, (exp (load %x[%i])))
  }
}
)";
  std::string ptx = PtxFor(*LowerText(text), PtxConfig("cuda:sm_80"));
  CHECK(Count(ptx, ".const") == 0);
  CHECK(Count(ptx, "ld.const") == 0);
  CHECK(Count(ptx, "[80000] = {") == 1);
  if (!Ptxas().empty()) CHECK(Assemble(ptx, "sm_80").good);
}

TEST_CASE("floats are contracted, or not, or approximate, as asked") {
  auto lowered = LowerText(R"(
kernel @floats(%x: buffer<f32, 1>) {
  parallel %i in 0..shape(%x, 0) {
    %a = load %x[%i]
    %b = add (mul %a, %a), (div 1.0, %a)
    store %x[%i], (sqrt (exp %b))
  }
}
)");
  std::string strict = PtxFor(*lowered, PtxConfig("cuda:sm_80", 2, codegen::FloatMode::Strict));
  std::string contract = PtxFor(*lowered, PtxConfig("cuda:sm_80", 2, codegen::FloatMode::Contract));
  std::string fast = PtxFor(*lowered, PtxConfig("cuda:sm_80", 2, codegen::FloatMode::Fast));
  CHECK(Count(strict, "mul.rn.f32") >= 1);
  CHECK(Count(strict, "sqrt.rn.f32") == 1);
  CHECK(Count(contract, "fma.rn.f32") > Count(strict, "fma.rn.f32"));
  CHECK(Count(contract, "sqrt.rn.f32") == 1);
  CHECK(Count(fast, "ex2.approx") == 1);
  CHECK(Count(strict, "rcp.rn.f32") + Count(strict, "div.rn.f32") >= 1);
  CHECK(Count(fast, "rcp.rn.f32") + Count(fast, "div.rn.f32") == 0);
}

TEST_CASE("entries name the block that they want, in whole waves") {
  auto lowered = LowerText(R"(
kernel @blocks(%x: buffer<f32, 1>, %total: buffer<f32, 0>) {
  parallel %i in 0..shape(%x, 0) block 100 { store %x[%i], 1.0 }
  store %total[], 0.0
  parallel %j in 0..shape(%x, 0) block 5000 { store %x[%j], 2.0 }
  parallel %k in 0..shape(%x, 0) { store %x[%k], 3.0 }
}
)");
  auto code = EmitRaised(codegen::EmitNvptx, *lowered->module, lowered->ToEmit(), PtxConfig("cuda:sm_80"));
  REQUIRE(code);
  REQUIRE(code->entries[0].size() == 4);
  std::vector<uint32_t> sizes;
  for (const codegen::EntryCode& entry : code->entries[0]) {
    sizes.push_back(entry.block_size);
    std::string text = EntryText(PtxOf(*code), entry.symbol);
    CHECK(text.find(".reqntid " + std::to_string(entry.block_size) + ", 1, 1") != std::string::npos);
  }
  CHECK(sizes == std::vector<uint32_t>{128, 32, 1024, 128});
}

TEST_CASE("where a float decides whether there is any work, more threads look at once") {
  auto lowered = LowerText(R"(
kernel @sparse(%m: buffer<f32, 1>, %y: buffer<f32, 1>) {
  parallel %i in 0..shape(%m, 0) {
    %v = load %m[%i]
    %g = gt %v, 1e-15
    if %g { store %y[%i], (sin %v) }
  }
}
kernel @dense(%m: buffer<f32, 1>, %y: buffer<f32, 1>) {
  parallel %i in 0..shape(%m, 0) {
    %v = load %m[%i]
    %g = gt %v, 1e-15
    %w = if %g { yield (sin %v) } else { yield (cos %v) }
    store %y[%i], %w
  }
}
)");
  std::string ptx = PtxFor(*lowered, PtxConfig("cuda:sm_80"));
  CHECK(Count(EntryText(ptx, "adc_sparse_t0"), ".minnctapersm 4") == 1);
  CHECK(Count(EntryText(ptx, "adc_dense_t0"), ".minnctapersm") == 0);
}

TEST_CASE("the same module gives the same text") {
  auto lowered = LowerText(kRecurrence, {true, {.lanes = 32}});
  codegen::CodeConfig config = PtxConfig("cuda:sm_86");
  CHECK(PtxFor(*lowered, config) == PtxFor(*lowered, config));
}

TEST_CASE("words beyond the parameters are loaded from a table") {
  std::string text = "kernel @many(";
  for (int n = 0; n < 130; ++n) text += "%p" + std::to_string(n) + ": buffer<f32, 3>, ";
  text += "%y: buffer<f32, 1>) {\n parallel %i in 0..shape(%y, 0) {\n";
  for (int n : {0, 125, 126, 129})
    text += "  atomic add %y[%i], (load %p" + std::to_string(n) + "[%i, 1, 0])\n";
  text += " }\n}\n";
  auto lowered = LowerText(text);
  auto code = EmitRaised(codegen::EmitNvptx, *lowered->module, lowered->ToEmit(), PtxConfig("cuda:sm_80"));
  REQUIRE(code);
  CHECK(code->features == std::vector<std::string>{ADRT_GPU_TABLE_FEATURE});
  const codegen::Payload* payload = code->Find(codegen::PayloadKind::Ptx);
  REQUIRE(payload != nullptr);
  std::string ptx(payload->bytes.begin(), payload->bytes.end()), entry = EntryText(ptx, "adc_many_t0");
  // 526 words: those of %p0 to %p125 and the first two of %p126 are parameters, the table, the last four.
  CHECK(Count(entry, ".param .u64 adc_many_t0_param_") == 511);
  CHECK(Count(entry, "[adc_many_t0_param_506]") == 1);
  // Two extents of %p126, where %p129 lies and two extents, where %y lies.
  CHECK(Count(entry, "ld.global.nc.u64") == 6);
  for (const char* byte : {"+8]", "+80]", "+96]", "+104]", "+112]"}) CHECK(Count(entry, byte) == 1);
  std::string writer = EntryText(ptx, ADRT_GPU_TABLE_WRITER);
  CHECK(Count(writer, ".param .u64") == 1 + ADRT_GPU_TABLE_CHUNK);
  CHECK(Count(writer, "st.global") > 0);
}
TEST_CASE(
    "local arrays beyond the private memory of a thread are refused; print is left out with a warning") {
  auto large = LowerText(R"(
kernel @large(%x: buffer<f32, 1>) {
  parallel %i in 0..shape(%x, 0) {
    %a = alloca array<f32, 5000>
    store %a[%i], 1.0
    store %x[%i], (load %a[0])
  }
}
)");
  auto refused = EmitRaised(codegen::EmitNvptx, *large->module, large->ToEmit(), PtxConfig("cuda:sm_80"));
  REQUIRE(!refused);
  CHECK(refused.Failure().id == diag::E0601);
  auto prints = LowerText(R"(
kernel @prints(%x: buffer<f32, 1>) {
  parallel %i in 0..shape(%x, 0) {
    print "x = {}", (load %x[%i])
    store %x[%i], 1.0
  }
}
)");
  auto code = EmitRaised(codegen::EmitNvptx, *prints->module, prints->ToEmit(), PtxConfig("cuda:sm_80"));
  REQUIRE(code);
  REQUIRE(code->warnings.size() == 1);
  CHECK(code->warnings[0].id == diag::W0601);
}
