#pragma once
// One entry point of a SPIR-V module as one kernel.
//
// Locals become arrays of the IR (`alloca`), which mem2reg takes apart; functions are inlined; control flow
// nests already and is followed block by block (control.cpp says how). Everything refused is thrown as
// Refused.

#include <functional>
#include <memory>

#include "diag/errors/shader.h"
#include "frontend/spirv/images.h"
#include "frontend/spirv/resources.h"
#include "frontend/spirv/subgroups.h"
#include "ir/builder.h"

namespace adc::frontend::spirv {

struct Row;

/// How deep regions may nest.
inline constexpr uint32_t kDeepestRegion = 200;

/// An integer that is partly known: constant + dynamic, of i32.
struct Index {
  int64_t constant = 0;
  ir::Value dynamic;  ///< invalid: none
};

/// A value of SPIR-V by its leaves.
struct Value {
  std::vector<ir::Value> parts;
};

/// A variable of a function: an array of the IR per leaf of its type, arrays around it flattened into it.
struct Local {
  struct Leaf {
    ir::Value array;
    ir::Type element;
    ir::Value address;      ///< of a leaf that is a pointer to a buffer: the only one that is stored
    bool is_table = false;  ///< a constant of the module, number by number, takes the place of the array
  };
  Id type = 0;
  std::vector<Leaf> leaves;
};

struct Pointer {
  enum class Kind : uint8_t { None, Local, Memory, Builtin, Handle };
  Kind kind = Kind::None;
  Id pointee = 0;
  // Local: the leaf that the pointee begins at, and which element of it.
  Local* local = nullptr;
  uint32_t leaf = 0;
  Index element;
  // Local: inside a vector or matrix.
  std::optional<Index> column, component;
  // Memory.
  Resource* resource = nullptr;
  bool in_block = false;  ///< the pointee lies inside the block, in this member
  uint32_t member = 0;
  bool has_outer = false;  ///< the first index behind the member, where the member is an array
  Index outer;
  uint64_t offset = 0;  ///< bytes from the member (of a unit of elements: from the element) on
  std::vector<std::pair<ir::Value, uint32_t>> terms;  ///< and indices times bytes
  uint64_t member_offset = 0;
  uint32_t outer_stride = 0;
  bool row_major = false;
  uint32_t matrix_stride = 0;
  uint32_t component_stride = 0;  ///< of a vector; 0: its scalar's size
  std::optional<Index> part;      ///< the pointee is this component of a vector at this place
  Id vector = 0;                  ///< then: the type of the vector
  // Builtin.
  uint32_t builtin = 0;
  // Handle: of an image or a sampler.
  Id variable = 0;
  ir::Value texel;  ///< the coordinate of the texel that it points to; invalid: the image itself
};

struct LoweringConfig {
  uint64_t operation_limit = 500'000;
  ParameterRequest parameters;
  bool bindings_may_meet = false;  ///< two buffers at one binding are two
  /// Axes of the invocations that the kernel has; one that it does not have is dispatched with one workgroup.
  bool axes[3] = {true, true, true};
  /// The scans of HLSL leave the own value out, and glslang writes them as those that hold it.
  bool scans_exclude_own = false;
  /// How textures are read, by the name of their sampler; an empty name: of any.
  std::vector<std::pair<std::string, SamplerState>> samplers;
};

/// A specialisation constant of the module.
struct SpecConstant {
  Id id = 0;
  uint32_t number = 0;
  std::string name;
  bool given = false;   ///< its value is that of --spec
  bool frozen = false;  ///< its value decides about a type or the size of a workgroup
};

/// Whether operand 0 is a pointer to what the instruction writes.
bool Writes(const Instruction& inst);

class Lowering {
 public:
  Lowering(const Binary& binary, const Types& types, const std::vector<SpecConstant>& specs,
           ir::Module& module, const EntryPoint& entry, const LoweringConfig& config)
      : binary_(binary), types_(types), specs_(specs), module_(module), entry_(entry), config_(config) {}

