#include "driver/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "diag/errors/driver.h"

namespace adc::driver {

namespace {

using diag::Fail;

diag::Diagnostic CannotWrite(const std::string& path, int error) {
  std::string help;
  if (error == ENOSPC || error == EDQUOT) {
    help = "free space on that disk, or write elsewhere";
  } else if (error == ENOENT || error == ENOTDIR) {
    help = "make the folder first, or write elsewhere";
  } else if (error == EACCES || error == EROFS || error == EPERM) {
    help = "write elsewhere, or change who may write there";
  }
  return Fail(diag::E0702, {}, "cannot write '" + path + "': " + std::strerror(error), std::move(help));
}

diag::Diagnostic CannotRead(const std::string& path, int error) {
  return Fail(diag::E0701, {}, "cannot read '" + path + "': " + std::strerror(error));
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

/// Writes to an open file and closes it. 0, or the first errno.
int WriteAndClose(int file, std::span<const uint8_t> bytes, bool to_disk) {
  int error = WriteAll(file, bytes);
  if (error == 0 && to_disk && fsync(file) != 0 && errno != EINVAL && errno != EROFS) error = errno;
  if (close(file) != 0 && error == 0) error = errno;
  return error;
}

/// The permissions that a new file gets: the umask can only be read by setting it.
mode_t NewFileMode() {
  mode_t mask = umask(0);
  umask(mask);
  return static_cast<mode_t>(0666 & ~mask);
}

}  // namespace

diag::Result<std::string> ReadWhole(const std::string& path) {
  bool standard_input = path == "-";
  int file = standard_input ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return CannotRead(path, errno);
  std::string text;
  int error = 0;
  struct stat facts = {};
  if (fstat(file, &facts) == 0 && S_ISREG(facts.st_mode)) text.reserve(static_cast<size_t>(facts.st_size));
  char chunk[1 << 16];
  for (;;) {
    ssize_t got = read(file, chunk, sizeof chunk);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) error = errno;
    if (got <= 0) break;
    text.append(chunk, static_cast<size_t>(got));
  }
  if (!standard_input) close(file);
  if (error != 0) return CannotRead(path, error);
  return text;
}

diag::Status CheckReadable(const std::string& path) {
  int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return CannotRead(path, errno);
  struct stat facts = {};
  int error = fstat(file, &facts) != 0 ? errno : S_ISDIR(facts.st_mode) ? EISDIR : 0;
  close(file);
  if (error != 0) return CannotRead(path, error);
  return diag::Unit{};
}

diag::Status WriteWhole(const std::string& path, std::span<const uint8_t> bytes) {
  if (path == "-") {
    int error = WriteAll(STDOUT_FILENO, bytes);
    if (error != 0) return CannotWrite("standard output", error);
    return diag::Unit{};
  }
  struct stat facts = {};
  bool exists = stat(path.c_str(), &facts) == 0;
  if (exists && S_ISDIR(facts.st_mode)) return CannotWrite(path, EISDIR);
  if (exists && !S_ISREG(facts.st_mode)) {
    int file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (file < 0) return CannotWrite(path, errno);
    int error = WriteAndClose(file, bytes, false);
    if (error != 0) return CannotWrite(path, error);
    return diag::Unit{};
  }
  if (exists && access(path.c_str(), W_OK) != 0) return CannotWrite(path, errno);

  // A link stays one: what it points to is replaced.
  std::string place = path;
  if (char* resolved = exists ? realpath(path.c_str(), nullptr) : nullptr; resolved != nullptr) {
    place = resolved;
    std::free(resolved);
  }
  std::string temporary = place + ".XXXXXX";
  int file = mkostemp(temporary.data(), O_CLOEXEC);
  if (file < 0) return CannotWrite(path, errno);
  mode_t mode = exists ? static_cast<mode_t>(facts.st_mode & 07777) : NewFileMode();
  int error = fchmod(file, mode) == 0 ? 0 : errno;
  int write_error = WriteAndClose(file, bytes, true);
  if (error == 0) error = write_error;
  if (error == 0 && rename(temporary.c_str(), place.c_str()) != 0) error = errno;
  if (error != 0) {
    unlink(temporary.c_str());
    return CannotWrite(path, error);
  }
  return diag::Unit{};
}

diag::Status WriteWhole(const std::string& path, std::string_view text) {
  return WriteWhole(path, std::span(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
}

}  // namespace adc::driver
