// Files on Windows, as host/files.h and host/read_text.h promise, but for one thing: a file is written beside
// its place and then replaces it in one step, so that a reader sees the old one or the new one; a kill
// between may leave the neighbour, whose name ends in .adc-part and numbers.

#include "host/files.h"

#define WIN32_LEAN_AND_MEAN
#include <io.h>
#include <windows.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <vector>

namespace adc {
namespace {

/// A handle that is closed with this.
class File {
 public:
  explicit File(HANDLE handle, bool owned = true) : handle_(handle), owned_(owned) {}
  ~File() { Close(); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  bool Close() {
    bool closed = !owned_ || handle_ == INVALID_HANDLE_VALUE || CloseHandle(handle_) != 0;
    handle_ = INVALID_HANDLE_VALUE;
    return closed;
  }
  explicit operator bool() const { return handle_ != INVALID_HANDLE_VALUE && handle_ != nullptr; }
  HANDLE get() const { return handle_; }
  bool IsRegular() const { return GetFileType(handle_) == FILE_TYPE_DISK; }

 private:
  HANDLE handle_;
  bool owned_;
};

std::string Reason(DWORD error) {
  std::string text = std::system_category().message(static_cast<int>(error));
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == '.')) text.pop_back();
  return text;
}

FileFailure CannotRead(const std::string& path, const std::string& reason) {
  return {"cannot read '" + path + "': " + reason, {}};
}

FileFailure CannotWrite(const std::string& path, DWORD error) {
  std::string help;
  if (error == ERROR_DISK_FULL || error == ERROR_HANDLE_DISK_FULL) {
    help = "free space on that disk, or write elsewhere";
  } else if (error == ERROR_PATH_NOT_FOUND) {
    help = "make the folder first, or write elsewhere";
  } else if (error == ERROR_ACCESS_DENIED || error == ERROR_WRITE_PROTECT ||
             error == ERROR_SHARING_VIOLATION) {
    help = "write elsewhere, or change who may write there";
  }
  return {"cannot write '" + path + "': " + Reason(error), std::move(help)};
}

/// 0, or the code of the write that failed.
DWORD WriteAll(HANDLE file, std::span<const uint8_t> bytes) {
  constexpr size_t kAtOnce = size_t{64} << 20;
  while (!bytes.empty()) {
    DWORD written = 0;
    if (!WriteFile(file, bytes.data(), static_cast<DWORD>(std::min(bytes.size(), kAtOnce)), &written,
                   nullptr))
      return GetLastError();
    bytes = bytes.subspan(written);
  }
  return 0;
}

struct Rules {
  uint64_t most;
  bool text;
  const WantedBytes& wanted;
};

void ReadOpen(const File& file, const Rules& rules, ReadText* result) {
  constexpr uint64_t kBegin = 4096;
  LARGE_INTEGER size = {};
  bool regular = file.IsRegular() && GetFileSizeEx(file.get(), &size) != 0;
  uint64_t expected = regular ? static_cast<uint64_t>(size.QuadPart) : 0,
           goal = rules.wanted ? kBegin : UINT64_MAX;
  auto too_large = [&](uint64_t bytes) {
    *result = {};
    result->end = ReadEnd::TooLarge;
    result->size = bytes;
  };
  if (expected > rules.most) return too_large(expected);
  std::vector<char> chunk(size_t{1} << 16);
  for (;;) {
    DWORD got = 0, asked = static_cast<DWORD>(std::min<uint64_t>(chunk.size(), goal - result->text.size()));
    // The writer's end of a pipe that is closed is the end of what it wrote.
    if (!ReadFile(file.get(), chunk.data(), asked, &got, nullptr) && GetLastError() != ERROR_BROKEN_PIPE) {
      *result = {};
      result->error = EIO;
      return;
    }
    result->text.append(chunk.data(), got);
    result->size = result->text.size();
    if (result->size > rules.most) return too_large(result->size);
    bool binary =
        rules.text && !regular && std::find(chunk.begin(), chunk.begin() + got, '\0') != chunk.begin() + got;
    if (got == 0 || binary) break;
    if (!rules.wanted || result->size < goal) continue;
    goal = rules.wanted(result->text);
    if (expected != 0) goal = std::min(goal, expected + 1);
    if (goal <= result->size) break;
    if (goal > rules.most) return too_large(goal);
  }
  result->end = ReadEnd::Whole;
}

int ErrnoOf(DWORD error) {
  switch (error) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
      return ENOENT;
    case ERROR_ACCESS_DENIED:
    case ERROR_SHARING_VIOLATION:
      return EACCES;
    default:
      return EIO;
  }
}

