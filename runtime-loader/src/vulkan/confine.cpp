// Robust buffer access keeps accesses of descriptors in bounds. Everything else that a module could reach
// memory through is refused here, by one look at each instruction, in the order of the file:
//
//   pointers   come from variables and access chains alone, and go nowhere but into loads, stores, atomic
//              updates and access chains: none is converted, chosen, passed on or stored
//   variables  lie in storage buffers at a binding of set 0, or belong to the thread; the only input is
//              the number of the thread
//   chains     lead from a variable, over the one runtime array of a storage buffer, or into an array of the
//              thread, by one index: an integer, which gets a bound (clamp.h) unless it is a constant in
//              range. A chain reads an index with a sign, also if its type has none, so that a constant whose
//              highest bit is set is none
//   calls      go to functions further up, so that there is no recursion, and their size when all are
//              inlined, code and arrays, is limited
//   entries    have the block that the metadata states, once, and reach, through all that they call, only
//              variables of their interface, each at a binding of theirs; memory that the metadata calls read
//              is not written
//
// An id is defined once, above its use where a rule above looks at it. No rule here checks that types agree
// and that control flow is structured: the check that the caller may give (adrt_vk_desc::check_spirv) is for
// that.

#include "vulkan/confine.h"

#include "core/code.h"
#include "core/errors.h"
#include "vulkan/clamp.h"
#include "vulkan/spirv_op.h"

