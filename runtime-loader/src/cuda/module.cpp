#include "artifact/gpu_abi.h"
#include "core/code.h"
#include "core/errors.h"
#include "core/launch.h"
#include "cuda/device.h"
#include "cuda/ptx_parts.h"
#include "platform/platform.h"

// A module of PTX. The driver's compiler takes some ten milliseconds for each kernel, and a bundle may have a
// thousand: it gets a kernel when that is planned for the first time, as a module of its own.

namespace adrt::cuda {
namespace {

/// adrt_module::code.
struct Code {
  explicit Code(const artifact::Allocator* allocator)
      : text(allocator), parts(allocator), kernels(allocator) {}
  ~Code() {
    changed.Destroy();
    mutex.Destroy();
  }

  struct Kernel {
    void* loaded;  ///< the driver's module; null: not compiled
    bool is_busy;  ///< a thread compiles it
  };

  Vector<uint8_t> text;
  uint32_t section = 0;
  PtxParts parts;
  void* table_writer = nullptr;  ///< the driver's module that has it; null where the module needs none
  platform::Mutex mutex;         ///< guards `kernels`
  platform::Condition changed;   ///< a kernel is not busy any more
  Vector<Kernel> kernels;
};

bool Compile(const CudaDevice& device, const Vector<uint8_t>& text, void** loaded, adrt_error* error) {
  // CU_JIT_ERROR_LOG_BUFFER and its size, and CU_JIT_GENERATE_LINE_INFO: the lines that the text has, for
  // profilers.
  constexpr int kErrorLog = 5, kErrorLogBytes = 6, kLines = 13;
  char log[400] = {};
  int options[] = {kErrorLog, kErrorLogBytes, kLines};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log - 1), reinterpret_cast<void*>(1)};
  int code = device.api.ModuleLoad(loaded, text.data(), 3, options, values);
  if (code == kCudaSuccess) return true;
  CudaFailed(device.api, code, "cuModuleLoadDataEx", error);
  if (log[0] == 0) return false;
  char first[sizeof error->text];
  artifact::TextWriter(first, sizeof first) << error->text;
  artifact::TextWriter(error->text, sizeof error->text) << first << "; the driver's compiler says: " << log;
  return false;
}

/// Compiles what was taken of the text, for a kernel or, where that is null, for the module, and finds in it
/// by `find(loaded)` what it was compiled for.
template <class Find>
bool CompilePart(const CudaDevice& device, PtxPart& part, const artifact::KernelMeta* kernel, Find find,
                 void** loaded, adrt_error* error) {
  Vector<uint8_t> text(&device.host.allocator);
  if (!part.Write(&text)) return OutOfMemory(error) == ADRT_OK;
  Current current(device, error);
  void* made = nullptr;
  if (!current) return false;
  if (!Compile(device, text, &made, error)) {
    const artifact::MessagePart where[] = {kernel ? artifact::MessagePart(*kernel) : "table writer", ": "};
    AddContext(*error, where);
    return false;
  }
  if (!find(made)) {
    device.stream_api.ModuleUnload(made);
    return false;
  }
  *loaded = made;
  return true;
}

bool CompileTableWriter(adrt_module& module, Code& code, adrt_error* error) {
  PtxPart part(code.parts, &module.host.allocator);
  if (!part.Begin() || !part.Take(ADRT_GPU_TABLE_WRITER)) return OutOfMemory(error) == ADRT_OK;
  auto find = [&](void* loaded) { return stream::FindTableWriter(module, loaded, error); };
  return CompilePart(Cuda(*module.device), part, nullptr, find, &code.table_writer, error);
}

