// An access is located first (which index is out of range, if any; else where its first component lies and
// where the tangent of that), then moved by a template over type and place. Bytes hold a scalar as in C; wide
// doubles stand for the floats of a tensor in promoted runs; cells are registers, where local arrays and
// constant arrays live.

#include "interp/memory.h"

#include <cstring>

#include "interp/origins.h"
#include "interp/tangent_rules.h"
#include "ir/layout.h"
#include "ir/reduction.h"
#include "ir/scalar_math.h"

namespace adc::interp {

using ir::Op, ir::Scalar;

namespace {

/// Elements that one adstack may hold.
constexpr uint64_t kMaxStack = uint64_t{1} << 27;

struct Located {
  std::byte* bytes = nullptr;
  double* wide = nullptr;
  uint64_t* cells = nullptr;
  double* tangent = nullptr;
  uint32_t tangent_step = 1;
  // Out of range:
  uint32_t axis = UINT32_MAX;
  int64_t index = 0;
  uint64_t extent = 0;
  bool Ok() const { return axis == UINT32_MAX; }
};

Located LocateCells(Machine& m, const AccessInfo& info) {
  Located at;
  auto index = static_cast<int64_t>(m.cells[info.index_cells[0]]);
  if (static_cast<uint64_t>(index) >= info.length) return {.axis = 0, .index = index, .extent = info.length};
  size_t cell = m.cells[info.base] + static_cast<uint64_t>(index) * info.components + info.first;
  at.cells = m.cell_store.data() + cell;
  if (m.tangents != nullptr) at.tangent = m.tangent_store.data() + cell;
  return at;
}

template <Place place>
Located Locate(Machine& m, const AccessInfo& info) {
  if constexpr (place == Place::Cells) return LocateCells(m, info);
  Located at;
  const Memory& memory = m.memories[m.cells[info.base]];
  uint64_t offset = 0;
  for (uint32_t axis = 0; axis < info.index_count; ++axis) {
    auto index = static_cast<int64_t>(m.cells[info.index_cells[axis]]);
    uint64_t extent =
        info.field != nullptr ? info.field->axes[axis].extent : static_cast<uint64_t>(memory.extents[axis]);
    if (static_cast<uint64_t>(index) >= extent) return {.axis = axis, .index = index, .extent = extent};
    if (info.field != nullptr)
      offset += ir::OffsetOf(info.field->axes[axis], static_cast<uint64_t>(index));
    else
      offset = offset * extent + static_cast<uint64_t>(index);
  }
  uint32_t size = ir::ByteSize(info.scalar);
  uint64_t entry = 0;
  if (info.field != nullptr) {
    offset += info.field->offset + uint64_t{info.first} * size;
    entry = offset / 2;
    at.tangent_step = size / 2;
  } else {
    entry = offset * info.components + info.first;
    offset = entry * size;
  }
  at.bytes = memory.data + offset;
  if constexpr (place == Place::Wide) at.wide = memory.wide + entry;
  if (memory.tangents != nullptr) at.tangent = memory.tangents + entry;
  return at;
}

template <class T, Place place>
uint64_t Read(const Located& at, uint32_t component) {
  if constexpr (place == Place::Cells) {
    return at.cells[component];
  } else if constexpr (place == Place::Wide) {
    return std::bit_cast<uint64_t>(at.wide[size_t{component} * at.tangent_step]);
  } else if constexpr (std::is_same_v<T, bool>) {
    return at.bytes[component] != std::byte{0} ? 1 : 0;
  } else {
    T value;
    std::memcpy(&value, at.bytes + size_t{component} * sizeof(T), sizeof(T));
    return ir::ToBits(value);
  }
}

template <class T, Place place>
void Write(const Located& at, uint32_t component, uint64_t bits) {
  if constexpr (place == Place::Cells) {
    at.cells[component] = bits;
  } else if constexpr (place == Place::Wide) {
    at.wide[size_t{component} * at.tangent_step] = std::bit_cast<double>(bits);
  } else if constexpr (std::is_same_v<T, bool>) {
    at.bytes[component] = static_cast<std::byte>(bits & 1);
  } else {
    T value = ir::FromBits<T>(bits);
    std::memcpy(at.bytes + size_t{component} * sizeof(T), &value, sizeof(T));
  }
}

/// An access out of range: an error, or left out.
const Code* Outside(Machine& m, const Code* c, const AccessInfo& info, const Located& at) {
  std::string text = "index " + std::to_string(at.axis) + " of '" +
                     std::string(ir::InfoOf(info.op).spelling) + "' of " + info.base_name + " is " +
                     std::to_string(at.index) + ", the extent is " + std::to_string(at.extent);
  if (m.options->out_of_range == OutOfRange::Stop) return m.Fail(ErrorKind::OutOfRange, c, std::move(text));
  m.Raise(3, 0, 0, 0, c, std::move(text));
  if (info.op == Op::Load || ir::IsAtomic(info.op)) {
    for (uint32_t k = 0; k < info.count; ++k) {
      m.cells[c->dst + k] = 0;
      if (m.tangents != nullptr) m.tangents[c->dst + k] = 0;
    }
  }
  return c + 1;
}

template <class T, Place place>
const Code* Load(Machine& m, const Code* c) {
  const AccessInfo& info = m.program->accesses[c->info];
  Located at = Locate<place>(m, info);
  if (!at.Ok()) return Outside(m, c, info, at);
  for (uint32_t k = 0; k < info.count; ++k) m.cells[c->dst + k] = Read<T, place>(at, k);
  if (m.tangents != nullptr && at.tangent != nullptr) {
    for (uint32_t k = 0; k < info.count; ++k)
      m.tangents[c->dst + k] = ir::kIsFloatType<T> ? at.tangent[size_t{k} * at.tangent_step] : 0.0;
  }
  return c + 1;
}

template <class T, Place place>
const Code* Store(Machine& m, const Code* c) {
  const AccessInfo& info = m.program->accesses[c->info];
  Located at = Locate<place>(m, info);
  if (!at.Ok()) return Outside(m, c, info, at);
  for (uint32_t k = 0; k < info.count; ++k) Write<T, place>(at, k, m.cells[c->a + k]);
  if (m.tangents != nullptr && at.tangent != nullptr && ir::kIsFloatType<T>) {
    for (uint32_t k = 0; k < info.count; ++k) at.tangent[size_t{k} * at.tangent_step] = m.tangents[c->a + k];
  }
  return c + 1;
}

/// The tangent of an element after an update that replaced `old` of tangent `before`; `given` and `desired`
/// are those of the values.
template <class T>
double UpdatedTangent(Op op, T old, T value, double before, double given, double desired) {
  // clang-format off
  switch (ir::In<ir::UpdateOp>(op)) {
    using enum ir::UpdateOp;
    case AtomicAdd: case AddTo: return before + given;
    case AtomicSub: return before - given;
    case AtomicMul: return before * ir::ScalarCast<double>(value) + ir::ScalarCast<double>(old) * given;
    case AtomicMin: return ir::Compared(Op::Lt, old, value) ? before : given;
    case AtomicMax: return ir::Compared(Op::Gt, old, value) ? before : given;
    case AtomicExchange: return given;
    case AtomicCompareExchange: return desired;
    case AtomicAnd: case AtomicOr: case AtomicXor: case Other: break;
  }
  // clang-format on
  ADC_UNREACHABLE("update of a float");
}

/// Atomics and add_to: reads, combines, writes; the result is the value before.
template <class T, Place place>
const Code* Update(Machine& m, const Code* c) {
  const AccessInfo& info = m.program->accesses[c->info];
  Located at = Locate<place>(m, info);
  if (!at.Ok()) return Outside(m, c, info, at);
  bool has_result = ir::IsAtomic(info.op);
  std::optional<Op> combined = ir::CombinedBy(info.op, std::is_same_v<T, bool> ? Scalar::I1 : Scalar::I32);
  for (uint32_t k = 0; k < info.count; ++k) {
    uint64_t old_bits = Read<T, place>(at, k);
    T old = ir::FromBits<T>(old_bits), value = ir::FromBits<T>(m.cells[c->a + k]);
    bool compares = info.op == Op::AtomicCompareExchange;
    bool replaced = !compares || old_bits == m.cells[c->a + k];
    T updated = compares   ? ir::FromBits<T>(m.cells[c->b + k])
                : combined ? ir::ScalarBinary(*combined, old, value)
                           : value;
    if (replaced) Write<T, place>(at, k, ir::ToBits(updated));
    if (has_result) m.cells[c->dst + k] = old_bits;
    if (m.tangents == nullptr || at.tangent == nullptr) continue;
    if constexpr (ir::kIsFloatType<T>) {
      double& slot = at.tangent[size_t{k} * at.tangent_step];
      double before = slot, given = m.tangents[c->a + k];
      if (replaced) slot = UpdatedTangent(info.op, old, value, before, given, m.tangents[c->b + k]);
      if (has_result) m.tangents[c->dst + k] = before;
    }
  }
  return c + 1;
}

template <class T, Place place>
const Code* Remember(Machine& m, const Code* c) {
  const AccessInfo& info = m.program->accesses[c->info];
  Located at = Locate<place>(m, info);
  for (uint32_t k = 0; at.Ok() && k < info.count; ++k) m.origins->old[k] = Read<T, place>(at, k);
  return c + 1;
}

/// The origin of component `component` of the element; 0: it has none yet.
template <class T, Place place>
uint64_t OriginAt(const Machine& m, const Located& at, uint32_t component) {
  if constexpr (place == Place::Cells)
    return m.origins->cells[static_cast<size_t>(at.cells - m.cell_store.data()) + component];
  const std::byte* byte = at.bytes + size_t{component} * sizeof(T);
  auto written = m.origins->memory.find(byte);
  if (written != m.origins->memory.end()) return written->second;
  auto given = m.origins->given.find(byte);
  return given == m.origins->given.end() ? 0 : given->second;
}

/// Sets the origin of a component that was written. 0: it is not special.
template <class T, Place place>
void SetOrigin(Machine& m, const Located& at, uint32_t component, uint64_t origin) {
  if constexpr (place == Place::Cells) {
    m.origins->cells[static_cast<size_t>(at.cells - m.cell_store.data()) + component] = origin;
  } else {
    const std::byte* byte = at.bytes + size_t{component} * sizeof(T);
    if (origin != 0)
      m.origins->memory[byte] = origin;
    else if (!m.origins->memory.empty())
      m.origins->memory.erase(byte);
  }
}

/// The origin of what an access leaves in an element that held `before` and was given `value` and `desired`:
/// each an origin, or 0 where that is not special or has none.
uint64_t OriginLeft(Op op, uint64_t before, uint64_t value, uint64_t desired) {
  if (op == Op::Store || op == Op::AtomicExchange) return value;
  if (op == Op::AtomicCompareExchange) return desired != 0 ? desired : before;
  return before == 0 || value == 0 ? before | value : std::min(before, value);
}

template <class T, Place place>
const Code* WatchAccess(Machine& m, const Code* c) {
  const AccessInfo& info = m.program->accesses[c->info];
  Located at = Locate<place>(m, info);
  if (!at.Ok()) return c + 1;
  Origins& origins = *m.origins;
  uint64_t* own = origins.cells.data() + m.base;
  auto is_special = [&](uint64_t bits) { return origins.IsSpecial(info.scalar, bits); };
  auto of_cell = [&](uint32_t cell) { return is_special(m.cells[cell]) ? own[cell] : 0; };
  for (uint32_t k = 0; k < info.count; ++k) {
    uint64_t before = 0;
    if (info.op != Op::Store && is_special(origins.old[k])) {
      uint64_t known = OriginAt<T, place>(m, at, k);
      if (!origins.Take(known, c, &before)) return nullptr;
      if (known == 0 && place != Place::Cells) origins.given[at.bytes + size_t{k} * sizeof(T)] = before;
    }
    if (info.op == Op::Load || ir::IsAtomic(info.op)) own[c->dst + k] = before;
    if (info.op == Op::Load) continue;
    uint64_t left = 0;
    if (is_special(Read<T, place>(at, k))) {
      bool compares = info.op == Op::AtomicCompareExchange;
      uint64_t known =
          OriginLeft(info.op, before, of_cell(c->a + k), compares ? of_cell(c->b + k) : uint64_t{0});
      if (!origins.Take(known, c, &left)) return nullptr;
    }
    SetOrigin<T, place>(m, at, k, left);
  }
  return c + 1;
}

/// A component number out of range: an error, or left out.
const Code* OutsideVector(Machine& m, const Code* c, int64_t index, uint32_t extent) {
  std::string text = "component " + std::to_string(index) + " of a vector of " + std::to_string(extent);
  if (m.options->out_of_range == OutOfRange::Stop) return m.Fail(ErrorKind::OutOfRange, c, std::move(text));
  m.Raise(3, 0, 0, 0, c, std::move(text));
  return c + 1;
}

template <bool slot>
const Code* StackPush(Machine& m, const Code* c) {
  uint64_t number = m.cells[c->a];
  AdStack& stack = m.stacks[number];
  uint64_t at = slot ? m.cells[c->c] : stack.values.size();
  if (at >= kMaxStack)
    return m.Fail(ErrorKind::Limit, c, "push into slot " + std::to_string(static_cast<int64_t>(at)));
  if (at >= stack.values.size()) {
    stack.values.resize(at + 1);
    stack.is_full.resize(at + 1);
    if (m.tangents != nullptr) stack.tangents.resize(at + 1);
  }
  stack.values[at] = m.cells[c->b];
  stack.is_full[at] = 1;
  if (m.tangents != nullptr) stack.tangents[at] = m.tangents[c->b];
  StackStatistics& statistics = m.result->stacks[number];
  ++statistics.pushes;
  statistics.max_depth = std::max<uint64_t>(statistics.max_depth, stack.values.size());
  return c + 1;
}

template <bool slot, bool take>
const Code* StackRead(Machine& m, const Code* c) {
  AdStack& stack = m.stacks[m.cells[c->a]];
  uint64_t at = slot ? m.cells[c->c] : stack.values.size() - 1;
  if (at >= stack.values.size()) {
    return m.Fail(ErrorKind::StackEmpty, c,
                  slot ? "slot " + std::to_string(static_cast<int64_t>(at)) + " of an adstack that holds " +
                             std::to_string(stack.values.size()) + " elements"
                       : std::string("read of an empty adstack"));
  }
  if (stack.is_full[at] == 0) {
    return m.Fail(ErrorKind::StackEmpty, c,
                  "slot " + std::to_string(static_cast<int64_t>(at)) +
                      " of an adstack, which was not pushed since it was popped");
  }
  m.cells[c->dst] = stack.values[at];
  if (m.tangents != nullptr) m.tangents[c->dst] = stack.tangents[at];
  if (take) stack.is_full[at] = 0;
  if (take && !slot) {
    stack.values.pop_back();
    stack.is_full.pop_back();
    if (m.tangents != nullptr) stack.tangents.pop_back();
  }
  return c + 1;
}

const Code* NoRows(Machine& m, const Code* c) {
  return m.Fail(ErrorKind::Row, c, "the run was not told where the rows of this task lie (RunOptions::rows)");
}

const RowTask* TaskOf(const Machine& m, const RowInfo& info) {
  return info.task < m.options->rows.size() ? &m.options->rows[info.task] : nullptr;
}

const Code* RowClaim(Machine& m, const Code* c) {
  const RowInfo& info = m.program->rows[c->info];
  const RowTask* task = TaskOf(m, info);
  if (task == nullptr || info.number >= task->group_bytes.size()) return NoRows(m, c);
  if (m.rows.size() <= info.number) m.rows.resize(info.number + size_t{1});
  Row& row = m.rows[info.number];
  auto bytes = static_cast<size_t>(std::max<int64_t>(0, task->group_bytes[info.number]));
  if (bytes > kMaxStack * sizeof(double))
    return m.Fail(ErrorKind::Limit, c, "a row of " + std::to_string(bytes) + " bytes");
  row.values.resize(bytes);
  if (m.tangents != nullptr) row.tangents.resize(bytes);
  m.cells[c->dst] = 0;
  return c + 1;
}

const Code* RowCapacity(Machine& m, const Code* c) {
  const RowInfo& info = m.program->rows[c->info];
  const RowTask* task = TaskOf(m, info);
  if (task == nullptr || info.number >= task->stack_capacity.size()) return NoRows(m, c);
  m.cells[c->dst] = static_cast<uint64_t>(task->stack_capacity[info.number]);
  return c + 1;
}

template <bool store>
const Code* RowAccess(Machine& m, const Code* c) {
  const RowInfo& info = m.program->rows[c->info];
  const RowTask* task = TaskOf(m, info);
  if (task == nullptr || info.stack >= task->stack_offset.size()) return NoRows(m, c);
  uint64_t slot = m.cells[c->a], start = static_cast<uint64_t>(task->stack_offset[info.stack]);
  size_t size = info.number < m.rows.size() ? m.rows[info.number].values.size() : 0;
  if (start > size || slot >= (size - start) / info.bytes) {
    return m.Fail(ErrorKind::Row, c,
                  "slot " + std::to_string(static_cast<int64_t>(slot)) + " of stack " +
                      std::to_string(info.stack) + ", which begins at byte " + std::to_string(start) +
                      " of a row of " + std::to_string(size) + " bytes");
  }
  uint64_t at = start + slot * info.bytes;
  Row& row = m.rows[info.number];
  if (store)
    row.values[at] = m.cells[c->b];
  else
    m.cells[c->dst] = row.values[at];
  if (m.tangents != nullptr) {
    if (store)
      row.tangents[at] = m.tangents[c->b];
    else
      m.tangents[c->dst] = row.tangents[at];
  }
  return c + 1;
}

template <class T, Place place>
Step Pick(Op op) {
  if (op == Op::Load) return &Load<T, place>;
  if (op == Op::Store) return &Store<T, place>;
  return &Update<T, place>;
}

}  // namespace

Step AccessStep(Op op, Scalar scalar, Place place) {
  return ir::VisitScalar(scalar, [&](auto type) -> Step {
    using T = decltype(type);
    if (place == Place::Cells) return Pick<T, Place::Cells>(op);
    if (place == Place::Bytes) return Pick<T, Place::Bytes>(op);
    if constexpr (std::is_same_v<T, double>) return Pick<T, Place::Wide>(op);
    return nullptr;
  });
}

Step RememberStep(Scalar scalar, Place place) {
  return ir::VisitScalar(scalar, [&](auto type) -> Step {
    using T = decltype(type);
    return place == Place::Cells ? &Remember<T, Place::Cells> : &Remember<T, Place::Bytes>;
  });
}

Step WatchAccessStep(Scalar scalar, Place place) {
  return ir::VisitScalar(scalar, [&](auto type) -> Step {
    using T = decltype(type);
    return place == Place::Cells ? &WatchAccess<T, Place::Cells> : &WatchAccess<T, Place::Bytes>;
  });
}

const Code* ShapeStep(Machine& m, const Code* c) {
  int64_t extent = m.memories[m.cells[c->a]].extents[c->b];
  m.cells[c->dst] = static_cast<uint64_t>(c->c != 0 ? int64_t{static_cast<int32_t>(extent)} : extent);
  return c + 1;
}

const Code* AllocaStep(Machine& m, const Code* c) {
  m.cells[c->dst] = m.base + c->a;
  std::fill_n(m.cells + c->a, c->b, uint64_t{0});
  if (m.tangents != nullptr) std::fill_n(m.tangents + c->a, c->b, 0.0);
  return c + 1;
}

const Code* PickStep(Machine& m, const Code* c) {
  auto index = static_cast<int64_t>(m.cells[c->b]);
  bool inside = static_cast<uint64_t>(index) < c->c;
  m.cells[c->dst] = inside ? m.cells[c->a + static_cast<uint64_t>(index)] : 0;
  if (m.tangents != nullptr)
    m.tangents[c->dst] = inside ? m.tangents[c->a + static_cast<uint64_t>(index)] : 0;
  return inside ? c + 1 : OutsideVector(m, c, index, c->c);
}

const Code* PlaceStep(Machine& m, const Code* c) {
  auto index = static_cast<int64_t>(m.cells[c->b]);
  if (static_cast<uint64_t>(index) >= c->info) return OutsideVector(m, c, index, c->info);
  m.cells[c->dst + static_cast<uint64_t>(index)] = m.cells[c->c];
  if (m.tangents != nullptr) m.tangents[c->dst + static_cast<uint64_t>(index)] = m.tangents[c->c];
  return c + 1;
}

const Code* StackNewStep(Machine& m, const Code* c) {
  m.cells[c->dst] = c->a;
  m.stacks[c->a].values.clear();
  m.stacks[c->a].is_full.clear();
  m.stacks[c->a].tangents.clear();
  return c + 1;
}

Step StackPushStep(bool slot) {
  return slot ? &StackPush<true> : &StackPush<false>;
}
Step StackPopStep(bool slot) {
  return slot ? &StackRead<true, true> : &StackRead<false, true>;
}
Step StackTopStep(bool slot) {
  return slot ? &StackRead<true, false> : &StackRead<false, false>;
}
Step RowStep(Op op) {
  // clang-format off
  switch (ir::In<ir::RowOp>(op)) {
    using enum ir::RowOp;
    case RowClaim: return &interp::RowClaim;
    case RowCapacity: return &interp::RowCapacity;
    case RowLoad: return &RowAccess<false>;
    case RowStore: return &RowAccess<true>;
    case Other: break;
  }
  // clang-format on
  ADC_UNREACHABLE("operation of rows");
}

}  // namespace adc::interp
