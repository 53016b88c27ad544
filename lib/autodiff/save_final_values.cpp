#include "autodiff/save_final_values.h"

#include <algorithm>
#include <map>

#include "analysis/structure.h"
#include "ir/module.h"
#include "transform/rewriter.h"

namespace adc::autodiff {

using ir::Function;
using ir::Inst;
using ir::Op;
using ir::Type;
using ir::Value;

namespace {

class FinalRewriter final : public transform::Rewriter {
 public:
  FinalRewriter(ir::Module& module, const Function& from, std::span<const Inst> extrema,
                transform::FoldConfig fold)
      : Rewriter(module, from, fold) {
    analysis::Structure structure(from);
    for (Inst inst : extrema) {
      std::vector<Inst> around = structure.Enclosing(inst);
      std::vector<Inst>& here = extrema_[around.empty() ? inst : around.front()];
      bool known = std::any_of(here.begin(), here.end(), [&](Inst other) {
        return from[other].component == from[inst].component &&
               from.Operand(other, 0) == from.Operand(inst, 0);
      });
      if (!known) here.push_back(inst);
    }
  }

 private:
  void Visit(Inst inst) override {
    Copy(inst);
    if (auto here = extrema_.find(inst); here != extrema_.end())
      for (Inst extremum : here->second) Keep(extremum);
  }

  /// Copies the whole buffer, element by element in C order.
  void Keep(Inst extremum) {
    const ir::InstData& data = from_[extremum];
    builder_.SetSpan(data.span);
    Value base = Map(from_.Operand(extremum, 0));
    Value saved = AddSavedBuffer(module_, *into_, from_.TypeOf(from_.AccessValues(extremum)[0]), data.span);
    std::vector<Value> bounds, extents;
    for (uint32_t axis = 0; axis < data.index_count; ++axis) {
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
    Value value = builder_.Load(base, indices, data.attr, data.component);
    builder_.Access(Op::Store, saved, {&number, 1}, {&value, 1});
    if (bounds.empty()) return;
    builder_.Yield({});
    builder_.SetBlock(around);
  }

  std::map<Inst, std::vector<Inst>> extrema_;  ///< by what holds them at the top level
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
                                          std::span<const Inst> extrema, transform::FoldConfig fold) {
  return FinalRewriter(module, function, extrema, fold).Run();
}

}  // namespace adc::autodiff