namespace adrt::vulkan {
namespace {

constexpr uint64_t kMostInlined = uint64_t{1} << 24;  // words of code that the entries come to
constexpr uint64_t kMostLocal = 64u << 10;            // bytes of arrays that one entry comes to
constexpr uint64_t kMostPrivate = 1u << 20;           // bytes of the arrays of a module
constexpr uint64_t kVisitsPerWord = 64;               // of what is looked for in a list
constexpr uint32_t kInput = 1, kPrivate = 6, kFunction = 7, kStorageBuffer = 12;
constexpr uint32_t kGlobalInvocationId = 28;

/// Where an instruction has its result, and whether all its other words name values.
enum Form : uint8_t {
  kRefused,
  kPlain,   // no result
  kResult,  // a result without a type
  kTyped,   // type and result
  kValues,  // type and result, and the rest are values that are no pointers
};

/// The forms of which the compiler's modules are made.
Form FormOf(uint32_t op) {
  struct Range {
    uint16_t first, last;
    Form form;
  };
  static constexpr Range kRanges[] = {
      {1, 1, kTyped},       // OpUndef
      {2, 3, kPlain},       // OpSourceContinued, OpSource
      {5, 6, kPlain},       // names
      {7, 7, kResult},      // OpString
      {8, 8, kPlain},       // OpLine
      {10, 10, kPlain},     // OpExtension
      {11, 11, kResult},    // OpExtInstImport
      {12, 12, kTyped},     // OpExtInst
      {14, 17, kPlain},     // memory model, entries, modes, capabilities
      {19, 23, kResult},    // void, bool, int, float, vector
      {28, 30, kResult},    // array, runtime array, struct
      {32, 33, kResult},    // pointer, function
      {41, 44, kTyped},     // constants
      {46, 46, kTyped},     // OpConstantNull
      {49, 49, kTyped},     // OpSpecConstantFalse
      {54, 55, kTyped},     // OpFunction, OpFunctionParameter
      {56, 56, kPlain},     // OpFunctionEnd
      {57, 57, kValues},    // OpFunctionCall
      {59, 59, kTyped},     // OpVariable
      {61, 61, kTyped},     // OpLoad
      {62, 62, kPlain},     // OpStore
      {65, 65, kTyped},     // OpAccessChain
      {71, 72, kPlain},     // decorations
      {80, 80, kValues},    // OpCompositeConstruct
      {81, 81, kTyped},     // OpCompositeExtract
      {109, 115, kValues},  // conversions of numbers
      {124, 124, kValues},  // OpBitcast
      {126, 141, kValues},  // arithmetic
      {149, 152, kValues},  // with carries
      {156, 157, kValues},  // NaN, infinity
      {164, 191, kValues},  // logic, OpSelect, comparisons
      {194, 205, kValues},  // bits
      {227, 227, kTyped},   // OpAtomicLoad
      {229, 230, kTyped},   // exchanges
      {234, 242, kTyped},   // atomic updates
      {245, 245, kValues},  // OpPhi
      {246, 247, kPlain},   // merges
      {248, 248, kResult},  // OpLabel
      {249, 250, kPlain},   // branches
      {253, 255, kPlain},   // returns, OpUnreachable
      {317, 317, kPlain},   // OpNoLine
      {330, 330, kPlain},   // OpModuleProcessed: the compiler's note
      {333, 333, kValues},  // OpGroupNonUniformElect
      {338, 339, kValues},  // first one's value, ballot
      {342, 342, kTyped},   // OpGroupNonUniformBallotBitCount
      {349, 364, kTyped},   // reductions
      {6035, 6035, kTyped},
  };
  for (const Range& range : kRanges) {
    if (op >= range.first && op <= range.last) return range.form;
  }
  return kRefused;
}

/// The facts that are known of an id.
enum class Is : uint8_t {
  kNothing,  // not defined yet
  kOther,
  kGlsl,
  kVoid,
  kScalar,        // size: bytes, of: 1 where it is an integer
  kVector,        // of: scalar, size: components
  kArray,         // of: scalar, size: elements
  kRuntimeArray,  // of: scalar
  kBlock,         // a struct that holds one of: runtime array
  kOtherType,
  kPointer,  // a type; of: pointee, memory
  kInteger,  // a constant without a sign bit, size: its value
  kCallee,   // a function
  kVariable,
  kElement,  // a pointer made by a chain; of: its variable
};

struct Fact {
  Is is = Is::kNothing;
  uint8_t memory = 0;
  bool is_pointer = false;  ///< of a value
  bool is_value = false;    ///< is used as a value other than a pointer, maybe above its definition
  bool written = false;     ///< of a variable
  uint32_t of = 0;
  uint32_t type = 0;  ///< of a value
  uint64_t size = 0;
  uint32_t binding = UINT32_MAX;  ///< decorations may come before the id
  uint32_t set = UINT32_MAX;
  uint32_t built_in = UINT32_MAX;
  uint32_t stamp = 0;  ///< the entry that has it in its interface, or that reached it, from 1 on
};

struct FunctionFact {
  uint64_t inlined = 0, local_bytes = 0;
  uint32_t reached = 0;                    ///< by which entry, from 1 on
  uint32_t first_use = 0, last_use = 0;    ///< range in uses_
  uint32_t first_call = 0, last_call = 0;  ///< range in calls_
};

struct ModuleEntry {
  uint32_t at = 0;  ///< word of its OpEntryPoint
  uint32_t function = 0;
  uint32_t block[3] = {};
  bool has_block = false;
  const artifact::EntryMeta* meta = nullptr;
  const artifact::KernelMeta* kernel = nullptr;
};

class Confinement {
 public:
  Confinement(const adrt_module& module, std::span<const uint32_t> words, adrt_error* error)
      : module_(module),
        words_(words),
        error_(error),
        facts_(&module.host.allocator),
        functions_(&module.host.allocator),
        uses_(&module.host.allocator),
        calls_(&module.host.allocator),
        entries_(&module.host.allocator),
        indices_(&module.host.allocator) {}

  std::span<const Index> Indices() const { return {indices_.data(), indices_.size()}; }
  KnownIds KnownNames() const { return known_; }

  bool Run() {
    // Form and lengths of instructions were checked when the bundle was opened.
    if (words_.size() < kHeader) return Bad("is no SPIR-V module");
    for (EntryWalk walk; NextEntry(module_, &walk);) {
      if (!walk.meta->far_symbol.empty()) return Bad("has far entries, which use device addresses");
    }
    uint32_t bound = words_[3];
    visits_ = kVisitsPerWord * words_.size();
    if (words_[1] < 0x10400)
      return Bad("is older than SPIR-V 1.4, whose entries do not list what they reach");
    if (bound > words_.size()) return Bad("states more ids than it can have");
    if (!facts_.TryResize(bound)) return OutOfMemory(error_) == ADRT_OK;
    for (at_ = kHeader; at_ < words_.size(); at_ += length_) {
      length_ = words_[at_] >> 16;
      if (length_ == 0 || length_ > words_.size() - at_) return Bad("has an instruction without an end");
      if (!Instruction(words_[at_] & 0xFFFF)) return false;
    }
    return CheckEntries();
  }

