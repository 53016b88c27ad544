#include "codegen/spirv/module_builder.h"

#include "support/check.h"

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

void AppendText(Words& words, std::string_view text) {
  uint32_t word = 0;
  for (size_t n = 0; n < text.size(); ++n) {
    word |= uint32_t{static_cast<unsigned char>(text[n])} << (8 * (n % 4));
    if (n % 4 != 3) continue;
    words.push_back(word);
    word = 0;
  }
  words.push_back(word);
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

Id ModuleBuilder::Intern(spv::Op op, std::span<const uint32_t> operands) {
  Words key{static_cast<uint32_t>(op)};
  key.insert(key.end(), operands.begin(), operands.end());
  auto [place, fresh] = interned_.try_emplace(key, 0);
  if (!fresh) return place->second;
  Id id = NewId();
  place->second = id;
  Words all{id};
  all.insert(all.end(), operands.begin(), operands.end());
  AppendInstruction(globals_, op, all);
  return id;
}

Id ModuleBuilder::InternTyped(spv::Op op, Id type, std::span<const uint32_t> operands) {
  Words key{static_cast<uint32_t>(op), type};
  key.insert(key.end(), operands.begin(), operands.end());
  auto [place, fresh] = interned_.try_emplace(key, 0);
  if (!fresh) return place->second;
  Id id = NewId();
  place->second = id;
  Words all{type, id};
  all.insert(all.end(), operands.begin(), operands.end());
  AppendInstruction(globals_, op, all);
  return id;
}

Id ModuleBuilder::IntType(uint32_t width) {
  if (width == 64) AddCapability(spv::CapabilityInt64);
  return Intern(spv::OpTypeInt, {width, 0});
}

Id ModuleBuilder::FloatType(uint32_t width) {
  if (width == 64) AddCapability(spv::CapabilityFloat64);
  if (preserves_ && float_widths_.insert(width).second)
    AddCapability(spv::CapabilitySignedZeroInfNanPreserve);
  return Intern(spv::OpTypeFloat, {width});
}

Id ModuleBuilder::RuntimeArray(Id element, uint32_t stride) {
  Id& array = arrays_[{element, stride}];
  if (array != 0) return array;
  array = NewId();
  AppendInstruction(globals_, spv::OpTypeRuntimeArray, Words{array, element});
  Decorate(array, spv::DecorationArrayStride, {stride});
  return array;
}

Id ModuleBuilder::BlockAround(Id member, bool writable) {
  Id block = NewId();
  AppendInstruction(globals_, spv::OpTypeStruct, Words{block, member});
  Decorate(block, spv::DecorationBlock);
  DecorateMember(block, 0, spv::DecorationOffset, {0});
  if (!writable) DecorateMember(block, 0, spv::DecorationNonWritable);
  return block;
}

Id ModuleBuilder::BlockOfArray(Id element, uint32_t stride, bool writable) {
  Id array = RuntimeArray(element, stride);
  auto [place, fresh] = blocks_.try_emplace(Words{array, writable}, 0);
  if (!fresh) return place->second;
  place->second = BlockAround(array, writable);
  // Its variables have names; that of the type says nothing of them.
  NameMember(place->second, 0, "_data");
  return place->second;
}

Id ModuleBuilder::BlockOfArray(Id element, uint32_t stride, bool writable, const BlockNames& names) {
  Id block = BlockAround(RuntimeArray(element, stride), writable);
  Name(block, names.block);
  NameMember(block, 0, names.member);
  return block;
}

Id ModuleBuilder::BlockOfOne(Id member, const BlockNames& names) {
  Id block = BlockAround(member, true);
  Name(block, names.block);
  NameMember(block, 0, names.member);
  return block;
}

Id ModuleBuilder::ArrayInBlock(Id element, uint32_t length, uint32_t stride) {
  Id& array = block_arrays_[{element, length, stride}];
  if (array != 0) return array;
  Id count = ConstantInt(32, length);
  array = NewId();
  AppendInstruction(globals_, spv::OpTypeArray, Words{array, element, count});
  Decorate(array, spv::DecorationArrayStride, {stride});
  return array;
}

Id ModuleBuilder::BlockOfVectors(Id component, uint32_t count, const BlockNames& names) {
  return BlockOfOne(ArrayInBlock(VectorType(component, 4), count, 16), names);
}

Id ModuleBuilder::BlockOf(std::span<const BlockMember> members) {
  Id block = NewId();
  Words operands{block};
  for (const BlockMember& member : members) operands.push_back(member.type);
  AppendInstruction(globals_, spv::OpTypeStruct, operands);
  Decorate(block, spv::DecorationBlock);
  for (uint32_t n = 0; n < members.size(); ++n) {
    DecorateMember(block, n, spv::DecorationOffset, {members[n].offset});
    NameMember(block, n, members[n].name);
  }
  return block;
}

Id ModuleBuilder::FunctionType(Id result, std::span<const Id> parameters) {
  Words operands{result};
  operands.insert(operands.end(), parameters.begin(), parameters.end());
  return Intern(spv::OpTypeFunction, operands);
}

Id ModuleBuilder::ConstantInt(uint32_t width, uint64_t value) {
  ADC_CHECK(width == 32 || width == 64, "an integer constant that no register holds");
  auto low = static_cast<uint32_t>(value), high = static_cast<uint32_t>(value >> 32);
  Id id = width == 32 ? InternTyped(spv::OpConstant, IntType(32), Words{low})
                      : InternTyped(spv::OpConstant, IntType(64), Words{low, high});
  integers_[id] = width == 32 ? low : value;
  return id;
}

Id ModuleBuilder::ConstantFloat(uint32_t width, uint64_t bits) {
  uint32_t low = static_cast<uint32_t>(bits), high = static_cast<uint32_t>(bits >> 32);
  Id id = width == 32 ? InternTyped(spv::OpConstant, FloatType(32), Words{low})
                      : InternTyped(spv::OpConstant, FloatType(64), Words{low, high});
  floats_[id] = bits;
  return id;
}

std::optional<uint64_t> ModuleBuilder::FloatBits(Id id) const {
  auto found = floats_.find(id);
  return found == floats_.end() ? std::nullopt : std::optional(found->second);
}

Id ModuleBuilder::ConstantBool(bool value) {
  Id id = InternTyped(value ? spv::OpConstantTrue : spv::OpConstantFalse, BoolType(), {});
  integers_[id] = value ? 1 : 0;
  return id;
}

Id ModuleBuilder::SpecializedBool(uint32_t number) {
  Id& known = specialized_[number];
  if (known != 0) return known;
  Id type = BoolType();
  known = NewId();
  AppendInstruction(globals_, spv::OpSpecConstantFalse, std::initializer_list<uint32_t>{type, known});
  Decorate(known, spv::DecorationSpecId, {number});
  return known;
}

Id ModuleBuilder::SpecializedInt(uint32_t width, uint32_t number, uint64_t value, std::string_view name) {
  Id& known = specialized_[number];
  if (known != 0) return known;
  Id type = IntType(width);
  known = NewId();
  Words operands{type, known, static_cast<uint32_t>(value)};
  if (width == 64) operands.push_back(static_cast<uint32_t>(value >> 32));
  AppendInstruction(globals_, spv::OpSpecConstant, operands);
  Decorate(known, spv::DecorationSpecId, {number});
  Name(known, name);
  return known;
}

std::optional<uint64_t> ModuleBuilder::IntegerOf(Id id) const {
  auto place = integers_.find(id);
  if (place == integers_.end()) return std::nullopt;
  return place->second;
}

Id ModuleBuilder::String(std::string_view text) {
  auto [place, fresh] = string_ids_.try_emplace(std::string(text), 0);
  if (!fresh) return place->second;
  place->second = NewId();
  Words operands{place->second};
  AppendText(operands, text);
  AppendInstruction(strings_, spv::OpString, operands);
  return place->second;
}

void ModuleBuilder::AddSource(Id file, std::span<const std::string_view> parts) {
  if (parts.empty())
    AppendInstruction(sources_, spv::OpSource,
                      Words{static_cast<uint32_t>(spv::SourceLanguageUnknown), 0, file});
  for (size_t n = 0; n < parts.size(); ++n) {
    Words operands;
    if (n == 0) operands = {static_cast<uint32_t>(spv::SourceLanguageUnknown), 0, file};
    AppendText(operands, parts[n]);
    AppendInstruction(sources_, n == 0 ? spv::OpSource : spv::OpSourceContinued, operands);
  }
}

Id ModuleBuilder::DebugInfo(uint32_t instruction, std::initializer_list<Id> operands) {
  Id type = VoidType(), id = NewId();
  Words all{type, id, DebugSet(), instruction};
  all.insert(all.end(), operands.begin(), operands.end());
  AppendInstruction(globals_, spv::OpExtInst, all);
  return id;
}

void ModuleBuilder::Name(Id id, std::string_view name) {
  if (producer_.empty() || name.empty()) return;
  Words operands{id};
  AppendText(operands, name);
  AppendInstruction(names_, spv::OpName, operands);
}

void ModuleBuilder::NameMember(Id id, uint32_t member, std::string_view name) {
  if (producer_.empty() || name.empty()) return;
  Words operands{id, member};
  AppendText(operands, name);
  AppendInstruction(names_, spv::OpMemberName, operands);
}

void ModuleBuilder::Decorate(Id id, spv::Decoration decoration, std::initializer_list<uint32_t> literals) {
  Words operands{id, static_cast<uint32_t>(decoration)};
  operands.insert(operands.end(), literals.begin(), literals.end());
  AppendInstruction(annotations_, spv::OpDecorate, operands);
}

void ModuleBuilder::DecorateMember(Id id, uint32_t member, spv::Decoration decoration,
                                   std::initializer_list<uint32_t> literals) {
  Words operands{id, member, static_cast<uint32_t>(decoration)};
  operands.insert(operands.end(), literals.begin(), literals.end());
  AppendInstruction(annotations_, spv::OpMemberDecorate, operands);
}

Id ModuleBuilder::GlobalVariable(spv::StorageClass storage, Id pointee, Id initial) {
  Id type = PointerType(storage, pointee);
  Id id = NewId();
  Words operands{type, id, static_cast<uint32_t>(storage)};
  if (initial != 0) operands.push_back(initial);
  AppendInstruction(globals_, spv::OpVariable, operands);
  return id;
}

void ModuleBuilder::AddEntryPoint(Id function, std::string_view name, std::span<const Id> interface,
                                  std::span<const uint32_t, 3> local_size) {
  Words operands{static_cast<uint32_t>(spv::ExecutionModelGLCompute), function};
  AppendText(operands, name);
  operands.insert(operands.end(), interface.begin(), interface.end());
  AppendInstruction(entry_points_, spv::OpEntryPoint, operands);
  entries_.push_back(function);
  AppendInstruction(execution_modes_, spv::OpExecutionMode,
                    Words{function, static_cast<uint32_t>(spv::ExecutionModeLocalSize), local_size[0],
                          local_size[1], local_size[2]});
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
  for (const std::string& name : extensions_) {
    Words text;
    AppendText(text, name);
    AppendInstruction(words, spv::OpExtension, text);
  }
  auto import = [&](Id set, std::string_view name) {
    if (set == 0) return;
    Words operands{set};
    AppendText(operands, name);
    AppendInstruction(words, spv::OpExtInstImport, operands);
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
    Words text;
    AppendText(text, producer_);
    AppendInstruction(made_by, spv::OpModuleProcessed, text);
  }
  const Words* sections[] = {&entry_points_, &modes,        &strings_, &source,    &names_,
                             &made_by,       &annotations_, &globals_, &functions_};
  for (const Words* section : sections) words.insert(words.end(), section->begin(), section->end());
  return words;
}

}  // namespace adc::codegen::spirv
