#pragma once
// Files, whole or not at all.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "host/file_result.h"
#include "host/read_text.h"

namespace adc {

/// The bytes of the file at `path`; "-" is standard input. Fails, without reading it where it is
/// known to be larger than `most` bytes: the file may be a device or a pipe without an end, so that every
/// caller gives a limit. Where `wanted` is given, the file is read as far as it says.
FileResult<std::string> ReadWhole(const std::string& path, uint64_t most, const WantedBytes& wanted = {});
/// Fails where `path` names a pipe: opening it waits for a writer, perhaps for ever. The name of a file that
/// is open already ("-", /dev/fd/N) is no such name.
FileStatus CheckNoNamedPipe(const std::string& path);
/// Its first bytes, 4096 where there are as many: enough to recognise a small file of some form.
FileResult<std::string> ReadBegin(const std::string& path);
/// The same as ReadWhole for text: a device or a pipe is read to its first NUL byte, which is then the last
/// one.
FileResult<std::string> ReadWholeText(const std::string& path, uint64_t most);

/// Whether bytes of the open `file`, a pipe or a terminal, or its end are there to be read.
bool IsReadable(int file);

/// Fails where there is no file at `path` that can be read, or where it is a device or a pipe:
/// a file that other code reads by its name has an end.
FileStatus CheckRegularFile(const std::string& path);

/// Writes `bytes` to `path` so that a reader sees either the old file or the new one, also where the process
/// is killed: a file without a name is written, flushed to the disk, named and renamed. "-" is standard
/// output; a file that is not regular (a pipe, a device) is written in place. Fails, and then leaves nothing.
FileStatus WriteWhole(const std::string& path, std::span<const uint8_t> bytes);
FileStatus WriteWhole(const std::string& path, std::string_view text);
/// Writes a regular file in the place of whatever has the name `path`: a link or a pipe is replaced itself.
/// Only its owner may write the file; `shared`: whom the umask admits, too.
FileStatus ReplaceWhole(const std::string& path, bool shared, std::span<const uint8_t> bytes);
/// Writes a new file that its owner alone may read. Fails where the name is taken.
FileStatus WriteSecret(const std::string& path, std::string_view text);
/// As WriteWhole does, but a regular file that holds these bytes already is left untouched, its times too.
FileStatus WriteIfDifferent(const std::string& path, std::span<const uint8_t> bytes);

}  // namespace adc
