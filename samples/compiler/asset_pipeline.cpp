// An asset pipeline that compiles 100 kernels on the jobs of an engine: several compilations at once in one
// process, without files. Each asset is one text with its own constants; the pipeline keeps the bundles in
// memory.
//
// It checks what it shows: a bundle compiled among others has the bytes of one that was compiled alone,
// mistakes are reported at their place, and a pipeline that is stopped compiles no more.

#include <atomic>
#include <cstdio>
#include <cstring>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "adc/adc.h"

namespace {

/// The jobs of an engine: as many threads as asked for, which take what is queued.
class Jobs {
 public:
  explicit Jobs(unsigned threads) : threads_(threads) {}
  void Add(std::function<void()> job) { queue_.push_back(std::move(job)); }
  void Run() {
    std::vector<std::thread> workers;
    for (unsigned n = 0; n < threads_; ++n) workers.emplace_back([this] { Work(); });
    for (std::thread& worker : workers) worker.join();
  }

 private:
  void Work() {
    for (;;) {
      std::function<void()> job;
      {
        std::lock_guard<std::mutex> lock(mutex_);
        if (queue_.empty()) return;
        job = std::move(queue_.front());
        queue_.pop_front();
      }
      job();
    }
  }
  unsigned threads_;
  std::mutex mutex_;
  std::deque<std::function<void()>> queue_;
};

struct Asset {
  std::string name, text, messages;
  std::vector<std::string> defines;
  std::vector<uint8_t> bundle;
  adc_status status = ADC_FAILED;
};

constexpr char kSpring[] = R"(import "common.ir"
type real = f32
const @turns = 4 : i32
const @stiffness = 1.0 : real
kernel @settle(%x: buffer<real, 1> diff readonly, %energy: buffer<real, 0> diff) {
  parallel %i in 0..shape(%x, 0) {
    %v = for %t in 0..@turns carry(%v = %x[%i]) {
      yield %v - @pull(%v, @stiffness) * 0.25
    }
    atomic add %energy[], %v * %v
  }
}
)";
constexpr char kCommon[] = "func @pull<T>(%v: T, %k: T) -> T {\n  return %k * sin(%v)\n}\n";

std::atomic<bool> stopped{false};

void Compile(Asset& asset) {
  adc_options options;
  adc_options_init(&options);
  std::vector<const char*> defines;
  for (const std::string& define : asset.defines) defines.push_back(define.c_str());
  options.defines = defines.data();
  options.define_count = defines.size();
  const char* targets[] = {"cpu:x86-64", "vulkan:1.2"};
  options.targets = targets;
  options.target_count = 2;
  options.optimisation = 1;
  options.user = &asset;
  options.report = [](void* user, const adc_diagnostic* found) {
    static_cast<Asset*>(user)->messages += found->text;
  };
  options.cancel = [](void*) { return stopped.load() ? 1 : 0; };
  options.import = [](void*, const char* path, const char** text, size_t* size) {
    if (std::strcmp(path, "common.ir") != 0) return 0;
    *text = kCommon;
    *size = sizeof kCommon - 1;
    return 1;
  };
  adc_source source = {};
  source.name = asset.name.c_str();
  source.text = asset.text.data();
  source.size = asset.text.size();
  adc_product* product = nullptr;
  asset.status = adc_compile(&source, 1, &options, &product);
  if (asset.status != ADC_OK) return;
  size_t size = 0;
  const uint8_t* bytes = adc_product_bytes(product, &size);
  asset.bundle.assign(bytes, bytes + size);
  adc_product_free(product);
}

int Fail(const Asset& asset, const char* why) {
  std::fprintf(stderr, "%s: %s (status %d)\n%s", asset.name.c_str(), why, asset.status,
               asset.messages.c_str());
  return 1;
}

}  // namespace

int main(int count, char** words) {
  unsigned kernels = count > 1 ? static_cast<unsigned>(std::atoi(words[1])) : 100;
  unsigned threads = count > 2 ? static_cast<unsigned>(std::atoi(words[2]))
                               : std::max(2u, std::thread::hardware_concurrency());
  std::vector<Asset> assets(kernels + 1);
  for (unsigned n = 0; n < kernels; ++n) {
    assets[n].name = "spring" + std::to_string(n) + ".ir";
    assets[n].text = kSpring;
    assets[n].defines = {"turns=" + std::to_string(2 + n % 7), "stiffness=" + std::to_string(n) + ".5",
                         n % 3 == 0 ? "real=f64" : "real=f32"};
  }
  Asset& faulty = assets.back();
  faulty.name = "faulty.ir";
  faulty.text = "kernel @k(%x: buffer<f32, 1>) {\n  %x[0] = %y * 2.0\n}\n";

  Jobs jobs(threads);
  for (Asset& asset : assets) jobs.Add([&asset] { Compile(asset); });
  jobs.Run();

  size_t bytes = 0;
  for (unsigned n = 0; n < kernels; ++n) {
    if (assets[n].status != ADC_OK || assets[n].bundle.empty()) return Fail(assets[n], "no bundle");
    bytes += assets[n].bundle.size();
    if (n % 10 != 0) continue;
    Asset alone = assets[n];
    alone.bundle.clear();
    Compile(alone);
    if (alone.bundle != assets[n].bundle)
      return Fail(assets[n], "other bytes than when it is compiled alone");
  }
  if (kernels > 2 && assets[0].bundle == assets[1].bundle)
    return Fail(assets[0], "the bundle of another asset");
  bool told =
      faulty.messages.find("faulty.ir:2:11: error: no value is named '%y' [E0106]") != std::string::npos;
  if (faulty.status != ADC_FAILED || !told) return Fail(faulty, "its mistake was not reported");

  stopped = true;
  Asset late = assets[0];
  Compile(late);
  if (late.status != ADC_CANCELLED) return Fail(late, "it was compiled after the pipeline was stopped");
  std::printf("%u kernels, %zu bytes, on %u threads\n", kernels, bytes, threads);
  return 0;
}
