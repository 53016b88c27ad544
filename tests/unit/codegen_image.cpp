// What an image and an object are as files: what the loader may rely on.

#include <elf.h>

#include <catch2/catch.hpp>
#include <set>

#include "codegen/common/mangle.h"
#include "codegen_support.h"
#include "diag/errors/codegen.h"
#include "ir/module.h"

namespace {

using namespace adc;
using namespace adc::codegen_tests;

/// parallel %i in 0..%n { store %y[%i], (add (sin (load %x[%i])), (cos (load %x[%i]))) }
void AddSineKernel(Kernels& kernels, const std::string& name) {
  ir::Function& kernel = kernels.Add(name);
  ir::Value x = kernels.Param(kernel, ir::Type::Buffer(ir::kF32, 1), "x");
  ir::Value y = kernels.Param(kernel, ir::Type::Buffer(ir::kF32, 1), "y");
  ir::Value count = kernels.Param(kernel, ir::kI32, "n");
  ir::Builder b(kernels.module, kernel, kernel.Body());
  ir::Value bounds[] = {b.I32(0), count};
  ir::Inst loop = b.Parallel(bounds, 0);
  b.SetBlock(kernel[loop].regions[0]);
  ir::Value index = kernel[kernel[loop].regions[0]].params[0];
  ir::Value v = b.Load(x, {&index, 1});
  ir::Value sum = b.Make(ir::Op::Add, {b.Make(ir::Op::Sin, {v}), b.Make(ir::Op::Cos, {v})});
  b.Access(ir::Op::Store, y, {&index, 1}, {&sum, 1});
  b.Yield({});
}

template <class T>
T At(const std::vector<uint8_t>& bytes, uint64_t offset) {
  REQUIRE(offset + sizeof(T) <= bytes.size());
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

codegen::TargetCode Compile(const Kernels& kernels, const codegen::CodeConfig& config) {
  auto code = test::EmitRaised(codegen::EmitCpu, kernels.module, kernels.All(), config);
  REQUIRE(code.Ok());
  return std::move(*code);
}

std::set<std::string> Imports(const std::vector<uint8_t>& image) {
  auto header = At<Elf64_Ehdr>(image, 0);
  uint64_t symbols = 0, strings = 0, count = 0;
  for (uint16_t n = 0; n < header.e_phnum; ++n) {
    auto segment = At<Elf64_Phdr>(image, header.e_phoff + n * sizeof(Elf64_Phdr));
    if (segment.p_type != PT_DYNAMIC) continue;
    for (uint64_t offset = segment.p_offset; offset < segment.p_offset + segment.p_filesz;
         offset += sizeof(Elf64_Dyn)) {
      auto entry = At<Elf64_Dyn>(image, offset);
      if (entry.d_tag == DT_SYMTAB) symbols = entry.d_un.d_ptr;
      if (entry.d_tag == DT_STRTAB) strings = entry.d_un.d_ptr;
      if (entry.d_tag == DT_HASH) count = At<uint32_t>(image, entry.d_un.d_ptr + 4);
    }
  }
  // The first segment maps the file from its start, so these addresses are offsets.
  std::set<std::string> names;
  for (uint64_t n = 1; n < count; ++n) {
    auto symbol = At<Elf64_Sym>(image, symbols + n * sizeof(Elf64_Sym));
    if (symbol.st_shndx == SHN_UNDEF)
      names.insert(reinterpret_cast<const char*>(image.data() + strings + symbol.st_name));
  }
  return names;
}

}  // namespace

TEST_CASE("an image holds the segments that the loader maps and nothing else") {
  for (const target::Target& target : target::AllTargets()) {
    if (!target.IsCpu()) continue;
    Kernels kernels;
    AddSineKernel(kernels, "wave.grad");
    codegen::TargetCode code = Compile(kernels, ConfigFor(target));
    auto header = At<Elf64_Ehdr>(ImageOf(code), 0);
    INFO(target.name);
    CHECK(header.e_type == ET_DYN);
    CHECK(header.e_machine == (target.arch == target::Arch::X86_64 ? EM_X86_64 : EM_AARCH64));
    std::set<uint32_t> allowed = {PT_LOAD, PT_DYNAMIC, PT_PHDR};
    for (uint16_t n = 0; n < header.e_phnum; ++n) {
      auto segment = At<Elf64_Phdr>(ImageOf(code), header.e_phoff + n * sizeof(Elf64_Phdr));
      CHECK(allowed.count(segment.p_type) == 1);
      CHECK((segment.p_flags & (PF_W | PF_X)) != (PF_W | PF_X));
      if (segment.p_type != PT_DYNAMIC) continue;
      for (uint64_t at = segment.p_offset; at < segment.p_offset + segment.p_filesz;
           at += sizeof(Elf64_Dyn)) {
        auto entry = At<Elf64_Dyn>(ImageOf(code), at);
        CHECK(entry.d_tag != DT_NEEDED);
        CHECK(entry.d_tag != DT_INIT_ARRAY);
        CHECK(entry.d_tag != DT_INIT);
      }
    }
    CHECK(Imports(ImageOf(code)) == std::set<std::string>{"sincosf"});
    REQUIRE((code.entries.size() == 1 && code.entries[0].size() == 1));
    CHECK(code.entries[0][0].symbol == "adc_wave_2Egrad_t0");
    auto object = At<Elf64_Ehdr>(code.Find(codegen::PayloadKind::Object)->bytes, 0);
    CHECK(object.e_type == ET_REL);
    CHECK(object.e_machine == header.e_machine);
  }
}

TEST_CASE("the same module gives the same bytes, wherever the linker works") {
  target::Target target = *target::FindTarget("cpu:v3");
  std::vector<uint8_t> first;
  for (const char* folder : {"/tmp", "/dev/shm"}) {
    setenv("TMPDIR", folder, 1);
    Kernels kernels;
    AddSineKernel(kernels, "wave");
    AddSineKernel(kernels, "wave.grad");
    codegen::TargetCode code = Compile(kernels, ConfigFor(target));
    if (first.empty()) first = ImageOf(code);
    CHECK(first == ImageOf(code));
  }
  unsetenv("TMPDIR");
}

TEST_CASE("code is linked without a folder for temporary files") {
  setenv("TMPDIR", "/nonexistent-folder", 1);
  Kernels kernels;
  AddSineKernel(kernels, "wave");
  auto code = test::EmitRaised(codegen::EmitCpu, kernels.module, kernels.All(),
                               ConfigFor(*target::FindTarget("cpu")));
  unsetenv("TMPDIR");
  CHECK(code.Ok());
}

TEST_CASE("what a target cannot hold is refused with its place") {
  Kernels kernels;
  ir::Function& kernel = kernels.Add("large");
  ir::Value out = kernels.Param(kernel, ir::Type::Buffer(ir::kF32, 1), "out");
  ir::Builder b(kernels.module, kernel, kernel.Body());
  b.SetSpan({7, 9});
  ir::Value bounds[] = {b.I32(0), b.I32(4)};
  ir::Inst loop = b.Parallel(bounds, 0);
  b.SetBlock(kernel[loop].regions[0]);
  ir::Value index = kernel[kernel[loop].regions[0]].params[0];
  ir::Value array = b.Alloca(ir::Type::Array(ir::kF32, 1u << 20));
  ir::Value v = b.Load(array, {&index, 1});
  b.Access(ir::Op::Store, out, {&index, 1}, {&v, 1});
  b.Yield({});
  auto code = test::EmitRaised(codegen::EmitCpu, kernels.module, kernels.All(),
                               ConfigFor(*target::FindTarget("cpu")));
  REQUIRE(!code.Ok());
  CHECK(code.Failure().id == diag::E0601);
  CHECK(code.Failure().span.begin == 7);
}

TEST_CASE("line tables name the source file") {
  diag::SourceManager sources;
  uint32_t base = sources.AddFile("folder/wave.ir", "kernel\n@wave\n");
  Kernels kernels;
  AddSineKernel(kernels, "wave");
  ir::Function& kernel = *kernels.module.functions[0];
  for (uint32_t n = 0; n < kernel.InstCount(); ++n) kernel[ir::Inst(n)].span = {base + 7, base + 9};
  codegen::CodeConfig config = ConfigFor(*target::FindTarget("cpu"));
  config.debug_lines = true;
  config.sources = &sources;
  config.want_llvm_text = true;
  codegen::TargetCode code = Compile(kernels, config);
  std::string bytes(ImageOf(code).begin(), ImageOf(code).end());
  CHECK(bytes.find("folder/wave.ir") != std::string::npos);
  CHECK(bytes.find(".debug_line") != std::string::npos);
  CHECK(code.llvm_text.find("DILocation(line: 2") != std::string::npos);
}

TEST_CASE("entry symbols hold letters, digits and underscores alone") {
  Kernels kernels;
  AddSineKernel(kernels, "a.b_c.grad");
  codegen::TargetCode code = Compile(kernels, ConfigFor(*target::FindTarget("cpu")));
  CHECK(code.entries[0][0].symbol == "adc_a_2Eb_c_2Egrad_t0");
}

TEST_CASE("kernels of two names have two entry symbols") {
  CHECK(codegen::EntrySymbol("a_32_b", 0) == "adc_a_32_b_t0");
  // Names that would meet if an underscore were always itself.
  std::set<std::string> symbols;
  for (const char* name : {"a.b", "a_2Eb", "a_5F2Eb", "a_5F5F2Eb", "a__2Eb", "a_.b", "a_", "a_5F", "a._"})
    symbols.insert(codegen::EntrySymbol(name, 0));
  CHECK(symbols.size() == 9);
}
