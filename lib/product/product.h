#pragma once
// The product of a compilation.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "autodiff/provisions.h"
#include "diag/source.h"
#include "ir/module.h"

namespace adc::product {

/// The product of one compilation.
struct Product {
  std::vector<uint8_t> bytes;             ///< in the form that the options ask for
  std::vector<uint8_t> header, json;      ///< where the options name a file for them
  std::vector<std::string> dependencies;  ///< files read, the inputs first
  /// The provisions of gradients for primal values, by name of the gradient, where the options ask.
  std::map<std::string, autodiff::ProvisionRecord> provisions;
  std::unique_ptr<ir::Module> module;  ///< the IR, where `bytes` are its text
  diag::SourceManager sources;         ///< the sources that places in `module` and `provisions` refer to
  bool cancelled = false;              ///< the caller ended the compilation
};

}  // namespace adc::product
