#pragma once
// What the fake drivers of CUDA and HIP have in common: memory, streams, modules of functions, and launches
// that run the fixture's kernels on the host. A fake keeps the rules of the real driver (something is
// current, handles are alive, addresses lie inside of allocations), counts what is alive, and fails the call
// that it is told to.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace fixture {

struct FakeStreams {
  // What the device is.
  int device_count = 1, processors = 2, blocks_per_processor = 2;
  size_t memory_bytes = size_t{1} << 30;
  std::string missing;  ///< a function that `find` does not find

  // Which call fails, counted from 1 over all calls but those that name errors; 0: none.
  long fail_at = 0;
  int fail_with = 1;  ///< invalid value
  bool lost = false;  ///< with it the device goes: from then on every call that would reach it fails too
  bool late = false;  ///< what is queued is done when somebody waits for it, and not before

  // What happened.
  struct Launched {
    std::string symbol;
    unsigned blocks, block_size;
    std::vector<uint64_t> words;
  };
  std::vector<Launched> launches;
  long calls = 0, allocations = 0, copies = 0;
  std::string failed;  ///< name of the call that was made to fail
  std::string broken;  ///< a rule that the loader broke; must stay empty
  std::map<uint64_t, size_t> memory;
  std::set<void*> streams, modules;
  std::vector<std::pair<void*, std::string>> functions;  ///< module and name; handle: index + 1
  size_t used = 0;

  /// A graph, being captured or not, or ready to be launched. Nodes are numbered from 1.
  struct Graph {
    struct Node {
      std::function<void()> work;
      std::vector<size_t> waits;
    };
    std::vector<Node> nodes;
    bool is_ready = false;
  };
  std::set<Graph*> graphs;
  std::map<void*, Graph*> captures;     ///< by stream
  std::vector<void*> dependencies;      ///< of the stream that captures
  std::set<void*> unordered;            ///< streams that keep no order with the default one
  std::vector<Graph::Node> last_graph;  ///< the one that was made ready last
  long graph_launches = 0;

  std::recursive_mutex mutex;  ///< held by each call: a driver may be called from any thread

  explicit FakeStreams(bool is_hip);
  virtual ~FakeStreams();
  FakeStreams(const FakeStreams&) = delete;
  FakeStreams& operator=(const FakeStreams&) = delete;

  /// The device is the one that calls work on.
  virtual bool IsCurrent() const = 0;
  /// A function that both drivers have, by its exported name; null where it is none of them.
  void* FindShared(const char* name) const;
  /// A module that has these functions.
  void* AddModule(std::set<std::string> names);

  /// Counts a call; true where it is the one to fail.
  bool Fails(const char* name);
  /// Queues work, which a device that is not late does at once; in a stream that captures it becomes a node.
  void Queue(void* stream, std::function<void()> work);
  /// Somebody waits for all that is queued.
  void Finish();
  /// Notes a broken rule and gives the code back.
  int Broken(const std::string& what, int code);

  std::vector<std::function<void()>> queued;
  bool gone = false;  ///< the device is lost

  const bool hip;
  std::map<void*, std::set<std::string>> module_functions;

 protected:
  bool NothingAlive() const { return memory.empty() && streams.empty() && modules.empty() && graphs.empty(); }
};

}  // namespace fixture
