// SPIR-V to Metal source: what the text looks like, and that it computes what the module says.

#include <array>
#include <cmath>
#include <cstring>

#include "codegen/msl/join.h"
#include "codegen/msl/translate.h"
#include "diag/errors/codegen.h"
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

codegen::EntryCode Entry(const std::string& symbol, std::vector<codegen::Binding> bindings) {
  codegen::EntryCode entry;
  entry.symbol = symbol;
  entry.bindings = std::move(bindings);
  return entry;
}

codegen::Binding Param(uint32_t number, uint32_t param, ir::Scalar scalar) {
  return {number, codegen::BindingOf::Param, param, scalar};
}

std::vector<uint8_t> TwoEntriesBytes() {
  return Assemble(Preamble({{"entry0", kFirst}, {"entry1", kSecond}},
                           {{"words", "u64", 0}, {"x", "f32", 3}, {"loss", "u32", 6}, {"flags", "u8", 30}}) +
                  kTwoEntries);
}

/// What the SPIR-V printer would give for the module.
codegen::TargetCode TwoEntries() {
  codegen::TargetCode code;
  code.payloads.push_back({codegen::PayloadKind::Spirv, TwoEntriesBytes()});
  codegen::Binding words = {0, codegen::BindingOf::Words, 0, ir::Scalar::U64};
  code.entries = {{Entry(kFirst, {Param(3, 0, ir::Scalar::F32), Param(6, 1, ir::Scalar::U32),
                                  Param(30, 2, ir::Scalar::U8), words}),
                   Entry(kSecond, {Param(3, 0, ir::Scalar::F32), Param(30, 2, ir::Scalar::U8)})}};
  return code;
}

/// The text of a translation that succeeds.
std::string Translated(codegen::TargetCode& code, const char* target = "metal:2.4") {
  std::vector<std::string> names[] = {{"x", "loss.adj", "0"}};
  diag::Status done = codegen::TranslateToMsl(Metal(target), names, code);
  INFO(done.Failure().text);
  REQUIRE(done);
  REQUIRE(code.payloads.size() == 1);
  REQUIRE(code.payloads[0].kind == codegen::PayloadKind::Msl);
  return {code.payloads[0].bytes.begin(), code.payloads[0].bytes.end()};
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
  for (const char* name : {"metal:2.4", "metal:3.0"}) {
    codegen::TargetCode code = TwoEntries();
    std::string text = Translated(code, name);
    INFO(text);
    CHECK(text.starts_with("#include <metal_stdlib>\nusing namespace metal;\n"));
    CHECK(text.ends_with("}\n"));
    CHECK(Count(text, "#include") == 1);
    CHECK(Count(text, "float polynomial(float ") == 1);
    CHECK(Count(text, "kernel void " + kFirst + "(") == 1);
    CHECK(Count(text, "kernel void " + kSecond + "(") == 1);
  }
}

TEST_CASE("bindings are those that the code uses, the words first, numbered from 0") {
  codegen::TargetCode code = TwoEntries();
  std::string text = Translated(code);
  const std::vector<codegen::Binding>& first = code.entries[0][0].bindings;
  REQUIRE(first.size() == 3);  // flags are not used by it
  CHECK(first[0].of == codegen::BindingOf::Words);
  CHECK(first[1].param == 0);
  CHECK(first[2].param == 1);
  for (uint32_t n = 0; n < 3; ++n) CHECK(first[n].number == n);
  CHECK(Count(text, "device u64_buffer& words [[buffer(0)]]") == 1);
  CHECK(Count(text, "device f32_buffer& x_f32 [[buffer(1)]]") == 1);
  CHECK(Count(text, "device u32_buffer& loss_adj_u32 [[buffer(2)]]") == 1);
  CHECK(Count(text, "device f32_buffer& x_f32 [[buffer(0)]]") == 1);
  CHECK(Count(text, "device u8_buffer& p0_u8 [[buffer(1)]]") == 1);
}

TEST_CASE("equal modules give equal Metal text") {
  codegen::TargetCode once = TwoEntries(), again = TwoEntries();
  CHECK(Translated(once) == Translated(again));
}