  /// Adds the kernel, named `name`. Names of units that --diff could have meant go to `names`.
  void Run(const std::string& name, std::vector<std::string>* names);

 private:
  /// What branches may leave for.
  struct Scope {
    enum class Kind : uint8_t { Function, Loop, Switch } kind = Kind::Function;
    Id merge = 0, next = 0;          ///< of loops: where `continue` goes
    ir::Inst inst;                   ///< the IR's, around the function, the cases, the body of a loop
    bool is_left = false;            ///< by `exit`
    std::vector<ir::Value> results;  ///< Function: arrays of one, per leaf of what it returns
  };
  /// The variables of an image that was loaded, and of its sampler.
  struct Handle {
    Id image = 0, sampler = 0;
  };
  /// A function that is being inlined.
  struct Frame {
    const Function* function = nullptr;
    std::map<Id, Value> values;
    std::map<Id, ir::Block> defined_in;
    std::map<Id, Pointer> pointers;
    std::map<Id, Handle> handles;
    std::map<Id, std::unique_ptr<Local>> locals;
    std::map<Id, std::vector<ir::Value>> stored;  ///< arrays of one: phis, and values that leave their region
    std::set<Id> emitted;                         ///< blocks
    std::vector<Scope> scopes;
    Id open_header = 0;  ///< of the loop whose first block is to be emitted
  };

  // lowering.cpp
  void FindVariables(std::vector<Resource>& resources);
  void SeeUses(const Instruction& inst, std::set<Id>& used, std::vector<Id>& functions);
  std::optional<Resource> ResourceOf(Id variable);
  void CheckBindings(const std::vector<Resource>& resources) const;
  void AddParameters();
  void CheckOrder();
  ir::Inst MakeLoop();
  void EmitKernel();
  static void Require(bool good, const Instruction& inst, const char* what) {
    if (!good) Refuse(diag::E0852, inst.span, what);
  }
  ir::Value Constant(ir::Type type, uint64_t bits) { return b_->Bits(type, bits); }
  Value Get(Id id);
  ir::Value GetOne(Id id);
  Value ConstantValue(const Instruction& inst, uint32_t depth);
  Value SpecValue(const Instruction& inst);
  Value ComputedConstant(const Instruction& inst);
  uint64_t ConstantBits(const Instruction& inst) const;
  Value ZeroOf(Id type);
  void Set(const Instruction& inst, Value value);
  void SetOne(const Instruction& inst, ir::Value value) { Set(inst, Value{{value}}); }
  ir::Value Slot(ir::Type type, uint32_t count = 1);
  void StoreSlot(ir::Value slot, ir::Value value);
  ir::Value LoadSlot(ir::Value slot);
  bool Visible(ir::Block block) const;
  Frame& frame() { return *frames_.back(); }
  ir::Value Builtin(uint32_t builtin, Id type, const Instruction& inst);
  ir::Value GroupAxis(uint32_t axis);
  ir::Value LocalAxis(uint32_t axis);
  ir::Value InvocationAxis(uint32_t axis);