 private:
  uint32_t Word(uint32_t number) const { return words_[at_ + number]; }

  template <class... Parts>
  bool Bad(const Parts&... parts) {
    return Refuse(error_, ADRT_ERROR_UNTRUSTED, "this bundle's code is unverified, and its module ", parts...,
                  " (word ", uint64_t{at_}, "): compile it for 'vulkan:1.2-near', or trust the bundle");
  }

  bool Spend(uint64_t visits) {
    if (visits > visits_) return Bad("has too many entries that share too much");
    visits_ -= visits;
    return true;
  }

  bool Short(uint32_t words) { return length_ >= words || Bad("has an instruction that is too short"); }

  Fact* Known(uint32_t id) {
    if (id < facts_.size() && facts_[id].is != Is::kNothing) return &facts_[id];
    Bad("uses an id above its definition");
    return nullptr;
  }

  /// The fact of a new id.
  Fact* Define(uint32_t id, Is is) {
    if (id == 0 || id >= facts_.size() || facts_[id].is != Is::kNothing) {
      Bad("defines an id twice, or one beyond its bound");
      return nullptr;
    }
    facts_[id].is = is;
    return &facts_[id];
  }

  /// The fact of a new id that is a pointer.
  Fact* DefinePointer(uint32_t id, Is is) {
    Fact* fact = Define(id, is);
    if (fact && fact->is_value) {
      Bad("passes a pointer on");
      return nullptr;
    }
    if (fact) fact->is_pointer = true;
    return fact;
  }

  bool Instruction(uint32_t op) {
    Form form = op == kOpAtomicFAdd ? kTyped : FormOf(op);
    switch (form) {
      case kRefused:
        return Bad("has instruction ", op, ", which confined code must not use");
      case kPlain:
        return Plain(op);
      case kResult:
        return Short(2) && Type(op);
      case kTyped:
      case kValues:
        break;
    }
    if (!Short(3)) return false;
    Fact* type = Known(Word(1));
    if (!type) return false;
    bool gives_pointer = type->is == Is::kPointer;
    if (gives_pointer != (op == kOpVariable || op == kOpAccessChain)) {
      return Bad("makes a pointer in an unknown way");
    }
    if (form == kValues && !Values(op == kOpFunctionCall ? 4 : 3)) return false;
    if (!Typed(op, *type)) return false;
    facts_[Word(2)].type = Word(1);
    return true;
  }

  bool Typed(uint32_t op, const Fact& type) {
    switch (op) {
      case kOpFunctionBegin:
        return BeginFunction();
      case kOpFunctionCall:
        return Call();
      case kOpVariable:
        return Variable(type);
      case kOpAccessChain:
        return Chain();
      case kOpLoad:
        return Short(4) && Access(Word(3), false) && Define(Word(2), Is::kOther) != nullptr;
      case kOpExtInst:
        return Extended();
      case kOpCompositeExtract:
        return Short(5) && Value(Word(3)) && Define(Word(2), Is::kOther) != nullptr;
      case kOpConstant:
        return Constant(type);
      default:
        break;
    }
    bool atomic = op >= kOpAtomicLoad && op <= kOpAtomicXor;
    if (atomic || op == kOpAtomicFAdd) {
      if (!Short(6) || !Access(Word(3), op != kOpAtomicLoad) || !Values(4)) return false;
    }
    return Define(Word(2), Is::kOther) != nullptr;
  }

  /// That no word from `first` on is a pointer.
  bool Values(uint32_t first) {
    for (uint32_t number = first; number < length_; ++number) {
      if (!Value(Word(number))) return false;
    }
    return true;
  }
  bool Value(uint32_t id) {
    if (id >= facts_.size()) return Bad("uses an id beyond its bound");
    if (facts_[id].is_pointer) return Bad("passes a pointer on");
    facts_[id].is_value = true;
    return true;
  }