TEST_CASE("translated entries compute what the module says") {
  codegen::TargetCode code = TwoEntries();
  auto library = Compile(Translated(code));
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
  void* buffers[msl_host::kBuffers] = {words, x};
  CHECK(first(buffers, 1, 2) == 3);  // buffer 2 is missing
  buffers[2] = &loss;
  REQUIRE(first(buffers, 1, 2) == 0);
  void* others[msl_host::kBuffers] = {x, flags};
  REQUIRE(second(others, 5, 1) == 0);
  CHECK(loss == Approx(want_loss).epsilon(1e-6));
  for (int i = 0; i < 5; ++i) {
    CHECK(x[i] == Approx(want_x[i]).epsilon(1e-6));
    CHECK(flags[i] == (x[i] - x[i] * x[i] * x[i] > 0 ? 1 : 0));
  }
}

TEST_CASE("buffers beyond Metal's 31 go through a table of addresses") {
  constexpr uint32_t kCount = 40;
  std::vector<Buffer> buffers;
  std::vector<codegen::Binding> bindings;
  std::string body = "%entry = OpFunction %void None %task\n%start = OpLabel\n";
  for (uint32_t n = 0; n < kCount; ++n) {
    std::string name = "p" + std::to_string(n);
    buffers.push_back({name, "u32", n});
    bindings.push_back(Param(n, n, ir::Scalar::U32));
    if (n == 7) continue;  // not used: the numbers behind it move up
    body += "%at" + name + " = OpAccessChain %pu32 %" + name + " %u32_0 %u32_1\nOpStore %at" + name + " %c" +
            name + "\n";
  }
  std::string constants;
  for (uint32_t n = 0; n < kCount; ++n) {
    constants += "%cp" + std::to_string(n) + " = OpConstant %u32 " + std::to_string(n + 100) + "\n";
  }
  codegen::TargetCode code;
  std::string text =
      Preamble({{"entry", "adc_many_t0"}}, buffers) + constants + body + "OpReturn\nOpFunctionEnd\n";
  text.erase(text.find("OpName %helper"), std::string("OpName %helper \"polynomial\"\n").size());
  code.payloads.push_back({codegen::PayloadKind::Spirv, Assemble(text)});
  code.entries = {{Entry("adc_many_t0", bindings)}};
  std::string msl = Translated(code);
  INFO(msl);
  const std::vector<codegen::Binding>& used = code.entries[0][0].bindings;
  REQUIRE(used.size() == kCount - 1);
  CHECK(used[7].param == 8);
  CHECK(Count(msl, "[[buffer(29)]]") == 1);
  CHECK(Count(msl, "[[buffer(30)]]") == 1);
  CHECK(Count(msl, "[[buffer(31)]]") == 0);

  std::vector<std::array<uint32_t, 2>> memory(kCount);
  void* arguments[msl_host::kBuffers] = {};
  std::vector<void*> table(used.size() - 30);
  for (const codegen::Binding& binding : used) {
    (binding.number < 30 ? arguments[binding.number] : table[binding.number - 30]) =
        memory[binding.param].data();
  }
  arguments[30] = table.data();
  REQUIRE(Compile(msl)->Find("adc_many_t0")(arguments, 1, 1) == 0);
  for (uint32_t n = 0; n < kCount; ++n) CHECK(memory[n][1] == (n == 7 ? 0 : n + 100));
}

TEST_CASE("a module that SPIRV-Cross refuses is an error with its reason") {
  codegen::TargetCode cut = TwoEntries();
  cut.payloads[0].bytes.resize(12);
  diag::Status done = codegen::TranslateToMsl(Metal(), {}, cut);
  REQUIRE(!done);
  CHECK(done.Failure().id == diag::E0620);

  codegen::TargetCode missing = TwoEntries();
  missing.entries[0][0].symbol = "adc_k_t0";
  done = codegen::TranslateToMsl(Metal(), {}, missing);
  REQUIRE(!done);
  CHECK(done.Failure().text.find("adc_k_t0") != std::string::npos);
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
  joiner.Add(text("x", "entry"), "entry", "first", 64);
  joiner.Add(text("x_1", "entry"), "entry", "second", 64);
  joiner.Add(text("x", "entry"), "entry", "third", 64);
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
