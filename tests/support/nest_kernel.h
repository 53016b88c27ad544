#pragma once
// Random nests of control around local arrays, for the reverse sweep: what is taped, replayed, undone, run
// again from a checkpoint or left out. Where random_kernel.h spreads over all operations, this one goes deep
// in few: `for`, `while` and `while max` with every kind of bound and of `checkpoint`, branches with and
// without results, stores under conditions, arrays that are read by what they hold, loops that do not run
// around expressions that are singular. The same seed gives the same text.
//
// Every kernel ends, stays inside its buffers and keeps its floats small. Floats that are singular (0,
// infinite, NaN) where a gate is closed are only read behind that gate, so that no derivative of the kernel
// sees them.

#include <cstdint>
#include <string>
#include <vector>

namespace adc::test {

struct NestKernelConfig {
  std::string scalar = "f64";
  uint32_t statements = 4;  ///< per block, at most, besides control
  uint32_t depth = 3;       ///< nesting of control
  bool serial = false;      ///< control also in front of the parallel loop
};

/// Parameters: %x: buffer<T, 1> diff; %e: buffer<T, 1> diff of any numbers, read where %g, of the same
/// extent, is 1 and not where it is 0; %k: buffer<i32, 1> of any numbers; %y: buffer<T, 1> diff (written at
/// [%i]); %loss: buffer<T, 0> diff; %n: i32 (small); %c: T diff. Extents are the same, and positive.
std::string NestKernel(uint64_t seed, const NestKernelConfig& config = {});

class NestKernelWriter {
 public:
  NestKernelWriter(uint64_t seed, const NestKernelConfig& config)
      : config_(config), t_(config.scalar), state_(seed * 0x9E3779B97F4A7C15ull + 0x2545F4914F6CDD1Dull) {}

  std::string Write() {
    text_ = "kernel @nest(%x: buffer<" + t_ + ", 1> diff, %e: buffer<" + t_ +
            ", 1> diff, %g: buffer<i32, 1> readonly, %k: buffer<i32, 1> readonly, %y: buffer<" + t_ +
            ", 1> diff, %loss: buffer<" + t_ + ", 0> diff, %n: i32, %c: " + t_ + " diff) {\n";
    scopes_.push_back({});
    Line("%size = shape %x, 0");
    Know("i32", "%n");
    Know(t_, "%c");
    if (config_.serial) Nest(config_.depth - 1);
    Open("parallel %i in 0..%size {");
    Know("i32", "%i");
    Line("%x0 = load %x[%i]");
    Line("%k0 = mod (load %k[%i]), 4");
    Line("%e0 = load %e[%i]");
    Line("%g0 = load %g[%i]");
    Know(t_, "%x0");
    Know("i32", "%k0");
    in_parallel_ = true;
    Array();
    Block(config_.depth);
    if (!Chance(3)) Line("store %y[%i], " + Float());
    Line("atomic add %loss[], (mul " + Float() + ", (sin " + Float() + "))");
    Close("}");
    text_ += "}\n";
    return text_;
  }

 private:
  struct Known {
    std::string type, name;
  };
  struct LocalArray {
    std::string name;
    bool integers;
    uint32_t length;
    size_t scope;
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
  void Open(const std::string& head) {
    Line(head);
    scopes_.push_back({});
  }
  void Leave() {
    while (!arrays_.empty() && arrays_.back().scope >= scopes_.size()) arrays_.pop_back();
    scopes_.pop_back();
  }
  void Close(const std::string& tail) {
    Leave();
    Line(tail);
  }

  std::string Pick(const std::string& type, const std::string& otherwise) {
    std::vector<const std::string*> found;
    for (const auto& scope : scopes_)
      for (const Known& known : scope)
        if (known.type == type) found.push_back(&known.name);
    if (found.empty() || Chance(10)) return otherwise;
    size_t recent = found.size() > 5 && !Chance(3) ? found.size() - 5 : 0;
    return *found[recent + Below(static_cast<uint32_t>(found.size() - recent))];
  }
  std::string Float() { return Pick(t_, "0.3:" + t_); }
  std::string Int() { return Pick("i32", std::to_string(Below(4))); }
  /// Not negative, and less than `bound`.
  std::string Small(uint32_t bound) { return "(mod " + Int() + ", " + std::to_string(bound) + ")"; }

