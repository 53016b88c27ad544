#include "metal_host_api.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include "msl_host/runner.h"

// Objects are counted as Objective-C's are. Each buffer lies between two guard zones, which are looked at
// when a command buffer is done.

namespace adc::msl_host {

struct MetalHost::State {
  adrt_metal_api api = {};
  std::atomic<uint32_t> live{0};
  std::atomic<uint32_t> fallible{0};
  std::atomic<uint32_t> fail_at{0};
  std::atomic<uint64_t> taken{0};
  uint64_t memory = UINT64_MAX;
  uint32_t language = 30;
  uint32_t most_threads = 1024;
  uint32_t table_tier = 2;
  bool tells_addresses = true;
  std::mutex mutex;
  std::vector<struct Buffer*> buffers;

  /// Whether this call, which can fail, is the one that must.
  bool MustFail() {
    uint32_t number = ++fallible;
    return number == fail_at;
  }
};

namespace {

using State = MetalHost::State;

struct Object {
  explicit Object(State& from) : state(from) { ++state.live; }
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  virtual ~Object() { --state.live; }

  State& state;
  std::atomic<int> count{1};
};

void Retain(void*, void* object) {
  ++static_cast<Object*>(object)->count;
}
void Release(void*, void* object) {
  Object* held = static_cast<Object*>(object);
  if (--held->count == 0) delete held;
}

struct Device : Object {
  using Object::Object;
};
struct Queue : Object {
  using Object::Object;
};

}  // namespace

struct Buffer : Object {
  static constexpr uint64_t kGuard = 256;
  static constexpr unsigned char kMark = 0xA5;

  Buffer(State& from, uint64_t bytes, bool is_visible) : Object(from), size(bytes), visible(is_visible) {
    uint64_t whole = (size + 2 * kGuard + 255) / 256 * 256;
    memory = static_cast<unsigned char*>(std::aligned_alloc(256, whole));
    std::memset(memory, kMark, whole);
    std::memset(memory + kGuard, 0xCD, size);  // undefined content should look like it
    std::lock_guard lock(state.mutex);
    state.buffers.push_back(this);
  }
  ~Buffer() override {
    std::lock_guard lock(state.mutex);
    state.buffers.erase(std::find(state.buffers.begin(), state.buffers.end(), this));
    state.taken -= size;
    std::free(memory);
  }
  unsigned char* bytes() const { return memory + kGuard; }
  bool Whole() const {
    auto marked = [](const unsigned char* from) {
      return std::all_of(from, from + kGuard, [](unsigned char byte) { return byte == kMark; });
    };
    return marked(memory) && marked(bytes() + size);
  }

  uint64_t size;
  bool visible;
  unsigned char* memory;
};

namespace {

struct HostLibrary : Object {
  using Object::Object;
  std::shared_ptr<Library> code;
};

/// The compiled text; one that this process has compiled before is not compiled again.
std::shared_ptr<Library> CompileOnce(std::string_view source, std::string& error) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<Library>, std::less<>> known;
  std::lock_guard lock(mutex);
  auto found = known.find(source);
  if (found != known.end()) return found->second;
  std::shared_ptr<Library> made = Library::Compile(source, error);
  if (made) known.emplace(source, made);
  return made;
}

struct Pipeline : Object {
  Pipeline(State& from, HostLibrary* its_library) : Object(from), library(its_library) { ++library->count; }
  ~Pipeline() override { Release(nullptr, library); }
  HostLibrary* library;
  Library::Entry entry = nullptr;
};

// What an argument table holds at one index.
struct Slot {
  Buffer* buffer = nullptr;
  uint64_t offset = 0;
  std::vector<uint64_t> words;  ///< of set_bytes, aligned
};
struct Dispatch {
  Pipeline* pipeline;
  Slot slots[kBuffers];
  uint32_t blocks, block_size;
};
struct Fill {
  Buffer* buffer;
  uint64_t offset, bytes;
};
struct Copying {
  Buffer* from;
  uint64_t from_offset;
  Buffer* to;
  uint64_t to_offset, bytes;
};

struct Commands : Object {
  using Object::Object;
  ~Commands() override {
    for (Object* object : held) Release(nullptr, object);
  }
  // A command buffer keeps what it names alive.
  void Hold(Object* object) {
    ++object->count;
    held.push_back(object);
  }
  void Complain(const std::string& text) {
    if (mistake.empty()) mistake = text;
  }

