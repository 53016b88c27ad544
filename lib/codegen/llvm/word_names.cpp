#include "codegen/llvm/word_names.h"

#include "ir/module.h"

namespace adc::codegen {

std::vector<std::string> WordNames(const ir::Module& module, const ir::Function& kernel,
                                   const TaskRows* rows) {
  std::vector<std::string> names;
  for (uint32_t n = 0; n < kernel.Params().size(); ++n) {
    const ir::ValueData& param = kernel[kernel.Params()[n]];
    std::string name = param.name.Valid() ? std::string(module.Text(param.name)) : "p" + std::to_string(n);
    ir::Type type = param.type;
    uint32_t parts = type.IsBuffer() ? type.count : type.IsLayout() ? 0 : type.Components();
    if (type.IsBuffer() || type.IsLayout() || parts == 1) names.push_back(name);
    if (type.IsScalar()) continue;
    for (uint32_t part = 0; part < parts; ++part) names.push_back(name + "." + std::to_string(part));
  }
  if (rows != nullptr) {
    for (uint32_t group = 0; group < rows->groups; ++group) {
      for (const char* word : {".offset", ".stride", ".rows", ".counter"})
        names.push_back("group" + std::to_string(group) + word);
    }
    for (uint32_t stack = 0; stack < rows->row_position.size(); ++stack) {
      if (rows->row_position[stack] == ir::kNoAttr) continue;
      for (const char* word : {".offset", ".capacity"})
        names.push_back("stack" + std::to_string(stack) + word);
    }
  }
  for (const char* word : {"heap", "status", "iterations", "threads"}) names.emplace_back(word);
  return names;
}

}  // namespace adc::codegen