  // memory.cpp
  Pointer GetPointer(Id id, const Instruction& user);
  void MakeLocal(const Instruction& variable, ir::Words words = {});
  void MakeLeaves(Local& local, Id type, uint64_t count, uint32_t depth, ir::Words words);
  uint32_t LeavesOf(Id type, uint32_t depth) const;
  Index IndexOf(Id id);
  Index Scale(Index index, int64_t factor);
  Index Sum(Index a, Index b);
  ir::Value ValueOf(const Index& index);
  uint32_t MemberAt(Id index, const Instruction& inst);
  Pointer Step(Pointer pointer, Id index, const Instruction& inst);
  Pointer StepLocal(Pointer pointer, Id index, const Instruction& inst);
  void AccessChain(const Instruction& inst);
  void VisitLocal(const Pointer& pointer, Id type, uint32_t& leaf, Index element,
                  const std::function<void(Local::Leaf& leaf, ir::Value index)>& visit);
  std::optional<uint32_t> FixedComponent(const Pointer& pointer) const;
  // tables.cpp
  void FindTables(const Instruction& inst);
  bool MakeTable(Local& local, const Instruction& variable);
  bool NumbersOf(Id constant, std::vector<uint64_t>& numbers, uint32_t depth);
  ir::Value LoadLeaf(const Local::Leaf& leaf, ir::Value index, uint32_t component = ir::kNoAttr);
  Value Load(const Pointer& pointer, const Instruction& inst);
  void Store(const Pointer& pointer, Value value, const Instruction& inst);
  void StoreLocal(const Pointer& pointer, std::span<const ir::Value> parts, const Instruction& inst);
  ir::Value WithColumn(ir::Value matrix, const Pointer& pointer, ir::Value value);
  void LoadMemory(const Pointer& pointer, Id type, const Instruction& inst, Value& out);
  void StoreMemory(const Pointer& pointer, Id type, std::span<const ir::Value>& parts,
                   const Instruction& inst);
  Pointer ComponentPlace(const Pointer& pointer);
  StringId FreeName(const std::string& wanted);
  Pointer Inner(const Pointer& pointer, Id type, uint32_t part, const Instruction& inst);
  struct Place {
    Unit* unit = nullptr;  ///< null: an array of a local or an image
    std::vector<ir::Value> indices;
    uint32_t component = ir::kNoAttr;
    ir::Value array;
    ir::Scalar scalar = ir::Scalar::F32;  ///< of the array
    ir::Value inside;                     ///< whether it lies in its image; invalid: it does
    ir::Value Base() const { return unit != nullptr ? unit->param : array; }
    ir::Scalar Scalar() const { return unit != nullptr ? unit->scalar : scalar; }
  };
  Place PlaceOf(const Pointer& pointer, ir::Scalar scalar, uint64_t more, const Instruction& inst);
  ir::Value LoadScalar(const Place& place);
  ir::Value FromMemory(ir::Value value);
  ir::Value ToMemory(ir::Value value, ir::Scalar scalar);
  ir::Value LoadByValue(const Pointer& pointer, Id type, const Instruction& inst);
  void ArrayLength(const Instruction& inst);

  // atomics.cpp
  Place AtomicPlace(const Instruction& inst);
  ir::Value Inside(const Place& place, const std::function<ir::Value()>& access);
  bool Atomic(const Instruction& inst);

  // image_operations.cpp
  bool LoadHandle(const Instruction& inst);
  Handle HandleOf(Id id, const Instruction& user);
  Image ImageOf(Id variable, const Instruction& user);
  void RefuseOfNative(Id variable, const std::string& what, const Instruction& user);
  SamplerState SamplerOf(Id variable) const;
  bool IsZero(ir::Value v) const;
  ir::Value SampleOffset(const Instruction& inst);
  ir::Value FirstOf(ir::Value vector, Id type);
  bool ImageOperation(const Instruction& inst);
  Place TexelPlace(const Pointer& pointer, const Instruction& inst);

  // subgroup_operations.cpp
  SubgroupBuilder Subgroup();
  ir::Value LaneMask(uint32_t builtin);
  ir::Value BallotOf(ir::Value bits);
  std::optional<ir::Value> SubgroupBuiltin(uint32_t builtin);
  bool SubgroupReduction(const Instruction& inst);
  bool BallotOperation(const Instruction& inst);
  bool ShuffleOperation(const Instruction& inst);
  bool OfOneInvocation(const Instruction& inst);
  bool SubgroupOperation(const Instruction& inst);