  std::vector<std::variant<Dispatch, Fill, Copying>> work;
  std::vector<Object*> held;
  bool encoder_open = false;
  bool committed = false;
  std::string mistake;
};

struct Encoder : Object {
  Encoder(State& from, Commands* its_commands, bool is_compute)
      : Object(from), commands(its_commands), compute(is_compute) {
    if (commands->encoder_open) commands->Complain("an encoder was opened while another one was open");
    if (commands->committed) commands->Complain("an encoder was opened after the commit");
    commands->encoder_open = true;
  }
  ~Encoder() override { commands->encoder_open = false; }

  Commands* commands;
  bool compute;
  Pipeline* pipeline = nullptr;
  Slot slots[kBuffers];
};

void Say(const std::string& message, char* text, uint32_t text_size) {
  if (text_size == 0) return;
  size_t size = std::min<size_t>(message.size(), text_size - 1);
  std::memcpy(text, message.data(), size);
  text[size] = 0;
}

State& Of(void* user) {
  return *static_cast<State*>(user);
}

void* NewDefaultDevice(void* user) {
  return Of(user).MustFail() ? nullptr : new Device(Of(user));
}
void Describe(void* user, void*, adrt_metal_facts* facts) {
  State& state = Of(user);
  Say("Metal on the host", facts->name, sizeof facts->name);
  facts->language = state.language;
  facts->most_threads = state.most_threads;
  facts->table_tier = state.table_tier;
  facts->most_bytes = uint64_t{1} << 34;
  facts->working_bytes = state.memory == UINT64_MAX ? 0 : state.memory;
}
void* NewQueue(void* user, void*) {
  return Of(user).MustFail() ? nullptr : new Queue(Of(user));
}

void* NewLibrary(void* user, void*, const char* source, uint64_t source_size, uint32_t, char* text,
                 uint32_t text_size) {
  if (Of(user).MustFail()) {
    Say("made to fail", text, text_size);
    return nullptr;
  }
  std::string error;
  std::shared_ptr<Library> code = CompileOnce({source, source_size}, error);
  if (!code) {
    Say(error, text, text_size);
    return nullptr;
  }
  auto* library = new HostLibrary(Of(user));
  library->code = std::move(code);
  return library;
}
int32_t HasFunction(void*, void* library, const char* name) {
  return static_cast<HostLibrary*>(library)->code->Find(name) != nullptr;
}
void* NewPipeline(void* user, void* library, const char* name, uint32_t* most_threads, char* text,
                  uint32_t text_size) {
  Library::Entry entry = static_cast<HostLibrary*>(library)->code->Find(name);
  if (!entry || Of(user).MustFail()) {
    Say(entry ? "made to fail" : "no such function", text, text_size);
    return nullptr;
  }
  auto* pipeline = new Pipeline(Of(user), static_cast<HostLibrary*>(library));
  pipeline->entry = entry;
  *most_threads = Of(user).most_threads;
  return pipeline;
}

Buffer* MakeBuffer(State& state, uint64_t bytes, bool visible) {
  if (bytes == 0 || state.MustFail()) return nullptr;
  uint64_t before = state.taken.fetch_add(bytes);
  if (before > state.memory || bytes > state.memory - before) {
    state.taken -= bytes;
    return nullptr;
  }
  return new Buffer(state, bytes, visible);
}
void* NewBuffer(void* user, void*, uint64_t bytes) {
  return MakeBuffer(Of(user), bytes, true);
}
void* Contents(void*, void* buffer) {
  Buffer* held = static_cast<Buffer*>(buffer);
  return held->visible ? held->bytes() : nullptr;
}
uint64_t Length(void*, void* buffer) {
  return static_cast<Buffer*>(buffer)->size;
}

uint64_t Address(void* user, void* buffer) {
  if (!Of(user).tells_addresses) return 0;
  return reinterpret_cast<uintptr_t>(static_cast<Buffer*>(buffer)->bytes());
}

void* NewCommands(void* user, void*) {
  return Of(user).MustFail() ? nullptr : new Commands(Of(user));
}

std::string Perform(const Dispatch& dispatch) {
  void* buffers[kBuffers] = {};
  for (uint32_t index = 0; index < kBuffers; ++index) {
    const Slot& slot = dispatch.slots[index];
    if (slot.buffer) buffers[index] = slot.buffer->bytes() + slot.offset;
    if (!slot.words.empty()) buffers[index] = const_cast<uint64_t*>(slot.words.data());
  }
  uint32_t missing = dispatch.pipeline->entry(buffers, dispatch.blocks, dispatch.block_size);
  return missing == 0 ? "" : "a dispatch needs a buffer at index " + std::to_string(missing - 1);
}
std::string Perform(const Fill& fill) {
  if (fill.bytes > fill.buffer->size || fill.offset > fill.buffer->size - fill.bytes) {
    return "a fill reaches past its buffer";
  }
  if (fill.offset % 4 != 0 || fill.bytes % 4 != 0) return "a fill is not a multiple of 4";
  std::memset(fill.buffer->bytes() + fill.offset, 0, fill.bytes);
  return "";
}
std::string Perform(const Copying& copying) {
  if (copying.from_offset + copying.bytes > copying.from->size ||
      copying.to_offset + copying.bytes > copying.to->size) {
    return "a copy reaches past its buffer";
  }
  std::memcpy(copying.to->bytes() + copying.to_offset, copying.from->bytes() + copying.from_offset,
              copying.bytes);
  return "";
}

int32_t CommitAndWait(void* user, void* object, int32_t* code, char* text, uint32_t text_size) {
  Commands* commands = static_cast<Commands*>(object);
  if (commands->encoder_open) commands->Complain("an encoder is open at the commit");
  if (commands->committed) commands->Complain("a command buffer was committed twice");
  commands->committed = true;
  if (Of(user).MustFail()) commands->Complain("made to fail");
  for (const auto& work : commands->work) {
    if (!commands->mistake.empty()) break;
    commands->mistake = std::visit([](const auto& item) { return Perform(item); }, work);
  }
  {
    std::lock_guard lock(Of(user).mutex);
    for (const Buffer* buffer : Of(user).buffers) {
      if (!buffer->Whole()) commands->Complain("a kernel wrote past the end of a buffer");
    }
  }
  if (commands->mistake.empty()) return ADRT_METAL_DONE;
  *code = 1;
  Say(commands->mistake, text, text_size);
  return ADRT_METAL_FAILED;
}

void* BeginCompute(void* user, void* commands) {
  return Of(user).MustFail() ? nullptr : new Encoder(Of(user), static_cast<Commands*>(commands), true);
}
void* BeginCopy(void* user, void* commands) {
  return Of(user).MustFail() ? nullptr : new Encoder(Of(user), static_cast<Commands*>(commands), false);
}
void End(void*, void* encoder) {
  Release(nullptr, static_cast<Encoder*>(encoder));
}

Commands& CommandsOf(void* encoder, bool compute) {
  Encoder* open = static_cast<Encoder*>(encoder);
  if (open->compute != compute) open->commands->Complain("a call for the other kind of encoder");
  return *open->commands;
}

void SetPipeline(void*, void* encoder, void* pipeline) {
  CommandsOf(encoder, true).Hold(static_cast<Pipeline*>(pipeline));
  static_cast<Encoder*>(encoder)->pipeline = static_cast<Pipeline*>(pipeline);
}
void SetBuffer(void*, void* encoder, void* buffer, uint64_t offset, uint32_t index) {
  Commands& commands = CommandsOf(encoder, true);
  Buffer* bound = static_cast<Buffer*>(buffer);
  if (index >= kBuffers) return commands.Complain("a buffer index past 30");
  if (offset >= bound->size || offset % 4 != 0) commands.Complain("a buffer offset that Metal forbids");
  commands.Hold(bound);
  static_cast<Encoder*>(encoder)->slots[index] = {bound, offset, {}};
}
void SetBytes(void*, void* encoder, const void* bytes, uint64_t size, uint32_t index) {
  Commands& commands = CommandsOf(encoder, true);
  if (index >= kBuffers) return commands.Complain("a buffer index past 30");
  if (size > 4096 || size == 0) return commands.Complain("set_bytes takes up to 4 KiB");
  Slot& slot = static_cast<Encoder*>(encoder)->slots[index];
  slot = {nullptr, 0, std::vector<uint64_t>((size + 7) / 8)};
  std::memcpy(slot.words.data(), bytes, size);
}
void UseBuffer(void*, void* encoder, void* buffer) {
  CommandsOf(encoder, true).Hold(static_cast<Buffer*>(buffer));
}
void RecordDispatch(void*, void* encoder, uint32_t blocks, uint32_t block_size) {
  Commands& commands = CommandsOf(encoder, true);
  Encoder* open = static_cast<Encoder*>(encoder);
  if (!open->pipeline) return commands.Complain("a dispatch without a pipeline");
  if (blocks == 0 || block_size == 0) return commands.Complain("an empty dispatch");
  Dispatch dispatch = {open->pipeline, {}, blocks, block_size};
  std::copy(std::begin(open->slots), std::end(open->slots), std::begin(dispatch.slots));
  commands.work.push_back(std::move(dispatch));
}
void Barrier(void*, void* encoder) {
  CommandsOf(encoder, true);
}
void FillZero(void*, void* encoder, void* buffer, uint64_t offset, uint64_t bytes) {
  CommandsOf(encoder, false).Hold(static_cast<Buffer*>(buffer));
  CommandsOf(encoder, false).work.push_back(Fill{static_cast<Buffer*>(buffer), offset, bytes});
}
void Copy(void*, void* encoder, void* from, uint64_t from_offset, void* to, uint64_t to_offset,
          uint64_t bytes) {
  Commands& commands = CommandsOf(encoder, false);
  commands.Hold(static_cast<Buffer*>(from));
  commands.Hold(static_cast<Buffer*>(to));
  commands.work.push_back(
      Copying{static_cast<Buffer*>(from), from_offset, static_cast<Buffer*>(to), to_offset, bytes});
}

}  // namespace

