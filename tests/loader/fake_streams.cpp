#include "fake_streams.h"

#include <cstdlib>
#include <cstring>

#include "artifact/gpu_abi.h"
#include "device_kernels.h"

namespace fixture {
namespace {

FakeStreams* fake = nullptr;  // a driver has no handle to itself
constexpr int kInvalidValue = 1, kOutOfMemory = 2, kInvalidContext = 201, kInvalidHandle = 400,
              kNotFound = 500, kIllegalAddress = 700;

bool InMemory(uint64_t address, size_t bytes) {
  auto next = fake->memory.upper_bound(address);
  if (next == fake->memory.begin()) return false;
  --next;
  return address - next->first <= next->second && bytes <= next->second - (address - next->first);
}

unsigned BlockOf(const std::string& symbol) {
  return symbol == ADRT_GPU_TABLE_WRITER ? 1 : kDeviceBlock;
}

// A call that makes or does something: does nothing where it fails.
#define CALL(cuda, hip_name)                                 \
  std::lock_guard guard(fake->mutex);                        \
  const char* const call_name = fake->hip ? hip_name : cuda; \
  if (fake->Fails(call_name)) return fake->fail_with;        \
  if (!fake->IsCurrent()) return fake->Broken(std::string(call_name) + " on no device", kInvalidContext);
// One that ends something does so even where it reports the error of an earlier one.
#define CALL_TO_END(cuda, hip_name)                          \
  std::lock_guard guard(fake->mutex);                        \
  const char* const call_name = fake->hip ? hip_name : cuda; \
  bool fails = fake->Fails(call_name);                       \
  if (!fake->IsCurrent()) return fake->Broken(std::string(call_name) + " on no device", kInvalidContext);

int StreamCreate(void** stream, unsigned flags) {
  CALL("cuStreamCreate", "hipStreamCreateWithFlags")
  if (flags > 1) return fake->Broken("a stream of an unknown kind", kInvalidValue);
  *stream = std::malloc(1);
  fake->streams.insert(*stream);
  if (flags == 1) fake->unordered.insert(*stream);
  return 0;
}
int StreamSynchronize(void* stream) {
  // Where waiting fails the work is not going on: a device says so when it has ended.
  if (fake->fail_at > 0 && fake->calls + 1 == fake->fail_at) fake->queued.clear();
  CALL("cuStreamSynchronize", "hipStreamSynchronize")
  fake->Finish();
  return fake->streams.count(stream) ? 0 : fake->Broken("waiting for no stream", kInvalidHandle);
}
int MemoryAllocate(uint64_t* address, size_t bytes) {
  CALL("cuMemAlloc", "hipMalloc")
  if (bytes == 0) return fake->Broken("an empty allocation", kInvalidValue);
  if (bytes > fake->memory_bytes - fake->used) return kOutOfMemory;
  void* memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  std::memset(memory, 0xCD, bytes);
  *address = reinterpret_cast<uintptr_t>(memory);
  fake->memory[*address] = bytes;
  fake->used += bytes;
  ++fake->allocations;
  return 0;
}
int MemoryInfo(size_t* free_bytes, size_t* total) {
  CALL("cuMemGetInfo", "hipMemGetInfo")
  *free_bytes = fake->memory_bytes - fake->used;
  *total = fake->memory_bytes;
  return 0;
}
int CopyToDevice(uint64_t to, const void* from, size_t bytes) {
  CALL("cuMemcpyHtoD", "hipMemcpyHtoD")
  if (!InMemory(to, bytes)) return fake->Broken("a copy to no memory", kIllegalAddress);
  fake->Finish();  // all streams keep order with the default one
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  ++fake->copies;
  return 0;
}
int CopyToHost(void* to, uint64_t from, size_t bytes) {
  CALL("cuMemcpyDtoH", "hipMemcpyDtoH")
  if (!InMemory(from, bytes)) return fake->Broken("a copy from no memory", kIllegalAddress);
  fake->Finish();
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  ++fake->copies;
  return 0;
}
int FillWords(uint64_t address, unsigned value, size_t count, void* stream) {
  CALL("cuMemsetD32Async", "hipMemsetD32Async")
  if (address % 4 != 0 || !InMemory(address, count * 4))
    return fake->Broken("filling no memory", kIllegalAddress);
  if (stream && !fake->streams.count(stream)) return fake->Broken("filling in no stream", kInvalidHandle);
  fake->Queue(stream, [=] {
    for (size_t index = 0; index < count; ++index) reinterpret_cast<unsigned*>(address)[index] = value;
  });
  return 0;
}
int ModuleGetFunction(void** function, void* module, const char* name) {
  CALL("cuModuleGetFunction", "hipModuleGetFunction")
  if (!fake->modules.count(module)) return fake->Broken("a function of no module", kInvalidHandle);
  if (!fake->module_functions[module].count(name)) return kNotFound;
  fake->functions.emplace_back(module, name);
  *function = reinterpret_cast<void*>(fake->functions.size());
  return 0;
}
int MaxActiveBlocks(int* blocks, void*, int, size_t) {
  CALL("cuOccupancyMaxActiveBlocksPerMultiprocessor", "hipModuleOccupancyMaxActiveBlocksPerMultiprocessor")
  *blocks = fake->blocks_per_processor;
  return 0;
}
int LaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                 unsigned block_y, unsigned block_z, unsigned, void* stream, void** parameters,
                 void** extra) {
  CALL("cuLaunchKernel", "hipModuleLaunchKernel")
  size_t number = reinterpret_cast<size_t>(function);
  if (number == 0 || number > fake->functions.size())
    return fake->Broken("launching no function", kInvalidHandle);
  const auto& [module, name] = fake->functions[number - 1];
  if (!fake->modules.count(module)) return fake->Broken("launching from an unloaded module", kInvalidHandle);
  if (grid_x == 0 || grid_x > 1000 || grid_y * grid_z * block_y * block_z != 1 || block_x != BlockOf(name))
    return fake->Broken("a grid that does not fit", kInvalidValue);
  if (stream && !fake->streams.count(stream)) return fake->Broken("launching in no stream", kInvalidHandle);
  uint32_t expected = 0;
  DeviceKernel kernel = FindDeviceKernel(name, &expected);
  size_t end = fake->hip ? 3 : 0;  // each driver has a mark of its own for the end of the list
  if (parameters || reinterpret_cast<size_t>(extra[0]) != 1 || reinterpret_cast<size_t>(extra[2]) != 2 ||
      reinterpret_cast<size_t>(extra[4]) != end ||
      *static_cast<size_t*>(extra[3]) != expected * sizeof(uint64_t)) {
    return fake->Broken("parameters of another size", kInvalidValue);
  }
  const uint64_t* words = static_cast<const uint64_t*>(extra[1]);
  fake->launches.push_back({name, grid_x, block_x, {words, words + expected}});
  // The driver has its own copy of the parameters.
  fake->Queue(stream, [kernel, copy = fake->launches.back().words, threads = uint64_t{grid_x} * block_x] {
    for (uint64_t thread = 0; thread < threads; ++thread) kernel(copy.data(), thread);
  });
  return 0;
}
int StreamDestroy(void* stream) {
  CALL_TO_END("cuStreamDestroy", "hipStreamDestroy")
  if (!fake->queued.empty()) return fake->Broken("destroying a stream that has work", kInvalidHandle);
  if (fake->streams.erase(stream) == 0) return fake->Broken("destroying no stream", kInvalidHandle);
  if (fake->captures.count(stream)) fake->broken = "destroying a stream that captures";
  fake->unordered.erase(stream);
  std::free(stream);
  return fails ? fake->fail_with : 0;
}
int MemoryFree(uint64_t address) {
  CALL_TO_END("cuMemFree", "hipFree")
  if (!fake->queued.empty()) return fake->Broken("freeing memory under queued work", kInvalidValue);
  auto found = fake->memory.find(address);
  if (found == fake->memory.end()) return fake->Broken("freeing no memory", kInvalidValue);
  fake->used -= found->second;
  fake->memory.erase(found);
  std::free(reinterpret_cast<void*>(address));
  return fails ? fake->fail_with : 0;
}
int ModuleUnload(void* module) {
  CALL_TO_END("cuModuleUnload", "hipModuleUnload")
  if (!fake->queued.empty()) return fake->Broken("unloading code under queued work", kInvalidHandle);
  if (fake->modules.erase(module) == 0) return fake->Broken("unloading no module", kInvalidHandle);
  std::free(module);
  return fails ? fake->fail_with : 0;
}

// ---- graphs

int BeginCapture(void* stream, int mode) {
  CALL("cuStreamBeginCapture", "hipStreamBeginCapture")
  if (!fake->unordered.count(stream) || mode != 2)
    return fake->Broken("a capture that calls of other threads would end", kInvalidValue);
  fake->captures[stream] = new FakeStreams::Graph;
  fake->graphs.insert(fake->captures[stream]);
  fake->dependencies.clear();
  return 0;
}
int EndCapture(void* stream, void** graph) {
  CALL_TO_END("cuStreamEndCapture", "hipStreamEndCapture")
  auto found = fake->captures.find(stream);
  if (found == fake->captures.end()) return fake->Broken("ending no capture", kInvalidHandle);
  FakeStreams::Graph* made = found->second;
  fake->captures.erase(found);
  std::set<size_t> ends;
  for (size_t number = 1; number <= made->nodes.size(); ++number) ends.insert(number);
  for (const auto& node : made->nodes) {
    for (size_t wait : node.waits) ends.erase(wait);
  }
  for (void* node : fake->dependencies) ends.erase(reinterpret_cast<size_t>(node));
  if (fails || !ends.empty()) {
    fake->graphs.erase(made);
    delete made;
    *graph = nullptr;
    return fails ? fake->fail_with : 904;  // unjoined
  }
  *graph = made;
  return 0;
}
int CaptureInfo(void* stream, int* status, uint64_t* id, void** graph, void* const** nodes, size_t* count) {
  CALL("cuStreamGetCaptureInfo", "hipStreamGetCaptureInfo")
  auto found = fake->captures.find(stream);
  if (found == fake->captures.end()) return fake->Broken("asking no capture", kInvalidHandle);
  *status = 1;
  *id = 7;
  *graph = found->second;
  *nodes = fake->dependencies.data();
  *count = fake->dependencies.size();
  return 0;
}
int SetDependencies(void* stream, void** nodes, size_t count, unsigned flags) {
  CALL("cuStreamUpdateCaptureDependencies", "hipStreamUpdateCaptureDependencies")
  auto found = fake->captures.find(stream);
  if (found == fake->captures.end() || flags != 1) return fake->Broken("changing no capture", kInvalidHandle);
  std::set<void*> once(nodes, nodes + count);
  if (once.size() != count) return fake->Broken("the same node twice", kInvalidValue);
  for (void* node : once) {
    size_t number = reinterpret_cast<size_t>(node);
    if (number == 0 || number > found->second->nodes.size())
      return fake->Broken("waiting for no node", kInvalidValue);
  }
  fake->dependencies.assign(nodes, nodes + count);
  return 0;
}
int Instantiate(void** ready, void* graph, unsigned long long flags) {
  CALL("cuGraphInstantiateWithFlags", "hipGraphInstantiateWithFlags")
  auto* from = static_cast<FakeStreams::Graph*>(graph);
  if (!fake->graphs.count(from) || from->is_ready || flags != 0)
    return fake->Broken("making no graph ready", kInvalidHandle);
  auto* made = new FakeStreams::Graph(*from);
  made->is_ready = true;
  fake->graphs.insert(made);
  fake->last_graph = made->nodes;
  *ready = made;
  return 0;
}
int GraphLaunch(void* ready, void* stream) {
  CALL("cuGraphLaunch", "hipGraphLaunch")
  auto* graph = static_cast<FakeStreams::Graph*>(ready);
  if (!fake->graphs.count(graph) || !graph->is_ready)
    return fake->Broken("launching no graph", kInvalidHandle);
  if (stream && !fake->streams.count(stream)) return fake->Broken("launching in no stream", kInvalidHandle);
  ++fake->graph_launches;
  // In the order that the edges allow and that is the least like that of the capture.
  fake->Queue(stream, [nodes = graph->nodes] {
    std::set<size_t> done;
    while (done.size() < nodes.size()) {
      for (size_t number = nodes.size(); number > 0; --number) {
        const FakeStreams::Graph::Node& node = nodes[number - 1];
        bool can_run = !done.count(number);
        for (size_t wait : node.waits) can_run = can_run && done.count(wait);
        if (!can_run) continue;
        node.work();
        done.insert(number);
        break;
      }
    }
  });
  return 0;
}
int DestroyGraph(void* graph, bool is_ready, bool fails) {
  auto* gone = static_cast<FakeStreams::Graph*>(graph);
  if (!fake->graphs.count(gone) || gone->is_ready != is_ready)
    return fake->Broken("destroying no graph", kInvalidHandle);
  fake->graphs.erase(gone);
  delete gone;
  return fails ? fake->fail_with : 0;
}
int DestroyReady(void* ready) {
  CALL_TO_END("cuGraphExecDestroy", "hipGraphExecDestroy")
  return DestroyGraph(ready, true, fails);
}
int Destroy(void* graph) {
  CALL_TO_END("cuGraphDestroy", "hipGraphDestroy")
  return DestroyGraph(graph, false, fails);
}

}  // namespace

