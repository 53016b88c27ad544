#include "codegen/llvm/disassemble.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "diag/errors/codegen.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/TargetSelect.h"

namespace adc::codegen {
namespace {

diag::Diagnostic CodeFailure(const std::string& reason) {
  return diag::Fail(
      diag::E0611, {}, "cannot disassemble: " + reason,
      "give an object, a shared image or an HSACO that adc wrote, and one of its entry symbols");
}

void InitialiseDisassemblers() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86Disassembler();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64Disassembler();
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
  });
}

/// The parts of LLVM that read and print instructions of one processor.
class Reader {
 public:
  bool Make(const std::string& triple, const std::string& processor, const std::string& features) {
    std::string error;
    const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
    if (target == nullptr) return false;
    registers_.reset(target->createMCRegInfo(triple));
    if (!registers_) return false;
    assembly_.reset(target->createMCAsmInfo(*registers_, triple, llvm::MCTargetOptions()));
    subtarget_.reset(target->createMCSubtargetInfo(triple, processor, features));
    instructions_.reset(target->createMCInstrInfo());
    if (!assembly_ || !subtarget_ || !instructions_) return false;
    context_ = std::make_unique<llvm::MCContext>(llvm::Triple(triple), assembly_.get(), registers_.get(),
                                                 subtarget_.get());
    disassembler_.reset(target->createMCDisassembler(*subtarget_, *context_));
    printer_.reset(target->createMCInstPrinter(llvm::Triple(triple), assembly_->getAssemblerDialect(),
                                               *assembly_, *instructions_, *registers_));
    return disassembler_ && printer_;
  }

  void Print(llvm::ArrayRef<uint8_t> code, uint64_t address, llvm::raw_ostream& out) {
    for (uint64_t offset = 0; offset < code.size();) {
      llvm::MCInst instruction;
      uint64_t size = 0;
      auto status = disassembler_->getInstruction(instruction, size, code.slice(offset), address + offset,
                                                  llvm::nulls());
      out << llvm::formatv("  {0,6:x-}", offset);
      if (status == llvm::MCDisassembler::Fail) {
        out << llvm::formatv("\t.byte 0x{0:x-2}", code[offset]);
        size = 1;
      } else {
        printer_->printInst(&instruction, address + offset, "", *subtarget_, out);
      }
      out << '\n';
      offset += std::max<uint64_t>(size, 1);
    }
  }

 private:
  std::unique_ptr<llvm::MCRegisterInfo> registers_;
  std::unique_ptr<llvm::MCAsmInfo> assembly_;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget_;
  std::unique_ptr<llvm::MCInstrInfo> instructions_;
  std::unique_ptr<llvm::MCContext> context_;
  std::unique_ptr<llvm::MCDisassembler> disassembler_;
  std::unique_ptr<llvm::MCInstPrinter> printer_;
};

struct Code {
  uint64_t address = 0;
  std::string name;
  llvm::ArrayRef<uint8_t> bytes;
};

/// The value of `expected`, or an empty one in place of an error.
template <class T>
T ValueOrEmpty(llvm::Expected<T> expected) {
  if (expected) return *expected;
  llvm::consumeError(expected.takeError());
  return T();
}

/// Functions of a file, by address. Inconsistent parts of the file are left out. Tables are read whole, with
/// their bounds checked; LLVM's iterators over symbols believe the sizes that a file states.
std::vector<Code> FunctionsOf(const llvm::object::ELFFile<llvm::object::ELF64LE>& file) {
  std::vector<Code> functions;
  auto sections = ValueOrEmpty(file.sections());
  bool relocatable = file.getHeader().e_type == llvm::ELF::ET_REL;
  for (uint32_t kind : {llvm::ELF::SHT_SYMTAB, llvm::ELF::SHT_DYNSYM}) {
    if (!functions.empty()) break;
    for (const auto& table : sections) {
      if (table.sh_type != kind) continue;
      llvm::StringRef names = ValueOrEmpty(file.getStringTableForSymtab(table, sections));
      for (const auto& symbol : ValueOrEmpty(file.symbols(&table))) {
        if (symbol.getType() != llvm::ELF::STT_FUNC || symbol.st_shndx >= sections.size()) continue;
        const auto& section = sections[symbol.st_shndx];
        llvm::ArrayRef<uint8_t> contents = ValueOrEmpty(file.getSectionContents(section));
        uint64_t offset = relocatable ? symbol.st_value : symbol.st_value - section.sh_addr;
        if (offset > contents.size() || symbol.st_size > contents.size() - offset) continue;
        functions.push_back({symbol.st_value, ValueOrEmpty(symbol.getName(names)).str(),
                             contents.slice(offset, symbol.st_size)});
      }
    }
  }
  std::sort(functions.begin(), functions.end(), [](const Code& one, const Code& other) {
    return one.address != other.address ? one.address < other.address : one.name < other.name;
  });
  return functions;
}

/// The processor of a file, as LLVM names it; empty where any of its kind will do, nothing where it is none
/// of ours. LLVM is not asked: it has no answer to numbers that it does not know.
std::optional<std::string> ProcessorOf(uint16_t machine, uint32_t flags) {
  if (machine == llvm::ELF::EM_X86_64 || machine == llvm::ELF::EM_AARCH64) return "";
  if (machine != llvm::ELF::EM_AMDGPU) return std::nullopt;
  switch (flags & llvm::ELF::EF_AMDGPU_MACH) {
    case llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX90A:
      return "gfx90a";
    case llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX942:
      return "gfx942";
    case llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX1030:
      return "gfx1030";
    case llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX1100:
      return "gfx1100";
    case llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX1200:
      return "gfx1200";
    default:
      return std::nullopt;
  }
}

}  // namespace

diag::Result<std::string> Disassemble(std::span<const uint8_t> elf, std::string_view symbol) {
  InitialiseDisassemblers();
  llvm::StringRef bytes(reinterpret_cast<const char*>(elf.data()), elf.size());
  auto opened = llvm::object::ELF64LEObjectFile::create(llvm::MemoryBufferRef(bytes, "code"));
  if (!opened) return CodeFailure(llvm::toString(opened.takeError()));
  const auto& header = opened->getELFFile().getHeader();
  std::optional<std::string> processor = ProcessorOf(header.e_machine, header.e_flags);
  if (!processor) return CodeFailure("it is for no processor that adc writes code for");
  std::string features = ValueOrEmpty(opened->getFeatures()).getString();
  Reader reader;
  if (!reader.Make(opened->makeTriple().str(), *processor, features))
    return CodeFailure("no processor that LLVM knows");
  std::string text;
  llvm::raw_string_ostream out(text);
  bool found = false;
  for (const Code& function : FunctionsOf(opened->getELFFile())) {
    if (!symbol.empty() && function.name != symbol) continue;
    found = true;
    out << function.name << ":\n";
    reader.Print(function.bytes, function.address, out);
  }
  if (!found && !symbol.empty()) return CodeFailure("no function '" + std::string(symbol) + "'");
  return out.str();
}

std::optional<uint64_t> FunctionBytes(std::span<const uint8_t> elf, std::string_view symbol) {
  llvm::StringRef bytes(reinterpret_cast<const char*>(elf.data()), elf.size());
  auto opened = llvm::object::ELF64LEObjectFile::create(llvm::MemoryBufferRef(bytes, "code"));
  if (!opened) {
    llvm::consumeError(opened.takeError());
    return std::nullopt;
  }
  for (const Code& function : FunctionsOf(opened->getELFFile())) {
    if (function.name == symbol) return function.bytes.size();
  }
  return std::nullopt;
}

}  // namespace adc::codegen
