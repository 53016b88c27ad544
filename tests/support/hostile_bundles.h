#pragma once
// Bundles that are well-formed, or nearly so, and made to cost a reader more than their bytes are worth: in
// each family one list is walked for each element of another, or little says much. `n` scales a family.

#include <string>
#include <utility>
#include <vector>

#include "artifact/bundle.h"
#include "artifact/metadata.h"
#include "payloads.h"

namespace hostile {

using namespace adc::artifact;
using Bytes = std::vector<uint8_t>;

struct Family {
  const char* name;
  Bytes (*make)(size_t n);
};

/// A file of sections as they are, and metadata in front of them.
inline Bytes Pack(const std::string& json, std::vector<SectionInput> sections, bool compress = false) {
  SectionInput meta;
  meta.kind = section::kMeta;
  meta.compress = compress;
  meta.bytes = {reinterpret_cast<const uint8_t*>(json.data()), json.size()};
  sections.push_back(meta);
  for (SectionInput& one : sections) one.over_budget = true;
  Vector<uint8_t> file;
  Error error;
  if (!WriteBundle({sections.data(), sections.size()}, &file, &error)) std::abort();
  return {file.begin(), file.end()};
}

/// The same sections, compressed: `over_budget` also where a default open then refuses them for their cost.
inline Bytes Compressed(const Bytes& file, bool over_budget) {
  BundleIndex index;
  Error error;
  if (!ReadIndex(file, Limits(), nullptr, &index, &error)) std::abort();
  std::vector<SectionInput> sections;
  std::vector<Vector<uint8_t>> contents(index.sections.size());
  for (uint32_t number = 0; number < index.sections.size(); ++number) {
    const Section& row = index.sections[number];
    if (!ReadSection(file, index, number, Limits(), &contents[number], &error)) std::abort();
    SectionInput section;
    section.kind = row.kind;
    section.target = row.target;
    section.required = (row.flags & kSectionRequired) != 0;
    section.alignment = row.alignment;
    section.over_budget = over_budget;
    section.bytes = {contents[number].data(), contents[number].size()};
    sections.push_back(section);
  }
  Vector<uint8_t> packed;
  if (!WriteBundle({sections.data(), sections.size()}, &packed, &error)) std::abort();
  return {packed.begin(), packed.end()};
}

inline std::string JsonOf(Metadata metadata) {
  FinishMetadata(&metadata);
  String json;
  Error error;
  if (!WriteMetadata(metadata, &json, &error)) std::abort();
  return std::string(json.view());
}

inline Bytes PackMetadata(Metadata metadata, bool compress = false) {
  return Pack(JsonOf(std::move(metadata)), {}, compress);
}

inline SectionInput Code(uint32_t kind, const Bytes& bytes, bool compress = false) {
  SectionInput code;
  code.kind = kind;
  code.target = 0;
  code.compress = compress;
  code.bytes = {bytes.data(), bytes.size()};
  return code;
}

inline std::string Numbered(const char* word, size_t number) {
  return word + std::to_string(number);
}

inline ParamMeta Param(size_t number, ScalarType type = ScalarType::kI32, uint32_t rank = 1) {
  ParamMeta param;
  param.name = std::string_view(Numbered("p", number));
  param.type = type;
  param.rank = rank;
  param.access = Access::kRead;
  return param;
}

inline Metadata OneTarget(const char* kind = "cpu", const char* arch = "x86-64", const char* abi = "elf") {
  Metadata metadata;
  metadata.producer = "hostile";
  TargetMeta target;
  target.name = "t";
  target.kind = kind;
  target.arch = arch;
  target.abi = abi;
  metadata.targets.push_back(target);
  return metadata;
}

inline TaskMeta SerialTask(const char* symbol = "f") {
  TaskMeta task;
  EntryMeta entry;
  entry.symbol = symbol;
  task.entries.push_back(entry);
  return task;
}

// Tasks that all name one size kernel, of many parameters and tasks.
inline Metadata CountingTasks(size_t n) {
  Metadata metadata = OneTarget();
  KernelMeta kernel, size;
  kernel.name = "k";
  size.name = "k.size";
  size.role = KernelRole::kSize;
  size.of = "k";
  for (size_t index = 0; index < n; ++index) {
    kernel.params.push_back(Param(index));
    size.params.push_back(Param(index));
    TaskMeta task = SerialTask();
    size.tasks.push_back(task);
    task.size_kernel = "k.size";
    kernel.tasks.push_back(task);
  }
  ParamMeta counts = Param(n, ScalarType::kI64);
  counts.access = Access::kReadWrite;
  size.params.push_back(counts);
  metadata.kernels.push_back(kernel);
  metadata.kernels.push_back(size);
  return metadata;
}

// Before format 1.2 nothing says what a size kernel reads: every task may read every parameter.
inline Bytes OldCountingTasks(size_t n) {
  Metadata metadata = CountingTasks(n);
  FinishMetadata(&metadata);
  String written;
  Error error;
  if (!WriteMetadata(metadata, &written, &error)) std::abort();
  std::string json(written.view());
  for (std::string_view later :
       {"\"bindings\":[],", "\"far_symbol\":\"\",", "\"cheap_replay\":false,",
        ",\"team\":false,\"team_lanes\":0,\"team_turns\":-1", "\"count_reads\":[],", "\"bounds\":-1,",
        "\"bounds_recorded\":false,", "\"shape_i32_axes\":0,", ",\"trip_kernel\":\"\",\"trip_reads\":[]",
        ",\"value\":\"\"", "\"reads\":[],", ",\"writes\":[]", "\"source_digests\":[],"}) {
    std::string stripped;
    size_t from = 0;
    for (size_t at = json.find(later); at != std::string::npos; at = json.find(later, from)) {
      stripped.append(json, from, at - from);
      from = at + later.size();
    }
    json = stripped.append(json, from);
  }
  Bytes file = Pack(json, {});
  payloads::Put(file, 10, 0, 2);  // the minor version, and the hash that covers it
  payloads::Put(file, 48, 0, 8);
  payloads::Put(file, 48, Hash64({file.data(), 128 + 64}), 8);
  return file;
}

inline Bytes LayoutParams(size_t n) {
  Metadata metadata = OneTarget();
  LayoutMeta layout;
  layout.name = "l";
  layout.size = 64;
  for (size_t index = 0; index < n; ++index) {
    FieldMeta field;
    field.name = std::string_view(Numbered("f", index));
    field.levels = {{{1}, {1}}};
    layout.fields.push_back(field);
  }
  metadata.layouts.push_back(layout);
  KernelMeta kernel;
  kernel.name = "k";
  for (size_t index = 0; index < n; ++index) {
    ParamMeta param = Param(index, ScalarType::kF32, 0);
    param.kind = ParamKind::kLayout;
    param.layout = 0;
    kernel.params.push_back(param);
  }
  metadata.kernels.push_back(kernel);
  return PackMetadata(metadata);
}

// Every header of a section names the one table of symbols.
inline Bytes HsacoTables(size_t n) {
  Metadata metadata = OneTarget("hip", "gfx1100", "hsaco");
  std::vector<std::string> symbols;
  for (size_t index = 0; index < n; ++index) symbols.push_back(Numbered("s", index));
  Bytes code = payloads::Hsaco(symbols);
  size_t table = 0;
  for (size_t byte = 0; byte < 8; ++byte) table |= size_t{code[40 + byte]} << (8 * byte);
  Bytes row(code.begin() + static_cast<ptrdiff_t>(table + 64),
            code.begin() + static_cast<ptrdiff_t>(table + 128));
  size_t more = n < 60000 ? n : 60000;
  for (size_t index = 0; index < more; ++index) code.insert(code.end(), row.begin(), row.end());
  payloads::Put(code, 60, 3 + more, 2);
  return Pack(JsonOf(metadata), {Code(section::kHsaco, code)});
}

// Every symbol has one long name.
inline Bytes HsacoNames(size_t n) {
  Metadata metadata = OneTarget("hip", "gfx1100", "hsaco");
  KernelMeta kernel;
  kernel.name = "k";
  kernel.tasks.push_back(SerialTask(std::string(255, 'x').c_str()));
  metadata.kernels.push_back(kernel);
  std::string name(255, 'x');
  Bytes code = payloads::Hsaco({name + ".kd", std::string(n, 'x')});
  // The table of symbols is made of the second one's name, over and over.
  Bytes all(code.begin(), code.begin() + 64);
  size_t text_at = 64 + 24 * n;
  for (size_t index = 0; index < n; ++index) {
    payloads::Put(all, 64 + 24 * index, index == 0 ? 1 : 1 + index % 200, 4);
    payloads::Put(all, 64 + 24 * index + 16, 64, 8);
  }
  std::string text = std::string(1, '\0') + name + ".kd" + std::string(1, '\0');
  for (char letter : text) all.push_back(static_cast<uint8_t>(letter));
  while (all.size() % 8 != 0) all.push_back(0);
  size_t sections = all.size();
  payloads::Put(all, 40, sections, 8);
  uint64_t rows[3][4] = {{0, 0, 0, 0}, {11, 64, 24 * n, 2}, {3, text_at, text.size(), 0}};
  for (size_t number = 0; number < 3; ++number) {
    size_t row = sections + 64 * number;
    payloads::Put(all, row + 4, rows[number][0], 4);
    payloads::Put(all, row + 24, rows[number][1], 8);
    payloads::Put(all, row + 32, rows[number][2], 8);
    payloads::Put(all, row + 40, rows[number][3], 4);
    payloads::Put(all, row + 56, 0, 8);
  }
  return Pack(JsonOf(metadata), {Code(section::kHsaco, all)});
}

// Many entries with long names that begin alike, and far more symbols, each of which is compared with them.
inline Bytes CpuNames(size_t n) {
  Metadata metadata = OneTarget();
  KernelMeta kernel;
  kernel.name = "k";
  std::vector<payloads::ElfSymbol> symbols;
  for (size_t index = 0; index < n; ++index) {
    std::string name = std::string(245, 'x') + std::to_string(1000000 + index);
    kernel.tasks.push_back(SerialTask(name.c_str()));
    symbols.push_back({name});
  }
  metadata.kernels.push_back(kernel);
  symbols.resize(40 * n, {""});
  Bytes code = payloads::CpuElf(/*is_object=*/true, symbols);
  // The names of all others are that of the first, which lies behind the table's empty one.
  for (size_t index = n; index < symbols.size(); ++index) payloads::Put(code, 64 + 24 * index, 1, 4);
  return Pack(JsonOf(metadata), {Code(section::kObject, code)});
}

// Little but zeros, so that each section compresses nearly as far as one may.
inline Bytes ZeroSections(size_t n) {
  std::vector<Bytes> contents(16, Bytes(n * 1024));
  std::vector<SectionInput> sections;
  for (size_t index = 0; index < contents.size(); ++index) {
    SectionInput zeros;
    zeros.kind = FourCC("ZZZA") + (static_cast<uint32_t>(index) << 24);
    for (size_t at = 0; at < contents[index].size(); at += 2048) {
      for (size_t byte = 0; byte < 4; ++byte)
        contents[index][at + byte] = static_cast<uint8_t>(0x9E3779B9u * (at + 1) >> (8 * byte));
    }
    zeros.bytes = {contents[index].data(), contents[index].size()};
    sections.push_back(zeros);
  }
  return Pack(JsonOf(OneTarget()), sections);
}

// Each section is hardly larger than what a decoder takes to begin with.
inline Bytes SmallSections(size_t n) {
  if (n > 1000) n = 1000;
  std::vector<Bytes> contents(n, Bytes(80));
  std::vector<SectionInput> sections;
  for (size_t index = 0; index < n; ++index) {
    SectionInput small;
    small.kind = FourCC("A000") + (static_cast<uint32_t>(index % 256) << 8) +
                 (static_cast<uint32_t>(index / 256) << 16);
    small.bytes = {contents[index].data(), contents[index].size()};
    sections.push_back(small);
  }
  return Pack(JsonOf(OneTarget()), sections);
}

inline Bytes LongNames(size_t n) {
  Metadata metadata = OneTarget();
  for (size_t index = 0; index < n; ++index) {
    KernelMeta kernel;
    std::string number = std::to_string(1000000 + index);
    kernel.name = std::string_view(std::string(240, 'n') + number);
    metadata.kernels.push_back(kernel);
  }
  return PackMetadata(metadata);
}

// Each task's extent is the last node of a graph that reads.
inline Bytes ReadingTasks(size_t n) {
  Metadata metadata = OneTarget();
  KernelMeta kernel;
  kernel.name = "k";
  kernel.params.push_back(Param(0));
  NodeId value = kernel.exprs.Const(0);
  for (size_t index = 0; index < n; ++index)
    value = kernel.exprs.Add(kernel.exprs.Read(0, {&value, 1}), kernel.exprs.Const(1));
  for (size_t index = 0; index < n; ++index) {
    TaskMeta task = SerialTask();
    task.kind = TaskKind::kParallel;
    task.extents.push_back(value);
    kernel.tasks.push_back(task);
  }
  metadata.kernels.push_back(kernel);
  return PackMetadata(metadata);
}

// Kernels that all name one bounds kernel of many tasks.
inline Bytes BoundsKernels(size_t n) {
  Metadata metadata = OneTarget();
  metadata.bounds_recorded = true;
  KernelMeta bounds;
  bounds.name = "a";
  bounds.role = KernelRole::kBounds;
  bounds.of = "k1000000";
  for (ScalarType type : {ScalarType::kU64, ScalarType::kI32, ScalarType::kU64})
    bounds.params.push_back(Param(bounds.params.size(), type));
  for (size_t index = 0; index < n + 2; ++index) bounds.tasks.push_back(SerialTask());
  metadata.kernels.push_back(bounds);
  for (size_t index = 0; index < n; ++index) {
    KernelMeta kernel;
    kernel.name = std::string_view(Numbered("k", 1000000 + index));
    kernel.bounds = 0;
    kernel.tasks.push_back(SerialTask());
    metadata.kernels.push_back(kernel);
  }
  return PackMetadata(metadata);
}

// Lists of one element each, which take most memory for their text.
inline Bytes ShortLists(size_t n) {
  Metadata metadata = OneTarget();
  for (size_t index = 0; index < n; ++index) {
    KernelMeta kernel;
    kernel.name = std::string_view(Numbered("k", 1000000 + index));
    TaskMeta task = SerialTask();
    AdstackPlanMeta plan;
    plan.groups.push_back({});
    task.plans.push_back(plan);
    kernel.tasks.push_back(task);
    metadata.kernels.push_back(kernel);
  }
  return PackMetadata(metadata, /*compress=*/true);
}

inline Bytes SpirvCapabilities(size_t n) {
  Metadata metadata = OneTarget("vulkan", "1.2", "spirv");
  for (size_t index = 0; index < n; ++index)
    metadata.targets[0].features.push_back(std::string_view(Numbered("f", 1000000 + index)));
  payloads::Spirv code;
  for (size_t index = 0; index < n; ++index) code.Capability(1);
  return Pack(JsonOf(metadata), {Code(section::kSpirv, code.bytes)});
}

inline Bytes PtxDots(size_t n) {
  std::string text = ".version 7.0\n.target sm_80\n" + std::string(64 * n, '.');
  return Pack(JsonOf(OneTarget("cuda", "sm_80", "ptx")), {Code(section::kPtx, payloads::FromText(text))});
}

inline Bytes MslKernels(size_t n) {
  std::string text;
  for (size_t index = 0; index < n; ++index) text += "kernel [[ kernel ";
  return Pack(JsonOf(OneTarget("metal", "2.4", "msl")), {Code(section::kMsl, payloads::FromText(text))});
}

inline Bytes Counting(size_t n) {
  return PackMetadata(CountingTasks(n));
}

inline constexpr Family kFamilies[] = {
    {"tables of symbols in HSACO", HsacoTables},
    {"symbols of one long name in HSACO", HsacoNames},
    {"long names of a processor's symbols", CpuNames},
    {"tasks and parameters of an old bundle", OldCountingTasks},
    {"layout fields and parameters", LayoutParams},
    {"tasks and their size kernel", Counting},
    {"compressed zeros", ZeroSections},
    {"small compressed sections", SmallSections},
    {"long names that begin alike", LongNames},
    {"tasks and nodes that read", ReadingTasks},
    {"kernels and their bounds kernel", BoundsKernels},
    {"short lists", ShortLists},
    {"capabilities and features", SpirvCapabilities},
    {"dots in PTX", PtxDots},
    {"kernels without end in Metal's language", MslKernels},
};

}  // namespace hostile
