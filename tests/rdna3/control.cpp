// Scalar instructions that decide what runs next or how: branches, calls, the barrier, the end, MODE. Those
// that only tell the hardware when to wait or what to fetch do nothing here: every instruction is complete
// before the next one begins.

#include "operands.h"

namespace adc::rdna3 {
namespace {

void Nothing(Wave&, const Instruction&) {}

/// The program counter stands after the instruction already.
template <auto kCondition>
void Branch(Wave& wave, const Instruction& i) {
  if (kCondition(wave)) wave.pc += static_cast<uint64_t>(int64_t{i.offset} * 4);
}

void End(Wave& wave, const Instruction&) {
  wave.ended = true;
}
void Barrier(Wave& wave, const Instruction&) {
  wave.waiting = true;
  ++wave.group->waiting;
}

void GetPc(Wave& wave, const Instruction& i) {
  SetScalar64(wave, i.destination, wave.pc);
}
void SetPc(Wave& wave, const Instruction& i) {
  wave.pc = ScalarValue<uint64_t>(wave, i, 0);
}
void SwapPc(Wave& wave, const Instruction& i) {
  uint64_t to = ScalarValue<uint64_t>(wave, i, 0);
  SetScalar64(wave, i.destination, wave.pc);
  wave.pc = to;
}
/// s_call_b64: relative, as a branch.
void Call(Wave& wave, const Instruction& i) {
  SetScalar64(wave, i.destination, wave.pc);
  wave.pc += static_cast<uint64_t>(int64_t{i.offset} * 4);
}

// ------------------------------------------------------------------------------------------------- MODE

constexpr uint32_t kModeRegister = 1;

struct ModeField {
  uint32_t offset, mask;
};
/// The constant names a register, where the field begins, and how wide it is, less one.
ModeField FieldOf(const Instruction& i) {
  auto control = static_cast<uint32_t>(i.offset) & 0xFFFF;
  uint32_t number = control & 0x3F, width = (control >> 11) + 1;
  if (number != kModeRegister) throw Fault("a hardware register other than MODE: " + std::to_string(number));
  return {control >> 6 & 0x1F, width == 32 ? ~0u : (1u << width) - 1};
}
void SetField(Wave& wave, const Instruction& i, uint32_t value) {
  ModeField field = FieldOf(i);
  wave.mode = (wave.mode & ~(field.mask << field.offset)) | (value & field.mask) << field.offset;
}
void SetRegister(Wave& wave, const Instruction& i) {
  SetField(wave, i, ScalarBits<uint32_t>(wave, i.destination, i.literal));
}
void SetRegisterConstant(Wave& wave, const Instruction& i) {
  SetField(wave, i, i.literal);
}
void GetRegister(Wave& wave, const Instruction& i) {
  ModeField field = FieldOf(i);
  SetScalar(wave, i.destination, wave.mode >> field.offset & field.mask);
}
void RoundMode(Wave& wave, const Instruction& i) {
  wave.mode = (wave.mode & ~0xFu) | (static_cast<uint32_t>(i.offset) & 0xF);
}
void DenormalMode(Wave& wave, const Instruction& i) {
  wave.mode = (wave.mode & ~0xF0u) | (static_cast<uint32_t>(i.offset) & 0xF) << 4;
}

void Trap(Wave&, const Instruction&) {
  throw Fault("the program stops itself (s_trap)");
}
void CodeEnd(Wave&, const Instruction&) {
  throw Fault("the program runs past its end (s_code_end)");
}

constexpr Row kRows[] = {
    {"s_branch", Branch<[](const Wave&) { return true; }>},
    {"s_cbranch_scc0", Branch<[](const Wave& wave) { return !wave.scc; }>},
    {"s_cbranch_scc1", Branch<[](const Wave& wave) { return wave.scc; }>},
    {"s_cbranch_vccz", Branch<[](const Wave& wave) { return wave.s[kVcc] == 0; }>},
    {"s_cbranch_vccnz", Branch<[](const Wave& wave) { return wave.s[kVcc] != 0; }>},
    {"s_cbranch_execz", Branch<[](const Wave& wave) { return wave.exec() == 0; }>},
    {"s_cbranch_execnz", Branch<[](const Wave& wave) { return wave.exec() != 0; }>},
    {"s_endpgm", End},
    {"s_barrier", Barrier},
    {"s_getpc_b64", GetPc},
    {"s_setpc_b64", SetPc},
    {"s_swappc_b64", SwapPc},
    {"s_call_b64", Call},
    {"s_setreg_b32", SetRegister},
    {"s_setreg_imm32_b32", SetRegisterConstant},
    {"s_getreg_b32", GetRegister},
    {"s_round_mode", RoundMode},
    {"s_denorm_mode", DenormalMode},
    {"s_trap", Trap},
    {"s_code_end", CodeEnd},
    {"s_nop", Nothing},
    {"s_sleep", Nothing},
    {"s_setprio", Nothing},
    {"s_clause", Nothing},
    {"s_delay_alu", Nothing},
    {"s_waitcnt", Nothing},
    {"s_waitcnt_depctr", Nothing},
    {"s_waitcnt_vscnt", Nothing},
    {"s_waitcnt_vmcnt", Nothing},
    {"s_waitcnt_expcnt", Nothing},
    {"s_waitcnt_lgkmcnt", Nothing},
    {"s_wait_idle", Nothing},
    {"s_wait_event", Nothing},
    {"s_wakeup", Nothing},
    {"s_sendmsg", Nothing},  // that registers are free
    {"s_set_inst_prefetch_distance", Nothing},
    {"s_inst_prefetch", Nothing},
    {"s_icache_inv", Nothing},
    {"s_dcache_inv", Nothing},
    {"s_gl1_inv", Nothing},
    {"buffer_gl0_inv", Nothing},
    {"buffer_gl1_inv", Nothing},
};

}  // namespace

std::span<const Row> ControlRows() {
  return kRows;
}

}  // namespace adc::rdna3
