#pragma once
// What a plan says of its claim groups after a launch.

#include <adrt/adrt.h>

#include <string>
#include <vector>

namespace adc::test {

struct GroupRows {
  uint32_t task = 0;
  bool can_count = false, counted = false;
  uint64_t iterations = 0, rows = 0, row_bytes = 0;
  std::string gate;
};

/// The groups of every task, and what the launch's heap takes.
struct CountedRows {
  std::vector<GroupRows> groups;
  uint64_t heap_bytes = 0;
  uint64_t threads = 0;  ///< of the last task
};

inline CountedRows ReadCountedRows(const adrt_launch_plan* plan) {
  CountedRows read;
  adrt_plan_report info = {};
  info.struct_size = sizeof info;
  if (adrt_plan_info(plan, &info, nullptr) != ADRT_OK) return read;
  read.heap_bytes = info.heap_bytes;
  for (uint32_t task = 0; task < info.task_count; ++task) {
    adrt_task_report own = {};
    own.struct_size = sizeof own;
    adrt_plan_task(plan, task, &own, nullptr);
    read.threads = own.threads;
    adrt_group_report group = {};
    group.struct_size = sizeof group;
    for (uint32_t n = 0; adrt_plan_group(plan, task, n, &group, nullptr) == ADRT_OK; ++n) {
      read.groups.push_back({task, group.can_count != 0, group.counted != 0, group.iterations, group.rows,
                             group.row_bytes, group.gate});
    }
  }
  return read;
}

}  // namespace adc::test