  bool Plain(uint32_t op) {
    switch (op) {
      case kOpExtension:
        return Extension();
      case kOpMemoryModel:
        return Short(3) && (Word(1) == 0 || Bad("uses device addresses"));
      case kOpCapability:
        return Short(2) && Capability(Word(1));
      case kOpEntryPoint:
        return EntryPoint();
      case kOpExecutionMode:
        return Mode();
      case kOpFunctionEnd:
        return EndFunction();
      case kOpStore:
        return Short(3) && Access(Word(1), true) && Value(Word(2));
      case kOpReturnValue:
        return Short(2) && Values(1);
      case kOpDecorate:
        return Decorate();
      case kOpMemberDecorate:
        return DecorateMember();
      default:
        return true;
    }
  }

  bool Extension() {
    // A literal text: words that end in zero bytes, little-endian.
    std::string_view text = Text(1);
    for (std::string_view known : {"SPV_EXT_shader_atomic_float_add", "SPV_EXT_shader_atomic_float_min_max",
                                   "SPV_KHR_storage_buffer_storage_class"}) {
      if (text == known) return true;
    }
    return Bad("uses an extension that confined code must not use");
  }

  /// The text that begins at a word of the instruction; without its end where it has none.
  std::string_view Text(uint32_t number) const {
    if (number >= length_) return {};
    const char* text = reinterpret_cast<const char*>(&words_[at_ + number]);
    size_t most = size_t{length_ - number} * sizeof(uint32_t), size = 0;
    while (size < most && text[size] != 0) ++size;
    return {text, size};
  }

  bool Capability(uint32_t number) {
    // The capabilities that opening lets through, less those that make pointers:
    // VariablePointersStorageBuffer, device addresses.
    constexpr uint32_t kVariablePointers = 4441, kAddresses = 5347;
    if (number == kAddresses) return Bad("uses device addresses (PhysicalStorageBufferAddresses)");
    return number != kVariablePointers || Bad("uses variable pointers (VariablePointersStorageBuffer)");
  }

  bool EntryPoint() {
    if (!Short(4)) return false;
    ModuleEntry entry;
    entry.at = static_cast<uint32_t>(at_);
    entry.function = Word(2);
    std::string_view name = Text(3);
    // Opening has refused metadata with two entries of one symbol.
    for (EntryWalk walk; NextEntry(module_, &walk);) {
      if (!Spend(1)) return false;
      if (walk.meta->symbol != name) continue;
      entry.meta = walk.meta;
      entry.kernel = walk.kernel_meta;
      break;
    }
    return entries_.TryPush(entry) || OutOfMemory(error_) == ADRT_OK;
  }

  bool Mode() {
    constexpr uint32_t kLocalSize = 17, kFirstFloat = 4459, kLastFloat = 4463;
    if (!Short(3)) return false;
    if (Word(2) >= kFirstFloat && Word(2) <= kLastFloat) return true;
    if (Word(2) != kLocalSize || length_ != 6) return Bad("has an unknown execution mode");
    if (!Spend(entries_.size())) return false;
    bool known = false;
    for (ModuleEntry& entry : entries_) {
      if (entry.function != Word(1)) continue;
      if (std::exchange(entry.has_block, true)) return Bad("states the block of an entry twice");
      for (uint32_t axis = 0; axis < 3; ++axis) entry.block[axis] = Word(3 + axis);
      known = true;
    }
    return known || Bad("states the block of what is no entry above");
  }

  bool Decorate() {
    constexpr uint32_t kBuiltIn = 11, kBinding = 33, kSet = 34;
    constexpr uint32_t kKnown[] = {1, 2, 6, kBuiltIn, 19, 20, 24, kBinding, kSet, 35, 42};
    if (!Short(3) || Word(1) >= facts_.size()) return Bad("decorates an id beyond its bound");
    bool known = false;
    for (uint32_t decoration : kKnown) known = known || decoration == Word(2);
    if (!known) return Bad("has decoration ", Word(2), ", which confined code must not use");
    Fact& fact = facts_[Word(1)];
    if (Word(2) != kBinding && Word(2) != kSet && Word(2) != kBuiltIn) return true;
    if (!Short(4)) return false;
    uint32_t& place = Word(2) == kBinding ? fact.binding : Word(2) == kSet ? fact.set : fact.built_in;
    if (place != UINT32_MAX || fact.is != Is::kNothing) return Bad("decorates an id twice, or late");
    place = Word(3);
    // A block size (WorkgroupSize) would replace that of the entry.
    return Word(2) != kBuiltIn || place == kGlobalInvocationId || Bad("has an unknown built-in");
  }