bool IsFolder(const std::string& path) {
  DWORD attributes = GetFileAttributesA(path.c_str());
  return attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
}

HANDLE OpenToRead(const std::string& path) {
  return CreateFileA(path.c_str(), GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE, nullptr, OPEN_EXISTING,
                     FILE_ATTRIBUTE_NORMAL, nullptr);
}

FileResult<std::string> Whole(const std::string& path, uint64_t most, ReadText read) {
  if (read.end == ReadEnd::Whole) return std::move(read.text);
  if (read.end == ReadEnd::Failed)
    return CannotRead(path, std::error_code(read.error, std::generic_category()).message());
  return FileFailure{"cannot read '" + path + "': it has more than " + std::to_string(most) + " bytes",
                     "no file of this kind is that large"};
}

}  // namespace

ReadText ReadTextFile(const std::string& path, uint64_t most, bool regular_only, bool text,
                      const WantedBytes& wanted) {
  ReadText result;
  bool standard = path == "-";
  if (!standard && IsFolder(path)) {
    result.error = EISDIR;
    return result;
  }
  File file(standard ? GetStdHandle(STD_INPUT_HANDLE) : OpenToRead(path), !standard);
  if (!file) {
    result.error = ErrnoOf(GetLastError());
  } else if (regular_only && !file.IsRegular()) {
    result.error = EINVAL;
  } else {
    ReadOpen(file, {most, text, wanted}, &result);
  }
  return result;
}

FileResult<std::string> ReadWhole(const std::string& path, uint64_t most, const WantedBytes& wanted) {
  return Whole(path, most, ReadTextFile(path, most, /*regular_only=*/false, /*text=*/false, wanted));
}

// To open a pipe's name does not wait here.
FileStatus CheckNoNamedPipe(const std::string&) {
  return FileDone{};
}

FileResult<std::string> ReadBegin(const std::string& path) {
  return ReadWhole(path, UINT64_MAX, [](std::string_view) { return uint64_t{0}; });
}

FileResult<std::string> ReadWholeText(const std::string& path, uint64_t most) {
  return Whole(path, most, ReadTextFile(path, most, /*regular_only=*/false));
}

FileStatus CheckRegularFile(const std::string& path) {
  if (IsFolder(path)) return CannotRead(path, "it is a folder");
  File file(OpenToRead(path));
  if (!file) return CannotRead(path, Reason(GetLastError()));
  if (!file.IsRegular()) return FileFailure{"cannot read '" + path + "': it is no regular file", ""};
  return FileDone{};
}

FileStatus WriteWhole(const std::string& path, std::span<const uint8_t> bytes) {
  if (path == "-") {
    DWORD error = WriteAll(GetStdHandle(STD_OUTPUT_HANDLE), bytes);
    if (error != 0) return CannotWrite("standard output", error);
    return FileDone{};
  }
  if (IsFolder(path)) return CannotWrite(path, ERROR_ACCESS_DENIED);
  // Named after the process and the moment: two writers of one place have two files.
  std::string waiting =
      path + ".adc-part." + std::to_string(GetCurrentProcessId()) + "." + std::to_string(GetTickCount64());
  File file(
      CreateFileA(waiting.c_str(), GENERIC_WRITE, 0, nullptr, CREATE_NEW, FILE_ATTRIBUTE_NORMAL, nullptr));
  if (!file) return CannotWrite(path, GetLastError());
  DWORD error = WriteAll(file.get(), bytes);
  if (error == 0 && !FlushFileBuffers(file.get())) error = GetLastError();
  if (!file.Close() && error == 0) error = GetLastError();
  if (error == 0 && !MoveFileExA(waiting.c_str(), path.c_str(), MOVEFILE_REPLACE_EXISTING))
    error = GetLastError();
  if (error == 0) return FileDone{};
  DeleteFileA(waiting.c_str());
  return CannotWrite(path, error);
}

// On Windows the folder of a new file decides who may read it.
FileStatus WriteSecret(const std::string& path, std::string_view) {
  return FileFailure{"cannot write '" + path + "': adc makes no secret files on Windows",
                     "make them on Linux"};
}

bool IsReadable(int file) {
  auto handle = reinterpret_cast<HANDLE>(_get_osfhandle(file));
  DWORD there = 0;
  if (GetFileType(handle) != FILE_TYPE_PIPE) return WaitForSingleObject(handle, 0) == WAIT_OBJECT_0;
  return !PeekNamedPipe(handle, nullptr, 0, nullptr, &there, nullptr) || there > 0;
}

}  // namespace adc
