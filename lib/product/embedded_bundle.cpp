#include "product/embedded_bundle.h"

#include <filesystem>

#include "artifact/bundle.h"
#include "product/header_names.h"
#include "product/version.h"
#include "support/letters.h"

namespace adc::product {

std::string EmbeddedName(const std::string& file) {
  std::string name = HeaderIdentifier(std::filesystem::path(file).stem().string());
  if (!name.empty() && IsDigit(name[0])) name.insert(0, "_");
  return name.ends_with("_adcb") ? name : name + "_adcb";
}

// Numbers, although GCC and Clang read string literals ten times faster: other compilers take no literal of
// this length.
std::string EmbeddedText(std::span<const uint8_t> bundle, const std::string& name) {
  std::string alignment = std::to_string(artifact::kSectionAlignment);
  std::string text = "/* Made by " + ProducerName() + ". */\n#include <stddef.h>\n";
  text += "#ifdef __cplusplus\n#define ADC_ALIGNED alignas(" + alignment + ")\nextern \"C\" {\n";
  text += "#else\n#define ADC_ALIGNED _Alignas(" + alignment + ")\n#endif\n";
  text += "extern const unsigned char " + name + "[];\nextern const size_t " + name + "_size;\n";
  text += "#ifdef __cplusplus\n}\n#endif\n\n";
  text += "ADC_ALIGNED const unsigned char " + name + "[] = {";
  constexpr size_t kPerLine = 32;
  for (size_t at = 0; at < bundle.size(); ++at) {
    if (at % kPerLine == 0) text += '\n';
    text += std::to_string(bundle[at]);
    text += ',';
  }
  return text + "\n};\nconst size_t " + name + "_size = sizeof " + name + ";\n";
}

}  // namespace adc::product