  /// Of the one member of a block.
  bool DecorateMember() {
    constexpr uint32_t kNonWritable = 24, kOffset = 35;
    bool known = length_ == 4 && Word(3) == kNonWritable;
    known = known || (length_ == 5 && Word(3) == kOffset && Word(4) == 0);
    return known || Bad("has a decoration of a member that confined code must not use");
  }

  bool Type(uint32_t op) {
    if (op == kOpExtInstImport) {
      if (Text(2) != "GLSL.std.450") return Bad("imports what is not GLSL.std.450");
      known_.glsl = Word(1);
      return Define(Word(1), Is::kGlsl) != nullptr;
    }
    Fact made;
    switch (op) {
      case 19:
        made.is = Is::kVoid;
        break;
      case kOpTypeBool:
        made = {.is = Is::kScalar, .size = 4};
        break;
      case kOpTypeInt:
      case kOpTypeFloat:
        if (!Short(3)) return false;
        if (Word(2) != 8 && Word(2) != 16 && Word(2) != 32 && Word(2) != 64)
          return Bad("has a number of an unsupported width");
        made = {.is = Is::kScalar, .of = op == kOpTypeInt, .size = Word(2) / 8};
        if (op == kOpTypeInt && !Short(4)) return false;
        if (op == kOpTypeInt && Word(2) == 32 && Word(3) == 0) known_.word = Word(1);
        break;
      case kOpTypeVector:
      case kOpTypeArray:
      case kOpTypeRuntimeArray: {
        if (!Short(op == kOpTypeRuntimeArray ? 3 : 4)) return false;
        const Fact* element = Known(Word(2));
        if (!element) return false;
        if (element->is != Is::kScalar) return Bad("has an array of what is no number");
        made = {.is = op == kOpTypeVector  ? Is::kVector
                      : op == kOpTypeArray ? Is::kArray
                                           : Is::kRuntimeArray,
                .of = Word(2)};
        if (op == kOpTypeVector) made.size = Word(3);
        if (op == kOpTypeVector && (made.size < 2 || made.size > 4)) return Bad("has an unsupported vector");
        if (op != kOpTypeArray) break;
        const Fact* count = Known(Word(3));
        if (!count) return false;
        if (count->is != Is::kInteger || count->size == 0 || count->size > kMostPrivate) {
          return Bad("has an array of an unsupported length");
        }
        made.size = count->size;
        break;
      }
      case kOpTypeStruct: {
        made.is = Is::kOtherType;
        for (uint32_t number = 2; number < length_; ++number) {
          const Fact* member = Known(Word(number));
          if (!member) return false;
          if (member->is == Is::kRuntimeArray && length_ == 3) made = {.is = Is::kBlock, .of = Word(number)};
          if (member->is != Is::kScalar && made.is != Is::kBlock) return Bad("has an unsupported struct");
        }
        break;
      }
      case kOpTypePointer: {
        if (!Short(4)) return false;
        const Fact* pointee = Known(Word(3));
        if (!pointee) return false;
        if (pointee->is == Is::kPointer) return Bad("has pointers to pointers");
        uint32_t memory = Word(2);
        if (memory != kInput && memory != kPrivate && memory != kFunction && memory != kStorageBuffer) {
          return Bad("has memory of class ", memory, ", which confined code must not use");
        }
        made = {.is = Is::kPointer, .memory = static_cast<uint8_t>(memory), .of = Word(3)};
        break;
      }
      case kOpTypeFunction:
        made.is = Is::kOtherType;
        for (uint32_t number = 2; number < length_; ++number) {
          const Fact* part = Known(Word(number));
          if (!part) return false;
          if (part->is == Is::kPointer) return Bad("has a function of pointers");
        }
        break;
      default:
        made.is = Is::kOther;
    }
    Fact* fact = Define(Word(1), made.is);
    if (!fact) return false;
    fact->memory = made.memory;
    fact->of = made.of;
    fact->size = made.size;
    return true;
  }

