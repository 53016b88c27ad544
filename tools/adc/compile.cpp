// The default command: reads kernels, writes a bundle or one of the other outputs.

#include "driver/compile.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>

#include "command_line.h"
#include "commands.h"
#include "compile_source.h"
#include "diag/errors.h"
#include "driver/derivations.h"
#include "driver/outputs.h"
#include "driver/pipeline.h"
#include "driver/read_shader.h"
#include "driver/report.h"
#include "driver/targets.h"
#include "ir/module.h"
#include "linkable.h"
#include "print.h"
#include "product/version.h"
#include "target/target.h"
#include "words.h"

namespace adc::tool {

namespace {

using driver::MessageForm;

const std::vector<std::pair<std::string, MessageForm>>& MessageForms() {
  static const std::vector<std::pair<std::string, MessageForm>> forms = {
      {"text", MessageForm::Text}, {"json", MessageForm::Json}, {"sarif", MessageForm::Sarif}};
  return forms;
}

/// The form of messages that a command line asks for, which may be wrong elsewhere.
MessageForm AskedForm(std::vector<std::string> words) {
  ErrorSink none([](std::string_view, std::string_view) {});  // Parse tells what a response file lacks
  ExpandResponseFiles(&words);
  constexpr std::string_view kName = "--error-format";
  MessageForm asked = MessageForm::Text;
  for (size_t at = 0; at < words.size() && words[at] != "--"; ++at) {
    if (!words[at].starts_with(kName)) continue;
    std::string value = words[at].substr(kName.size());
    if (value.empty() && at + 1 < words.size()) value = "=" + words[++at];
    for (const auto& [word, form] : MessageForms()) {
      if (value == "=" + word) asked = form;
    }
  }
  return asked;
}

/// An option whose words stand for values.
template <class Choice>
void AddChoice(CommandLine& line, std::string name, std::string value_name, std::string help,
               const std::vector<std::pair<std::string, Choice>>& choices, Choice* target) {
  std::vector<std::string> words;
  for (const auto& [word, choice] : choices) words.push_back(word);
  line.OneOf(std::move(name), std::move(value_name), std::move(help), std::move(words),
             [choices, target](size_t at) { *target = choices[at].second; });
}

bool IsErrorId(std::string_view word) {
  for (uint32_t at = 0; at < diag::ErrorCount(); ++at) {
    if (diag::InfoAt(at).id == word) return true;
  }
  return false;
}

/// "cpu:x86-64-v3, cpu:x86-64, cuda:sm_80, ..."
std::string DefaultTargetsText() {
  std::string text;
  for (const std::string& name : driver::DefaultTargets()) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// `--jobs`: a number, or make.
std::string TakeJobs(std::string_view word, driver::CompileOptions* options) {
  if (word == "make") {
    const char* flags = std::getenv("MAKEFLAGS");
    options->make_flags = flags == nullptr ? "" : flags;
    return {};
  }
  uint32_t number = 0;
  auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (failure != std::errc() || end != word.data() + word.size() || number < 1 || number > 1024)
    return "takes a number from 1 to 1024, or make";
  options->jobs = number;
  return {};
}

void AddWhatToMake(CommandLine& line, driver::CompileOptions& options) {
  line.Section("What to make");
  line.Text("-o", "FILE",
            "write to FILE; '-' is standard output. Default: named after the input, in the\n"
            "current folder; text for people (ir, llvm, json) goes to standard output",
            &options.output);
  using driver::Emit;
  bool llvm = WritesCodeFor(*target::FindTarget("cpu"));
  AddChoice<Emit>(line, "--emit", "KIND",
                  "bundle (default); the code of one target: " +
                      std::string(llvm ? "obj, ptx, hsaco, spirv, msl, llvm" : "spirv, msl") +
                      ";\n"
                      "ir, json, header; c, the bundle as a C source",
                  {{"bundle", Emit::Bundle},
                   {"obj", Emit::Object},
                   {"ptx", Emit::Ptx},
                   {"hsaco", Emit::Hsaco},
                   {"spirv", Emit::Spirv},
                   {"msl", Emit::Msl},
                   {"ir", Emit::Ir},
                   {"llvm", Emit::Llvm},
                   {"json", Emit::Json},
                   {"header", Emit::Header},
                   {"c", Emit::C}},
                  &options.emit);
  line.Text("--triple", "TRIPLE",
            "with --emit=obj: the object for another system than Linux, as LLVM names it:\n"
            "arm64-apple-ios14.0, x86_64-pc-windows-msvc",
            &options.triple);
  line.Text("--prefix", "PREFIX", "with --emit=obj: the names of entries begin with PREFIX and an underscore",
            &options.prefix);
  line.List("--target", "TARGET",
            "generate code for TARGET; may be given several times (`adc devices` lists them).\n"
            "A kind alone (" +
                std::string(llvm ? "cpu, cuda, hip, " : "") +
                "vulkan, metal) is its default target; of a bundle, vulkan is\n"
                "vulkan:1.2 and, if a kernel adds floats in memory, vulkan:1.3, of which a device takes\n"
                "the best that it can run. Default:\n" +
                DefaultTargetsText(),
            &options.targets);
  line.OneOf(
      "--vulkan-entries", "KIND",
      "near: the code for Vulkan takes its buffers by descriptors alone and counts in 32 bits where the\n"
      "kernel allows, for phones and for translators; the loader refuses larger launches. The same as\n"
      "--target=vulkan:1.2-near. both (default): entries with device addresses beside them",
      {"both", "near"}, [&options](size_t word) { options.near_entries = word == 1; });
  line.Flag("--keep-going",
            "if a target that --target names cannot express a kernel: warn, and write the others.\n"
            "A target of the default list is always left out then, with a remark",
            &options.keep_going);
  line.Value("--derive", "LIST",
             "grad (default), jvp, jvp(grad), none; several with commas. jvp:4 and jvp:4(grad) push four\n"
             "tangents at once: %x.tan0 to %x.tan3 of k.jvp4",
             [&options](std::string_view list) { return driver::TakeDerive(list, &options.derive); });
  AddShaderOptions(line, &options.diff, &options.entry);
  line.Value("--spec", "NAME=VALUE",
             "for a shader: the value of a specialisation constant, by its name or number. One without a\n"
             "value is a parameter of the kernel",
             [&options](std::string_view word) -> std::string {
               size_t equals = word.find('=');
               if (equals == std::string_view::npos || equals == 0) return "expects NAME=VALUE";
               options.spec.emplace_back(word.substr(0, equals), word.substr(equals + 1));
               return {};
             });
  line.Value("--sampler", "[NAME=]STATE",
             "for a shader: how it reads the textures of a sampler, or all that no other one names: linear\n"
             "or nearest, and clamp, repeat, mirror or border, with a comma. Default: linear,clamp",
             [&options](std::string_view word) -> std::string {
               size_t equals = word.find('=');
               bool named = equals != std::string_view::npos;
               std::string_view state = named ? word.substr(equals + 1) : word;
               options.samplers.emplace_back(named ? word.substr(0, equals) : "", state);
               return driver::CheckSampler(state);
             });
  line.OneOf(
      "--images", "KIND",
      "for a shader: buffer (default): its images are buffers of texels. native, with --emit=spirv: the\n"
      "forward kernel alone, with the images and bindings of the shader",
      {"buffer", "native"}, [&options](size_t word) { options.native_images = word == 1; });
  line.Value(
      "--adjoint-set", "N",
      "for a shader with --emit=spirv: the descriptor set of adjoints and what else is added; default:\n"
      "the first after those of the shader",
      [&options](std::string_view word) -> std::string {
        uint32_t number = 0;
        auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), number);
        if (failure != std::errc() || end != word.data() + word.size() || number > 31)
          return "expects a number from 0 to 31";
        options.adjoint_set = number;
        return {};
      });
  line.Value("--active", "NAMES", "differentiate only these of the parameters that are `diff`",
             [&options](std::string_view list) { return TakeNames(list, &options.active); });
  line.Value("--checkpoint", "N|auto",
             "gradients of long serial loops tape the state at the start of every N-th iteration, have\n"
             "a tape of N iterations, and run forward once more. auto: the loader chooses N at each\n"
             "launch, where whole tapes do not fit its heap budget. Loops marked `checkpoint` in the\n"
             "source do so without this option",
             [&options](std::string_view word) { return TakeCheckpoint(word, &options.checkpoint); });
  line.Flag("--forbid-s2",
            "the memory of a launch must follow from scalar arguments and shapes: a loop whose tape only\n"
            "device data can size is an error. Rows behind gates take the worst case, and no counting\n"
            "kernel is added",
            &options.forbid_s2);
}

void AddHow(CommandLine& line, driver::CompileOptions& options) {
  line.Section("How");
  line.Joined("-O", "0..3", "how hard to optimise; default 2",
              [&options](std::string_view level) -> std::string {
                if (level.size() != 1 || level[0] < '0' || level[0] > '3')
                  return "expects a level from 0 to 3";
                options.optimisation = static_cast<uint32_t>(level[0] - '0');
                return {};
              });
  using driver::FloatMode;
  AddChoice<FloatMode>(
      line, "--fp", "MODE",
      "strict: each operation rounds; contract (default): fused multiply-add,\n"
      "and threads may share a long sum; fast: all sums reordered, functions approximate",
      {{"strict", FloatMode::Strict}, {"contract", FloatMode::Contract}, {"fast", FloatMode::Fast}},
      &options.float_mode);
  line.Value("--simd", "WHAT",
             "processors: iterations of parallel loops side by side in vectors; off, a number of them (2 to\n"
             "64, a power of two), or auto: where it is estimated to be faster",
             [&options](std::string_view word) { return TakeSimd(word, &options.simd); });
  line.Flag("--check-bounds", "skip accesses that are out of range, and report the first one",
            &options.check_bounds);
  line.Flag("--deterministic",
            "kernels and gradients give the same bits in every run, on any number of threads: sums of\n"
            "floats are exact and rounded once (implies --fp=strict; costs time and memory, which\n"
            "adc bench --deterministic measures)",
            &options.deterministic);
  line.Flag("--check-writes",
            "kernels (not their derivatives) report the first element that two iterations of a\n"
            "parallel loop store to, or that breaks what `disjoint`, `settled`, `writeonce` promise",
            &options.check_writes);
  line.Flag(
      "--save-overwritten",
      "kernels store values that they overwrite and their gradients read, in buffers of the caller\n"
      "(%saved.*): x <- f(x) in place, and gradients of many steps (docs/time-stepping.md). What\n"
      "cannot be saved and is not overwritten in the kernel is left: W0462 says that the gradient must\n"
      "run right after the kernel then, and not in a rollout",
      &options.save_overwritten);
  line.Flag("--bounds-record",
            "add a kernel to each gradient that checks whether bounds of loops have changed since its\n"
            "primal ran. It runs if a launch is given a bounds record (adrt_plan_desc, adc run)",
            &options.bounds_record);
  line.Value("--block-size", "N",
             "threads of a block on devices, 32 to 1024, where a kernel does not say; default 128, and\n"
             "512 for what counts on NVIDIA devices",
             [&options](std::string_view word) -> std::string {
               uint32_t number = 0;
               auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), number);
               bool good = failure == std::errc() && end == word.data() + word.size() && number % 32 == 0;
               if (!good || number < 32 || number > 1024) return "expects a multiple of 32, from 32 to 1024";
               options.block_size = number;
               return {};
             });
  line.Text("--libdevice", "FILE", "math functions for NVIDIA devices, in bitcode; default: LLVM's own",
            &options.libdevice);
  line.Flag("--asserts", "compile `assert` statements", &options.keep_asserts);
  line.Flag("--prints",
            "compile `print` statements: a kernel records what it prints in a buffer of the caller, its\n"
            "last parameter, and adc run prints that (docs/faq.md)",
            &options.prints);
  line.Flag(
      "-g",
      "line tables that name the source, for debuggers and profilers, and in SPIR-V its text; adc strip\n"
      "takes them out (docs/editors.md)",
      &options.debug_info);
  line.List("-I", "DIR", "look for imports in DIR, after the importing file's own folder",
            &options.include_dirs);
  line.Defines(
      "the constant or type NAME of the text is VALUE: -D n=25, -D real=f64. For C++ or a shader: define a "
      "macro",
      &options.defines);
  line.Text("-p", "FOLDER", "for C++: take the arguments of the compiler from FOLDER/compile_commands.json",
            &options.compile_database);
  AddAllowImports(line, &options.import_dirs);
}

