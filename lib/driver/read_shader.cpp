#include "driver/read_shader.h"

#include <algorithm>
#include <filesystem>

#include "diag/errors/shader.h"
#include "driver/bounded_read.h"
#include "driver/file_errors.h"
#include "frontend/glsl/compile.h"
#include "frontend/spirv/read.h"
#include "host/files.h"
#include "host/input_kind.h"
#include "ir/module.h"
#include "parse/no_text.h"

namespace adc::driver {

std::string CheckSampler(std::string_view words) {
  frontend::spirv::SamplerState state;
  return frontend::spirv::TakeSampler(words, &state);
}

namespace {

/// Adds the kernels of one shader to `module`. `has_marked`: see ReadConfig.
bool AddShader(const std::string& path, const CompileOptions& options, diag::SourceManager& sources,
               diag::Diagnostics& diagnostics, std::vector<std::string>* dependencies,
               const std::string* open, std::vector<bool>* has_marked, ir::Module* module) {
  auto fail = [&](const diag::Diagnostic& failure) {
    diagnostics.Add(failure.severity, failure.id, failure.span, failure.text).AddHelp(failure.help);
    return false;
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
  config.has_marked = has_marked;
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
    if (!parse::IsText(path, *text, {}, diagnostics)) return false;
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
    if (compiled.words.empty()) return false;
    words = std::move(compiled.words);
    config.before_legalization = hlsl;
    config.marked.insert(config.marked.end(), compiled.marked.begin(), compiled.marked.end());
  }
  bool good = false;
  ReadBounded("the check of SPIR-V", path, options,
              [&] { good = frontend::spirv::ReadSpirv(path, words, config, sources, diagnostics, module); });
  if (good) module->door = binary ? ir::Door::Binary : ir::Door::Shader;
  return good;
}

}  // namespace

std::unique_ptr<ir::Module> ReadShader(const std::string& path, const CompileOptions& options,
                                       diag::SourceManager& sources, diag::Diagnostics& diagnostics,
                                       std::vector<std::string>* dependencies, const std::string* open) {
  auto module = std::make_unique<ir::Module>();
  bool good = AddShader(path, options, sources, diagnostics, dependencies, open, nullptr, module.get());
  return good ? std::move(module) : nullptr;
}

std::unique_ptr<ir::Module> ReadShaders(const std::vector<std::string>& paths, const CompileOptions& options,
                                        diag::SourceManager& sources, diag::Diagnostics& diagnostics,
                                        std::vector<std::string>* dependencies) {
  if (paths.size() == 1) return ReadShader(paths[0], options, sources, diagnostics, dependencies);
  auto module = std::make_unique<ir::Module>();
  std::vector<bool> found(options.diff.size(), false);
  bool good = true;
  for (const std::string& path : paths) {
    std::vector<bool> here;
    bool added = AddShader(path, options, sources, diagnostics, dependencies, nullptr, &here, module.get());
    for (size_t at = 0; added && at < found.size(); ++at) found[at] = found[at] || here[at];
    good = good && added;
  }
  for (size_t at = 0; good && at < found.size(); ++at) {
    if (found[at]) continue;
    diagnostics.Error(diag::E0859, {},
                      "--diff asks for the adjoint of '" + options.diff[at] +
                          "', and no shader uses a block with a member of floats of that name");
  }
  return good && !diagnostics.HasErrors() ? std::move(module) : nullptr;
}

}  // namespace adc::driver
