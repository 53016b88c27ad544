// A file is written without a name (O_TMPFILE), flushed, linked to a fixed name beside its place and renamed:
// a kill at any moment leaves the old file or the new one, and at most one whole file under that name, which
// the next writer of the same place renames before its own. File systems without files that have no name get
// a neighbour under a lock; a lock that its process no longer holds marks what a kill has left, and the next
// run removes it.

#include "host/files.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace adc {

namespace {

FileFailure CannotWrite(const std::string& path, int error) {
  std::string help;
  if (error == ENOSPC || error == EDQUOT) {
    help = "free space on that disk, or write elsewhere";
  } else if (error == EFBIG) {
    help = "raise the limit of a file's size (ulimit -f), or write elsewhere";
  } else if (error == ENOENT || error == ENOTDIR) {
    help = "make the folder first, or write elsewhere";
  } else if (error == EACCES || error == EROFS || error == EPERM) {
    help = "write elsewhere, or change who may write there";
  }
  return {"cannot write '" + path + "': " + std::strerror(error), std::move(help)};
}

FileFailure CannotRead(const std::string& path, int error) {
  return {"cannot read '" + path + "': " + std::strerror(error), {}};
}

/// 0, or the errno of the write that failed.
int WriteAll(int file, std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return 0;
}

/// The permissions that a new file gets: the umask can only be read by setting it.
mode_t NewFileMode() {
  mode_t mask = umask(0);
  umask(mask);
  return static_cast<mode_t>(0666 & ~mask);
}

/// That a file system has no files without a name.
constexpr int kNoNameless = -1;

int FlushAndSetMode(int file, mode_t mode) {
  if (fchmod(file, mode) != 0) return errno;
  return fsync(file) != 0 && errno != EINVAL && errno != EROFS ? errno : 0;
}

/// The name under which a whole file waits to be renamed to `place`: a moment, but for a process killed then.
std::string WaitingName(const std::string& place) {
  size_t slash = place.rfind('/');
  size_t begin = slash == std::string::npos ? 0 : slash + 1;
  return place.substr(0, begin) + "." + place.substr(begin) + ".adc-new";
}

/// Whether what waits under `name` was put there by this user, as a whole file.
bool IsOwnFile(const std::string& name) {
  struct stat facts = {};
  return lstat(name.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_uid == geteuid();
}

/// Puts the file without a name that is open as `file` at `place`. 0, an errno, or kNoNameless.
int GiveName(int file, const std::string& place) {
  std::string self = "/proc/self/fd/" + std::to_string(file), waiting = WaitingName(place);
  // A link cannot replace a file, a rename can. A file that waits under the name was left by a process that
  // was killed, or is about to be renamed by another writer: it is whole in both cases, so that any writer
  // may rename it.
  constexpr uint32_t kAttempts = 10000;
  for (uint32_t attempt = 0; attempt < kAttempts; ++attempt) {
    if (linkat(AT_FDCWD, self.c_str(), AT_FDCWD, waiting.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      if (rename(waiting.c_str(), place.c_str()) == 0 || errno == ENOENT) return 0;
      int error = errno;
      unlink(waiting.c_str());
      return error;
    }
    // ENAMETOOLONG: the name itself may just fit.
    if (errno != EEXIST) return errno == ENOSPC || errno == EDQUOT ? errno : kNoNameless;
    if (!IsOwnFile(waiting) && access(waiting.c_str(), F_OK) == 0) return kNoNameless;
    if (rename(waiting.c_str(), place.c_str()) != 0 && errno != ENOENT) return errno;
  }
  return kNoNameless;
}

/// Writes a file that has no name until it is whole: a process that ends before leaves no file.
int WriteNameless(const std::string& place, mode_t mode, std::span<const uint8_t> bytes) {
  size_t slash = place.rfind('/');
  std::string folder = slash == std::string::npos ? "." : place.substr(0, slash + 1);
  int file = open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (file < 0) return kNoNameless;  // a file system without them, or a reason that the other way meets again
  int error = WriteAll(file, bytes);
  if (error == 0) error = FlushAndSetMode(file, mode);
  if (error == 0) error = GiveName(file, place);
  if (close(file) != 0 && error == 0) error = errno;
  return error;
}

/// Removes what killed processes have left of WriteNamed: files that none has locked.
void SweepUnfinished(const std::string& folder, const std::string& begin) {
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::string name = at->path().filename().string();
    if (!name.starts_with(begin) || !IsOwnFile(at->path().string())) continue;
    int file = open(at->path().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) continue;
    if (flock(file, LOCK_EX | LOCK_NB) == 0) unlink(at->path().c_str());
    close(file);
  }
}

/// Writes a neighbour of `place` under a lock, and renames it. The next run removes the neighbour that a
/// killed process leaves.
int WriteNamed(const std::string& place, mode_t mode, std::span<const uint8_t> bytes) {
  size_t slash = place.rfind('/');
  std::string folder = slash == std::string::npos ? "." : place.substr(0, slash + 1);
  std::string name = slash == std::string::npos ? place : place.substr(slash + 1);
  constexpr size_t kLongestPart = 200;
  std::string begin = "." + name.substr(0, kLongestPart) + ".adc-part.";
  SweepUnfinished(folder, begin);
  std::string temporary = (slash == std::string::npos ? "" : folder) + begin + "XXXXXX";
  int file = mkostemp(temporary.data(), O_CLOEXEC);
  if (file < 0) return errno;
  // Another run's sweep may come between these two: it has the lock then, and the caller hears of it. The
  // lock is not waited for.
  bool locked = flock(file, LOCK_EX | LOCK_NB) == 0;
  int error = !locked && errno != EOPNOTSUPP && errno != ENOLCK ? errno : 0;
  if (error == 0) error = WriteAll(file, bytes);
  if (error == 0) error = FlushAndSetMode(file, mode);
  if (error == 0 && rename(temporary.c_str(), place.c_str()) != 0) error = errno;
  if (error != 0) unlink(temporary.c_str());
  if (close(file) != 0 && error == 0) error = errno;
  return error;
}

/// Puts a file at `place`. 0 or an errno.
int WriteUnder(const std::string& place, mode_t mode, std::span<const uint8_t> bytes) {
  int error = WriteNameless(place, mode, bytes);
  return error == kNoNameless ? WriteNamed(place, mode, bytes) : error;
}

/// The text that was read from `path`, or the reason why there is none.
FileResult<std::string> Whole(const std::string& path, uint64_t most, ReadText read) {
  if (read.end == ReadEnd::Whole) return std::move(read.text);
  if (read.end == ReadEnd::Failed) return CannotRead(path, read.error);
  constexpr uint64_t kMebibyte = uint64_t{1} << 20;
  std::string limit =
      most < kMebibyte ? std::to_string(most) + " bytes" : std::to_string(most / kMebibyte) + " MiB";
  return FileFailure{"cannot read '" + path + "': it has more than " + limit,
                     "no file of this kind is that large"};
}

}  // namespace

FileResult<std::string> ReadWhole(const std::string& path, uint64_t most, const WantedBytes& wanted) {
  return Whole(path, most, ReadTextFile(path, most, /*regular_only=*/false, /*text=*/false, wanted));
}

FileStatus CheckNoNamedPipe(const std::string& path) {
  struct stat facts = {};
  bool is_open = path == "-" || path.starts_with("/dev/") || path.starts_with("/proc/");
  if (is_open || stat(path.c_str(), &facts) != 0 || !S_ISFIFO(facts.st_mode)) return FileDone{};
  return FileFailure{
      "cannot read '" + path + "': it is a named pipe, and its reader waits until somebody writes",
      "give what it would pass on as standard input, '-'"};
}

FileResult<std::string> ReadBegin(const std::string& path) {
  if (FileStatus file = CheckNoNamedPipe(path); !file) return file.Failure();
  return ReadWhole(path, UINT64_MAX, [](std::string_view) { return uint64_t{0}; });
}

FileResult<std::string> ReadWholeText(const std::string& path, uint64_t most) {
  return Whole(path, most, ReadTextFile(path, most, /*regular_only=*/false));
}

FileStatus CheckRegularFile(const std::string& path) {
  int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return CannotRead(path, errno);
  struct stat facts = {};
  int error = fstat(file, &facts) != 0 ? errno : S_ISDIR(facts.st_mode) ? EISDIR : 0;
  close(file);
  if (error != 0) return CannotRead(path, error);
  if (!S_ISREG(facts.st_mode)) return FileFailure{"cannot read '" + path + "': it is no regular file", ""};
  return FileDone{};
}

FileStatus WriteWhole(const std::string& path, std::span<const uint8_t> bytes) {
  if (path == "-") {
    int error = WriteAll(STDOUT_FILENO, bytes);
    if (error != 0) return CannotWrite("standard output", error);
    return FileDone{};
  }
  struct stat facts = {};
  bool exists = stat(path.c_str(), &facts) == 0;
  if (exists && S_ISDIR(facts.st_mode)) return CannotWrite(path, EISDIR);
  if (exists && !S_ISREG(facts.st_mode)) {
    int file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (file < 0) return CannotWrite(path, errno);
    int error = WriteAll(file, bytes);
    if (close(file) != 0 && error == 0) error = errno;
    if (error != 0) return CannotWrite(path, error);
    return FileDone{};
  }
  if (exists && access(path.c_str(), W_OK) != 0) return CannotWrite(path, errno);

  // A link stays one: the file that it points to is replaced.
  std::string place = path;
  if (char* resolved = exists ? realpath(path.c_str(), nullptr) : nullptr; resolved != nullptr) {
    place = resolved;
    std::free(resolved);
  }
  mode_t mode = exists ? static_cast<mode_t>(facts.st_mode & 07777) : NewFileMode();
  int error = WriteUnder(place, mode, bytes);
  if (error != 0) return CannotWrite(path, error);
  return FileDone{};
}

FileStatus ReplaceWhole(const std::string& path, bool shared, std::span<const uint8_t> bytes) {
  mode_t mode = NewFileMode();
  if (!shared) mode &= static_cast<mode_t>(~(S_IWGRP | S_IWOTH));
  int error = WriteUnder(path, mode, bytes);
  if (error != 0) return CannotWrite(path, error);
  return FileDone{};
}

FileStatus WriteSecret(const std::string& path, std::string_view text) {
  int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) {
    FileFailure failure = CannotWrite(path, errno);
    if (errno == EEXIST) failure.help = "an existing file is never replaced by a secret: choose another name";
    return failure;
  }
  int error = WriteAll(file, std::span(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
  if (error == 0 && fsync(file) != 0) error = errno;
  close(file);
  if (error == 0) return FileDone{};
  unlink(path.c_str());
  return CannotWrite(path, error);
}

bool IsReadable(int file) {
  pollfd one = {file, POLLIN, 0};
  return poll(&one, 1, 0) > 0;
}

}  // namespace adc