void AddLimits(CommandLine& line, driver::CompileOptions& options) {
  line.Section("Limits (docs/limits.md)");
  driver::Limits& limits = options.limits;
  line.Number("--limit-text", "MIB", "largest text, imports included; default 256", &limits.text_mebibytes,
              4095, 1);
  line.Number("--limit-operations", "N",
              "most operations of all kernels, derived ones included, after inlining; default 500000",
              &limits.operations, 1'000'000'000, 1);
  line.Number("--limit-optimised", "N",
              "most operations of a task that is optimised as one function; default 5000 for processors,\n"
              "10000 for devices. Beyond, it is cut into functions, and for devices made with -O0",
              &limits.optimised, 1'000'000'000, 1);
  line.Number("--limit-seconds", "N", "most processor time for reading C++ or a shader; default 60",
              &limits.seconds, 1'000'000, 1);
  line.Number("--limit-memory", "MIB", "most memory while C++ or a shader is read; default 4096",
              &limits.memory_mebibytes, 1'000'000'000, 1);
}

void AddReporting(CommandLine& line, driver::CompileOptions& options) {
  line.Section("Reporting");
  line.Flag("-w", "show no warnings", &options.quiet_warnings);
  line.Joined("-W", "error, -Wno-ID", "treat warnings as errors; do not show the warning ID",
              [&options](std::string_view word) -> std::string {
                if (word == "error") {
                  options.warnings_are_errors = true;
                } else if (word.starts_with("no-") && IsErrorId(word.substr(3))) {
                  options.silenced.emplace_back(word.substr(3));
                } else {
                  return "expects -Werror or -Wno-ID, with the id at the end of a warning, as in -Wno-E0602";
                }
                return {};
              });
  line.Number("--error-limit", "N", "stop after N errors; 0: no limit; default 20", &options.error_limit,
              UINT32_MAX);
  AddChoice<MessageForm>(line, "--error-format", "FORM",
                         "text (default); json, one object per line; sarif, one log in SARIF 2.1.0",
                         MessageForms(), &options.message_form);
  line.Value("--file-prefix-map", "OLD=NEW", "name files that begin with OLD as if they began with NEW",
             [&options](std::string_view word) -> std::string {
               size_t equals = word.find('=');
               if (equals == std::string_view::npos) return "expects OLD=NEW";
               options.prefix_map.emplace_back(word.substr(0, equals), word.substr(equals + 1));
               return {};
             });
}

void AddForBuilds(CommandLine& line, driver::CompileOptions& options) {
  line.Section("For build systems");
  line.Flag("-MD", "write a depfile next to the output", &options.write_depfile);
  line.Text("-MF", "FILE", "name of the depfile", &options.depfile);
  line.Text("--header", "FILE",
            "also write what --emit=header makes to FILE, which stays untouched if nothing changed",
            &options.header);
  line.Text("--json", "FILE", "also write what --emit=json makes to FILE, in the same way", &options.json);
  line.Text("--cache-dir", "DIR",
            "take the output from DIR if the same text was compiled there before with the same options by\n"
            "the same adc; else put it there. Any number of processes may share DIR (docs/install.md)",
            &options.cache_dir);
  line.Flag("--trust-cache",
            "use the folder of --cache-dir although others can write it: they decide what comes out",
            &options.trust_cache);
  line.Value("--jobs", "N|make",
             "make code of at most N targets at once; default: one for each processor. make: as the job\n"
             "server of make allows, which is the only option that reads the environment (MAKEFLAGS)",
             [&options](std::string_view word) { return TakeJobs(word, &options); });
  line.Text("-MT", "NAME", "the target that the depfile names; default: the output", &options.depfile_target);
}

void AddWatching(CommandLine& line, driver::CompileOptions& options) {
  line.Section("Watching the compiler");
  std::vector<std::string> passes;
  for (std::string_view pass : driver::PassNames()) passes.emplace_back(pass);
  std::vector<std::string> dumps;
  for (std::string_view pass : driver::DumpNames()) dumps.emplace_back(pass);
  dumps.emplace_back("adstack");
  driver::WatchOptions& watch = options.watch;
  line.OneOf("--dump", "PASS",
             "print the module after PASS; 'adstack': print the adstack plans, and what each\n"
             "gradient stores and what it recomputes instead, with places",
             dumps, [dumps, &watch](size_t at) { watch.dumps.push_back(dumps[at]); });
  line.OneOf("--stop-after", "PASS", "run no pass after PASS; writes nothing, except with --emit=ir", passes,
             [passes, &watch](size_t at) { watch.stop_after = passes[at]; });
  line.Flag("--time-passes", "print the wall time and peak memory of each pass", &options.watch.time_passes);
  line.Text("--repro", "FILE",
            "where an internal error writes input, command line and version; default:\n"
            "adc-repro-PID.txt in TMPDIR, or /tmp",
            &options.repro);
  line.Flag("--verify-each", "check the module after each pass", &options.watch.verify_each);
}

}  // namespace

int Compile(const std::vector<std::string>& words, Session& session) {
  driver::CompileOptions options;
  bool version = false, completion = false;
  std::optional<ErrorSink> mistakes;
  if (MessageForm form = AskedForm(words); form != MessageForm::Text)
    mistakes.emplace([form](auto text, auto help) { driver::ReportMistake(form, text, help); });
  CommandLine line("adc [options] kernel.ir...",
                   "Compiles differentiable parallel kernels, and their gradients, ahead of time.");
  AddWhatToMake(line, options);
  AddHow(line, options);
  AddLimits(line, options);
  AddReporting(line, options);
  AddForBuilds(line, options);
  AddWatching(line, options);
  line.Section("Other");
  line.Flag("--version", "print the version", &version);
  line.Flag("--completion",
            "print a script by which bash completes options: eval \"$(adc --completion)\"; adc completion: "
            "zsh, fish",
            &completion);
  line.Example("adc relax.ir", "writes relax.adcb: the kernel and its gradient, for every kind of device");
  line.Example("adc --emit=ir --derive=grad,jvp relax.ir", "prints the derived kernels");
  line.Example("adc -O3 relax.cpp -- -std=c++20 -Wall",
               "kernels in C++ (docs/cpp.md); words after -- are for Clang");
  line.Example("adc --deterministic relax.ir", "the same bits in every run, on any number of threads");
  line.Example("adc --checkpoint=auto relax.ir", "a gradient that fits into a small heap budget");
  line.Example("adc --target=cpu:aarch64 --emit=obj -O3 -o relax.o relax.ir", "an object to link");
  line.Example("adc run --trust relax.adcb --kernel relax --arg x=@x.npy --arg n=64 --out loss=@loss.npy",
               "runs it with the loader");
  line.Epilogue(
      "\nExit codes: 0 good, 1 an error in what was given, or a check that found something, 2 usage,\n"
      "3 bad bundle, 4 run time, 5 not supported by a target or by this machine, 7 bundles differ.\n");
  line.Positional("input file", 0, SIZE_MAX, &options.inputs);
  line.BehindDashes(&options.clang_arguments);
  line.Section("Other commands (adc COMMAND --help)");
  for (const Command& command : kCommands)
    line.Command(std::string(command.name), std::string(command.summary));
  if (std::optional<int> code = line.Parse(words)) return *code;
  if (version) {
    Print("%s\n", product::ProducerName().c_str());
    return kExitOk;
  }
  if (completion) return Completion({}, session);
  if (line.TimesGiven("--emit") > 1) {
    PrintError("--emit was given twice",
               "one run writes one kind; --header=FILE and --json=FILE write those "
               "beside a bundle");
    return kExitUsage;
  }
  if (options.emit != driver::Emit::Object && !(options.triple.empty() && options.prefix.empty())) {
    PrintError(std::string(options.triple.empty() ? "--prefix" : "--triple") + " requires --emit=obj");
    return kExitUsage;
  }
  if (!options.prefix.empty() && !IsIdentifier(options.prefix)) {
    PrintError("--prefix: '" + options.prefix + "' is no identifier of C",
               "letters, digits and underscores, and no digit first");
    return kExitUsage;
  }
  // Options that the cache need not know: names of files whose content it knows, and how things are reported.
  // An option that is not in this list makes another entry.
  options.cache_words =
      line.Given({"-o", "--header", "--json", "--cache-dir", "--trust-cache", "--jobs", "-MD", "-MF", "-MT",
                  "--repro", "--error-limit", "--error-format", "--file-prefix-map", "-I", "--allow-imports",
                  "--libdevice", "--verify-each"});
  for (const std::string& word : options.clang_arguments) options.cache_words += "-- " + word + "\n";
  for (const std::string& word : words)
    options.command_line += (options.command_line.empty() ? "" : " ") + word;
  if (options.inputs.empty()) {
    PrintError("no input file given", "usage: adc [options] kernel.ir...; adc --help lists the options");
    return kExitUsage;
  }
  return driver::CompileToFiles(options);
}

}  // namespace adc::tool
