#include "codegen/spirv/status.h"

#include "artifact/cpu_abi.h"

namespace adc::codegen::spirv {

template <class WordPlace>
void StatusReporter::Fill(FunctionBuilder& f, WordPlace word, Id code, Id task, Id index, Id needed,
                          Id iteration) {
  ModuleBuilder& m = context_.module;
  Id type = m.IntType(32), relaxed = f.Int(32, 0);
  Id found = f.Emit(spv::OpAtomicCompareExchange, type,
                    {word(ADRT_CPU_STATUS_CODE).pointer, f.Int(32, spv::ScopeDevice), relaxed, relaxed, code,
                     f.Int(32, ADRT_CPU_OK)});
  Id won = m.NewId(), done = m.NewId();
  f.Select(f.Compare(spv::OpIEqual, found, f.Int(32, ADRT_CPU_OK)), won, done, done);
  f.Start(won);
  auto store = [&](uint32_t number, Id value) {
    Place place = word(number);
    f.Store(place.pointer, value, place.alignment);
  };
  auto store_wide = [&](uint32_t number, Id value) {
    store(number, f.Resize(value, 64, 32, false));
    store(number + 1, f.Resize(f.ShiftRight(64, value, f.Int(32, 32)), 64, 32, false));
  };
  store(ADRT_CPU_STATUS_TASK, task);
  store(ADRT_CPU_STATUS_INDEX, index);
  store_wide(ADRT_CPU_STATUS_NEEDED, needed);
  store_wide(ADRT_CPU_STATUS_ITERATION, iteration);
  f.Branch(done);
  f.Start(done);
}

/// raise(status address, code, task, index, needed, iteration)
Id StatusReporter::MakeFunction() {
  ModuleBuilder& m = context_.module;
  Id word = m.IntType(32), wide = m.IntType(64);
  Id parameters[] = {wide, word, word, word, wide, wide};
  FunctionBuilder f(m, m.VoidType(), parameters);
  Id block = m.BlockOfArray(TypeOf(m, Storage::U32), BytesOf(Storage::U32), true);
  Id status = f.Emit(spv::OpConvertUToPtr, m.PointerType(spv::StorageClassPhysicalStorageBuffer, block),
                     {f.Parameter(0)});
  auto place = [&](uint32_t number) {
    Id type = m.PointerType(spv::StorageClassPhysicalStorageBuffer, word);
    return Place{f.Emit(spv::OpAccessChain, type, {status, f.Int(32, 0), f.Int(32, number)}), 4,
                 Storage::U32};
  };
  Fill(f, place, f.Parameter(1), f.Parameter(2), f.Parameter(3), f.Parameter(4), f.Parameter(5));
  f.Do(spv::OpReturn, {});
  f.Finish();
  return f.id();
}

void StatusReporter::Raise(StatusCode code, uint32_t index, Id needed) {
  Id zero = f_.Int(64, 0);
  Id what[] = {f_.Int(32, static_cast<uint32_t>(code)), f_.Int(32, task_), f_.Int(32, index),
               needed != 0 ? needed : zero, iteration_ != 0 ? iteration_ : zero};
  if (environment_.addressing() == Addressing::Metal) {
    auto place = [&](uint32_t number) { return environment_.StatusWord(number); };
    Fill(f_, place, what[0], what[1], what[2], what[3], what[4]);
    return;
  }
  if (context_.raise == 0) context_.raise = MakeFunction();
  f_.Emit(spv::OpFunctionCall, context_.module.VoidType(),
          {context_.raise, environment_.StatusAddress(), what[0], what[1], what[2], what[3], what[4]});
}

}  // namespace adc::codegen::spirv
