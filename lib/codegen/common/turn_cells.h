#pragma once
// Cells of a loop's turn: those that all iterations come to in the same turn (raise/private_sums.h,
// `of_turn`).

#include <vector>

#include "ir/function.h"

namespace adc::codegen {

/// Whether an instruction is a sum into a cell of its loop's turn.
bool IsOfTurn(const ir::Function& kernel, ir::Inst inst);

/// The sums of turns of one loop, and the values about which all lanes have to agree: those from outside of
/// it by which its bounds and the cells are computed.
struct TurnCells {
  std::vector<ir::Inst> sums;
  std::vector<ir::Value> roots;
};

/// Those of a `for`; no sums where it has none.
TurnCells TurnCellsOf(const ir::Function& kernel, ir::Inst loop);
/// The instructions of the loop's body by which the cells of `sums` are computed, in their order.
std::vector<ir::Inst> SliceOf(const ir::Function& kernel, ir::Inst loop, const std::vector<ir::Inst>& sums);

}  // namespace adc::codegen
