// What LLVM's disassembler says of an instruction (which one it is, how long, which registers it names), and
// the fields of its encoding, read from the bytes. The formats are told apart by their highest bits.

#include "decode.h"

#include <unordered_map>

#include "fields.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"

extern "C" {
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTargetMC();
void LLVMInitializeAMDGPUDisassembler();
}

namespace adc::rdna3 {

struct Decoder::Llvm {
  std::unique_ptr<llvm::MCRegisterInfo> registers;
  std::unique_ptr<llvm::MCAsmInfo> assembly;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
  std::unique_ptr<llvm::MCInstrInfo> instructions;
  std::unique_ptr<llvm::MCContext> context;
  std::unique_ptr<llvm::MCDisassembler> disassembler;
  std::unique_ptr<llvm::MCInstPrinter> printer;

  llvm::MCInst Read(std::span<const uint8_t> bytes, uint64_t pc, uint64_t* size) const {
    llvm::MCInst inst;
    auto status = disassembler->getInstruction(inst, *size, llvm::ArrayRef(bytes.data(), bytes.size()), pc,
                                               llvm::nulls());
    if (status != llvm::MCDisassembler::Success) throw Fault("bytes that are no instruction");
    return inst;
  }
  std::string MnemonicOf(const llvm::MCInst& inst) const {
    std::string_view text = printer->getMnemonic(&inst).first;
    text = text.substr(0, text.find_first_of(" \t"));
    // Which encoding it is, the bits say.
    for (std::string_view encoding : {"_dpp", "_e64", "_e32"}) {
      if (text.ends_with(encoding)) text.remove_suffix(encoding.size());
    }
    return std::string(text);
  }
  /// One more than the number of the highest VGPR.
  uint16_t MostRegister(const llvm::MCInst& inst) const {
    constexpr unsigned kIsVector = 1 << 8;
    unsigned most = 0;
    for (const llvm::MCOperand& operand : inst) {
      if (!operand.isReg() || operand.getReg() == 0) continue;
      for (llvm::MCPhysReg part : registers->subregs_inclusive(operand.getReg())) {
        unsigned code = registers->getEncodingValue(part);
        if (code & kIsVector) most = std::max(most, (code & 0xFF) + 1);
      }
    }
    return static_cast<uint16_t>(most);
  }
};

Decoder::Decoder(const std::string& processor) : llvm_(std::make_unique<Llvm>()) {
  static const bool initialised = [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
    return true;
  }();
  (void)initialised;
  const std::string kTriple = "amdgcn-amd-amdhsa";
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(kTriple, error);
  if (!target) throw std::runtime_error("LLVM has no target " + kTriple + ": " + error);
  Llvm& l = *llvm_;
  l.registers.reset(target->createMCRegInfo(kTriple));
  l.assembly.reset(target->createMCAsmInfo(*l.registers, kTriple, {}));
  l.subtarget.reset(target->createMCSubtargetInfo(kTriple, processor, "+wavefrontsize32,-wavefrontsize64"));
  l.instructions.reset(target->createMCInstrInfo());
  l.context = std::make_unique<llvm::MCContext>(llvm::Triple(kTriple), l.assembly.get(), l.registers.get(),
                                                l.subtarget.get());
  l.disassembler.reset(target->createMCDisassembler(*l.subtarget, *l.context));
  l.printer.reset(
      target->createMCInstPrinter(llvm::Triple(kTriple), 0, *l.assembly, *l.instructions, *l.registers));
  if (!l.disassembler || !l.printer) throw std::runtime_error("LLVM does not disassemble " + processor);
}

Decoder::~Decoder() = default;

std::string Decoder::Mnemonic(std::span<const uint8_t> bytes, uint64_t pc) {
  uint64_t size = 0;
  std::string mnemonic = llvm_->MnemonicOf(llvm_->Read(bytes, pc, &size));
  if (!mnemonic.starts_with("v_dual_")) return mnemonic;
  std::string text = Text(bytes, pc);
  size_t second = text.find(":: ");
  return mnemonic + " " + text.substr(second, text.find(' ', second + 3) - second);
}

std::string Decoder::Text(std::span<const uint8_t> bytes, uint64_t pc) {
  uint64_t size = 0;
  llvm::MCInst inst = llvm_->Read(bytes, pc, &size);
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm_->printer->printInst(&inst, pc, "", *llvm_->subtarget, stream);
  text.erase(0, text.find_first_not_of(" \t"));
  return text;
}

Instruction Decoder::Decode(std::span<const uint8_t> bytes, uint64_t pc) {
  uint64_t size = 0;
  llvm::MCInst inst = llvm_->Read(bytes, pc, &size);
  std::string mnemonic = llvm_->MnemonicOf(inst);
  Instruction instruction;
  instruction.pc = pc;
  instruction.bytes = static_cast<uint32_t>(size);
  if (size == 4 * kWordsOfDual || size == 4 * (kWordsOfDual + 1)) {
    auto second = std::make_unique<Instruction>();
    if (ReadDual(bytes.first(size), instruction, *second)) {
      instruction.most_register = llvm_->MostRegister(inst);
      instruction.other = second.get();
      halves_.push_back(std::move(second));
      return instruction;
    }
  }
  ReadFields(bytes.first(size), mnemonic, instruction);
  instruction.most_register = llvm_->MostRegister(inst);
  // LDS instructions that return the old value are those that do not, and a register.
  if (size_t at = mnemonic.find("_rtn"); at != std::string::npos) {
    mnemonic.erase(at, 4);
    instruction.returns = true;
  }
  instruction.run = FindHandler(mnemonic);
  return instruction;
}

Handler FindHandler(std::string_view mnemonic) {
  static const std::unordered_map<std::string_view, Handler> table = [] {
    std::unordered_map<std::string_view, Handler> rows;
    for (std::span<const Row> part :
         {ScalarRows(), ControlRows(), FloatRows(), IntegerRows(), ConversionRows(), DivisionRows(),
          CompareRows(), PackedRows(), LaneRows(), ScalarMemoryRows(), GlobalMemoryRows(), AtomicRows(),
          SharedMemoryRows()}) {
      for (const Row& row : part) rows.emplace(row.name, row.run);
    }
    return rows;
  }();
  auto found = table.find(mnemonic);
  return found == table.end() ? nullptr : found->second;
}

// -------------------------------------------------------------------------------------------------- code

Code::Code(Decoder& decoder, std::span<const uint8_t> bytes, uint64_t address)
    : decoder_(decoder), bytes_(bytes), address_(address), instructions_(bytes.size() / 4) {}

void Code::Outside(uint64_t pc) const {
  throw Fault("the program counter " + std::to_string(pc - address_) + " is outside of the code, which has " +
              std::to_string(bytes_.size()) + " bytes");
}

const Instruction& Code::DecodeAt(uint64_t pc) {
  Instruction& instruction = instructions_[(pc - address_) / 4];
  std::span<const uint8_t> rest = bytes_.subspan(pc - address_);
  instruction = decoder_.Decode(rest, pc);
  if (!instruction.run) throw Fault("no row of a table has " + decoder_.Mnemonic(rest, pc));
  return instruction;
}

void Code::ForEach(const std::function<void(const std::string& mnemonic, bool implemented)>& take) {
  for (uint64_t at = 0; at < bytes_.size();) {
    std::span<const uint8_t> rest = bytes_.subspan(at);
    Instruction instruction = decoder_.Decode(rest, address_ + at);
    take(decoder_.Mnemonic(rest, address_ + at), instruction.run != nullptr);
    at += instruction.bytes;
  }
}

std::string Code::Text(uint64_t pc) {
  if (pc < address_ || pc - address_ >= bytes_.size()) return "outside of the code";
  return decoder_.Text(bytes_.subspan(pc - address_), pc);
}

}  // namespace adc::rdna3
