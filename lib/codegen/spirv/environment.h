#pragma once
// Where a task's code finds things: its words, the elements of its parameters, its heap and its status block,
// by the three ways of addressing (artifact/gpu_abi.h).

#include "codegen/common/code.h"
#include "codegen/common/shader_layout.h"
#include "codegen/spirv/scalars.h"
#include "codegen/spirv/storage.h"

namespace adc::codegen::spirv {

/// The parts that all entries of one module share.
struct ModuleContext {
  ModuleContext(ModuleBuilder& builder, const ir::Module& source, const CodeConfig& code_config)
      : module(builder), ir(source), config(code_config), ability(AbilityOf(code_config.target)) {}

  ModuleBuilder& module;
  const ir::Module& ir;
  const CodeConfig& config;
  AtomicAbility ability;
  Id push_constants = 0;          ///< with device addresses: a block that holds that of the words
  Id thread_index = 0;            ///< the built-in input
  Id group_count = 0, group = 0;  ///< built-in inputs, made when asked for
  std::map<std::string, Id>
      value_blocks;  ///< with bindings of a shader: variables of blocks of values, by their place
  // Built-in inputs, made when asked for.
  Id invocation_in_block = 0, subgroup_in_block = 0, subgroups = 0, place_in_subgroup = 0, subgroup_size = 0;
  std::map<std::pair<Id, uint32_t>, Id> shared;  ///< arrays of a workgroup, by type and number in their entry
  Id raise = 0;                      ///< with device addresses: the function that fills the status block
  std::map<uint32_t, Id> constants;  ///< arrays by position in ir::Module::constants
  bool IsMetal() const { return config.target.kind == target::Kind::Metal; }
  /// Whether the module may use device addresses.
  bool HasAddresses() const { return !IsMetal() && config.target.features.empty() && !config.keep_bindings; }
};

/// Memory that can be read and written: a pointer, and the operands that its accesses must state.
struct Place {
  Id pointer = 0;
  uint32_t alignment = 0;  ///< 0: nothing to say
  Storage storage = Storage::U32;
};

class Environment {
 public:
  Environment(ModuleContext& context, FunctionBuilder& builder, ScalarEmitter& scalars,
              const ir::Function& kernel, const TaskRows* rows, Addressing addressing,
              std::vector<ParamUse> uses);

  Addressing addressing() const { return addressing_; }
  /// Bits in which the position of an element is counted: near memory has less than 2^32 elements.
  uint32_t IndexWidth() const { return ReachesByDescriptor() ? 32 : 64; }
  /// Vulkan: whether buffers are reached by descriptors, which reach less than 2^32 bytes.
  bool ReachesByDescriptor() const {
    return addressing_ == Addressing::Near || addressing_ == Addressing::Alone;
  }

  /// Extent of an axis of a buffer parameter, in Wide() bits.
  Id Extent(uint32_t param, uint32_t axis) {
    return KeepsBindings() ? ShaderExtent(param, axis) : Word(first_word_[param] + 1 + axis);
  }
  /// The image that a parameter is; null where it is none.
  const ir::ShaderImage* ImageOf(uint32_t param) const;
  /// That image, loaded, without its sampler.
  Id Image(uint32_t param);
  /// The type of the numbers of its texels.
  Id TexelType(uint32_t param);
  /// A component of a by-value parameter, row-major, in its register.
  Id ParameterComponent(uint32_t param, uint32_t component);
  /// Element `index` of a parameter seen as an array of `storage`; `index` has `width` bits.
  Place Element(uint32_t param, Storage storage, Id index);
  /// The storage by which elements of a scalar type are read and written.
  Storage StorageFor(uint32_t param, ir::Scalar scalar) const;
  /// With device addresses: that of a parameter.
  Id Address(uint32_t param) { return Word(first_word_[param]); }

  /// Word `number` of a claim group or of a stack that lives in a row.
  Id GroupWord(uint32_t group, uint32_t number);
  Id StackWord(uint32_t stack, uint32_t number);
  bool IsGated(uint32_t group) const;
  /// With device addresses: a single element at a device address.
  Place AtAddress(Storage storage, Id address);
  /// With device addresses: a pointer to elements that lie `stride` bytes apart from a device address on, and
  /// one of them.
  Id ArrayAt(Storage storage, uint32_t stride, Id address);
  Place InArray(Id array, Storage storage, Id index) {
    return InBlock(array, spv::StorageClassPhysicalStorageBuffer, storage, index);
  }
  /// With device addresses: that of the heap.
  Id HeapAddress() { return Word(tail_); }
  /// Without device addresses: element `index` of the heap.
  Place HeapElement(Storage storage, Id index);
  /// Without device addresses: the variable that is the status block, an array of words.
  Id StatusBlock();
  /// With device addresses: that of the status block.
  Id StatusAddress() { return Word(tail_ + 1); }
  Id Iterations() { return KeepsBindings() ? ShaderIterations() : Word(tail_ + 2); }
  Id Threads() { return KeepsBindings() ? ShaderIterations() : Word(tail_ + 3); }
  /// The number of this thread in Wide() bits.
  Id Thread();

