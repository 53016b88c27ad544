#include "autodiff/save_final_values.h"

#include <algorithm>
#include <map>

#include "analysis/structure.h"
#include "ir/module.h"
#include "transform/rewriter.h"

namespace adc::autodiff {

using ir::Function, ir::Inst, ir::Op, ir::Type, ir::Value;

namespace {

class FinalRewriter final : public transform::Rewriter {
 public:
  FinalRewriter(ir::Module& module, const Function& from, std::span<const FinalRead> reads,
                transform::FoldConfig fold)
      : Rewriter(module, from, fold) {
    for (const FinalRead& read : reads) {
      std::vector<FinalRead>& here = reads_[analysis::TopLevelOf(from, read.reader)];
      bool known = std::any_of(here.begin(), here.end(), [&](const FinalRead& other) {
        return other.component == read.component && other.base == read.base;
      });
      if (!known) here.push_back(read);
    }
  }

 private:
  void Visit(Inst inst) override {
    Copy(inst);
    if (auto here = reads_.find(inst); here != reads_.end())
      for (const FinalRead& read : here->second) Keep(read);
  }

  /// Copies the whole buffer, element by element in C order.
  void Keep(const FinalRead& read) {
    diag::SourceSpan span = from_[read.reader].span;
    builder_.SetSpan(span);
    Type type = from_.TypeOf(read.base);
    Value base = Map(read.base);
    Value saved = AddSavedBuffer(module_, *into_, type.ScalarType(), span);
    std::vector<Value> bounds, extents;
    for (uint32_t axis = 0; axis < type.count; ++axis) {
      extents.push_back(builder_.Shape(base, axis));
      bounds.insert(bounds.end(), {builder_.I32(0), extents.back()});
    }
    ir::Block around = builder_.block();
    std::vector<Value> indices;
    if (!bounds.empty()) {
      Inst loop = builder_.Parallel(bounds, 0);
      indices = (*into_)[(*into_)[loop].regions[0]].params;
      builder_.SetBlock((*into_)[loop].regions[0]);
    }
    Value number = builder_.I64(0);
    for (size_t axis = 0; axis < indices.size(); ++axis) {
      Value index = builder_.Cast(indices[axis], ir::kI64);
      if (axis > 0) number = builder_.Make(Op::Mul, {number, builder_.Cast(extents[axis], ir::kI64)});
      number = axis > 0 ? builder_.Make(Op::Add, {number, index}) : index;
    }
    Value value = builder_.Load(base, indices, ir::kNoAttr, read.component);
    builder_.Access(Op::Store, saved, {&number, 1}, {&value, 1});
    if (bounds.empty()) return;
    builder_.Yield({});
    builder_.SetBlock(around);
  }

  std::map<Inst, std::vector<FinalRead>> reads_;  ///< by what holds the reader at the top level
};

}  // namespace

Value AddSavedBuffer(ir::Module& module, Function& function, Type element, diag::SourceSpan span) {
  std::string stem = "saved." + ir::TypeName(module, element), name = stem;
  auto taken = [&] {
    for (Value param : function.Params())
      if (module.Text(function[param].name) == name) return true;
    return false;
  };
  for (uint32_t number = 2; taken(); ++number) name = stem + "." + std::to_string(number);
  ir::ParamInfo info;
  info.role = ir::ParamRole::Saved;
  info.span = span;
  return function.AddParameter(Type::Buffer(element, 1), module.Intern(name), info);
}

std::unique_ptr<Function> SaveFinalValues(ir::Module& module, const Function& function,
                                          std::span<const FinalRead> reads, transform::FoldConfig fold) {
  return FinalRewriter(module, function, reads, fold).Run();
}

Value LoadFinalValue(transform::FoldingBuilder& builder, Value copy, Value base,
                     std::span<const Value> indices) {
  Value number = builder.I64(0), count = builder.I64(1);
  for (uint32_t axis = 0; axis < indices.size(); ++axis) {
    Value extent = builder.Cast(builder.Shape(base, axis), ir::kI64);
    Value index = builder.Cast(indices[axis], ir::kI64);
    number = builder.Make(Op::Add, {builder.Make(Op::Mul, {number, extent}), index});
    count = builder.Make(Op::Mul, {count, extent});
  }
  // An index may be data: this bounds the slot.
  if (!indices.empty())
    number = builder.Make(Op::Min, {number, builder.Make(Op::Sub, {count, builder.I64(1)})});
  return builder.Load(copy, {&number, 1});
}

}  // namespace adc::autodiff
