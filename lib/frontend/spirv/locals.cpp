#include "frontend/spirv/locals.h"

#include "diag/errors/shader.h"
#include "ir/module.h"
#include "support/letters.h"

namespace adc::frontend::spirv {

namespace {
constexpr uint64_t kMostElements = uint64_t{1} << 24;
}

void Locals::MakeLeaves(Local& local, Id type, uint64_t count, uint32_t depth, ir::Words words) {
  if (depth > kDeepest || count > kMostElements)
    Refuse(diag::E0853, b_.span(), "a local variable is too large",
           "a local array holds at most 16,777,216 elements");
  if (types_.IsRegister(type)) {
    ir::Type element = types_.Register(type);
    if (local.leaves.size() >= 4096)
      Refuse(diag::E0853, b_.span(), "a local variable has more than 4096 members");
    ir::Value array = Slot(element, static_cast<uint32_t>(count), words);
    local.leaves.push_back({.array = array, .element = element, .address = {}});
    return;
  }
  if (types_.IsAddress(type)) {
    local.leaves.push_back({.array = {}, .element = ir::kI64, .address = {}});
    return;
  }
  if (types_.KindOf(type) == spv::OpTypeArray) {
    MakeLeaves(local, types_.Element(type), count * types_.Count(type), depth + 1, words);
    return;
  }
  if (types_.KindOf(type) != spv::OpTypeStruct)
    Refuse(diag::E0855, b_.span(), "a local variable holds what kernels do not have",
           "locals are numbers, vectors, matrices, arrays and structures of them");
  for (uint32_t n = 0; n < types_.Members(type); ++n)
    MakeLeaves(local, types_.Member(type, n), count, depth + 1, words);
}

StringId Locals::FreeName(const std::string& wanted) {
  if (value_names_.empty()) {
    for (ir::Value param : kernel_.Params()) value_names_.emplace(module_.Text(kernel_[param].name));
    for (const char* index : {"gx", "gy", "gz", "wx", "wy", "wz", "l"}) value_names_.emplace(index);
  }
  std::string free = wanted;
  for (uint32_t& number = next_numbers_.try_emplace(wanted, 2).first->second;
       !value_names_.insert(free).second; ++number)
    free = wanted + "." + std::to_string(number);
  return module_.Intern(free);
}

void Locals::MakeLocal(const Instruction& variable, ir::Words words) {
  Spend(1, variable);
  auto local = std::make_unique<Local>();
  local->type = types_.Element(variable.type);
  bool is_table = MakeTable(*local, variable);
  if (!is_table) MakeLeaves(*local, local->type, 1, 0, words);
  std::string word;
  for (char letter : binary_.NameOf(variable.result)) {
    if (IsLetter(letter)) word += letter;
  }
  for (const Local::Leaf& leaf : local->leaves) {
    if (!word.empty() && leaf.array.Valid() && !is_table) kernel_[leaf.array].name = FreeName(word);
  }
  Pointer pointer;
  pointer.kind = Pointer::Kind::Local;
  pointer.pointee = local->type;
  pointer.local = local.get();
  frame().locals[variable.result] = std::move(local);
  frame().pointers[variable.result] = pointer;
  if (variable.operands.size() > 1 && !is_table) StoreLocal(pointer, Get(variable.At(1)).parts, variable);
}

// Each register of a value of `type`, in the order of its members, with where it lies in its array.
void Locals::VisitLocal(const Pointer& pointer, Id type, uint32_t& leaf, Index element,
                        const std::function<void(Local::Leaf& leaf, ir::Value index)>& visit) {
  if (types_.IsRegister(type) || types_.IsAddress(type)) {
    ir::Value index = ValueOf(element);
    return visit(pointer.local->leaves[leaf++], index);
  }
  if (types_.KindOf(type) == spv::OpTypeArray) {
    uint32_t count = types_.Count(type), first = leaf;
    Index base = Scale(element, count);
    for (uint32_t n = 0; n < count; ++n) {
      leaf = first;
      VisitLocal(pointer, types_.Element(type), leaf, Sum(base, {n, {}}), visit);
    }
    return;
  }
  for (uint32_t n = 0; n < types_.Count(type); ++n)
    VisitLocal(pointer, types_.Member(type, n), leaf, element, visit);
}

/// The component of a vector in a local that a pointer names by a constant: others may access the rest of it.
std::optional<uint32_t> Locals::FixedComponent(const Pointer& p) const {
  if (p.column || !p.component || p.component->dynamic.Valid()) return std::nullopt;
  ir::Type element = p.local->leaves[p.leaf].element;
  bool good = element.IsVec() && p.component->constant >= 0 && p.component->constant < element.Components();
  return good ? std::optional(static_cast<uint32_t>(p.component->constant)) : std::nullopt;
}

/// A matrix whose column, or component of a column, that `p` names is `value`.
ir::Value Locals::WithColumn(ir::Value matrix, const Pointer& p, ir::Value value) {
  ir::Type type = kernel_.TypeOf(matrix);
  std::vector<ir::Value> columns;
  for (uint32_t n = 0; n < type.columns; ++n) {
    ir::Value old = b_.Column(matrix, n), now = value;
    if (p.component) now = b_.Make(ir::Op::VecSet, {old, ValueOf(*p.component), value});
    if (p.column->dynamic.Valid()) {
      ir::Value here = b_.Make(ir::Op::Eq, {ValueOf(*p.column), b_.I32(n)});
      now = b_.Make(ir::Op::Select, {here, now, old});
    } else if (p.column->constant != n) {
      now = old;
    }
    columns.push_back(now);
  }
  return b_.MatrixOf(type, columns);
}

/// A variable may hold one pointer.
void Locals::StoreAddress(Local::Leaf& leaf, ir::Value address, const Instruction& inst) {
  std::optional<int64_t> now = kernel_.IntegerConstant(address), before;
  if (leaf.address.Valid()) before = kernel_.IntegerConstant(leaf.address);
  if (!now || (leaf.address.Valid() && before != now))
    Refuse(diag::E0854, inst.span, "a pointer that is chosen at run time",
           "index one buffer, or branch on what chooses; a variable holds one pointer");
  leaf.address = address;
}

Value Locals::LoadLocal(const Pointer& p) {
  Value out;
  uint32_t leaf = p.leaf;
  if (!p.column && !p.component) {
    VisitLocal(p, p.pointee, leaf, p.element, [&](Local::Leaf& part, ir::Value index) {
      ir::Value address = part.address.Valid() ? part.address : b_.Int(ir::kI64, 0);
      out.parts.push_back(part.array.Valid() ? LoadLeaf(part, index) : address);
    });
    return out;
  }
  ir::Value index = ValueOf(p.element);
  if (std::optional<uint32_t> component = FixedComponent(p))
    return {{LoadLeaf(p.local->leaves[leaf], index, *component)}};
  ir::Value whole = LoadLeaf(p.local->leaves[leaf], index);
  if (p.column) whole = b_.Column(whole, ValueOf(*p.column));
  if (p.component) whole = b_.Make(ir::Op::VecGet, {whole, ValueOf(*p.component)});
  return {{whole}};
}

void Locals::StoreLocal(const Pointer& p, std::span<const ir::Value> parts, const Instruction& inst) {
  uint32_t leaf = p.leaf;
  Require(!parts.empty() || types_.Members(p.pointee) == 0, inst, "nothing is stored");
  if (!p.column && !p.component) {
    VisitLocal(p, p.pointee, leaf, p.element, [&](Local::Leaf& part, ir::Value index) {
      if (part.array.Valid()) {
        b_.Access(ir::Op::Store, part.array, {&index, 1}, parts.subspan(0, 1));
      } else {
        StoreAddress(part, parts[0], inst);
      }
      parts = parts.subspan(1);
    });
    return;
  }
  ir::Value index = ValueOf(p.element), array = p.local->leaves[leaf].array;
  if (std::optional<uint32_t> component = FixedComponent(p)) {
    b_.Access(ir::Op::Store, array, {&index, 1}, parts.subspan(0, 1), ir::kNoAttr, *component);
    return;
  }
  ir::Value whole = b_.Load(array, {&index, 1});
  if (p.column) {
    whole = WithColumn(whole, p, parts[0]);
  } else {
    whole = b_.Make(ir::Op::VecSet, {whole, ValueOf(*p.component), parts[0]});
  }
  b_.Access(ir::Op::Store, array, {&index, 1}, {&whole, 1});
}

}  // namespace adc::frontend::spirv
