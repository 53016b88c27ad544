#pragma once
// Random kernels as text, for tests that compare two ways of running the same thing: interpreter before and
// after a pass, interpreter and machine code, reverse mode and dual numbers. The same seed gives the same
// text.
//
// Every kernel ends, stays inside its buffers, and keeps its floats small (sums are damped by sin and tanh),
// so that neither overflow nor rounding hides a difference. It has no race: iteration `i` writes element `i`
// of the buffers it writes, and the rest goes through `atomic add`.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace adc::test {

/// What a writer of expressions is given: a value of a type that can be seen, and numbers below a bound.
struct RandomSource {
  std::function<std::string(const std::string& type)> pick;
  std::function<uint32_t(uint32_t bound)> below;
};
struct RandomExpression {
  std::string type, text;
};

struct RandomKernelConfig {
  std::string scalar = "f64";  ///< float type: f32 or f64
  uint32_t statements = 6;     ///< per block, at most
  uint32_t depth = 3;          ///< nesting of control inside a task
  uint32_t tasks = 1;          ///< parallel tasks; with more than one, values cross between them
  bool differentiable = true;  ///< only what reverse mode accepts: no buffer is read after it is overwritten
  bool while_loops = true;
  bool arrays = true;          ///< local arrays, with constant and computed indices
  bool vectors = false;        ///< vec<T, 3> and mat<T, 2, 2> values and a buffer of vectors
  bool stores_values = false;  ///< values are stored on the way in a `writeonce` buffer %s (tasks = 1 alone)
  bool smooth = false;         ///< no step, min, max or branch on a float: central differences may be taken
  /// Writes half of the arithmetic, of type `scalar`, i32 or i1; null: there is none beside the writer's own.
  std::function<RandomExpression(const RandomSource&)> operation = nullptr;
};

/// Parameters, in order: %x, %w: buffer<T, 1> diff (read only); %p: buffer<vec<T, 3>, 1> diff with `vectors`;
/// %k: buffer<i32, 1> readonly (any numbers); %y: buffer<T, 1> diff, %z: buffer<i32, 1> (written at [%i]);
/// %loss: buffer<T, 0> diff; %n: i32; %c: T diff; with `stores_values` %s: buffer<T, 3> diff of extents N,
/// kStoreSites, kStoreTurns. Buffers of rank 1 must have the same, positive extent.
std::string RandomKernel(uint64_t seed, const RandomKernelConfig& config = {});

inline constexpr int kStoreSites = 24, kStoreTurns = 64;

class RandomKernelWriter {
 public:
  RandomKernelWriter(uint64_t seed, const RandomKernelConfig& config)
      : config_(config), state_(seed * 0x9E3779B97F4A7C15ull + 0x632BE59BD9B4E019ull) {}

  std::string Write() {
    const std::string& t = config_.scalar;
    text_ = "kernel @random(%x: buffer<" + t + ", 1> diff, %w: buffer<" + t + ", 1> diff, ";
    if (config_.vectors) text_ += "%p: buffer<vec<" + t + ", 3>, 1> diff, ";
    text_ += "%k: buffer<i32, 1> readonly, %y: buffer<" + t +
             ", 1> diff, %z: buffer<i32, 1>, %loss: buffer<" + t + ", 0> diff, %n: i32, %c: " + t + " diff" +
             (config_.stores_values ? ", %s: buffer<" + t + ", 3> diff writeonce" : "") + ") {\n";
    scopes_.push_back({});
    Line("%size = shape %x, 0");
    Know("i32", "%n");
    Know(t, "%c");
    for (uint32_t task = 0; task < config_.tasks; ++task) {
      if (task > 0 || Chance(3)) Arithmetic();
      if (task > 0 && Chance(2)) SerialLoop();
      Task(task);
    }
    text_ += "}\n";
    return text_;
  }

 private:
  struct Known {
    std::string type, name;
  };

