#include "codegen/common/can_generate.h"

#include "analysis/tasks.h"
#include "diag/errors/codegen.h"
#include "ir/module.h"
#include "support/check.h"

namespace adc::codegen {
namespace {

using ir::Op;

class Checker {
 public:
  Checker(const ir::Module& module, const ir::Function& kernel, const target::Target& target,
          std::vector<diag::Diagnostic>& warnings)
      : module_(module), kernel_(kernel), target_(target), warnings_(warnings) {}

  diag::Status Check() {
    const std::vector<ir::Inst>& insts = kernel_[kernel_.Body()].insts;
    for (const analysis::Task& task : analysis::TasksOf(kernel_)) {
      private_bytes_ = 0;
      for (uint32_t position = task.first; position < task.last; ++position) {
        if (diag::Status status = CheckInst(insts[position]); !status) return status;
      }
    }
    return diag::Unit{};
  }

 private:
  diag::Diagnostic Refused(ir::Inst inst, const std::string& why, const std::string& remedy) const {
    return diag::Fail(diag::E0602, kernel_[inst].span,
                      "'" + std::string(ir::InfoOf(kernel_[inst].op).spelling) + "' of '" +
                          std::string(module_.Text(kernel_.name)) + "' " + why,
                      remedy);
  }

  diag::Status CheckInst(ir::Inst inst) {
    const ir::InstData& data = kernel_[inst];
    if (!target_.f64 && TouchesF64(inst)) {
      return Refused(inst, "works on f64, and " + target_.name + " has no 64-bit floats",
                     "write it with f32, or leave this target out");
    }
    if (data.op == Op::Alloca) {
      ir::Type type = kernel_.TypeOf(kernel_.Result(inst));
      private_bytes_ += uint64_t{type.count} * type.ElementBytes();
      if (private_bytes_ > target_.private_bytes) {
        return diag::Fail(diag::E0601, data.span,
                          "the local arrays of this task take " + std::to_string(private_bytes_) +
                              " bytes; " + std::string(target_.name) + " allows at most " +
                              std::to_string(target_.private_bytes),
                          "make the arrays smaller, or keep them in a buffer parameter");
      }
    }
    if ((data.op == Op::VecGet || data.op == Op::MatGet) && !IsParameterComponent(inst)) {
      return Refused(inst,
                     "takes a component that is not known when compiling, which " + target_.name +
                         " cannot do for a parameter",
                     "pass the values in a buffer and index that");
    }
    if (diag::Status status = CheckAtomic(inst); !status) return status;
    WarnOfSum(inst);
    if (data.op == Op::Print) {
      warnings_.push_back({diag::Severity::Warning, diag::W0601, data.span,
                           "'print' is left out of code for " + std::string(target_.name)});
      warnings_.back().help = "--prints compiles it, and 'adc run' prints what it records";
    }
    for (ir::Block region : data.regions) {
      if (!region.Valid()) continue;
      for (ir::Inst inner : kernel_[region].insts) {
        if (diag::Status status = CheckInst(inner); !status) return status;
      }
    }
    return diag::Unit{};
  }

  /// Whether a value that the instruction takes or gives is of 64-bit floats.
  bool TouchesF64(ir::Inst inst) const {
    auto is_f64 = [&](ir::Value value) {
      ir::Type type = kernel_.TypeOf(value);
      bool holds = type.IsRegister() || type.IsArray();
      return holds && type.scalar == ir::Scalar::F64;
    };
    for (ir::Value operand : kernel_.Operands(inst)) {
      if (is_f64(operand)) return true;
    }
    for (uint32_t n = 0; n < kernel_[inst].result_count; ++n) {
      if (is_f64(kernel_.Result(inst, n))) return true;
    }
    return false;
  }

