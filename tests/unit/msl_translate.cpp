// SPIR-V to Metal source: what the text looks like, and that it computes what the module says.

#include <cmath>
#include <cstring>

#include "codegen/msl/join.h"
#include "codegen/msl/translate.h"
#include "msl_host/runner.h"
#include "msl_support.h"

namespace {

using namespace adc;
using namespace adc::msl_tests;

// words: {iterations, threads, steps}. Entry one: for i = thread; i < iterations; i += threads: a recurrence
// of `steps` steps from x[i], which stores into x[i] while it is large; the result is added to loss[0] by
// compare-exchange on its bits. Entry two: flags[i] = f(x[i]) > 0. Both call f(x) = x - x*x*x.
const char* kTwoEntries = R"(
%helper = OpFunction %f32 None %one_f32
%hx = OpFunctionParameter %f32
%hl = OpLabel
%hy = OpFMul %f32 %hx %hx
%hz = OpFMul %f32 %hy %hx
%hr = OpFSub %f32 %hx %hz
OpReturnValue %hr
OpFunctionEnd

%entry0 = OpFunction %void None %task
%l0 = OpLabel
%tp = OpAccessChain %pgid_x %gid %u32_0
%t32 = OpLoad %u32 %tp
%t = OpUConvert %u64 %t32
%np = OpAccessChain %pu64 %words %u32_0 %u64_0
%n = OpLoad %u64 %np
%thp = OpAccessChain %pu64 %words %u32_0 %u64_1
%threads = OpLoad %u64 %thp
OpBranch %head
%head = OpLabel
%i = OpPhi %u64 %t %l0 %inext %cont
%inside = OpULessThan %bool %i %n
OpLoopMerge %done %cont None
OpBranchConditional %inside %body %done
%body = OpLabel
%xp = OpAccessChain %pf32 %x %u32_0 %i
%xv = OpLoad %f32 %xp
%w3p = OpAccessChain %pu64 %words %u32_0 %u64_2
%w3 = OpLoad %u64 %w3p
%steps = OpUConvert %u32 %w3
OpBranch %ihead
%ihead = OpLabel
%k = OpPhi %u32 %u32_0 %body %knext %icont
%a = OpPhi %f32 %xv %body %anext %icont
%a2 = OpPhi %f32 %f32_0 %body %a %icont
%kin = OpSLessThan %bool %k %steps
OpLoopMerge %idone %icont None
OpBranchConditional %kin %ibody %idone
%ibody = OpLabel
%s = OpFunctionCall %f32 %helper %a
%s2 = OpFAdd %f32 %s %a2
%anext = OpFAdd %f32 %s2 %f32_tenth
%isbig = OpFOrdGreaterThan %bool %anext %f32_tenth
OpSelectionMerge %m None
OpBranchConditional %isbig %bt %m
%bt = OpLabel
OpStore %xp %anext
OpBranch %m
%m = OpLabel
OpBranch %icont
%icont = OpLabel
%knext = OpIAdd %u32 %k %u32_1
OpBranch %ihead
%idone = OpLabel
%lp = OpAccessChain %pu32 %loss %u32_0 %u64_0
%first = OpLoad %u32 %lp
OpBranch %ch
%ch = OpLabel
%seen = OpPhi %u32 %first %idone %got %cc
OpLoopMerge %cd %cc None
OpBranch %cb
%cb = OpLabel
%sf = OpBitcast %f32 %seen
%sum = OpFAdd %f32 %sf %a
%sumu = OpBitcast %u32 %sum
%got = OpAtomicCompareExchange %u32 %lp %u32_1 %u32_0 %u32_0 %sumu %seen
%same = OpIEqual %bool %got %seen
OpBranchConditional %same %cd %cc
%cc = OpLabel
OpBranch %ch
%cd = OpLabel
OpBranch %cont
%cont = OpLabel
%inext = OpIAdd %u64 %i %threads
OpBranch %head
%done = OpLabel
OpReturn
OpFunctionEnd

%entry1 = OpFunction %void None %task
%e1l = OpLabel
%e1tp = OpAccessChain %pgid_x %gid %u32_0
%e1t32 = OpLoad %u32 %e1tp
%e1xp = OpAccessChain %pf32 %x %u32_0 %e1t32
%e1xv = OpLoad %f32 %e1xp
%e1s = OpFunctionCall %f32 %helper %e1xv
%e1b = OpFOrdGreaterThan %bool %e1s %f32_0
%e1fp = OpAccessChain %pu8 %flags %u32_0 %e1t32
%e1w = OpSelect %u8 %e1b %u8_1 %u8_0
OpStore %e1fp %e1w
OpReturn
OpFunctionEnd
)";

const std::string kFirst = "adc_k__x_2Egrad_t0", kSecond = "adc_k__x_2Egrad_t1";

std::vector<uint8_t> TwoEntries() {
  return Assemble(Preamble({{"entry0", kFirst}, {"entry1", kSecond}},
                           {{"words", "u64", 0}, {"x", "f32", 3}, {"loss", "u32", 6}, {"flags", "u8", 30}}) +
                  kTwoEntries);
}

size_t Count(const std::string& text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

std::unique_ptr<msl_host::Library> Compile(const std::string& text) {
  std::string error;
  auto library = msl_host::Library::Compile(text, error);
  INFO(text << error);
  REQUIRE(library);
  return library;
}

}  // namespace

