// How waves begin, and how they take turns.
//
// A wave begins with what the descriptor asks for: the user SGPRs in their order, the number of the
// work-group behind them, the numbers of the work-items in v0, ten bits for each dimension. Everything else
// is garbage. Waves run for a random number of instructions each, so that what they do to shared memory meets
// in many orders; one that waits at the barrier runs again once all waves of its group wait, or have ended.

#include "launch.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace adc::rdna3 {
namespace {

constexpr uint32_t kGroupsAtOnce = 3;
constexpr uint32_t kLongestTurn = 512;

/// What hsa_kernel_dispatch_packet_t holds of sizes.
struct Packet {
  uint16_t header = 0, setup = 1, group[3] = {1, 1, 1}, reserved = 0;
  uint32_t grid[3] = {1, 1, 1}, private_bytes = 0, shared_bytes = 0;
  uint64_t kernel = 0, arguments = 0, reserved_too = 0, signal = 0;
};
static_assert(sizeof(Packet) == 64);

/// Memory that a launch needs of its own.
class Owned {
 public:
  Owned(Memory& memory, std::span<const uint8_t> bytes, uint64_t size, const char* what)
      : memory_(memory), address_(memory.Allocate(size, what, true)) {
    if (!bytes.empty()) std::memcpy(memory.ForHost(address_, size), bytes.data(), bytes.size());
  }
  ~Owned() { memory_.Free(address_); }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  uint64_t address() const { return address_; }

 private:
  Memory& memory_;
  uint64_t address_;
};

struct Group {
  WorkGroup group;
  std::vector<std::unique_ptr<Wave>> waves;
};

class Runner {
 public:
  Runner(Memory& memory, CodeObject& code, const Kernel& kernel, const LaunchConfig& config)
      : memory_(memory),
        code_(code),
        kernel_(kernel),
        config_(config),
        garbage_(config.seed),
        arguments_(memory, config.arguments, std::max<uint64_t>(kernel.argument_bytes, 1),
                   "the kernel's arguments"),
        packet_(memory, PacketBytes(), sizeof(Packet), "the dispatch packet") {}

  LaunchCount Run() {
    while (next_block_ < config_.blocks || !groups_.empty()) {
      while (next_block_ < config_.blocks && groups_.size() < kGroupsAtOnce) Begin(next_block_++);
      uint64_t pick = garbage_.Next() % groups_.size();
      Turn(*groups_[pick]);
      if (groups_[pick]->group.waves == 0) groups_.erase(groups_.begin() + static_cast<ptrdiff_t>(pick));
    }
    return count_;
  }

 private:
  std::span<const uint8_t> PacketBytes() {
    packet_bytes_.group[0] = static_cast<uint16_t>(config_.block_size);
    packet_bytes_.grid[0] = config_.blocks * config_.block_size;
    packet_bytes_.private_bytes = kernel_.private_bytes;
    packet_bytes_.shared_bytes = kernel_.shared_bytes;
    packet_bytes_.arguments = arguments_.address();
    return {reinterpret_cast<const uint8_t*>(&packet_bytes_), sizeof packet_bytes_};
  }

  void Begin(uint32_t block) {
    auto group = std::make_unique<Group>();
    group->group.shared.resize(kernel_.shared_bytes);
    garbage_.Fill(group->group.shared.data(), group->group.shared.size());
    for (uint32_t first = 0; first < config_.block_size; first += kLanes) {
      group->waves.push_back(NewWave(group->group, block, first));
      ++group->group.waves;
    }
    groups_.push_back(std::move(group));
  }