  void Define(const std::string& type, const char* stem, const std::string& expression) {
    std::string name = Fresh(stem);
    Line(name + " = " + expression);
    Know(type, name);
  }

  void Arithmetic() {
    switch (Below(8)) {
      case 0:
        return Define(t_, "f", "sin (add (mul " + Float() + ", " + Float() + "), " + Float() + ")");
      case 1:
        return Define(t_, "f", "tanh (add " + Float() + ", " + Float() + ")");
      case 2:
        return Define(t_, "f", "mul (sin " + Float() + "), (cos " + Float() + ")");
      case 3:
        return Define(t_, "f", "sub (mul " + Float() + ", 0.5), (sin " + Float() + ")");
      case 4:
        return Define(t_, "f", "sin (mul " + Float() + ", (cast " + Small(5) + " to " + t_ + "))");
      case 5:
        return Define("i32", "k", "add " + Small(4) + ", " + Small(3));
      case 6:
        return Define("i32", "k", "cast (floor (mul (abs (sin " + Float() + ")), 2.9)) to i32");
      default:
        return in_parallel_ ? Define(t_, "f", "load %x[(mod " + Int() + ", %size)]")
                            : Define(t_, "f", "sin " + Float());
    }
  }

  void Singular() {
    static const char* const kOne[] = {"div 1.0, %e0", "log %e0",  "sqrt %e0", "rsqrt %e0", "mul %e0, %e0",
                                       "pow %e0, 0.5", "asin %e0", "rcp %e0",  "exp %e0"};
    std::string one = kOne[Below(9)];
    if (Chance(3)) one = "mul %e0, " + Float();
    if (Chance(5)) one = "atan2 %e0, (mul %e0, " + Float() + ")";
    Define(t_, "f", "sin (" + one + ")");
  }

  void Array() {
    if (!in_parallel_) return Arithmetic();
    std::string name = Fresh("m");
    bool integers = Chance(4);
    uint32_t length = 2 + Below(2);
    Line(name + " = alloca array<" + (integers ? "i32" : t_) + ", " + std::to_string(length) + ">");
    arrays_.push_back({name, integers, length, scopes_.size()});
  }

  void ArrayAccess() {
    if (arrays_.empty() || Chance(20)) return Array();
    const LocalArray array = arrays_[Below(static_cast<uint32_t>(arrays_.size()))];
    std::string index = Chance(3) ? std::to_string(Below(array.length)) : Small(array.length);
    std::string cell = array.name + "[" + index + "]";
    bool conditional = Chance(4);
    if (conditional) Open("if " + Condition() + " {");
    if (!conditional && Chance(2)) {
      Define(array.integers ? "i32" : t_, array.integers ? "k" : "f", "load " + cell);
    } else if (array.integers) {
      Line("store " + cell + ", (add " + Small(4) + ", " + Small(2) + ")");
    } else {
      Line("store " + cell + ", (sin (add " + Float() + ", (load " + cell + ")))");
    }
    if (conditional) Close("}");
  }

  std::string Condition() {
    static const char* const kCompare[] = {"eq", "ne", "lt", "ge"};
    std::string compare = kCompare[Below(4)];
    if (Chance(3)) return "(lt " + Float() + ", " + Float() + ")";
    if (Chance(6)) return "(and (" + compare + " " + Small(3) + ", 1), (lt " + Float() + ", 0.4))";
    return "(" + compare + " " + Small(3) + ", " + std::to_string(Below(3)) + ")";
  }

  void Effect() {
    if (!in_parallel_) return Arithmetic();
    if (Chance(3)) return Line("store %y[%i], " + Float());
    if (Chance(2)) return Line("atomic add %y[%i], (mul " + Float() + ", " + Float() + ")");
    Line("atomic add %loss[], (mul " + Float() + ", " + Float() + ")");
  }

