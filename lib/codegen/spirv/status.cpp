#include "codegen/spirv/status.h"

#include "artifact/cpu_abi.h"

namespace adc::codegen::spirv {

template <class WordPlace>
void StatusReporter::Fill(FunctionBuilder& f, WordPlace word, const Report& report) {
  bool narrow = environment_.entry.narrow;
  Id type = context_.module.types.Int(32), relaxed = f.Int(32, 0);
  Id found = f.Emit(spv::OpAtomicCompareExchange, type,
                    {word(ADRT_CPU_STATUS_SOURCE).pointer, f.Int(32, spv::ScopeDevice), relaxed, relaxed,
                     report.source, f.Int(32, 0)});
  auto store = [&](uint32_t number, Id value) {
    Place place = word(number);
    f.Store(place.pointer, value, place.alignment);
  };
  auto store_wide = [&](uint32_t number, Id value) {
    store(number, f.Resize(value, environment_.entry.Wide(), 32, false));
    store(number + 1,
          narrow ? f.Int(32, 0) : f.Resize(f.ShiftRight(64, value, f.Int(32, 32)), 64, 32, false));
  };
  f.When(f.Compare(spv::OpIEqual, found, f.Int(32, 0)), [&] {
    store(ADRT_CPU_STATUS_CODE, report.code);
    store(ADRT_CPU_STATUS_TASK, report.task);
    store(ADRT_CPU_STATUS_INDEX, report.index);
    store_wide(ADRT_CPU_STATUS_NEEDED, report.needed);
    store_wide(ADRT_CPU_STATUS_ITERATION, report.iteration);
  });
  f.When(f.Compare(spv::OpIEqual, found, report.source), [&] {
    Id most = report.needed;
    if (!narrow) {
      Id high = f.ShiftRight(64, report.needed, f.Int(32, 32)), largest = f.Int(32, UINT32_MAX);
      Id fits = f.Compare(spv::OpIEqual, high, f.Int(64, 0)), low = f.Resize(report.needed, 64, 32, false);
      most = f.Choose(type, fits, low, largest);
    }
    f.Emit(spv::OpAtomicUMax, type,
           {word(ADRT_CPU_STATUS_MOST).pointer, f.Int(32, spv::ScopeDevice), relaxed, most});
  });
}

/// raise(status address, source, code, task, index, needed, iteration). Without device addresses: without the
/// first, since the block is a variable of the entry.
Id StatusReporter::MakeFunction() {
  ModuleBuilder& m = context_.module;
  bool bound = !HasAddresses(environment_.entry.addressing);
  spv::StorageClass memory = bound ? spv::StorageClassStorageBuffer : spv::StorageClassPhysicalStorageBuffer;
  Id word = m.types.Int(32), wide = m.types.Int(environment_.entry.Wide());
  std::vector<Id> parameters = {word, word, word, word, wide, wide};
  if (!bound) parameters.insert(parameters.begin(), wide);
  FunctionBuilder f(m, m.types.Void(), parameters);
  m.Name(f.id(), "adc.raise");
  Id status = 0;
  if (bound) {
    status = environment_.blocks.StatusBlock();
  } else {
    Id block = m.types.BlockOfArray(TypeOf(m, Storage::U32), BytesOf(Storage::U32), true);
    status = f.Emit(spv::OpConvertUToPtr, m.types.Pointer(memory, block), {f.Parameter(0)});
  }
  auto place = [&](uint32_t number) {
    Id type = m.types.Pointer(memory, word);
    Id pointer = f.Emit(spv::OpAccessChain, type, {status, f.Int(32, 0), f.Int(32, number)});
    return Place{pointer, bound ? 0u : 4u, Storage::U32};
  };
  size_t first = bound ? 0 : 1;
  Fill(f, place,
       {f.Parameter(first), f.Parameter(first + 1), f.Parameter(first + 2), f.Parameter(first + 3),
        f.Parameter(first + 4), f.Parameter(first + 5)});
  f.Do(spv::OpReturn, {});
  f.Finish();
  return f.id();
}

void StatusReporter::Raise(StatusCode code, uint32_t index, Id needed) {
  bool bound = !HasAddresses(environment_.entry.addressing);
  Id& raise = bound ? raise_ : context_.raise;
  if (raise == 0) raise = MakeFunction();
  std::vector<Id> operands = {raise};
  if (!bound) operands.push_back(environment_.words.StatusAddress());
  Id zero = f_.Int(environment_.entry.Wide(), 0);
  for (Id operand : {f_.Int(32, StatusSource(code, task_, index)), f_.Int(32, static_cast<uint32_t>(code)),
                     f_.Int(32, task_), f_.Int(32, index), needed != 0 ? needed : zero,
                     iteration_ != 0 ? iteration_ : zero})
    operands.push_back(operand);
  f_.Emit(spv::OpFunctionCall, context_.module.types.Void(), operands);
}

}  // namespace adc::codegen::spirv
