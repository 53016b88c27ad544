#pragma once
// The facts of a bundle about a source: it names its files, and the places of the values on its stacks.

#include <optional>
#include <string>

#include "json_output.h"

namespace adc::tool {

/// The name that a bundle's metadata has for the file at `path`: that path, or the only source of its file
/// name. None where there is no such source, with the reason in `failure`.
std::optional<std::string> SourceNamed(const Json& metadata, const std::string& path, std::string* failure);

/// Whether `text` is what the bundle was compiled from under the name `source`; none where it does not say
/// (before 1.17, and of a file for which text of another language stands).
std::optional<bool> IsTextOf(const Json& metadata, const std::string& source, const std::string& text);

/// The values that stacks hold and that `source` defines, once for each kernel, in the form of ProvisionJson.
/// Why they are stored a bundle does not say.
Json StackNotes(const Json& metadata, const std::string& source);

}  // namespace adc::tool
