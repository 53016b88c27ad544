#pragma once
// A parsed kernel or function with its arguments by name, for tests that run the interpreter.

#include <catch2/catch.hpp>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "diag/diagnostics.h"
#include "interp/interpreter.h"
#include "ir/number.h"
#include "parse/parser.h"

namespace adc::test {

class Program {
 public:
  /// Parses `text`, which must have no error; runs the function or kernel `name`, by default the last one.
  explicit Program(const std::string& text, const std::string& name = "") {
    module_ = parse::ParseText("test.ir", text, {}, sources_, diagnostics_);
    Require(text, name);
  }
  /// The same for a file.
  static std::unique_ptr<Program> OfFile(const std::string& path, const std::string& name = "") {
    std::unique_ptr<Program> program(new Program());
    program->module_ = parse::ParseFile(path, {}, program->sources_, program->diagnostics_);
    program->Require(path, name);
    return program;
  }

  const ir::Module& module() const { return *module_; }
  ir::Module& module() { return *module_; }
  const ir::Function& function() const { return *function_; }
  const diag::SourceManager& sources() const { return sources_; }
  interp::Arguments& arguments() { return arguments_; }
  interp::Tangents& tangents() { return tangents_; }
  interp::RunOptions& options() { return options_; }

  size_t Index(const std::string& name) const {
    uint32_t index = interp::ParameterIndex(*module_, *function_, name);
    INFO(name);
    REQUIRE(index != ir::kNoAttr);
    return index;
  }
  ir::Type TypeOf(size_t parameter) const { return function_->TypeOf(function_->Params()[parameter]); }

  /// A number, or every component of a vector.
  void Number(const std::string& name, double value) {
    size_t n = Index(name);
    arguments_[n] = interp::NumberArgument(TypeOf(n), value);
  }
  void Buffer(const std::string& name, std::vector<int64_t> extents, std::vector<double> numbers) {
    interp::Tensor& tensor = arguments_[Index(name)].tensor;
    tensor = interp::Tensor::Zeros(TypeOf(Index(name)).Element(), std::move(extents));
    REQUIRE(static_cast<size_t>(tensor.ScalarCount()) == numbers.size());
    for (size_t n = 0; n < numbers.size(); ++n) tensor.Set(static_cast<int64_t>(n), numbers[n]);
  }
  void Zeros(const std::string& name, std::vector<int64_t> extents) {
    size_t n = Index(name);
    arguments_[n].tensor = interp::Tensor::Zeros(TypeOf(n).Element(), std::move(extents));
  }
  interp::Tensor& Tensor(const std::string& name) { return arguments_[Index(name)].tensor; }
  std::vector<double> Numbers(const std::string& name) {
    std::vector<double> numbers;
    for (int64_t n = 0; n < Tensor(name).ScalarCount(); ++n) numbers.push_back(Tensor(name).Get(n));
    return numbers;
  }
  std::vector<double>& Tangent(const std::string& name) {
    tangents_.list.resize(arguments_.list.size());
    return tangents_[Index(name)];
  }

  /// Runs without checking that the run went well.
  interp::RunResult TryRun() { return interp::Run(*module_, *function_, arguments_, options_); }
  interp::RunResult Run() { return Checked(TryRun()); }
  interp::RunResult RunDual() {
    return Checked(interp::RunDual(*module_, *function_, arguments_, tangents_, options_));
  }

 private:
  Program() = default;

  void Require(const std::string& what, const std::string& name) {
    INFO(diag::PrintDiagnostics(diagnostics_, sources_, false));
    INFO(what);
    REQUIRE(module_ != nullptr);
    REQUIRE_FALSE(diagnostics_.HasErrors());
    function_ = name.empty() ? module_->functions.back().get() : module_->Find(name);
    REQUIRE(function_ != nullptr);
    arguments_ = interp::MakeArguments(*module_, *function_);
    tangents_.list.resize(arguments_.list.size());
  }
  interp::RunResult Checked(interp::RunResult result) const {
    INFO(interp::Describe(result.error, sources_));
    REQUIRE(result.Ok());
    return result;
  }

  diag::SourceManager sources_;
  diag::Diagnostics diagnostics_;
  std::unique_ptr<ir::Module> module_;
  ir::Function* function_ = nullptr;
  interp::Arguments arguments_;
  interp::Tangents tangents_;
  interp::RunOptions options_;
};

}  // namespace adc::test
