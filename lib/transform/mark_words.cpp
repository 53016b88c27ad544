#include "transform/mark_words.h"

namespace adc::transform {

ir::Value AddMarkWords(ir::Module& module, const ir::Function& from, const MarkedPlace& place,
                       const char* suffix, ir::Function& into) {
  auto [position, field_number] = place;
  ir::Value param = from.Params()[position];
  ir::Type type = from.TypeOf(param);
  ir::Type element = module.ElementType(from, param, field_number);
  element.scalar = ir::Scalar::U32;
  uint32_t rank = type.count;
  std::string name(module.Text(from[param].name));
  if (type.IsLayout()) {
    const ir::LayoutField& field = module.layouts[type.count].fields[field_number];
    rank = static_cast<uint32_t>(field.axes.size());
    name += "." + std::string(module.Text(field.name));
  }
  ir::ParamInfo info;
  info.role = ir::ParamRole::Scratch;
  info.companion_of = position;
  info.companion_field = field_number;
  info.span = from.params[position].span;
  return into.AddParameter(ir::Type::Buffer(element, rank), module.Intern(name + suffix), info);
}

}  // namespace adc::transform
