// Tidying of translated functions: what gets shorter, what must stay, and that random functions compute the
// same before and after.

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "codegen/msl/tidy.h"
#include "msl_host/runner.h"

namespace {

using adc::codegen::msl::TidyFunction;

/// The body of `void f()` after tidying, given before it.
std::string Tidied(const std::string& body) {
  std::string text = TidyFunction("void f()\n{\n" + body + "}\n");
  const std::string head = "void f() {\n";
  REQUIRE(text.starts_with(head));
  REQUIRE(text.ends_with("}\n"));
  return text.substr(head.size(), text.size() - head.size() - 2);
}

/// Functions in the layout of SPIRV-Cross: temporaries, variables for conditional and carried values, copies
/// at the ends of branches, loops that are left in the middle.
class RandomFunction {
 public:
  explicit RandomFunction(uint64_t seed) : state_(seed * 2654435761u + 99991) {}

  /// The body of a kernel that reads floats x[0..3] and writes y[0..kOutputs).
  std::string Body() {
    std::vector<std::string> values = {"x[0]", "x[1]", "x[2]", "x[3]"};
    Block(values, 3, 1);
    for (int n = 0; n < kOutputs / 2; ++n) Line(1, "y[" + std::to_string(n) + "] = " + Pick(values) + ";");
    return text_;
  }
  static constexpr int kOutputs = 12;

 private:
  uint32_t Below(uint32_t bound) {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<uint32_t>(state_ >> 33) % bound;
  }
  void Line(int depth, const std::string& line) { text_ += std::string(4 * depth, ' ') + line + "\n"; }
  std::string Fresh() { return "_" + std::to_string(counter_++); }
  const std::string& Pick(const std::vector<std::string>& values) {
    return values[values.size() - 1 - Below(static_cast<uint32_t>(values.size() < 8 ? values.size() : 8))];
  }
  std::string Operand(const std::vector<std::string>& values) {
    constexpr const char* kLiterals[] = {"0.0", "0.5", "1.0"};
    return Below(4) == 0 ? kLiterals[Below(3)] : Pick(values);
  }
  std::string Condition(const std::vector<std::string>& values) {
    return Pick(values) + (Below(2) == 0 ? " < " : " > ") + Operand(values);
  }

  void Block(std::vector<std::string>& values, int nesting, int depth) {
    uint32_t statements = 2 + Below(5);
    for (uint32_t n = 0; n < statements; ++n) {
      switch (nesting > 0 ? Below(7) : Below(2)) {
        case 0:
        case 1:
        case 2: {
          std::string name = Fresh();
          Line(depth, "float " + name + " = (" + Operand(values) + " * 0.75) - " + Operand(values) + ";");
          values.push_back(name);
          break;
        }
        case 3:
          Line(depth,
               "y[" + std::to_string(kOutputs / 2 + Below(kOutputs / 2)) + "] += " + Pick(values) + ";");
          break;
        case 4:
        case 5:
          Conditional(values, nesting, depth);
          break;
        default:
          Loop(values, nesting, depth);
      }
    }
  }

  void Branch(std::vector<std::string> values, const std::vector<std::string>& results, int nesting,
              int depth) {
    Line(depth, "{");
    if (Below(4) != 0) Block(values, nesting - 1, depth + 1);
    for (const std::string& name : results) Line(depth + 1, name + " = " + Operand(values) + ";");
    Line(depth, "}");
  }

  void Conditional(std::vector<std::string>& values, int nesting, int depth) {
    std::vector<std::string> results;
    for (uint32_t n = Below(5); n-- > 0;) results.push_back(Fresh());
    for (const std::string& name : results) Line(depth, "float " + name + ";");
    Line(depth, "if (" + Condition(values) + ")");
    Branch(values, results, nesting, depth);
    if (!results.empty() || Below(2) == 0) {
      Line(depth, "else");
      Branch(values, results, nesting, depth);
    }
    values.insert(values.end(), results.begin(), results.end());
  }

