#pragma once
// Functions of numbers that the C++ library or the compiler has, as operations of the IR.

#include <llvm/ADT/StringRef.h>

#include <optional>
#include <span>
#include <variant>

#include "frontend/cpp/writer.h"

namespace adc::frontend {

/// The kind of a function's operands.
enum class Takes : uint8_t {
  Floats,    ///< of the type of the result, which is a float
  Numbers,   ///< of the type of the result, which is no truth
  AnyFloat,  ///< a float of any type, an integer as f64
  Bits,      ///< an integer
};

/// The owner of a function.
enum class From : uint8_t {
  Anywhere,
  Std,       ///< namespace std
  Compiler,  ///< the compiler, by a name that begins with __builtin_ or without
};

struct LibraryFunction {
  using Own = ir::Value (*)(Writer& to, std::span<const ir::Value> operands);

  /// Its value, of `operands` values.
  ir::Value Make(Writer& to, std::span<const ir::Value> values) const;

  llvm::StringRef name;  ///< without the suffix `f`, and without `__builtin_`
  size_t operands;
  std::variant<ir::Op, Own> made_by;
  Takes takes = Takes::Floats;
  From from = From::Anywhere;
};

/// `sinf` is `sin`.
llvm::StringRef WithoutSuffix(llvm::StringRef name);
std::optional<LibraryFunction> FindLibraryFunction(llvm::StringRef name, size_t operands, From from);

}  // namespace adc::frontend
