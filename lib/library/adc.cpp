// The C interface of the compiler (include/adc/adc.h). It turns the caller's data into the driver's own terms
// and back; only a product lives longer than a call.

#include "adc/adc.h"

#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "driver/compile.h"
#include "driver/derivations.h"
#include "ir/module.h"
#include "product/version.h"

struct adc_product {
  std::vector<uint8_t> bytes;  ///< with a zero byte at the end
};

namespace adc {
namespace {

using diag::SourceSpan;

/// Places of a printed text in the source of the front end that printed it.
class PlaceMap {
 public:
  /// Adds the front end's source to `sources`.
  PlaceMap(const adc_source& source, const std::string& text, diag::SourceManager& sources)
      : source_(source) {
    bool wanted = source.origin != nullptr && source.place_count != 0;
    if (!wanted) return;
    std::string shown = source.origin_text != nullptr ? std::string(source.origin_text, source.origin_size)
                                                      : BlankText(source);
    uint32_t base = sources.AddFile(source.origin, std::move(shown));
    if (base == 0) return;
    origin_ = sources.FileOf({base, base + 1});
    for (const std::unique_ptr<diag::SourceFile>& file : sources.Files()) {
      if (file->name == source.name && file->text == text) printed_ = file.get();
      if (file.get() == origin_) file->stands_in = source.origin_text == nullptr;
    }
  }

  /// The place in the front end's source, where it says one.
  SourceSpan Map(SourceSpan span) const {
    if (origin_ == nullptr || printed_ == nullptr || span.begin < printed_->base ||
        span.begin > printed_->base + printed_->text.size())
      return span;
    uint32_t offset = span.begin - printed_->base;
    const std::vector<uint32_t>& starts = printed_->line_starts;
    auto line =
        static_cast<uint32_t>(std::upper_bound(starts.begin(), starts.end(), offset) - starts.begin());
    const adc_place* end = source_.places + source_.place_count;
    const adc_place* after =
        std::upper_bound(source_.places, end, line,
                         [](uint32_t number, const adc_place& place) { return number < place.text_line; });
    if (after == source_.places) return span;
    const adc_place& place = after[-1];
    if (place.line == 0 || place.line > origin_->line_starts.size()) return span;
    uint32_t first = origin_->line_starts[place.line - 1];
    uint32_t last = place.line < origin_->line_starts.size() ? origin_->line_starts[place.line] - 1
                                                             : static_cast<uint32_t>(origin_->text.size());
    uint32_t begin = std::min(first + std::max(place.column, 1u) - 1, last);
    return {origin_->base + begin, origin_->base + std::min(begin + 1, last)};
  }

  void MapFunction(ir::Function& function) const {
    function.span = Map(function.span);
    for (ir::ParamInfo& param : function.params) param.span = Map(param.span);
    for (uint32_t n = 0; n < function.InstCount(); ++n)
      function[ir::Inst(n)].span = Map(function[ir::Inst(n)].span);
  }

 private:
  /// Lines without text, long enough for every place.
  static std::string BlankText(const adc_source& source) {
    constexpr uint32_t kMostLines = 1u << 22, kMostColumns = 1000;
    std::vector<uint32_t> columns;
    for (size_t n = 0; n < source.place_count; ++n) {
      const adc_place& place = source.places[n];
      if (place.line == 0 || place.line > kMostLines) continue;
      if (columns.size() < place.line) columns.resize(place.line, 0);
      columns[place.line - 1] = std::max(columns[place.line - 1], std::min(place.column, kMostColumns));
    }
    std::string text;
    for (uint32_t length : columns) text += std::string(length, ' ') + "\n";
    return text;
  }

  const adc_source& source_;
  const diag::SourceFile* printed_ = nullptr;
  const diag::SourceFile* origin_ = nullptr;
};

class Call {
 public:
  Call(const adc_source* sources, size_t count, const adc_options& options)
      : given_(sources, sources + count), options_(options) {}

