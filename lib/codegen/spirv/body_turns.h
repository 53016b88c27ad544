#pragma once
// One loop whose sums threads in step hold between its turns.

#include "codegen/spirv/body_part.h"

namespace adc::codegen::spirv {

class HeldTurns : BodyPart {
 public:
  HeldTurns(const BodyPart& part, ir::Inst loop) : BodyPart(part), loop_(loop) {}

  /// Whether the sums of the loop may be held.
  bool IsPossible() const;
  /// Emits the turns of the loop, or this share's of them. `starts`: the values with which they begin. Gives
  /// the values that they carry.
  std::vector<Id> Emit(std::span<const Id> starts);
  /// In a turn: holds sums into one element.
  void Hold(std::span<const ir::Inst> sums);

 private:
  /// A value that the loop carries.
  struct Held {
    Id type = 0;
    Id now = 0;
    OpenPhi phi;
  };
  /// Sums into neighbouring components of one element.
  struct Element {
    std::vector<ir::Inst> sums;
    std::vector<Held> totals;
    Held has;  ///< whether some thread has added in the turn of this thread
  };

  ir::Block Body() const { return function_[loop_].regions[0]; }
  template <class Visit>
  void ForEachSum(Visit visit) {
    for (Element& element : elements_) {
      for (size_t n = 0; n < element.sums.size(); ++n) visit(element.sums[n], element.totals[n]);
    }
  }
  template <class Visit>
  void ForEach(Visit visit) {
    visit(filled_);
    visit(turn_);
    for (Element& element : elements_) {
      visit(element.has);
      for (Held& total : element.totals) visit(total);
    }
    for (Held& value : carried_) visit(value);
  }
  Id TurnOf(Id number, uint32_t copies);
  uint32_t Copies() const;
  void CountThreads();
  Id MayExchange(uint32_t copies);
  void FindElements();
  Id CounterAt(Id number);
  void EmitRounds(Id first, Id end, uint32_t copies);
  void EmitOneTurn(Id number);
  void EmitCopies(Id number, uint32_t copies);
  void EmitCopy(Id number, std::vector<std::vector<Id>>& runs, std::vector<Id>& carried);
  void Flush(Id may);

  ir::Inst loop_;
  uint32_t width_ = 0;       ///< bits of the counter
  Id low_ = 0, turns_ = 0;   ///< the first index, and how many there are
  Id lane_ = 0, lanes_ = 0;  ///< the thread's number in its subgroup, and how many there are
  Id any_ = 0;               ///< whether one of them takes part
  Held filled_;              ///< threads that hold a turn
  Held turn_;                ///< the counter in the turn of this thread
  std::vector<Element> elements_;
  std::vector<Held> carried_;
};

}  // namespace adc::codegen::spirv
