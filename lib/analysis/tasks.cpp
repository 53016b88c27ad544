#include "analysis/tasks.h"

#include "analysis/memory.h"

namespace adc::analysis {
namespace {

using ir::Function, ir::Inst, ir::Op;

/// The first access of a branch that makes those to one element where its indices are in range; invalid for
/// everything else.
Inst GuardedAccess(const Function& function, Inst inst) {
  if (function[inst].op != Op::If || !function[inst].Has(ir::Word::Guard)) return {};
  return function[function[inst].regions[0]].insts.front();
}

/// True for what a prologue may hold, apart from the memory that its parallel writes.
bool MayStandInPrologue(const Function& function, Inst inst) {
  if (Inst access = GuardedAccess(function, inst); access.Valid())
    return MayStandInPrologue(function, access);
  if (!IsPureOrRead(function[inst].op)) return false;
  return function[inst].op != Op::Load || !IsLocalAccess(function, inst);
}

/// True for what makes a serial task: an instruction that a prologue may not hold and that does something.
/// An array on its own does nothing until it is written.
bool IsSerialWork(const Function& function, Inst inst) {
  if (Inst access = GuardedAccess(function, inst); access.Valid()) return IsSerialWork(function, access);
  Op op = function[inst].op;
  if (op == Op::Load && IsLocalAccess(function, inst)) return true;
  return op != Op::Alloca && op != Op::StackNew && !ir::IsTerminator(op) && !IsPureOrRead(op);
}

}  // namespace

std::vector<Task> TasksOf(const Function& kernel) {
  Structure structure(kernel);
  MemoryClasses memory(structure);
  const std::vector<Inst>& insts = kernel[kernel.Body()].insts;
  std::vector<Task> tasks;
  uint32_t first = 0;
  uint32_t serial_end = 0;  // one past the last instruction that a serial task must hold
  for (uint32_t n = 0; n < insts.size(); ++n) {
    Op op = kernel[insts[n]].op;
    if (!IsParallel(op)) {
      if (IsSerialWork(kernel, insts[n])) serial_end = n + 1;
      continue;
    }
    uint32_t prologue = n;
    while (prologue > first && prologue > serial_end) {
      Inst before = insts[prologue - 1];
      if (!MayStandInPrologue(kernel, before)) break;
      if (Inst access = GuardedAccess(kernel, before); access.Valid()) before = access;
      if (kernel[before].op == Op::Load && memory.IsWrittenIn(memory.ClassOf(before), insts[n])) break;
      --prologue;
    }
    if (prologue > first) tasks.push_back({TaskKind::Serial, first, prologue, {}});
    tasks.push_back({TaskKind::Parallel, prologue, n + 1, insts[n]});
    first = n + 1;
    serial_end = first;
  }
  if (serial_end > first) tasks.push_back({TaskKind::Serial, first, serial_end, {}});
  return tasks;
}

}  // namespace adc::analysis
