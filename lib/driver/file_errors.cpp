#include "driver/file_errors.h"

#include "diag/errors/driver.h"

namespace adc::driver {

diag::Diagnostic CannotRead(const FileFailure& failure) {
  return diag::Fail(diag::E0701, {}, failure.text, failure.help);
}

diag::Diagnostic CannotWrite(const FileFailure& failure) {
  return diag::Fail(diag::E0702, {}, failure.text, failure.help);
}

diag::Diagnostic WouldReplace(const FileFailure& failure) {
  return diag::Fail(diag::E0705, {}, failure.text, failure.help);
}

}  // namespace adc::driver
