#pragma once
// The machine that runs compiled functions: a list of steps over the registers of a frame.
//
// A register is a *cell* of 64 bits that holds one scalar in the form of ir::ConstantData; a vector takes one
// cell per component, and so does each element of a local array. In a dual run every cell has a double beside
// it, its tangent. A step is a function that reads and writes cells and returns the step to run next: `step +
// 1`, a jump, or null at the end of the run. Steps are chosen at compile time by operation and type, so that
// running decides nothing.

#include <array>

#include "interp/interpreter.h"

namespace adc::interp {

struct Machine;
struct Origins;
struct Code;
using Step = const Code* (*)(Machine&, const Code*);

/// One step. The function of the step gives the numbers their meaning; cells count from the start of the
/// frame.
struct Code {
  Step run = nullptr;
  uint32_t dst = 0, a = 0, b = 0, c = 0;
  int32_t jump = 0;   ///< steps from this one
  uint32_t info = 0;  ///< position in a table of the program
};

/// The target of an access: bytes of a tensor; doubles that stand for its floats (promoted runs); cells.
enum class Place : uint8_t { Bytes, Wide, Cells };

struct AccessInfo {
  ir::Op op = ir::Op::Load;
  ir::Scalar scalar = ir::Scalar::F32;  ///< of the memory, unpromoted
  uint32_t base = 0;                    ///< cell with the number of the memory, or of the first cell
  uint32_t index_count = 0;
  std::array<uint32_t, ir::kMaxRank> index_cells{};
  const ir::LayoutField* field = nullptr;  ///< of a layout
  uint32_t components = 1;                 ///< of an element
  uint32_t first = 0, count = 1;           ///< components that the access touches
  uint64_t length = 0;                     ///< cells: elements of the array
  std::string base_name;
};

struct LoopInfo {
  uint32_t statistics = 0;
  uint32_t lo = 0, hi = 0,
           step = 0;             ///< for: cells of the bounds. while: `hi` holds the bound if there is one
  uint32_t iv = 0, counter = 0;  ///< counter: trips left (for), trips done (while)
  uint32_t increment = 0;        ///< cell: the increment of the induction variable
  bool reversed = false;
  uint32_t cost = 0;  ///< steps of one trip
};

struct CellRange {
  uint32_t first = 0, count = 1;
};

struct ParallelInfo {
  struct Axis {
    uint32_t lo = 0, hi = 0, iv = 0;
  };
  std::vector<Axis> axes;
  const ir::LayoutField* field = nullptr;  ///< parallel over
  uint32_t cost = 0;
  // Over workgroups, whose invocations are no axis:
  uint32_t invocations = 0;       ///< of a workgroup; 0: there are no workgroups
  uint32_t invocation = 0;        ///< cell: the number of the invocation
  std::vector<CellRange> shared;  ///< arrays of the workgroup
};

struct CallInfo {
  uint32_t callee = 0;  ///< position in Program::functions
  std::vector<CellRange> arguments, results;
};

struct ReportInfo {
  std::vector<std::string> pieces;  ///< print: text around the operands; assert: the text
  std::vector<std::pair<uint32_t, ir::Type>> operands;
  uint32_t number = 0;  ///< assert: which of the function; status.raise: stack, or number of the check
  uint32_t code = 0;    ///< status.raise: the value of the status word
  uint32_t task = 0;
};

struct RowInfo {
  uint32_t task = 0, number = 0;  ///< group of an access or claim; stack of a capacity
  uint32_t stack = 0, bytes = 0;  ///< of an access: its stack, and the size of the scalar
};

/// A float that is computed, for the steps that watch (interp/origins.h).
struct WatchInfo {
  ir::Scalar operand = ir::Scalar::F32, result = ir::Scalar::F32;
  uint32_t operand_count = 0;
  bool selects = false;  ///< dst = a ? b : c
};

struct FunctionCode {
  const ir::Function* function = nullptr;
  std::vector<Code> code;
  std::vector<diag::SourceSpan> spans;  ///< per step
  uint32_t cells = 0;                   ///< of a frame
  std::vector<CellRange> params;
  std::vector<std::pair<uint32_t, uint64_t>> constants;  ///< cell, bits: set when a frame is made
  std::vector<CellRange> results;                        ///< set by the return
  // Where steps watch:
  std::vector<ir::Inst> insts;    ///< per step: of which instruction it is
  std::vector<uint32_t> cell_of;  ///< per value: its first cell; UINT32_MAX: it has none
};

struct RandomInfo {
  ir::Scalar scalar = ir::Scalar::F32;  ///< of the result, as the statement says
  ir::Scalar holds = ir::Scalar::F32;   ///< the type that the register holds: a double in promoted runs
  uint32_t widths[3] = {64, 64, 64};    ///< bits of seed, counter and stream
  uint32_t count = 1;                   ///< components
};

class Program {
 public:
  bool dual = false;
  std::vector<FunctionCode> functions;  ///< 0: the one to run
  std::vector<AccessInfo> accesses;
  std::vector<LoopInfo> loops;
  std::vector<ParallelInfo> parallels;
  std::vector<CallInfo> calls;
  std::vector<ReportInfo> reports;
  std::vector<RowInfo> rows;
  std::vector<RandomInfo> randoms;
  std::vector<WatchInfo> watched;
  std::vector<std::string> texts;
  std::vector<uint64_t> array_constants;  ///< lie below the first frame
  std::vector<StackStatistics> stacks;    ///< forms of the statistics, filled in by a run
  std::vector<LoopStatistics> loop_statistics;
};

/// A tensor bound to a parameter.
struct Memory {
  std::byte* data = nullptr;
  std::vector<int64_t> extents;
  double* tangents = nullptr;  ///< dual runs
  double* wide = nullptr;      ///< promoted runs
};

struct AdStack {
  std::vector<uint64_t> values;
  std::vector<uint8_t> is_full;  ///< pushed, and not popped since
  std::vector<double> tangents;
};

/// A thread's row in one claim group. One cell per byte offset, at the offset of its first byte.
struct Row {
  std::vector<uint64_t> values;
  std::vector<double> tangents;
};

struct Frame {
  const Code* return_to = nullptr;
  size_t base = 0;
  const FunctionCode* function = nullptr;
  const CallInfo* call = nullptr;
};

/// The workgroup that runs.
struct Workgroup {
  /// The state of a waiting invocation, in place of the machine's registers.
  struct Invocation {
    const Code* resume = nullptr;  ///< null: not started, or ended
    std::vector<uint64_t> cells, origins;
    std::vector<double> tangents;
    std::vector<Frame> frames;
    size_t base = 0;
    const FunctionCode* function = nullptr;
  };
  const ParallelInfo* info = nullptr;  ///< null: none runs
  std::vector<Invocation> invocations;
  const Code* begin = nullptr;  ///< of the body
  size_t base = 0;              ///< of the kernel's frame
  const FunctionCode* function = nullptr;
  size_t current = 0, started = 0;
};

struct Machine {
  uint64_t* cells = nullptr;   ///< of the current frame
  double* tangents = nullptr;  ///< of the current frame; null in plain runs
  const Program* program = nullptr;
  const RunOptions* options = nullptr;
  RunResult* result = nullptr;