  uint64_t Next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_ * 0x2545F4914F6CDD1Dull;
  }
  uint32_t Below(uint32_t bound) { return static_cast<uint32_t>((Next() >> 33) % bound); }
  bool Chance(uint32_t one_in) { return Below(one_in) == 0; }

  void Line(const std::string& line) { text_ += std::string(2 * scopes_.size(), ' ') + line + "\n"; }
  std::string Fresh(const char* stem) { return "%" + std::string(stem) + std::to_string(counter_++); }
  void Know(const std::string& type, const std::string& name) { scopes_.back().push_back({type, name}); }

  /// A value of `type` that can be seen here, newer ones more often; a literal where there is none.
  std::string Pick(const std::string& type) {
    std::vector<const std::string*> found;
    for (const auto& scope : scopes_) {
      for (const Known& known : scope) {
        if (known.type == type) found.push_back(&known.name);
      }
    }
    if (found.empty() || Chance(8)) return Literal(type);
    size_t recent = found.size() > 6 && !Chance(3) ? found.size() - 6 : 0;
    return *found[recent + Below(static_cast<uint32_t>(found.size() - recent))];
  }

  std::string Literal(const std::string& type) {
    static const char* const kFloats[] = {"0.0", "1.0",   "-1.0", "0.5", "0.25",
                                          "1.5", "-0.75", "2.0",  "0.1", "-0.3"};
    if (type == "i1") return Chance(2) ? "true" : "false";
    if (type == "i32") return std::to_string(static_cast<int>(Below(9)) - 2);
    return std::string(kFloats[Below(10)]) + ":" + type;
  }

  void Define(const std::string& type, const char* stem, const std::string& expression) {
    std::string name = Fresh(stem);
    Line(name + " = " + expression);
    Know(type, name);
  }

  void Arithmetic() {
    const std::string& t = config_.scalar;
    if (config_.operation && Chance(2)) {
      RandomExpression made = config_.operation({[this](const std::string& type) { return Pick(type); },
                                                 [this](uint32_t bound) { return Below(bound); }});
      return Define(made.type, "o", made.text);
    }
    switch (Below(config_.smooth ? 9 : 14)) {
      case 0:
        return Define(t, "f", "add " + Pick(t) + ", " + Pick(t));
      case 1:
        return Define(t, "f", "sub " + Pick(t) + ", " + Pick(t));
      case 2:
        return Define(t, "f", "mul (sin " + Pick(t) + "), (tanh " + Pick(t) + ")");
      case 3:
        return Define(t, "f", "div " + Pick(t) + ", (add (mul " + Fresh2(t) + "), 1.5)");
      case 4:
        return Define(t, "f", "sqrt (add (mul " + Fresh2(t) + "), 0.5)");
      case 5:
        return Define(t, "f", "exp (neg (abs (sin (add " + Pick(t) + ", 0.7))))");
      case 6:
        return Define("i32", "k", "add " + Pick("i32") + ", " + Pick("i32"));
      case 7:
        return Define("i32", "k", "rem (mul " + Pick("i32") + ", " + Pick("i32") + "), 17");
      case 8:
        return Define(t, "f", "mul (tanh " + Pick(t) + "), (cast (rem " + Pick("i32") + ", 5) to " + t + ")");
      case 9:
        return Define(t, "f", "min " + Pick(t) + ", " + Pick(t));
      case 10:
        return Define(t, "f", "max " + Pick(t) + ", " + Pick(t));
      case 11:
        return Define(t, "f", "select " + Pick("i1") + ", " + Pick(t) + ", " + Pick(t));
      case 12:
        return Define("i1", "b", std::string(Chance(2) ? "lt " : "ge ") + Pick(t) + ", " + Pick(t));
      default:
        return Define(t, "f", "clamp " + Pick(t) + ", -0.9, 0.8");
    }
  }

  /// A value twice, as the operands of a square.
  std::string Fresh2(const std::string& type) {
    std::string value = Pick(type);
    return value + ", " + value;
  }

  void Condition() {
    static const char* const kCompare[] = {"eq", "ne", "lt", "le", "gt", "ge"};
    std::string expression =
        std::string(kCompare[Below(6)]) + " (rem " + Pick("i32") + ", 3), " + std::to_string(Below(3));
    if (Chance(4)) expression = "and " + Pick("i1") + ", (" + expression + ")";
    Define("i1", "b", expression);
  }

  std::string Index() { return "(mod " + Pick("i32") + ", %size)"; }

  void Load() {
    const std::string& t = config_.scalar;
    switch (Below(4)) {
      case 0:
        return Define(t, "f", "load %x[%i]");
      case 1:
        return Define(t, "f", std::string("load ") + (Chance(2) ? "%x" : "%w") + "[" + Index() + "]");
      case 2:
        return Define("i32", "k", "rem (load %k[" + Index() + "]), 7");
      default:
        if (!config_.differentiable) return Define(t, "f", "load %y[%i]");
        return Define(t, "f", "load %w[%i]");
    }
  }

  void Effect() {
    const std::string& t = config_.scalar;
    switch (Below(3)) {
      case 0:
        return Line("atomic add %loss[], " + Pick(t));
      case 1:
        if (!config_.differentiable) return Line("store %y[%i], (tanh " + Pick(t) + ")");
        return Line("atomic add %loss[], (mul " + Pick(t) + ", 0.5)");
      default:
        return Line("store %z[%i], " + Pick("i32"));
    }
  }

  /// Stores the newest value of this block, in a cell of this place and turn of the loops around it.
  void StoreValue() {
    if (stored_ == kStoreSites || whiles_ > 0 || loops_.size() > 2) return Arithmetic();
    const std::vector<Known>& scope = scopes_.back();
    if (scope.empty() || scope.back().type != config_.scalar) return Arithmetic();
    std::string turn = loops_.empty() ? "0" : loops_[0];
    if (loops_.size() == 2) turn = "(add (mul " + loops_[0] + ", 8), " + loops_[1] + ")";
    Line("store %s[%i, " + std::to_string(stored_++) + ", " + turn + "], " + scope.back().name);
  }

  void Array() {
    const std::string& t = config_.scalar;
    std::string array = Fresh("a");
    uint32_t length = 2 + Below(4);
    Line(array + " = alloca array<" + t + ", " + std::to_string(length) + ">");
    arrays_.push_back({array, length, scopes_.size()});
  }

  void ArrayAccess() {
    if (arrays_.empty()) return Array();
    const std::string& t = config_.scalar;
    const ArrayInfo& array = arrays_[Below(static_cast<uint32_t>(arrays_.size()))];
    std::string length = std::to_string(array.length);
    std::string index =
        Chance(3) ? "(mod " + Pick("i32") + ", " + length + ")" : std::to_string(Below(array.length));
    if (Chance(2)) return Define(t, "f", "load " + array.name + "[" + index + "]");
    Line("store " + array.name + "[" + index + "], (sin " + Pick(t) + ")");
  }

  void Vector() {
    const std::string& t = config_.scalar;
    std::string v = "vec<" + t + ", 3>", m = "mat<" + t + ", 2, 2>";
    auto damped = [&] { return "(sin " + Pick(t) + ")"; };
    switch (Below(10)) {
      case 0:
        return Define(v, "v", "vec.make " + damped() + ", " + damped() + ", " + damped());
      case 1:
        return Define(v, "v", "load %p[" + Index() + "]");
      case 2:
        return Define(t, "f", "tanh (dot " + VectorValue() + ", " + VectorValue() + ")");
      case 3:
        return Define(v, "v",
                      "normalize (add (cross " + VectorValue() + ", " + VectorValue() +
                          "), (vec.make 1.5:" + t + ", 2.5, -3.5))");
      case 4:
        return Define(t, "f", "vec.get " + VectorValue() + ", (mod " + Pick("i32") + ", 3)");
      case 5:
        return Define(v, "v", "vec.set " + VectorValue() + ", " + std::to_string(Below(3)) + ", " + damped());
      case 6:
        return Define(m, "m", "mat.make " + damped() + ", " + damped() + ", " + damped() + ", " + damped());
      case 7:
        return Define(t, "f", "det (mat.mul " + MatrixValue() + ", (transpose " + MatrixValue() + "))");
      case 8:
        return Define(
            t, "f",
            "mat.get " + MatrixValue() + ", " + std::to_string(Below(2)) + ", (mod " + Pick("i32") + ", 2)");
      default:
        return Define(v, "v", "mul (tanh " + VectorValue() + "), " + damped());
    }
  }

  std::string Existing(const std::string& type) {
    for (size_t s = scopes_.size(); s-- > 0;) {
      for (size_t n = scopes_[s].size(); n-- > 0;) {
        if (scopes_[s][n].type == type && !Chance(3)) return scopes_[s][n].name;
      }
    }
    return "";
  }
  std::string VectorValue() {
    std::string name = Existing("vec<" + config_.scalar + ", 3>");
    return name.empty() ? "(vec.make (sin " + Pick(config_.scalar) + "), 0.5, -0.25)" : name;
  }
  std::string MatrixValue() {
    std::string name = Existing("mat<" + config_.scalar + ", 2, 2>");
    return name.empty() ? "(mat.make (cos " + Pick(config_.scalar) + "), 0.5, -0.25, 1.0)" : name;
  }

  void Open(const std::string& head) {
    Line(head);
    scopes_.push_back({});
  }
  void Close(const std::string& tail) {
    while (!arrays_.empty() && arrays_.back().scope >= scopes_.size()) arrays_.pop_back();
    scopes_.pop_back();
    Line(tail);
  }

  void If(uint32_t depth) {
    Condition();
    std::string condition = config_.smooth ? scopes_.back().back().name : Pick("i1");
    const std::string& t = config_.scalar;
    bool result = !Chance(3);
    std::string name = Fresh("r"), integer = Fresh("q");
    Open((result ? name + ", " + integer + " = " : std::string()) + "if " + condition + " {");
    Block(depth - 1);
    if (result) Line("yield " + Pick(t) + ", " + Pick("i32"));
    if (!result && Chance(2)) return Close("}");
    Close("} else {");
    scopes_.push_back({});
    Block(depth - 1);
    if (result) Line("yield " + Pick(t) + ", " + Pick("i32"));
    Close("}");
    if (!result) return;
    Know(t, name);
    Know("i32", integer);
  }

  void For(uint32_t depth) {
    const std::string& t = config_.scalar;
    std::string index = Fresh("t"), float_result = Fresh("r"), int_result = Fresh("q"), a = Fresh("a"),
                k = Fresh("k");
    static const char* const kBounds[] = {"0..3", "0..4", "1..6", "2..3", "3..3"};
    std::string bounds = kBounds[Below(5)];
    if (Chance(2)) bounds = "0..(mod " + Pick("i32") + ", 5)";
    std::string step = Chance(4) ? " step 2" : "", order = Chance(4) ? " reversed" : "";
    std::string unroll = bounds.find("mod") == std::string::npos && Chance(4) ? " unroll" : "";
    Open(float_result + ", " + int_result + " = for " + index + " in " + bounds + step + order + " carry(" +
         a + " = " + Pick(t) + ", " + k + " = " + Pick("i32") + ")" + unroll + " {");
    Know("i32", index);
    Know(t, a);
    Know("i32", k);
    loops_.push_back(index);
    Block(depth - 1);
    loops_.pop_back();
    Line("yield " + (Chance(6) ? a : "(sin " + Pick(t) + ")") + ", " +
         (Chance(2) ? "(add " + k + ", " + std::to_string(Below(4)) + ")" : Pick("i32")));
    Close("}");
    Know(t, float_result);
    Know("i32", int_result);
  }

  void While(uint32_t depth) {
    const std::string& t = config_.scalar;
    std::string float_result = Fresh("r"), int_result = Fresh("q"), a = Fresh("a"), k = Fresh("k"),
                test = Fresh("b");
    Open(float_result + ", " + int_result + " = while carry(" + a + " = " + Pick(t) + ", " + k + " = 0) {");
    Know(t, a);
    Know("i32", k);
    if (Chance(3)) Arithmetic();
    // One that is counted, and one that stays.
    std::string bound = "(mod " + Pick("i32") + ", 5)";
    Line(test +
         (text_.size() % 2 == 0 ? " = lt " + k + ", " + bound : " = gt (sub " + bound + ", " + k + "), 0"));
    Line("continue_if " + test);
    text_ += std::string(2 * (scopes_.size() - 1), ' ') + "} do {\n";
    scopes_.push_back({});
    ++whiles_;
    Block(depth - 1);
    --whiles_;
    Line("yield (tanh " + Pick(t) + "), (add " + k + ", 1)");
    while (!arrays_.empty() && arrays_.back().scope >= scopes_.size()) arrays_.pop_back();
    scopes_.pop_back();
    Close("}");
    Know(t, float_result);
    Know("i32", int_result);
  }

  void Block(uint32_t depth) {
    uint32_t count = 2 + Below(config_.statements);
    for (uint32_t n = 0; n < count; ++n) {
      uint32_t kind = Below(16);
      if (kind < 2 && depth > 0) {
        If(depth);
      } else if (kind < 4 && depth > 0) {
        For(depth);
      } else if (kind == 4 && depth > 0 && config_.while_loops) {
        While(depth);
      } else if (kind < 7) {
        Load();
      } else if (kind == 7) {
        Effect();
      } else if (kind < 10 && config_.arrays) {
        ArrayAccess();
      } else if (kind < 12 && config_.vectors) {
        Vector();
      } else if (kind == 12) {
        Condition();
      } else {
        Arithmetic();
        if (config_.stores_values && Chance(2)) StoreValue();
      }
    }
  }

  /// A loop between tasks whose result later tasks read.
  void SerialLoop() {
    const std::string& t = config_.scalar;
    std::string result = Fresh("s"), index = Fresh("t"), a = Fresh("a");
    Open(result + " = for " + index + " in 0..%size carry(" + a + " = 0.0:" + t + ") {");
    Line("yield (add " + a + ", (sin (load %x[" + index + "])))");
    Close("}");
    Know(t, result);
  }

  void Task(uint32_t number) {
    Open("parallel %i" + std::string(number == 0 ? "" : std::to_string(number)) + " in 0..%size {");
    std::string index = "%i" + std::string(number == 0 ? "" : std::to_string(number));
    size_t begin = text_.size();
    Know("i32", index);
    Block(config_.depth);
    const std::string& t = config_.scalar;
    if (config_.tasks == 1 || !config_.differentiable) Line("store %y[%i], " + Pick(t));
    Line("atomic add %loss[], (sin " + Pick(t) + ")");
    if (number != 0) {
      // The statements say %i; in this task the index has another name.
      std::string body = text_.substr(begin), renamed;
      for (size_t at = 0; at < body.size();) {
        if (body.compare(at, 4, "[%i]") == 0) {
          renamed += "[" + index + "]";
          at += 4;
        } else {
          renamed += body[at++];
        }
      }
      text_ = text_.substr(0, begin) + renamed;
    }
    Close("}");
  }

  struct ArrayInfo {
    std::string name;
    uint32_t length;
    size_t scope;
  };

  const RandomKernelConfig& config_;
  uint64_t state_;
  std::string text_;
  uint32_t counter_ = 0;
  int stored_ = 0;
  uint32_t whiles_ = 0;
  std::vector<std::string> loops_;  ///< indices of the `for` loops around
  std::vector<std::vector<Known>> scopes_;
  std::vector<ArrayInfo> arrays_;
};

inline std::string RandomKernel(uint64_t seed, const RandomKernelConfig& config) {
  return RandomKernelWriter(seed, config).Write();
}

}  // namespace adc::test