  /// Whether the entry is one of two that a module with device addresses has for each task.
  bool IsOneOfTwo() const { return context_.HasAddresses(); }
  /// This invocation's number in its workgroup, its subgroup's, and how many subgroups there are; 32 bits.
  Id InvocationInBlock() {
    return InputNumber(context_.invocation_in_block, spv::BuiltInLocalInvocationIndex, "adc.in_block");
  }
  /// The number of the first thread of this one's workgroup, of `size` threads, in Wide() bits.
  Id FirstOfBlock(uint32_t size);
  /// Vulkan: a number that no other invocation of the subgroup has; 32 bits.
  Id NumberInSubgroup() {
    return KeepsBindings() ? InvocationInBlock() : f_.Resize(Thread(), Wide(), 32, false);
  }
  Id SubgroupInBlock() {
    return InputNumber(context_.subgroup_in_block, spv::BuiltInSubgroupId, "adc.subgroup");
  }
  Id SubgroupsOfBlock() { return InputNumber(context_.subgroups, spv::BuiltInNumSubgroups, "adc.subgroups"); }
  /// By which exchanges name an invocation; 32 bits.
  Id PlaceInSubgroup() {
    return InputNumber(context_.place_in_subgroup, spv::BuiltInSubgroupLocalInvocationId, "adc.place");
  }
  /// As the device states it: a subgroup may have fewer invocations.
  Id SubgroupSize() {
    return InputNumber(context_.subgroup_size, spv::BuiltInSubgroupSize, "adc.subgroup_size");
  }
  /// Whether the invocations of a workgroup of `block_size` fill its subgroups, each of which is a part of
  /// `lanes`, a power of two: then InSubgroups numbers them from 0 on.
  Id FillsSubgroups(uint32_t block_size, uint32_t lanes);
  /// The invocation's number, those of a subgroup one after the other; 32 bits.
  Id InSubgroups();
  const AtomicAbility& ability() const { return context_.ability; }
  /// `size` invocations are a team: always, or where a launch says so.
  void SetTeam(uint32_t size, bool always) { team_ = size, always_team_ = always; }
  /// The number of this invocation in a team; 32 bits.
  Id InTeam();
  /// The number of its team.
  Id TeamNumber();
  /// An array that the invocations of a workgroup share; another one at each call.
  Id Shared(Id element, uint32_t length);

  /// Adds a variable of the module to the entry's interface.
  void Uses(Id variable) { interface_.insert(variable); }
  std::vector<Id> Interface() const { return {interface_.begin(), interface_.end()}; }
  const std::vector<Binding>& bindings() const { return bindings_; }

  /// Whether descriptors are those of the shader that the kernel was read from.
  bool KeepsBindings() const { return context_.config.keep_bindings; }
  const ShaderLayout& layout() const { return layout_; }
  /// With bindings of a shader: the entry runs one iteration, the serial task.
  void SetSerial() { serial_ = true; }
  /// Without device addresses: extents, iterations and threads have 32 bits, and the device need have no
  /// integers of 64. The words are seen by halves.
  void SetNarrow() { narrow_ = true; }
  bool IsNarrow() const { return narrow_; }
  /// Bits of extents, iterations and threads.
  uint32_t Wide() const { return narrow_ ? 32 : 64; }
  /// With bindings of a shader: this invocation's number along an axis.
  Id Invocation(uint32_t axis) {
    return InputWord(context_.thread_index, spv::BuiltInGlobalInvocationId, "adc.invocation", axis);
  }

 private:
  bool IsUniform(uint32_t param) const;
  Id ShaderExtent(uint32_t param, uint32_t axis);
  Id ImageExtent(uint32_t param, uint32_t axis);
  Id ShaderIterations();
  Id ShaderThread();
  /// Invocations along an axis in Wide() bits.
  Id Invocations(uint32_t axis);
  Id ShaderValue(uint32_t param, uint32_t component);
  /// How a value lies in a block of the shader: as scalars of ScalarInBlock, or whole.
  static bool IsFloatInBlock(ir::Type type);
  Id ScalarInBlock(ir::Type type);
  bool IsWholeInBlock(const ir::ShaderBinding& binding, ir::Type type) const;
  Id WholeInBlock(const ir::ShaderBinding& binding, ir::Type type);
  Id InputWord(Id& variable, spv::BuiltIn builtin, const char* name, uint32_t axis);
  Id InputNumber(Id& variable, spv::BuiltIn builtin, const char* name);
  Id Word(uint32_t position);
  /// Of a word that is seen by halves: `position` counts these.
  Id HalfWord(uint32_t position);
  /// The names that tools show for the block of a binding, and for its variable and member.
  BlockNames NamesOf(BindingOf of, uint32_t param) const;
  /// A pointer to a block that holds an array of `storage`, at a device address; made in the head.
  Id BlockAt(Id address, Storage storage, bool writable);
  /// The variable of a binding.
  Id Bound(BindingOf of, uint32_t param, Storage storage, bool writable, bool aliased);
  Place InBlock(Id block, spv::StorageClass memory, Storage storage, Id index);

  ModuleContext& context_;
  ModuleBuilder& m_;
  FunctionBuilder& f_;
  ScalarEmitter& scalars_;
  const ir::Function& kernel_;
  const TaskRows* rows_;
  Addressing addressing_;
  std::vector<ParamUse> uses_;
  std::vector<uint32_t> first_word_;
  uint32_t first_adstack_word_ = 0, tail_ = 0;
  Id words_ = 0;  ///< pointer to their block
  Id thread_ = 0;
  std::map<uint32_t, Id> loaded_;
  std::map<std::pair<uint32_t, uint32_t>, Id> components_;
  std::map<std::tuple<Id, Storage, bool>, Id> blocks_;
  std::map<std::tuple<BindingOf, uint32_t, Storage>, Id> bound_;
  std::map<uint32_t, Id> images_, image_sizes_;  ///< variables, and loaded sizes, by parameter
  std::vector<Binding> bindings_;
  std::set<Id> interface_;
  std::map<Id, uint32_t> shared_;  ///< arrays of a workgroup that the entry has, by type
  ShaderLayout layout_;
  bool serial_ = false;
  bool narrow_ = false;
  uint32_t team_ = 0;
  bool always_team_ = false;
  Id in_team_ = 0, team_number_ = 0;
  Id iterations_ = 0;
};

}  // namespace adc::codegen::spirv
