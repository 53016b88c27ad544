// HSACO read back: descriptors, arguments, and the instructions that must be there.

#include <set>

#include "../support/folders.h"
#include "analysis/tasks.h"
#include "artifact/gpu_abi.h"
#include "codegen/amdgpu/emit.h"
#include "codegen/common/launch_words.h"
#include "codegen/common/mangle.h"
#include "codegen/llvm/disassemble.h"
#include "codegen/llvm/gpu_task.h"
#include "hsaco.h"
#include "lowered.h"
#include "raised.h"

namespace {

using namespace adc;
using namespace adc::test;
using Catch::Matchers::Contains;

struct Processor {
  const char* target;
  uint32_t mach;
  uint32_t wave;
  bool adds_f32, adds_f64;  ///< to global memory, as an instruction
};
const Processor kProcessors[] = {
    {"hip:gfx90a", llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX90A, 64, true, true},
    {"hip:gfx942", llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX942, 64, true, true},
    {"hip:gfx1030", llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX1030, 32, false, false},
    {"hip:gfx1100", llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX1100, 32, true, false},
    {"hip:gfx1200", llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX1200, 32, true, false},
};

codegen::CodeConfig ConfigFor(const std::string& target, uint32_t optimise = 2) {
  codegen::CodeConfig config;
  config.target = target::FindTarget(target).value();
  config.optimise = optimise;
  return config;
}

codegen::TargetCode CodeFor(const LoweredModule& lowered, const codegen::CodeConfig& config,
                            const driver::CompileOptions& options = {}) {
  auto code = EmitRaised(codegen::EmitAmdgpu, *lowered.module, lowered.ToEmit(), config, options);
  if (!code) INFO(code.Failure().text);
  REQUIRE(code);
  return *code;
}

const std::vector<uint8_t>& BytesOf(const codegen::TargetCode& code) {
  const codegen::Payload* payload = code.Find(codegen::PayloadKind::Hsaco);
  REQUIRE(payload != nullptr);
  return payload->bytes;
}

std::string Disassembled(const codegen::TargetCode& code, const std::string& symbol) {
  diag::Result<std::string> text = codegen::Disassemble(BytesOf(code), symbol);
  REQUIRE(text.Ok());
  return *text;
}

std::string SamplePath(const std::string& name) {
  return adc::test::SourceFolder() + "/samples/" + name;
}

/// Holds every kernel of a code object against its entry and against the words that a launch of it has.
void CheckKernels(const LoweredModule& lowered, const codegen::TargetCode& code, const Processor& processor) {
  Hsaco hsaco = ReadHsaco(BytesOf(code));
  CHECK(hsaco.system == llvm::ELF::ELFOSABI_AMDGPU_HSA);
  CHECK(hsaco.version == llvm::ELF::ELFABIVERSION_AMDGPU_HSA_V5);
  CHECK(hsaco.processor == processor.mach);
  CHECK(hsaco.target == "amdgcn-amd-amdhsa--" + std::string(processor.target).substr(4));
  CHECK(hsaco.metadata_version == std::vector<uint64_t>{1, 2});
  std::vector<codegen::KernelToEmit> kernels = lowered.ToEmit();
  size_t entries = 0;
  for (size_t n = 0; n < kernels.size(); ++n) {
    for (size_t task = 0; task < code.entries[n].size(); ++task, ++entries) {
      const codegen::EntryCode& entry = code.entries[n][task];
      INFO(processor.target << " " << entry.symbol);
      REQUIRE(hsaco.kernels.count(entry.symbol) == 1);
      const HsacoKernel& kernel = hsaco.kernels[entry.symbol];
      const codegen::TaskRows* rows = task < kernels[n].tasks.size() ? &kernels[n].tasks[task] : nullptr;
      uint32_t words = codegen::GpuWordCount(*kernels[n].kernel, rows);
      REQUIRE(kernel.arguments.size() == words);
      std::set<std::string> names;
      for (size_t word = 0; word < words; ++word) {
        const HsacoArgument& argument = kernel.arguments[word];
        INFO(argument.name);
        CHECK(argument.offset == 8 * word);
        CHECK(argument.size == 8);
        CHECK((argument.kind == "by_value" || argument.kind == "global_buffer"));
        CHECK(names.insert(argument.name).second);
      }
      uint32_t position = 0;
      for (ir::Value param : kernels[n].kernel->Params()) {
        ir::Type type = kernels[n].kernel->TypeOf(param);
        bool address = type.IsBuffer() || type.IsLayout();
        CHECK(kernel.arguments[position].kind == (address ? "global_buffer" : "by_value"));
        position += type.IsBuffer() ? 1 + type.count : type.IsLayout() ? 1 : type.Components();
      }
      const char* const tail[] = {"heap", "status", "iterations", "threads"};
      for (size_t word = 0; word < 4; ++word) {
        CHECK(kernel.arguments[words - 4 + word].name == tail[word]);
        CHECK(kernel.arguments[words - 4 + word].kind == (word < 2 ? "global_buffer" : "by_value"));
      }
      CHECK(kernel.kernarg_bytes == 8 * words);
      CHECK(kernel.kernarg_alignment == 8);
      CHECK(kernel.wave == processor.wave);
      CHECK(kernel.largest_block == entry.block_size);
      CHECK(kernel.shared_bytes == entry.shared_bytes);
      CHECK_FALSE(kernel.dynamic_stack);
      CHECK(kernel.symbol == entry.symbol + ".kd");
      CHECK(kernel.code_bytes > 0);
      const llvm::amdhsa::kernel_descriptor_t& descriptor = kernel.descriptor;
      CHECK(descriptor.kernarg_size == 8 * words);
      CHECK(descriptor.group_segment_fixed_size == entry.shared_bytes);
      CHECK(descriptor.private_segment_fixed_size == kernel.private_bytes);
      using namespace llvm::amdhsa;
      uint32_t properties = descriptor.kernel_code_properties;
      CHECK(AMDHSA_BITS_GET(properties, KERNEL_CODE_PROPERTY_ENABLE_SGPR_KERNARG_SEGMENT_PTR) == 1);
      CHECK(AMDHSA_BITS_GET(properties, KERNEL_CODE_PROPERTY_ENABLE_SGPR_DISPATCH_PTR) == 0);
      CHECK(AMDHSA_BITS_GET(properties, KERNEL_CODE_PROPERTY_ENABLE_SGPR_QUEUE_PTR) == 0);
      CHECK(AMDHSA_BITS_GET(properties, KERNEL_CODE_PROPERTY_ENABLE_SGPR_DISPATCH_ID) == 0);
      CHECK(AMDHSA_BITS_GET(properties, KERNEL_CODE_PROPERTY_ENABLE_WAVEFRONT_SIZE32) ==
            (processor.wave == 32 ? 1u : 0u));
    }
  }
  CHECK(hsaco.kernels.size() == entries);
}

/// Parameters %p0 to %pN of i32, all of which the kernel reads.
std::string SumOfNumbers(int count) {
  std::string text = "kernel @sum(%y: buffer<i32, 1>";
  for (int n = 0; n < count; ++n) text += ", %p" + std::to_string(n) + ": i32";
  text += ") {\n parallel %i in 0..shape(%y, 0) {\n %s0 = load %y[%i]\n";
  for (int n = 0; n < count; ++n) {
    std::string number = std::to_string(n);
    text += " %s" + std::to_string(n + 1) + " = add (mul %s" + number + ", 3), %p" + number + "\n";
  }
  return text + " store %y[%i], %s" + std::to_string(count) + "\n }\n}\n";
}

const char* const kUpdates = R"(
kernel @updates(%at: buffer<i32, 1> readonly, %f: buffer<f32, 1>, %d: buffer<f64, 1>, %k: buffer<i32, 1>,
                %w: buffer<i64, 1>) {
  parallel %i in 0..shape(%at, 0) {
    %j = load %at[%i]
    atomic add %f[%j], 1.5
    atomic add %d[%j], 2.5
    atomic add %k[%j], 3
    atomic add %w[%j], 4
    %old = atomic compare_exchange %k[%i], 1, 2
    store %k[%old], 7
  }
}
)";

