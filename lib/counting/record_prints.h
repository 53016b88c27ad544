#pragma once
// Makes kernels record what they print in a buffer of the caller, which code for every target can do.

#include <string>
#include <vector>

#include "ir/module.h"
#include "transform/pass.h"

namespace adc::counting {

/// The facts about a `print` statement from which a reader writes its lines.
struct PrintStatement {
  std::string text;                 ///< a {} for each value, in order
  std::vector<ir::Scalar> indices;  ///< of the iteration of the parallel loop around; none outside of all
  std::vector<ir::Scalar> values;
  uint32_t part = 0;  ///< 2 n + 1 in the n-th parallel loop of the kernel, from 0; 2 n in front of it
  diag::SourceSpan place;
};

/// The statements of one kernel. Records name them by position, from 1.
struct KernelPrints {
  std::string kernel;
  std::string buffer;  ///< name of the parameter that gets the records
  std::vector<PrintStatement> statements;
};

/// Gives each kernel that prints a last parameter, `%prints: buffer<u32, 1>`, and writes records in it in the
/// place of lines (artifact/print_record.h).
///
///   print "x = {}", %x      ->      if (there is space) { %at = atomic add %prints[0], 3 ... }
///                                   if (the record fits) { store %prints[%at + 3], 1 ... } else { count it }
///
/// Requires: scalars in registers (Scalarise), calls inlined, derivatives made: they repeat no print.
/// Guarantees: records of one iteration lie in the order in which it prints. Breaks: loops that print are not
/// `apart` any more, so that one thread runs all of an iteration that prints.
std::vector<KernelPrints> RecordPrints(ir::Module& module, transform::FoldConfig fold);

}  // namespace adc::counting
