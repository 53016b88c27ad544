#pragma once
// `adc run --interpret`: a kernel in the reference interpreter, which checks every access, and prints.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "loader.h"
#include "values.h"

namespace adc::tool {

/// The bundle of the file at `path`, for what it says of kernels and their parameters. No warning that
/// `print` is left out. As CompileSource.
int CompileForInterpreter(const std::string& path, const OpenOptions& options, std::vector<uint8_t>* bytes);

/// That the text at `path` is one that `kernel` of `bundle` can have been compiled from: it holds no errors,
/// and a kernel of this name with the same parameters. kExitOk, or the exit code after the reason was
/// printed.
int CheckSource(const std::string& path, const OpenOptions& options, const adrt_bundle* bundle,
                const Kernel& kernel);

/// The kind of numbers of which a run looks for the first.
enum class Sought : uint8_t {
  Nothing,
  Nan,
  Infinities,  ///< and NaN
};

struct InterpretOptions {
  bool reversed = false;     ///< iterations of parallel loops last first
  uint64_t step_budget = 0;  ///< steps after which the run ends; 0: as many as it takes
  bool quiet = false;        ///< print nothing: neither what the kernel prints nor the reason of a failure
  Sought find = Sought::Nothing;  ///< prints the operation that makes the first one, which is a failure
  bool aside = false;             ///< the prints of the kernel go to standard error
};

/// Runs `kernel` of the source file at `path` once with `values` (every given parameter by name), and writes
/// what its `print` says to standard output. A kernel of the text runs as it was written, before any pass; a
/// derived one as it was derived. kExitOk, or the exit code after the reason was printed.
int InterpretSource(const std::string& path, const OpenOptions& options, const Kernel& kernel,
                    std::map<std::string, ArgValue>& values, const InterpretOptions& how = {});

/// For each of `parameters` of the kernel (an empty name: all of them) in one line the operation that makes
/// the first NaN which reaches it, or else the first infinity. Empty where the interpreter finds none within
/// `step_budget` steps.
std::vector<std::string> FirstNanTexts(const std::string& path, const OpenOptions& options,
                                       const Kernel& kernel, const std::vector<std::string>& parameters,
                                       const std::map<std::string, ArgValue>& values, uint64_t step_budget);

/// A kernel of a source text as it was written, before any pass, made ready to run on dual numbers: an oracle
/// for derivatives that shares no code with differentiation, and checks every access. One that makes floats
/// of the bits of floats is taken as it is after the pass float-bits.
class DualKernel {
 public:
  DualKernel();
  ~DualKernel();
  DualKernel(DualKernel&&) noexcept;
  DualKernel& operator=(DualKernel&&) noexcept;

  /// Reads the kernel called `name` from the source file at `path`. A run of it ends, as a failure, after
  /// `step_budget` steps. False where the text has no such kernel.
  bool Open(const std::string& path, const OpenOptions& options, const std::string& name,
            uint64_t step_budget);

  /// Runs with `values` (every given parameter by name), which hold the results afterwards. `tangents`: by
  /// parameter, the derivative of each float along one direction, those of the results afterwards; an entry
  /// per component in C order, for a layout one per two bytes (interp/arguments.h). Parameters without an
  /// entry have zeros, and get one. False where the run ends early: an index out of range, a failed
  /// assertion, the budget.
  bool Run(std::map<std::string, ArgValue>& values, std::map<std::string, std::vector<double>>& tangents,
           bool reversed);
  /// By parameter, the words of its last axis that hold integers (integer_words.h).
  std::map<std::string, std::vector<uint32_t>> IntegerWords() const;
  /// Steps of the last run.
  uint64_t Steps() const;
  /// Some parameter bears a promise about the order of its writes (`writeonce`, `settled`), which its data
  /// keep.
  bool Promises() const;
  /// The text has an atomic minimum or maximum. Of equal ones each gets the whole derivative in reverse mode
  /// (docs/differentiation.md), which is no derivative of the sum.
  bool TakesExtrema() const;

 private:
  struct Ready;
  std::unique_ptr<Ready> ready_;
};

}  // namespace adc::tool
