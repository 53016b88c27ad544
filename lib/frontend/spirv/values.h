#pragma once
// The values of SPIR-V by their ids: results of instructions, constants, and slots.
//
// A slot is an array at the beginning of the kernel. Phis have them, and values that are used where the
// region that computes them is not seen: the first such use asks for the slot, and the value is stored right
// after it is computed. There it is stored in each iteration of the loops around it. A use reads the last
// one, which is right, since what defines an id in SPIR-V is on every way to each of its uses.

#include "diag/errors/shader.h"
#include "frontend/spirv/builder.h"
#include "frontend/spirv/frame.h"
#include "frontend/spirv/survey.h"

namespace adc::frontend::spirv {

class Values {
 public:
  Values(const Request& request, const Survey& survey, ir::Module& module, ir::Function& kernel,
         Resources& resources)
      : binary_(request.binary),
        types_(request.types),
        config_(request.config),
        survey_(survey),
        module_(module),
        kernel_(kernel),
        resources_(resources),
        b_(module, kernel, kernel.Body()),
        specs_(request.specs) {}
  virtual ~Values() = default;

 protected:
  static void Require(bool good, const Instruction& inst, const char* what) {
    if (!good) Refuse(diag::E0852, inst.span, what);
  }
  /// Counts work, and refuses more than the limit.
  void Spend(uint64_t units, const Instruction& inst);

  Frame& frame() { return *frames_.back(); }
  Value Get(Id id);
  ir::Value GetOne(Id id);
  void Set(const Instruction& inst, Value value);
  void SetOne(const Instruction& inst, ir::Value value) { Set(inst, Value{{value}}); }
  Value ConstantValue(const Instruction& inst, uint32_t depth);
  /// The parts that `of` gives of the operands, as a value of the type of the result.
  Value Composed(const Instruction& inst, const std::function<Value(Id)>& of);
  Value ZeroOf(Id type);

  /// Slots go to the beginning of `home`, which is given before the first one.
  void SetHome(ir::Block home) { home_ = home; }
  /// The value; where the builder does not see it, what its slot holds.
  ir::Value Seen(ir::Value value);
  /// Adds the slots, and the stores of values that `Seen` gave one.
  void PlaceSlots();
  ir::Value Slot(ir::Type type, uint32_t count = 1, ir::Words words = {});
  /// One for each leaf.
  std::vector<ir::Value> Slots(Id type);
  void StoreSlot(ir::Value slot, ir::Value value);
  ir::Value LoadSlot(ir::Value slot);
  Value LoadSlots(std::span<const ir::Value> slots);
  /// Whether what a block defines is seen where the builder is.
  bool Visible(ir::Block block) const;
  /// The instructions of `region` have moved to `around`.
  void Move(ir::Block region, ir::Block around) { moved_[region] = around; }

  /// The result of an operation on numbers, of which a constant is made; nothing where it is none.
  virtual std::optional<Value> Compute(const Instruction& inst) = 0;

  const Binary& binary_;
  const Types& types_;
  const ReadConfig& config_;
  const Survey& survey_;
  ir::Module& module_;
  ir::Function& kernel_;
  Resources& resources_;
  KernelBuilder b_;
  std::vector<std::unique_ptr<Frame>> frames_;

 private:
  Value NumberOf(const Instruction& inst);
  Value ComputedConstant(const Instruction& inst);
  uint64_t ConstantBits(const Instruction& inst) const;

  const std::vector<SpecConstant>& specs_;
  uint64_t spent_ = 0;  ///< units of work
  std::map<Id, ir::Value> spec_params_;
  ir::Block home_;
  std::vector<ir::Inst> slots_;
  std::map<ir::Value, ir::Value> slot_of_;  ///< of values that are used where they are not seen
  std::map<ir::Block, ir::Block> moved_;    ///< regions of scopes that were taken out, and where they are
};

}  // namespace adc::frontend::spirv
