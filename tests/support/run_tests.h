// Catch2's run of a program's tests, for programs that have a main function of their own.

#pragma once

namespace adc::test {

/// Runs the tests that the command line chooses; what main returns.
int RunTests(int argc, char** argv);

}  // namespace adc::test
