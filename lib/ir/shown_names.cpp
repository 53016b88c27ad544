#include "ir/shown_names.h"

#include "ir/known.h"
#include "ir/module.h"
#include "support/letters.h"

namespace adc::ir {
namespace {

/// A loop, call or atomic whose results have no names and no readers is written without them.
bool MayDropResults(Op op) {
  return op == Op::For || op == Op::While || op == Op::Call || IsAtomic(op);
}

bool IsNumber(std::string_view name) {
  return name.find_first_not_of("0123456789") == std::string_view::npos;
}

/// The name of a value, where text can have it: a name that begins with a digit is a number in text, and a
/// name that passes make of a number that a text had ("0.1", "0.adj") is no name there.
std::string_view NameInText(const Module& module, const Function& function, Value v) {
  std::string_view name = module.Text(function[v].name);
  bool begins_with_digit = !name.empty() && IsDigit(name[0]);
  return begins_with_digit && !IsNumber(name) ? std::string_view() : name;
}

}  // namespace

ShownNames::ShownNames(const Module& module, const Function& function)
    : module_(module), function_(function) {
  used_.assign(function_.ValueCount(), 0);
  std::vector<Value> order = InTextualOrder();
  // All names of the source are known before any is made up, so that none is taken twice.
  for (Value v : order) {
    std::string_view name = NameInText(module_, function_, v);
    if (!name.empty()) names_.try_emplace(name);
  }
  shown_.assign(function_.ValueCount(), {});
  uint64_t number = 0;
  for (Value v : order) {
    std::string_view name = NameInText(module_, function_, v);
    if (name.empty()) {
      if (!used_[v.raw] && DroppedAlone(v)) continue;
      shown_[v.raw] = Fresh("", number);
      continue;
    }
    NameState& state = names_[name];
    if (!state.taken) {
      state.taken = true;
      shown_[v.raw] = name;
    } else {
      shown_[v.raw] = IsNumber(name) ? Fresh("", number) : Fresh(std::string(name) + ".", state.next_suffix);
    }
  }
}

/// Finds what is used, and the values that the text defines, in its order. Goes through blocks and
/// instructions without recursion: the regions of an instruction before what follows it, and no block twice.
std::vector<Value> ShownNames::InTextualOrder() {
  struct Place {
    Block block;
    size_t next;
  };
  std::vector<Value> order;
  std::vector<unsigned char> met(function_.BlockCount(), 0);
  std::vector<Place> stack;
  auto add = [&](Value v) {
    if (Known(function_, v)) order.push_back(v);
  };
  auto enter = [&](Block block) {
    if (!Known(function_, block) || met[block.raw] != 0) return;
    met[block.raw] = 1;
    stack.push_back({block, 0});
    for (Value v : function_[block].params) add(v);
  };
  enter(function_.Body());
  while (!stack.empty()) {
    Place& top = stack.back();
    const std::vector<Inst>& insts = function_[top.block].insts;
    if (top.next == insts.size()) {
      stack.pop_back();
      continue;
    }
    Inst inst = insts[top.next++];
    if (!Known(function_, inst)) continue;
    for (Value v : function_.Operands(inst)) {
      if (Known(function_, v)) used_[v.raw] = 1;
    }
    const InstData& data = function_[inst];
    for (uint32_t n = 0; n < data.result_count; ++n) add(function_.Result(inst, n));
    enter(data.regions[1]);
    enter(data.regions[0]);
  }
  return order;
}

/// Whether the instruction of the result `v` shows no results at all.
bool ShownNames::DroppedAlone(Value v) const {
  Inst inst = function_.DefiningInst(v);
  return inst.Valid() && !ShowsResults(inst);
}

bool ShownNames::ShowsResults(Inst inst) const {
  const InstData& data = function_[inst];
  if (data.result_count == 0) return false;
  if (!MayDropResults(data.op)) return true;
  for (uint32_t n = 0; n < data.result_count; ++n) {
    Value v = function_.Result(inst, n);
    if (!Known(function_, v) || used_[v.raw] || function_[v].name.Valid()) return true;
  }
  return false;
}

/// The first of `stem` and a number that is free. An empty stem counts from 0, another one from 1.
std::string_view ShownNames::Fresh(const std::string& stem, uint64_t& next) {
  for (;;) {
    std::string text = stem + std::to_string(stem.empty() ? next : ++next);
    if (stem.empty()) ++next;
    if (names_.contains(text)) continue;
    generated_.push_back(std::move(text));
    names_[generated_.back()].taken = true;
    return generated_.back();
  }
}

}  // namespace adc::ir
