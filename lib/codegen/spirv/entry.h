#pragma once
// What the parts of an entry's emission share: its kernel, how it reaches memory and how wide it counts, and
// the variables of the module that it uses.

#include "codegen/common/code.h"
#include "codegen/common/shader_layout.h"
#include "codegen/spirv/scalars.h"
#include "codegen/spirv/storage.h"
#include "ir/module.h"

namespace adc::codegen::spirv {

/// The parts that all entries of one module share.
struct ModuleContext {
  ModuleContext(ModuleBuilder& builder, const ir::Module& source, const CodeConfig& code_config)
      : module(builder), ir(source), config(code_config), ability(AbilityOf(code_config.target)) {}

  ModuleBuilder& module;
  const ir::Module& ir;
  const CodeConfig& config;
  AtomicAbility ability;
  Id push_constants = 0;  ///< with device addresses: a block that holds that of the words
  std::map<std::string, Id>
      value_blocks;  ///< with bindings of a shader: variables of blocks of values, by their place
  std::map<spv::BuiltIn, Id> inputs;             ///< the built-in ones that were asked for
  std::map<std::pair<Id, uint32_t>, Id> shared;  ///< arrays of a workgroup, by type and number in their entry
  Id raise = 0;                      ///< with device addresses: the function that fills the status block
  std::map<uint32_t, Id> constants;  ///< arrays by position in ir::Module::constants
  /// The variable of a built-in input.
  Id Input(spv::BuiltIn builtin, Id type, const char* name);
  bool IsMetal() const { return config.target.kind == target::Kind::Metal; }
  /// Whether the module may use device addresses.
  bool HasAddresses() const { return !IsMetal() && config.target.features.empty() && !config.keep_bindings; }
};

struct Entry {
  ModuleContext& context;
  FunctionBuilder& f;
  ScalarEmitter& scalars;
  const ir::Function& kernel;
  Addressing addressing;
  std::vector<ParamUse> uses;  ///< by parameter
  ShaderLayout layout{};       ///< with bindings of a shader
  bool serial = false;         ///< with bindings of a shader: the entry runs one iteration, the serial task
  bool narrow = false;  ///< without device addresses: extents, iterations and threads have 32 bits, and the
                        ///< device need have no integers of 64. The words are seen by halves
  uint32_t team = 0;    ///< so many invocations are a team: always, or where a launch says so
  bool always_team = false;
  std::set<Id> interface{};         ///< the variables of the module that it uses
  std::map<Id, uint32_t> shared{};  ///< arrays of a workgroup that it has, by type

  /// Bits of extents, iterations and threads.
  uint32_t Wide() const { return narrow ? 32 : 64; }
  /// Bits in which the position of an element is counted: near memory has less than 2^32 elements.
  uint32_t IndexWidth() const { return ReachesByDescriptor() ? 32 : 64; }
  /// Vulkan: whether buffers are reached by descriptors, which reach less than 2^32 bytes.
  bool ReachesByDescriptor() const {
    return addressing == Addressing::Near || addressing == Addressing::Alone;
  }
  /// Whether descriptors are those of the shader that the kernel was read from.
  bool KeepsBindings() const { return context.config.keep_bindings; }
  ir::Type TypeOfParameter(uint32_t param) const { return kernel.TypeOf(kernel.Params()[param]); }
  std::string_view NameOf(uint32_t param) const {
    return context.ir.Text(kernel[kernel.Params()[param]].name);
  }
  /// What the shader has for a parameter that keeps its binding; null: nothing.
  const ir::ShaderBinding* ShaderBindingOf(uint32_t param) const;
  /// The image that a parameter is; null where it is none.
  const ir::ShaderImage* ImageOf(uint32_t param) const;
  /// Whether descriptors reach the buffer `param`.
  bool IsBound(uint32_t param) const {
    return addressing != Addressing::Far &&
           (addressing != Addressing::Near || kernel.params[param].role != ir::ParamRole::Scratch);
  }
  /// Whether it is an array in a uniform block that keeps its binding.
  bool IsUniform(uint32_t param) const;
  /// The storage by which elements of a scalar type are read and written.
  Storage StorageFor(uint32_t param, ir::Scalar scalar) const;

  /// An array that the invocations of a workgroup share; another one at each call.
  Id Shared(Id element, uint32_t length);
  /// Adds a variable of the module to the entry's interface.
  void Uses(Id variable) { interface.insert(variable); }
};

}  // namespace adc::codegen::spirv
