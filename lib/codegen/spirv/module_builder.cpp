#include "codegen/spirv/module_builder.h"

namespace adc::codegen::spirv {

namespace {

/// The upper half names a registered tool, and 0 is for those that are not; the lower half is the tool's own:
/// its version, major and minor in a byte each. OpModuleProcessed says the name.
constexpr uint32_t kGenerator = 0x0001;

}  // namespace

void AppendInstruction(Words& words, spv::Op op, std::span<const uint32_t> operands) {
  words.push_back(static_cast<uint32_t>(operands.size() + 1) << spv::WordCountShift |
                  static_cast<uint32_t>(op));
  words.insert(words.end(), operands.begin(), operands.end());
}

Words Joined(Words operands, std::span<const uint32_t> more) {
  operands.insert(operands.end(), more.begin(), more.end());
  return operands;
}

Words WithText(Words words, std::string_view text) {
  uint32_t word = 0;
  for (size_t n = 0; n < text.size(); ++n) {
    word |= uint32_t{static_cast<unsigned char>(text[n])} << (8 * (n % 4));
    if (n % 4 != 3) continue;
    words.push_back(word);
    word = 0;
  }
  words.push_back(word);
  return words;
}

Id ModuleBuilder::GlslSet() {
  if (glsl_ == 0) glsl_ = NewId();
  return glsl_;
}

Id ModuleBuilder::DebugSet() {
  if (debug_ == 0) {
    debug_ = NewId();
    AddExtension("SPV_KHR_non_semantic_info");
  }
  return debug_;
}

Id ModuleBuilder::String(std::string_view text) {
  auto [place, fresh] = string_ids_.try_emplace(std::string(text), 0);
  if (!fresh) return place->second;
  place->second = NewId();
  AppendInstruction(strings_, spv::OpString, WithText({place->second}, text));
  return place->second;
}

void ModuleBuilder::AddSource(Id file, std::span<const std::string_view> parts) {
  if (parts.empty())
    AppendInstruction(sources_, spv::OpSource,
                      Words{static_cast<uint32_t>(spv::SourceLanguageUnknown), 0, file});
  for (size_t n = 0; n < parts.size(); ++n) {
    Words operands;
    if (n == 0) operands = {static_cast<uint32_t>(spv::SourceLanguageUnknown), 0, file};
    AppendInstruction(sources_, n == 0 ? spv::OpSource : spv::OpSourceContinued,
                      WithText(operands, parts[n]));
  }
}

Id ModuleBuilder::DebugInfo(uint32_t instruction, std::initializer_list<Id> operands) {
  Id type = types.Void(), id = NewId();
  AppendInstruction(globals_, spv::OpExtInst, Joined({type, id, DebugSet(), instruction}, operands));
  return id;
}

void ModuleBuilder::Name(Id id, std::string_view name) {
  if (producer_.empty() || name.empty()) return;
  AppendInstruction(names_, spv::OpName, WithText({id}, name));
}

void ModuleBuilder::NameMember(Id id, uint32_t member, std::string_view name) {
  if (producer_.empty() || name.empty()) return;
  AppendInstruction(names_, spv::OpMemberName, WithText({id, member}, name));
}

void ModuleBuilder::Decorate(Id id, spv::Decoration decoration, std::initializer_list<uint32_t> literals) {
  AppendInstruction(annotations_, spv::OpDecorate, Joined({id, static_cast<uint32_t>(decoration)}, literals));
}

void ModuleBuilder::DecorateMember(Id id, uint32_t member, spv::Decoration decoration,
                                   std::initializer_list<uint32_t> literals) {
  AppendInstruction(annotations_, spv::OpMemberDecorate,
                    Joined({id, member, static_cast<uint32_t>(decoration)}, literals));
}

Id ModuleBuilder::Declare(spv::Op op, Id type, std::span<const uint32_t> operands) {
  Id id = NewId();
  AppendInstruction(globals_, op, Joined(type != 0 ? Words{type, id} : Words{id}, operands));
  return id;
}

Id ModuleBuilder::GlobalVariable(spv::StorageClass storage, Id pointee, Id initial) {
  Words operands{static_cast<uint32_t>(storage)};
  if (initial != 0) operands.push_back(initial);
  return Declare(spv::OpVariable, types.Pointer(storage, pointee), operands);
}

void ModuleBuilder::AddEntryPoint(Id function, std::string_view name, std::span<const Id> interface,
                                  std::span<const uint32_t, 3> local_size) {
  Words named = WithText({static_cast<uint32_t>(spv::ExecutionModelGLCompute), function}, name);
  AppendInstruction(entry_points_, spv::OpEntryPoint, Joined(named, interface));
  entries_.push_back(function);
  AppendInstruction(execution_modes_, spv::OpExecutionMode,
                    Words{function, static_cast<uint32_t>(spv::ExecutionModeLocalSize), local_size[0],
                          local_size[1], local_size[2]});
}

void ModuleBuilder::ComputeWith(uint32_t width) {
  if (preserves_ && float_widths_.insert(width).second)
    AddCapability(spv::CapabilitySignedZeroInfNanPreserve);
}

std::vector<uint32_t> ModuleBuilder::PreservedWidths() const {
  std::vector<uint32_t> widths;
  for (uint32_t width : float_widths_)
    if (preserves_ && (width != 16 || Has(spv::CapabilityFloat16))) widths.push_back(width);
  return widths;
}

Words ModuleBuilder::Finish(bool physical) const {
  Words words{spv::MagicNumber, version_, kGenerator, next_id_, 0};
  for (spv::Capability capability : capabilities_)
    AppendInstruction(words, spv::OpCapability, Words{static_cast<uint32_t>(capability)});
  for (const std::string& name : extensions_) AppendInstruction(words, spv::OpExtension, WithText({}, name));
  auto import = [&](Id set, std::string_view name) {
    if (set != 0) AppendInstruction(words, spv::OpExtInstImport, WithText({set}, name));
  };
  import(glsl_, "GLSL.std.450");
  import(debug_, "NonSemantic.Shader.DebugInfo.100");
  AppendInstruction(words, spv::OpMemoryModel,
                    Words{static_cast<uint32_t>(physical ? spv::AddressingModelPhysicalStorageBuffer64
                                                         : spv::AddressingModelLogical),
                          static_cast<uint32_t>(spv::MemoryModelGLSL450)});
  Words modes = execution_modes_;
  for (Id entry : entries_) {
    for (uint32_t width : PreservedWidths()) {
      uint32_t mode = spv::ExecutionModeSignedZeroInfNanPreserve;
      AppendInstruction(modes, spv::OpExecutionMode, Words{entry, mode, width});
    }
  }
  Words source = sources_, made_by;
  if (!producer_.empty()) {
    // Beside a DebugSource RenderDoc would count it as the first file.
    if (source.empty() && debug_ == 0)
      AppendInstruction(source, spv::OpSource, Words{static_cast<uint32_t>(spv::SourceLanguageUnknown), 0});
    AppendInstruction(made_by, spv::OpModuleProcessed, WithText({}, producer_));
  }
  const Words* sections[] = {&entry_points_, &modes,        &strings_, &source,    &names_,
                             &made_by,       &annotations_, &globals_, &functions_};
  for (const Words* section : sections) words.insert(words.end(), section->begin(), section->end());
  return words;
}

}  // namespace adc::codegen::spirv
