#pragma once
// The reads of a named vjp from the buffers that its function works on, and a vjp that reads copies of them.

#include <memory>
#include <vector>

#include "ir/function.h"

namespace adc::autodiff {

/// The accesses of an opened call's vjp to the buffers that it shares with its function.
///
/// Requires: phase Scalar.
class VjpReads {
 public:
  /// `call` is an opened call in `kernel`. A function without a vjp, which is refused elsewhere, reads
  /// nothing.
  VjpReads(const ir::Module& module, const ir::Function& kernel, ir::Inst call);

  /// A read of one parameter: a component of its elements, kNoAttr where they are scalars.
  struct Read {
    uint32_t param;
    uint32_t component;
  };
  /// Ascending, each once; of parameters that the vjp writes as well, none: a copy of them will not do.
  const std::vector<Read>& Reads() const { return reads_; }
  bool Writes(uint32_t param) const { return written_[param] != 0; }

 private:
  std::vector<Read> reads_;
  std::vector<unsigned char> written_;
};

/// `vjp` with a parameter after the others for each of `reads`: a rank-1 buffer that holds, in C order, the
/// elements that are read there (save_final_values.h). Calls in it are opened for good: no derivative is
/// taken of it.
std::unique_ptr<ir::Function> ReadingCopies(ir::Module& module, const ir::Function& vjp,
                                            std::span<const VjpReads::Read> reads);

}  // namespace adc::autodiff
