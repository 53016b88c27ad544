#include "codegen/spirv/storage.h"

#include "codegen/common/questions.h"
#include "ir/module.h"
#include "support/check.h"

namespace adc::codegen::spirv {

using ir::Op, ir::Scalar;

Scalar ScalarOf(Storage storage) {
  constexpr Scalar kScalars[] = {Scalar::U8,  Scalar::U16, Scalar::U32, Scalar::U64,
                                 Scalar::F16, Scalar::F32, Scalar::F64};
  return kScalars[static_cast<uint8_t>(storage)];
}

Storage WordStorage(Scalar scalar) {
  constexpr Storage kWords[] = {Storage::U8, Storage::U16, Storage::U32, Storage::U64};
  return kWords[std::countr_zero(ir::ByteSize(scalar))];
}

Storage NaturalStorage(Scalar scalar) {
  constexpr Storage kFloats[] = {Storage::F16, Storage::F32, Storage::F64};
  return ir::IsFloat(scalar) ? kFloats[std::countr_zero(ir::ByteSize(scalar)) - 1] : WordStorage(scalar);
}

Id TypeOf(ModuleBuilder& module, Storage storage) {
  uint32_t bits = 8 * BytesOf(storage);
  if (bits == 8) module.AddCapability(spv::CapabilityStorageBuffer8BitAccess);
  if (bits == 16) module.AddCapability(spv::CapabilityStorageBuffer16BitAccess);
  return IsFloat(storage) ? module.types.Float(bits) : module.types.Int(bits);
}

/// Metal's source gets a function for it, which says in one place what would be a loop at each addition.
AtomicAbility AbilityOf(const target::Target& target) {
  return {.float_add = target.AddsFloats()};
}

AtomicWay WayOf(Op op, Scalar scalar, bool is_count, const AtomicAbility& ability) {
  // Devices without atomics of 64 bits count as well as others.
  if (is_count) return AtomicWay::Count;
  if (ir::ByteSize(scalar) < 4) return AtomicWay::SubWord;
  if (op == Op::AtomicMul) return AtomicWay::Loop;
  if (!ir::IsFloat(scalar) || op == Op::AtomicExchange || op == Op::AtomicCompareExchange)
    return AtomicWay::Word;
  bool sum = op == Op::AtomicAdd || op == Op::AtomicSub || op == Op::AddTo;
  return sum && ability.float_add ? AtomicWay::FloatAdd : AtomicWay::Loop;
}

bool IsCounts(const ir::Function& kernel, uint32_t param) {
  return ir::IsCounting(kernel.role) && param + size_t{1} == kernel.Params().size();
}

namespace {

class UseFinder {
 public:
  UseFinder(const ir::Module& module, const ir::Function& kernel, const AtomicAbility& ability)
      : module_(module),
        kernel_(kernel),
        ability_(ability),
        uses_(kernel.params.size()),
        added_(kernel.params.size()) {}

  void Visit(ir::Inst inst) {
    if (ir::IsAccess(kernel_[inst].op)) VisitAccess(inst);
    for (uint32_t region = 0; region < kernel_.RegionCount(inst); ++region) {
      for (ir::Inst inner : kernel_[kernel_[inst].regions[region]].insts) Visit(inner);
    }
  }

  std::vector<ParamUse> Take() {
    for (size_t param = 0; param < uses_.size(); ++param) {
      ParamUse& use = uses_[param];
      for (Storage storage : use.as_words) {
        if (use.views.erase(storage) != 0) use.views.insert(WordStorage(ScalarOf(storage)));
      }
      use.views.insert(added_[param].begin(), added_[param].end());
    }
    return std::move(uses_);
  }

 private:
  void VisitAccess(ir::Inst inst) {
    const ir::InstData& data = kernel_[inst];
    ir::Value base = kernel_.Operand(inst, 0);
    ir::Type type = kernel_.TypeOf(base);
    if (!type.IsBuffer() && !type.IsLayout()) return;
    uint32_t param = kernel_[base].number;
    ParamUse& use = uses_[param];
    Scalar scalar = module_.ElementType(kernel_, base, data.attr).scalar;
    use.written = use.written || data.op != Op::Load;
    if (!IsAtomicUpdate(kernel_, inst)) {
      use.views.insert(NaturalStorage(scalar));
      return;
    }
    switch (WayOf(data.op, scalar, IsCounts(kernel_, param), ability_)) {
      case AtomicWay::Word:
      case AtomicWay::Loop:
        use.views.insert(WordStorage(scalar));
        if (ir::IsFloat(scalar)) use.as_words.insert(NaturalStorage(scalar));
        break;
      case AtomicWay::FloatAdd:
        added_[param].insert(NaturalStorage(scalar));
        break;
      case AtomicWay::SubWord:
        use.by_address = true;
        break;
      case AtomicWay::Count:
        use.views.insert(Storage::U32);
        break;
    }
  }

  const ir::Module& module_;
  const ir::Function& kernel_;
  AtomicAbility ability_;
  std::vector<ParamUse> uses_;
  std::vector<std::set<Storage>> added_;  ///< by param: floats that are added to in memory
};

}  // namespace

std::vector<ParamUse> UsesOf(const ir::Module& module, const ir::Function& kernel, uint32_t first,
                             uint32_t last, const AtomicAbility& ability) {
  UseFinder finder(module, kernel, ability);
  for (uint32_t position = first; position < last; ++position)
    finder.Visit(kernel[kernel.Body()].insts[position]);
  return finder.Take();
}

}  // namespace adc::codegen::spirv