  /// Metal has no 64-bit atomics. Size kernels, which the compiler writes, count in 64 bits what fits
  /// into 32.
  diag::Status CheckAtomic(ir::Inst inst) const {
    const ir::InstData& data = kernel_[inst];
    bool atomic = ir::IsAtomic(data.op) && !ir::IsCounting(kernel_.role);
    if (!atomic || target_.kind != target::Kind::Metal) return diag::Unit{};
    ir::Value buffer = kernel_.Operand(inst, 0);
    ir::Type base = kernel_.TypeOf(buffer);
    if (!base.IsBuffer() && !base.IsLayout()) return diag::Unit{};
    ir::Scalar scalar = module_.ElementType(kernel_, buffer, data.attr).scalar;
    if (ir::ByteSize(scalar) != 8) return diag::Unit{};
    return Refused(
        inst,
        std::string("works on ") + ir::Spelling(scalar) + ", and " + target_.name + " has no 64-bit atomics",
        "use a buffer of 32-bit integers, or leave this target out");
  }

  /// One cell for all iterations: its indices are made outside of every loop and branch.
  bool IsFixedCell(ir::Inst inst) const {
    for (ir::Value index : kernel_.Indices(inst)) {
      ir::Inst source = kernel_.DefiningInst(index);
      bool is_param = kernel_[index].kind == ir::ValueKind::BlockParam;
      if (source.Valid() && kernel_[source].parent != kernel_.Body()) return false;
      if (is_param && ir::Block(kernel_[index].owner) != kernel_.Body()) return false;
    }
    return true;
  }

  /// CPUs, CUDA and HIP add up what goes to a fixed cell among many iterations before they round it.
  bool SumsFirst(ir::Inst inst) const {
    bool many = target_.IsCpu() || target_.kind == target::Kind::Cuda || target_.kind == target::Kind::Hip;
    return many && IsFixedCell(inst);
  }

  /// Of the first sum of f16 that iterations make together and that rounds the part of each, or of few.
  void WarnOfSum(ir::Inst inst) {
    const ir::InstData& data = kernel_[inst];
    bool sums = data.op == Op::AtomicAdd || data.op == Op::AtomicSub ||
                (data.op == Op::AddTo && !data.Has(ir::Word::Plain));
    if (!sums || warned_of_sum_ || SumsFirst(inst)) return;
    ir::Value buffer = kernel_.Operand(inst, 0);
    ir::Type base = kernel_.TypeOf(buffer);
    if (!base.IsBuffer() && !base.IsLayout()) return;
    if (module_.ElementType(kernel_, buffer, data.attr).scalar != ir::Scalar::F16) return;
    warned_of_sum_ = true;
    warnings_.push_back(
        {diag::Severity::Warning, diag::W0602, data.span,
         "'" + std::string(module_.Text(kernel_.name)) +
             "' sums f16 here, and each update of the cell is rounded: a long sum stands still"});
    warnings_.back().help = "--deterministic rounds once; or make the sum f32";
  }

  bool IsParameterComponent(ir::Inst inst) const {
    std::span<const ir::Value> operands = kernel_.Operands(inst);
    ir::Type type = kernel_.TypeOf(operands[0]);
    const ir::ValueData& base = kernel_[operands[0]];
    if (base.kind != ir::ValueKind::BlockParam || ir::Block(base.owner) != kernel_.Body()) return false;
    for (size_t n = 1; n < operands.size(); ++n) {
      std::optional<int64_t> index = kernel_.IntegerConstant(operands[n]);
      if (!index || *index < 0 || *index >= (n == 1 ? type.rows : type.columns)) return false;
    }
    return true;
  }

  const ir::Module& module_;
  const ir::Function& kernel_;
  const target::Target& target_;
  std::vector<diag::Diagnostic>& warnings_;
  uint64_t private_bytes_ = 0;
  bool warned_of_sum_ = false;
};

}  // namespace

diag::Status CanGenerate(const ir::Module& module, const ir::Function& kernel, const target::Target& target,
                         std::vector<diag::Diagnostic>& warnings) {
  return Checker(module, kernel, target, warnings).Check();
}

diag::Status CheckInput(const ir::Module& module, std::span<const KernelToEmit> kernels,
                        const CodeConfig& config, std::vector<diag::Diagnostic>& warnings) {
  ADC_CHECK(module.phase == ir::Phase::Raised, "code generation needs a raised module");
  ADC_CHECK(!config.debug_lines || config.sources != nullptr, "line tables need the sources");
  for (const KernelToEmit& what : kernels) {
    diag::Status possible = CanGenerate(module, *what.kernel, config.target, warnings);
    if (!possible) return possible;
  }
  return diag::Unit{};
}

}  // namespace adc::codegen
