#include "codegen/nvptx/text.h"

#include <algorithm>
#include <string_view>

#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/CodeGen/MachineRegisterInfo.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/IR/LegacyPassManager.h"
#include "support/check.h"

namespace adc::codegen {
namespace {

/// Makes functions that are called often visible. At each call of a hidden one LLVM asks whether all its uses
/// are calls, which takes a walk over them. LLVM gives names that PTX takes to hidden ones alone.
void ShowOftenCalled(llvm::Module& module) {
  constexpr unsigned kOften = 1000;
  for (llvm::Function& function : module) {
    if (function.isDeclaration() || !function.hasLocalLinkage() || !function.hasNUsesOrMore(kOften)) continue;
    std::string name;
    for (char letter : function.getName()) name += letter == '.' ? "_$_" : std::string(1, letter);
    function.setName(name);
    function.setLinkage(llvm::GlobalValue::ExternalLinkage);
  }
}

/// The text without what is not of the code. LLVM numbers calls in comments, and counts them from the start
/// of the process: the same code would not be the same text. And no function is for others.
std::vector<uint8_t> Tidied(std::string_view text) {
  constexpr std::string_view kNumber = " // callseq ", kVisible = ".visible ", kFunction = ".func";
  std::vector<uint8_t> result;
  result.reserve(text.size());
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end);
    if (line.starts_with(kVisible) && line.substr(kVisible.size()).starts_with(kFunction))
      line.remove_prefix(kVisible.size());
    size_t number = line.find(kNumber);
    result.insert(result.end(), line.begin(),
                  line.begin() + static_cast<std::ptrdiff_t>(std::min(number, line.size())));
    if (number != line.npos && line.ends_with('\n')) result.push_back('\n');
  }
  return result;
}

/// Removes the registers that LLVM puts between a call and the readers of its result. LLVM's own pass looks
/// through the whole function for each of them; right before it, this one follows the uses.
class RemoveProxies : public llvm::MachineFunctionPass {
 public:
  static char ID;
  RemoveProxies() : MachineFunctionPass(ID) {}

  bool runOnMachineFunction(llvm::MachineFunction& function) override {
    const llvm::TargetInstrInfo& names = *function.getSubtarget().getInstrInfo();
    llvm::MachineRegisterInfo& registers = function.getRegInfo();
    bool changed = false;
    for (llvm::MachineBasicBlock& block : function) {
      for (llvm::MachineInstr& instruction : llvm::make_early_inc_range(block)) {
        if (!names.getName(instruction.getOpcode()).starts_with("ProxyReg")) continue;
        llvm::Register result = instruction.getOperand(0).getReg(), from = instruction.getOperand(1).getReg();
        instruction.eraseFromParent();
        registers.replaceRegWith(result, from);
        changed = true;
      }
    }
    return changed;
  }
};

char RemoveProxies::ID = 0;

}  // namespace

std::vector<uint8_t> MakePtx(llvm::Module& module, llvm::TargetMachine& machine) {
  ShowOftenCalled(module);
  auto& llvm_machine = static_cast<llvm::LLVMTargetMachine&>(machine);
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  llvm::TargetLibraryInfoImpl library(machine.getTargetTriple());
  library.disableAllFunctions();
  passes.add(new llvm::TargetLibraryInfoWrapperPass(library));
  llvm::TargetPassConfig* config = llvm_machine.createPassConfig(passes);
  auto* machine_module = new llvm::MachineModuleInfoWrapperPass(&llvm_machine);
  passes.add(config);
  passes.add(machine_module);
  // The last point before LLVM's own pass.
  bool optimises = machine.getOptLevel() != llvm::CodeGenOptLevel::None;
  config->insertPass(optimises ? &llvm::PeepholeOptimizerID : &llvm::LocalStackSlotAllocationID,
                     new RemoveProxies);
  bool refused = config->addISelPasses();
  config->addMachinePasses();
  config->setInitialized();
  refused =
      refused || llvm_machine.addAsmPrinter(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile,
                                            machine_module->getMMI().getContext());
  ADC_CHECK(!refused, "NVIDIA's target emits text");
  passes.add(llvm::createFreeMachineFunctionPass());
  passes.run(module);
  return Tidied({bytes.data(), bytes.size()});
}

}  // namespace adc::codegen
