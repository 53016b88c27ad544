// The math functions of devices, run on this processor: the bodies that LinkMath brings in are compiled for
// the host and compared with the C library's long double functions, number by number.

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "catch2/catch.hpp"
#include "codegen/llvm/machine.h"
#include "codegen/llvm/math_library.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/Verifier.h"

namespace {

using namespace adc;
using codegen::MathLibrary;
using ir::Op, ir::Scalar;

using Reference = long double (*)(long double, long double);

struct Case {
  Op op;
  const char* name;
  uint32_t operands;
  double low, high;  ///< where most of the numbers come from
  double ulps;       ///< bound on the error in f32, and in f64
  Reference exact;
};

#define ADC_ONE(function) [](long double x, long double) { return std::function(x); }
#define ADC_TWO(function) [](long double x, long double y) { return std::function(x, y); }
const Case kCases[] = {
    {Op::Sin, "sin", 1, -100, 100, 2, ADC_ONE(sin)},  {Op::Cos, "cos", 1, -100, 100, 2, ADC_ONE(cos)},
    {Op::Tan, "tan", 1, -100, 100, 3, ADC_ONE(tan)},  {Op::Asin, "asin", 1, -1, 1, 2, ADC_ONE(asin)},
    {Op::Acos, "acos", 1, -1, 1, 2, ADC_ONE(acos)},   {Op::Atan, "atan", 1, -10, 10, 2, ADC_ONE(atan)},
    {Op::Sinh, "sinh", 1, -10, 10, 3, ADC_ONE(sinh)}, {Op::Cosh, "cosh", 1, -10, 10, 3, ADC_ONE(cosh)},
    {Op::Tanh, "tanh", 1, -5, 5, 2, ADC_ONE(tanh)},   {Op::Exp, "exp", 1, -50, 50, 1, ADC_ONE(exp)},
    {Op::Exp2, "exp2", 1, -50, 50, 1, ADC_ONE(exp2)}, {Op::Log, "log", 1, 0, 20, 2, ADC_ONE(log)},
    {Op::Log2, "log2", 1, 0, 20, 1, ADC_ONE(log2)},   {Op::Erf, "erf", 1, -5, 5, 1, ADC_ONE(erf)},
    {Op::Pow, "pow", 2, 0, 20, 1, ADC_TWO(pow)},      {Op::Atan2, "atan2", 2, -5, 5, 3, ADC_TWO(atan2)},
    {Op::Rem, "fmod", 2, -50, 50, 0, ADC_TWO(fmod)},
};

std::string Wrapper(const Case& c, Scalar scalar) {
  return std::string("try_") + c.name + (scalar == Scalar::F32 ? "_f32" : "_f64");
}

/// Instructions of AMD that are no instructions here, written out.
void ReplaceAmdIntrinsics(llvm::Module& module) {
  for (llvm::Function& function : llvm::make_early_inc_range(module)) {
    llvm::Intrinsic::ID id = function.getIntrinsicID();
    if (id != llvm::Intrinsic::amdgcn_rsq && id != llvm::Intrinsic::canonicalize) continue;
    for (llvm::User* user : llvm::make_early_inc_range(function.users())) {
      auto* call = llvm::cast<llvm::CallInst>(user);
      llvm::IRBuilder<> builder(call);
      llvm::Value* x = call->getArgOperand(0);
      if (id == llvm::Intrinsic::amdgcn_rsq)
        x = builder.CreateFDiv(llvm::ConstantFP::get(x->getType(), 1.0),
                               builder.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x));
      call->replaceAllUsesWith(x);
      call->eraseFromParent();
    }
    function.eraseFromParent();
  }
}

/// Every function of a library in one module, each behind a wrapper with a plain name.
std::unique_ptr<llvm::Module> Wrappers(llvm::LLVMContext& context, const MathLibrary& library,
                                       llvm::StringRef triple, const llvm::DataLayout& layout) {
  auto module = std::make_unique<llvm::Module>("math", context);
  module->setTargetTriple(triple);
  module->setDataLayout(layout);
  for (const Case& c : kCases) {
    for (Scalar scalar : {Scalar::F32, Scalar::F64}) {
      llvm::Type* type =
          scalar == Scalar::F32 ? llvm::Type::getFloatTy(context) : llvm::Type::getDoubleTy(context);
      auto* function =
          llvm::Function::Create(llvm::FunctionType::get(type, {type, type}, false),
                                 llvm::GlobalValue::ExternalLinkage, Wrapper(c, scalar), *module);
      llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "entry", function));
      llvm::SmallVector<llvm::Value*, 2> operands = {function->getArg(0)};
      if (c.operands == 2) operands.push_back(function->getArg(1));
      builder.CreateRet(codegen::EmitMath(builder, library, c.op, scalar, operands));
    }
  }
  return module;
}

