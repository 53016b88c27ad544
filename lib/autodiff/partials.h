#pragma once
// The functions of partials.ir, as straight lines of instructions that may be written into another function.

#include <span>
#include <string_view>
#include <vector>

#include "ir/builder.h"
#include "ir/function.h"

namespace adc::autodiff {

/// The text of partials.ir, which CMake embeds.
extern const char* const kPartialsText;

/// A function of partials.ir: which operands it takes, and its instructions.
class Partial {
 public:
  /// The partial of `op` by operand `n`, for floats of one type; null where there is none. The result lives
  /// as long as the process. `variant`: of several functions the one with this end of its name.
  static const Partial* Find(ir::Op op, uint32_t n, ir::Scalar scalar, std::string_view variant = {});

  /// A bit for each operand that the partial reads.
  uint8_t operands() const { return operands_; }
  /// True where it reads the result.
  bool reads_result() const { return reads_result_; }
  /// True where the partial is more than s, one number times s, or a choice: then it rounds more than once.
  bool is_computed() const { return is_computed_; }

  /// Writes the instructions. `operands` and `result` of the type that the function was looked for; only what
  /// it reads has to be valid.
  ir::Value Write(ir::Builder& builder, std::span<const ir::Value> operands, ir::Value result,
                  ir::Value s) const;

 private:
  friend class PartialTable;
  Partial(const ir::Module& module, const ir::Function& function);

  const ir::Function* function_;
  std::vector<char> roles_;  ///< of its parameters: number of an operand, 's' or 'r'
  uint8_t operands_ = 0;
  bool reads_result_ = false;
  bool is_computed_ = false;
};

}  // namespace adc::autodiff
