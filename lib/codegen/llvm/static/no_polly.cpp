// LLVM as Debian builds it names the optimiser Polly in its link-time optimisation, which the linker has
// inside and which no image of ours goes through. Where LLVM is linked statically this stands for Polly: a
// plugin without passes.

#include "llvm/Passes/PassPlugin.h"

llvm::PassPluginLibraryInfo getPollyPluginInfo();

llvm::PassPluginLibraryInfo getPollyPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "none", "0", [](llvm::PassBuilder&) {}};
}