const char* const kGated = R"(
kernel @gated(%x: buffer<f32, 1> diff, %y: buffer<f32, 1> diff, %n: i32) {
  parallel %i in 0..shape(%x, 0) {
    %v0 = load %x[%i]
    %far = gt %v0, 0.5
    if %far {
      %v = for %t in 0..%n carry(%a = %v0) {
        %s = sin %a
        %b = mul %s, %a
        yield %b
      }
      store %y[%i], %v
    }
  }
}
)";

const char* const kMath = R"(
kernel @math(%x: buffer<f64, 1>, %y: buffer<f32, 1>) {
  parallel %i in 0..shape(%x, 0) {
    %a = load %x[%i]
    %b = pow (exp %a), (tanh %a)
    %c = add (sinh %b), (erf %a)
    store %x[%i], %c
    %p = load %y[%i]
    store %y[%i], (atan2 (log %p), (cos %p))
  }
}
)";

/// A kernel that does everything with elements of a type that there is to do with it.
std::string EverythingWith(const std::string& type) {
  bool is_float = type[0] == 'f', is_signed = type[0] == 'i';
  std::vector<std::string> two = {"add", "sub", "mul", "div", "rem", "min", "max"};
  std::vector<std::string> one, updates = {"add", "sub", "min", "max", "exchange"};
  auto more = [](std::vector<std::string>& list, std::initializer_list<const char*> names) {
    list.insert(list.end(), names.begin(), names.end());
  };
  if (is_float || is_signed) more(one, {"neg", "abs", "sgn"});
  if (is_float) {
    more(two, {"pow", "atan2"});
    more(one, {"floor", "ceil", "round", "trunc", "sqrt", "rsqrt", "rcp",  "sin", "cos",  "tan", "asin",
               "acos",  "atan", "sinh",  "cosh",  "tanh", "exp",   "exp2", "log", "log2", "erf"});
  } else {
    more(two, {"mod", "and", "or", "xor", "shl", "shr"});
    more(one, {"not", "popcount", "clz"});
    more(updates, {"and", "or", "xor"});
  }
  std::string text = "kernel @all_" + type + "(%x: buffer<" + type + ", 1>, %y: buffer<" + type +
                     ", 1>) {\n" + "parallel %i in 0..shape(%x, 0) {\n%a = load %x[%i]\n%b = load %y[%i]\n";
  // Each to a cell of its own, so that none is dead.
  int cell = 0;
  auto store = [&](const std::string& value) {
    text += "store %x[" + std::to_string(++cell) + "], " + value + "\n";
  };
  for (const std::string& name : two) store("(" + name + " %a, %b)");
  for (const std::string& name : one) store("(" + name + " %a)");
  for (const std::string& name : updates) {
    text += "%u" + name + " = atomic " + name + " %y[%i], %a\n";
    store("%u" + name);
  }
  text += "%old = atomic compare_exchange %y[%i], %a, %b\n";
  store("%old");
  for (const char* other : {"i1", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "f32", "f64"})
    store("(cast (cast %a to " + std::string(other) + ") to " + type + ")");
  return text + "}\n}\n";
}

}  // namespace

