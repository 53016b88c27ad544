#include "driver/read_shader.h"

#include <algorithm>
#include <filesystem>

#include "driver/bounded_read.h"
#include "driver/file_errors.h"
#include "frontend/glsl/compile.h"
#include "frontend/spirv/read.h"
#include "ir/module.h"
#include "parse/no_text.h"
#include "support/files.h"
#include "support/input_kind.h"

namespace adc::driver {

std::string CheckSampler(std::string_view words) {
  frontend::spirv::SamplerState state;
  return frontend::spirv::TakeSampler(words, &state);
}

std::unique_ptr<ir::Module> ReadShader(const std::string& path, const CompileOptions& options,
                                       diag::SourceManager& sources, diag::Diagnostics& diagnostics,
                                       std::vector<std::string>* dependencies, const std::string* open) {
  auto fail = [&](const diag::Diagnostic& failure) {
    diagnostics.Add(failure.severity, failure.id, failure.span, failure.text).AddHelp(failure.help);
    return nullptr;
  };
  uint64_t limit = options.limits.text_mebibytes << 20;
  frontend::spirv::ReadConfig config;
  config.spec = options.spec;
  for (const auto& [name, words] : options.samplers)
    frontend::spirv::TakeSampler(words,
                                 &config.samplers.emplace_back(name, frontend::spirv::SamplerState{}).second);
  config.native_images = options.native_images;
  config.main_name = std::filesystem::path(path).stem().string();
  config.operation_limit = options.limits.operations;
  for (const std::string& name : options.diff)
    config.marked.push_back({.name = name, .marks = {.diff = true}});
  std::vector<uint32_t> words;
  bool binary = InputKindOf(path) == InputKind::Spirv;
  if (binary) {
    FileResult<std::string> bytes = ReadWhole(path, limit);
    if (!bytes) return fail(CannotRead(bytes.Failure()));
    dependencies->push_back(path);
    config.entry = options.entry;
    words = frontend::spirv::WordsOf(*bytes);
  } else {
    FileResult<std::string> text = open != nullptr ? *open : ReadWholeText(path, limit);
    if (!text) return fail(CannotRead(text.Failure()));
    if (!parse::IsText(path, *text, {}, diagnostics)) return nullptr;
    dependencies->push_back(path);
    frontend::glsl::CompileConfig compile;
    bool hlsl = InputKindOf(path) == InputKind::Hlsl || frontend::glsl::IsHlsl(*text);
    compile.language = hlsl ? frontend::glsl::Language::Hlsl : frontend::glsl::Language::Glsl;
    compile.include_dirs = options.include_dirs;
    compile.import_dirs = options.import_dirs;
    compile.defines = options.defines;
    if (hlsl && !options.entry.empty()) compile.entry = options.entry;
    compile.text_limit = limit;
    frontend::glsl::Compiled compiled;
    ReadBounded("glslang", path, options, [&] {
      compiled = frontend::glsl::Compile(path, std::move(*text), compile, sources, diagnostics, dependencies);
    });
    if (compiled.words.empty()) return nullptr;
    words = std::move(compiled.words);
    config.before_legalization = hlsl;
    config.marked.insert(config.marked.end(), compiled.marked.begin(), compiled.marked.end());
  }
  std::unique_ptr<ir::Module> module;
  ReadBounded("the check of SPIR-V", path, options,
              [&] { module = frontend::spirv::ReadSpirv(path, words, config, sources, diagnostics); });
  if (module != nullptr) module->door = binary ? ir::Door::Binary : ir::Door::Shader;
  return module;
}

}  // namespace adc::driver
