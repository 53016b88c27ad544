#include "heap_trace.h"

#include <cstdlib>
#include <string>
#include <string_view>

#include "bundle_file.h"
#include "command_line.h"
#include "host/exit_code.h"
#include "loader.h"
#include "print.h"

// One line for each task, one for the launch; docs/memory.md says what they hold. The figures are written as
// `adc size` writes them, so that the two are compared by eye and by grep.

namespace adc::tool {

namespace {

const char* SourceText(uint32_t source) {
  switch (source) {
    case ADRT_SIZES_FORMULA:
      return "by formula";
    case ADRT_SIZES_COUNTED:
      return "counted";
    case ADRT_SIZES_CACHED:
      return "cached";
    case ADRT_SIZES_CAPPED:
      return "capped";
    default:
      return "open";
  }
}

/// ", 4 of 8 threads within the budget"
std::string ThreadsText(const adrt_heap_trace& told) {
  std::string text = ", " + Grouped(told.threads);
  if (told.threads < told.wanted_threads) {
    return text + " of " + Grouped(told.wanted_threads) + " threads within the budget";
  }
  return text + (told.threads == 1 ? " thread" : " threads");
}

/// "grown from 0 to 128 bytes", "held: 128 bytes", or nothing where no memory is held.
std::string HeldText(const adrt_heap_trace& told) {
  if (told.held != told.held_before) {
    const char* way = told.held > told.held_before ? "grown" : "lost";
    return std::string(way) + " from " + Grouped(told.held_before) + " to " + Grouped(told.held) + " bytes";
  }
  return told.held > 0 ? "held: " + Grouped(told.held) + " bytes" : "";
}

std::string RefusedText(const adrt_heap_trace& told) {
  return told.status == ADRT_OK ? "" : std::string(", refused: ") + adrt_status_text(told.status);
}

/// Of each group whose iterations were counted: how many of them pass its gate.
std::string GatesText(const adrt_heap_trace& told) {
  std::string text;
  auto group = Sized<adrt_group_report>();
  for (uint32_t n = 0; adrt_plan_group(told.plan, told.task, n, &group, nullptr) == ADRT_OK; ++n) {
    if (group.counted == 0 || group.gate[0] == 0) continue;
    text += ", " + Grouped(group.iterations) + " pass the gate at " + Printable(group.gate) + ": " +
            Grouped(group.rows) + " rows of " + Grouped(group.row_bytes) + " bytes";
  }
  return text;
}

void PrintTask(const adrt_heap_trace& told) {
  auto task = Sized<adrt_task_report>();
  adrt_plan_task(told.plan, told.task, &task, nullptr);
  std::string rest = ThreadsText(told) + GatesText(told);
  if (task.segment > 0) rest += ", checkpoints every " + Grouped(task.segment) + " iterations";
  if (task.segment > 0 && told.budget == 0) rest += ", which the device caches";
  std::string held = HeldText(told);
  if (!held.empty()) rest += ", rows of its own " + held;
  PrintAside("heap: @%s task %u: %s iterations, %s rows of %s bytes = %s bytes, %s%s%s  (%s)\n",
             Printable(told.kernel).c_str(), told.task, Grouped(task.iterations).c_str(),
             Grouped(told.rows).c_str(), Grouped(told.row_bytes).c_str(), Grouped(told.heap_bytes).c_str(),
             SourceText(told.source), rest.c_str(), RefusedText(told).c_str(), Printable(told.place).c_str());
}

void PrintLaunch(const adrt_heap_trace& told) {
  auto plan = Sized<adrt_plan_report>();
  adrt_plan_info(told.plan, &plan, nullptr);
  std::string budget = told.budget > 0 ? "budget " + Grouped(told.budget) : "no budget";
  std::string held = HeldText(told);
  if (!held.empty()) held = ", " + held;
  PrintAside("heap: @%s on %s: heap %s bytes, scratch %s of them, %s%s%s  (%s)\n",
             Printable(told.kernel).c_str(), Printable(told.target).c_str(), Grouped(told.heap_bytes).c_str(),
             Grouped(plan.scratch_bytes).c_str(), budget.c_str(), held.c_str(), RefusedText(told).c_str(),
             Printable(told.place).c_str());
}

}  // namespace

int ReadTraces(bool* heap) {
  const char* words = std::getenv("ADRT_TRACE");
  std::string_view wanted = words != nullptr ? words : "";
  *heap = wanted == "heap";
  if (*heap || wanted.empty()) return kExitOk;
  PrintError("ADRT_TRACE=" + std::string(wanted) + " in the environment: there is no such log",
             "ADRT_TRACE=heap logs what launches take of memory");
  return kExitUsage;
}

void PrintHeapTrace(void*, const adrt_heap_trace* told) {
  if (told->task == ADRT_TRACE_LAUNCH) {
    PrintLaunch(*told);
  } else {
    PrintTask(*told);
  }
}

}  // namespace adc::tool
