#include "transform/check_writes.h"

#include <map>
#include <utility>

#include "analysis/memory.h"
#include "support/check.h"
#include "transform/isolate_tasks.h"
#include "transform/rewriter.h"

namespace adc::transform {
namespace {

using ir::Function;
using ir::Inst;
using ir::InstData;
using ir::Op;
using ir::Type;
using ir::Value;

constexpr int64_t kWritten = 1;
constexpr int64_t kRead = 2;

class CheckWritesRewriter final : public Rewriter {
 public:
  CheckWritesRewriter(ir::Module& module, const Function& from) : Rewriter(module, from) {}

  /// False when the kernel writes nothing that is promised.
  bool Plan() {
    for (uint32_t block = 0; block < from_.BlockCount(); ++block) {
      for (Inst inst : from_[ir::Block(block)].insts) {
        if (IsPromised(inst) && analysis::WritesMemory(from_[inst].op)) flags_[PlaceOf(inst)] = {};
      }
    }
    for (auto& [place, flags] : flags_) {
      flags = {AddFlags(place), module_.Intern(NameOf(place))};
    }
    return !flags_.empty();
  }

 private:
  using Place = std::pair<uint32_t, uint32_t>;  ///< position of the parameter, field
  struct Flags {
    Value buffer;
    StringId name;  ///< of what they stand for, as messages say it
  };

  bool IsPromised(Inst inst) const {
    if (!ir::IsAccess(from_[inst].op)) return false;
    const ir::ValueData& base = from_[from_.Operand(inst, 0)];
    bool is_parameter = base.kind == ir::ValueKind::BlockParam && ir::Block(base.owner) == from_.Body();
    return is_parameter && from_.params[base.number].writeonce;
  }

  Place PlaceOf(Inst inst) const { return {from_[from_.Operand(inst, 0)].number, from_[inst].attr}; }

  std::string NameOf(const Place& place) const {
    Value param = from_.Params()[place.first];
    std::string name(module_.Text(from_[param].name));
    Type type = from_.TypeOf(param);
    if (!type.IsLayout()) return name;
    return name + "::" + std::string(module_.Text(module_.layouts[type.count].fields[place.second].name));
  }

  Value AddFlags(const Place& place) {
    Value param = from_.Params()[place.first];
    Type type = from_.TypeOf(param);
    Type element = module_.ElementType(from_, param, place.second);
    element.scalar = ir::Scalar::U32;
    uint32_t rank = type.count;
    std::string name(module_.Text(from_[param].name));
    if (type.IsLayout()) {
      const ir::LayoutField& field = module_.layouts[type.count].fields[place.second];
      rank = static_cast<uint32_t>(field.axes.size());
      name += "." + std::string(module_.Text(field.name));
    }
    ir::ParamInfo info;
    info.role = ir::ParamRole::Scratch;
    info.companion_of = place.first;
    info.companion_field = place.second;
    info.span = from_.params[place.first].span;
    return into_->AddParameter(Type::Buffer(element, rank), module_.Intern(name + ".writes"), info);
  }

  /// Sets a flag of what `access` touches. The flags before.
  Value Mark(Inst access, const Flags& flags, int64_t flag) {
    const InstData& data = from_[access];
    Type element = from_.TypeOf(from_.Operand(access, 0)).IsLayout()
                       ? into_->TypeOf(flags.buffer).Element()
                       : from_.TypeOf(from_.Operand(access, 0)).Element();
    ADC_CHECK(element.IsScalar() || data.component != ir::kNoAttr,
              "an access of a whole vector reaches the check of writes");
    builder_.SetSpan(data.span);
    Value mark = builder_.Int(Type::Of(ir::Scalar::U32), flag);
    return builder_.Access(Op::AtomicOr, flags.buffer, MapAll(from_.Indices(access)), {&mark, 1}, ir::kNoAttr,
                           data.component);
  }

  void Visit(Inst inst) override {
    auto found = IsPromised(inst) ? flags_.find(PlaceOf(inst)) : flags_.end();
    if (found == flags_.end()) return Copy(inst);
    const Flags& flags = found->second;
    if (!analysis::WritesMemory(from_[inst].op)) {
      Mark(inst, flags, kRead);
      return Copy(inst);
    }
    Copy(inst);
    Value before = Mark(inst, flags, kWritten);
    Value kept = builder_.Make(Op::Eq, {before, builder_.Zero(Type::Of(ir::Scalar::U32))});
    Inst check = builder_.Create(Op::Assert, {&kept, 1}, {});
    (*into_)[check].flags = ir::kFlagPromise;
    (*into_)[check].symbol = flags.name;
  }

  std::map<Place, Flags> flags_;
};

}  // namespace

bool CheckWrites(ir::Module& module, diag::Diagnostics& diagnostics) {
  bool any = false;
  for (auto& function : module.functions) {
    if (!function->IsKernel() || function->role != ir::KernelRole::Primal) continue;
    CheckWritesRewriter rewriter(module, *function);
    if (!rewriter.Plan()) continue;
    std::unique_ptr<Function> checked = rewriter.Run();
    *function = std::move(*checked);
    any = true;
  }
  return !any || IsolateTasks(module, {}, diagnostics);
}

}  // namespace adc::transform