  // pointers.cpp
  /// An address that the module computes: what a pointer or an integer says, and elements behind it.
  struct Address {
    Id base = 0;   ///< a pointer, or the load of an integer
    Id index = 0;  ///< 0: none
    uint32_t stride = 0;
    int64_t bytes = 0;
  };
  /// A pointer to a buffer as a value: a constant of the IR, the position here plus one. 0 is none of them.
  struct PointedPlace {
    Resource* resource = nullptr;
    Index element;
    ir::Block block;  ///< where the index is defined
  };
  void FindPointers();
  std::optional<Address> MatchAddress(Id value, std::set<Id>& chain) const;
  std::optional<std::pair<Id, uint64_t>> FixedPlace(Id pointer) const;
  bool ReadsConstant(const Instruction& load) const;
  Id OwnerOf(Id pointer) const;
  ir::Value AddressOf(Resource* resource, Index element);
  void MakePointer(const Instruction& inst);
  Pointer PointerOf(ir::Value address, const Instruction& user);
  ir::Value LoadAddress(const Pointer& pointer, const Instruction& inst);
  void StoreAddress(Local::Leaf& leaf, ir::Value address, const Instruction& inst);

  // operations.cpp
  void Emit(const Instruction& inst);
  /// The row's operation on the instruction's operands from `first` on.
  ir::Value MakeRow(const Row& row, const Instruction& inst, size_t first);
  bool Arithmetic(const Instruction& inst);
  [[noreturn]] void RefuseOperation(const Instruction& inst);
  ir::Value Unsigned(ir::Value value);
  ir::Value Splat(ir::Value scalar, ir::Type like);
  ir::Value FloatLike(ir::Value like, double value);

  // bits.cpp
  ir::Value BitField(const Instruction& inst);
  ir::Value WithBitField(const Instruction& inst);
  Value WithHighBits(const Instruction& inst);
  ir::Value HighestBit(ir::Value v);
  ir::Value HighestBitOfSigned(ir::Value v);
  ir::Value LowestBit(ir::Value v);

  // debug_printf.cpp
  void DebugPrintf(const Instruction& inst);
  /// The value as `letter` has it (d, u, f), of which the format says the number of components.
  ir::Value Printed(ir::Value value, char letter, uint32_t components, const std::string& specifier,
                    const Instruction& inst);

  // extended.cpp
  void Extended(const Instruction& inst);
  ir::Value Scaled(ir::Value value, double factor);
  std::optional<ir::Value> Geometric(const Instruction& inst);
  std::optional<ir::Value> OfSteps(const Instruction& inst);
  bool Modf(const Instruction& inst);

  // composites.cpp
  /// Leaves of a value that indices name, and the first index into a vector or matrix among them.
  struct LeafRange {
    size_t begin = 0, count = 0, next = 0;
  };
  bool Composite(const Instruction& inst);
  void Construct(const Instruction& inst);
  void Extract(const Instruction& inst);
  void Insert(const Instruction& inst);
  void Shuffle(const Instruction& inst);
  /// Follows the indices from operand `at` on; the operand before is the value that they index.
  LeafRange FollowIndices(const Instruction& inst, size_t at);
  void CheckComponent(const Instruction& inst, ir::Type type, size_t at);
  ir::Value Column(ir::Value matrix, uint32_t column);
  ir::Value MatrixOf(ir::Type type, std::span<const ir::Value> columns);
  ir::Value ComponentOf(ir::Value vector, uint32_t n);
  ir::Value MakeVector(std::span<const ir::Value> parts);

  // packing.cpp
  bool Packing(const Instruction& inst);
  ir::Value BitsAs(ir::Value value, ir::Type to, const Instruction& inst);
  ir::Value Pack(ir::Value vector, uint32_t width, bool has_sign);
  ir::Value Unpack(ir::Value word, uint32_t width, bool has_sign);
  ir::Value TimesPowerOf2(ir::Value value, ir::Value exponent);
  ir::Value ExponentOf(ir::Value value);