  void Loop(std::vector<std::string>& values, int nesting, int depth) {
    std::string carried = Fresh(), next = Fresh(), count = Fresh();
    Line(depth, "float " + carried + ";");
    Line(depth, carried + " = " + Operand(values) + ";");
    std::vector<std::string> inside = values;
    inside.push_back(carried);
    if (Below(2) == 0) {
      Line(depth, "float " + next + ";");
      Line(depth, "for (uint " + count + " = 0u; " + count + " < 3u; " + count + "++, " + carried + " = " +
                      next + ")");
      Line(depth, "{");
      Block(inside, nesting - 1, depth + 1);
      Line(depth + 1, next + " = " + Operand(inside) + " * 0.5;");
      Line(depth, "}");
    } else {
      // Left in the middle, with the carried value assigned at the end of an `else`.
      Line(depth, "uint " + count + " = 0u;");
      Line(depth, "for (;;)");
      Line(depth, "{");
      Block(inside, nesting - 1, depth + 1);
      Line(depth + 1, count + "++;");
      Line(depth + 1, "if (" + count + " > 3u)");
      Line(depth + 1, "{");
      Line(depth + 2, "break;");
      Line(depth + 1, "}");
      Line(depth + 1, "else");
      Line(depth + 1, "{");
      std::vector<std::string> last = inside;
      Block(last, nesting - 1, depth + 2);
      if (Below(2) == 0) {
        Line(depth + 2, "if (" + Condition(last) + ")");
        Line(depth + 2, "{");
        Line(depth + 3, "break;");
        Line(depth + 2, "}");
      }
      Line(depth + 2, carried + " = " + Operand(last) + ";");
      Line(depth + 1, "}");
      Line(depth, "}");
    }
    values.push_back(carried);
  }

  uint64_t state_;
  int counter_ = 10;
  std::string text_;
};

}  // namespace

TEST_CASE("a value that a branch copies is made where it belongs, and the other way's is given before") {
  CHECK(Tidied("    float _7;\n    float _8;\n    if (_3)\n    {\n        float _6 = x.at[_2] * _5;\n        "
               "y.at[_2] = _6;\n"
               "        _7 = _6;\n        _8 = _6;\n    }\n    else\n    {\n        _7 = 0.0;\n        _8 = "
               "_4;\n    }\n"
               "    y.at[0] = _7 + _8;\n") ==
        "    float _7 = 0.0, _8 = _4;\n    if (_3) {\n        _8 = x.at[_2] * _5;\n        y.at[_2] = _8;\n"
        "        _7 = _8;\n    }\n    y.at[0] = _7 + _8;\n");
}

TEST_CASE("a declaration moves to its first value, and declarations share lines") {
  CHECK(
      Tidied(
          "    float _1;\n    uint _2;\n    float _3;\n    float _4;\n    _1 = x.at[0];\n    y.at[0] = _1;\n"
          "    for (;;)\n    {\n        _3 = _1;\n        _4 = _3;\n        _2 = 1u;\n        break;\n    }\n"
          "    y.at[_2] = _3 + _4;\n") ==
      "    uint _2;\n    float _3, _4;\n    float _1 = x.at[0];\n    y.at[0] = _1;\n    for (;;) {\n        "
      "_3 = _1;\n"
      "        _4 = _3;\n        _2 = 1u;\n        break;\n    }\n    y.at[_2] = _3 + _4;\n");
}

TEST_CASE("chains of conditions and loops that end with their condition keep their form") {
  CHECK(Tidied("    if (_1)\n    {\n        a();\n    }\n    else\n    {\n        if (_2)\n        {\n       "
               "     b();\n        }\n"
               "        else\n        {\n            c();\n        }\n    }\n    do\n    {\n        _3 = "
               "0u;\n    } while (f(_3));\n") ==
        "    if (_1) {\n        a();\n    } else if (_2) {\n        b();\n    } else {\n        c();\n    "
        "}\n    do {\n"
        "        _3 = 0u;\n    } while (f(_3));\n");
}

TEST_CASE("an atomic whose result nothing reads is called all the same") {
  CHECK(Tidied("    float _1 = atomicAdd(x.at[0], _2);\n    float _3 = atomicAdd(x.at[1], _2);\n    y.at[0] "
               "= _3;\n") ==
        "    atomicAdd(x.at[0], _2);\n    float _3 = atomicAdd(x.at[1], _2);\n    y.at[0] = _3;\n");
}

