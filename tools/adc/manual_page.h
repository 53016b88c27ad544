#pragma once
// A command's table of options as a manual page.

#include <string>

namespace CLI {
class App;
}  // namespace CLI

namespace adc::tool {

/// The page in roff, for section 1 of the manual.
std::string ManualPage(const CLI::App& app);

}  // namespace adc::tool