  static bool IsInteger(const Fact& type) { return type.is == Is::kScalar && type.of != 0; }

  bool Constant(const Fact& type) {
    if (type.is != Is::kScalar) return Bad("has a constant that is no number");
    bool wide = type.size == 8;
    if (length_ != (wide ? 5u : 4u)) return Bad("has a constant that is longer or shorter than its type");
    uint64_t value = Word(3) | (wide ? uint64_t{Word(4)} << 32 : 0);
    bool is_positive = IsInteger(type) && value >> (8 * type.size - 1) == 0;
    Fact* fact = Define(Word(2), is_positive ? Is::kInteger : Is::kOther);
    if (fact) fact->size = value;
    return fact != nullptr;
  }

  bool Variable(const Fact& type) {
    if (!Short(4)) return false;
    if (Word(3) != type.memory) return Bad("has a variable that lies elsewhere than its type says");
    const Fact& pointee = facts_[type.of];
    uint32_t memory = type.memory;
    if ((memory == kFunction) != in_function_) return Bad("has a variable in a wrong place");
    if (length_ > 4 && memory != kPrivate) return Bad("has a variable with a content");
    if (length_ > 4 && !Known(Word(4))) return false;
    Fact* fact = DefinePointer(Word(2), Is::kVariable);
    if (!fact) return false;
    fact->memory = type.memory;
    fact->of = type.of;
    if (memory == kStorageBuffer) {
      if (pointee.is != Is::kBlock) return Bad("has a buffer that is no array");
      return (fact->set == 0 && fact->binding != UINT32_MAX) || Bad("has a buffer outside of set 0");
    }
    if (memory == kInput) {
      return (pointee.is == Is::kVector && pointee.size == 3 && fact->built_in == kGlobalInvocationId) ||
             Bad("has an unknown input");
    }
    if (pointee.is != Is::kArray && pointee.is != Is::kScalar) return Bad("has an unsupported variable");
    uint64_t element = pointee.is == Is::kArray ? facts_[pointee.of].size : pointee.size;
    uint64_t bytes = element * (pointee.is == Is::kArray ? pointee.size : 1);
    uint64_t& sum = memory == kPrivate ? private_bytes_ : current_.local_bytes;
    sum += bytes;
    return sum <= (memory == kPrivate ? kMostPrivate : kMostLocal) || Bad("has too large arrays");
  }

  bool Chain() {
    if (!Short(5)) return false;
    const Fact* base = Known(Word(3));
    if (!base) return false;
    if (base->is != Is::kVariable) return Bad("has an access that does not begin at a variable");
    const Fact& pointee = facts_[base->of];
    if (base->memory == kStorageBuffer) {
      const Fact* member = Known(Word(4));
      if (!member) return false;
      if (length_ != 6 || member->is != Is::kInteger || member->size != 0)
        return Bad("has an unsupported access");
      if (!Values(5) || !TakeIndex(5, 0, Word(3))) return false;
    } else {
      if (pointee.is != Is::kArray && pointee.is != Is::kVector) return Bad("has an access of no array");
      if (length_ != 5) return Bad("has an unsupported access");
      if (!Values(4) || !TakeIndex(4, pointee.size, 0)) return false;
    }
    if (!Touch(Word(3))) return false;
    Fact* fact = DefinePointer(Word(2), Is::kElement);
    if (!fact) return false;
    fact->of = Word(3);
    return true;
  }

  /// The index at word `number` of a chain into an array of `length` elements, or into the buffer of a
  /// variable.
  bool TakeIndex(uint32_t number, uint64_t length, uint32_t buffer) {
    const Fact* index = Known(Word(number));
    if (!index) return false;
    const Fact& type = facts_[index->type];
    if (!IsInteger(type)) return Bad("has an index that is no integer");
    if (index->is == Is::kInteger && index->size < length) return true;
    Index bounded;
    bounded.chain = at_;
    bounded.number = number;
    bounded.type = index->type;
    bounded.bytes = static_cast<uint32_t>(type.size);
    bounded.last = buffer != 0 ? 0 : static_cast<uint32_t>(length - 1);
    bounded.buffer = buffer;
    return indices_.TryPush(bounded) || OutOfMemory(error_) == ADRT_OK;
  }

