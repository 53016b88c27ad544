#include "codegen/llvm/machine.h"

#include <algorithm>
#include <mutex>

#include "codegen/llvm/deep_nests.h"
#include "codegen/llvm/half_selects.h"
#include "codegen/llvm/loads_early.h"
#include "codegen/llvm/masked_selects.h"
#include "codegen/llvm/short_blocks.h"
#include "codegen/llvm/wide_division.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/DeadStoreElimination.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/IndVarSimplify.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopDeletion.h"
#include "llvm/Transforms/Scalar/LoopIdiomRecognize.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Vectorize/LoopVectorize.h"

namespace adc::codegen {
namespace {

void InitialiseTargets() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
    LLVMInitializeAArch64AsmParser();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmPrinter();
    LLVMInitializeAMDGPUAsmParser();
  });
}

llvm::TargetLibraryInfoImpl LibraryInfo(const llvm::Triple& triple, std::span<const char* const> imports) {
  llvm::TargetLibraryInfoImpl info(triple);
  info.disableAllFunctions();
  for (const char* import_name : imports) {
    llvm::LibFunc function;
    if (info.getLibFunc(import_name, function)) info.setAvailable(function);
  }
  return info;
}

template <class Pass>
llvm::FunctionPassManager AsPasses(Pass pass) {
  llvm::FunctionPassManager passes;
  passes.addPass(std::move(pass));
  return passes;
}

/// `vectors`: the target has instructions that work on vectors.
llvm::FunctionPassManager Pipeline(uint32_t optimise, bool vectors) {
  using namespace llvm;
  FunctionPassManager passes;
  auto simplify_cfg = SimplifyCFGOptions().convertSwitchRangeToICmp(true);
  passes.addPass(SROAPass(SROAOptions::ModifyCFG));
  passes.addPass(EarlyCSEPass(true));
  passes.addPass(SimplifyCFGPass(simplify_cfg));
  passes.addPass(InstCombinePass());
  {
    LoopPassManager loops;
    loops.addPass(LoopRotatePass());
    loops.addPass(LICMPass(LICMOptions()));
    passes.addPass(createFunctionToLoopPassAdaptor(std::move(loops), true));
  }
  passes.addPass(MarkDeepNests());
  {
    LoopPassManager loops;
    if (optimise >= 2) loops.addPass(LoopIdiomRecognizePass());
    loops.addPass(IndVarSimplifyPass());
    loops.addPass(LoopDeletionPass());
    // Short loops with constant bounds vanish before arrays that they index are looked at again.
    loops.addPass(LoopFullUnrollPass(static_cast<int>(optimise)));
    passes.addPass(ForShallowNests(AsPasses(createFunctionToLoopPassAdaptor(std::move(loops)))));
  }
  passes.addPass(SROAPass(SROAOptions::PreserveCFG));
  if (optimise >= 2) {
    passes.addPass(GVNPass());
    passes.addPass(DSEPass());
  }
  passes.addPass(SimplifyCFGPass(simplify_cfg));
  passes.addPass(InstCombinePass());
  if (optimise >= 2) {
    if (vectors) passes.addPass(ForShallowNests(AsPasses(LoopVectorizePass())));
    passes.addPass(EarlyCSEPass());
    passes.addPass(InstCombinePass());
    passes.addPass(ForShallowNests(AsPasses(LoopUnrollPass(LoopUnrollOptions(static_cast<int>(optimise))))));
    passes.addPass(createFunctionToLoopPassAdaptor(LICMPass(LICMOptions()), true));
    passes.addPass(InstCombinePass());
    passes.addPass(SimplifyCFGPass(SimplifyCFGOptions(simplify_cfg)
                                       .hoistCommonInsts(true)
                                       .sinkCommonInsts(true)
                                       .convertSwitchToLookupTable(false)));
  }
  passes.addPass(ADCEPass());
  return passes;
}

}  // namespace

