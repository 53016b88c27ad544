// adc::blocks: the IR's `parallel ... workgroup`, whose last axis counts the invocations of a block.
//
//   adc::blocks<8, 8>(n, m, [&](adc::block<8, 8> b) {    parallel %b.0, %b.1, %b in 0..%n, 0..%m, 0..64
//   workgroup {
//     adc::shared<float, 64> tile(b);                      %tile = alloca array<f32, 64> shared
//     tile[b.thread()] = x[b.index(1)];               =>   store %tile[%b], (load %x[%b.1 * 8 + %b rem 8])
//     b.barrier();                                         barrier
//   });                                                  }
//
// A block's object is empty: its numbers are those of the loop that is open.

#include "frontend/cpp/contract.h"
#include "ir/module.h"

namespace adc::frontend {

Given Contract::Blocks(const clang::FunctionDecl* function, llvm::ArrayRef<const clang::Expr*> arguments,
                       const clang::CallExpr* call) {
  SourceRange range = call->getSourceRange();
  CheckOutside(call, "adc::blocks");
  std::vector<Value> bounds = BoundsOf(arguments.drop_back());
  size_t axes = arguments.size() - 1;
  OpenBlock open;
  int64_t size = 1;
  for (size_t n = 0; n < axes; ++n) {
    const clang::TemplateArgument& extent =
        (*function->getTemplateSpecializationArgs())[static_cast<unsigned>(n)];
    open.sizes.push_back(extent.getAsIntegral().getExtValue());
    size *= open.sizes.back();
  }
  ObjectPtr closure = Place(arguments.back());
  const clang::FunctionDecl* body = BodyOfLambda(arguments.back(), 1, range);
  if (body == nullptr || !IsBlock(body->getParamDecl(0)->getType()))
    Refuse(arguments.back(), "adc::blocks takes a lambda with an adc::block");
  const clang::ParmVarDecl* parameter = body->getParamDecl(0);
  SetPlace(range);
  bounds.push_back(Number(0));
  bounds.push_back(Number(size));
  ir::Inst loop =
      RunParallel("adc::blocks", bounds, closure, body, [&](Frame& frame, std::span<const Value> indices) {
        std::string name = parameter->getNameAsString();
        for (size_t n = 0; n < axes; ++n) {
          function_[indices[n]].name = module_.Intern(name + (axes == 1 ? "" : std::to_string(n)));
          open.groups.push_back(Convert(indices[n], ir::kI32));
        }
        open.thread = indices[axes];
        function_[open.thread].name = module_.Intern("thread");
        open.body = writer_.block();
        open.scopes = writer_.ScopeCount();
        block_ = open;
        frame.variables[parameter] = NewObject(parameter->getType(), {}, parameter->getSourceRange());
      });
  function_[loop].words.Add(ir::Word::Workgroup);
  block_.reset();
  return {};
}

/// A member function of adc::block.
Given Contract::CallBlock(const clang::CallExpr* call, llvm::StringRef name,
                          llvm::ArrayRef<const clang::Expr*> arguments) {
  SourceRange range = call->getSourceRange();
  if (!block_) Refuse(call, "there is no block here", "call it in the lambda of adc::blocks");
  SetPlace(range);
  if (name == "barrier") {
    writer_.Create(Op::Barrier, {}, {});
    return {};
  }
  if (name == "cells") return SharedCells(call->getType(), range);
  if (name == "thread" && arguments.empty()) return block_->thread;
  size_t axis = 0;
  if (!arguments.empty()) {
    std::optional<int64_t> known = function_.IntegerConstant(ValueOf(arguments[0]));
    if (!known || *known < 0 || *known >= static_cast<int64_t>(block_->sizes.size()))
      Refuse(call, "the axis of " + name.str() + "() is a constant below the block's number of axes");
    axis = static_cast<size_t>(*known);
  }
  SetPlace(range);
  if (name == "thread") return ThreadAlong(axis);
  if (name == "group") return block_->groups[axis];
  Value first = Make(Op::Mul, {block_->groups[axis], Number(block_->sizes[axis])});
  return Make(Op::Add, {first, ThreadAlong(axis)});
}

/// The number of the invocation along an axis; the last one is the fastest.
Value Contract::ThreadAlong(size_t axis) {
  int64_t faster = 1;
  for (size_t n = axis + 1; n < block_->sizes.size(); ++n) faster *= block_->sizes[n];
  Value along = faster == 1 ? block_->thread : Make(Op::Div, {block_->thread, Number(faster)});
  return axis == 0 ? along : Make(Op::Rem, {along, Number(block_->sizes[axis])});
}

/// The array of an adc::shared.
ObjectPtr Contract::SharedCells(QualType type, SourceRange range) {
  if (writer_.block() != block_->body || writer_.MayHaveLeft(block_->scopes))
    Refuse(range, "a shared array is declared behind a branch or in a loop",
           "declare it where the lambda of adc::blocks begins");
  ObjectPtr cells = NewObject(type, {}, range);
  if (cells->storage.bases.empty()) Refuse(range, "a shared array of '" + Spell(cells->element) + "'");
  for (Value base : cells->storage.bases) function_[function_.DefiningInst(base)].words.Add(ir::Word::Shared);
  return cells;
}

bool Contract::IsShared(Value array) const {
  ir::Inst made = function_.DefiningInst(array);
  return made.Valid() && function_[made].Has(ir::Word::Shared);
}

}  // namespace adc::frontend