TEST_CASE("511 words are parameters, and what lies beyond is loaded from a table") {
  for (const Processor& processor : kProcessors) {
    INFO(processor.target);
    auto most = LowerText(SumOfNumbers(505)), more = LowerText(SumOfNumbers(506));
    codegen::TargetCode direct = CodeFor(*most, ConfigFor(processor.target)),
                        with_table = CodeFor(*more, ConfigFor(processor.target));
    CheckKernels(*most, direct, processor);
    CHECK(direct.features.empty());
    CHECK(with_table.features == std::vector<std::string>{ADRT_GPU_TABLE_FEATURE});
    Hsaco hsaco = ReadHsaco(BytesOf(with_table));
    REQUIRE(hsaco.kernels.size() == 2);
    const HsacoKernel& kernel = hsaco.kernels[with_table.entries[0][0].symbol];
    REQUIRE(kernel.arguments.size() == 511);
    CHECK(kernel.arguments[505].name == "p503");
    CHECK(kernel.arguments[506].name == "adc.table");
    CHECK(kernel.arguments[506].kind == "global_buffer");
    CHECK(kernel.arguments[507].name == "heap");
    const HsacoKernel& writer = hsaco.kernels[ADRT_GPU_TABLE_WRITER];
    CHECK(writer.arguments.size() == 1 + ADRT_GPU_TABLE_CHUNK);
    CHECK(writer.largest_block == 1);
    CHECK(writer.kernarg_bytes == 8 * (1 + ADRT_GPU_TABLE_CHUNK));
    CHECK_THAT(Disassembled(with_table, ADRT_GPU_TABLE_WRITER), Contains("global_store"));
  }
}

