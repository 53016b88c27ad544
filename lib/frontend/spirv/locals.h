#pragma once
// Variables of functions, of invocations and of workgroups, as arrays of the IR.

#include <functional>

#include "frontend/spirv/pointers.h"

namespace adc::frontend::spirv {

class Locals : public Pointers {
 protected:
  using Pointers::Pointers;
  void MakeLocal(const Instruction& variable, ir::Words words = {});
  Value LoadLocal(const Pointer& pointer);
  void StoreLocal(const Pointer& pointer, std::span<const ir::Value> parts, const Instruction& inst);

 private:
  void MakeLeaves(Local& local, Id type, uint64_t count, uint32_t depth, ir::Words words);
  void VisitLocal(const Pointer& pointer, Id type, uint32_t& leaf, Index element,
                  const std::function<void(Local::Leaf& leaf, ir::Value index)>& visit);
  std::optional<uint32_t> FixedComponent(const Pointer& pointer) const;
  ir::Value WithColumn(ir::Value matrix, const Pointer& pointer, ir::Value value);
  void StoreAddress(Local::Leaf& leaf, ir::Value address, const Instruction& inst);
  StringId FreeName(const std::string& wanted);

  // tables.cpp
  bool MakeTable(Local& local, const Instruction& variable);
  bool NumbersOf(Id constant, std::vector<uint64_t>& numbers, uint32_t depth);
  ir::Value LoadLeaf(const Local::Leaf& leaf, ir::Value index, uint32_t component = ir::kNoAttr);

  std::set<std::string> value_names_;
  std::map<std::string, uint32_t> next_numbers_;  ///< after a name that is taken
};

}  // namespace adc::frontend::spirv
