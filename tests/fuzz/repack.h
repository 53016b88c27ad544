#pragma once
// Bundles whose sizes, hashes and content id are put right again, so that what is wrong inside of a section
// is met by what reads the section and not by a hash.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fuzz {

/// `file` with file size, hashes of sections, and the hash of header and table as they should be, as far as
/// there is a table.
void PutRight(std::vector<uint8_t>& file);

/// What the sections of `file` hold, as a table that need not be right says, in a bundle that is: sections as
/// they are, the content id computed. Empty where nothing like a table is there.
std::vector<uint8_t> Repack(const std::vector<uint8_t>& file);

/// The same with the content of one section, chosen by `seed`, handed to `change`, which may make it up to
/// `most` bytes long.
std::vector<uint8_t> RepackChanged(const std::vector<uint8_t>& file, uint32_t seed, size_t most,
                                   size_t (*change)(uint8_t* bytes, size_t size, size_t most));

}  // namespace fuzz