  /// A load, store or atomic update through `pointer`.
  bool Access(uint32_t pointer, bool writes) {
    Fact* fact = Known(pointer);
    if (!fact) return false;
    uint32_t root = fact->is == Is::kElement ? fact->of : pointer;
    Fact& variable = facts_[root];
    bool whole = fact->is == Is::kVariable && (fact->memory == kFunction || fact->memory == kPrivate);
    if (fact->is != Is::kElement && !whole) return Bad("has an access that is not to an element");
    if (writes && variable.memory == kInput) return Bad("writes an input");
    variable.written = variable.written || writes;
    return Touch(root);
  }

  /// The present function uses a variable.
  bool Touch(uint32_t variable) {
    if (!in_function_) return Bad("has an access outside of functions");
    if (facts_[variable].memory == kFunction) return true;
    return uses_.TryPush(variable) || OutOfMemory(error_) == ADRT_OK;
  }

  bool Extended() {
    // Matrices, and instructions that give a second result through a pointer or read inputs of other
    // shaders.
    constexpr uint32_t kRefusedOnes[] = {0, 33, 34, 35, 51, 76, 77, 78}, kLast = 81;
    if (!Short(6)) return false;
    const Fact* set = Known(Word(3));
    if (!set) return false;
    bool known = set->is == Is::kGlsl && Word(4) <= kLast;
    for (uint32_t refused : kRefusedOnes) known = known && Word(4) != refused;
    if (!known) return Bad("has function ", Word(4), " of GLSL, which confined code must not use");
    if (!Values(5)) return false;
    return Define(Word(2), Is::kOther) != nullptr;
  }

  bool BeginFunction() {
    if (!Short(5)) return false;
    if (in_function_) return Bad("has a function in a function");
    in_function_ = true;
    current_ = {};
    current_.first_use = static_cast<uint32_t>(uses_.size());
    current_.first_call = static_cast<uint32_t>(calls_.size());
    begin_ = at_;
    Fact* fact = Define(Word(2), Is::kOther);  // a call of it is one from its own body
    current_id_ = Word(2);
    return fact != nullptr;
  }

  bool EndFunction() {
    if (!in_function_) return Bad("ends a function that did not begin");
    in_function_ = false;
    current_.inlined += at_ + length_ - begin_;
    current_.last_use = static_cast<uint32_t>(uses_.size());
    current_.last_call = static_cast<uint32_t>(calls_.size());
    facts_[current_id_].is = Is::kCallee;
    facts_[current_id_].of = static_cast<uint32_t>(functions_.size());
    return functions_.TryPush(current_) || OutOfMemory(error_) == ADRT_OK;
  }

  bool Call() {
    if (!Short(4)) return false;
    const Fact* callee = Known(Word(3));
    if (!callee) return false;
    if (callee->is != Is::kCallee) return Bad("calls what is no function above");
    if (!in_function_) return Bad("has a call outside of functions");
    const FunctionFact& called = functions_[callee->of];
    current_.inlined += called.inlined;
    current_.local_bytes += called.local_bytes;
    if (current_.inlined > kMostInlined) return Bad("calls functions too often");
    if (current_.local_bytes > kMostLocal) return Bad("has too large arrays");
    if (!calls_.TryPush(callee->of)) return OutOfMemory(error_) == ADRT_OK;
    return Define(Word(2), Is::kOther) != nullptr;
  }

