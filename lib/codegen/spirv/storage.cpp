#include "codegen/spirv/storage.h"

#include "ir/module.h"
#include "support/check.h"

namespace adc::codegen::spirv {

using ir::Op, ir::Scalar;

uint32_t BytesOf(Storage storage) {
  constexpr uint32_t kBytes[kStorageCount] = {1, 2, 4, 8, 2, 4, 8};
  return kBytes[static_cast<uint8_t>(storage)];
}

Scalar ScalarOf(Storage storage) {
  constexpr Scalar kScalars[kStorageCount] = {Scalar::U8,  Scalar::U16, Scalar::U32, Scalar::U64,
                                              Scalar::F16, Scalar::F32, Scalar::F64};
  return kScalars[static_cast<uint8_t>(storage)];
}

Storage WordStorage(Scalar scalar) {
  switch (ir::ByteSize(scalar)) {
    case 1:
      return Storage::U8;
    case 2:
      return Storage::U16;
    case 4:
      return Storage::U32;
    default:
      return Storage::U64;
  }
}

Storage NaturalStorage(Scalar scalar) {
  if (scalar == Scalar::F16) return Storage::F16;
  if (scalar == Scalar::F32) return Storage::F32;
  if (scalar == Scalar::F64) return Storage::F64;
  return WordStorage(scalar);
}

Id TypeOf(ModuleBuilder& module, Storage storage) {
  switch (storage) {
    case Storage::U8:
      module.AddCapability(spv::CapabilityStorageBuffer8BitAccess);
      return module.types.Int(8);
    case Storage::U16:
      module.AddCapability(spv::CapabilityStorageBuffer16BitAccess);
      return module.types.Int(16);
    case Storage::U32:
      return module.types.Int(32);
    case Storage::U64:
      return module.types.Int(64);
    case Storage::F16:
      module.AddCapability(spv::CapabilityStorageBuffer16BitAccess);
      return module.types.Float(16);
    case Storage::F32:
      return module.types.Float(32);
    case Storage::F64:
      return module.types.Float(64);
  }
  ADC_UNREACHABLE("a storage without a type");
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

bool IsAtomicUpdate(const ir::Function& kernel, ir::Inst inst) {
  const ir::InstData& data = kernel[inst];
  ir::Type base = kernel.TypeOf(kernel.Operand(inst, 0));
  if (!base.IsBuffer() && !base.IsLayout()) return false;
  if (data.op == Op::AddTo) return !data.Has(ir::Word::Plain);
  return ir::IsAtomic(data.op);
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
    const ir::InstData& data = kernel_[inst];
    if (ir::IsAccess(data.op)) VisitAccess(inst);
    for (ir::Block region : data.regions) {
      if (!region.Valid()) continue;
      for (ir::Inst inner : kernel_[region].insts) Visit(inner);
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
