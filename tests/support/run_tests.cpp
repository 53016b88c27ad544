#include "run_tests.h"

// Catch2 itself, which takes seconds to compile: here, and nowhere else.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

int adc::test::RunTests(int argc, char** argv) {
  return Catch::Session().run(argc, argv);
}
