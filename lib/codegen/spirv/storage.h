#pragma once
// How elements lie in memory as SPIR-V sees them, and by what kind of access each operation reaches them.

#include <set>
#include <vector>

#include "codegen/spirv/module_builder.h"
#include "ir/function.h"
#include "target/target.h"

namespace adc::codegen::spirv {

/// How buffers are reached.
enum class Addressing : uint8_t {
  Far,    ///< Vulkan: device addresses among the words
  Near,   ///< Vulkan: descriptors; a binding without one is reached by its device address
  Alone,  ///< Vulkan: descriptors alone, words, heap and status among them
  Metal,  ///< buffer bindings alone
};
/// Whether some memory is reached through device addresses.
inline bool HasAddresses(Addressing addressing) {
  return addressing == Addressing::Far || addressing == Addressing::Near;
}

/// Element types of memory. Words are unsigned; i1 is a byte.
enum class Storage : uint8_t { U8, U16, U32, U64, F16, F32, F64 };

/// The scalar that stands for a storage in metadata.
ir::Scalar ScalarOf(Storage storage);
inline uint32_t BytesOf(Storage storage) {
  return ir::ByteSize(ScalarOf(storage));
}
inline bool IsFloat(Storage storage) {
  return ir::IsFloat(ScalarOf(storage));
}
Storage NaturalStorage(ir::Scalar scalar);
/// Unsigned words of the same width.
Storage WordStorage(ir::Scalar scalar);
/// The SPIR-V type; asks for the capabilities of having it in buffers.
Id TypeOf(ModuleBuilder& module, Storage storage);

/// How an atomic update is done.
enum class AtomicWay : uint8_t {
  Word,      ///< an instruction on the element as a word of its width
  FloatAdd,  ///< a float addition in memory
  Loop,      ///< exchanges of the element as a word until none comes in between
  SubWord,   ///< compare-and-exchange on the 32-bit word around a narrow element
  Count,     ///< a count of a size kernel: the halves of a 64-bit element, each as a word
};

/// The abilities of the device for atomics beyond words.
struct AtomicAbility {
  bool float_add = false;  ///< f32 and f64 additions in memory
};
AtomicAbility AbilityOf(const target::Target& target);

/// Requires an operation that updates atomically. `is_count`: an element of the counts of a size kernel.
AtomicWay WayOf(ir::Op op, ir::Scalar scalar, bool is_count, const AtomicAbility& ability);

/// True for the parameter that takes the counts of a size kernel: only added to and raised, results unused.
bool IsCounts(const ir::Function& kernel, uint32_t param);

/// The accesses of a task to one parameter.
struct ParamUse {
  bool written = false;
  bool by_address =
      false;  ///< is reached by device addresses too (without them: by the words around its elements)
  std::set<Storage> views;     ///< element types that it is seen as
  std::set<Storage> as_words;  ///< natural storages that are read and written as words
};

/// The uses of every parameter in the instructions [first, last) of the body.
std::vector<ParamUse> UsesOf(const ir::Module& module, const ir::Function& kernel, uint32_t first,
                             uint32_t last, const AtomicAbility& ability);

}  // namespace adc::codegen::spirv
