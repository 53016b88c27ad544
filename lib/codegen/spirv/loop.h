#pragma once
// A loop that is being written into a function.
//
//   header: phis; OpLoopMerge merge next; more ? body : merge
//   body:   ...
//   next:   back to header
//   merge:  what comes after it

#include "codegen/spirv/function_builder.h"

namespace adc::codegen::spirv {

/// An OpPhi whose value from the loop's end is still to come.
struct OpenPhi {
  Id id = 0;
  size_t place = 0;  ///< of its second pair in the code
};

class Loop {
 public:
  /// Ends the block and starts the header.
  explicit Loop(FunctionBuilder& builder);
  /// The same for a loop whose only block is `turn`.
  Loop(FunctionBuilder& builder, Id turn, Id merge);

  Id header() const { return header_; }
  Id merge() const { return merge_; }
  OpenPhi Phi(Id type, Id initial);
  /// Ends the header: goes on where `more` holds, leaves the loop otherwise; without it the header always
  /// goes on. Starts the body.
  void EndHeader(Id more);
  /// Ends the body and starts the block that leads back to the header.
  void BeginNext();
  void Close(const OpenPhi& phi, Id value);
  /// Ends the loop and starts the block after it.
  void End();
  /// The same for a loop of one block, which ends where `done` holds.
  void EndTurn(Id done);

 private:
  FunctionBuilder& f_;
  Id header_, body_, next_, merge_;
  Id before_;  ///< the block that enters the loop
};

}  // namespace adc::codegen::spirv
