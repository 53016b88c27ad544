#pragma once
// The reference interpreter: runs any function or kernel of a module, before and after differentiation and
// lowering, on values or on dual numbers. It is the oracle of the tests, and shares no code with
// differentiation or code generation: derivatives come from rules of its own (interp/tangent_rules.h).
//
// A function is first compiled to a flat list of steps over registers (interp/lower.h), which a small loop
// executes (interp/machine.h); every access is checked, and every run ends: out-of-range accesses, runaway
// loops and the like end in RunResult::error, never in undefined behaviour. The module must have passed the
// verifier.

#include <functional>
#include <memory>

#include "interp/arguments.h"

namespace adc::interp {

/// In which order the iterations of a parallel loop run. A kernel whose results depend on it has a race.
enum class Order : uint8_t { Forward, Reversed, Shuffled };
/// The effect of an index out of range: the run ends with an error, or goes on as with --check-bounds (the
/// access is left out, a load gives 0, the status says so).
enum class OutOfRange : uint8_t { Stop, Skip };

/// Where the adstacks of one task lie in memory after lowering, for kernels with row.* operations.
struct RowTask {
  std::vector<int64_t> group_bytes;     ///< per claim group: bytes of a row
  std::vector<int64_t> stack_offset;    ///< per stack: bytes from the start of its row
  std::vector<int64_t> stack_capacity;  ///< per stack: elements
};

struct RunOptions {
  Order order = Order::Forward;
  uint64_t seed = 1;                  ///< of Order::Shuffled
  uint64_t step_budget = 1ull << 40;  ///< steps until a run is ended; a step is about one scalar operation
  /// Computes and stores every float in double: for comparisons tighter than f32. Tensors may be given in f64
  /// where the kernel says f32, and keep what was computed; others are rounded at the end. Layouts are always
  /// rounded.
  bool promote_floats = false;
  OutOfRange out_of_range = OutOfRange::Stop;
  std::span<const RowTask> rows = {};  ///< per task
};

enum class ErrorKind : uint8_t {
  None,
  Argument,     ///< an argument does not fit its parameter
  OutOfRange,   ///< an index
  StepBudget,   ///< the run is longer than allowed
  CallDepth,    ///< functions call each other endlessly
  StackEmpty,   ///< a pop or top of an empty adstack, or of a slot not pushed since it was popped
  Limit,        ///< an adstack or an iteration space beyond what the interpreter holds
  LoopStep,     ///< a loop whose step is not positive
  Row,          ///< a row access outside its row, or without RunOptions::rows
  Unsupported,  ///< the interpreter cannot run it; the text says why
};

struct RunError {
  ErrorKind kind = ErrorKind::None;
  std::string text;
  diag::SourceSpan span;
};

/// The status word of a launch: the first report wins (0 none, 1 adstack overflow, 2 assertion, 3 out of
/// range; 4 a promise about writes, in a raised kernel).
struct RunStatus {
  uint32_t code = 0;
  uint32_t task = 0;
  uint32_t index = 0;
  uint64_t needed = 0;
  std::string text;  ///< of the assertion
  diag::SourceSpan span;
};

struct StackStatistics {
  StringId function;
  ir::Inst stack;          ///< the stack.new
  uint64_t pushes = 0;     ///< in all
  uint64_t max_depth = 0;  ///< most elements held at once since a stack.new (with slots: highest slot + 1)
};
struct LoopStatistics {
  StringId function;
  ir::Inst loop;  ///< for or while
  uint64_t entries = 0, trips = 0, max_trips = 0;
};

struct RunResult {
  RunError error;
  RunStatus status;
  uint64_t steps = 0;
  std::string printed;                               ///< the output of print, a line each
  std::vector<std::vector<uint64_t>> results;        ///< of a func: the bits of each component of each result
  std::vector<std::vector<double>> result_tangents;  ///< of a dual run of a func
  std::vector<StackStatistics> stacks;
  std::vector<LoopStatistics> loops;

  bool Ok() const { return error.kind == ErrorKind::None; }
};

class Program;

/// One function made ready to run many times.
class Interpreter {
 public:
  /// `module` and `function` must outlive the interpreter and stay as they are.
  Interpreter(const ir::Module& module, const ir::Function& function, RunOptions options = {});
  ~Interpreter();
  Interpreter(Interpreter&&) noexcept;

  /// Runs on `arguments`, whose memory it changes.
  RunResult Run(Arguments& arguments);
  /// Runs on dual numbers: `tangents` holds the derivatives of the arguments along one direction, and after
  /// the run those of their new contents. Derivatives are doubles whatever the type. A function with `jvp`
  /// uses it.
  RunResult RunDual(Arguments& arguments, Tangents& tangents);

 private:
  RunResult Execute(Arguments& arguments, Tangents* tangents);

  const ir::Module& module_;
  const ir::Function& function_;
  RunOptions options_;
  std::unique_ptr<Program> plain_, dual_;
};

RunResult Run(const ir::Module& module, const ir::Function& function, Arguments& arguments,
              const RunOptions& options = {});
RunResult RunDual(const ir::Module& module, const ir::Function& function, Arguments& arguments,
                  Tangents& tangents, const RunOptions& options = {});

/// "kernel.ir:7:12: index 0 of 'load' is 12, ..." for messages of tests and tools.
std::string Describe(const RunError& error, const diag::SourceManager& sources);

}  // namespace adc::interp
