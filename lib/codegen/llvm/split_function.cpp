#include "codegen/llvm/split_function.h"

#include <map>
#include <optional>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "support/check.h"

namespace adc::codegen {
namespace {

using llvm::BasicBlock, llvm::Instruction, llvm::Value;

constexpr uint32_t kWhole = 0;  ///< the number of the code that stays in the function itself
constexpr uint64_t kFrameAlignment = 64;

class Splitter {
 public:
  Splitter(llvm::Function& function, std::span<const Piece> pieces)
      : function_(function), layout_(function.getParent()->getDataLayout()) {
    parts_.emplace_back();
    for (const Piece& piece : pieces) parts_.emplace_back().piece = piece;
  }

  void Run() {
    FindParts();
    for (uint32_t n = 1; n < parts_.size(); ++n) MakeFunction(n);
    frame_ = llvm::IRBuilder<>(&function_.getEntryBlock().front())
                 .CreateAlloca(llvm::Type::getInt8Ty(function_.getContext()), nullptr, "frame");
    parts_[kWhole].frame = frame_;
    PassArguments();
    PassAllocas();
    PassValues();
    frame_->setAlignment(llvm::Align(kFrameAlignment));
    frame_->setAllocatedType(llvm::ArrayType::get(frame_->getAllocatedType(), frame_bytes_));
    for (uint32_t n = 1; n < parts_.size(); ++n) MoveOut(n);
  }

 private:
  /// A piece without those inside of it.
  struct Part {
    Piece piece;
    uint32_t around = kWhole;
    llvm::Function* function = nullptr;
    BasicBlock* entry = nullptr;
    Value* frame = nullptr;
  };

  void FindParts() {
    std::vector<Piece> pieces;
    for (size_t n = 1; n < parts_.size(); ++n) pieces.push_back(parts_[n].piece);
    PieceTree tree = PieceTreeOf(function_, pieces);
    for (size_t n = 1; n < parts_.size(); ++n) parts_[n].around = tree.around[n];
    part_of_ = std::move(tree.of);
  }

