#include "prints.h"

#include "support/check.h"

namespace adc::tool {

std::map<std::string, std::shared_ptr<const KernelPrints>> PrintsOf(const adrt_bundle* bundle) {
  std::map<std::string, std::shared_ptr<const KernelPrints>> all;
  adrt_prints section = {};
  size_t size = 0;
  adrt_status status = adrt_prints_section(bundle, &section, &size);
  std::shared_ptr<char> text(section.json, ADRT_PRINTS_FREE);
  if (status != ADRT_OK || size == 0) return all;
  adrt_prints_json json = {text.get(), 0};
  adrt_prints_begin(&json);
  do {
    auto kernel = std::make_shared<KernelPrints>();
    kernel->json = text;
    if (adrt_prints_kernel(&json, &kernel->prints) != ADRT_OK) return {};
    kernel->buffer = kernel->prints.buffer;
    all[kernel->prints.kernel] = kernel;
  } while (adrt_prints_more(&json, ']'));
  return all;
}

PrintedLines LinesOf(const KernelPrints& prints, const std::vector<uint8_t>& buffer) {
  PrintedLines lines = {};
  auto add = [](void* text, const char* line, size_t length) {
    static_cast<std::string*>(text)->append(line, length).push_back('\n');
  };
  adrt_status status =
      adrt_prints_show(&prints.prints, buffer.data(), buffer.size(), add, &lines.text, &lines.seen);
  ADC_CHECK(status == ADRT_OK, "no memory for what a kernel prints");
  return lines;
}

}  // namespace adc::tool
