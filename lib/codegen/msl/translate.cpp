#include "codegen/msl/translate.h"

#include <spirv_cross/spirv_cross_c.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "codegen/msl/join.h"

namespace adc::codegen {
namespace {

/// SPIRV-Cross's arena: everything that it hands out lives in it.
class Context {
 public:
  Context() { ADC_CHECK(spvc_context_create(&context_) == SPVC_SUCCESS, "no memory for SPIRV-Cross"); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() { spvc_context_destroy(context_); }
  spvc_context get() const { return context_; }

 private:
  spvc_context context_ = nullptr;
};

class Translator {
 public:
  Translator(std::span<const uint8_t> spirv, const target::Target& target) : target_(target) {
    words_.resize(spirv.size() / sizeof(SpvId));
    std::memcpy(words_.data(), spirv.data(), words_.size() * sizeof(SpvId));
  }

  /// The text of one entry, in which the entry is called `name`; null on failure.
  const char* Translate(const std::string& symbol, const char* name) {
    spvc_parsed_ir module = nullptr;
    spvc_compiler compiler = nullptr;
    spvc_compiler_options options = nullptr;
    const char* text = nullptr;
    spvc_context context = context_.get();
    bool good =
        Done(spvc_context_parse_spirv(context, words_.data(), words_.size(), &module)) &&
        Done(spvc_context_create_compiler(context, SPVC_BACKEND_MSL, module, SPVC_CAPTURE_MODE_TAKE_OWNERSHIP,
                                          &compiler)) &&
        // Entry names lose doubled underscores on their way through SPIRV-Cross: the entry gets a plain name
        // here and its own back afterwards.
        Done(spvc_compiler_rename_entry_point(compiler, symbol.c_str(), name, SpvExecutionModelGLCompute)) &&
        Done(spvc_compiler_set_entry_point(compiler, name, SpvExecutionModelGLCompute)) &&
        Done(spvc_compiler_create_compiler_options(compiler, &options)) &&
        Done(spvc_compiler_options_set_uint(
            options, SPVC_COMPILER_OPTION_MSL_VERSION,
            SPVC_MAKE_MSL_VERSION(target_.level / 10, target_.level % 10, 0))) &&
        Done(spvc_compiler_options_set_uint(options, SPVC_COMPILER_OPTION_MSL_PLATFORM,
                                            SPVC_MSL_PLATFORM_MACOS)) &&
        Done(spvc_compiler_options_set_bool(options, SPVC_COMPILER_OPTION_MSL_ENABLE_DECORATION_BINDING,
                                            SPVC_TRUE)) &&
        // Thread-local arrays stay plain arrays: no wrapper template.
        Done(spvc_compiler_options_set_bool(options, SPVC_COMPILER_OPTION_MSL_FORCE_NATIVE_ARRAYS,
                                            SPVC_TRUE)) &&
        Done(spvc_compiler_install_compiler_options(compiler, options)) &&
        Done(spvc_compiler_compile(compiler, &text));
    return good ? text : nullptr;
  }

  std::string Error() const {
    const char* text = spvc_context_get_last_error_string(context_.get());
    return text ? text : "";
  }
  void Forget() { spvc_context_release_allocations(context_.get()); }

 private:
  static bool Done(spvc_result result) { return result == SPVC_SUCCESS; }

  const target::Target& target_;
  Context context_;
  std::vector<SpvId> words_;
};

}  // namespace

diag::Result<MslText> TranslateToMsl(std::span<const uint8_t> spirv, std::span<const std::string> symbols,
                                     const target::Target& target) {
  static constexpr char kEntry[] = "adcEntry";
  Translator translator(spirv, target);
  MslJoiner joiner;
  for (const std::string& symbol : symbols) {
    const char* text = translator.Translate(symbol, kEntry);
    if (!text) {
      return diag::Fail(diag::ErrorId::E0620, {},
                        "entry '" + symbol + "' cannot be written for " + std::string(target.name) +
                            ": SPIRV-Cross says: " + translator.Error(),
                        "leave the target out; this is a gap in adc");
    }
    joiner.Add(text, kEntry, symbol);
    translator.Forget();
  }
  MslText result;
  result.text = joiner.Finish();
  result.lines = static_cast<uint32_t>(std::count(result.text.begin(), result.text.end(), '\n'));
  return result;
}

}  // namespace adc::codegen
