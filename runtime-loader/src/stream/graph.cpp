#include <algorithm>
#include <cstring>

#include "core/errors.h"
#include "sequence/sequence.h"
#include "stream/stream.h"

// A sequence as a graph: each command is a node, with an edge for each wait. It is made by capturing a stream
// into which the commands go as into any other, and made again where the sequence has changed since.

namespace adrt::stream {
namespace {

StreamDevice& Of(adrt_device& device) {
  return static_cast<StreamDevice&>(device);
}

/// adrt_sequence::own.
struct Graph {
  explicit Graph(const artifact::Allocator* allocator)
      : made_of(allocator), now(allocator), nodes(allocator) {}

  void* ready = nullptr;     ///< to be launched; null: none yet
  Vector<uint64_t> made_of;  ///< the state of the sequence from which it was made
  Vector<uint64_t> now;      ///< the present state of the sequence
  Vector<void*> nodes;       ///< of its commands, while it is made
};

bool GraphFailed(const StreamDevice& device, int code, GraphCall call, adrt_error* error) {
  char name[64] = {};
  std::string_view exported = device.driver.graph_names[static_cast<size_t>(call)];
  if (exported.ends_with("_v2")) exported.remove_suffix(3);
  artifact::TextWriter(name, sizeof name) << exported;
  return device.driver.failed(device, code, name, error);
}

bool HasGraphs(const StreamDevice& device, adrt_error* error) {
  void* table[kGraphCalls];
  std::memcpy(static_cast<void*>(table), static_cast<const void*>(&device.graph_api), sizeof table);
  for (size_t call = 0; call < kGraphCalls; ++call) {
    if (table[call]) continue;
    return Refuse(error, ADRT_ERROR_DEVICE_FEATURE, "sequence_record: this ", device.driver.what,
                  " has no function '", std::string_view(device.driver.graph_names[call]),
                  "': a newer driver has it, or record launch after launch");
  }
  return true;
}

/// The sequence in words: equal ones give equal graphs.
bool Describe(const adrt_sequence& sequence, Vector<uint64_t>& words) {
  words.clear();
  for (const SequenceCommand& command : sequence.commands) {
    const LaunchTask& task = command.task;
    const uint64_t head[] = {
        command.clears, command.place.address, command.place.bytes, reinterpret_cast<uintptr_t>(task.entry),
        task.blocks,    task.block_size,       command.word_count,  command.wait_end - command.wait_begin};
    for (uint64_t word : head) {
      if (!words.TryPush(word)) return false;
    }
    for (size_t index = 0; index < command.word_count; ++index) {
      if (!words.TryPush(sequence.words[command.words + index])) return false;
    }
    for (uint32_t index = command.wait_begin; index < command.wait_end; ++index) {
      if (!words.TryPush(sequence.waits[index])) return false;
    }
  }
  return true;
}

bool Equal(const Vector<uint64_t>& a, const Vector<uint64_t>& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
}

/// A stream that captures, for a scope. It keeps no order with the default stream, whose use by other threads
/// would end the capture.
class Capture {
 public:
  explicit Capture(StreamDevice& device) : device_(device) {}
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  ~Capture() {
    void* graph = nullptr;
    if (capturing_) device_.graph_api.EndCapture(stream_, &graph);
    if (graph) device_.graph_api.Destroy(graph);
    if (stream_) device_.stream_api.StreamDestroy(stream_);
  }

  bool Begin(adrt_error* error) {
    constexpr unsigned kNoOrder = 1;
    constexpr int kRelaxed = 2;
    int code = device_.stream_api.StreamCreate(&stream_, kNoOrder);
    if (code != 0) {
      stream_ = nullptr;
      return device_.Failed(code, StreamCall::StreamCreate, error);
    }
    code = device_.graph_api.BeginCapture(stream_, kRelaxed);
    if (code != 0) return GraphFailed(device_, code, GraphCall::BeginCapture, error);
    capturing_ = true;
    return true;
  }
  /// Work that is queued next waits for these nodes, and for no others.
  bool WaitFor(Vector<void*>& nodes, adrt_error* error) {
    constexpr unsigned kSet = 1;
    int code = device_.graph_api.SetDependencies(stream_, nodes.data(), nodes.size(), kSet);
    return code == 0 || GraphFailed(device_, code, GraphCall::SetDependencies, error);
  }
  /// The node that was queued last.
  bool LastNode(void** node, adrt_error* error) {
    int status = 0;
    uint64_t id = 0;
    void* graph = nullptr;
    void* const* nodes = nullptr;
    size_t count = 0;
    int code = device_.graph_api.CaptureInfo(stream_, &status, &id, &graph, &nodes, &count);
    if (code != 0) return GraphFailed(device_, code, GraphCall::CaptureInfo, error);
    if (count != 1) {
      return Refuse(error, ADRT_ERROR_DRIVER, "sequence_record: a command that was captured is ",
                    uint64_t{count}, " nodes");
    }
    *node = nodes[0];
    return true;
  }
  bool End(void** graph, adrt_error* error) {
    capturing_ = false;
    int code = device_.graph_api.EndCapture(stream_, graph);
    return code == 0 || GraphFailed(device_, code, GraphCall::EndCapture, error);
  }
  void* stream() const { return stream_; }

