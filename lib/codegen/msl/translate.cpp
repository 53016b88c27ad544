#include "codegen/msl/translate.h"

#include <spirv_cross/spirv_cross_c.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "artifact/gpu_abi.h"
#include "codegen/msl/join.h"
#include "codegen/msl/keep_order.h"
#include "diag/errors/codegen.h"
#include "support/letters.h"

// SPIR-V forbids contraction operation by operation. SPIRV-Cross writes each such operation as a call that
// loses the sign of a zero, so these decorations are taken away and the text forbids it as a whole.
//
// Each entry is parsed and translated by itself, because its bindings are numbered anew: those that its code
// uses, from 0, so that the table of addresses has no gaps and the direct ones come first.

namespace adc::codegen {
namespace {

constexpr uint32_t kTableSet = 1;  // descriptor set of what goes through the table
constexpr char kEntry[] = "adcEntry";

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

bool Done(spvc_result result) {
  return result == SPVC_SUCCESS;
}

/// The translation of one entry.
class EntryTranslator {
 public:
  EntryTranslator(const std::vector<SpvId>& words, const target::Target& target,
                  const std::vector<std::string>& parameter_names)
      : words_(words), target_(target), parameter_names_(parameter_names) {}

  /// The text, in which the entry is called kEntry; null on failure. Renumbers the entry's bindings.
  const char* Translate(EntryCode& entry) {
    const char* text = nullptr;
    return Open(entry.symbol) && AllowContraction() && NumberBindings(entry) && SetOptions() &&
                   Done(spvc_compiler_compile(compiler_, &text))
               ? text
               : nullptr;
  }
  /// Whether the module forbids contraction.
  bool IsExact() const { return exact_; }
  std::string Error() const {
    const char* text = spvc_context_get_last_error_string(context_.get());
    return text ? text : "";
  }

 private:
  bool Open(const std::string& symbol) {
    spvc_parsed_ir module = nullptr;
    // Entry names lose doubled underscores on their way through SPIRV-Cross: the entry gets a plain name here
    // and its own back afterwards.
    return Done(spvc_context_parse_spirv(context_.get(), words_.data(), words_.size(), &module)) &&
           Done(spvc_context_create_compiler(context_.get(), SPVC_BACKEND_MSL, module,
                                             SPVC_CAPTURE_MODE_TAKE_OWNERSHIP, &compiler_)) &&
           Done(spvc_compiler_rename_entry_point(compiler_, symbol.c_str(), kEntry,
                                                 SpvExecutionModelGLCompute)) &&
           Done(spvc_compiler_set_entry_point(compiler_, kEntry, SpvExecutionModelGLCompute));
  }

  bool AllowContraction() {
    for (SpvId id = 1; id < spvc_compiler_get_current_id_bound(compiler_); ++id) {
      if (!spvc_compiler_has_decoration(compiler_, id, SpvDecorationNoContraction)) continue;
      spvc_compiler_unset_decoration(compiler_, id, SpvDecorationNoContraction);
      exact_ = true;
    }
    return true;
  }

  bool NumberBindings(EntryCode& entry) {
    spvc_set used = nullptr;
    spvc_resources resources = nullptr;
    const spvc_reflected_resource* buffers = nullptr;
    size_t count = 0;
    bool good =
        Done(spvc_compiler_get_active_interface_variables(compiler_, &used)) &&
        Done(spvc_compiler_create_shader_resources_for_active_variables(compiler_, &resources, used)) &&
        Done(spvc_compiler_set_enabled_interface_variables(compiler_, used)) &&
        Done(spvc_resources_get_resource_list_for_type(resources, SPVC_RESOURCE_TYPE_STORAGE_BUFFER, &buffers,
                                                       &count));
    if (!good) return false;
    std::map<uint32_t, const spvc_reflected_resource*> by_number;
    for (size_t n = 0; n < count; ++n) {
      by_number[spvc_compiler_get_decoration(compiler_, buffers[n].id, SpvDecorationBinding)] = &buffers[n];
    }
    // Words, heap and status first: the most used, and words cannot be in the table.
    std::sort(entry.bindings.begin(), entry.bindings.end(), [](const Binding& a, const Binding& b) {
      auto rank = [](const Binding& one) {
        return std::tuple(one.of == BindingOf::Param, one.of, one.number);
      };
      return rank(a) < rank(b);
    });
    std::vector<Binding> bindings;
    for (Binding binding : entry.bindings) {
      auto found = by_number.find(binding.number);
      if (found == by_number.end()) continue;
      SpvId variable = found->second->id;
      NameBuffer(binding, *found->second);
      binding.number = static_cast<uint32_t>(bindings.size());
      bindings.push_back(binding);
      bool direct = binding.number < ADRT_METAL_TABLE;
      in_table_ = in_table_ || !direct;
      spvc_compiler_set_decoration(compiler_, variable, SpvDecorationDescriptorSet, direct ? 0 : kTableSet);
      spvc_compiler_set_decoration(compiler_, variable, SpvDecorationBinding,
                                   direct ? binding.number : binding.number - ADRT_METAL_TABLE);
    }
    ADC_CHECK(bindings.size() == by_number.size(), "the entry uses a buffer that its bindings do not name");
    entry.bindings = std::move(bindings);
    return true;
  }

