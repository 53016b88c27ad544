#include "device_kernels.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "artifact/bundle.h"
#include "artifact/cpu_abi.h"
#include "artifact/gpu_abi.h"

namespace fixture {
namespace {

using namespace adc::artifact;

// The words of a launch, taken apart.
struct Launch {
  const uint64_t* cells;
  const uint64_t* group;   // offset, stride, rows, counter
  const uint64_t* stacks;  // offset, capacity of each
  const uint64_t* tail;    // heap, status, iterations, threads

  Launch(const uint64_t* words, uint32_t cell_count, uint32_t groups, uint32_t stack_count)
      : cells(words),
        group(words + cell_count),
        stacks(group + groups * ADRT_GPU_GROUP_WORDS),
        tail(stacks + stack_count * ADRT_GPU_STACK_WORDS) {}

  template <class T>
  T* Cell(uint32_t cell) const {
    return reinterpret_cast<T*>(cells[cell]);
  }
  unsigned char* heap() const { return reinterpret_cast<unsigned char*>(tail[0]); }
  uint64_t total() const { return tail[2]; }
  uint64_t threads() const { return tail[3]; }

  template <class T>
  T& Element(uint32_t stack, uint64_t row, uint64_t slot) const {
    uint64_t offset = stacks[2 * stack] + slot * sizeof(T);
    return *reinterpret_cast<T*>(heap() + group[0] + row / kDeviceLanes * group[1] * kDeviceLanes +
                                 offset * kDeviceLanes + row % kDeviceLanes * sizeof(T));
  }
  uint64_t Capacity(uint32_t stack) const { return stacks[2 * stack + 1]; }

  void Report(uint32_t code, uint32_t task, uint32_t index, uint64_t needed, uint64_t iteration) const {
    uint32_t* status = reinterpret_cast<uint32_t*>(tail[1]);
    uint32_t source =
        code | task << ADRT_CPU_STATUS_SOURCE_TASK | (index + 1) << ADRT_CPU_STATUS_SOURCE_INDEX;
    if (status[ADRT_CPU_STATUS_SOURCE] != 0) {
      uint32_t& most = status[ADRT_CPU_STATUS_MOST];
      if (status[ADRT_CPU_STATUS_SOURCE] == source && most < needed) most = static_cast<uint32_t>(needed);
      return;
    }
    status[ADRT_CPU_STATUS_SOURCE] = source;
    status[ADRT_CPU_STATUS_CODE] = code;
    status[ADRT_CPU_STATUS_TASK] = task;
    status[ADRT_CPU_STATUS_INDEX] = index;
    std::memcpy(status + ADRT_CPU_STATUS_NEEDED, &needed, sizeof needed);
    std::memcpy(status + ADRT_CPU_STATUS_ITERATION, &iteration, sizeof iteration);
  }