  std::unique_ptr<Wave> NewWave(WorkGroup& group, uint32_t block, uint32_t first_item) {
    std::unique_ptr<Wave> made = std::make_unique<Wave>();
    Wave& wave = *made;
    garbage_.Fill(wave.s.data(), sizeof wave.s);
    // What is read beyond the kernel's own registers does not count, as an instruction that does is refused.
    garbage_.Fill(wave.v, kernel_.vector_registers * sizeof wave.v[0]);
    wave.scc = garbage_.Next() & 1;
    wave.mode = kernel_.mode;
    wave.pc = kernel_.entry;
    wave.vector_registers = kernel_.vector_registers;
    wave.private_bytes = kernel_.private_bytes;
    wave.scratch.resize(size_t{kLanes} * kernel_.private_bytes);
    garbage_.Fill(wave.scratch.data(), wave.scratch.size());
    wave.group = &group;
    wave.memory = &memory_;
    wave.s[kNull] = 0;
    uint32_t items = std::min(kLanes, config_.block_size - first_item);
    wave.s[kExec] = items == kLanes ? ~0u : (1u << items) - 1;

    uint16_t next = 0;
    auto put = [&wave, &next](uint64_t value, uint16_t words) {
      for (uint16_t word = 0; word < words; ++word)
        wave.s[next++] = static_cast<uint32_t>(value >> (32 * word));
    };
    if (kernel_.wants_dispatch) put(packet_.address(), 2);
    if (kernel_.wants_arguments) put(arguments_.address(), 2);
    if (kernel_.wants_private_size) put(kernel_.private_bytes, 1);
    next = static_cast<uint16_t>(kernel_.user_registers);
    for (uint32_t axis = 0; axis < 3; ++axis) {
      if (kernel_.wants_group[axis]) put(axis == 0 ? block : 0, 1);
    }
    // y and z are 0.
    for (uint32_t lane = 0; lane < kLanes; ++lane) wave.v[0][lane] = first_item + lane;
    return made;
  }

  /// One of the waves that can run does so for a while.
  void Turn(Group& group) {
    Wave* chosen = nullptr;
    uint64_t seen = 0;
    for (const std::unique_ptr<Wave>& wave : group.waves) {
      if (wave->ended || wave->waiting) continue;
      if (garbage_.Next() % ++seen == 0) chosen = wave.get();
    }
    if (!chosen) throw Fault("no wave of a work-group can run");
    Wave& wave = *chosen;
    uint64_t turn = 1 + garbage_.Next() % kLongestTurn, pc = wave.pc;
    try {
      for (uint64_t step = 0; step < turn && !wave.ended && !wave.waiting; ++step) {
        pc = wave.pc;
        const Instruction& instruction = code_.code().At(pc);
        if (instruction.most_register > kernel_.vector_registers) {
          throw Fault("VGPR " + std::to_string(instruction.most_register - 1) +
                      " of a kernel that asked for " + std::to_string(kernel_.vector_registers));
        }
        wave.pc += instruction.bytes;
        instruction.run(wave, instruction);
        ++count_.instructions;
      }
      if (count_.instructions > config_.most_instructions)
        throw Fault("more instructions than a launch may take");
    } catch (const Fault& fault) {
      char place[32];
      std::snprintf(place, sizeof place, "+%#llx", static_cast<unsigned long long>(pc - kernel_.entry));
      throw Fault(std::string(fault.what()) + "; in " + kernel_.name + place + ": " + code_.code().Text(pc));
    }
    if (wave.ended) --group.group.waves;
    // The barrier opens when all that still run are there.
    if (group.group.waiting > 0 && group.group.waiting == group.group.waves) {
      group.group.waiting = 0;
      for (const std::unique_ptr<Wave>& each : group.waves) each->waiting = false;
    }
  }

  Memory& memory_;
  CodeObject& code_;
  const Kernel& kernel_;
  const LaunchConfig& config_;
  Garbage garbage_;
  Packet packet_bytes_;
  Owned arguments_, packet_;
  uint32_t next_block_ = 0;
  std::vector<std::unique_ptr<Group>> groups_;
  LaunchCount count_;
};

}  // namespace

LaunchCount Launch(Memory& memory, CodeObject& code, const Kernel& kernel, const LaunchConfig& config) {
  if (config.arguments.size() != kernel.argument_bytes) {
    throw Fault(kernel.name + " has " + std::to_string(kernel.argument_bytes) + " bytes of arguments, and " +
                std::to_string(config.arguments.size()) + " were handed over");
  }
  return Runner(memory, code, kernel, config).Run();
}

}  // namespace adc::rdna3
