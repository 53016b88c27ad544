#pragma once
// Options about who vouches for the code of bundles.

#include <string>
#include <vector>

#include "command_line.h"
#include "loader.h"

namespace adc::tool {

/// --trust, --confined and --key.
void AddTrustOptions(CommandLine& line, Trust* trust);

/// --key=FILE, any number of them: public keys, one after the other.
void AddKeyOption(CommandLine& line, std::string help, std::vector<uint8_t>* keys);

}  // namespace adc::tool
