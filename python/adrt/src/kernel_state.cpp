#include "kernel_state.h"

#include <adrt/adrt_cuda.h>
#include <adrt/adrt_hip.h>

#include <algorithm>
#include <map>
#include <set>

#include "bundle_state.h"
#include "errors.h"

namespace adrt_python {
namespace {

// Types of Python keep the addresses of their names.
const char* Lasting(const std::string& text) {
  static auto* texts = new std::set<std::string>;
  return texts->insert(text).first->c_str();
}

}  // namespace

Launch::~Launch() {
  adrt_plan_release(plan);
  adrt_heap_release(heap);
  adrt_memory_release(status);
  for (adrt_memory* memory : memories) adrt_memory_release(memory);
}

adrt_status Launch::Reserve(uint64_t bytes, adrt_error* error) {
  if (bytes <= heap_bytes()) return ADRT_OK;
  adrt_memory* memory = nullptr;
  adrt_status made = adrt_memory_create(device->handle, std::max(bytes, 2 * heap_bytes()), &memory, error);
  if (made == ADRT_OK) memories.push_back(memory);
  return made;
}

adrt_status Launch::Record(void* into, void* memory, uint64_t bytes, adrt_error* error) {
  adrt_status done = ADRT_OK;
  if (!status) done = adrt_memory_create(device->handle, ADRT_STATUS_BYTES, &status, error);
  if (done == ADRT_OK) done = adrt_plan_chain_status(plan, is_recorded ? 1 : 0, error);
  if (done != ADRT_OK) return done;
  auto record = device->place.kind == DeviceKind::kHip ? adrt_record_hip : adrt_record_cuda;
  done = record(plan, into, memory, bytes, adrt_memory_data(status), error);
  is_recorded |= done == ADRT_OK;
  return done;
}

adrt_status Launch::ReadStatus(adrt_error* error) {
  is_recorded = false;
  uint32_t words[ADRT_STATUS_BYTES / 4];
  adrt_status read = adrt_memory_read(status, 0, words, sizeof words, error);
  return read == ADRT_OK ? adrt_status_read(plan, words, error) : read;
}

adrt_status Launch::Prepare(const adrt_kernel* kernel, adrt_module* module, const std::vector<adrt_arg>& args,
                            adrt_error* error) {
  auto count = static_cast<uint32_t>(args.size());
  if (plan) return adrt_plan_update(plan, args.data(), count, error);
  auto desc = Sized<adrt_plan_desc>();
  desc.args = args.data();
  desc.arg_count = count;
  desc.module = module;
  desc.workers = threads;
  desc.heap_budget = budget;
  adrt_status planned = adrt_plan(kernel, &desc, &plan, error);
  return planned == ADRT_OK ? adrt_heap_create_on(device->handle, &heap, error) : planned;
}

bool KernelState::Read(BundleState* bundle, const adrt_kernel* kernel) {
  bundle_ = bundle;
  handle_ = kernel;
  auto error = Sized<adrt_error>();
  if (adrt_kernel_info(kernel, &report_, &error) != ADRT_OK) return Raise(error);
  // The kernel from which the gradient, or the tangent of a gradient, was derived in the end.
  const adrt_kernel* primal = nullptr;
  adrt_kernel_report origin = report_;
  while (origin.of[0] != 0) {
    if (adrt_bundle_find_kernel(bundle->handle(), origin.of, 0, &primal, &error) != ADRT_OK)
      return Raise(error);
    if (adrt_kernel_info(primal, &origin, &error) != ADRT_OK) return Raise(error);
  }
  return parameters_.Read(bundle->handle(), kernel, primal) && MakeOutputs();
}

bool KernelState::MakeOutputs() {
  if (parameters_.written() == 0) return true;
  std::vector<PyStructSequence_Field> fields;
  for (const Parameter& param : parameters_.all()) {
    if (!param.hidden && param.is_written()) fields.push_back({Lasting(param.text), nullptr});
  }
  // Python never releases such a type: kernels that write parameters of the same names share one.
  static auto* made = new std::map<std::string, PyTypeObject*>;
  std::string names;
  for (const PyStructSequence_Field& field : fields) names += std::string(field.name) + ' ';
  outputs_ = (*made)[names];
  if (outputs_) return true;
  fields.push_back({nullptr, nullptr});
  PyStructSequence_Desc desc = {};
  desc.name = Lasting("adrt.Outputs");
  desc.doc = "What a call of a kernel has written, by name and in the order of its parameters.";
  desc.fields = fields.data();
  desc.n_in_sequence = static_cast<int>(fields.size() - 1);
  outputs_ = (*made)[names] = PyStructSequence_NewType(&desc);
  return outputs_ != nullptr;
}

std::unique_ptr<Launch> KernelState::Borrow(Device* device, const Options& options) {
  std::lock_guard lock(idle_lock_);
  for (size_t at = idle_.size(); at-- > 0;) {
    const Launch& idle = *idle_[at];
    if (idle.device != device || idle.threads != options.threads || idle.budget != options.budget) continue;
    if (idle.has_stream != options.has_stream || idle.stream != options.stream) continue;
    std::unique_ptr<Launch> launch = std::move(idle_[at]);
    idle_.erase(idle_.begin() + static_cast<ptrdiff_t>(at));
    return launch;
  }
  auto launch = std::make_unique<Launch>();
  launch->device = device;
  launch->threads = options.threads;
  launch->budget = options.budget;
  launch->has_stream = options.has_stream;
  launch->stream = options.stream;
  return launch;
}

void KernelState::GiveBack(std::unique_ptr<Launch> launch) {
  std::lock_guard lock(idle_lock_);
  idle_.push_back(std::move(launch));
}

adrt_status KernelState::ReadStatus(uint64_t stream, adrt_error* error) {
  std::lock_guard lock(idle_lock_);
  for (const std::unique_ptr<Launch>& launch : idle_) {
    if (!launch->has_stream || launch->stream != stream || !launch->is_recorded) continue;
    adrt_status read = launch->ReadStatus(error);
    if (read != ADRT_OK) return read;
  }
  return ADRT_OK;
}

bool KernelState::CheckStream(uint64_t stream) {
  auto error = Sized<adrt_error>();
  return ReadStatus(stream, &error) == ADRT_OK || Raise(error);
}

std::string KernelState::Signature() const {
  std::string text = report_.name;
  text += '(';
  const char* between = "";
  for (const Parameter& param : parameters_.all()) {
    if (param.hidden) continue;
    text += between + param.text + ": " + param.Type();
    if (param.report.diff) text += " diff";
    if (param.is_written()) text += param.report.access == ADRT_ACCESS_WRITE ? " out" : " inout";
    between = ", ";
  }
  return text + ')';
}

}  // namespace adrt_python