bool CompileKernel(adrt_module& module, const Code& code, uint32_t kernel, void** loaded, adrt_error* error) {
  PtxPart part(code.parts, &module.host.allocator);
  bool good = part.Begin();
  EntryWalk walk;
  walk.kernel = kernel;
  while (good && NextEntry(module, &walk) && walk.kernel == kernel)
    good = part.Take(walk.meta->symbol.view());
  if (!good) return OutOfMemory(error) == ADRT_OK;
  auto find = [&](void* made) { return stream::FindEntries(module, made, kernel, kernel + 1, error); };
  const artifact::KernelMeta* meta = &module.bundle->metadata.kernels[kernel];
  return CompilePart(Cuda(*module.device), part, meta, find, loaded, error);
}

/// Compiles a kernel if that is not done yet. Threads that want the same one wait; others do not.
bool PrepareKernel(adrt_module& module, const artifact::KernelMeta& meta, adrt_error* error) {
  Code& code = *static_cast<Code*>(module.code);
  uint32_t number = static_cast<uint32_t>(&meta - module.bundle->metadata.kernels.begin());
  Code::Kernel& kernel = code.kernels[number];
  if (meta.tasks.empty()) return true;
  {
    platform::Lock lock(code.mutex);
    while (kernel.is_busy) code.changed.Wait(code.mutex);
    if (kernel.loaded) return true;
    kernel.is_busy = true;
  }
  void* loaded = nullptr;
  bool done = CompileKernel(module, code, number, &loaded, error);
  if (!done) error->section = code.section;
  platform::Lock lock(code.mutex);
  kernel = {loaded, false};
  code.changed.WakeAll();
  return done;
}

bool Fill(adrt_module& module, Code& code, adrt_error* error) {
  const CudaDevice& device = Cuda(*module.device);
  if (!ReadCode(module, &code.text, &code.section, error)) return false;
  std::string_view text(reinterpret_cast<const char*>(code.text.data()), code.text.size());
  uint32_t ptx = PtxVersion(text);
  if (ptx > device.newest_ptx) {
    char words[160] = {};
    artifact::TextWriter reason(words, sizeof words);
    SayOldDriver(device, ptx, reason);
    return Refuse(error, ADRT_ERROR_DEVICE_FEATURE, words);
  }
  if (!code.parts.Cut(text) || !code.kernels.TryResize(module.bundle->metadata.kernels.size())) {
    return OutOfMemory(error) == ADRT_OK;
  }
  if (!stream::HasTables(module) || CompileTableWriter(module, code, error)) return true;
  error->section = code.section;
  return false;
}

}  // namespace

bool Load(adrt_module& module, adrt_error* error) {
  Code* code = New<Code>(module.host.allocator, &module.host.allocator);
  if (!code) return OutOfMemory(error) == ADRT_OK;
  if (!Fill(module, *code, error)) {
    Delete(module.host.allocator, code);
    return false;
  }
  module.code = code;
  return true;
}

bool Prepare(const adrt_launch_plan& plan, adrt_error* error) {
  adrt_module& module = *plan.module;
  const artifact::KernelMeta& kernel = plan.meta();
  if (!PrepareKernel(module, kernel, error)) return false;
  for (const artifact::TaskMeta& task : kernel.tasks) {
    for (const String* name : {&task.size_kernel, &task.trip_kernel}) {
      if (name->empty()) continue;
      const adrt_kernel* counting = FindKernel(*module.bundle, name->view());
      if (!PrepareKernel(module, *counting->meta, error)) return false;
    }
  }
  return !plan.bounds || PrepareKernel(module, module.bundle->metadata.kernels[kernel.bounds], error);
}

void Unload(adrt_module& module) {
  const CudaDevice& device = Cuda(*module.device);
  Code* code = static_cast<Code*>(module.code);
  if (Current current(device, nullptr); current) {
    if (code->table_writer) device.stream_api.ModuleUnload(code->table_writer);
    for (const Code::Kernel& kernel : code->kernels) {
      if (kernel.loaded) device.stream_api.ModuleUnload(kernel.loaded);
    }
  }
  Delete(module.host.allocator, code);
}

}  // namespace adrt::cuda