FakeStreams::FakeStreams(bool is_hip) : hip(is_hip) {
  fake = this;
}

FakeStreams::~FakeStreams() {
  for (const auto& [address, bytes] : memory) std::free(reinterpret_cast<void*>(address));
  for (void* stream : streams) std::free(stream);
  for (void* module : modules) std::free(module);
  for (Graph* graph : graphs) delete graph;
  fake = nullptr;
}

bool FakeStreams::Fails(const char* name) {
  // What names devices and makes one current does not reach it.
  bool reaches = true;
  for (const char* begin : {"cuCtx", "cuDevice", "cuDriver", "cuInit", "hipGetDevice", "hipSetDevice"})
    reaches = reaches && std::strncmp(name, begin, std::strlen(begin)) != 0;
  if (++calls != fail_at) return gone && reaches;
  failed = name;
  gone = lost;
  if (gone) queued.clear();
  return true;
}

void FakeStreams::Queue(void* stream, std::function<void()> work) {
  if (auto capture = captures.find(stream); capture != captures.end()) {
    Graph::Node node = {std::move(work), {}};
    for (void* dependency : dependencies) node.waits.push_back(reinterpret_cast<size_t>(dependency));
    capture->second->nodes.push_back(std::move(node));
    dependencies = {reinterpret_cast<void*>(capture->second->nodes.size())};
    return;
  }
  if (unordered.count(stream)) broken = "work in a stream that keeps no order";
  queued.push_back(std::move(work));
  if (!late) Finish();
}

