// The compiler as a library: the bytes of the command line, places of a front end, messages, cancel, modules
// built by calls.

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "adc/builder.hpp"
#include "driver/compile.h"
#include "ir/module.h"
#include "product/version.h"

namespace {

constexpr char kRelax[] = R"(kernel @relax(%x: buffer<f32, 1> diff, %loss: buffer<f32, 0> diff, %n: i32) {
  parallel %i in 0..shape(%x, 0) {
    %v = for %t in 0..%n carry(%v = %x[%i]) {
      yield sin(%v) + 0.1
    }
    atomic add %loss[], %v
  }
}
)";

struct Result {
  adc_status status = ADC_FAILED;
  std::vector<uint8_t> bytes;
  std::string messages, ids;
  int asked = 0, cancel_after = 1 << 30;
  std::map<std::string, std::string> imports;

  std::string Text() const { return {bytes.begin(), bytes.end()}; }
};

adc_options Options(Result& result) {
  adc_options options;
  adc_options_init(&options);
  options.user = &result;
  options.report = [](void* user, const adc_diagnostic* found) {
    auto* to = static_cast<Result*>(user);
    to->messages += found->text;
    to->ids += std::string(found->id) + "@" + (found->file != nullptr ? found->file : "-") + ":" +
               std::to_string(found->line) + ":" + std::to_string(found->column) + " ";
  };
  options.cancel = [](void* user) {
    auto* to = static_cast<Result*>(user);
    return ++to->asked > to->cancel_after ? 1 : 0;
  };
  options.import = [](void* user, const char* path, const char** text, size_t* size) {
    auto* to = static_cast<Result*>(user);
    auto found = to->imports.find(path);
    if (found == to->imports.end()) return 0;
    *text = found->second.data();
    *size = found->second.size();
    return 1;
  };
  return options;
}

void Compile(Result& result, const std::vector<adc_source>& sources, const adc_options& options) {
  adc_product* product = nullptr;
  result.status = adc_compile(sources.data(), sources.size(), &options, &product);
  CHECK((product != nullptr) == (result.status == ADC_OK));
  size_t size = 0;
  const uint8_t* bytes = adc_product_bytes(product, &size);
  if (product != nullptr) result.bytes.assign(bytes, bytes + size);
  adc_product_free(product);
}

adc_source Source(const char* name, const std::string& text) {
  adc_source source = {};
  source.name = name;
  source.text = text.data();
  source.size = text.size();
  return source;
}

}  // namespace

TEST_CASE("text in memory gives the bytes that a file gives", "[library]") {
  std::filesystem::path folder = std::filesystem::temp_directory_path() / "adc_library_test";
  std::filesystem::create_directories(folder);
  std::string path = (folder / "relax.ir").string();
  std::ofstream(path, std::ios::binary) << kRelax;
  const char* targets[] = {"cpu:x86-64", "vulkan:1.2"};
  for (adc_emit emit : {ADC_EMIT_BUNDLE, ADC_EMIT_IR, ADC_EMIT_JSON}) {
    Result result;
    adc_options options = Options(result);
    options.emit = emit;
    options.targets = targets;
    options.target_count = 2;
    options.threads = 2;
    options.derive = "grad,jvp";
    std::string text = kRelax;
    Compile(result, {Source("relax.ir", text)}, options);
    INFO(result.messages);
    REQUIRE(result.status == ADC_OK);
    adc::driver::CompileOptions compile;
    compile.emit = emit == ADC_EMIT_BUNDLE ? adc::driver::Emit::Bundle
                   : emit == ADC_EMIT_IR   ? adc::driver::Emit::Ir
                                           : adc::driver::Emit::Json;
    compile.targets = {"cpu:x86-64", "vulkan:1.2"};
    compile.derive.tangent = true;
    adc::product::Product product;
    REQUIRE(adc::driver::CompileInputs({path}, compile, &product) == adc::kExitOk);
    CHECK(result.bytes == product.bytes);
  }
  std::filesystem::remove_all(folder);
}

TEST_CASE("what is wrong is reported at its place", "[library]") {
  Result result;
  std::string text = "kernel @k(%x: buffer<f32, 1>) {\n  %a = %x[0] + %y\n  %b = %x[1] * 2:i32\n}\n";
  Compile(result, {Source("bad.ir", text)}, Options(result));
  CHECK(result.status == ADC_FAILED);
  CHECK(result.ids == "E0106@bad.ir:2:16 E0107@bad.ir:3:16 ");
  CHECK(result.messages.find("  %a = %x[0] + %y\n               ^~\n") != std::string::npos);

  Result warned;
  std::string racing =
      "kernel @k(%x: buffer<f32, 1> diff, %k: buffer<i32, 1>) {\n  parallel %i in 0..4 {\n"
      "    %x[%k[%i]] = 1.0\n  }\n}\n";
  adc_options options = Options(warned);
  options.emit = ADC_EMIT_IR;
  Compile(warned, {Source("race.ir", racing)}, options);
  CHECK(warned.status == ADC_OK);
  CHECK(warned.messages.find("warning: ") != std::string::npos);
  options.flags = ADC_NO_WARNINGS;
  warned.messages.clear();
  Compile(warned, {Source("race.ir", racing)}, options);
  CHECK(warned.messages.empty());
}

