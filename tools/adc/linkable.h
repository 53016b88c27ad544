#pragma once
// The parts that a program links in place of loading a bundle's code: object, table of entries, bundle
// without the code.

#include <string>
#include <vector>

#include "bundle_file.h"

namespace adc::tool {

struct LinkableFile {
  std::string name;  ///< in the folder
  std::vector<uint8_t> bytes;
};

/// Whether C takes the text as a name.
bool IsIdentifier(std::string_view name);

/// How its names and files are called.
struct LinkableNames {
  std::string stem;    ///< "relax": of the files
  std::string prefix;  ///< of all names that linkers see; empty: the stem as an identifier
  /// The program has an object that `adc --emit=obj --prefix` made: there is none among the files, and the
  /// table takes its entries by their plain names.
  bool own_object = false;
};

/// The files for the one CPU target of the bundle, or the one that `target` names: STEM_code.o,
/// STEM_entries.c, STEM_entries.h, STEM_static.adcb. kExitOk, or the exit code after the reason was printed.
int MakeLinkable(const BundleFile& file, const std::string& target, LinkableNames names,
                 std::vector<LinkableFile>* files);

}  // namespace adc::tool