 private:
  StreamDevice& device_;
  void* stream_ = nullptr;
  bool capturing_ = false;
};

bool CaptureCommand(StreamDevice& device, Capture& capture, const adrt_sequence& sequence,
                    const SequenceCommand& command, Graph& graph, adrt_error* error) {
  Vector<void*> waits(&device.host.allocator);
  for (uint32_t index = command.wait_begin; index < command.wait_end; ++index) {
    if (!waits.TryPush(graph.nodes[sequence.waits[index]])) return OutOfMemory(error) == ADRT_OK;
  }
  if (!capture.WaitFor(waits, error)) return false;
  bool queued = command.clears ? Clear(device, capture.stream(), command.place, error)
                               : Launch(device, capture.stream(), sequence.TaskOf(command), error);
  void* node = nullptr;
  if (!queued || !capture.LastNode(&node, error)) return false;
  return graph.nodes.TryPush(node) || OutOfMemory(error) == ADRT_OK;
}

/// The stream ends after all nodes that no other node waits for: nothing of the capture is left out.
bool JoinEnds(StreamDevice& device, Capture& capture, const adrt_sequence& sequence, Graph& graph,
              adrt_error* error) {
  Vector<void*> ends(&device.host.allocator);
  for (size_t index = 0; index < graph.nodes.size(); ++index) {
    bool is_end = true;
    for (uint32_t wait : sequence.waits) is_end = is_end && wait != index;
    if (is_end && !ends.TryPush(graph.nodes[index])) return OutOfMemory(error) == ADRT_OK;
  }
  return capture.WaitFor(ends, error);
}

bool MakeReady(StreamDevice& device, const adrt_sequence& sequence, Graph& graph, void** ready,
               adrt_error* error) {
  Capture capture(device);
  graph.nodes.clear();
  if (!capture.Begin(error)) return false;
  for (const SequenceCommand& command : sequence.commands) {
    if (!CaptureCommand(device, capture, sequence, command, graph, error)) return false;
  }
  if (!JoinEnds(device, capture, sequence, graph, error)) return false;
  void* captured = nullptr;
  if (!capture.End(&captured, error)) return false;
  int code = device.graph_api.Instantiate(ready, captured, 0);
  device.graph_api.Destroy(captured);
  return code == 0 || GraphFailed(device, code, GraphCall::Instantiate, error);
}

/// The sequence's graph as it must be now.
bool Update(StreamDevice& device, adrt_sequence& sequence, Graph& graph, adrt_error* error) {
  if (!Describe(sequence, graph.now)) return OutOfMemory(error) == ADRT_OK;
  if (graph.ready && Equal(graph.now, graph.made_of)) return true;
  void* ready = nullptr;
  if (!MakeReady(device, sequence, graph, &ready, error)) return false;
  // One that is under way ends first: the driver sees to that.
  if (graph.ready) device.graph_api.DestroyReady(graph.ready);
  graph.ready = ready;
  graph.made_of = std::move(graph.now);
  graph.now.Bind(&device.host.allocator);
  ++sequence.graph_count;
  return true;
}

}  // namespace

bool RecordSequence(adrt_device& base, void* stream, adrt_sequence& sequence, adrt_error* error) {
  StreamDevice& device = Of(base);
  if (sequence.rounds.most > 0) {
    return Refuse(error, ADRT_ERROR_UNSUPPORTED, "sequence_record: there are no rounds on ",
                  device.driver.what, ": record the sequence once for each round");
  }
  if (!HasGraphs(device, error)) return false;
  if (sequence.commands.empty()) return true;
  Current current(device, error);
  if (!current) return false;
  Graph* graph = static_cast<Graph*>(sequence.own);
  if (!graph) {
    sequence.own = graph = New<Graph>(device.host.allocator, &device.host.allocator);
    if (!graph) return OutOfMemory(error) == ADRT_OK;
  }
  if (!Update(device, sequence, *graph, error)) return false;
  int code = device.graph_api.Launch(graph->ready, stream);
  return code == 0 || GraphFailed(device, code, GraphCall::Launch, error);
}

void ForgetSequence(adrt_device& base, void* own) {
  StreamDevice& device = Of(base);
  Graph* graph = static_cast<Graph*>(own);
  if (Current current(device, nullptr); current && graph->ready) device.graph_api.DestroyReady(graph->ready);
  Delete(device.host.allocator, graph);
}

}  // namespace adrt::stream
