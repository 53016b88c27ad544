// Opens any bytes through the public loader, and looks at all that it then gives: as they are, and once more
// with sizes and hashes put right, so that mutations get past the first checks. Code is never run.

#include <adrt/adrt.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "artifact/bundle.h"
#include "fixture.h"
#include "seeds.h"

namespace {

void Demand(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "fuzz_bundle: %s\n", what);
  std::abort();
}

uint64_t Get(const std::vector<uint8_t>& file, size_t at, size_t size) {
  uint64_t value = 0;
  for (size_t index = 0; index < size; ++index) value |= uint64_t{file[at + index]} << (8 * index);
  return value;
}
void Put(std::vector<uint8_t>& file, size_t at, uint64_t value, size_t size) {
  for (size_t index = 0; index < size; ++index) file[at + index] = static_cast<uint8_t>(value >> (8 * index));
}

// File size, stored hashes, the hash of header and table.
void PutRight(std::vector<uint8_t>& file) {
  if (file.size() < 128) return;
  Put(file, 16, file.size(), 8);
  uint64_t table = 64 * Get(file, 24, 4);
  if (table > file.size() - 128) return;
  for (uint64_t at = 128; at < 128 + table; at += 64) {
    uint64_t offset = Get(file, at + 8, 8), size = Get(file, at + 16, 8);
    if (offset > file.size() || size > file.size() - offset) continue;
    uint64_t hash = adc::artifact::Hash64({file.data() + offset, size});
    Put(file, at + 32, hash, 8);
    if (!(file[at + 4] & 2)) Put(file, at + 40, hash, 8);
  }
  Put(file, 48, 0, 8);
  Put(file, 48, adc::artifact::Hash64({file.data(), 128 + table}), 8);
}

void PlanKernel(const adrt_bundle* bundle, const adrt_kernel* kernel, uint32_t target) {
  adrt_kernel_report report = {};
  report.struct_size = sizeof report;
  Demand(adrt_kernel_info(kernel, &report, nullptr) == ADRT_OK, "a kernel without a report");
  const adrt_kernel* found = nullptr;
  Demand(adrt_bundle_find_kernel(bundle, report.name, report.interface_hash, &found, nullptr) == ADRT_OK &&
             found == kernel,
         "a listed kernel is not found");
  std::vector<adrt_arg> args;
  alignas(16) static unsigned char values[16 * 16 * 8] = {3, 0, 0, 0};
  for (uint32_t index = 0; index < report.param_count; ++index) {
    adrt_param_report param = {};
    param.struct_size = sizeof param;
    Demand(adrt_kernel_param(kernel, index, &param, nullptr) == ADRT_OK, "a parameter without a report");
    if (param.kind >= ADRT_PARAM_SCRATCH) continue;
    adrt_arg arg = {};
    arg.struct_size = sizeof arg;
    arg.kind = param.kind;
    arg.index = index;
    arg.type = param.type;
    arg.rows = param.rows;
    arg.columns = param.columns;
    arg.rank = param.rank;
    arg.size = param.kind == ADRT_PARAM_LAYOUT ? uint64_t{1} << 50 : 0;
    arg.data = param.kind == ADRT_PARAM_SCALAR ? values : nullptr;
    for (uint32_t axis = 0; axis < param.rank; ++axis) arg.extents[axis] = 7 + axis;
    args.push_back(arg);
  }
  adrt_plan_desc desc = {};
  desc.struct_size = sizeof desc;
  desc.args = args.data();
  desc.arg_count = static_cast<uint32_t>(args.size());
  desc.target = target;
  desc.workers = 3;
  desc.size_budget = 100000;
  adrt_launch_plan* plan = nullptr;
  adrt_error error = {};
  error.struct_size = sizeof error;
  if (adrt_plan(kernel, &desc, &plan, &error) != ADRT_OK) {
    Demand(error.text[0] != 0, "an error without a text");
    return;
  }
  adrt_plan_with_cap(plan, 1 << 20, &error);
  adrt_plan_report info = {};
  info.struct_size = sizeof info;
  Demand(adrt_plan_info(plan, &info, nullptr) == ADRT_OK, "a plan without a report");
  for (uint32_t task = 0; task < info.task_count; ++task) {
    adrt_task_report task_report = {};
    task_report.struct_size = sizeof task_report;
    Demand(adrt_plan_task(plan, task, &task_report, nullptr) == ADRT_OK, "a task without a report");
    for (uint32_t stack = 0; stack < task_report.stack_count; ++stack) {
      adrt_stack_report stack_report = {};
      stack_report.struct_size = sizeof stack_report;
      Demand(adrt_plan_stack(plan, task, stack, &stack_report, nullptr) == ADRT_OK,
             "a stack without a report");
    }
  }
  adrt_plan_release(plan);
}

void Open(const std::vector<uint8_t>& file) {
  adrt_limits limits = {};
  limits.struct_size = sizeof limits;
  limits.section_bytes = 1 << 24;
  adrt_host host = {};
  host.struct_size = sizeof host;
  host.limits = &limits;
  adrt_bundle* bundle = nullptr;
  adrt_error error = {};
  error.struct_size = sizeof error;
  adrt_status status = adrt_bundle_open(&host, file.data(), file.size(), ADRT_BUNDLE_BORROW, &bundle, &error);
  if (status != ADRT_OK) {
    Demand(error.status == status && error.text[0] != 0, "a failure without details");
    return;
  }
  adrt_bundle_report report = {};
  report.struct_size = sizeof report;
  Demand(adrt_bundle_info(bundle, &report, nullptr) == ADRT_OK, "a bundle without a report");
  const adrt_kernel* kernel = nullptr;
  for (uint32_t index = 0; adrt_bundle_kernel(bundle, index, &kernel, nullptr) == ADRT_OK; ++index) {
    for (uint32_t target = 0; target < report.target_count; ++target) PlanKernel(bundle, kernel, target);
  }
  adrt_bundle_release(bundle);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<uint8_t> file(data, data + size);
  Open(file);
  PutRight(file);
  Open(file);
  return 0;
}

std::vector<std::string> FuzzSeeds() {
  std::vector<uint8_t> whole = fixture::MakeBundle();
  // The same with sections as they are, so that mutations reach the metadata and not a compressed stream
  // alone.
  adc::artifact::String json;
  adc::artifact::Error error;
  Demand(WriteMetadata(fixture::MakeMetadata(), &json, &error), error.text);
  adc::artifact::SectionInput section;
  section.kind = adc::artifact::section::kMeta;
  section.compress = false;
  section.bytes = {reinterpret_cast<const uint8_t*>(json.data()), json.size()};
  adc::artifact::Vector<uint8_t> plain;
  Demand(WriteBundle({&section, 1}, &plain, &error), error.text);
  return {std::string(whole.begin(), whole.end()), std::string(plain.begin(), plain.end())};
}
