#pragma once
// What the tests of PTX share: text to PTX, and what ptxas says of it where it is installed.

#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "codegen/nvptx/emit.h"
#include "lowered.h"
#include "raised.h"

namespace adc::test {

inline codegen::CodeConfig PtxConfig(const std::string& target, uint32_t optimise = 2,
                                     codegen::FloatMode mode = codegen::FloatMode::Contract) {
  codegen::CodeConfig config;
  config.target = target::FindTarget(target).value();
  config.optimise = optimise;
  config.float_mode = mode;
  return config;
}

inline std::string PtxOf(const codegen::TargetCode& code) {
  const codegen::Payload* payload = code.Find(codegen::PayloadKind::Ptx);
  REQUIRE(payload != nullptr);
  return {payload->bytes.begin(), payload->bytes.end()};
}

/// PTX of every kernel of `lowered`.
inline std::string PtxFor(const LoweredModule& lowered, const codegen::CodeConfig& config,
                          const driver::CompileOptions& options = {}) {
  auto code = EmitRaised(codegen::EmitNvptx, *lowered.module, lowered.ToEmit(), config, options);
  if (!code) INFO(code.Failure().text);
  REQUIRE(code);
  return PtxOf(*code);
}

/// The text of one entry, from its name to its closing brace.
inline std::string EntryText(const std::string& ptx, const std::string& symbol) {
  size_t begin = ptx.find(".entry " + symbol + "(");
  REQUIRE(begin != std::string::npos);
  return ptx.substr(begin, ptx.find("\n}\n", begin) - begin);
}

inline size_t Count(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + what.size())) ++count;
  return count;
}

/// NVIDIA's assembler, or nothing.
inline std::string Ptxas() {
  if (const char* path = std::getenv("PATH")) {
    std::stringstream folders(path);
    for (std::string folder; std::getline(folders, folder, ':');) {
      if (std::filesystem::exists(folder + "/ptxas")) return folder + "/ptxas";
    }
  }
  std::string usual = "/usr/local/cuda/bin/ptxas";
  return std::filesystem::exists(usual) ? usual : "";
}

struct Assembled {
  bool good = false;
  std::string output;
  uint32_t registers = 0;  ///< the most of any entry
  uint32_t spills = 0;     ///< bytes, of all entries together
  uint32_t stack = 0;
};

/// What `ptxas -v` says of a text. Requires that there is a ptxas.
inline Assembled Assemble(const std::string& ptx, const std::string& processor) {
  char folder[] = "/tmp/adc-ptx-XXXXXX";
  REQUIRE(mkdtemp(folder) != nullptr);
  std::string file = std::string(folder) + "/a.ptx";
  std::ofstream(file) << ptx;
  std::string command = Ptxas() + " -v -arch=" + processor + " -o " + folder + "/a.cubin " + file + " 2>&1";
  Assembled result;
  FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::array<char, 4096> buffer;
  while (size_t got = fread(buffer.data(), 1, buffer.size(), pipe)) result.output.append(buffer.data(), got);
  result.good = pclose(pipe) == 0;
  std::filesystem::remove_all(folder);
  std::stringstream lines(result.output);
  for (std::string line; std::getline(lines, line);) {
    unsigned stack = 0, stores = 0, loads = 0, registers = 0;
    if (std::sscanf(line.c_str(), " %u bytes stack frame, %u bytes spill stores, %u bytes spill loads",
                    &stack, &stores, &loads) == 3) {
      result.stack = std::max(result.stack, stack);
      result.spills += stores + loads;
    }
    size_t at = line.find("Used ");
    if (at != std::string::npos && std::sscanf(line.c_str() + at, "Used %u registers", &registers) == 1)
      result.registers = std::max(result.registers, registers);
  }
  return result;
}

}  // namespace adc::test