  std::string Checkpoint() {
    if (!Chance(3)) return "";
    return Chance(3) ? " checkpoint" : " checkpoint " + std::to_string(1 + Below(3));
  }

  /// A bound of a few iterations, which may be 0.
  std::string Bound() {
    switch (Below(5)) {
      case 0:
        return std::to_string(Below(4));
      case 1:
        return "%n";
      case 2:
        return in_parallel_ ? "%k0" : "%n";
      default:
        return Small(4);
    }
  }

  /// The names of carried values: floats, then integers.
  struct Carried {
    std::vector<std::string> names, types, results;
    std::string List(const std::vector<std::string>& of) const {
      std::string list;
      for (const std::string& one : of) list += (list.empty() ? "" : ", ") + one;
      return list;
    }
  };

  Carried Carry(std::string* head) {
    Carried carried;
    uint32_t count = Below(4);
    for (uint32_t n = 0; n < count; ++n) {
      bool is_float = n == 0 || !Chance(3);
      carried.types.push_back(is_float ? t_ : "i32");
      carried.names.push_back(Fresh(is_float ? "a" : "q"));
      carried.results.push_back(Fresh("r"));
      *head += (head->empty() ? "" : ", ") + carried.names[n] + " = " + (is_float ? Float() : Int());
    }
    return carried;
  }
  void KnowCarried(const Carried& carried) {
    for (size_t n = 0; n < carried.names.size(); ++n) Know(carried.types[n], carried.names[n]);
  }
  std::string Yields(const Carried& carried) {
    std::string list;
    for (size_t n = 0; n < carried.names.size(); ++n) {
      std::string one = carried.names[n];
      if (carried.types[n] == "i32")
        one = Chance(2) ? "(add " + one + ", " + std::to_string(Below(3)) + ")" : Small(5);
      else if (Chance(6))
        one = Float();
      else
        one = "(sin (add (mul " + Float() + ", " + Float() + "), " + one + "))";
      list += (list.empty() ? "" : ", ") + one;
    }
    return list;
  }
  void KnowResults(const Carried& carried) {
    // Some results are never read.
    for (size_t n = 0; n < carried.names.size(); ++n)
      if (!Chance(3)) Know(carried.types[n], carried.results[n]);
  }

  void For(uint32_t depth) {
    std::string list, index = Fresh("t");
    bool gated = in_parallel_ && Chance(4);
    std::string low = Chance(5) ? std::to_string(Below(2)) : "0", high = gated ? "%g0" : Bound();
    if (gated) low = "0";
    Carried carried = Carry(&list);
    std::string line = "for " + index + " in " + low + ".." + high + (Chance(4) ? " reversed" : "") +
                       (Chance(5) ? " step 2" : "");
    if (!list.empty()) line = carried.List(carried.results) + " = " + line + " carry(" + list + ")";
    Open(line + Checkpoint() + " {");
    Know("i32", index);
    KnowCarried(carried);
    Inside(depth, gated);
    Line("yield " + Yields(carried));
    Close("}");
    KnowResults(carried);
  }

