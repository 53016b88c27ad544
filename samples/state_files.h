#pragma once
// States of samples as files for `adc run`, `adc gradcheck` and `adc bench`.

#include <string>
#include <vector>

#include "mpm_state.h"

namespace adc::samples {

/// Writes each array as FOLDER/NAME.npy, and the file FOLDER/arguments, whose lines are the --arg options
/// that hand them over. Makes the folder. False after a failure, of which standard error tells.
bool WriteState(const std::string& folder, const std::vector<StateArray>& state, bool f64);

/// The whole text as a number in [low, high].
bool ReadNumber(const char* text, double low, double high, double* value);

}  // namespace adc::samples
