// translate_spirv FILE.spv FOLDER: what other platforms' translators make of a module. Writes each of its
// entries as HLSL of shader model 5.0 and as GLSL for phones (ES 3.10), N.hlsl and N.comp, and prints how
// many there are. Exit code 2: the module needs more than those languages have.

#include <spirv_cross/spirv_cross_c.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

void Check(spvc_context context, spvc_result result, const char* call) {
  if (result == SPVC_SUCCESS) return;
  std::fprintf(stderr, "%s: %s\n", call, spvc_context_get_last_error_string(context));
  std::exit(1);
}

spvc_compiler Open(spvc_context context, const std::vector<SpvId>& words, spvc_backend backend) {
  spvc_parsed_ir parsed = nullptr;
  spvc_compiler compiler = nullptr;
  Check(context, spvc_context_parse_spirv(context, words.data(), words.size(), &parsed), "parse");
  Check(context,
        spvc_context_create_compiler(context, backend, parsed, SPVC_CAPTURE_MODE_TAKE_OWNERSHIP, &compiler),
        "create");
  return compiler;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 1;
  std::ifstream file(arguments[1], std::ios::binary);
  std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::vector<SpvId> words(bytes.size() / 4);
  std::copy_n(bytes.data(), words.size() * 4, reinterpret_cast<char*>(words.data()));
  spvc_context context = nullptr;
  if (spvc_context_create(&context) != SPVC_SUCCESS) return 1;

  spvc_compiler reader = Open(context, words, SPVC_BACKEND_NONE);
  const SpvCapability* capabilities = nullptr;
  size_t capability_count = 0;
  Check(context, spvc_compiler_get_declared_capabilities(reader, &capabilities, &capability_count),
        "capabilities");
  for (size_t n = 0; n < capability_count; ++n) {
    if (capabilities[n] != SpvCapabilityShader) return 2;
  }
  const spvc_entry_point* entries = nullptr;
  size_t entry_count = 0;
  Check(context, spvc_compiler_get_entry_points(reader, &entries, &entry_count), "entries");
  for (size_t n = 0; n < entry_count; ++n) {
    for (spvc_backend backend : {SPVC_BACKEND_HLSL, SPVC_BACKEND_GLSL}) {
      bool hlsl = backend == SPVC_BACKEND_HLSL;
      spvc_compiler compiler = Open(context, words, backend);
      Check(context, spvc_compiler_set_entry_point(compiler, entries[n].name, SpvExecutionModelGLCompute),
            "entry");
      spvc_set active = nullptr;
      Check(context, spvc_compiler_get_active_interface_variables(compiler, &active), "active");
      Check(context, spvc_compiler_set_enabled_interface_variables(compiler, active), "active");
      spvc_compiler_options options = nullptr;
      Check(context, spvc_compiler_create_compiler_options(compiler, &options), "options");
      if (hlsl) {
        spvc_compiler_options_set_uint(options, SPVC_COMPILER_OPTION_HLSL_SHADER_MODEL, 50);
      } else {
        spvc_compiler_options_set_uint(options, SPVC_COMPILER_OPTION_GLSL_VERSION, 310);
        spvc_compiler_options_set_bool(options, SPVC_COMPILER_OPTION_GLSL_ES, SPVC_TRUE);
      }
      Check(context, spvc_compiler_install_compiler_options(compiler, options), "options");
      const char* text = nullptr;
      Check(context, spvc_compiler_compile(compiler, &text), hlsl ? "HLSL" : "GLSL");
      std::ofstream(std::string(arguments[2]) + "/" + std::to_string(n) + (hlsl ? ".hlsl" : ".comp")) << text;
    }
  }
  std::printf("%zu\n", entry_count);
  spvc_context_destroy(context);
  return 0;
}