  adc_status Run(adc_product** product) {
    driver::CompileOptions compile;
    std::string wrong = Take(&compile);
    if (!wrong.empty()) return Refuse(wrong);
    driver::MemoryRequest request;
    for (const adc_source& source : given_)
      request.texts.push_back({source.name, std::string(source.text, source.size)});
    if (options_.import != nullptr) {
      request.import = [this](const std::string& path, std::string* text) {
        const char* found = nullptr;
        size_t size = 0;
        if (options_.import(options_.user, path.c_str(), &found, &size) == 0 || found == nullptr)
          return false;
        text->assign(found, size);
        return true;
      };
    }
    request.read = [&](ir::Module* module, diag::SourceManager& sources) {
      for (size_t n = 0; n < given_.size(); ++n)
        maps_.emplace_back(given_[n], request.texts[n].text, sources);
      for (size_t n = 0; module != nullptr && n < module->functions.size(); ++n) {
        for (const PlaceMap& map : maps_) map.MapFunction(*module->functions[n]);
      }
    };
    request.report = [this](const diag::Diagnostic& found, const diag::SourceManager& sources) {
      Report(found, sources);
    };
    if (options_.cancel != nullptr)
      request.cancelled = [this] { return options_.cancel(options_.user) != 0; };
    request.threads = options_.threads == 0 ? 1 : options_.threads;
    request.check_alone = options_.emit == ADC_EMIT_CHECK;
    product::Product made;
    ExitCode code = driver::CompileTexts(request, compile, &made);
    if (made.cancelled) return ADC_CANCELLED;
    if (code == kExitUnsupported) return ADC_UNSUPPORTED;
    if (code == kExitUsage) return ADC_USAGE;
    if (code != kExitOk) return ADC_FAILED;
    *product = new adc_product{std::move(made.bytes)};
    (*product)->bytes.push_back(0);
    return ADC_OK;
  }

 private:
  /// The error in the options; empty: there is none.
  std::string Take(driver::CompileOptions* compile) const {
    if (given_.empty()) return "no source is given";
    for (const adc_source& source : given_) {
      if (source.name == nullptr || (source.text == nullptr && source.size != 0))
        return "a source has no name or no text";
    }
    switch (options_.emit) {
      case ADC_EMIT_BUNDLE:
        compile->emit = driver::Emit::Bundle;
        break;
      case ADC_EMIT_IR:
      case ADC_EMIT_CHECK:
        compile->emit = driver::Emit::Ir;
        break;
      case ADC_EMIT_JSON:
        compile->emit = driver::Emit::Json;
        break;
      case ADC_EMIT_HEADER:
        compile->emit = driver::Emit::Header;
        break;
      case ADC_EMIT_SPIRV:
        compile->emit = driver::Emit::Spirv;
        break;
      case ADC_EMIT_OBJECT:
        compile->emit = driver::Emit::Object;
        break;
      case ADC_EMIT_PTX:
        compile->emit = driver::Emit::Ptx;
        break;
      case ADC_EMIT_MSL:
        compile->emit = driver::Emit::Msl;
        break;
      default:
        return "no kind of output has this number";
    }
    for (size_t n = 0; n < options_.target_count; ++n) compile->targets.emplace_back(options_.targets[n]);
    for (size_t n = 0; n < options_.define_count; ++n) compile->defines.emplace_back(options_.defines[n]);
    for (size_t n = 0; n < options_.active_count; ++n) compile->active.emplace_back(options_.active[n]);
    if (options_.derive != nullptr) {
      std::string wrong = driver::TakeDerive(options_.derive, &compile->derive);
      if (!wrong.empty()) return "derive " + wrong;
    }
    if (options_.optimisation > 3) return "a level of optimisation is from 0 to 3";
    if (options_.float_mode < ADC_FLOAT_CONTRACT || options_.float_mode > ADC_FLOAT_FAST)
      return "no mode of floats has this number";
    compile->optimisation = options_.optimisation;
    compile->float_mode = options_.float_mode == ADC_FLOAT_STRICT ? driver::FloatMode::Strict
                          : options_.float_mode == ADC_FLOAT_FAST ? driver::FloatMode::Fast
                                                                  : driver::FloatMode::Contract;
    uint32_t flags = options_.flags;
    compile->check_bounds = (flags & ADC_CHECK_BOUNDS) != 0;
    compile->check_writes = (flags & ADC_CHECK_WRITES) != 0;
    compile->deterministic = (flags & ADC_DETERMINISTIC) != 0;
    compile->save_overwritten = (flags & ADC_SAVE_OVERWRITTEN) != 0;
    compile->bounds_record = (flags & ADC_BOUNDS_RECORD) != 0;
    compile->keep_asserts = (flags & ADC_ASSERTS) != 0;
    compile->prints = (flags & ADC_PRINTS) != 0;
    compile->debug_info = (flags & ADC_LINE_TABLES) != 0;
    compile->keep_going = (flags & ADC_KEEP_GOING) != 0;
    compile->forbid_s2 = (flags & ADC_FORBID_S2) != 0;
    compile->quiet_warnings = (flags & ADC_NO_WARNINGS) != 0;
    compile->warnings_are_errors = (flags & ADC_WARNINGS_ARE_ERRORS) != 0;
    compile->checkpoint = options_.checkpoint;
    compile->error_limit = options_.error_limit;
    return {};
  }

