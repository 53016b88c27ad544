#pragma once
// The contents of the page of `adc report`, as JSON. The page's script reads it and draws.

#include "json_output.h"
#include "launch_sizes.h"

namespace adc::product {
struct Product;
}  // namespace adc::product

namespace adc::tool {

struct ReportInput {
  std::string file;  ///< as the command line names it
  const adrt_bundle* bundle = nullptr;
  const AllSizes& sizes;
  const SizeRequest& request;
  const product::Product* product = nullptr;  ///< of a source; null: the input is a bundle
  const std::string* text = nullptr;          ///< the text shown in place of the source's; null: that
  std::string source;                         ///< of a bundle: its name for the file that `text` is of
};

/// Everything about it. No name in it says where a file lies.
Json ReportData(const ReportInput& input);

}  // namespace adc::tool
