#include <random>

#include "catch2/catch.hpp"
#include "codegen/llvm/disassemble.h"
#include "codegen/llvm/elf_link.h"
#include "codegen/llvm/machine.h"

namespace {

using namespace adc;
using Catch::Matchers::Contains;

/// Two functions, @twice and @thrice, that multiply a float.
std::vector<uint8_t> ObjectFor(const target::Target& target) {
  auto machine = codegen::MakeMachine(target, 2, codegen::FloatMode::Strict);
  llvm::LLVMContext context;
  llvm::Module module("code", context);
  module.setTargetTriple(target.triple);
  module.setDataLayout(machine->createDataLayout());
  llvm::Type* type = llvm::Type::getFloatTy(context);
  for (auto [name, factor] : {std::pair("twice", 2.0), std::pair("thrice", 3.0)}) {
    auto* function = llvm::Function::Create(llvm::FunctionType::get(type, {type}, false),
                                            llvm::GlobalValue::ExternalLinkage, name, module);
    function->setVisibility(llvm::GlobalValue::ProtectedVisibility);
    function->addFnAttr("target-cpu", target.processor);
    llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "", function));
    builder.CreateRet(builder.CreateFMul(function->getArg(0), llvm::ConstantFP::get(type, factor)));
  }
  diag::Result<std::vector<uint8_t>> object = codegen::MakeObject(module, *machine, {});
  REQUIRE(object.Ok());
  return *object;
}

TEST_CASE("Code of every processor that makes ELF files is disassembled", "[llvm]") {
  for (const target::Target& target : target::AllTargets()) {
    if (target.kind != target::Kind::Cpu && target.kind != target::Kind::Hip) continue;
    INFO(target.name);
    diag::Result<std::string> all = codegen::Disassemble(ObjectFor(target), "");
    REQUIRE(all.Ok());
    CHECK_THAT(*all, Contains("twice:\n") && Contains("thrice:\n"));
    const char* multiplies = target.kind == target::Kind::Hip       ? "v_mul_f32"
                             : target.arch == target::Arch::AArch64 ? "fmul"
                                                                    : "mulss";
    diag::Result<std::string> one = codegen::Disassemble(ObjectFor(target), "thrice");
    REQUIRE(one.Ok());
    CHECK_THAT(*one, Contains("thrice:\n") && !Contains("twice:\n") && Contains(multiplies));
  }
}

TEST_CASE("An image without its table of symbols is read by what it exports", "[llvm]") {
  target::Target target = *target::FindTarget("hip:gfx90a");
  const char* const arguments[] = {"-m", "elf64_amdgpu", "-s"};
  auto image = codegen::LinkElf(ObjectFor(target), arguments, "test");
  REQUIRE(image.Ok());
  diag::Result<std::string> text = codegen::Disassemble(*image, "twice");
  REQUIRE(text.Ok());
  CHECK_THAT(*text, Contains("s_setpc_b64"));
}

TEST_CASE("What cannot be disassembled says why", "[llvm]") {
  std::vector<uint8_t> object = ObjectFor(*target::FindTarget("hip:gfx1100"));
  diag::Result<std::string> missing = codegen::Disassemble(object, "nothing");
  REQUIRE_FALSE(missing.Ok());
  CHECK(missing.Failure().text == "cannot disassemble: no function 'nothing'");
  const uint8_t text[] = "no code at all";
  CHECK_FALSE(codegen::Disassemble(text, "").Ok());
  // Whatever the bytes: a text or a reason.
  std::mt19937 random(5);
  for (size_t n = 0; n < 2000; ++n) {
    std::vector<uint8_t> broken = object;
    for (int flips = 0; flips < 4; ++flips) broken[random() % broken.size()] ^= 1u << (random() % 8);
    broken.resize(broken.size() - random() % broken.size() * (n % 2));
    diag::Result<std::string> read = codegen::Disassemble(broken, "");
    CHECK((read.Ok() || !read.Failure().text.empty()));
  }
}

}  // namespace
