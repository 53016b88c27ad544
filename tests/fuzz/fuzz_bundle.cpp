// Opens any bytes through the public loader, and looks at all that it then gives: as they are, and once more
// with sizes, hashes and content id put right, so that mutations get past the first checks. What opening took
// grows with the number of bytes, by the host's count and the loader's own. Code is never run.

#include <adrt/adrt.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "../support/bare_argument.h"
#include "../support/hostile_bundles.h"
#include "artifact/budget.h"
#include "artifact/bundle.h"
#include "fixture.h"
#include "host_memory.h"
#include "repack.h"
#include "seeds.h"

namespace {

void Demand(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "fuzz_bundle: %s\n", what);
  std::abort();
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
    adrt_arg arg = adc::test::BareArgument(param, index);
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
  Demand(info.steps <= desc.size_budget, "planning took too many steps");
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
  Demand(info.steps <= desc.size_budget, "planning took too many steps");
  adrt_plan_release(plan);
}

void Open(const std::vector<uint8_t>& file) {
  using namespace adc::artifact;
  constexpr uint64_t kOwn = 8192;  // of the loader's objects
  fuzz::HostMemory memory;
  adrt_host host = memory.Host();
  adrt_bundle* bundle = nullptr;
  adrt_error error = {};
  error.struct_size = sizeof error;
  adrt_status status = adrt_bundle_open(&host, file.data(), file.size(), ADRT_BUNDLE_BORROW, &bundle, &error);
  Demand(memory.peak <= kOpenMemory + kOpenMemoryPerByte * file.size() + kOwn,
         "opening took too much memory");
  if (status != ADRT_OK) {
    Demand(error.status == status && error.text[0] != 0, "a failure without details");
    Demand(memory.live == 0, "a failure leaves memory");
    return;
  }
  adrt_bundle_report report = {};
  report.struct_size = sizeof report;
  Demand(adrt_bundle_info(bundle, &report, nullptr) == ADRT_OK, "a bundle without a report");
  Demand(report.open_raw_bytes <= kOpenRaw + kOpenRawPerByte * file.size(), "opening decompressed too much");
  Demand(report.open_steps <= kMostOpenSteps + kMostOpenStepsPerByte * file.size(),
         "opening took too many steps");
  const adrt_kernel* kernel = nullptr;
  for (uint32_t index = 0; adrt_bundle_kernel(bundle, index, &kernel, nullptr) == ADRT_OK; ++index) {
    for (uint32_t target = 0; target < report.target_count; ++target) PlanKernel(bundle, kernel, target);
  }
  adrt_bundle_release(bundle);
  Demand(memory.live == 0, "a bundle leaves memory");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<uint8_t> file(data, data + size);
  Open(file);
  fuzz::PutRight(file);
  Open(file);
  file = fuzz::Repack(file);
  if (!file.empty()) Open(file);
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
  std::vector<std::string> seeds = {std::string(whole.begin(), whole.end()),
                                    std::string(plain.begin(), plain.end())};
  for (const hostile::Family& family : hostile::kFamilies) {
    std::vector<uint8_t> file = family.make(5);
    seeds.emplace_back(file.begin(), file.end());
  }
  return seeds;
}
