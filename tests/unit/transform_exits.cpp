// What the passes that take `break`, `continue`, `exit`, branches around tasks and random numbers out of a
// module leave behind gives the same bits as the text: the interpreter runs both, and knows these forms by
// itself.

#include <array>

#include "../support/folders.h"
#include "../support/program.h"
#include "driver/pipeline.h"
#include "ir/module.h"
#include "ir/philox.h"
#include "verify/verify.h"

using namespace adc;        // NOLINT
using namespace adc::test;  // NOLINT

namespace {

/// Runs kernel `name` of a program of tests/e2e/gradients as it stands and shaped, with numbers that depend
/// on `seed`.
void CheckShaped(const std::string& file, const std::string& name, uint32_t seed) {
  std::string path = adc::test::SourceFolder() + "/tests/e2e/gradients/" + file;
  auto make = [&](bool shaped) {
    std::unique_ptr<Program> program = Program::OfFile(path, name);
    uint32_t number = seed;
    auto next = [&number] {
      number = number * 1103515245u + 12345u;
      return static_cast<double>((number >> 16) % 4001) / 1000.0 - 1.0;
    };
    for (size_t n = 0; n < program->function().Params().size(); ++n) {
      ir::Type type = program->TypeOf(n);
      std::string param(program->module().Text(program->function()[program->function().Params()[n]].name));
      if (type.IsRegister()) {
        program->Number(param, type.IsFloat() ? next() : static_cast<double>(static_cast<int>(next() * 2)));
      } else if (type.IsBuffer()) {
        std::vector<int64_t> extents(type.count, 6);
        size_t count = 1;
        for (int64_t extent : extents) count *= static_cast<size_t>(extent);
        std::vector<double> numbers(count);
        for (double& value : numbers) value = ir::IsFloat(type.scalar) ? next() : 3.0;
        program->Buffer(param, extents, numbers);
      }
    }
    if (shaped) {
      diag::Diagnostics diagnostics;
      REQUIRE(driver::Normalise(program->module(), diagnostics));
      REQUIRE(verify::Verify(program->module(), diagnostics));
    }
    interp::Arguments& given = program->arguments();
    interp::Arguments arguments = interp::MakeArguments(program->module(), *program->module().Find(name));
    for (size_t n = 0; n < given.list.size(); ++n) arguments[n] = given[n];
    interp::RunResult result = interp::Run(program->module(), *program->module().Find(name), arguments);
    INFO(result.error.text);
    REQUIRE(result.Ok());
    arguments.list.resize(given.list.size());
    return arguments;
  };
  INFO(file << " " << name << " " << seed);
  interp::Arguments text = make(false), shaped = make(true);
  for (size_t n = 0; n < text.list.size(); ++n) CHECK(text[n].tensor == shaped[n].tensor);
}

}  // namespace

TEST_CASE("what leaves a loop early leaves it with the same values") {
  for (const char* name : {"until_large", "first_index", "last_index", "in_steps", "odd_ones", "deep",
                           "nested", "newton", "blocked", "short", "vectors", "some", "called", "stores"}) {
    for (uint32_t seed = 1; seed <= 5; ++seed) CheckShaped("loop_exits.ir", name, seed);
  }
}

TEST_CASE("what leaves a scope leaves it with the same values") {
  for (const char* name :
       {"found", "sided", "rows", "levels", "tests", "vectors", "unrolled", "called", "stores"}) {
    for (uint32_t seed = 1; seed <= 5; ++seed) CheckShaped("scopes.ir", name, seed);
  }
}

TEST_CASE("tasks in branches run where the branch is taken") {
  for (const char* name : {"gated", "two_sides", "of_a_task", "nested", "result", "colours"}) {
    for (uint32_t seed = 1; seed <= 5; ++seed) CheckShaped("task_branches.ir", name, seed);
  }
}

TEST_CASE("random numbers are the same bits as the generator's") {
  for (const char* name : {"types", "noisy", "decided", "negative"}) CheckShaped("random.ir", name, 3);
  // Random123's vectors.
  CHECK(ir::Philox(0, 0, 0) == std::array<uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(ir::Philox(UINT64_MAX, UINT64_MAX, UINT64_MAX) ==
        std::array<uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(ir::Philox(0x299f31d0a4093822, 0x85a308d3243f6a88, 0x0370734413198a2e) ==
        std::array<uint32_t, 4>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("regions nest no deeper than they may where many branches leave one loop") {
  auto diagnosed = [](int branches) {
    std::string text = "kernel @k(%x: buffer<f32, 1>, %n: i32) {\n  for %t in 0..%n carry(%a = 0) {\n";
    for (int n = 0; n < branches; ++n) text += "    if (eq %a, " + std::to_string(n) + ") { continue %t }\n";
    text += "    yield %a\n  }\n}\n";
    Program program(text);
    diag::Diagnostics diagnostics;
    bool shaped = driver::Normalise(program.module(), diagnostics);
    CHECK(shaped == !diagnostics.HasErrors());
    return diag::PrintDiagnostics(diagnostics, program.sources(), false);
  };
  CHECK(diagnosed(200).empty());
  CHECK(diagnosed(201).find("[E0135]") != std::string::npos);
  CHECK(diagnosed(5000).find("[E0135]") != std::string::npos);
}