  // control.cpp, and loops.cpp what has to do with loops
  const Block& BlockAt(Id label) const;
  bool EmitFrom(Id from, Id label, Id end);
  /// Counts one region more around what is emitted.
  void Nest();
  void EmitBlock(const Block& block);
  void StoreEdge(Id from, Id to);
  /// Opens the IR's scope of `scope` around what is emitted, and closes it.
  void OpenScope(Scope& scope);
  void CloseScope(const Scope& scope);
  void Exit(Scope& scope);
  bool Leave(Id from, Id target);
  void Return(const Instruction& last);
  /// The two arms of a branch, each to `end`; whether one gets there.
  bool EmitArms(const Block& block, ir::Value condition, Id first, Id second, Id end);
  Id EmitWayOut(const Block& block, ir::Value condition, Id end, bool* falls);
  bool EmitSwitch(const Block& block);
  void EmitLoop(const Block& header);
  void EmitBody(const Block& header, Id label);
  static bool TakesFrom(const Block& block, Id label);
  const Block* TestOf(const Block& header);
  void EmitOneBlock(const Block& header);
  void Close(ir::Block region);
  /// Closes both arms of an `if`.
  void CloseArms(ir::Inst branch);
  bool IsExit(Id target, Id end) const;
  ir::Value SlotOfPhi(const Instruction& phi, uint32_t part);
  std::set<Id> LoopBlocks(const Block& header);
  std::vector<Id> Successors(const Block& block);
  using SwitchCase = std::pair<Id, std::vector<int64_t>>;  ///< where it begins, and its literals
  std::vector<SwitchCase> CasesOf(const Block& block);
  std::vector<ir::Value> ConditionsOf(const std::vector<SwitchCase>& cases, const Instruction& last);
  void OrderCases(Id merge, std::vector<SwitchCase>& cases);
  std::set<Id> ReachedFrom(Id label, Id merge);
  bool CanReach(Id label, Id target, Id merge);
  void Spend(uint64_t units, const Instruction& inst);
  bool IsPure(const Instruction& inst) const;
  Id RootOf(Id pointer) const;
  Value Call(const Instruction& inst);

  const Binary& binary_;
  const Types& types_;
  const std::vector<SpecConstant>& specs_;
  ir::Module& module_;
  const EntryPoint& entry_;
  const LoweringConfig& config_;
  ir::Function* kernel_ = nullptr;
  /// Refuses operands that do not fit, which an accepted module does not have.
  class CheckedBuilder final : public ir::Builder {
   public:
    using ir::Builder::Builder;
    using ir::Builder::Make;
    ir::Value Make(ir::Op op, std::span<const ir::Value> operands) override;
  };
  std::unique_ptr<CheckedBuilder> b_;
  std::unique_ptr<Resources> resources_;
  std::vector<std::unique_ptr<Frame>> frames_;
  std::vector<std::unique_ptr<Frame>> retired_;
  std::vector<Id> privates_;    ///< variables outside of functions that are the kernel's locals
  std::vector<Id> shared_;      ///< variables of a workgroup
  bool by_workgroups_ = false;  ///< invocations wait for each other, or share memory
  std::set<std::string> value_names_;
  std::map<std::string, uint32_t> next_numbers_;  ///< behind a name that is taken
  std::map<Id, ir::Value> spec_params_;
  Pointed pointed_;
  std::map<Id, Address> addresses_;  ///< by the pointer that is made of them
  std::set<Id> address_parts_;       ///< what only goes into addresses
  std::vector<PointedPlace> places_;
  std::set<Id> functions_;   ///< that the entry calls
  std::set<Id> written_;     ///< variables that something may write
  std::map<Id, Id> tables_;  ///< by local variable: the only value that is stored in it, as a whole; 0 where
                             ///< there are others
  bool writes_images_ = false;
  uint32_t local_size_[3] = {1, 1, 1};
  ir::Value invocations_[3];              ///< parameters
  ir::Value index_[3];                    ///< of the loop: invocations, or workgroups
  ir::Value local_index_;                 ///< of the loop over workgroups: the invocation's in its own
  std::map<ir::Block, ir::Block> moved_;  ///< regions of scopes that were taken out, and where they are
  std::set<Id> leave_region_;             ///< values that are used where they are not seen
  std::set<Id> leave_region_now_;
  ir::Block home_;                ///< body of the parallel
  std::vector<ir::Inst> arrays_;  ///< what is to stand at its beginning
  uint64_t spent_ = 0;
  uint32_t depth_ = 0;  ///< of regions
};

}  // namespace adc::frontend::spirv
