// SPIR-V: every module is valid, asks for what it uses and nothing else, and keeps the structure of the IR.

#include "../support/folders.h"
#include "ir/module.h"
#include "spirv_support.h"

namespace {

using namespace adc;
using namespace adc::test;

using Names = std::vector<std::string>;

std::string SamplePath(const std::string& name) {
  return adc::test::SourceFolder() + "/samples/" + name;
}

}  // namespace

TEST_CASE("the samples and their gradients are valid for every target") {
  for (const char* sample : {"relax.ir", "mpm_grid_op.ir", "cholesky.ir", "csr_reduce.ir", "quaternion.ir"}) {
    LowerConfig lower;
    lower.plan.lanes = 32;
    auto lowered = LowerFile(SamplePath(sample), lower);
    for (const char* target : {"vulkan:1.2", "vulkan:1.3", "metal:2.4"}) {
      for (uint32_t optimise : {0u, 2u}) {
        INFO(sample << " " << target << " " << optimise);
        SpirvModule module = SpirvFor(*lowered, SpirvConfig(target, optimise));
        CHECK(module.words[0] == spv::MagicNumber);
        CHECK(module.words[1] == (std::string(target) == "vulkan:1.3" ? 0x00010600u : 0x00010500u));
        CHECK(SpirvFor(*lowered, SpirvConfig(target, optimise)).words == module.words);
      }
    }
  }
}
