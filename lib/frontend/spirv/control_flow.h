#pragma once
// Blocks as regions of the IR, and calls as the bodies of functions (control_flow.cpp says how).

#include "frontend/spirv/operations.h"

namespace adc::frontend::spirv {

class ControlFlow final : public Operations {
 public:
  using Operations::Operations;
  void EmitKernel();

 private:
  /// A target that branches may leave for.
  struct Scope {
    enum class Kind : uint8_t { Function, Loop, Switch } kind = Kind::Function;
    Id merge = 0, next = 0;          ///< of loops: where `continue` goes
    ir::Inst inst;                   ///< the IR's, around the function, the cases, the body of a loop
    bool is_left = false;            ///< by `exit`
    std::vector<ir::Value> results;  ///< Function: slots, per leaf of what it returns
  };
  /// A function that is being inlined.
  struct Inlined {
    const Function* function = nullptr;
    std::vector<Scope> scopes;
    std::set<Id> emitted;  ///< blocks
    Id open_header = 0;    ///< of the loop whose first block is to be emitted
  };
  using SwitchCase = std::pair<Id, std::vector<int64_t>>;  ///< where it begins, and its literals

  Value Call(const Instruction& inst) override;
  Inlined& inlined() { return inlined_.back(); }
  /// Opens the body of a function, a scope that `return` leaves, with slots for what it returns.
  void Enter(const Function& function, std::unique_ptr<Frame> made, std::vector<ir::Value> results);
  void EmitFunction();
  const Block& BlockAt(Id label);
  bool EmitFrom(Id from, Id label, Id end);
  void EmitBlock(const Block& block);
  const std::vector<ir::Value>& SlotsOf(const Instruction& phi);
  void StoreEdge(Id from, Id to);
  /// Counts one region more around what is emitted.
  void Nest();
  /// Opens the IR's scope of `scope` around what is emitted, and closes it.
  void OpenScope(Scope& scope);
  void CloseScope(const Scope& scope);
  /// The scope that a branch to `target` leaves, or goes on with; null where it is no way out.
  Scope* ScopeOf(Id target);
  bool IsExit(Id target, Id end) { return target == end || ScopeOf(target) != nullptr; }
  void Exit(Scope& scope);
  bool Leave(Id from, Id target);
  void Return(const Instruction& last);
  /// The two arms of a branch, each to `end`; whether one gets there.
  bool EmitArms(const Block& block, ir::Value condition, Id first, Id second, Id end);
  Id EmitWayOut(const Block& block, ir::Value condition, Id end, bool* falls);

  // switches.cpp
  bool EmitSwitch(const Block& block);
  std::vector<SwitchCase> CasesOf(const Block& block);
  std::vector<ir::Value> ConditionsOf(const std::vector<SwitchCase>& cases, const Instruction& last);
  void OrderCases(Id merge, std::vector<SwitchCase>& cases);
  std::set<Id> ReachedFrom(Id label, Id merge, Id target);

  // loops.cpp
  void EmitLoop(const Block& header);
  void EmitBody(const Block& header, Id label);
  const Block* TestOf(const Block& header);
  void EmitOneBlock(const Block& header);

  std::vector<Inlined> inlined_;
  uint32_t depth_ = 0;  ///< of regions
};

}  // namespace adc::frontend::spirv
