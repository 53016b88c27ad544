// PTX: its shape, and that ptxas takes it for every processor that is a target.

#include <catch2/catch.hpp>
#include <iostream>

#include "../support/folders.h"
#include "../support/random_kernel.h"
#include "nvptx_support.h"

namespace {

using namespace adc;
using namespace adc::test;

const char* const kTargets[] = {"cuda:sm_70", "cuda:sm_72", "cuda:sm_75", "cuda:sm_80",
                                "cuda:sm_86", "cuda:sm_87", "cuda:sm_89", "cuda:sm_90"};

/// True where there is a ptxas; says loudly where there is none.
bool HavePtxas() {
  if (!Ptxas().empty()) return true;
  std::cerr << "SKIPPED: no ptxas here, so that no PTX is assembled\n";
  return false;
}

std::string SamplePath(const std::string& name) {
  return adc::test::SourceFolder() + "/samples/" + name;
}

/// Processors that this ptxas knows: newer ones have dropped the older.
bool Knows(const std::string& processor) {
  return Assemble(".version 7.8\n.target " + processor + "\n.address_size 64\n", processor).good;
}

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

}  // namespace

TEST_CASE("version and target are those asked for") {
  auto lowered = LowerText(kRecurrence);
  std::string ptx = PtxFor(*lowered, PtxConfig("cuda:sm_80"));
  CHECK(ptx.find(".version 7.0\n.target sm_80\n") != std::string::npos);
  ptx = PtxFor(*lowered, PtxConfig("cuda:sm_75:ptx75"));
  CHECK(ptx.find(".version 7.5\n.target sm_75\n") != std::string::npos);
}

TEST_CASE("the samples assemble for every processor, with next to no spills") {
  if (!HavePtxas()) return;
  struct Sample {
    const char* file;
    uint32_t spills;  ///< bytes of loads and stores that its kernels may spill together
  };
  // A few bytes outside of inner loops, which ptxas trades for threads that run at once, do no harm.
  for (auto [sample, spills] : {Sample{"relax.ir", 0}, Sample{"csr_reduce.ir", 0}, Sample{"cholesky.ir", 32},
                                Sample{"mpm_grid_op.ir", 1024}, Sample{"update_cartesian_space.ir", 640}}) {
    auto lowered = LowerFile(SamplePath(sample), {true, {.lanes = 32}});
    for (const char* target : kTargets) {
      codegen::CodeConfig config = PtxConfig(target);
      if (!Knows(config.target.processor)) continue;
      Assembled assembled = Assemble(PtxFor(*lowered, config), config.target.processor);
      INFO(sample << " for " << target << "\n" << assembled.output);
      CHECK(assembled.good);
      CHECK(assembled.spills <= spills);
    }
  }
}

TEST_CASE("functions that are called often are hidden as others are, and have names that PTX takes") {
  for (int calls : {100, 1200}) {
    INFO(calls << " calls");
    std::string text =
        "kernel @k(%x: buffer<f32, 1>) {\n  parallel %i in 0..shape(%x, 0) {\n    %v0 = load %x[%i]\n";
    for (int call = 0; call < calls; ++call)
      text += "    %v" + std::to_string(call + 1) + " = sin %v" + std::to_string(call) + "\n";
    auto lowered = LowerText(text + "    store %x[%i], %v" + std::to_string(calls) + "\n  }\n}\n");
    std::string ptx = PtxFor(*lowered, PtxConfig("cuda:sm_80"));
    CHECK(Count(ptx, "\n\tadc_$_sin_$_f32, \n") == size_t(calls));
    CHECK(Count(ptx, "\n.func  (.param .b32 func_retval0) adc_$_sin_$_f32") == 2);
    CHECK(Count(ptx, ".visible .func") == 0);
    if (HavePtxas() && Knows("sm_80")) CHECK(Assemble(ptx, "sm_80").good);
  }
}

TEST_CASE("random kernels and their gradients assemble, however they are compiled") {
  if (!HavePtxas()) return;
  for (uint64_t seed = 0; seed < 16; ++seed) {
    RandomKernelConfig random;
    random.scalar = seed % 3 == 0 ? "f32" : "f64";
    random.vectors = seed % 2 == 0;
    random.tasks = 1 + static_cast<uint32_t>(seed % 3);
    std::string text = RandomKernel(seed, random);
    auto lowered = LowerText(text, {true, {.lanes = 32}});
    codegen::CodeConfig config =
        PtxConfig("cuda:sm_80", static_cast<uint32_t>(seed % 4), static_cast<codegen::FloatMode>(seed % 3));
    driver::CompileOptions options;
    options.check_bounds = seed % 5 == 1;
    options.keep_asserts = seed % 5 == 2;
    config.debug_lines = seed % 5 == 3;
    config.sources = &lowered->sources;
    Assembled assembled = Assemble(PtxFor(*lowered, config, options), "sm_80");
    INFO("seed " << seed << "\n" << text << assembled.output);
    CHECK(assembled.good);
  }
}