TEST_CASE("imports come from the program, and from nowhere else", "[library]") {
  std::string text = "import \"lib/twice.ir\"\nkernel @k(%x: buffer<f32, 1>) {\n  %x[0] = @twice(%x[0])\n}\n";
  Result result;
  adc_options options = Options(result);
  options.emit = ADC_EMIT_CHECK;
  Compile(result, {Source("k.ir", text)}, options);
  CHECK(result.status == ADC_FAILED);
  CHECK(result.ids == "E0120@k.ir:1:8 ");
  result.imports["lib/twice.ir"] = "func @twice<T>(%a: T) -> T {\n  return %a + %a\n}\n";
  Compile(result, {Source("k.ir", text)}, options);
  CHECK(result.status == ADC_OK);
  options.import = nullptr;
  Compile(result, {Source("k.ir", text)}, options);
  CHECK(result.status == ADC_FAILED);
}

TEST_CASE("a compilation ends where it is cancelled", "[library]") {
  Result whole;
  std::string text = kRelax;
  const char* targets[] = {"vulkan:1.2"};
  adc_options options = Options(whole);
  options.targets = targets;
  options.target_count = 1;
  Compile(whole, {Source("relax.ir", text)}, options);
  REQUIRE(whole.status == ADC_OK);
  CHECK(whole.asked > 5);
  for (int after : {0, 1, whole.asked / 2, whole.asked - 1}) {
    Result result;
    adc_options stopping = Options(result);
    stopping.targets = targets;
    stopping.target_count = 1;
    result.cancel_after = after;
    Compile(result, {Source("relax.ir", text)}, stopping);
    CHECK(result.status == ADC_CANCELLED);
    CHECK(result.asked == after + 1);
    CHECK(result.bytes.empty());
  }
}

TEST_CASE("options that mean nothing are refused", "[library]") {
  std::string text = kRelax;
  auto status = [&](auto change) {
    Result result;
    adc_options options = Options(result);
    change(options);
    Compile(result, {Source("relax.ir", text)}, options);
    return std::pair(result.status, result.messages);
  };
  CHECK(status([](adc_options& o) { o.struct_size = 8; }).first == ADC_USAGE);
  CHECK(status([](adc_options& o) { o.optimisation = 4; }).second ==
        "adc: error: a level of optimisation is from 0 to 3\n");
  CHECK(status([](adc_options& o) { o.derive = "forward"; }).first == ADC_USAGE);
  CHECK(status([](adc_options& o) { o.emit = static_cast<adc_emit>(99); }).first == ADC_USAGE);
  const char* unknown[] = {"cpu:z80"};
  CHECK(status([&](adc_options& o) {
          o.targets = unknown;
          o.target_count = 1;
        }).first == ADC_USAGE);
  const char* define[] = {"n=3"};
  CHECK(status([&](adc_options& o) {
          o.defines = define;
          o.define_count = 1;
        }).second.find("[E0139]") != std::string::npos);
  Result none;
  adc_product* product = nullptr;
  adc_options options = Options(none);
  CHECK(adc_compile(nullptr, 0, &options, &product) == ADC_USAGE);
  CHECK(adc_compile(nullptr, 1, &options, &product) == ADC_USAGE);
  CHECK(std::string(adc_version()) == adc::product::ProducerName());
}