  void While(uint32_t depth) {
    std::string list, count = Fresh("j");
    bool gated = in_parallel_ && Chance(4);
    Carried carried = Carry(&list);
    bool bounded = Chance(2), counted = !bounded || Chance(2);
    if (counted) {
      carried.names.push_back(count);
      carried.types.push_back("i32");
      carried.results.push_back(Fresh("r"));
      list += (list.empty() ? "" : ", ") + count + " = 0";
    }
    std::string line = "while";
    if (bounded) line += " max " + (gated && !counted ? "%g0" : Bound());
    std::string own = std::to_string(Below(4));
    if (!list.empty()) line = carried.List(carried.results) + " = " + line + " carry(" + list + ")";
    Open(line + Checkpoint() + " {");
    KnowCarried(carried);
    if (gated && Chance(2)) Singular();
    bool singular = gated && !scopes_.back().empty() && scopes_.back().size() > carried.names.size();
    std::vector<Known> hidden;
    if (singular) {  // not for the condition
      hidden.push_back(scopes_.back().back());
      scopes_.back().pop_back();
    }
    if (Chance(2)) Arithmetic();
    if (Chance(6)) ArrayRead();
    std::string condition;
    if (counted) condition = "(lt " + count + ", " + (gated ? "%g0" : Chance(3) ? own : Bound()) + ")";
    if (!counted || Chance(4)) {
      std::string more = gated       ? "(ne %g0, 0)"
                         : Chance(3) ? "(lt (add %n, 1), 4)"
                         : Chance(3) ? "true"
                                     : "(lt " + Float() + ", 0.7)";
      condition = condition.empty() ? more : "(and " + condition + ", " + more + ")";
    }
    Line("continue_if " + condition);
    text_ += std::string(2 * (scopes_.size() - 1), ' ') + "} do {\n";
    for (const Known& known : hidden) scopes_.back().push_back(known);
    scopes_.push_back({});
    Inside(depth, gated);
    Carried without = carried;
    if (counted) without.names.pop_back();
    std::string yields = Yields(without);
    if (counted) yields += (yields.empty() ? "(add " : ", (add ") + count + ", 1)";
    Line("yield " + yields);
    Leave();
    Close("}");
    KnowResults(carried);
  }

  void ArrayRead() {
    for (const LocalArray& array : arrays_)
      if (!array.integers) return Define(t_, "f", "load " + array.name + "[" + Small(array.length) + "]");
  }

  void If(uint32_t depth) {
    bool gated = in_parallel_ && Chance(5);
    bool result = !Chance(3), integer = Chance(3);
    std::string name = Fresh("r"), number = Fresh("q");
    std::string line = "if " + (gated ? "(ne %g0, 0)" : Condition()) + " {";
    if (result) line = name + (integer ? ", " + number : "") + " = " + line;
    auto yield = [&] {
      if (result) Line("yield " + Float() + (integer ? ", " + Int() : ""));
    };
    Open(line);
    Inside(depth, gated);
    yield();
    if (!result && Chance(2)) return Close("}");
    Close("} else {");
    scopes_.push_back({});
    Block(depth - 1);
    yield();
    Close("}");
    if (result) Know(t_, name);
    if (result && integer) Know("i32", number);
  }

  void Inside(uint32_t depth, bool gated) {
    if (gated) ++gates_;
    Block(depth - 1);
    if (gated) --gates_;
  }

  void Nest(uint32_t depth) {
    uint32_t kind = Below(5);
    if (kind < 2) return For(depth);
    if (kind < 4) return While(depth);
    If(depth);
  }

  void Block(uint32_t depth) {
    uint32_t nests = depth == 0 ? 0 : depth == config_.depth ? 1 + Below(2) : Below(3);
    uint32_t total = 1 + Below(config_.statements) + nests;
    for (uint32_t n = 0; n < total; ++n) {
      if (Below(total - n) < nests) {
        --nests;
        Nest(depth);
        continue;
      }
      if (gates_ > 0 && Chance(3)) {
        Singular();
        continue;
      }
      uint32_t kind = Below(10);
      if (kind < 4)
        Arithmetic();
      else if (kind < 8)
        ArrayAccess();
      else if (kind == 8 && Chance(2))
        Array();
      else
        Effect();
    }
  }

  const NestKernelConfig config_;
  const std::string t_;
  uint64_t state_;
  std::string text_;
  uint32_t counter_ = 1;
  uint32_t gates_ = 0;
  bool in_parallel_ = false;
  std::vector<std::vector<Known>> scopes_;
  std::vector<LocalArray> arrays_;
};

inline std::string NestKernel(uint64_t seed, const NestKernelConfig& config) {
  return NestKernelWriter(seed, config).Write();
}

}  // namespace adc::test
