#include "ir/module.h"

#include <algorithm>

#include "support/check.h"

namespace adc::ir {

uint32_t Layout::FieldIndex(StringId field_name) const {
  for (uint32_t n = 0; n < fields.size(); ++n) {
    if (fields[n].name == field_name) return n;
  }
  return kNoAttr;
}

std::unique_ptr<Module> Module::Copy() const {
  auto copy = std::make_unique<Module>();
  copy->strings = strings;
  copy->door = door;
  copy->phase = phase;
  copy->imports = imports;
  copy->layouts = layouts;
  copy->constants = constants;
  for (const auto& function : functions) copy->functions.push_back(std::make_unique<Function>(*function));
  copy->items = items;
  copy->trailing_comments = trailing_comments;
  copy->shader_bindings = shader_bindings;
  copy->structs = structs;
  copy->function_ids_ = function_ids_;
  copy->constant_ids_ = constant_ids_;
  copy->layout_ids_ = layout_ids_;
  return copy;
}

Function* Module::Find(StringId name) const {
  auto found = function_ids_.find(name);
  return found == function_ids_.end() ? nullptr : functions[found->second].get();
}

Function* Module::Find(std::string_view name) const {
  StringId id = strings.Find(name);
  return id.Valid() ? Find(id) : nullptr;
}

uint32_t Module::FindConstant(StringId name) const {
  auto found = constant_ids_.find(name);
  return found == constant_ids_.end() ? kNoAttr : found->second;
}

uint32_t Module::FindLayout(StringId name) const {
  auto found = layout_ids_.find(name);
  return found == layout_ids_.end() ? kNoAttr : found->second;
}

uint32_t Module::AddConstant(ModuleConstant constant) {
  auto position = static_cast<uint32_t>(constants.size());
  constant_ids_.emplace(constant.name, position);
  constants.push_back(std::move(constant));
  return position;
}

uint32_t Module::AddLayout(Layout layout) {
  auto position = static_cast<uint32_t>(layouts.size());
  layout_ids_.emplace(layout.name, position);
  layouts.push_back(std::move(layout));
  return position;
}

uint32_t Module::AddStruct(StructMember members) {
  auto known = std::find(structs.begin(), structs.end(), members);
  auto position = static_cast<uint32_t>(known - structs.begin());
  if (known == structs.end()) structs.push_back(std::move(members));
  return position;
}

Function& Module::AddFunction(FunctionKind kind, StringId name) {
  return AddFunction(std::make_unique<Function>(kind, name));
}

Function& Module::AddFunction(std::unique_ptr<Function> function) {
  function_ids_.emplace(function->name, static_cast<uint32_t>(functions.size()));
  functions.push_back(std::move(function));
  return *functions.back();
}

void Module::Replace(std::unique_ptr<Function> function) {
  auto found = function_ids_.find(function->name);
  ADC_CHECK(found != function_ids_.end(), "a rebuilt function replaces one of its name");
  functions[found->second] = std::move(function);
}

void Module::KeepFunctions(std::span<const unsigned char> keep) {
  std::vector<uint32_t> new_position(functions.size(), kNoAttr);
  std::vector<std::unique_ptr<Function>> remaining;
  function_ids_.clear();
  for (uint32_t n = 0; n < functions.size(); ++n) {
    if (!keep[n]) continue;
    new_position[n] = static_cast<uint32_t>(remaining.size());
    function_ids_.emplace(functions[n]->name, new_position[n]);
    remaining.push_back(std::move(functions[n]));
  }
  functions = std::move(remaining);
  std::vector<Item> remaining_items;
  for (Item item : items) {
    if (item.kind == ItemKind::Function) item.position = new_position[item.position];
    if (item.position != kNoAttr) remaining_items.push_back(item);
  }
  items = std::move(remaining_items);
}

void Module::DropFunction(const Function& function) {
  std::vector<unsigned char> keep;
  for (const auto& other : functions) keep.push_back(other.get() != &function);
  KeepFunctions(keep);
}

Type Module::ElementType(const Function& function, Value base, uint32_t field) const {
  Type type = function.TypeOf(base);
  if (type.IsLayout()) return layouts[type.count].fields[field].type;
  if (type.IsBuffer() || type.IsArray()) return type.Element();
  return type;
}

uint32_t Module::IndexCount(const Function& function, Value base, uint32_t field) const {
  Type type = function.TypeOf(base);
  if (type.IsLayout()) return static_cast<uint32_t>(layouts[type.count].fields[field].axes.size());
  if (type.IsBuffer()) return type.count;
  return type.IsArray() ? 1 : 0;
}

}  // namespace adc::ir
