// `adc inspect`: the contents of a bundle, for people, or its metadata as JSON.

#include <cstdio>
#include <cstring>

#include "bundle_file.h"
#include "code_text.h"
#include "command_line.h"
#include "commands.h"
#include "host/exit_code.h"
#include "keys/keys.h"
#include "print.h"
#include "support/nearest.h"
#include "trust.h"

namespace adc::tool {

namespace {

using artifact::KernelMeta, artifact::Metadata, artifact::ParamMeta, artifact::TaskMeta;

std::string Element(artifact::ScalarType type, uint32_t rows, uint32_t columns) {
  std::string scalar(artifact::ScalarTypeName(type));
  if (columns > 1)
    return "mat<" + scalar + ", " + std::to_string(rows) + ", " + std::to_string(columns) + ">";
  return rows > 1 ? "vec<" + scalar + ", " + std::to_string(rows) + ">" : scalar;
}

std::string ParamLine(const Metadata& metadata, const KernelMeta& kernel, const ParamMeta& param) {
  std::string text = "%" + std::string(param.name.view()) + ": ";
  std::string element = Element(param.type, param.rows, param.columns);
  if (param.kind == artifact::ParamKind::kLayout) {
    text += "@" + std::string(metadata.layouts[param.layout].name.view());
  } else if (param.kind == artifact::ParamKind::kScalar || param.kind == artifact::ParamKind::kSegment ||
             param.kind == artifact::ParamKind::kTrips) {
    text += element;
  } else {
    text += "buffer<" + element + ", " + std::to_string(param.rank) + ">";
  }
  if (param.diff) text += " diff";
  if (param.alias) text += " alias";
  if (param.write_once) text += " writeonce";
  if (param.role == artifact::ParamRole::kSaved) {
    text += " saved for the gradient, at least [" + FormulaText(kernel, param.extents[0]) + "]";
  }
  if (param.kind == artifact::ParamKind::kScratch) {
    text += " scratch, made for the launch:";
    for (artifact::NodeId extent : param.extents) text += " [" + FormulaText(kernel, extent) + "]";
    return text;
  }
  if (param.kind == artifact::ParamKind::kSegment)
    return text + " segment, iterations between checkpoints: the launch's choice";
  if (param.kind == artifact::ParamKind::kTrips)
    return text + " trips, iterations of a loop: counted at the launch";
  if (param.kind != artifact::ParamKind::kScalar) {
    constexpr const char* kAccess[] = {"read", "written", "read and written"};
    text += std::string(", ") + kAccess[static_cast<size_t>(param.access)];
  }
  if (param.primal != artifact::kNoIndex) {
    text += std::string(param.role == artifact::ParamRole::kAdjoint ? ", adjoint of %" : ", tangent of %") +
            std::string(kernel.params[param.primal].name.view());
  }
  return text;
}

bool SameStacks(const artifact::AdstackPlanMeta& left, const artifact::AdstackPlanMeta& right) {
  if (left.stacks.size() != right.stacks.size()) return false;
  for (size_t at = 0; at < left.stacks.size(); ++at) {
    const artifact::StackMeta &a = left.stacks[at], &b = right.stacks[at];
    bool same = a.id == b.id && a.type == b.type && a.bits == b.bits && a.capacity == b.capacity &&
                a.storage == b.storage && a.addressing == b.addressing && a.group == b.group &&
                a.share == b.share;
    if (!same) return false;
  }
  return true;
}

void PrintTask(const Metadata& metadata, const KernelMeta& kernel, uint32_t number, const TaskMeta& task) {
  std::string head = "    task " + std::to_string(number) + ": ";
  if (task.kind == artifact::TaskKind::kSerial) {
    head += "serial";
  } else {
    head += "parallel over ";
    for (size_t axis = 0; axis < task.extents.size(); ++axis) {
      head += (axis == 0 ? "" : " x ") + FormulaText(kernel, task.extents[axis]);
    }
  }
  Print("%s, %s, class %s\n", head.c_str(), Printable(task.place.view()).c_str(),
        std::string(SizeClassText(task.size_class)).c_str());
  for (size_t index = 0; index < task.plans.size(); ++index) {
    const artifact::AdstackPlanMeta& plan = task.plans[index];
    // Plans differ in how rows lie, and in nothing else that is printed.
    if (index > 0 && SameStacks(plan, task.plans[0])) continue;
    if (index > 0) Print("      for %u lanes:\n", plan.lanes);
    formulas::Formulas formulas = CapacityFormulas(kernel, plan);
    for (const std::string& term : formulas.Terms()) Print("      %s\n", term.c_str());
    for (const artifact::StackMeta& stack : plan.stacks) {
      if (stack.storage == artifact::Storage::kPromise) {
        Print("      %s\n", PromiseText(kernel, stack).c_str());
        continue;
      }
      std::string gate;
      bool in_row = stack.storage == artifact::Storage::kRow;
      if (in_row && stack.group < plan.groups.size()) gate = Printable(plan.groups[stack.group].gate.view());
      std::string value = ValueText(stack);
      Print("      stack %u%s: %s x %s, %s, %s%s%s, pushed at %s\n", stack.id,
            value.empty() ? "" : (" of " + value).c_str(), ElementText(stack).c_str(),
            stack.capacity == artifact::kNoNode ? "?" : formulas.Text(stack.capacity).c_str(),
            WhereText(kernel, stack).c_str(),
            stack.addressing == artifact::Addressing::kIndexed ? "indexed" : "counted",
            gate.empty() ? "" : ", behind the gate at ", gate.c_str(), Printable(stack.place.view()).c_str());
    }
  }
  for (const artifact::EntryMeta& entry : task.entries) {
    Print("      %s: %s\n", std::string(metadata.targets[entry.target].name.view()).c_str(),
          EntryText(kernel, task, entry).c_str());
  }
}

/// Prints the needs of a target's code, and its sizes.
void PrintTargets(const BundleFile& file) {
  Print("\ntargets:\n");
  for (uint32_t target = 0; target < file.metadata.targets.size(); ++target) {
    const artifact::TargetMeta& meta = file.metadata.targets[target];
    uint64_t raw = 0, stored = 0;
    for (const artifact::Section& section : file.index.sections) {
      if (section.target != target) continue;
      raw += section.raw_size;
      stored += section.stored_size;
    }
    std::string features;
    for (const artifact::String& feature : meta.features) features += " " + std::string(feature.view());
    Print("  %-18s %s bytes of code, %s stored, needs%s\n", std::string(meta.name.view()).c_str(),
          Grouped(raw).c_str(), Grouped(stored).c_str(), features.empty() ? " no feature" : features.c_str());
  }
}

/// Prints the signers, and the facts that are known of them. A row of a key that was not given says nothing
/// about its holder: any program can write one.
void PrintSignatures(const BundleFile& file, const std::vector<artifact::Signature>& rows,
                     const std::vector<uint8_t>& known) {
  uint8_t message[artifact::kSignedBytes];
  artifact::MakeSignedBytes(file.index, message);
  for (const artifact::Signature& row : rows) {
    const char* verdict = "not checked (--key=FILE checks it)";
    for (size_t at = 0; at < known.size(); at += sizeof row.key) {
      if (std::memcmp(known.data() + at, row.key, sizeof row.key) != 0) continue;
      keys::Check check = keys::Checker();
      bool good = check != nullptr && check(nullptr, row.key, row.bytes, message, sizeof message) != 0;
      verdict = good ? "good" : "BAD: this key has not signed this content";
    }
    Print("signed by %s: %s\n", keys::Hex(row.key).c_str(), verdict);
  }
}

void PrintBundle(const std::string& path, const BundleFile& file,
                 const std::vector<artifact::Signature>& signatures, const std::vector<uint8_t>& known) {
  const Metadata& metadata = file.metadata;
  Print("%s: %s bytes, format %u.%u, made by %s\ncontent ", path.c_str(), Grouped(file.bytes.size()).c_str(),
        file.index.major, file.index.minor, std::string(metadata.producer.view()).c_str());
  for (uint8_t byte : file.index.content_id) Print("%02x", byte);
  Print("\n");
  PrintSignatures(file, signatures, known);
  Print("\nsections:\n");
  for (const artifact::Section& section : file.index.sections) {
    Print("  %-24s %12s bytes%s\n", SectionTitle(file, section).c_str(), Grouped(section.raw_size).c_str(),
          section.flags & artifact::kSectionZstd ? (", " + Grouped(section.stored_size) + " stored").c_str()
                                                 : "");
  }
  PrintTargets(file);
  if (!metadata.layouts.empty()) Print("\nlayouts:\n");
  for (const artifact::LayoutMeta& layout : metadata.layouts) {
    Print("  @%s: %s bytes\n", std::string(layout.name.view()).c_str(),
          Grouped(static_cast<uint64_t>(layout.size)).c_str());
    for (const artifact::FieldMeta& field : layout.fields) {
      Print("    %s: %s%s at byte %lld\n", std::string(field.name.view()).c_str(),
            Element(field.type, field.rows, field.columns).c_str(), field.diff ? " diff" : "",
            static_cast<long long>(field.offset));
    }
  }
  Print("\nkernels:\n");
  for (const KernelMeta& kernel : metadata.kernels) {
    std::string origin;
    if (kernel.role == artifact::KernelRole::kGrad)
      origin = ", gradient of @" + std::string(kernel.of.view());
    if (kernel.role == artifact::KernelRole::kJvp) origin = ", tangent of @" + std::string(kernel.of.view());
    Print("  @%s%s, interface 0x%016llx\n", std::string(kernel.name.view()).c_str(), origin.c_str(),
          static_cast<unsigned long long>(kernel.interface_hash));
    for (const ParamMeta& param : kernel.params)
      Print("    %s\n", ParamLine(metadata, kernel, param).c_str());
    for (uint32_t task = 0; task < kernel.tasks.size(); ++task) {
      PrintTask(metadata, kernel, task, kernel.tasks[task]);
    }
  }
}

/// The code of one kernel, task after task, for every target or for one.
int PrintCode(const BundleFile& file, const std::string& name, const std::string& target_name) {
  const KernelMeta* kernel = nullptr;
  std::string list;
  std::vector<std::string_view> names;
  for (const KernelMeta& candidate : file.metadata.kernels) {
    if (candidate.name.view() == name) kernel = &candidate;
    list += (list.empty() ? "" : ", ") + std::string(candidate.name.view());
    names.push_back(candidate.name.view());
  }
  if (kernel == nullptr) {
    std::string_view near = NearestName(name, names);
    PrintError("no kernel '" + name + "' in the bundle",
               near.empty() ? "the bundle holds " + list : "did you mean '" + std::string(near) + "'?");
    return kExitUsage;
  }
  bool found = false;
  for (uint32_t number = 0; number < file.index.sections.size(); ++number) {
    const artifact::Section& section = file.index.sections[number];
    // The image is the object's code once more.
    if (section.target == artifact::kNoTarget || section.kind == artifact::section::kImage) continue;
    const artifact::TargetMeta& target = file.metadata.targets[section.target];
    if (!target_name.empty() && target.name.view() != target_name) continue;
    found = true;
    std::vector<uint8_t> bytes;
    if (int code = ReadSectionBytes(file, number, &bytes); code != kExitOk) return code;
    for (const TaskMeta& task : kernel->tasks) {
      for (const artifact::EntryMeta& entry : task.entries) {
        if (entry.target != section.target) continue;
        diag::Result<std::string> text = CodeText(section.kind, bytes, target, entry.symbol.view());
        if (!text) {
          PrintError(SectionTitle(file, section) + ": " + text.Failure().text);
          return kExitBadBundle;
        }
        Print("// %s, %s, task at %s\n%s\n", SectionTitle(file, section).c_str(),
              std::string(entry.symbol.view()).c_str(), Printable(task.place.view()).c_str(), text->c_str());
      }
    }
  }
  if (found) return kExitOk;
  PrintError("the bundle has no code for target '" + target_name + "'");
  return kExitUsage;
}

}  // namespace

int Inspect(const std::vector<std::string>& words, Session&) {
  std::vector<std::string> files;
  std::string disassemble, target;
  std::vector<uint8_t> known;
  bool json = false;
  CommandLine line("adc inspect [options] bundle.adcb",
                   "Shows sections, kernels, tasks and the adstack plan of a bundle.");
  line.Flag("--json", "print the metadata as it lies in the bundle", &json);
  line.Text("--disasm", "KERNEL",
            "print the kernel's code: machine code and SPIR-V disassembled, PTX and MSL", &disassemble);
  line.Text("--target", "TARGET", "with --disasm: the code for TARGET alone", &target);
  AddKeyOption(line, "check the signature of this public key; any number of them", &known);
  line.Example("adc inspect relax.adcb", "sections, kernels, tasks, stacks");
  line.Example("adc inspect --json relax.adcb", "the same for programs");
  line.Positional("bundle", 1, 1, &files);
  if (std::optional<int> code = line.Parse(words)) return *code;
  if (!target.empty() && disassemble.empty()) {
    PrintError("--target without --disasm", "name the kernel whose code to print: --disasm=KERNEL");
    return kExitUsage;
  }
  BundleFile file;
  if (int code = ReadBundleFile(files[0], &file); code != kExitOk) return code;
  if (!disassemble.empty()) return PrintCode(file, disassemble, target);
  if (!json) {
    artifact::Steps steps(kFormulaSteps);
    for (const KernelMeta& kernel : file.metadata.kernels) {
      if (!SpendFormulas(kernel, 1, &steps)) return kExitBadBundle;
    }
    std::vector<artifact::Signature> signatures;
    if (int code = ReadSignatureRows(file, &signatures); code != kExitOk) return code;
    PrintBundle(files[0], file, signatures, known);
    return kExitOk;
  }
  std::vector<uint8_t> bytes;
  if (int code = ReadSectionBytes(file, 0, &bytes); code != kExitOk) return code;
  // Hidden characters become \uXXXX, which means the same in JSON.
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  PrintLines(text);
  if (!text.ends_with('\n')) PrintLines("\n");
  return kExitOk;
}

}  // namespace adc::tool