TEST_CASE("one Metal text holds every entry under its own name, and shared declarations once") {
  std::string symbols[] = {kFirst, kSecond};
  for (const char* name : {"metal:2.4", "metal:3.0"}) {
    auto msl = codegen::TranslateToMsl(TwoEntries(), symbols, Metal(name));
    REQUIRE(msl);
    const std::string& text = msl->text;
    CHECK(text.starts_with("#include <metal_stdlib>\nusing namespace metal;\n"));
    CHECK(text.ends_with("}\n"));
    CHECK(msl->lines == Count(text, "\n"));
    CHECK(Count(text, "#include") == 1);
    CHECK(Count(text, "float polynomial(") == 1);
    CHECK(Count(text, "kernel void " + kFirst + "(") == 1);
    CHECK(Count(text, "kernel void " + kSecond + "(") == 1);
    CHECK(Count(text, "& x [[buffer(3)]]") == 2);
    CHECK(Count(text, "& flags [[buffer(30)]]") == 1);
    CHECK(Count(text, "[[buffer(") == 5);
  }
}

TEST_CASE("equal modules give equal Metal text") {
  std::string symbols[] = {kFirst, kSecond};
  auto once = codegen::TranslateToMsl(TwoEntries(), symbols, Metal());
  auto again = codegen::TranslateToMsl(TwoEntries(), symbols, Metal());
  REQUIRE(once);
  REQUIRE(again);
  CHECK(once->text == again->text);
}

TEST_CASE("translated entries compute what the module says") {
  std::string symbols[] = {kFirst, kSecond};
  auto msl = codegen::TranslateToMsl(TwoEntries(), symbols, Metal());
  REQUIRE(msl);
  auto library = Compile(msl->text);
  auto first = library->Find(kFirst), second = library->Find(kSecond);
  REQUIRE(first);
  REQUIRE(second);

  uint64_t words[] = {5, 2, 3};
  float x[] = {0.25f, -0.5f, 0.75f, -0.125f, 1.5f}, want_x[5], want_loss = 0, loss = 0;
  for (int start = 0; start < 2; ++start) {
    for (int i = start; i < 5; i += 2) {
      want_x[i] = x[i];
      float a = x[i], last = 0;
      for (int k = 0; k < 3; ++k) {
        float next = (a - a * a * a) + last + 0.1f;
        if (next > 0.1f) want_x[i] = next;
        last = a;
        a = next;
      }
      want_loss += a;
    }
  }
  uint8_t flags[5] = {9, 9, 9, 9, 9};
  void* buffers[msl_host::kBuffers] = {};
  buffers[0] = words;
  buffers[3] = x;
  CHECK(first(buffers, 1, 2) == 7);  // buffer 6 is missing
  buffers[6] = &loss;
  buffers[30] = flags;
  REQUIRE(first(buffers, 1, 2) == 0);
  REQUIRE(second(buffers, 5, 1) == 0);
  CHECK(loss == Approx(want_loss).epsilon(1e-6));
  for (int i = 0; i < 5; ++i) {
    CHECK(x[i] == Approx(want_x[i]).epsilon(1e-6));
    CHECK(flags[i] == (x[i] - x[i] * x[i] * x[i] > 0 ? 1 : 0));
  }
}

TEST_CASE("a module that SPIRV-Cross refuses is an error with its reason") {
  std::string symbols[] = {std::string("adc_k_t0")};
  auto cut = TwoEntries();
  cut.resize(12);
  auto msl = codegen::TranslateToMsl(cut, symbols, Metal());
  REQUIRE(!msl);
  CHECK(msl.Failure().id == diag::ErrorId::E0620);

  auto missing = codegen::TranslateToMsl(TwoEntries(), symbols, Metal());
  REQUIRE(!missing);
  CHECK(missing.Failure().text.find("adc_k_t0") != std::string::npos);
}

TEST_CASE("helpers that share a name and differ are told apart") {
  const char* common =
      "#include <metal_stdlib>\n\nusing namespace metal;\n\nstruct _5\n{\n    float _m0[1];\n};\n\n";
  auto text = [&](const char* parameter, const char* entry) {
    return std::string(common) + "static inline __attribute__((always_inline))\nfloat f(float " + parameter +
           ")\n{\n    return " + parameter + ";\n}\n\nkernel void " + entry +
           "(device _5& y [[buffer(0)]])\n{\n" + "    y._m0[0] = f(2.0);\n}\n";
  };
  codegen::MslJoiner joiner;
  joiner.Add(text("x", "entry"), "entry", "first");
  joiner.Add(text("x_1", "entry"), "entry", "second");
  joiner.Add(text("x", "entry"), "entry", "third");
  std::string joined = joiner.Finish();
  CHECK(Count(joined, "struct _5") == 1);
  CHECK(Count(joined, "\nfloat f(float x)") == 1);
  CHECK(Count(joined, "\nfloat f_v1(float x_1)") == 1);
  CHECK(Count(joined, "= f(2.0)") == 2);
  CHECK(Count(joined, "= f_v1(2.0)") == 1);
  auto library = Compile(joined);
  CHECK(library->Find("first"));
  CHECK(library->Find("second"));
  CHECK(library->Find("third"));
}
