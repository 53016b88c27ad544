#include "wave_host.h"

#include <cmath>
#include <iostream>
#include <thread>

#include "codegen/llvm/gpu_loop.h"
#include "codegen/llvm/machine.h"
#include "codegen/llvm/meeting_sums.h"
#include "ir/module.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/Verifier.h"
#include "raised.h"

namespace adc::test {
namespace {

constexpr uint32_t kLanes = 32;

/// Lanes that exchange values.
struct Group {
  explicit Group(uint32_t size) : barrier(size) {}
  std::barrier<> barrier;
  uint32_t values[kLanes] = {};
};

struct Wave {
  explicit Wave(uint32_t together) {
    for (uint32_t n = 0; n < kLanes / together; ++n) groups.push_back(std::make_unique<Group>(together));
  }
  Group all{kLanes};
  std::vector<std::unique_ptr<Group>> groups;
};

thread_local Wave* wave = nullptr;
thread_local std::barrier<>* whole_block = nullptr;
thread_local uint32_t lane = 0, thread_in_block = 0, block = 0, together_lanes = 1;

/// Assertions of the test library are for its own thread.
void Require(bool condition, const char* what) {
  if (condition) return;
  std::cerr << "waves: " << what << "\n";
  std::abort();
}

void HostMeet() {
  whole_block->arrive_and_wait();
}

uint32_t HostThread() {
  return thread_in_block;
}
uint32_t HostBlock() {
  return block;
}
uint32_t HostLane() {
  return lane;
}
uint32_t HostActive() {
  uint32_t lanes = together_lanes == kLanes ? ~0u : (1u << together_lanes) - 1;
  return lanes << (lane / together_lanes * together_lanes);
}

/// Every lane of `mask` gives a value and sees those of all.
template <class See>
uint32_t Exchange(uint32_t mask, uint32_t value, See see) {
  Require((mask >> lane & 1) == 1, "a lane outside of the mask that it names");
  Require(mask == ~0u || mask == HostActive(), "a mask of lanes that do not run together");
  Group& group = mask == ~0u ? wave->all : *wave->groups[lane / together_lanes];
  group.values[lane] = value;
  group.barrier.arrive_and_wait();
  uint32_t seen = see(group.values);
  group.barrier.arrive_and_wait();
  return seen;
}

uint32_t HostWhere(uint32_t mask, uint32_t condition) {
  return Exchange(mask, condition, [mask](const uint32_t* values) {
    uint32_t lanes = 0;
    for (uint32_t n = 0; n < kLanes; ++n) lanes |= ((mask >> n & 1) != 0 && values[n] != 0 ? 1u : 0u) << n;
    return lanes;
  });
}

uint32_t HostRead(uint32_t mask, uint32_t value, uint32_t from) {
  Require((mask >> from & 1) == 1, "a read of a lane outside of the mask");
  return Exchange(mask, value, [from](const uint32_t* values) { return values[from]; });
}

uint32_t HostAcross(uint32_t value, uint32_t distance) {
  return Exchange(~0u, value, [distance](const uint32_t* values) { return values[lane ^ distance]; });
}

class HostDialect final : public codegen::GpuDialect {
 public:
  void MakeEntry(llvm::Function&, uint32_t) const override {}
  void MakeFunction(llvm::Function& function) const override {
    function.addFnAttr("target-cpu", "x86-64-v3");
  }
  const char* AtomicScope() const override { return ""; }
  llvm::Value* ThreadInBlock(Builder& b, uint32_t) const override { return Call(b, "host.thread", {}); }
  llvm::Value* BlockNumber(Builder& b) const override { return Call(b, "host.block", {}); }
  void MeetBlock(Builder& b) const override {
    auto meet = b.GetInsertBlock()->getModule()->getOrInsertFunction(
        "host.meet", llvm::FunctionType::get(b.getVoidTy(), false));
    b.CreateCall(meet)->setConvergent();
  }
  uint32_t Lanes() const override { return kLanes; }
  llvm::Value* Lane(Builder& b) const override { return Call(b, "host.lane", {}); }
  llvm::Value* ActiveLanes(Builder& b) const override { return Call(b, "host.active", {}); }
  llvm::Value* LanesWhere(Builder& b, llvm::Value* mask, llvm::Value* condition) const override {
    return Call(b, "host.where", {mask, b.CreateZExt(condition, b.getInt32Ty())});
  }
  llvm::Value* CountBelow(Builder& b, llvm::Value* mask) const override {
    llvm::Value* below = b.CreateSub(b.CreateShl(b.getInt32(1), Lane(b)), b.getInt32(1));
    return b.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, b.CreateAnd(mask, below));
  }
  llvm::Value* Read(Builder& b, llvm::Value* mask, llvm::Value* value, llvm::Value* from) const override {
    return Call(b, "host.read", {mask, value, from});
  }
  llvm::Value* ReadAcross(Builder& b, llvm::Value* value, uint32_t distance) const override {
    return Call(b, "host.across", {value, b.getInt32(distance)});
  }

