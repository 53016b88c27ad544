// Local arrays in which a constant is stored and nothing else: compilers make them to index a constant. They
// are constants of the module, which each invocation would otherwise write out before it reads an element.

#include "frontend/spirv/locals.h"
#include "ir/module.h"

namespace adc::frontend::spirv {

/// The numbers of a constant, one by one. False where they are not known, or no numbers.
bool Locals::NumbersOf(Id constant, std::vector<uint64_t>& numbers, uint32_t depth) {
  const Instruction* inst = binary_.Find(constant);
  if (inst == nullptr || depth > kDeepest) return false;
  Spend(1, *inst);
  if (inst->op == spv::OpConstant) {
    numbers.push_back(kernel_.ConstantOf(ConstantValue(*inst, 0).parts[0]).bits);
    return true;
  }
  if (inst->op != spv::OpConstantComposite) return false;
  for (size_t n = 0; n < inst->operands.size(); ++n) {
    if (!NumbersOf(inst->At(n), numbers, depth + 1)) return false;
  }
  return true;
}

/// Makes a constant of the module of a local array of numbers or vectors. False where it is none.
bool Locals::MakeTable(Local& local, const Instruction& variable) {
  Id constant = survey_.TableOf(variable.result);
  if (constant == 0 || variable.At(0) == spv::StorageClassWorkgroup) return false;
  Id element = local.type;
  for (uint32_t depth = 0; types_.KindOf(element) == spv::OpTypeArray && depth < kDeepest; ++depth)
    element = types_.Element(element);
  if (element == local.type || !types_.IsRegister(element) || types_.Register(element).IsMat()) return false;
  ir::Type type = types_.Register(element);
  ir::ModuleConstant made;
  if (!NumbersOf(constant, made.elements, 0)) return false;
  made.type = ir::Type::Array(type.ScalarType(), static_cast<uint32_t>(made.elements.size()));
  made.spellings.resize(made.elements.size());
  made.span = variable.span;
  uint32_t position = 0;
  for (int n = 0;; ++n) {
    made.name = module_.Intern(n == 0 ? "table" : "table." + std::to_string(n));
    position = module_.FindConstant(made.name);
    if (position == ir::kNoAttr) {
      position = module_.AddConstant(std::move(made));
      break;
    }
    const ir::ModuleConstant& known = module_.constants[position];
    if (known.type == made.type && known.elements == made.elements) break;
  }
  ir::Value array = kernel_.Global(position, module_.constants[position].type);
  local.leaves.push_back({.array = array, .element = type, .address = {}, .is_table = true});
  return true;
}

/// An element of a local array, or a component of it.
ir::Value Locals::LoadLeaf(const Local::Leaf& leaf, ir::Value index, uint32_t component) {
  if (!leaf.is_table || leaf.element.IsScalar())
    return b_.Load(leaf.array, {&index, 1}, ir::kNoAttr, component);
  uint32_t count = leaf.element.Components();
  ir::Value first = b_.Make(ir::Op::Mul, {index, b_.I32(count)});
  std::vector<ir::Value> parts;
  for (uint32_t n = 0; n < count; ++n) {
    if (component != ir::kNoAttr && n != component) continue;
    ir::Value at = b_.Make(ir::Op::Add, {first, b_.I32(n)});
    parts.push_back(b_.Load(leaf.array, {&at, 1}));
  }
  return b_.MakeVector(parts);
}

}  // namespace adc::frontend::spirv