template <class T>
double Ulps(T got, long double exact) {
  T want = static_cast<T>(exact);
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got) ? 0 : INFINITY;
  if (std::isinf(want) || std::isinf(got)) return want == got ? 0 : INFINITY;
  T size = std::max(std::fabs(want), std::numeric_limits<T>::min());
  T ulp = size - std::nextafter(size, T(0));
  return static_cast<double>(std::fabs(static_cast<long double>(got) - exact) / ulp);
}

template <class T>
void Compare(const Case& c, T (*function)(T, T)) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> range(c.low, c.high);
  const T special[] = {0,
                       -T(0),
                       1,
                       -1,
                       2,
                       -3,
                       T(0.5),
                       40,
                       -700,
                       T(1e30),
                       std::numeric_limits<T>::max(),
                       std::numeric_limits<T>::lowest(),
                       std::numeric_limits<T>::min(),
                       std::numeric_limits<T>::infinity(),
                       -std::numeric_limits<T>::infinity(),
                       std::numeric_limits<T>::quiet_NaN()};
  constexpr int kSpecial = static_cast<int>(std::size(special));
  double worst = 0;
  T worst_x = 0, worst_y = 0;
  for (int n = 0; n < 60000 + kSpecial * kSpecial; ++n) {
    T x = 0, y = 0;
    if (n < 30000) {
      x = static_cast<T>(range(random));
      y = static_cast<T>(range(random));
    } else if (n < 60000) {
      uint64_t bits[2] = {random(), random()};
      std::memcpy(&x, &bits[0], sizeof x);
      std::memcpy(&y, &bits[1], sizeof y);
      if (!std::isnormal(x) || !std::isnormal(y)) continue;
    } else {
      x = special[(n - 60000) / kSpecial];
      y = special[(n - 60000) % kSpecial];
    }
    long double exact = c.exact(x, y);
    // Below the normal numbers zero is as good as the exact result.
    double error = Ulps(function(x, y), exact);
    if (std::fabs(exact) < std::numeric_limits<T>::min() && function(x, y) == 0) error = 0;
    if (error > worst) worst = error, worst_x = x, worst_y = y;
  }
  INFO(c.name << (sizeof(T) == 4 ? " f32" : " f64") << ": " << worst << " ulp at " << worst_x << ", "
              << worst_y);
  CHECK(worst <= (sizeof(T) == 4 ? c.ulps : std::min(c.ulps, 2.0)));
}

void CompareAll(const char* device, const char* host) {
  MathLibrary library = codegen::MathLibraryOf(*target::FindTarget(device), "");
  target::Target here = *target::FindTarget(host);
  auto machine = codegen::MakeMachine(here, 2, codegen::FloatMode::Contract);
  auto context = std::make_unique<llvm::LLVMContext>();
  auto module = Wrappers(*context, library, here.triple, machine->createDataLayout());
  diag::Status linked = codegen::LinkMath(*module, library, here);
  REQUIRE(linked.Ok());
  ReplaceAmdIntrinsics(*module);
  REQUIRE_FALSE(llvm::verifyModule(*module));
  codegen::Optimise(*module, *machine, 2, {});
  auto jit = llvm::cantFail(llvm::orc::LLJITBuilder().create());
  llvm::cantFail(jit->addIRModule(llvm::orc::ThreadSafeModule(std::move(module), std::move(context))));
  for (const Case& c : kCases) {
    Compare<float>(c, llvm::cantFail(jit->lookup(Wrapper(c, Scalar::F32))).toPtr<float (*)(float, float)>());
    Compare<double>(c,
                    llvm::cantFail(jit->lookup(Wrapper(c, Scalar::F64))).toPtr<double (*)(double, double)>());
  }
}

#if defined(__x86_64__)
TEST_CASE("Math of NVIDIA targets is exact to a few units in the last place", "[llvm]") {
  CompareAll("cuda:sm_80", __builtin_cpu_supports("x86-64-v3") ? "cpu:x86-64-v3" : "cpu:x86-64");
}

TEST_CASE("Math of AMD targets is exact to a few units in the last place", "[llvm]") {
  CompareAll("hip:gfx1100", __builtin_cpu_supports("x86-64-v3") ? "cpu:x86-64-v3" : "cpu:x86-64");
}

TEST_CASE("Math without fused multiplication is as exact", "[llvm]") {
  CompareAll("cuda:sm_80", "cpu:x86-64");
}
#endif

