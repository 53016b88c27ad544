#pragma once
// Argument values on the command line: numbers, lists, patterns and .npy files, in the types of a kernel's
// parameters.
//
//   n=64              a number, for a scalar or a buffer of rank 0
//   v=[1, 2, 3]       components of a vector, or elements of a buffer of rank 1
//   x=@x.npy          an array file; for a layout the raw bytes of any file
//   x=zeros[4,5]      also ones, iota, full:2.5 and random, random:SEED (uniform in [0, 1));
//                     the extents may be left out where --shape gives them

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "loader.h"

namespace adc::tool {

/// Memory for one argument.
struct ArgValue {
  std::vector<uint8_t> bytes;
  std::vector<int64_t> extents;  ///< of a buffer
};

/// The command line's texts of arguments: name to text after '='.
struct ArgTexts {
  std::vector<std::string> args;    ///< of --arg
  std::vector<std::string> shapes;  ///< of --shape: "x=4,5"
  bool shapes_alone = false;        ///< nothing of these shapes is made here, however large they are
};

/// A deterministic stream of numbers (splitmix64).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next();
  /// Uniform in [0, 1).
  double Uniform();

 private:
  uint64_t state_;
};

/// Component `index` of memory of the type `type`, as a double.
double ReadNumber(uint32_t type, const uint8_t* bytes, uint64_t index);
/// The same of an integer, exactly; an unsigned one of 64 bits as its two's complement.
int64_t ReadInteger(uint32_t type, const uint8_t* bytes, uint64_t index);
/// Rounds to the type.
void WriteNumber(uint32_t type, uint8_t* bytes, uint64_t index, double value);
/// The shortest text that reads back to the same value.
std::string NumberText(uint32_t type, const uint8_t* bytes, uint64_t index);

uint64_t ElementCount(const std::vector<int64_t>& extents);
/// Zeroed memory of a buffer parameter with these extents, or of a layout or by-value parameter.
ArgValue ZeroValue(const Param& param, std::vector<int64_t> extents);
/// The value that the text after "name=" stands for. Empty, or the error.
std::string ParseValue(const Param& param, const std::string& text, const std::vector<int64_t>* shape,
                       ArgValue* value);

/// The values that --arg and --shape give, by parameter name. A parameter with a shape and no value has
/// zeros. False after an error was printed: unknown or repeated names, texts that do not fit the parameter.
bool ParseArguments(const adrt_bundle* bundle, const Kernel& kernel, const ArgTexts& texts,
                    std::map<std::string, ArgValue>* values,
                    std::map<std::string, std::vector<int64_t>>* shapes);

/// The loader's descriptor of one argument; it points into `value`.
adrt_arg ToArgument(const Param& param, ArgValue& value);

/// Writes a value as .npy (a layout as raw bytes). kExitOk, or the exit code after the reason was printed.
int WriteValue(const std::string& path, const Param& param, const ArgValue& value);

}  // namespace adc::tool
