#pragma once
// Where tests and benchmarks find their files. Functions, so that no path is in the command of what includes
// this: objects are then the same in all checkouts.

#include <string>

namespace adc::test {

std::string SourceFolder();      ///< the root of the checkout
std::string TestsFolder();       ///< tests/e2e
std::string SamplesFolder();     ///< samples
std::string F64SamplesFolder();  ///< the samples with every f32 an f64
std::string BenchFolder();       ///< bench

}  // namespace adc::test
