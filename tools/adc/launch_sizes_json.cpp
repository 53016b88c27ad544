#include "launch_sizes_json.h"

#include <nlohmann/json.hpp>

namespace adc::tool {

namespace {

/// A figure of a launch; null where it depends on an option that was not given.
Json Figure(bool known, uint64_t number) {
  return known ? Json(number) : Json(nullptr);
}

Json ToJson(const adrt_group_report& group, bool known) {
  Json object = {{"gate", group.gate},
                 {"rows", Figure(known, group.rows)},
                 {"row_bytes", Figure(known, group.row_bytes)}};
  if (group.counted != 0) object["pass"] = Figure(known, group.iterations);
  return object;
}

Json ToJson(const adrt_stack_report& stack, const artifact::StackMeta& meta, bool known) {
  return {{"value", std::string(meta.value.view())},
          {"type", adrt_type_name(stack.type)},
          {"bits", stack.bits},
          {"in_row", stack.in_row},
          {"known", stack.known},
          {"capacity", Figure(known, stack.capacity)},
          {"formula", std::string(stack.formula)},
          {"place", stack.place}};
}

Json TaskToJson(const LaunchSizes& sizes, uint32_t number) {
  bool given = sizes.missing().empty(), known = sizes.IsKnown();
  adrt_task_report report = sizes.Task(number);
  Json groups = Json::array(), stacks = Json::array();
  for (uint32_t index = 0; index < report.group_count; ++index)
    groups.push_back(ToJson(sizes.Group(number, index), given));
  for (uint32_t index = 0; index < report.stack_count; ++index)
    stacks.push_back(ToJson(sizes.Stack(number, index), sizes.Stacks(number).stacks[index], given));
  Json task = {{"iterations", Figure(given, report.iterations)},
               {"resolved", report.resolved},
               {"counted_axes", report.counted_axes},
               {"rows", Figure(given, report.rows)},
               {"row_bytes", Figure(known, report.row_bytes)},
               {"heap_bytes", Figure(known, report.heap_bytes)},
               {"segment", Figure(given, report.segment)},
               {"may_checkpoint", sizes.MayKeepCheckpoints(number)},
               {"place", report.place},
               {"groups", std::move(groups)},
               {"stacks", std::move(stacks)}};
  return task;
}

}  // namespace

Json LaunchSizesJson(const LaunchSizes& sizes) {
  bool known = sizes.IsKnown();
  const adrt_plan_report& total = sizes.total();
  Json tasks = Json::array();
  for (uint32_t number = 0; number < total.task_count; ++number) tasks.push_back(TaskToJson(sizes, number));
  return {{"kernel", sizes.kernel().report.name},
          {"target", sizes.target().name},
          {"missing", sizes.missing()},
          {"heap_bytes", Figure(known, total.heap_bytes)},
          {"scratch_bytes", Figure(known, total.scratch_bytes)},
          {"argument_bytes", Figure(known, sizes.ArgumentBytes())},
          {"resolved", total.resolved},
          {"threads", total.workers},
          {"tasks", std::move(tasks)}};
}

}  // namespace adc::tool
