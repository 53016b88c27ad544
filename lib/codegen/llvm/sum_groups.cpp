#include "codegen/llvm/sum_groups.h"

#include <algorithm>

#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"

namespace adc::codegen {

using llvm::Value;

namespace {

Place PlaceOf(const llvm::DataLayout& layout, Value* address) {
  llvm::APInt bytes(layout.getIndexTypeSizeInBits(address->getType()), 0);
  Place place{address->stripAndAccumulateConstantOffsets(layout, bytes, true)};
  place.offset = bytes.getSExtValue();
  auto* element = llvm::dyn_cast<llvm::GetElementPtrInst>(place.start);
  if (element == nullptr || element->getNumIndices() != 1) return place;
  place.start = element->getPointerOperand();
  place.index = element->getOperand(1);
  place.element = layout.getTypeAllocSize(element->getSourceElementType());
  Value* rest = nullptr;
  const llvm::APInt* constant = nullptr;
  using namespace llvm::PatternMatch;
  if (match(place.index, m_AddLike(m_Value(rest), m_APInt(constant)))) {
    place.index = rest;
    place.offset += constant->getSExtValue() * static_cast<int64_t>(place.element);
  }
  return place;
}

bool IsSum(const llvm::AtomicRMWInst& update) {
  return update.use_empty() && update.getOperation() == llvm::AtomicRMWInst::FAdd &&
         (update.getType()->isFloatTy() || update.getType()->isDoubleTy());
}

bool Takes(const SumGroup& group, const llvm::AtomicRMWInst& sum, const Place& place) {
  const auto& places = group.places;
  if (places.size() == kMostCells || sum.getType() != group.sums[0]->getType() || !place.HasBaseOf(places[0]))
    return false;
  auto size = static_cast<int64_t>(sum.getType()->getScalarSizeInBits() / 8);
  int64_t step = place.offset - places.back().offset;
  if (places.size() == 1) return step == size || step == -size;
  return step == places[1].offset - places[0].offset;
}

}  // namespace

SumGroup SumGroup::Up() const {
  SumGroup up = *this;
  if (places.back().offset < places.front().offset) {
    std::reverse(up.sums.begin(), up.sums.end());
    std::reverse(up.places.begin(), up.places.end());
  }
  return up;
}

std::vector<SumGroup> SumGroupsOf(llvm::Function& function,
                                  llvm::function_ref<bool(const llvm::AtomicRMWInst&)> is_wanted) {
  const llvm::DataLayout& layout = function.getParent()->getDataLayout();
  std::vector<SumGroup> groups;
  for (llvm::BasicBlock& block : function) {
    bool open = false;
    for (llvm::Instruction& instruction : block) {
      auto* sum = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction);
      if (sum == nullptr || !IsSum(*sum) || !is_wanted(*sum)) {
        if (instruction.mayReadOrWriteMemory()) open = false;
        continue;
      }
      Place place = PlaceOf(layout, sum->getPointerOperand());
      if (!open || !Takes(groups.back(), *sum, place)) groups.emplace_back();
      groups.back().sums.push_back(sum);
      groups.back().places.push_back(place);
      open = true;
    }
  }
  return groups;
}

}  // namespace adc::codegen
