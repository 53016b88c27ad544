#pragma once
// Exit codes.

namespace adc {

/// Exit codes of every `adc` command.
enum ExitCode : int {
  kExitOk = 0,
  kExitFailed = 1,  ///< a compile error, or a check that found something
  kExitUsage = 2,
  kExitBadBundle = 3,
  kExitRunTime = 4,
  kExitUnsupported = 5,
  kExitDiffers = 7,
};

}  // namespace adc
