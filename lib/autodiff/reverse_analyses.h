#pragma once
// The facts of reverse mode about the kernel that it works from.

#include "autodiff/activity.h"
#include "autodiff/adjoint_work.h"
#include "autodiff/clobber.h"
#include "autodiff/region_tree.h"
#include "autodiff/to_be_recorded.h"

namespace adc::autodiff {

struct ReverseAnalyses {
  /// `reread_stored`: as ReverseConfig has it.
  ReverseAnalyses(const ir::Module& module, const ir::Function& from, bool reread_stored)
      : kernel(from),
        parameters(DiffParameters::FromAttributes(module, from)),
        tree(from),
        activity(module, from, parameters),
        work(from, activity),
        plan(from, tree, work, reread_stored) {}

  /// False, with errors, where the gradient would not be right.
  bool Check(const ir::Module& module, diag::Diagnostics& diagnostics) const {
    return CheckReverse(module, kernel, activity, work, plan, diagnostics);
  }

  const ir::Function& kernel;
  DiffParameters parameters;
  RegionTree tree;
  Activity activity;
  AdjointWork work;
  RecordingPlan plan;
};

}  // namespace adc::autodiff
