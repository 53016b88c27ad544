#pragma once
// The code of one SPIR-V function under construction: structured blocks, and a head that dominates
// everything.
//
// The head stands at the start of the entry block, before all other code. Values that are the same for the
// whole function (arguments, addresses) are put there when they are first asked for.

#include <spirv/unified1/GLSL.std.450.h>

#include "codegen/spirv/module_builder.h"

namespace adc::codegen::spirv {

class FunctionCode {
 public:
  FunctionCode(ModuleBuilder& module, Id result_type, std::span<const Id> parameter_types);

  ModuleBuilder& module() { return module_; }
  Id id() const { return id_; }
  Id Parameter(size_t n) const { return parameters_[n]; }
  /// The label of the block that is being written.
  Id Block() const { return block_; }

  /// Everything emitted while one of these lives goes to the head.
  class Head {
   public:
    explicit Head(FunctionCode& builder) : builder_(builder), outer_(builder.in_head_) {
      builder.in_head_ = true;
    }
    ~Head() { builder_.in_head_ = outer_; }
    Head(const Head&) = delete;
    Head& operator=(const Head&) = delete;

   private:
    FunctionCode& builder_;
    bool outer_;
  };

  /// An instruction with a result.
  Id Emit(spv::Op op, Id type, std::span<const uint32_t> operands);
  Id Emit(spv::Op op, Id type, std::initializer_list<uint32_t> operands) {
    return Emit(op, type, std::span<const uint32_t>(operands.begin(), operands.size()));
  }
  /// An instruction without a result.
  void Do(spv::Op op, std::span<const uint32_t> operands) { AppendInstruction(Stream(), op, operands); }
  void Do(spv::Op op, std::initializer_list<uint32_t> operands) {
    Do(op, std::span<const uint32_t>(operands.begin(), operands.size()));
  }
  /// A function of GLSL.std.450.
  Id Glsl(GLSLstd450 function, Id type, std::initializer_list<Id> operands);
  /// A variable of this function.
  Id Variable(Id pointee);

  /// The place in the source that was said last in this block; empty: none.
  const Words& Place() const { return place_; }
  /// The instructions that follow in this block come from another place; `code` says so.
  void SetPlace(Words place, const Words& code);

  // Blocks. A block ends with a branch, and the next one starts with its label.
  void Start(Id label);
  void Branch(Id label) { Do(spv::OpBranch, {label}); }
  void BranchIf(Id condition, Id yes, Id no) { Do(spv::OpBranchConditional, {condition, yes, no}); }
  /// Ends the block with a selection; `merge` is where its ways meet again.
  void Select(Id condition, Id yes, Id no, Id merge);
  /// Whether there has been a loop of several blocks.
  bool HasLoops() const { return has_loops_; }
  /// Writes what `then` emits for where `condition` holds. Gives the block in which it ends.
  template <class Then>
  Id When(Id condition, Then then) {
    Id yes = module_.NewId(), join = module_.NewId();
    Select(condition, yes, join, join);
    Id end = EmitWay(yes, join, then);
    Start(join);
    return end;
  }
  /// The same, and what `otherwise` emits for elsewhere. Gives the blocks in which they end.
  template <class Then, class Else>
  std::pair<Id, Id> Either(Id condition, Then then, Else otherwise) {
    Id yes = module_.NewId(), no = module_.NewId(), join = module_.NewId();
    Select(condition, yes, no, join);
    Id then_end = EmitWay(yes, join, then), else_end = EmitWay(no, join, otherwise);
    Start(join);
    return {then_end, else_end};
  }
  /// The value of one of two ways, at the start of the block where they meet.
  Id Phi(Id type, Id a, Id from_a, Id b, Id from_b) { return Emit(spv::OpPhi, type, {a, from_a, b, from_b}); }

  /// Ends the function, whose last block has been ended, and gives it to the module.
  void Finish();

 protected:
  ModuleBuilder& module_;

 private:
  friend class Loop;
  Words& Stream() { return in_head_ ? head_ : body_; }
  /// Emits what stands from `label` on, and leads to `join`. Gives the block in which it ends.
  template <class Way>
  Id EmitWay(Id label, Id join, Way way) {
    Start(label);
    way();
    Branch(join);
    return block_;
  }

  Id id_ = 0, entry_ = 0, block_ = 0;
  Id result_type_ = 0, type_ = 0;
  std::vector<Id> parameter_types_, parameters_;
  bool in_head_ = false;
  bool has_loops_ = false;
  Words place_;
  Words variables_, head_, body_;
};

/// An OpPhi whose value from the loop's end is still to come.
struct OpenPhi {
  Id id = 0;
  size_t place = 0;  ///< of its second pair in the code
};

/// A loop that is being written:
///
///   header: phis; OpLoopMerge merge next; more ? body : merge
///   body:   ...
///   next:   back to header
///   merge:  what comes after it
class Loop {
 public:
  /// Ends the block and starts the header, which may be the loop's only block.
  explicit Loop(FunctionCode& builder, bool one_block = false);

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
  FunctionCode& f_;
  Id header_, body_, next_, merge_;
  Id before_;  ///< the block that enters the loop
};

}  // namespace adc::codegen::spirv
