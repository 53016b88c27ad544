#include "ir/wording.h"

#include "support/check.h"

namespace adc::ir {

std::string NameOf(const Module& module, const Function& function, Value value, const char* otherwise) {
  StringId name = function[value].name;
  return name.Valid() ? "'%" + std::string(module.Text(name)) + "'" : otherwise;
}

std::string AttributeText(const Module& module, std::string_view word) {
  std::string name(word);
  switch (module.door) {
    case Door::Text:
      return "'" + name + "'";
    case Door::Cpp:
      return "'adc::" + name + "<...>'";
    case Door::Shader:
      return "'// adc: " + name + "'";
    case Door::Binary:
      return "'// adc: " + name + "' in the shader's source";
  }
  ADC_UNREACHABLE("a door without its words");
}

std::string UnrolledLoop(const Module& module, bool is_while) {
  // There loops around tasks are unrolled, and no word says so.
  if (module.door == Door::Cpp) return "a loop around adc::parallel counts between constants";
  return is_while ? "'unroll' needs a loop that counts between constants"
                  : "'unroll' needs bounds that are constants";
}

std::string RunInOrder(const Module& module) {
  switch (module.door) {
    case Door::Text:
      return "run the loop in order with 'serial'";
    case Door::Cpp:
      return "run the loop in order with 'adc::serial'";
    case Door::Shader:
    case Door::Binary:
      return "loop over the elements in one invocation";
  }
  ADC_UNREACHABLE("a door without its words");
}

}  // namespace adc::ir