std::unique_ptr<llvm::TargetMachine> MakeMachine(const target::Target& target, uint32_t optimise,
                                                 FloatMode mode) {
  InitialiseTargets();
  std::string error;
  std::string triple(target.triple);
  const llvm::Target* found = llvm::TargetRegistry::lookupTarget(triple, error);
  ADC_CHECK(found != nullptr, "the machine of a known target");
  llvm::TargetOptions options;
  options.AllowFPOpFusion = mode == FloatMode::Strict ? llvm::FPOpFusion::Strict : llvm::FPOpFusion::Standard;
  options.ThreadModel = llvm::ThreadModel::POSIX;
  static constexpr llvm::CodeGenOptLevel kLevels[] = {
      llvm::CodeGenOptLevel::None, llvm::CodeGenOptLevel::Less, llvm::CodeGenOptLevel::Default,
      llvm::CodeGenOptLevel::Aggressive};
  return std::unique_ptr<llvm::TargetMachine>(
      found->createTargetMachine(triple, std::string(target.processor), std::string(target.features), options,
                                 llvm::Reloc::PIC_, llvm::CodeModel::Small, kLevels[std::min(optimise, 3u)]));
}

void Optimise(llvm::Module& module, llvm::TargetMachine& machine, uint32_t optimise,
              std::span<const char* const> imports) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::TargetLibraryInfoImpl library = LibraryInfo(machine.getTargetTriple(), imports);
  functions.registerPass([&] { return llvm::TargetLibraryAnalysis(library); });
  llvm::PipelineTuningOptions tuning;
  bool device = machine.getTargetTriple().isNVPTX() || machine.getTargetTriple().isAMDGPU();
  bool vectors = optimise >= 2 && !device;
  tuning.LoopVectorization = vectors;
  tuning.SLPVectorization = vectors;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager passes;
  bool is_deep = optimise >= 3 && llvm::any_of(module, [&](llvm::Function& function) {
                   if (function.isDeclaration()) return false;
                   return DependentLoops(function, functions.getResult<llvm::LoopAnalysis>(function)) >
                          kMostDependentLoops;
                 });
  if (optimise >= 3 && !is_deep) {
    passes = builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3);
  } else {
    passes.addPass(llvm::AlwaysInlinerPass(false));
    // Functions of which all callers have a copy.
    if (device) passes.addPass(llvm::GlobalDCEPass());
    if (optimise >= 1) passes.addPass(llvm::createModuleToFunctionPassAdaptor(Pipeline(optimise, vectors)));
  }
  if (optimise >= 1) passes.addPass(llvm::createModuleToFunctionPassAdaptor(WideDivision()));
  if (machine.getTargetTriple().isX86()) {
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(HalfSelects()));
    if (optimise >= 2 && !machine.getMCSubtargetInfo()->checkFeatures("+avx512f"))
      passes.addPass(llvm::createModuleToFunctionPassAdaptor(MaskedSelects()));
  }
  if (optimise == 0) passes.addPass(llvm::createModuleToFunctionPassAdaptor(ShortBlocks()));
  if (optimise >= 2 && device) passes.addPass(llvm::createModuleToFunctionPassAdaptor(LoadsEarly()));
  passes.run(module, modules);
}

diag::Result<std::vector<uint8_t>> MakeObject(llvm::Module& module, llvm::TargetMachine& machine,
                                              std::span<const char* const> imports) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  passes.add(new llvm::TargetLibraryInfoWrapperPass(LibraryInfo(machine.getTargetTriple(), imports)));
  bool refused = machine.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile);
  ADC_CHECK(!refused, "a target that emits objects");
  passes.run(module);
  return std::vector<uint8_t>(bytes.begin(), bytes.end());
}

std::vector<std::string> UndefinedSymbols(std::span<const uint8_t> object) {
  llvm::StringRef text(reinterpret_cast<const char*>(object.data()), object.size());
  auto file = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(text, "object"));
  ADC_CHECK(static_cast<bool>(file), "an object file that was just written");
  std::vector<std::string> names;
  for (const llvm::object::SymbolRef& symbol : (*file)->symbols()) {
    auto flags = symbol.getFlags();
    if (!flags || (*flags & llvm::object::SymbolRef::SF_Undefined) == 0) continue;
    auto symbol_name = symbol.getName();
    if (symbol_name && !symbol_name->empty()) names.push_back(symbol_name->str());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace adc::codegen
