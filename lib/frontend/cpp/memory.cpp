#include "frontend/cpp/memory.h"

namespace adc::frontend {

namespace {

/// The vector or matrix that a component is of, in the end.
const Object& WholeOf(const Object& object) {
  return object.kind == ObjectKind::Component ? WholeOf(*object.of) : object;
}

}  // namespace

/// The position in a vector or matrix of a number that is a component of it, where that is known.
std::optional<uint32_t> Memory::KnownComponent(const Object& component) const {
  if (!component.register_type.IsScalar()) return std::nullopt;
  const Object& of = *component.of;
  std::optional<int64_t> at = function_.IntegerConstant(component.at), row = 0;
  int64_t rows = 1, columns = of.register_type.rows;
  if (of.kind == ObjectKind::Component) {
    row = function_.IntegerConstant(of.at);
    rows = of.of->register_type.rows;
  }
  bool inside = at && row && *at >= 0 && *at < columns && *row >= 0 && *row < rows;
  return inside ? std::optional(static_cast<uint32_t>(*row * columns + *at)) : std::nullopt;
}

Value Memory::Load(const ObjectPtr& object, SourceRange range) {
  SetPlace(range);
  switch (object->kind) {
    case ObjectKind::Slot:
      return writer_.Get(object->slot);
    case ObjectKind::Cell: {
      if (IsOutside(object->base))
        Refuse(range, "an array that is declared outside of " + parallel_ + " is used inside of it",
               "declare it inside, make it constexpr, or pass a buffer");
      return writer_.Load(object->base, object->indices);
    }
    case ObjectKind::Spread: {
      Type type = object->register_type;
      if (type.IsScalar()) return LoadWords(*object, range);
      std::vector<Value> parts;
      for (uint32_t n = 0; n < type.Components(); ++n) parts.push_back(Load(SpreadPart(*object, n), range));
      return Composed(type, parts);
    }
    case ObjectKind::Bits: {
      Value bits = Load(object->of, range);
      return writer_.Bitcast(bits, object->register_type);
    }
    case ObjectKind::Choice:
      return writer_.Choose(
          object->at, object->register_type, [&] { return Load(object->of, range); },
          [&] { return Load(object->members[0], range); });
    case ObjectKind::Component: {
      const Object& whole = WholeOf(*object);
      std::optional<uint32_t> known = KnownComponent(*object);
      if (known && whole.kind == ObjectKind::Cell)
        return writer_.Load(whole.base, whole.indices, ir::kNoAttr, *known);
      if (known && whole.kind == ObjectKind::Spread) return Load(SpreadPart(whole, *known), range);
      const Object& of = *object->of;
      bool in_row = of.kind == ObjectKind::Component;
      Value from = Load(in_row ? of.of : object->of, range);
      if (in_row) return Make(Op::MatGet, {from, of.at, object->at});
      if (of.register_type.IsVec()) return Make(Op::VecGet, {from, object->at});
      // A row.
      std::vector<Value> parts;
      Type type = object->register_type;
      for (uint32_t n = 0; n < type.rows; ++n)
        parts.push_back(Make(Op::MatGet, {from, object->at, Number(n)}));
      return Composed(type, parts);
    }
    case ObjectKind::Struct:
    case ObjectKind::Array:
    case ObjectKind::Buffer:
    case ObjectKind::Pointer:
      break;
  }
  Refuse(range, "a value of type '" + Spell(object->type) + "' cannot stand here");
}

void Memory::Store(const ObjectPtr& object, Value value, SourceRange range) {
  SetPlace(range);
  Type type = object->register_type;
  switch (object->kind) {
    case ObjectKind::Slot:
      return writer_.Set(object->slot, value);
    case ObjectKind::Cell: {
      if (IsOutside(object->base))
        Refuse(range, "an array that is declared outside of " + parallel_ + " is assigned inside of it",
               "declare it inside, or pass a buffer");
      if (function_[object->base].kind == ir::ValueKind::Global) Refuse(range, "a constant is assigned");
      writer_.Access(Op::Store, object->base, object->indices, {&value, 1});
      return;
    }
    case ObjectKind::Spread: {
      if (type.IsScalar()) return StoreWords(*object, value, range);
      for (uint32_t n = 0; n < type.Components(); ++n) {
        Value part = PartOf(value, n);
        Store(SpreadPart(*object, n), part, range);
      }
      return;
    }
    case ObjectKind::Bits:
      return Store(object->of, writer_.Bitcast(value, object->of->register_type), range);
    case ObjectKind::Choice:
      return writer_.If(
          object->at, [&] { Store(object->of, value, range); },
          [&] { Store(object->members[0], value, range); });
    case ObjectKind::Component:
      break;
    case ObjectKind::Struct:
    case ObjectKind::Array:
    case ObjectKind::Buffer:
    case ObjectKind::Pointer:
      Refuse(range, "a value of type '" + Spell(object->type) + "' cannot be assigned here");
  }
  const Object& whole = WholeOf(*object);
  std::optional<uint32_t> known = KnownComponent(*object);
  if (known && whole.kind == ObjectKind::Cell) {
    writer_.Access(Op::Store, whole.base, whole.indices, {&value, 1}, ir::kNoAttr, *known);
    return;
  }
  if (known && whole.kind == ObjectKind::Spread) return Store(SpreadPart(whole, *known), value, range);
  Value before = Load(object->of, range);
  Type of = object->of->register_type;
  if (of.IsVec()) return Store(object->of, Make(Op::VecSet, {before, object->at, value}), range);
  // A row of a matrix: the matrix with every component chosen.
  std::vector<Value> parts;
  std::optional<int64_t> row = function_.IntegerConstant(object->at);
  for (uint32_t r = 0; r < of.rows; ++r) {
    for (uint32_t c = 0; c < of.columns; ++c) {
      if (row && *row != static_cast<int64_t>(r)) {
        parts.push_back(Make(Op::MatGet, {before, Number(r), Number(c)}));
        continue;
      }
      Value part = Make(Op::VecGet, {value, Number(c)});
      if (!row) {
        Value here = writer_.Int(TypeOf(object->at), r);
        part = Make(Op::Select, {Make(Op::Eq, {object->at, here}), part,
                                 Make(Op::MatGet, {before, Number(r), Number(c)})});
      }
      parts.push_back(part);
    }
  }
  Store(object->of, Composed(of, parts), range);
}

void Memory::Copy(const ObjectPtr& to, const ObjectPtr& from, SourceRange range) {
  if (to == from) return;
  if (IsLeaf(*to)) return Store(to, Load(from, range), range);
  if (to->kind == ObjectKind::Pointer) return Bind(to, AddressIn(from, range), range);
  if (to->kind == ObjectKind::Struct && from->kind == ObjectKind::Struct) {
    if (RecordOf(to->type)->isUnion() && RecordOf(from->type)->isUnion()) {
      size_t whole = WholeField(RecordOf(to->type), range);
      return Copy(to->members[whole], from->members[whole], range);
    }
    for (size_t n = 0; n < to->members.size(); ++n) {
      if (to->members[n] == nullptr || from->members[n] == nullptr) {
        to->members[n] = from->members[n];  // a reference or a buffer
      } else if (from->members[n]->kind == ObjectKind::Buffer) {
        to->members[n] = from->members[n];
      } else {
        Copy(to->members[n], from->members[n], range);
      }
    }
    return;
  }
  if (to->kind == ObjectKind::Array && from->kind == ObjectKind::Array) {
    return EachIndex(*to, range, [&](Value at) {
      ObjectPtr target = Element(to, at, range);
      Copy(target, Element(from, at, range), range);
    });
  }
  Refuse(range, "a value of type '" + Spell(from->type) + "' cannot be copied");
}

void Memory::Zero(const ObjectPtr& object, SourceRange range) {
  if (object == nullptr) return;
  SetPlace(range);
  if (IsLeaf(*object)) return Store(object, ZeroOf(object->register_type), range);
  if (object->kind == ObjectKind::Pointer) return Bind(object, NullAddress(), range);
  if (object->kind == ObjectKind::Struct) {
    for (const ObjectPtr& member : PartsOf(*object, range)) Zero(member, range);
    return;
  }
  if (object->kind != ObjectKind::Array) Refuse(range, "a buffer cannot be made in a kernel");
  EachIndex(*object, range, [&](Value at) { Zero(Element(object, at, range), range); });
}

/// The indices of an array's elements, in a loop where they are many.
void Memory::EachIndex(const Object& array, SourceRange range, const std::function<void(Value)>& visit) {
  if (array.count <= kCopiedElements) {
    for (uint64_t n = 0; n < array.count; ++n) visit(Number(n));
    return;
  }
  SetPlace(range);
  visit(OpenElements(array));
  writer_.Close();
}

/// Opens a loop over the elements of an array; the index of one.
Value Memory::OpenElements(const Object& array) {
  Value first = Number(0), end = Number(array.count);
  return writer_.OpenFor(first, end, Number(1), {});
}

}  // namespace adc::frontend