  uint64_t Claim(uint64_t iteration) const {
    uint32_t* counter = reinterpret_cast<uint32_t*>(heap() + group[3]);
    uint64_t row = (*counter)++;
    if (row < group[2]) return row;
    Report(ADRT_GPU_ROWS_EXHAUSTED, 0, 0, row + 1, iteration);
    return group[2] - 1;
  }
};

float ScalarF32(uint64_t cell) {
  uint32_t bits = static_cast<uint32_t>(cell);
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

template <class Body>
void EachIteration(const Launch& launch, uint64_t thread, const Body& body) {
  if (thread >= launch.threads()) return;
  for (uint64_t i = thread; i < launch.total(); i += launch.threads()) body(i);
}

void Saxpy(const uint64_t* words, uint64_t thread) {
  Launch launch(words, 5, 0, 0);
  EachIteration(launch, thread, [&](uint64_t i) {
    launch.Cell<float>(2)[i] += ScalarF32(launch.cells[4]) * launch.Cell<const float>(0)[i];
  });
}

void Tape(const uint64_t* words, uint64_t thread) {
  Launch launch(words, 5, 1, 2);
  int64_t n = static_cast<int64_t>(launch.cells[4]);
  EachIteration(launch, thread, [&](uint64_t i) {
    double power = 1, sum = 0;
    if (n > static_cast<int64_t>(launch.Capacity(0))) {
      return launch.Report(ADRT_CPU_ADSTACK_OVERFLOW, 0, 0, static_cast<uint64_t>(n), i);
    }
    for (int64_t t = 0; t < n; ++t) {
      launch.Element<double>(0, thread, static_cast<uint64_t>(t)) = power;
      launch.Element<int32_t>(1, thread, static_cast<uint64_t>(t)) = static_cast<int32_t>(t);
      power *= launch.Cell<const double>(0)[i];
    }
    for (int64_t t = n; t-- > 0;) {
      uint64_t slot = static_cast<uint64_t>(t);
      sum += launch.Element<int32_t>(1, thread, slot) * launch.Element<double>(0, thread, slot);
    }
    launch.Cell<double>(2)[i] = sum;
  });
}

void MeanSum(const uint64_t* words, uint64_t thread) {
  Launch launch(words, 6, 0, 0);
  EachIteration(launch, thread, [&](uint64_t) {
    for (uint64_t i = 0; i < launch.cells[1]; ++i) *launch.Cell<float>(4) += launch.Cell<const float>(0)[i];
  });
}

void MeanSubtract(const uint64_t* words, uint64_t thread) {
  Launch launch(words, 6, 0, 0);
  EachIteration(launch, thread, [&](uint64_t i) {
    launch.Cell<float>(2)[i] =
        launch.Cell<const float>(0)[i] - *launch.Cell<float>(4) / static_cast<float>(launch.cells[1]);
  });
}

void CompactMove(const uint64_t* words, uint64_t thread) {
  Launch launch(words, 5, 0, 0);
  EachIteration(launch, thread, [&](uint64_t) {
    int32_t& count = *launch.Cell<int32_t>(2);
    count = 0;
    for (uint64_t i = 0; i < launch.cells[1]; ++i) {
      if (launch.Cell<const int32_t>(0)[i] > 0)
        launch.Cell<int32_t>(3)[count++] = launch.Cell<const int32_t>(0)[i];
    }
  });
}

void CompactDouble(const uint64_t* words, uint64_t thread) {
  Launch launch(words, 5, 1, 1);
  // What bounds it lies in memory: it looks first, as compiled code does.
  uint64_t count = static_cast<uint64_t>(*launch.Cell<const int32_t>(2));
  if (thread == 0 && launch.total() != count) launch.Report(ADRT_CPU_BOUNDS_MOVED, 0, 0, count, 0);
  if (launch.total() != count) return;
  EachIteration(launch, thread, [&](uint64_t i) {
    int32_t& top = launch.Element<int32_t>(0, thread, launch.Capacity(0) - 1);
    top = launch.Cell<int32_t>(3)[i];
    launch.Cell<int32_t>(3)[i] += top;
  });
}

void Rows(const uint64_t* words, uint64_t thread) {
  Launch launch(words, 6, 1, 1);
  EachIteration(launch, thread, [&](uint64_t i) {
    const int32_t* start = launch.Cell<const int32_t>(0);
    int64_t length = start[i + 1] - start[i];
    if (length > static_cast<int64_t>(launch.Capacity(0))) {
      return launch.Report(ADRT_CPU_ADSTACK_OVERFLOW, 0, 0, static_cast<uint64_t>(length), i);
    }
    float sum = 0;
    for (int64_t t = 0; t < length; ++t)
      launch.Element<float>(0, thread, static_cast<uint64_t>(t)) = launch.Cell<const float>(2)[start[i] + t];
    for (int64_t t = length; t-- > 0;) sum += launch.Element<float>(0, thread, static_cast<uint64_t>(t));
    launch.Cell<float>(4)[i] = sum;
  });
}

// A thread whose values are all 1 never comes to the claim.
void Collatz(const uint64_t* words, uint64_t thread) {
  Launch launch(words, 2, 1, 1);
  uint64_t row = UINT64_MAX;
  EachIteration(launch, thread, [&](uint64_t i) {
    uint32_t& x = launch.Cell<uint32_t>(0)[i];
    uint64_t steps = 0;
    if (x > 1 && row == UINT64_MAX) row = launch.Claim(i);
    for (uint32_t value = x; value > 1; value = value % 2 ? 3 * value + 1 : value / 2) {
      if (steps >= launch.Capacity(0)) {
        launch.Report(ADRT_CPU_ADSTACK_OVERFLOW, 0, 0, steps + 1, i);
        break;
      }
      launch.Element<uint32_t>(0, row, steps++) = value;
    }
    x = static_cast<uint32_t>(steps);
  });
}

void CountedSize(const uint64_t* words, uint64_t thread) {
  Launch launch(words, 4, 0, 0);
  EachIteration(launch, thread, [&](uint64_t i) {
    int64_t steps = 0;
    for (uint32_t value = launch.Cell<const uint32_t>(0)[i]; value > 1;
         value = value % 2 ? 3 * value + 1 : value / 2) {
      ++steps;
    }
    int64_t* sizes = launch.Cell<int64_t>(2);
    if (sizes[0] < steps) sizes[0] = steps;
    if (steps > 0) ++sizes[1];  // it passes the gate
  });
}

void Check(const uint64_t* words, uint64_t thread) {
  Launch launch(words, 11, 0, 0);
  EachIteration(launch, thread, [&](uint64_t i) {
    bool flag = launch.cells[9] == 1;
    uint32_t code = static_cast<uint32_t>(launch.cells[10]);
    if (i == 0 && code >= kNonsense) {
      // What a stranger may leave there: anything, small numbers above all.
      uint32_t* status = reinterpret_cast<uint32_t*>(launch.tail[1]);
      uint64_t state = code;
      for (uint32_t word = 0; word < ADRT_CPU_STATUS_WORDS; ++word) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        uint32_t bits = static_cast<uint32_t>(state >> 32);
        status[word] = bits % 3 == 0 ? bits : bits % 3 == 1 ? bits % 10 : ~(bits % 5);
      }
      return;
    }
    if (code >= kNonsense) return;
    if (flag && static_cast<int64_t>(i) == -static_cast<int64_t>(launch.cells[7]))
      launch.Report(static_cast<uint32_t>(launch.cells[10]), 0, 1, 0, i);
  });
}

// The entry that writes tables of words.
void WriteTable(const uint64_t* words, uint64_t) {
  std::memcpy(reinterpret_cast<void*>(words[0]), words + 1, ADRT_GPU_TABLE_CHUNK * sizeof(uint64_t));
}

// Every number, wherever its word is, by a weight of its own.
void Wide(const uint64_t* parameters, uint64_t thread) {
  uint64_t words = parameters[2], numbers = words - ADRT_GPU_TAIL_WORDS;
  bool has_table = words > ADRT_GPU_MAX_WORDS;
  const uint64_t* table =
      reinterpret_cast<const uint64_t*>(has_table ? parameters[ADRT_GPU_DIRECT_WORDS] : 0);
  const uint64_t* tail = parameters + (has_table ? ADRT_GPU_DIRECT_WORDS + 1 : numbers);
  uint64_t sum = 0;
  for (uint64_t position = 2; position < numbers; ++position) {
    bool direct = !has_table || position < ADRT_GPU_DIRECT_WORDS;
    sum = 3 * sum + (direct ? parameters[position] : table[position - ADRT_GPU_DIRECT_WORDS]);
  }
  if (thread >= tail[3]) return;
  for (uint64_t i = thread; i < tail[2]; i += tail[3])
    reinterpret_cast<uint64_t*>(parameters[0])[i] = sum + i;
}

struct Row {
  const char* symbol;
  DeviceKernel kernel;
  uint32_t words;
};
constexpr Row kKernels[] = {
    {"adc_saxpy_t0", Saxpy, 5 + 4},
    {"adc_tape_t0", Tape, 5 + 4 + 4 + 4},
    {"adc_mean_t0", MeanSum, 6 + 4},
    {"adc_mean_t1", MeanSubtract, 6 + 4},
    {"adc_compact_t0", CompactMove, 5 + 4},
    {"adc_compact_t1", CompactDouble, 5 + 4 + 2 + 4},
    {"adc_rows_t0", Rows, 6 + 4 + 2 + 4},
    {"adc_collatz_t0", Collatz, 2 + 4 + 2 + 4},
    {"adc_counted_t0", Collatz, 2 + 4 + 2 + 4},
    {"adc_counted_2Esize0_t0", CountedSize, 4 + 4},
    {"adc_check_t0", Check, 11 + 4},
    {ADRT_GPU_TABLE_WRITER, WriteTable, 1 + ADRT_GPU_TABLE_CHUNK},
};

[[noreturn]] void Stop(const Error& error) {
  std::fprintf(stderr, "fixture: %s\n", error.text);
  std::abort();
}

}  // namespace

DeviceKernel FindDeviceKernel(const std::string& symbol, uint32_t* word_count) {
  for (const Row& row : kKernels) {
    if (symbol != row.symbol) continue;
    *word_count = row.words;
    return row.kernel;
  }
  const std::string wide = "adc_wide";
  if (symbol.rfind(wide, 0) == 0) {
    uint32_t words = static_cast<uint32_t>(std::stoul(symbol.substr(wide.size())));
    *word_count = words < ADRT_GPU_MAX_WORDS ? words : uint32_t{ADRT_GPU_MAX_WORDS};
    return Wide;
  }
  return nullptr;
}

void AddDeviceTarget(Metadata* metadata, const TargetMeta& target) {
  uint32_t number = static_cast<uint32_t>(metadata->targets.size());
  metadata->targets.push_back(target);
  for (KernelMeta& kernel : metadata->kernels) {
    for (TaskMeta& task : kernel.tasks) {
      EntryMeta entry;
      entry.target = number;
      entry.symbol = task.entries[0].symbol;
      entry.block_size = kDeviceBlock;
      if (!task.plans.empty()) {
        AdstackPlanMeta plan = task.plans[0];
        plan.lanes = kDeviceLanes;
        bool claims = entry.symbol.view() == "adc_collatz_t0" || entry.symbol.view() == "adc_counted_t0";
        if (claims) plan.groups[0].gate = "fixture.ir:5:5";
        if (claims) plan.groups[0].counted = !task.size_kernel.empty();
        entry.plan = static_cast<uint32_t>(task.plans.size());
        task.plans.push_back(plan);
      }
      task.entries.push_back(entry);
    }
  }
  FinishMetadata(metadata);
}

namespace {

/// Names of the entries of the target's code.
std::vector<std::string> EntriesOf(const Metadata& metadata, uint32_t target) {
  std::vector<std::string> names;
  for (const KernelMeta& kernel : metadata.kernels) {
    for (const TaskMeta& task : kernel.tasks) {
      for (const EntryMeta& entry : task.entries) {
        if (entry.target == target) names.emplace_back(entry.symbol.view());
      }
    }
  }
  for (const String& feature : metadata.targets[target].features) {
    if (feature == ADRT_GPU_TABLE_FEATURE) names.emplace_back(ADRT_GPU_TABLE_WRITER);
  }
  return names;
}

}  // namespace

std::string MakePtx(const Metadata& metadata, uint32_t target, const char* version) {
  std::string arch(metadata.targets[target].arch.view());
  std::string text = std::string("//\n.version ") + version + "\n.target " + arch + "\n.address_size 64\n";
  for (const std::string& name : EntriesOf(metadata, target))
    text += ".visible .entry " + name + "()\n{\n\tret;\n}\n";
  return text;
}

std::vector<uint8_t> MakeHsaco(const Metadata& metadata, uint32_t target, uint32_t processor) {
  constexpr size_t kHeader = 64, kSection = 64, kSymbol = 24;
  std::vector<std::string> symbols;
  for (const std::string& name : EntriesOf(metadata, target)) {
    symbols.push_back(name);
    symbols.push_back(name + ".kd");
  }
  std::string names(1, '\0');
  std::vector<uint8_t> bytes;
  auto put = [&bytes](size_t offset, uint64_t value, size_t size) {
    if (bytes.size() < offset + size) bytes.resize(offset + size);
    std::memcpy(bytes.data() + offset, &value, size);
  };
  for (size_t number = 0; number < symbols.size(); ++number) {
    put(kHeader + kSymbol * number, names.size(), 4);
    put(kHeader + kSymbol * number + 16, 64, 8);  // bytes of a kernel descriptor
    names += symbols[number] + '\0';
  }
  size_t text = bytes.size(), sections = (text + names.size() + 7) / 8 * 8;
  for (size_t at = 0; at < names.size(); ++at) put(text + at, static_cast<unsigned char>(names[at]), 1);
  put(0, 0x40010102464C457F, 8);  // ELF, 64 bits, little-endian, HSA
  put(16, 3, 2);
  put(18, 224, 2);
  put(40, sections, 8);
  put(48, processor, 4);
  put(58, kSection, 2);
  put(60, 3, 2);
  auto section = [&](size_t number, uint32_t kind, uint64_t offset, uint64_t length, uint32_t link) {
    size_t row = sections + kSection * number;
    put(row + 4, kind, 4);
    put(row + 24, offset, 8);
    put(row + 32, length, 8);
    put(row + 40, link, 4);
    put(row + 56, 0, 8);
  };
  section(0, 0, 0, 0, 0);
  section(1, 11, kHeader, kSymbol * symbols.size(), 2);
  section(2, 3, text, names.size(), 0);
  return bytes;
}

std::vector<uint8_t> MakeDeviceBundle(const Metadata& metadata, uint32_t section_kind,
                                      const std::vector<uint8_t>& code) {
  Error error;
  String json;
  if (!WriteMetadata(metadata, &json, &error)) Stop(error);
  SectionInput sections[2];
  sections[0].kind = section_kind;
  sections[0].target = static_cast<uint32_t>(metadata.targets.size()) - 1;
  sections[0].bytes = {code.data(), code.size()};
  sections[1].kind = section::kMeta;
  sections[1].required = true;
  sections[1].bytes = {reinterpret_cast<const uint8_t*>(json.data()), json.size()};
  Vector<uint8_t> file;
  if (!WriteBundle({sections, 2}, &file, &error)) Stop(error);
  return {file.begin(), file.end()};
}

}  // namespace fixture