MetalHost::MetalHost() : state_(std::make_unique<State>()) {
  state_->api = {.user = state_.get(),
                 .retain = Retain,
                 .release = Release,
                 .new_default_device = NewDefaultDevice,
                 .describe = Describe,
                 .new_queue = msl_host::NewQueue,
                 .new_library = NewLibrary,
                 .has_function = HasFunction,
                 .new_pipeline = NewPipeline,
                 .new_buffer = NewBuffer,
                 .contents = Contents,
                 .length = Length,
                 .address = Address,
                 .new_commands = NewCommands,
                 .commit_and_wait = CommitAndWait,
                 .begin_compute = BeginCompute,
                 .begin_copy = BeginCopy,
                 .end = End,
                 .set_pipeline = SetPipeline,
                 .set_buffer = SetBuffer,
                 .set_bytes = SetBytes,
                 .use_buffer = UseBuffer,
                 .dispatch = RecordDispatch,
                 .barrier = Barrier,
                 .fill_zero = FillZero,
                 .copy = Copy};
}
MetalHost::~MetalHost() = default;

const adrt_metal_api* MetalHost::api() const {
  return &state_->api;
}
void MetalHost::SetLanguage(uint32_t language) {
  state_->language = language;
}
void MetalHost::SetMemory(uint64_t bytes) {
  state_->memory = bytes;
}
void MetalHost::SetTableTier(uint32_t tier) {
  state_->table_tier = tier;
}
void MetalHost::SetMostThreads(uint32_t threads) {
  state_->most_threads = threads;
}
void MetalHost::HideAddresses() {
  state_->tells_addresses = false;
}
void MetalHost::FailCall(uint32_t n) {
  state_->fail_at = n == 0 ? 0 : state_->fallible + n;
}
uint32_t MetalHost::CallsThatCanFail() const {
  return state_->fallible;
}
uint32_t MetalHost::LiveObjects() const {
  return state_->live;
}
void* MetalHost::NewDevice() {
  return new Device(*state_);
}
void* MetalHost::NewQueue(void*) {
  return new Queue(*state_);
}
void* MetalHost::NewPrivateBuffer(void*, uint64_t bytes) {
  return MakeBuffer(*state_, bytes, false);
}
unsigned char* MetalHost::BytesOf(void* buffer) {
  return static_cast<Buffer*>(buffer)->bytes();
}

}  // namespace adc::msl_host