  void MakeFunction(uint32_t number) {
    Part& part = parts_[number];
    llvm::LLVMContext& context = function_.getContext();
    std::vector<llvm::Type*> types{llvm::PointerType::getUnqual(context)};
    for (llvm::Argument& argument : function_.args()) types.push_back(argument.getType());
    auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), types, false);
    part.function = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage,
                                           function_.getName() + ".piece" + llvm::Twine(number - 1),
                                           function_.getParent());
    llvm::AttributeList attributes = function_.getAttributes();
    part.function->addFnAttrs(llvm::AttrBuilder(context, attributes.getFnAttrs()));
    part.function->addFnAttr(llvm::Attribute::NoInline);
    for (uint32_t n = 0; n < function_.arg_size(); ++n)
      part.function->addParamAttrs(n + 1, llvm::AttrBuilder(context, attributes.getParamAttrs(n)));
    part.function->addParamAttr(0, llvm::Attribute::NoAlias);
    part.function->addParamAttr(0, llvm::Attribute::NoCapture);
    part.frame = part.function->getArg(0);
    part.entry = BasicBlock::Create(context, "entry", &function_, part.piece.begin);
    part_of_[part.entry] = number;
    BasicBlock* before = part.piece.begin->getSinglePredecessor();
    ADC_CHECK(before != nullptr && part_of_.lookup(before) == part.around, "a piece entered from one place");
    before->getTerminator()->replaceSuccessorWith(part.piece.begin, part.entry);
    llvm::BranchInst::Create(part.piece.begin, part.entry);
  }

  uint64_t Reserve(uint64_t bytes, uint64_t alignment) {
    uint64_t offset = llvm::alignTo(frame_bytes_, alignment);
    frame_bytes_ = offset + bytes;
    return offset;
  }

  Value* Address(uint32_t part, Instruction* before, uint64_t offset) {
    llvm::IRBuilder<> builder(before);
    builder.SetCurrentDebugLocation({});
    return builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), parts_[part].frame, offset);
  }

  uint32_t PartOf(const llvm::Use& use) const {
    auto* user = llvm::cast<Instruction>(use.getUser());
    auto* phi = llvm::dyn_cast<llvm::PHINode>(user);
    return part_of_.lookup(phi != nullptr ? phi->getIncomingBlock(use) : user->getParent());
  }

  bool IsAround(uint32_t outer, uint32_t inner) const {
    while (inner != outer && inner != kWhole) inner = parts_[inner].around;
    return inner == outer;
  }

  void PassArguments() {
    for (llvm::Argument& argument : function_.args()) {
      for (llvm::Use& use : llvm::make_early_inc_range(argument.uses())) {
        uint32_t part = PartOf(use);
        if (part != kWhole) use.set(parts_[part].function->getArg(argument.getArgNo() + 1));
      }
    }
  }

  /// Arrays that a piece reads or writes lie in the frame, at a fixed place.
  void PassAllocas() {
    std::vector<llvm::AllocaInst*> shared;
    for (Instruction& instruction : function_.getEntryBlock()) {
      auto* alloca = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
      if (alloca == nullptr || alloca == frame_) continue;
      bool crosses = llvm::any_of(alloca->uses(), [&](llvm::Use& use) { return PartOf(use) != kWhole; });
      if (crosses) shared.push_back(alloca);
    }
    for (llvm::AllocaInst* alloca : shared) {
      std::optional<llvm::TypeSize> size = alloca->getAllocationSize(layout_);
      ADC_CHECK(size.has_value(), "an array of a fixed size");
      uint64_t offset = Reserve(size->getFixedValue(), alloca->getAlign().value());
      llvm::DenseMap<uint32_t, Value*> places;
      places[kWhole] = Address(kWhole, alloca, offset);
      for (llvm::Use& use : llvm::make_early_inc_range(alloca->uses())) {
        uint32_t part = PartOf(use);
        Value*& place = places[part];
        if (place == nullptr) place = Address(part, parts_[part].entry->getTerminator(), offset);
        use.set(place);
      }
      alloca->eraseFromParent();
    }
  }

  void PassValues() {
    std::vector<Instruction*> made;
    for (BasicBlock& block : function_) {
      for (Instruction& instruction : block) {
        if (&instruction != frame_ && !instruction.getType()->isVoidTy()) made.push_back(&instruction);
      }
    }
    for (Instruction* instruction : made) PassValue(instruction);
  }

  void PassValue(Instruction* made) {
    uint32_t own = part_of_.lookup(made->getParent());
    // In the order of their numbers, not of the list of uses.
    std::map<std::pair<uint32_t, uint32_t>, std::vector<llvm::Use*>> elsewhere;
    for (llvm::Use& use : made->uses()) {
      uint32_t part = PartOf(use);
      if (part == own) continue;
      // Around the piece that makes the value, it is there once that piece has ended.
      uint32_t after = kWhole;
      if (IsAround(part, own)) {
        after = own;
        while (parts_[after].around != part) after = parts_[after].around;
      }
      elsewhere[{part, after}].push_back(&use);
    }
    if (elsewhere.empty()) return;
    bool again = own == kWhole && CanRepeat(made);
    uint64_t offset = 0;
    if (!again) {
      offset = Reserve(layout_.getTypeAllocSize(made->getType()),
                       layout_.getPrefTypeAlign(made->getType()).value());
      Instruction* next =
          llvm::isa<llvm::PHINode>(made) ? &*made->getParent()->getFirstInsertionPt() : made->getNextNode();
      new llvm::StoreInst(made, Address(own, next, offset), next->getIterator());
    }
    for (auto& [where, uses] : elsewhere) {
      auto [part, after] = where;
      Instruction* before = after != kWhole ? &*parts_[after].piece.end->getFirstInsertionPt()
                                            : parts_[part].entry->getTerminator();
      Value* value = again ? Repeat(made, part)
                           : new llvm::LoadInst(made->getType(), Address(part, before, offset),
                                                made->getName(), before->getIterator());
      for (llvm::Use* use : uses) use->set(value);
    }
  }

  /// Whether the value is made at the entry, only from arguments and from memory that does not change.
  bool CanRepeat(Instruction* made) {
    auto [place, fresh] = repeatable_.try_emplace(made, false);
    if (!fresh) return place->second;
    if (made->getParent() != &function_.getEntryBlock()) return false;
    bool invariant =
        llvm::isa<llvm::LoadInst>(made) && made->hasMetadata(llvm::LLVMContext::MD_invariant_load);
    if (!invariant && !llvm::isa<llvm::GetElementPtrInst, llvm::ICmpInst, llvm::CastInst>(made)) return false;
    for (Value* operand : made->operands()) {
      if (llvm::isa<llvm::Argument, llvm::Constant>(operand)) continue;
      auto* inner = llvm::dyn_cast<Instruction>(operand);
      if (inner == nullptr || !CanRepeat(inner)) return false;
    }
    return repeatable_[made] = true;
  }

  Value* Repeat(Instruction* made, uint32_t part) {
    auto known = repeated_.find({made, part});
    if (known != repeated_.end()) return known->second;
    Instruction* copy = made->clone();
    for (llvm::Use& operand : copy->operands()) {
      if (auto* argument = llvm::dyn_cast<llvm::Argument>(operand.get()))
        operand.set(parts_[part].function->getArg(argument->getArgNo() + 1));
      else if (auto* inner = llvm::dyn_cast<Instruction>(operand.get()))
        operand.set(Repeat(inner, part));
    }
    copy->insertBefore(parts_[part].entry->getTerminator());
    copy->setName(made->getName());
    return repeated_[{made, part}] = copy;
  }

  void MoveOut(uint32_t number) {
    Part& part = parts_[number];
    const Part& around = parts_[part.around];
    llvm::LLVMContext& context = function_.getContext();
    BasicBlock* before = part.entry->getSinglePredecessor();
    auto* call = BasicBlock::Create(context, "call", &function_, part.piece.end);
    part_of_[call] = part.around;
    before->getTerminator()->replaceSuccessorWith(part.entry, call);
    llvm::IRBuilder<> builder(call);
    llvm::SmallVector<Value*, 4> arguments{around.frame};
    for (uint32_t n = 0; n < function_.arg_size(); ++n)
      arguments.push_back(part.around == kWhole ? function_.getArg(n) : around.function->getArg(n + 1));
    Instruction* made = builder.CreateCall(part.function, arguments);
    made->setDebugLoc(before->getTerminator()->getDebugLoc());
    builder.CreateBr(part.piece.end);
    part.function->splice(part.function->end(), &function_, part.entry->getIterator(), call->getIterator());
    auto* leave = BasicBlock::Create(context, "leave", part.function);
    llvm::ReturnInst::Create(context, leave);
    for (BasicBlock& block : *part.function) {
      for (BasicBlock* successor : llvm::successors(&block)) {
        if (successor == part.piece.end) {
          block.getTerminator()->replaceSuccessorWith(successor, leave);
          break;
        }
        ADC_CHECK(successor->getParent() == part.function, "a piece left to its end alone");
      }
    }
    if (function_.getSubprogram() != nullptr) MovePlaces(*part.function);
  }

  /// The lines of a piece belong to a subprogram of its own.
  void MovePlaces(llvm::Function& piece) {
    llvm::DISubprogram* whole = function_.getSubprogram();
    llvm::DISubprogram* own = llvm::MDNode::replaceWithDistinct(whole->clone());
    own->replaceLinkageName(llvm::MDString::get(function_.getContext(), piece.getName()));
    piece.setSubprogram(own);
    for (BasicBlock& block : piece) {
      for (Instruction& instruction : block) {
        const llvm::DILocation* place = instruction.getDebugLoc();
        if (place == nullptr) continue;
        llvm::DILocalScope* scope = own;
        if (auto* file = llvm::dyn_cast<llvm::DILexicalBlockFile>(place->getScope()))
          scope = llvm::DILexicalBlockFile::get(function_.getContext(), own, file->getFile(),
                                                file->getDiscriminator());
        instruction.setDebugLoc(
            llvm::DILocation::get(function_.getContext(), place->getLine(), place->getColumn(), scope));
      }
    }
  }

  llvm::Function& function_;
  const llvm::DataLayout& layout_;
  std::vector<Part> parts_;
  llvm::DenseMap<const BasicBlock*, uint32_t> part_of_;
  llvm::AllocaInst* frame_ = nullptr;
  uint64_t frame_bytes_ = 0;
  llvm::DenseMap<Instruction*, bool> repeatable_;
  llvm::DenseMap<std::pair<Instruction*, uint32_t>, Value*> repeated_;
};

}  // namespace

PieceTree PieceTreeOf(llvm::Function& function, std::span<const Piece> pieces) {
  llvm::DenseMap<const BasicBlock*, uint32_t> begins, ends;
  for (uint32_t n = 0; n < pieces.size(); ++n) {
    begins[pieces[n].begin] = n + 1;
    ends[pieces[n].end] = n + 1;
  }
  PieceTree tree;
  tree.around.resize(pieces.size() + 1, kWhole);
  uint32_t inside = kWhole;
  for (BasicBlock& block : function) {
    if (uint32_t ended = ends.lookup(&block); ended != kWhole) {
      ADC_CHECK(inside == ended, "pieces of a function that overlap");
      inside = tree.around[inside];
    }
    if (uint32_t begun = begins.lookup(&block); begun != kWhole) {
      tree.around[begun] = inside;
      inside = begun;
    }
    tree.of[&block] = inside;
  }
  ADC_CHECK(inside == kWhole, "a piece of a function without its end");
  return tree;
}

void SplitFunction(llvm::Function& function, std::span<const Piece> pieces) {
  if (!pieces.empty()) Splitter(function, pieces).Run();
}

}  // namespace adc::codegen