 private:
  static llvm::Value* Call(Builder& b, const char* name, llvm::ArrayRef<llvm::Value*> operands) {
    llvm::SmallVector<llvm::Type*> types(operands.size(), b.getInt32Ty());
    llvm::Module* module = b.GetInsertBlock()->getModule();
    auto callee = module->getOrInsertFunction(name, llvm::FunctionType::get(b.getInt32Ty(), types, false));
    llvm::CallInst* call = b.CreateCall(callee, operands);
    call->setConvergent();
    return call;
  }
};

template <class T>
llvm::orc::ExecutorSymbolDef Symbol(T* function) {
  return {llvm::orc::ExecutorAddr::fromPtr(function), llvm::JITSymbolFlags::Exported};
}

llvm::orc::SymbolMap HostSymbols(llvm::orc::LLJIT& jit) {
  llvm::orc::SymbolMap symbols;
  auto add = [&](const char* name, auto* function) { symbols[jit.mangleAndIntern(name)] = Symbol(function); };
  add("host.meet", HostMeet);
  add("host.thread", HostThread);
  add("host.block", HostBlock);
  add("host.lane", HostLane);
  add("host.active", HostActive);
  add("host.where", HostWhere);
  add("host.read", HostRead);
  add("host.across", HostAcross);
#define HOST_MATH(name, length)                                         \
  add("_Z" length #name "f", static_cast<float (*)(float)>(std::name)); \
  add("_Z" length #name "d", static_cast<double (*)(double)>(std::name));
  HOST_MATH(sin, "3")
  HOST_MATH(cos, "3")
  HOST_MATH(tan, "3")
  HOST_MATH(exp, "3")
  HOST_MATH(log, "3")
  HOST_MATH(tanh, "4")
  HOST_MATH(atan, "4")
  HOST_MATH(exp2, "4")
#undef HOST_MATH
  add("adc.sinh", static_cast<double (*)(double)>(std::sinh));
  add("adc.cosh", static_cast<double (*)(double)>(std::cosh));
  add("_Z3powff", static_cast<float (*)(float, float)>(std::pow));
  add("_Z3powdd", static_cast<double (*)(double, double)>(std::pow));
  add("memset", std::memset);
  return symbols;
}

}  // namespace

struct WaveCode::Jit {
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

codegen::CodeConfig WaveConfig(uint32_t optimise, codegen::FloatMode mode) {
  codegen::CodeConfig config;
  config.target = target::FindTarget("cuda:sm_80").value();
  config.target.triple = "x86_64-unknown-linux-gnu";
  config.target.processor = "x86-64-v3";
  config.target.features = "";
  config.target.spaces = {};
  config.target.block_size = 64;
  config.optimise = optimise;
  config.float_mode = mode;
  return config;
}

WaveCode::WaveCode(const ir::Module& module, const std::vector<codegen::KernelToEmit>& kernels,
                   codegen::CodeConfig config)
    : jit_(std::make_unique<Jit>()) {
  std::unique_ptr<llvm::TargetMachine> machine =
      codegen::MakeMachine(config.target, config.optimise, config.float_mode);
  llvm::LLVMContext context;
  llvm::Module output("waves", context);
  output.setTargetTriple(config.target.triple);
  output.setDataLayout(machine->createDataLayout());
  HostDialect dialect;
  RaisedModule raised = RaiseFor(module, kernels, config.target);
  entries_ = codegen::EmitGpuKernels(output, *raised.module, raised.kernels, config, dialect, nullptr);
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  bool broken = llvm::verifyModule(output, &stream);
  INFO(problem);
  REQUIRE(!broken);
  codegen::Optimise(output, *machine, config.optimise, {});
  codegen::ExpandMeetingSums(output, dialect, config.target);
  auto object = codegen::MakeObject(output, *machine, {});
  REQUIRE(object);
  jit_->jit = llvm::cantFail(llvm::orc::LLJITBuilder().create());
  llvm::orc::LLJIT& jit = *jit_->jit;
  llvm::cantFail(jit.getMainJITDylib().define(llvm::orc::absoluteSymbols(HostSymbols(jit))));
  llvm::StringRef bytes(reinterpret_cast<const char*>(object->data()), object->size());
  llvm::cantFail(jit.addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(bytes, "waves")));
}

WaveCode::~WaveCode() = default;

namespace {

/// Calls a function of any number of words.
void Call(void* address, const std::vector<uint64_t>& words);

}  // namespace

void WaveCode::Run(const codegen::EntryCode& entry, const std::vector<uint64_t>& words, uint64_t threads,
                   Together together) const {
  void* address = llvm::cantFail(jit_->jit->lookup(entry.symbol)).toPtr<void*>();
  uint64_t blocks = (threads + entry.block_size - 1) / entry.block_size + 1;
  for (uint64_t number = 0; number < blocks; ++number) {
    std::barrier<> meet(entry.block_size);
    std::vector<std::unique_ptr<Wave>> waves;
    for (uint32_t n = 0; n < entry.block_size / kLanes; ++n)
      waves.push_back(std::make_unique<Wave>(static_cast<uint32_t>(together)));
    std::vector<std::thread> running;
    for (uint32_t n = 0; n < entry.block_size; ++n) {
      running.emplace_back([&, n] {
        whole_block = &meet;
        wave = waves[n / kLanes].get();
        lane = n % kLanes;
        block = static_cast<uint32_t>(number);
        thread_in_block = n;
        together_lanes = static_cast<uint32_t>(together);
        Call(address, words);
      });
    }
    for (std::thread& thread : running) thread.join();
  }
}

namespace {

template <size_t... N>
void CallWith(void* address, const std::vector<uint64_t>& words, std::index_sequence<N...>) {
  using Word = uint64_t;
  reinterpret_cast<void (*)(decltype(Word(N))...)>(address)((N < words.size() ? words[N] : 0)...);
}

/// The callee looks at as many as it has parameters; the rest, on the stack behind them, does no harm.
void Call(void* address, const std::vector<uint64_t>& words) {
  Require(words.size() <= 128, "more words than a test passes on");
  CallWith(address, words, std::make_index_sequence<128>());
}

}  // namespace

}  // namespace adc::test