  adc_status Refuse(const std::string& wrong) const {
    if (options_.report != nullptr) {
      adc_diagnostic told = {};
      std::string text = "adc: error: " + wrong + "\n";
      told.severity = ADC_SEVERITY_ERROR;
      told.id = "E0703";
      told.message = wrong.c_str();
      told.text = text.c_str();
      options_.report(options_.user, &told);
    }
    return ADC_USAGE;
  }

  SourceSpan Map(SourceSpan span) const {
    for (const PlaceMap& map : maps_) {
      SourceSpan mapped = map.Map(span);
      if (!(mapped == span)) return mapped;
    }
    return span;
  }

  void Report(const diag::Diagnostic& found, const diag::SourceManager& sources) const {
    if (options_.report == nullptr) return;
    diag::Diagnostics one(0);
    diag::Diagnostic& mapped = one.Add(found.severity, found.id, Map(found.span), found.text);
    mapped.notes = found.notes;
    for (diag::Note& note : mapped.notes) note.span = Map(note.span);
    mapped.help = found.help;
    adc_diagnostic told = {};
    told.severity = found.severity == diag::Severity::Error     ? ADC_SEVERITY_ERROR
                    : found.severity == diag::Severity::Warning ? ADC_SEVERITY_WARNING
                                                                : ADC_SEVERITY_REMARK;
    std::string id(diag::InfoOf(found.id).id);
    told.id = id.c_str();
    told.message = mapped.text.c_str();
    told.help = mapped.help.empty() ? nullptr : mapped.help.c_str();
    if (const diag::SourceFile* file = sources.FileOf(mapped.span)) {
      told.file = file->name.c_str();
      diag::LineColumn begin = sources.Locate(mapped.span);
      diag::LineColumn end = sources.Locate({std::max(mapped.span.end, mapped.span.begin), 0});
      told.line = begin.line;
      told.column = begin.column;
      told.end_line = end.line;
      told.end_column = end.column;
    }
    std::vector<adc_note> notes;
    for (const diag::Note& note : mapped.notes) {
      const diag::SourceFile* file = sources.FileOf(note.span);
      diag::LineColumn place = sources.Locate(note.span);
      notes.push_back(
          {note.text.c_str(), file == nullptr ? nullptr : file->name.c_str(), place.line, place.column});
    }
    told.notes = notes.data();
    told.note_count = notes.size();
    std::string text = diag::PrintDiagnostics(one, sources, /*color=*/false);
    told.text = text.c_str();
    options_.report(options_.user, &told);
  }

  std::vector<adc_source> given_;
  const adc_options& options_;
  std::vector<PlaceMap> maps_;
};

}  // namespace
}  // namespace adc

extern "C" {

const char* adc_version(void) {
  static const std::string name = adc::product::ProducerName();
  return name.c_str();
}

void adc_options_init(adc_options* options) {
  *options = {};
  options->struct_size = sizeof(adc_options);
  options->optimisation = 2;
  options->error_limit = 20;
  options->threads = 1;
}

adc_status adc_compile(const adc_source* sources, size_t count, const adc_options* options,
                       adc_product** product) {
  if (options == nullptr || product == nullptr || (sources == nullptr && count != 0) ||
      options->struct_size != sizeof(adc_options))
    return ADC_USAGE;
  *product = nullptr;
  try {
    return adc::Call(sources, count, *options).Run(product);
  } catch (const std::bad_alloc&) {
    return ADC_NO_MEMORY;
  }
}

const uint8_t* adc_product_bytes(const adc_product* product, size_t* size) {
  if (product == nullptr) return nullptr;
  if (size != nullptr) *size = product->bytes.size() - 1;
  return product->bytes.data();
}

void adc_product_free(adc_product* product) {
  delete product;
}

}  // extern "C"
