#include "driver/check_limits.h"

#include <algorithm>
#include <string>

#include "analysis/task_size.h"
#include "analysis/tasks.h"
#include "artifact/metadata.h"
#include "codegen/common/mangle.h"
#include "diag/errors/driver.h"
#include "ir/module.h"
#include "support/check.h"

namespace adc::driver {

namespace {

/// Scalar operations that `inst` becomes. A product or an inverse of matrices multiplies each component by a
/// side; a determinant is an elimination as well.
uint64_t ScalarOperations(const ir::Function& function, ir::Inst inst) {
  uint64_t largest = 1;
  uint32_t side = 1;
  auto take = [&](ir::Type type) {
    if (!type.IsRegister()) return;
    largest = std::max<uint64_t>(largest, type.Components());
    if (type.columns != 0) side = std::max<uint32_t>({side, type.rows, type.columns});
  };
  for (ir::Value operand : function.Operands(inst)) take(function.TypeOf(operand));
  for (uint32_t n = 0; n < function[inst].result_count; ++n) take(function.TypeOf(function.Result(inst, n)));
  return largest * side;
}

uint64_t OperationsOf(const ir::Function& function) {
  uint64_t count = 0;
  for (uint32_t n = 0; n < function.InstCount(); ++n) count += ScalarOperations(function, ir::Inst(n));
  return count;
}

}  // namespace

bool CheckOperations(const ir::Module& module, const Limits& limits, const char* when,
                     diag::Diagnostics& diagnostics) {
  uint64_t count = 0;
  for (const auto& function : module.functions) count += OperationsOf(*function);
  if (count <= limits.operations) return true;
  const ir::Function* largest = nullptr;
  uint64_t most = 0;
  for (const auto& function : module.functions) {
    uint64_t own = OperationsOf(*function);
    if (own <= most) continue;
    most = own;
    largest = function.get();
  }
  ADC_CHECK(largest != nullptr, "a sum of operations that no function has");
  diagnostics
      .Error(diag::E0760, largest->span,
             std::to_string(count) + " operations " + when + ", " + std::to_string(most) + " of them in '@" +
                 std::string(module.Text(largest->name)) + "': more than the limit of " +
                 std::to_string(limits.operations))
      .AddHelp(
          "use loops where calls, unrolling or large matrices repeat code, compile kernels one at a time, or "
          "allow more with --limit-operations=N");
  return false;
}

namespace {

/// The text of an assertion lies in the metadata.
bool CheckAssertions(const ir::Module& module, diag::Diagnostics& diagnostics) {
  constexpr size_t kMost = 4096;
  std::vector<diag::SourceSpan> told;
  for (const auto& function : module.functions) {
    if (!function->IsKernel()) continue;
    for (uint32_t n = 0; n < function->InstCount(); ++n) {
      const ir::InstData& inst = (*function)[ir::Inst(n)];
      if (inst.op != ir::Op::Assert || module.Text(inst.symbol).size() <= kMost) continue;
      if (std::find(told.begin(), told.end(), inst.span) != told.end()) continue;
      told.push_back(inst.span);
      diagnostics
          .Error(diag::E0706, inst.span,
                 "the text of an assertion has " + std::to_string(module.Text(inst.symbol).size()) +
                     " bytes: at most " + std::to_string(kMost) + " are possible")
          .AddHelp("shorten it, or compile without --asserts");
    }
  }
  return told.empty();
}

}  // namespace

bool CheckNames(const ir::Module& module, bool asserts, diag::Diagnostics& diagnostics) {
  if (asserts && !CheckAssertions(module, diagnostics)) return false;
  constexpr uint32_t kMost = artifact::Limits().name_bytes;
  constexpr size_t kShown = 48;
  const std::string most = ": at most " + std::to_string(kMost) + " are possible";
  std::vector<diag::SourceSpan> told;
  auto report = [&](diag::SourceSpan span, std::string text, const char* help) {
    // A derived kernel stands where its primal does.
    if (std::find(told.begin(), told.end(), span) != told.end()) return;
    told.push_back(span);
    diagnostics.Error(diag::E0706, span, std::move(text) + most).AddHelp(help);
  };
  auto check = [&](diag::SourceSpan span, const char* what, StringId name) {
    size_t size = module.Text(name).size();
    if (size > kMost)
      report(span, std::string("the name of a ") + what + " has " + std::to_string(size) + " bytes",
             "shorten it; companions in derived kernels have its name with '.adj', '.tan' and the like");
  };
  for (const auto& function : module.functions) {
    if (!function->IsKernel()) continue;
    std::string name(module.Text(function->name));
    size_t tasks = std::max<size_t>(analysis::TasksOf(*function).size(), 1);
    size_t size = codegen::LongestSymbol(name, static_cast<uint32_t>(tasks - 1));
    if (size > kMost)
      report(function->span,
             "the name of kernel '@" + (name.size() > kShown ? name.substr(0, kShown) + "..." : name) +
                 "' has " + std::to_string(name.size()) + " bytes, and the symbols of its code have " +
                 std::to_string(size),
             "shorten it: symbols are 'adc_NAME_t0_far', with '.' and whatever is no letter, digit or '_' as "
             "three bytes, and derived kernels have names with '.grad', '.jvp' and the like");
    for (uint32_t n = 0; n < function->Params().size(); ++n)
      check(function->params[n].span.Valid() ? function->params[n].span : function->span, "parameter",
            (*function)[function->Params()[n]].name);
  }
  for (const ir::Layout& layout : module.layouts) {
    check(layout.span, "layout", layout.name);
    for (const ir::LayoutField& field : layout.fields) check(field.span, "field", field.name);
  }
  return told.empty();
}

uint64_t LargestTask(const ir::Function& kernel) {
  uint64_t most = 0;
  for (const analysis::Task& task : analysis::TasksOf(kernel))
    most = std::max(most, analysis::OperationsOf(kernel, task));
  return most;
}

}  // namespace adc::driver