TEST_CASE("Linking brings in what is called and nothing else", "[llvm]") {
  target::Target target = *target::FindTarget("hip:gfx90a");
  MathLibrary library = codegen::MathLibraryOf(target, "");
  llvm::LLVMContext context;
  llvm::Module module("math", context);
  module.setTargetTriple(target.triple);
  llvm::Type* type = llvm::Type::getDoubleTy(context);
  auto* entry = llvm::Function::Create(llvm::FunctionType::get(type, {type}, false),
                                       llvm::GlobalValue::ExternalLinkage, "entry", module);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "", entry));
  builder.CreateRet(codegen::EmitMath(builder, library, Op::Log, Scalar::F64, {entry->getArg(0)}));
  REQUIRE(codegen::LinkMath(module, library, target).Ok());
  CHECK(module.named_metadata_empty());
  for (const llvm::Function& function : module) {
    INFO(function.getName().str());
    if (&function == entry || function.isIntrinsic()) continue;
    CHECK(function.getName() == "_Z3logd");
    CHECK(function.hasInternalLinkage());
    CHECK(function.hasFnAttribute(llvm::Attribute::AlwaysInline));
    CHECK(function.getFnAttribute("target-cpu").getValueAsString() == "gfx90a");
    CHECK_FALSE(function.hasFnAttribute("frame-pointer"));
    CHECK_FALSE(function.hasFnAttribute(llvm::Attribute::Convergent));
  }
  for (const llvm::GlobalVariable& table : module.globals()) CHECK(table.hasInternalLinkage());
  CHECK_FALSE(llvm::verifyModule(module));
}

TEST_CASE("Tables that every thread reads elsewhere lie in global memory", "[llvm]") {
  target::Target target = *target::FindTarget("cuda:sm_80");
  llvm::LLVMContext context;
  auto module = Wrappers(context, codegen::MathLibraryOf(target, ""), target.triple,
                         llvm::DataLayout("e-i64:64-i128:128-v16:16-v32:32-n16:32:64"));
  REQUIRE(codegen::LinkMath(*module, codegen::MathLibraryOf(target, ""), target).Ok());
  CHECK_FALSE(llvm::verifyModule(*module));
  size_t tables = 0;
  for (const llvm::GlobalVariable& table : module->globals()) {
    INFO(table.getName().str());
    CHECK(table.isConstant());
    CHECK(table.getAddressSpace() == target.spaces.global);
    ++tables;
  }
  CHECK(tables > 10);
}

TEST_CASE("A module without calls opens no library", "[llvm]") {
  llvm::LLVMContext context;
  llvm::Module module("math", context);
  CHECK(
      codegen::LinkMath(module, {MathLibrary::Names::OpenCl, "/nowhere"}, *target::FindTarget("cuda")).Ok());
}

TEST_CASE("A math library that cannot be used says why", "[llvm]") {
  target::Target target = *target::FindTarget("cuda:sm_80");
  auto link = [&](const MathLibrary& library) {
    llvm::LLVMContext context;
    llvm::Module module("math", context);
    llvm::Type* type = llvm::Type::getFloatTy(context);
    auto* entry = llvm::Function::Create(llvm::FunctionType::get(type, {type}, false),
                                         llvm::GlobalValue::ExternalLinkage, "entry", module);
    llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "", entry));
    builder.CreateRet(codegen::EmitMath(builder, library, Op::Sin, Scalar::F32, {entry->getArg(0)}));
    diag::Status linked = codegen::LinkMath(module, library, target);
    return linked.Ok() ? std::string() : linked.Failure().text + " | " + linked.Failure().help;
  };
  using Catch::Matchers::Contains;
  CHECK_THAT(link(codegen::MathLibraryOf(target, "/nowhere/libdevice.10.bc")),
             Contains("'/nowhere/libdevice.10.bc'") && Contains("o such file") && Contains("--libdevice"));
  CHECK_THAT(link(codegen::MathLibraryOf(target, "/bin/sh")), Contains("bitcode header"));
  MathLibrary libclc = codegen::MathLibraryOf(target, "");
  CHECK_THAT(link({MathLibrary::Names::Libdevice, libclc.file}), Contains("it has no function '__nv_sinf'"));
  CHECK_THAT(link({MathLibrary::Names::OpenCl, "/nowhere"}), Contains("install libclc-19"));
  CHECK(link(libclc).empty());
}

#ifdef ADC_LIBDEVICE
TEST_CASE("A toolkit's libdevice gives every function, its questions answered", "[llvm]") {
  target::Target target = *target::FindTarget("cuda:sm_80");
  MathLibrary library = codegen::MathLibraryOf(target, ADC_LIBDEVICE);
  llvm::LLVMContext context;
  auto module = Wrappers(context, library, target.triple,
                         llvm::DataLayout("e-i64:64-i128:128-v16:16-v32:32-n16:32:64"));
  REQUIRE(codegen::LinkMath(*module, library, target).Ok());
  CHECK(module->getFunction("__nvvm_reflect") == nullptr);
  CHECK(module->named_metadata_empty());
  CHECK_FALSE(llvm::verifyModule(*module));
}
#endif

}  // namespace
