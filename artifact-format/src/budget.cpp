#include "artifact/budget.h"

namespace adc::artifact {
namespace {

uint64_t Scaled(uint64_t base, uint64_t per_byte, uint64_t bytes) {
  uint64_t product = 0, sum = 0;
  bool fits = !MultiplyOverflows(per_byte, bytes, &product) && !AddOverflows(base, product, &sum);
  return fits ? sum : UINT64_MAX;
}

}  // namespace

OpenBudget::OpenBudget(const Allocator* host, const OpenLimits& limits, uint64_t file_bytes)
    : host_(host),
      steps_(limits.steps != 0 ? limits.steps : Scaled(kOpenSteps, kOpenStepsPerByte, file_bytes)),
      most_bytes_(limits.memory_bytes != 0 ? limits.memory_bytes
                                           : Scaled(kOpenMemory, kOpenMemoryPerByte, file_bytes)),
      most_raw_(limits.raw_bytes != 0 ? limits.raw_bytes : Scaled(kOpenRaw, kOpenRawPerByte, file_bytes)),
      most_steps_(limits.steps != 0 ? 0 : Scaled(kMostOpenSteps, kMostOpenStepsPerByte, file_bytes)) {
  own_.allocate = [](void* user, size_t size, size_t alignment) {
    return static_cast<OpenBudget*>(user)->Take(size, alignment);
  };
  own_.release = [](void* user, void* memory, size_t size, size_t alignment) {
    static_cast<OpenBudget*>(user)->Give(memory, size, alignment);
  };
  own_.user = this;
}

bool OpenBudget::TakeRaw(uint64_t bytes) {
  if (AddOverflows(raw_, bytes, &raw_) || raw_ > most_raw_) {
    refused_raw_ = true;
    return false;
  }
  steps_.Raise(Scaled(0, kOpenStepsPerByte, bytes), most_steps_);
  return true;
}

void* OpenBudget::Take(size_t size, size_t alignment) {
  if (finished_) return Allocate(host_, size, alignment);
  if (size > most_bytes_ - live_) {
    refused_memory_ = true;
    wanted_ = size;
    return nullptr;
  }
  void* memory = Allocate(host_, size, alignment);
  if (!memory) return nullptr;
  live_ += size;
  if (live_ > peak_) peak_ = live_;
  return memory;
}

void OpenBudget::Give(void* memory, size_t size, size_t alignment) {
  Release(host_, memory, size, alignment);
  if (!finished_) live_ -= size;
}

bool OpenBudget::Explain(Error* error) const {
  if (!error || !exceeded()) return false;
  error->code = Code::kOk;  // errors that followed from it are not reported
  constexpr std::string_view kRemedy = ": the bundle is damaged or hostile, or the caller has to allow more";
  if (refused_raw_) {
    return Fail(error, Code::kOverLimit, Rule::kH4, "its sections decompress to ", raw_, " bytes, over the ",
                most_raw_, " that an open may take (adrt_limits.open_raw_bytes)", kRemedy);
  }
  if (refused_memory_) {
    return Fail(error, Code::kOverLimit, Rule::kH4, "opening takes ", live_ + wanted_,
                " bytes of memory and more, over the ", most_bytes_,
                " that it may take (adrt_limits.open_memory_bytes)", kRemedy);
  }
  return Fail(error, Code::kOverLimit, Rule::kH4, "opening takes more than the ", steps_.limit(),
              " steps that it may take (adrt_limits.open_steps)", kRemedy);
}

}  // namespace adc::artifact
