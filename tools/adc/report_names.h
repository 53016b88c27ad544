#pragma once
// Names of files in a page: none says where on this machine a file lies.

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace adc::tool {

class PageNames {
 public:
  /// `files`: all that the page may name.
  explicit PageNames(const std::vector<std::string>& files);

  /// A file's name: as it was given where it is relative, else its last part, with as many folders before it
  /// as tell it from the others.
  std::string File(std::string_view file) const;
  /// A place, "file:line:column", or any other text, which stays as it is.
  std::string Place(std::string_view text) const;

 private:
  std::map<std::string, std::string, std::less<>> short_;  ///< of the absolute ones
};

}  // namespace adc::tool