  /// A buffer is named after its content and its elements ("x_f32", "status"), its type after the elements
  /// and whether it is written ("f32_buffer"), and the elements are its `at`.
  void NameBuffer(const Binding& binding, const spvc_reflected_resource& buffer) {
    std::string element = ir::Spelling(binding.scalar), name;
    switch (binding.of) {
      case BindingOf::Param:
        name = binding.param < parameter_names_.size() ? parameter_names_[binding.param]
                                                       : "p" + std::to_string(binding.param);
        for (char& c : name) c = IsNameCharacter(c) ? c : '_';
        // Names that begin with a digit or an underscore belong to SPIRV-Cross.
        if (name.empty() || name[0] == '_' || IsDigit(name[0])) name = "p" + name;
        name += "_" + element;
        break;
      case BindingOf::Words:
        name = "words";
        break;
      case BindingOf::Heap:
        name = "heap_" + element;
        break;
      case BindingOf::Status:
        name = "status";
        break;
    }
    bool read_only =
        spvc_compiler_has_member_decoration(compiler_, buffer.base_type_id, 0, SpvDecorationNonWritable);
    std::string type = element + (read_only ? "_read" : "_buffer");
    spvc_compiler_set_name(compiler_, buffer.id, name.c_str());
    spvc_compiler_set_name(compiler_, buffer.base_type_id, type.c_str());
    spvc_compiler_set_member_name(compiler_, buffer.base_type_id, 0, "at");
  }

  bool SetOptions() {
    spvc_compiler_options options = nullptr;
    uint32_t version = SPVC_MAKE_MSL_VERSION(target_.level / 10, target_.level % 10, 0);
    bool good =
        Done(spvc_compiler_create_compiler_options(compiler_, &options)) &&
        Done(spvc_compiler_options_set_uint(options, SPVC_COMPILER_OPTION_MSL_VERSION, version)) &&
        Done(spvc_compiler_options_set_uint(options, SPVC_COMPILER_OPTION_MSL_PLATFORM,
                                            SPVC_MSL_PLATFORM_MACOS)) &&
        Done(spvc_compiler_options_set_bool(options, SPVC_COMPILER_OPTION_MSL_ENABLE_DECORATION_BINDING,
                                            SPVC_TRUE)) &&
        // Thread-local arrays stay plain arrays: no wrapper template.
        Done(spvc_compiler_options_set_bool(options, SPVC_COMPILER_OPTION_MSL_FORCE_NATIVE_ARRAYS,
                                            SPVC_TRUE)) &&
        Done(spvc_compiler_options_set_bool(options, SPVC_COMPILER_OPTION_EMIT_LINE_DIRECTIVES, SPVC_TRUE)) &&
        Done(spvc_compiler_options_set_bool(options, SPVC_COMPILER_OPTION_MSL_ARGUMENT_BUFFERS,
                                            in_table_ ? SPVC_TRUE : SPVC_FALSE)) &&
        Done(spvc_compiler_install_compiler_options(compiler_, options));
    if (!good || !in_table_) return good;
    spvc_msl_resource_binding table;
    spvc_msl_resource_binding_init(&table);
    table.stage = SpvExecutionModelGLCompute;
    table.desc_set = kTableSet;
    table.binding = SPVC_MSL_ARGUMENT_BUFFER_BINDING;
    table.msl_buffer = ADRT_METAL_TABLE;
    return Done(spvc_compiler_msl_add_discrete_descriptor_set(compiler_, 0)) &&
           Done(spvc_compiler_msl_add_resource_binding(compiler_, &table));
  }

  const std::vector<SpvId>& words_;
  const target::Target& target_;
  const std::vector<std::string>& parameter_names_;
  Context context_;
  spvc_compiler compiler_ = nullptr;
  bool in_table_ = false;
  bool exact_ = false;
};

}  // namespace

diag::Status TranslateToMsl(const target::Target& target,
                            std::span<const std::vector<std::string>> parameter_names, TargetCode& code) {
  Stopwatch watch(code.steps);
  ADC_CHECK(code.payloads.size() == 1 && code.payloads[0].kind == PayloadKind::Spirv,
            "Metal starts from SPIR-V");
  Payload& payload = code.payloads[0];
  std::vector<SpvId> words(payload.bytes.size() / sizeof(SpvId));
  std::memcpy(words.data(), payload.bytes.data(), words.size() * sizeof(SpvId));
  words = msl::KeepOrder(words);
  MslJoiner joiner;
  for (size_t kernel = 0; kernel < code.entries.size(); ++kernel) {
    for (EntryCode& entry : code.entries[kernel]) {
      static const std::vector<std::string> kNoNames;
      EntryTranslator translator(words, target,
                                 kernel < parameter_names.size() ? parameter_names[kernel] : kNoNames);
      const char* text = translator.Translate(entry);
      if (!text) {
        return diag::Fail(diag::E0620, {},
                          "entry '" + entry.symbol + "' cannot be written for " + target.name +
                              ": SPIRV-Cross says: " + translator.Error(),
                          "leave the target out; this is a gap in adc");
      }
      joiner.Add(text, kEntry, entry.symbol, entry.block_size);
      if (translator.IsExact()) joiner.ForbidContraction();
    }
  }
  std::string text = joiner.Finish();
  payload.kind = PayloadKind::Msl;
  payload.bytes.assign(text.begin(), text.end());
  watch.Lap("translate");
  return diag::Unit{};
}

}  // namespace adc::codegen
