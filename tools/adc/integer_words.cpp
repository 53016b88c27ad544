#include "integer_words.h"

#include <optional>
#include <set>

#include "analysis/uses.h"
#include "ir/module.h"

namespace adc::tool {

namespace {

/// The uses of the bits of a float that is read.
class Reading {
 public:
  explicit Reading(const ir::Function& kernel) : kernel_(kernel), uses_(kernel) {}

  /// Whether every use of `loaded` takes its bits as an integer that stays one.
  bool IsInteger(ir::Value loaded) const {
    for (const analysis::Use& use : uses_.Of(loaded)) {
      if (kernel_[use.inst].op != ir::Op::Bitcast || !StaysInteger(kernel_.Result(use.inst))) return false;
    }
    return uses_.IsUsed(loaded);
  }

 private:
  bool StaysInteger(ir::Value bits) const {
    std::vector<ir::Value> work{bits};
    std::set<uint32_t> known{bits.raw};
    while (!work.empty()) {
      ir::Value v = work.back();
      work.pop_back();
      if (kernel_.TypeOf(v).IsFloat()) return false;
      for (const analysis::Use& use : uses_.Of(v)) {
        const ir::InstData& data = kernel_[use.inst];
        // A value that a cast makes is a number, which has the integer's.
        if (data.op == ir::Op::Cast && kernel_.TypeOf(kernel_.Result(use.inst)).IsFloat()) continue;
        if (ir::IsElementwise(data.op)) {
          if (known.insert(kernel_.Result(use.inst).raw).second) work.push_back(kernel_.Result(use.inst));
        } else if (!EndsHere(use)) {
          return false;
        }
      }
    }
    return true;
  }

  /// An index, a bound, a condition: no value goes on.
  bool EndsHere(const analysis::Use& use) const {
    const ir::InstData& data = kernel_[use.inst];
    if (ir::IsAccess(data.op) || ir::ClassOf(data.op) == ir::OpClass::Check) return true;
    if (data.op == ir::Op::ContinueIf || data.op == ir::Op::If) return true;
    // Carried values come last.
    return ir::HasRegions(data.op) && use.number + data.result_count < data.operand_count;
  }

  const ir::Function& kernel_;
  analysis::Uses uses_;
};

}  // namespace

std::map<std::string, std::vector<uint32_t>> IntegerWords(const ir::Module& module,
                                                          const ir::Function& kernel) {
  Reading reading(kernel);
  std::map<std::string, std::map<uint32_t, bool>> words;
  for (uint32_t n = 0; n < kernel.InstCount(); ++n) {
    ir::Inst inst(n);
    const ir::InstData& data = kernel[inst];
    if (data.op != ir::Op::Load || !data.parent.Valid() || data.index_count == 0) continue;
    ir::Value base = kernel.Operand(inst, 0);
    ir::Type type = kernel.TypeOf(base);
    if (!type.IsBuffer() || !ir::IsFloat(type.scalar) || type.Components() > 1) continue;
    std::string name(module.Text(kernel[base].name));
    std::optional<int64_t> word = kernel.IntegerConstant(kernel.Indices(inst).back());
    if (!word || *word < 0) continue;
    bool is_integer = reading.IsInteger(kernel.Result(inst));
    auto [known, first] = words[name].emplace(static_cast<uint32_t>(*word), is_integer);
    known->second = known->second && is_integer;
  }
  std::map<std::string, std::vector<uint32_t>> integers;
  for (const auto& [name, by_word] : words) {
    for (const auto& [word, is_integer] : by_word)
      if (is_integer) integers[name].push_back(word);
  }
  return integers;
}

}  // namespace adc::tool
