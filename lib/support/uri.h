#pragma once
// Names of files as URIs.

#include <optional>
#include <string>
#include <string_view>

namespace adc {

/// "file:///tmp/a%20b.ir" for an absolute path; for another one a relative reference, "a%20b.ir".
std::string UriOfPath(std::string_view path);

/// The path that a URI "file:///..." names; none for other URIs and where an escape is malformed.
std::optional<std::string> PathOfUri(std::string_view uri);

}  // namespace adc