TEST_CASE("every operation on every type can be generated") {
  std::string text;
  for (const char* type : {"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "f32", "f64"})
    text += EverythingWith(type);
  auto lowered = LowerText(text);
  for (uint32_t optimise : {0u, 2u}) {
    for (const Processor& processor : {kProcessors[1], kProcessors[2]})
      CheckKernels(*lowered, CodeFor(*lowered, ConfigFor(processor.target, optimise)), processor);
  }
}

TEST_CASE("every kernel of the samples says its arguments in order and without gaps") {
  for (const char* sample : {"relax.ir", "mpm_grid_op.ir", "cholesky.ir", "csr_reduce.ir"}) {
    auto lowered = LowerFile(SamplePath(sample));
    for (const Processor& processor : kProcessors)
      CheckKernels(*lowered, CodeFor(*lowered, ConfigFor(processor.target)), processor);
  }
}

TEST_CASE("arguments are named after the parameters") {
  auto lowered = LowerText(kGated);
  Hsaco hsaco = ReadHsaco(BytesOf(CodeFor(*lowered, ConfigFor("hip:gfx1100"))));
  std::vector<std::string> names;
  for (const HsacoArgument& argument : hsaco.kernels.at("adc_gated_2Egrad_t0").arguments)
    names.push_back(argument.name);
  CHECK(names == std::vector<std::string>{"x", "x.0", "y", "y.0", "n", "x.adj", "x.adj.0", "y.adj", "y.adj.0",
                                          "group0.offset", "group0.stride", "group0.rows", "group0.counter",
                                          "stack0.offset", "stack0.capacity", "heap", "status", "iterations",
                                          "threads"});
}

TEST_CASE("kernels read and write global memory") {
  auto lowered = LowerFile(SamplePath("relax.ir"));
  for (const Processor& processor : kProcessors) {
    codegen::TargetCode code = CodeFor(*lowered, ConfigFor(processor.target));
    for (const auto& tasks : code.entries) {
      for (const codegen::EntryCode& entry : tasks) {
        std::string text = Disassembled(code, entry.symbol);
        INFO(processor.target << "\n" << text);
        CHECK_THAT(text, Contains("global_load_") && Contains("s_endpgm"));
        CHECK_THAT(text, !Contains("flat_load") && !Contains("scratch_") && !Contains("s_swappc"));
      }
    }
    // The sum leaves the kernel as an update of one cell, the gradient as stores.
    std::string sum = Disassembled(code, "adc_relax_t0"),
                gradient = Disassembled(code, "adc_relax_2Egrad_t0");
    INFO(processor.target << "\n" << sum << gradient);
    CHECK_THAT(sum, Contains("global_atomic_") && !Contains("global_store_"));
    CHECK_THAT(gradient, Contains("global_store_"));
  }
}

TEST_CASE("atomic updates are instructions where the processor has them") {
  auto lowered = LowerText(kUpdates);
  for (const Processor& processor : kProcessors) {
    codegen::TargetCode code = CodeFor(*lowered, ConfigFor(processor.target));
    CheckKernels(*lowered, code, processor);
    std::string text = Disassembled(code, code.entries[0][0].symbol);
    INFO(processor.target << "\n" << text);
    CHECK_THAT(text, Contains("global_atomic_add v") || Contains("global_atomic_add_u32"));
    CHECK_THAT(text, Contains("global_atomic_add_x2") || Contains("global_atomic_add_u64"));
    CHECK_THAT(text, Contains("global_atomic_cmpswap"));
    CHECK((text.find("global_atomic_add_f32") != std::string::npos) == processor.adds_f32);
    CHECK((text.find("global_atomic_add_f64") != std::string::npos) == processor.adds_f64);
    bool loops =
        text.find("cmpswap_x2") != std::string::npos || text.find("cmpswap_b64") != std::string::npos;
    CHECK(loops == !processor.adds_f64);
  }
}

TEST_CASE("lanes that claim rows together take them with one update") {
  auto lowered = LowerText(kGated);
  for (const Processor& processor : kProcessors) {
    codegen::TargetCode code = CodeFor(*lowered, ConfigFor(processor.target));
    CheckKernels(*lowered, code, processor);
    std::string text = Disassembled(code, "adc_gated_2Egrad_t0");
    INFO(processor.target << "\n" << text);
    CHECK_THAT(text, Contains("v_mbcnt_lo"));
    CHECK((text.find("v_mbcnt_hi") != std::string::npos) == (processor.wave == 64));
    CHECK_THAT(text, Contains("global_atomic_add") && Contains("v_readlane"));
  }
}

TEST_CASE("math is inlined into its kernel") {
  auto lowered = LowerText(kMath);
  for (const Processor& processor : kProcessors) {
    codegen::TargetCode code = CodeFor(*lowered, ConfigFor(processor.target));
    CheckKernels(*lowered, code, processor);
    std::string text = Disassembled(code, code.entries[0][0].symbol);
    CHECK_THAT(text, Contains("v_fma_f64") && Contains("v_fma_f32") && !Contains("s_swappc"));
  }
}

TEST_CASE("every level of optimisation and every check gives code objects") {
  auto lowered = LowerFile(SamplePath("cholesky.ir"));
  for (uint32_t optimise = 0; optimise <= 3; ++optimise) {
    for (bool checks : {false, true}) {
      codegen::CodeConfig config = ConfigFor("hip:gfx90a", optimise);
      driver::CompileOptions options;
      options.check_bounds = options.keep_asserts = checks;
      INFO("-O" << optimise << (checks ? " with checks" : ""));
      CheckKernels(*lowered, CodeFor(*lowered, config, options), kProcessors[0]);
    }
  }
}

TEST_CASE("equal kernels are equal bytes, and line tables are there when asked for") {
  auto lowered = LowerFile(SamplePath("relax.ir"));
  codegen::CodeConfig config = ConfigFor("hip:gfx942");
  codegen::TargetCode first = CodeFor(*lowered, config);
  auto again = LowerFile(SamplePath("relax.ir"));
  CHECK(BytesOf(first) == BytesOf(CodeFor(*again, config)));
  Hsaco plain = ReadHsaco(BytesOf(first));
  CHECK_FALSE(plain.has_symbol_table);
  CHECK_FALSE(plain.has_lines);
  config.debug_lines = true;
  config.sources = &lowered->sources;
  Hsaco lines = ReadHsaco(BytesOf(CodeFor(*lowered, config)));
  CHECK(lines.has_symbol_table);
  CHECK(lines.has_lines);
}
