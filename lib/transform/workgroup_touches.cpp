#include "transform/workgroup_touches.h"

#include <algorithm>

namespace adc::transform {

namespace {

constexpr auto kLoad = static_cast<size_t>(Touches::Kind::Load),
               kStore = static_cast<size_t>(Touches::Kind::Store),
               kAtomic = static_cast<size_t>(Touches::Kind::Atomic);
/// Accesses of one kind that are noted of an element on one way, and where several ways meet.
constexpr size_t kNoted = 2, kJoined = 4;

/// Their difference is a constant, whatever the values of the workgroup are.
bool HaveEqualTerms(const std::vector<Sum>& a, const std::vector<Sum>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Sum& x, const Sum& y) { return x.terms == y.terms; });
}

}  // namespace

void Touches::Note(uint32_t memory_class, const ElementName& element, Kind kind, const Touch& touch,
                   bool alike, bool in_buffer) {
  Memory& memory = memories_[memory_class];
  auto number = static_cast<size_t>(kind);
  if (!in_buffer || kind != Kind::Store) memory.only_stored = false;
  if (!element) {
    if (!memory.unknown[number]) memory.unknown[number] = touch;
    return;
  }
  std::vector<Touch>& noted = memory.elements[*element].of[number];
  bool seen = std::any_of(noted.begin(), noted.end(), [&](const Touch& other) {
    return other.invocation == touch.invocation || (alike && other.inst == touch.inst);
  });
  if (!seen && noted.size() < kNoted) noted.push_back(touch);
}

void Touches::Compare(const Tell& tell) {
  for (const auto& [memory_class, memory] : memories_) {
    for (const auto& [name, element] : memory.elements) CompareElement(element, tell);
    if (!memory.only_stored) CompareUnknown(memory, tell);
  }
  memories_.clear();
}

void Touches::CompareElement(const Element& element, const Tell& tell) {
  auto compare = [&](size_t changes, size_t others, bool may_be_sure) {
    for (const Touch& change : element.of[changes]) {
      for (const Touch& other : element.of[others]) {
        if (other.invocation == change.invocation) continue;
        tell({change, other, may_be_sure && change.sure && other.sure});
      }
    }
  };
  compare(kStore, kStore, true);
  compare(kStore, kAtomic, true);
  compare(kStore, kLoad, true);
  // The value that a load gets beside an atomic depends on the order, and some programs take any.
  compare(kAtomic, kLoad, false);
}

bool Touches::AreComparable(const Memory& memory) {
  const std::vector<Sum>* first = nullptr;
  for (const auto& [name, element] : memory.elements) {
    if (first != nullptr && !HaveEqualTerms(*first, name)) return false;
    first = &name;
  }
  return true;
}

void Touches::CompareUnknown(const Memory& memory, const Tell& tell) {
  std::optional<Touch> some[3];
  for (size_t kind = 0; kind < 3; ++kind) {
    some[kind] = memory.unknown[kind];
    for (const auto& [name, element] : memory.elements) {
      if (!some[kind] && !element.of[kind].empty()) some[kind] = element.of[kind].front();
    }
  }
  auto doubt = [&](const Touch& change, const Touch& other) { tell({change, other, false}); };
  if (memory.unknown[kStore]) return doubt(*memory.unknown[kStore], *memory.unknown[kStore]);
  const std::optional<Touch>& change = some[kStore] ? some[kStore] : some[kAtomic];
  if (memory.unknown[kLoad] && change) return doubt(*change, *memory.unknown[kLoad]);
  const std::optional<Touch>& plain = some[kStore] ? some[kStore] : some[kLoad];
  if (memory.unknown[kAtomic] && plain) return doubt(*memory.unknown[kAtomic], *plain);
  if (some[kStore] && !AreComparable(memory))
    doubt(*some[kStore], some[kLoad] ? *some[kLoad] : *some[kStore]);
}

void Touches::Doubt() {
  for (auto& [memory_class, memory] : memories_) {
    for (auto& [name, element] : memory.elements) {
      for (std::vector<Touch>& noted : element.of) {
        for (Touch& touch : noted) touch.sure = false;
      }
    }
  }
}

void Touches::Join(Touches others) {
  Doubt();
  others.Doubt();
  for (const auto& [memory_class, other] : others.memories_) {
    Memory& memory = memories_[memory_class];
    memory.only_stored = memory.only_stored && other.only_stored;
    for (size_t kind = 0; kind < 3; ++kind) {
      if (!memory.unknown[kind]) memory.unknown[kind] = other.unknown[kind];
      for (const auto& [name, element] : other.elements) {
        std::vector<Touch>& into = memory.elements[name].of[kind];
        for (const Touch& touch : element.of[kind]) {
          bool seen = std::any_of(into.begin(), into.end(), [&](const Touch& one) {
            return one.invocation == touch.invocation && one.inst == touch.inst;
          });
          if (!seen && into.size() < kJoined) into.push_back(touch);
        }
      }
    }
  }
}

}  // namespace adc::transform