TEST_CASE("places are those of the front end's source", "[library]") {
  std::string printed =
      "kernel @k(%x: buffer<f32, 1> diff) {\n  parallel %i in 0..4 {\n    %a = %x[%i]\n"
      "    %b = add %a, %nowhere\n    %x[0] = %a\n  }\n}\n";
  std::string origin = "model k\n  a <- x\n  b <- a + nowhere\n  x <- a\n";
  adc_place places[] = {{1, 1, 1}, {3, 2, 3}, {4, 3, 8}, {5, 4, 3}};
  adc_source source = Source("printed.ir", printed);
  source.places = places;
  source.place_count = 4;
  source.origin = "model.txt";
  source.origin_text = origin.data();
  source.origin_size = origin.size();
  Result result;
  Compile(result, {source}, Options(result));
  CHECK(result.ids == "E0106@model.txt:3:8 ");
  CHECK(result.messages.find("  b <- a + nowhere\n       ^\n") != std::string::npos);

  // What passes report later, and what the bundle says of kernels, has them too; without the source's text
  // alike.
  std::string good =
      "kernel @k(%x: buffer<f32, 1> diff) {\n  parallel %i in 0..4 {\n    %a = %x[%i]\n    %x[0] = %a\n"
      "  }\n}\n";
  for (const char* text : {static_cast<const char*>(origin.data()), static_cast<const char*>(nullptr)}) {
    adc_source mapped = Source("printed.ir", good);
    mapped.places = places;
    mapped.place_count = 3;
    mapped.origin = "model.txt";
    mapped.origin_text = text;
    mapped.origin_size = text == nullptr ? 0 : origin.size();
    Result refused;
    Compile(refused, {mapped}, Options(refused));
    CHECK(refused.status == ADC_FAILED);
    CHECK(refused.ids.find("E0404@model.txt:3:8 ") == 0);
  }
}

TEST_CASE("modules are built by calls", "[library]") {
  adc::Builder b;
  b.Const("eps", "f32", "1e-6");
  b.Func("square", {{"a", "f32"}}, {"f32"}, [&](const adc::Values& p) { b.Return({p[0] * p[0]}); });
  b.Kernel("k", {{"x", "buffer<f32, 1>", "diff readonly"}, {"y", "buffer<f32, 1>", "diff"}, {"n", "i32"}},
           [&](const adc::Values& p) {
             b.Parallel(0, b.Shape(p[0], 0), [&](adc::Value i) {
               adc::Values sum = b.For(0, p[2], {p[0][i], 1.0}, [&](adc::Value t, const adc::Values& now) {
                 adc::Value next = now[0] * 0.5 + b.Call("square", {now[1]}, 1)[0] + b.Cast(t, "f32");
                 return adc::Values{next, b.Op("min", {now[1], b.Constant("eps")})};
               });
               adc::Values root = b.While(
                   {sum[0]}, [&](const adc::Values& now) { return now[0] > 2.0; },
                   [&](const adc::Values& now) { return adc::Values{now[0] / 2.0}; });
               adc::Values chosen = b.If(
                   root[0] < sum[1], 1, [&] { return adc::Values{b.Op("sin", {root[0]})}; },
                   [&] { return adc::Values{root[0] - 1.0}; });
               b.If(chosen[0] > 0.5, [&] { b.Print("{}", {chosen[0]}); });
               b.Store(p[1], {i}, chosen[0]);
             });
           });
  Result result;
  adc_options options = Options(result);
  INFO(b.Text());
  CHECK(b.Check(options));
  CHECK(result.messages.empty());
  options.emit = ADC_EMIT_IR;
  options.derive = "none";
  Compile(result, {b.Source("built.ir")}, options);
  CHECK(result.status == ADC_OK);
  // What prints is what was built: names are numbers, so that it is flat text already.
  CHECK(result.Text().find("= for %") != std::string::npos);

  adc::Builder wrong;
  wrong.Origin("model.txt", "one\ntwo\nthree\n");
  wrong.Kernel("k", {{"x", "buffer<f32, 1>"}}, [&](const adc::Values& p) {
    wrong.At(2, 2);
    adc::Value a = p[0][0];
    wrong.At(3, 1);
    wrong.Op("add", {a, adc::Value::Of("f64", 1.0)});
  });
  Result refused;
  CHECK_FALSE(wrong.Check(Options(refused)));
  CHECK(refused.ids == "E0107@model.txt:3:1 ");
}

TEST_CASE("compilations at once do not meet", "[library]") {
  std::vector<Result> results(8);
  std::vector<std::thread> threads;
  const char* targets[] = {"vulkan:1.2"};
  for (size_t n = 0; n < results.size(); ++n) {
    threads.emplace_back([&results, &targets, n] {
      std::string text = "const @n = " + std::to_string(n % 4) + " : i32\n" + kRelax;
      text.replace(text.find("0..%n"), 5, "0..@n");
      adc_options options = Options(results[n]);
      options.targets = targets;
      options.target_count = 1;
      adc_source source = Source("relax.ir", text);
      adc_product* product = nullptr;
      results[n].status = adc_compile(&source, 1, &options, &product);
      size_t size = 0;
      const uint8_t* bytes = adc_product_bytes(product, &size);
      if (product != nullptr) results[n].bytes.assign(bytes, bytes + size);
      adc_product_free(product);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t n = 0; n < results.size(); ++n) {
    CHECK(results[n].status == ADC_OK);
    CHECK(results[n].bytes == results[n % 4].bytes);
    if (n >= 1 && n < 4) CHECK(results[n].bytes != results[0].bytes);
  }
}
