// Every header of the loader from C++17; the functions of every kind of device are there to be linked.
#include <adrt/adrt.h>
#include <adrt/adrt_arg_group.h>
#include <adrt/adrt_cpu.h>
#include <adrt/adrt_cuda.h>
#include <adrt/adrt_hip.h>
#include <adrt/adrt_metal.h>
#include <adrt/adrt_rollout.h>
#include <adrt/adrt_sequence.h>
#include <adrt/adrt_vk.h>

#include <cstdio>
#include <cstring>

static_assert(__cplusplus < 202002L, "C++17");

int main() {
  const void* functions[] = {reinterpret_cast<const void*>(&adrt_record_cuda),
                             reinterpret_cast<const void*>(&adrt_record_hip),
                             reinterpret_cast<const void*>(&adrt_record_metal),
                             reinterpret_cast<const void*>(&adrt_record_vk),
                             reinterpret_cast<const void*>(&adrt_rollout_next),
                             reinterpret_cast<const void*>(&adrt_record_cpu),
                             reinterpret_cast<const void*>(&adrt_sequence_record),
                             reinterpret_cast<const void*>(&adrt_plan_grouped)};
  for (const void* function : functions) {
    if (function == nullptr) return 1;
  }
  std::printf("%u %s\n", static_cast<unsigned>(adrt_version()), adrt_status_text(ADRT_OK));
  return std::strcmp(adrt_status_text(ADRT_OK), "ok") == 0 ? 0 : 1;
}
