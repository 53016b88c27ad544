#pragma once
// What the tests of code generation share: kernels made by hand, images loaded into this process, launches.

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "artifact/cpu_abi.h"
#include "codegen/cpu/emit.h"
#include "ir/builder.h"
#include "ir/module.h"
#include "raised.h"

namespace adc::codegen_tests {

/// Targets that this machine can run.
inline std::vector<target::Target> RunnableTargets() {
  std::vector<target::Target> targets;
#if defined(__x86_64__)
  for (const target::Target& t : target::AllTargets()) {
    if (t.arch != target::Arch::X86_64) continue;
    if (t.level == 2 && !__builtin_cpu_supports("x86-64-v2")) continue;
    if (t.level == 3 && !__builtin_cpu_supports("x86-64-v3")) continue;
    if (t.level == 4 && !__builtin_cpu_supports("x86-64-v4")) continue;
    targets.push_back(t);
  }
#endif
  return targets;
}

inline codegen::CodeConfig ConfigFor(const target::Target& t, uint32_t optimise = 2,
                                     codegen::FloatMode mode = codegen::FloatMode::Strict) {
  codegen::CodeConfig config;
  config.target = t;
  config.optimise = optimise;
  config.float_mode = mode;
  return config;
}

/// The bytes of the shared image of a CPU's code.
inline const std::vector<uint8_t>& ImageOf(const codegen::TargetCode& code) {
  return code.Find(codegen::PayloadKind::Image)->bytes;
}

/// An image in this process, mapped by the system's loader.
class LoadedImage {
 public:
  explicit LoadedImage(const std::vector<uint8_t>& image) {
    char path[] = "/tmp/adc-test-XXXXXX";
    int file = mkstemp(path);
    if (file < 0) return;
    ssize_t written = write(file, image.data(), image.size());
    close(file);
    if (written == static_cast<ssize_t>(image.size())) handle_ = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle_ == nullptr) error_ = dlerror();
    unlink(path);
  }
  ~LoadedImage() {
    if (handle_ != nullptr) dlclose(handle_);
  }
  LoadedImage(const LoadedImage&) = delete;
  LoadedImage& operator=(const LoadedImage&) = delete;

  bool Ok() const { return handle_ != nullptr; }
  const std::string& Error() const { return error_; }
  adrt_cpu_entry Entry(const std::string& symbol) const {
    return reinterpret_cast<adrt_cpu_entry>(dlsym(handle_, symbol.c_str()));
  }

 private:
  void* handle_ = nullptr;
  std::string error_;
};

/// Argument cells, built parameter by parameter, and the rest of a frame.
class Launch {
 public:
  Launch& Buffer(void* data, std::initializer_list<int64_t> extents = {}) {
    cells.push_back(reinterpret_cast<uint64_t>(data));
    for (int64_t extent : extents) cells.push_back(static_cast<uint64_t>(extent));
    return *this;
  }
  template <class T>
  Launch& Scalar(T value) {
    uint64_t cell = 0;
    std::memcpy(&cell, &value, sizeof value);
    cells.push_back(cell);
    return *this;
  }
  void Run(adrt_cpu_entry entry, uint64_t begin, uint64_t end, uint64_t row = 0) {
    // Copies of buffers (codegen/cpu/own_copies.h) have no capacity unless the test says so.
    constexpr size_t kCopyCells = 64;
    std::vector<uint64_t> words = adstack;
    words.resize(words.size() + kCopyCells);
    adrt_cpu_frame frame{cells.data(), words.data(), heap, status, row};
    entry(&frame, begin, end);
  }

  std::vector<uint64_t> cells;
  std::vector<uint64_t> adstack;
  unsigned char* heap = nullptr;
  uint32_t status[ADRT_CPU_STATUS_WORDS] = {};
};

/// A module under construction that says it is lowered.
struct Kernels {
  Kernels() { module.phase = ir::Phase::Lowered; }
  ir::Function& Add(const std::string& name) {
    return module.AddFunction(ir::FunctionKind::Kernel, module.Intern(name));
  }
  ir::Value Param(ir::Function& kernel, ir::Type type, const std::string& name, ir::ParamInfo info = {}) {
    return kernel.AddParameter(type, module.Intern(name), info);
  }
  std::vector<codegen::KernelToEmit> All() const {
    std::vector<codegen::KernelToEmit> kernels;
    for (const auto& function : module.functions) {
      if (function->IsKernel()) kernels.push_back({function.get(), {}});
    }
    return kernels;
  }
  ir::Module module;
};

}  // namespace adc::codegen_tests