  bool CheckEntries() {
    if (in_function_) return Bad("has a function without an end");
    uint64_t inlined = 0;
    for (uint32_t number = 0; number < entries_.size(); ++number) {
      const ModuleEntry& entry = entries_[number];
      at_ = entry.at;
      length_ = words_[at_] >> 16;
      const Fact* function = Known(entry.function);
      if (!function) return false;
      if (function->is != Is::kCallee) return Bad("has an entry that is no function");
      inlined += functions_[function->of].inlined;
      if (inlined > kMostInlined) return Bad("calls functions too often");
      if (!entry.meta) continue;  // nothing is made of it
      const uint32_t block[3] = {BlockSize(*entry.meta), 1, 1};
      for (uint32_t axis = 0; axis < 3; ++axis) {
        if (entry.block[axis] != block[axis])
          return Bad("has a block of another size than the metadata says");
      }
      if (!CheckInterface(entry, number + 1) || !CheckReached(function->of, number + 1)) return false;
    }
    return true;
  }

  /// The variables that the entry lists: each buffer at a binding of the metadata's, and written only where
  /// that may be.
  bool CheckInterface(const ModuleEntry& entry, uint32_t stamp) {
    uint32_t first = 3 + static_cast<uint32_t>(Text(3).size() / sizeof(uint32_t)) + 1;
    for (uint32_t number = first; number < length_; ++number) {
      Fact* variable = Known(Word(number));
      if (!variable) return false;
      if (variable->is != Is::kVariable) return Bad("has an interface of what is no variable");
      variable->stamp = stamp;
      if (variable->memory != kStorageBuffer) continue;
      if (!Spend(entry.meta->bindings.size())) return false;
      const artifact::BindingMeta* binding = nullptr;
      for (const artifact::BindingMeta& stated : entry.meta->bindings) {
        if (stated.number == variable->binding) binding = &stated;
      }
      if (!binding) return Bad("has binding ", variable->binding, ", which the metadata does not state");
      bool may_write = binding->of != artifact::BindingOf::kWords;
      if (binding->of == artifact::BindingOf::kParam) {
        may_write = entry.kernel->params[binding->param].access != artifact::Access::kRead;
      }
      if (variable->written && !may_write) {
        return Bad("writes binding ", variable->binding, ", which is only read");
      }
    }
    return true;
  }

  /// Checks that every variable which the function and its callees use is in the interface. A list of
  /// functions further up, each once.
  bool CheckReached(uint32_t function, uint32_t stamp) {
    Vector<uint32_t> open(&module_.host.allocator);
    if (!open.TryPush(function)) return OutOfMemory(error_) == ADRT_OK;
    while (!open.empty()) {
      FunctionFact& fact = functions_[open[open.size() - 1]];
      open.pop_back();
      if (fact.reached == stamp) continue;
      fact.reached = stamp;
      uint64_t visits = uint64_t{1} + (fact.last_use - fact.first_use) + (fact.last_call - fact.first_call);
      if (!Spend(visits)) return false;
      for (uint32_t use = fact.first_use; use < fact.last_use; ++use) {
        if (facts_[uses_[use]].stamp != stamp) return Bad("reaches what its interface does not list");
      }
      for (uint32_t call = fact.first_call; call < fact.last_call; ++call) {
        if (!open.TryPush(calls_[call])) return OutOfMemory(error_) == ADRT_OK;
      }
    }
    return true;
  }

  const adrt_module& module_;
  std::span<const uint32_t> words_;
  adrt_error* error_;
  size_t at_ = 0;
  uint32_t length_ = 0;
  Vector<Fact> facts_;  ///< by id
  Vector<FunctionFact> functions_;
  Vector<uint32_t> uses_, calls_;
  Vector<ModuleEntry> entries_;
  Vector<Index> indices_;
  KnownIds known_;
  FunctionFact current_;
  uint32_t current_id_ = 0;
  size_t begin_ = 0;
  bool in_function_ = false;
  uint64_t private_bytes_ = 0, visits_ = 0;
};

}  // namespace

bool Confine(const adrt_module& module, Vector<uint32_t>* words, adrt_error* error) {
  Confinement check(module, {words->data(), words->size()}, error);
  Vector<uint32_t> bounded(&module.host.allocator);
  if (!check.Run()) return false;
  if (!BoundIndices({words->data(), words->size()}, check.Indices(), check.KnownNames(), &bounded))
    return OutOfMemory(error) == ADRT_OK;
  *words = std::move(bounded);
  return true;
}

}  // namespace adrt::vulkan
