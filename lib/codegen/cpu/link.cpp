#include "codegen/cpu/link.h"

#include "codegen/llvm/elf_link.h"

namespace adc::codegen {

diag::Result<std::vector<uint8_t>> LinkImage(std::span<const uint8_t> object, const target::Target& target,
                                             bool keep_debug) {
  std::vector<const char*> arguments = {"-m",
                                        target.arch == target::Arch::X86_64 ? "elf_x86_64" : "aarch64linux",
                                        "--hash-style=sysv",
                                        "-Bsymbolic",
                                        "--gc-sections",
                                        "-z",
                                        "separate-code",
                                        "-z",
                                        "norelro",
                                        "-z",
                                        "nognustack",
                                        "-z",
                                        "now"};
  if (!keep_debug) arguments.push_back("-s");
  return LinkElf(object, arguments, "CPU image");
}

}  // namespace adc::codegen