  std::vector<uint64_t> cell_store;
  std::vector<double> tangent_store;
  size_t base = 0;
  const FunctionCode* function = nullptr;
  std::vector<Frame> frames;
  std::vector<Memory> memories;
  std::vector<AdStack> stacks;
  std::vector<Row> rows;
  Origins* origins = nullptr;  ///< of a program whose steps watch

  struct {
    uint64_t total = 0, position = 0, offset = 0, stride = 1, flat = 0;
    std::array<uint64_t, ir::kMaxRank> extents{};
  } parallel;

  Workgroup workgroup;

  /// Ends the run with an error at the place of `code`; the null to return from the step.
  const Code* Fail(ErrorKind kind, const Code* code, std::string text);
  /// Sets the status word unless it is set.
  void Raise(uint32_t status, uint32_t task, uint32_t index, uint64_t needed, const Code* code,
             std::string text = {});
  diag::SourceSpan SpanOf(const Code* code) const;
  /// Goes on in the frame of `code` at `new_base`.
  void SetFrame(const FunctionCode* code, size_t new_base);
  /// Copies registers with their tangents and origins; `from` and `to` count from the first frame.
  void CopyCells(size_t from, size_t to, uint32_t count);
  /// Makes a frame for `callee` at `new_base` the current one. False when memory would grow beyond bounds.
  bool Enter(const FunctionCode& callee, size_t new_base);
  bool Spend(uint64_t steps) {
    result->steps += steps;
    return result->steps <= options->step_budget;
  }
  void Run(const Code* code) {
    while (code != nullptr) code = code->run(*this, code);
  }
};

}  // namespace adc::interp
