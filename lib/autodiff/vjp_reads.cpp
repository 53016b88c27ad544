// A named vjp is given the buffers of its function as they are when the gradient runs. Where that is a later
// state, it reads the copies that the kernel has saved of them: each load of such a buffer becomes one of its
// copy,
//
//   func @f_vjp(%a: buffer<f32, 2>, ...)          func @f_vjp(%a: buffer<f32, 2>, ..., %copy: buffer<f32, 1>)
//     %v = load %a[%i, %j]                   =>     %v = load %copy[%i * shape(%a, 1) + %j]
//
// and the buffer itself still says how large it is.

#include "autodiff/vjp_reads.h"

#include <algorithm>

#include "analysis/memory.h"
#include "autodiff/save_final_values.h"
#include "ir/module.h"
#include "support/check.h"
#include "transform/rewriter.h"

namespace adc::autodiff {

using ir::Function, ir::Inst, ir::Op, ir::Value;

namespace {

/// The number of the parameter that `v` is; kNoAttr where it is none.
uint32_t ParameterNumber(const Function& function, Value v) {
  const ir::ValueData& data = function[v];
  bool is_parameter = function.IsParameter(v);
  return is_parameter ? data.number : ir::kNoAttr;
}

class CopyRewriter final : public transform::Rewriter {
 public:
  CopyRewriter(ir::Module& module, const Function& vjp, std::span<const VjpReads::Read> reads)
      : Rewriter(module, vjp), reads_(reads) {
    for (const VjpReads::Read& read : reads) {
      ir::Type element = vjp.TypeOf(vjp.Params()[read.param]).ScalarType();
      copies_.push_back(into_->AddParameter(ir::Type::Buffer(element, 1), {}, {}));
    }
  }

 private:
  void Visit(Inst inst) override {
    const ir::InstData& data = from_[inst];
    if (data.op == Op::Call && from_.RegionCount(inst) != 0) {
      for (Inst inner : from_[data.regions[0]].insts)
        if (from_[inner].op != Op::Yield) Visit(inner);
      return;
    }
    Value copy = data.op == Op::Load ? CopyFor(inst) : Value();
    if (!copy.Valid()) return Copy(inst);
    builder_.SetSpan(data.span);
    Define(inst, LoadFinalValue(builder_, copy, Map(from_.Operand(inst, 0)), MapAll(from_.Indices(inst))));
  }

  Value CopyFor(Inst load) const {
    uint32_t param = ParameterNumber(from_, from_.Operand(load, 0));
    for (size_t n = 0; n < reads_.size(); ++n)
      if (reads_[n].param == param && reads_[n].component == from_[load].component) return copies_[n];
    return {};
  }

  std::span<const VjpReads::Read> reads_;
  std::vector<Value> copies_;
};

}  // namespace

VjpReads::VjpReads(const ir::Module& module, const Function& kernel, Inst call) {
  size_t given = kernel.Operands(call).size();
  written_.resize(given);
  const Function* callee = module.Find(kernel[call].symbol);
  ADC_CHECK(callee != nullptr, "a call names no function");
  const Function* vjp = callee->vjp.Valid() ? module.Find(callee->vjp) : nullptr;
  if (vjp == nullptr) return;
  analysis::Structure structure(*vjp);
  for (Inst inst : structure.Order()) {
    if (!ir::IsAccess((*vjp)[inst].op)) continue;
    Value base = vjp->Operand(inst, 0);
    uint32_t param = ParameterNumber(*vjp, base);
    if (param >= given) continue;
    if (analysis::WritesMemory((*vjp)[inst].op)) written_[param] = 1;
    uint32_t component = (*vjp)[inst].component;
    auto is_this = [&](const Read& read) { return read.param == param && read.component == component; };
    if (std::none_of(reads_.begin(), reads_.end(), is_this)) reads_.push_back({param, component});
  }
  std::erase_if(reads_, [&](const Read& read) { return written_[read.param] != 0; });
  std::sort(reads_.begin(), reads_.end(), [](const Read& a, const Read& b) {
    return a.param != b.param ? a.param < b.param : a.component < b.component;
  });
}

std::unique_ptr<Function> ReadingCopies(ir::Module& module, const Function& vjp,
                                        std::span<const VjpReads::Read> reads) {
  return CopyRewriter(module, vjp, reads).Run();
}

}  // namespace adc::autodiff
