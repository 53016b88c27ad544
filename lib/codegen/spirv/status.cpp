#include "codegen/spirv/status.h"

#include "artifact/cpu_abi.h"
#include "artifact/gpu_abi.h"

namespace adc::codegen::spirv {

static_assert(kSourceTask == ADRT_CPU_STATUS_SOURCE_TASK && kSourceIndex == ADRT_CPU_STATUS_SOURCE_INDEX &&
              kSourceMost == ADRT_CPU_STATUS_SOURCE_MOST);
static_assert(static_cast<uint32_t>(StatusCode::AdstackOverflow) == ADRT_CPU_ADSTACK_OVERFLOW &&
              static_cast<uint32_t>(StatusCode::RowsExhausted) == ADRT_GPU_ROWS_EXHAUSTED);

template <class WordPlace>
void StatusReporter::Fill(FunctionBuilder& f, WordPlace word, Id source, Id code, Id task, Id index,
                          Id needed, Id iteration, bool has_need) {
  ModuleBuilder& m = context_.module;
  Id type = m.IntType(32), relaxed = f.Int(32, 0);
  Id found = f.Emit(spv::OpAtomicCompareExchange, type,
                    {word(ADRT_CPU_STATUS_SOURCE).pointer, f.Int(32, spv::ScopeDevice), relaxed, relaxed,
                     source, f.Int(32, 0)});
  Id won = m.NewId(), filled = m.NewId();
  f.Select(f.Compare(spv::OpIEqual, found, f.Int(32, 0)), won, filled, filled);
  f.Start(won);
  auto store = [&](uint32_t number, Id value) {
    Place place = word(number);
    f.Store(place.pointer, value, place.alignment);
  };
  auto store_wide = [&](uint32_t number, Id value) {
    store(number, f.Resize(value, 64, 32, false));
    store(number + 1, f.Resize(f.ShiftRight(64, value, f.Int(32, 32)), 64, 32, false));
  };
  store(ADRT_CPU_STATUS_CODE, code);
  store(ADRT_CPU_STATUS_TASK, task);
  store(ADRT_CPU_STATUS_INDEX, index);
  store_wide(ADRT_CPU_STATUS_NEEDED, needed);
  store_wide(ADRT_CPU_STATUS_ITERATION, iteration);
  f.Branch(filled);
  f.Start(filled);
  if (!has_need) return;
  Id same = m.NewId(), done = m.NewId();
  f.Select(f.Compare(spv::OpIEqual, found, source), same, done, done);
  f.Start(same);
  Id high = f.ShiftRight(64, needed, f.Int(32, 32)), largest = f.Int(32, UINT32_MAX);
  Id most =
      f.Choose(type, f.Compare(spv::OpIEqual, high, f.Int(64, 0)), f.Resize(needed, 64, 32, false), largest);
  f.Emit(spv::OpAtomicUMax, type,
         {word(ADRT_CPU_STATUS_MOST).pointer, f.Int(32, spv::ScopeDevice), relaxed, most});
  f.Branch(done);
  f.Start(done);
}

/// raise(status address, source, code, task, index, needed, iteration)
Id StatusReporter::MakeFunction() {
  ModuleBuilder& m = context_.module;
  Id word = m.IntType(32), wide = m.IntType(64);
  Id parameters[] = {wide, word, word, word, word, wide, wide};
  FunctionBuilder f(m, m.VoidType(), parameters);
  Id block = m.BlockOfArray(TypeOf(m, Storage::U32), BytesOf(Storage::U32), true);
  Id status = f.Emit(spv::OpConvertUToPtr, m.PointerType(spv::StorageClassPhysicalStorageBuffer, block),
                     {f.Parameter(0)});
  auto place = [&](uint32_t number) {
    Id type = m.PointerType(spv::StorageClassPhysicalStorageBuffer, word);
    return Place{f.Emit(spv::OpAccessChain, type, {status, f.Int(32, 0), f.Int(32, number)}), 4,
                 Storage::U32};
  };
  Fill(f, place, f.Parameter(1), f.Parameter(2), f.Parameter(3), f.Parameter(4), f.Parameter(5),
       f.Parameter(6), true);
  f.Do(spv::OpReturn, {});
  f.Finish();
  return f.id();
}

void StatusReporter::Raise(StatusCode code, uint32_t index, Id needed) {
  Id zero = f_.Int(64, 0);
  Id what[] = {f_.Int(32, StatusSource(code, task_, index)),
               f_.Int(32, static_cast<uint32_t>(code)),
               f_.Int(32, task_),
               f_.Int(32, index),
               needed != 0 ? needed : zero,
               iteration_ != 0 ? iteration_ : zero};
  if (environment_.addressing() == Addressing::Metal) {
    auto place = [&](uint32_t number) { return environment_.StatusWord(number); };
    Fill(f_, place, what[0], what[1], what[2], what[3], what[4], what[5], needed != 0);
    return;
  }
  if (context_.raise == 0) context_.raise = MakeFunction();
  f_.Emit(
      spv::OpFunctionCall, context_.module.VoidType(),
      {context_.raise, environment_.StatusAddress(), what[0], what[1], what[2], what[3], what[4], what[5]});
}

}  // namespace adc::codegen::spirv