TEST_CASE("what would be seen early or late stays where it is") {
  // The branch is left before the copy, and the variable is read behind the loop.
  CHECK(Tidied("    float _1 = x.at[0];\n    for (;;)\n    {\n        if (_4)\n        {\n            float "
               "_2 = x.at[1];\n"
               "            if (_2 > _5)\n            {\n                break;\n            }\n            "
               "_1 = _2;\n        }\n    }\n"
               "    y.at[0] = _1;\n") ==
        "    float _1 = x.at[0];\n    for (;;) {\n        if (_4) {\n            float _2 = x.at[1];\n"
        "            if (_2 > _5) {\n                break;\n            }\n            _1 = _2;\n        "
        "}\n    }\n"
        "    y.at[0] = _1;\n");
  // The branch reads the variable's old value.
  CHECK(Tidied("    float _1 = x.at[0];\n    if (_4)\n    {\n        float _2 = x.at[1];\n        y.at[1] = "
               "_1;\n        _1 = _2;\n"
               "    }\n    y.at[0] = _1;\n") ==
        "    float _1 = x.at[0];\n    if (_4) {\n        float _2 = x.at[1];\n        y.at[1] = _1;\n        "
        "_1 = _2;\n    }\n"
        "    y.at[0] = _1;\n");
  // The copied one changes after the first copy, so only the second one can be it.
  CHECK(Tidied("    if (_4)\n    {\n        float _2 = x.at[1];\n        _1 = _2;\n        _2 = x.at[2];\n   "
               "     _3 = _2;\n    }\n"
               "    y.at[0] = _1 + _3;\n") ==
        "    if (_4) {\n        _3 = x.at[1];\n        _1 = _3;\n        _3 = x.at[2];\n    }\n"
        "    y.at[0] = _1 + _3;\n");
  // The branch has given the variable another value before.
  CHECK(Tidied("    float _1;\n    if (_4)\n    {\n        _1 = f();\n        g(_1);\n        _1 = 0.0;\n    "
               "}\n    else\n    {\n"
               "        _1 = f();\n    }\n    y.at[0] = _1;\n") ==
        "    float _1;\n    if (_4) {\n        _1 = f();\n        g(_1);\n        _1 = 0.0;\n    } else {\n"
        "        _1 = f();\n    }\n    y.at[0] = _1;\n");
  // The value is one of the branch's own, or changes in it.
  CHECK(Tidied("    float _1;\n    if (_4)\n    {\n        _1 = f();\n    }\n    else\n    {\n        uint "
               "_3 = g();\n        h(_3);\n"
               "        _1 = _5;\n        _5 = 2.0;\n    }\n    y.at[0] = _1;\n") ==
        "    float _1;\n    if (_4) {\n        _1 = f();\n    } else {\n        uint _3 = g();\n        "
        "h(_3);\n"
        "        _1 = _5;\n        _5 = 2.0;\n    }\n    y.at[0] = _1;\n");
}

TEST_CASE("random functions compute the same before and after") {
  constexpr uint64_t kFunctions = 150;
  std::string text = "#include <metal_stdlib>\nusing namespace metal;\n#pragma STDC FP_CONTRACT OFF\n";
  size_t lines_before = 0, lines_after = 0;
  auto count = [](const std::string& s) { return std::count(s.begin(), s.end(), '\n'); };
  for (uint64_t seed = 0; seed < kFunctions; ++seed) {
    std::string body = RandomFunction(seed).Body(), number = std::to_string(seed);
    auto function = [&](const char* prefix) {
      return "kernel void " + (prefix + number) +
             "(const device float* x [[buffer(0)]], device float* y [[buffer(1)]])\n{\n" + body + "}\n";
    };
    std::string before = function("before"), after = TidyFunction(function("after"));
    lines_before += static_cast<size_t>(count(before));
    lines_after += static_cast<size_t>(count(after));
    text += "\n" + before + "\n" + after;
  }
  CHECK(lines_after * 10 < lines_before * 8);
  std::string error;
  auto library = adc::msl_host::Library::Compile(text, error);
  INFO(error.substr(0, 2000));
  REQUIRE(library);
  for (uint64_t seed = 0; seed < kFunctions; ++seed) {
    for (float scale : {-1.0f, 0.3f, 2.0f}) {
      float x[] = {0.7f * scale, -0.4f, 0.2f * scale, 1.1f};
      float before[RandomFunction::kOutputs] = {}, after[RandomFunction::kOutputs] = {};
      auto run = [&](const char* prefix, float* y) {
        void* buffers[adc::msl_host::kBuffers] = {x, y};
        return library->Find(prefix + std::to_string(seed))(buffers, 1, 1);
      };
      REQUIRE(run("before", before) == 0);
      REQUIRE(run("after", after) == 0);
      INFO("seed " << seed);
      for (int n = 0; n < RandomFunction::kOutputs; ++n) {
        CHECK((before[n] == after[n] || (before[n] != before[n] && after[n] != after[n])));
      }
    }
  }
}
