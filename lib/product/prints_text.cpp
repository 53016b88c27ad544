#include "product/prints_text.h"

#include <nlohmann/json.hpp>

#include "ir/type.h"

namespace adc::product {

namespace {

using Json = nlohmann::json;

Json NamesOf(const std::vector<ir::Scalar>& types) {
  Json names = Json::array();
  for (ir::Scalar type : types) names.push_back(ir::Spelling(type));
  return names;
}

}  // namespace

std::string PrintsText(const std::vector<counting::KernelPrints>& kernels,
                       const diag::SourceManager& sources) {
  if (kernels.empty()) return {};
  Json list = Json::array();
  for (const counting::KernelPrints& kernel : kernels) {
    Json prints = Json::array();
    for (const counting::PrintStatement& statement : kernel.statements) {
      prints.push_back({{"indices", NamesOf(statement.indices)},
                        {"part", statement.part},
                        {"place", sources.Describe(statement.place)},
                        {"text", statement.text},
                        {"values", NamesOf(statement.values)}});
    }
    list.push_back({{"buffer", kernel.buffer}, {"kernel", kernel.kernel}, {"prints", std::move(prints)}});
  }
  // Bytes of a text that are no UTF-8 become U+FFFD.
  return Json{{"kernels", std::move(list)}}.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace adc::product
