#include "assemble.h"

#include <memory>
#include <stdexcept>

#include "llvm/MC/MCAsmBackend.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCCodeEmitter.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCObjectFileInfo.h"
#include "llvm/MC/MCObjectWriter.h"
#include "llvm/MC/MCParser/MCAsmParser.h"
#include "llvm/MC/MCParser/MCTargetAsmParser.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCStreamer.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

extern "C" {
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTargetMC();
void LLVMInitializeAMDGPUAsmParser();
}

namespace adc::rdna3 {

std::vector<uint8_t> Assemble(const std::string& text) {
  LLVMInitializeAMDGPUTargetInfo();
  LLVMInitializeAMDGPUTargetMC();
  LLVMInitializeAMDGPUAsmParser();
  const std::string kTriple = "amdgcn-amd-amdhsa";
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(kTriple, error);
  if (!target) throw std::runtime_error(error);

  llvm::MCTargetOptions options;
  std::unique_ptr<llvm::MCRegisterInfo> registers(target->createMCRegInfo(kTriple));
  std::unique_ptr<llvm::MCAsmInfo> assembly(target->createMCAsmInfo(*registers, kTriple, options));
  std::unique_ptr<llvm::MCInstrInfo> instructions(target->createMCInstrInfo());
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget(
      target->createMCSubtargetInfo(kTriple, "gfx1100", "+wavefrontsize32,-wavefrontsize64"));
  llvm::SourceMgr source;
  source.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(text), {});
  std::string said;
  source.setDiagHandler(
      [](const llvm::SMDiagnostic& diagnostic, void* to) {
        *static_cast<std::string*>(to) +=
            diagnostic.getMessage().str() + ": " + diagnostic.getLineContents().str() + "\n";
      },
      &said);
  llvm::MCContext context(llvm::Triple(kTriple), assembly.get(), registers.get(), subtarget.get(), &source,
                          &options);
  std::unique_ptr<llvm::MCObjectFileInfo> file_info(target->createMCObjectFileInfo(context, true));
  context.setObjectFileInfo(file_info.get());

  llvm::SmallVector<char, 1024> object;
  llvm::raw_svector_ostream stream(object);
  std::unique_ptr<llvm::MCAsmBackend> backend(target->createMCAsmBackend(*subtarget, *registers, options));
  std::unique_ptr<llvm::MCCodeEmitter> emitter(target->createMCCodeEmitter(*instructions, context));
  std::unique_ptr<llvm::MCObjectWriter> writer = backend->createObjectWriter(stream);
  std::unique_ptr<llvm::MCStreamer> streamer(target->createMCObjectStreamer(
      llvm::Triple(kTriple), context, std::move(backend), std::move(writer), std::move(emitter), *subtarget));
  std::unique_ptr<llvm::MCAsmParser> parser(llvm::createMCAsmParser(source, context, *streamer, *assembly));
  std::unique_ptr<llvm::MCTargetAsmParser> target_parser(
      target->createMCAsmParser(*subtarget, *parser, *instructions, options));
  parser->setTargetParser(*target_parser);
  if (parser->Run(false) || context.hadError()) throw std::runtime_error("the assembler: " + said + text);

  llvm::MemoryBufferRef buffer(llvm::StringRef(object.data(), object.size()), "object");
  auto file = llvm::object::ObjectFile::createObjectFile(buffer);
  if (!file) throw std::runtime_error(llvm::toString(file.takeError()));
  for (const llvm::object::SectionRef& section : (*file)->sections()) {
    if (!section.isText()) continue;
    auto contents = section.getContents();
    if (!contents) throw std::runtime_error(llvm::toString(contents.takeError()));
    return {contents->begin(), contents->end()};
  }
  throw std::runtime_error("the assembler left no code");
}

}  // namespace adc::rdna3
