#pragma once
// Where the page of all messages is installed, which `adc explain --page` prints.

#include <string>

namespace adc::driver {

/// Its address, "file:///opt/adc/lib/adc/errors.html": an id after '#' names a message. Empty where it is not
/// installed, as in a build tree.
std::string ErrorPageUri();

}  // namespace adc::driver
