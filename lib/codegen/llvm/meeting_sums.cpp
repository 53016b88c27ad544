#include "codegen/llvm/meeting_sums.h"

#include <algorithm>

#include "codegen/llvm/lane_flush.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

namespace adc::codegen {

using llvm::Value;

namespace {

constexpr const char* kMark = "adc.may_meet";
/// Cells that are flushed together, at most: each takes registers.
constexpr size_t kMostCells = 4;
/// Lanes are added up where so many have the cell of the last one.
constexpr uint32_t kEnough = 8;

/// An address as a start, an index of elements and a number of bytes.
struct Place {
  Value* start = nullptr;
  Value* index = nullptr;  ///< null: none
  uint64_t element = 0;    ///< bytes
  int64_t offset = 0;
  bool HasBaseOf(const Place& other) const {
    return start == other.start && index == other.index && element == other.element;
  }
};

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

bool IsSum(const llvm::Instruction& instruction) {
  auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction);
  return update != nullptr && update->getMetadata(kMark) != nullptr && update->use_empty() &&
         update->getOperation() == llvm::AtomicRMWInst::FAdd &&
         (update->getType()->isFloatTy() || update->getType()->isDoubleTy());
}

/// Sums into neighbouring cells between which nothing touches memory, in the order of the code.
struct Group {
  llvm::SmallVector<llvm::AtomicRMWInst*, kMostCells> sums;
  llvm::SmallVector<Place, kMostCells> places;

  bool Takes(const llvm::AtomicRMWInst* sum, const Place& place) const {
    if (sums.size() == kMostCells || sum->getType() != sums[0]->getType() || !place.HasBaseOf(places[0]))
      return false;
    auto size = static_cast<int64_t>(sum->getType()->getScalarSizeInBits() / 8);
    int64_t step = place.offset - places.back().offset;
    // From either end: components come up or down.
    if (places.size() == 1) return step == size || step == -size;
    return step == places[1].offset - places[0].offset;
  }
};

std::vector<Group> GroupsOf(llvm::Function& function) {
  const llvm::DataLayout& layout = function.getParent()->getDataLayout();
  std::vector<Group> groups;
  for (llvm::BasicBlock& block : function) {
    bool open = false;
    for (llvm::Instruction& instruction : block) {
      if (!IsSum(instruction)) {
        if (instruction.mayReadOrWriteMemory()) open = false;
        continue;
      }
      auto* sum = llvm::cast<llvm::AtomicRMWInst>(&instruction);
      Place place = PlaceOf(layout, sum->getPointerOperand());
      if (!open || !groups.back().Takes(sum, place)) groups.emplace_back();
      groups.back().sums.push_back(sum);
      groups.back().places.push_back(place);
      open = true;
    }
  }
  return groups;
}

/// Whether the lanes that are here add up, the same for all of them: where enough have the cell of the last
/// one. The low half of an address tells; adc.flush looks at the whole. Each lane of the mask has asked for
/// it at this place, and comes to the read and to the vote, between which there is no branch.
Value* Agree(llvm::IRBuilder<>& b, const GpuDialect& wave, Value* address) {
  Value* active = wave.ActiveLanes(b);
  Value* before = b.CreateIntrinsic(llvm::Intrinsic::ctlz, {active->getType()}, {active, b.getTrue()});
  Value* last = b.CreateSub(b.getInt32(wave.Lanes() - 1), b.CreateZExtOrTrunc(before, b.getInt32Ty()));
  Value* low = b.CreatePtrToInt(address, b.getInt32Ty());
  Value* alike = b.CreateICmpEQ(wave.ReadOne(b, active, low, last), low);
  Value* peers = b.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, wave.LanesWhere(b, active, alike));
  return b.CreateICmpUGE(peers, llvm::ConstantInt::get(peers->getType(), kEnough));
}

void Expand(Group& group, const GpuDialect& wave, const target::Target& target) {
  llvm::AtomicRMWInst* last = group.sums.back();
  llvm::SmallVector<llvm::AtomicRMWInst*, kMostCells> up = group.sums;
  if (group.places.back().offset < group.places.front().offset) std::reverse(up.begin(), up.end());
  llvm::IRBuilder<> b(last);
  llvm::Instruction *together = nullptr, *alone = nullptr;
  Value* address = up[0]->getPointerOperand();
  llvm::SplitBlockAndInsertIfThenElse(Agree(b, wave, address), last, &together, &alone);
  LaneCells cells{last->getType()->isFloatTy() ? ir::Scalar::F32 : ir::Scalar::F64,
                  static_cast<uint32_t>(up.size()), last->getType(), address->getType(),
                  last->getSyncScopeID()};
  llvm::SmallVector<Value*> operands{address};
  for (llvm::AtomicRMWInst* sum : up) operands.push_back(sum->getValOperand());
  b.SetInsertPoint(together);
  b.SetCurrentDebugLocation(last->getDebugLoc());
  b.CreateCall(FlushFunction(*last->getModule(), wave, target, cells), operands);
  for (llvm::AtomicRMWInst* sum : group.sums) sum->moveBefore(alone);
}

}  // namespace

void MarkMayMeet(llvm::Instruction* update) {
  update->setMetadata(kMark, llvm::MDNode::get(update->getContext(), {}));
}

void ExpandMeetingSums(llvm::Module& module, const GpuDialect& wave, const target::Target& target) {
  std::vector<llvm::Function*> functions;
  for (llvm::Function& function : module) functions.push_back(&function);
  for (llvm::Function* function : functions) {
    for (Group& group : GroupsOf(*function)) Expand(group, wave, target);
  }
}

}  // namespace adc::codegen