void FakeStreams::Finish() {
  for (const std::function<void()>& work : queued) work();
  queued.clear();
}

int FakeStreams::Broken(const std::string& what, int code) {
  broken = what;
  return code;
}

void* FakeStreams::AddModule(std::set<std::string> names) {
  void* module = std::malloc(1);
  modules.insert(module);
  module_functions[module] = std::move(names);
  return module;
}

void* FakeStreams::FindShared(const char* name) const {
  // The names are written out again: a wrong one in the loader's table is found here.
  struct Named {
    const char *cuda, *hip;
    void* function;
  };
  const Named kFunctions[] = {
      {"cuStreamCreate", "hipStreamCreateWithFlags", reinterpret_cast<void*>(StreamCreate)},
      {"cuStreamDestroy_v2", "hipStreamDestroy", reinterpret_cast<void*>(StreamDestroy)},
      {"cuStreamSynchronize", "hipStreamSynchronize", reinterpret_cast<void*>(StreamSynchronize)},
      {"cuMemAlloc_v2", "hipMalloc", reinterpret_cast<void*>(MemoryAllocate)},
      {"cuMemFree_v2", "hipFree", reinterpret_cast<void*>(MemoryFree)},
      {"cuMemGetInfo_v2", "hipMemGetInfo", reinterpret_cast<void*>(MemoryInfo)},
      {"cuMemcpyHtoD_v2", "hipMemcpyHtoD", reinterpret_cast<void*>(CopyToDevice)},
      {"cuMemcpyDtoH_v2", "hipMemcpyDtoH", reinterpret_cast<void*>(CopyToHost)},
      {"cuMemsetD32Async", "hipMemsetD32Async", reinterpret_cast<void*>(FillWords)},
      {"cuModuleUnload", "hipModuleUnload", reinterpret_cast<void*>(ModuleUnload)},
      {"cuModuleGetFunction", "hipModuleGetFunction", reinterpret_cast<void*>(ModuleGetFunction)},
      {"cuOccupancyMaxActiveBlocksPerMultiprocessor", "hipModuleOccupancyMaxActiveBlocksPerMultiprocessor",
       reinterpret_cast<void*>(MaxActiveBlocks)},
      {"cuLaunchKernel", "hipModuleLaunchKernel", reinterpret_cast<void*>(LaunchKernel)},
      {"cuStreamBeginCapture_v2", "hipStreamBeginCapture", reinterpret_cast<void*>(BeginCapture)},
      {"cuStreamEndCapture", "hipStreamEndCapture", reinterpret_cast<void*>(EndCapture)},
      {"cuStreamGetCaptureInfo_v2", "hipStreamGetCaptureInfo_v2", reinterpret_cast<void*>(CaptureInfo)},
      {"cuStreamUpdateCaptureDependencies", "hipStreamUpdateCaptureDependencies",
       reinterpret_cast<void*>(SetDependencies)},
      {"cuGraphInstantiateWithFlags", "hipGraphInstantiateWithFlags", reinterpret_cast<void*>(Instantiate)},
      {"cuGraphLaunch", "hipGraphLaunch", reinterpret_cast<void*>(GraphLaunch)},
      {"cuGraphExecDestroy", "hipGraphExecDestroy", reinterpret_cast<void*>(DestroyReady)},
      {"cuGraphDestroy", "hipGraphDestroy", reinterpret_cast<void*>(Destroy)},
  };
  for (const Named& row : kFunctions) {
    if (std::strcmp(hip ? row.hip : row.cuda, name) == 0) return row.function;
  }
  return nullptr;
}

}  // namespace fixture
