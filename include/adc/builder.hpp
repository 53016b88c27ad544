// Builds a module by calls, for front ends: types, functions and kernels, loops and branches as scopes, a
// place in the front end's source for each statement. The module is text (docs/ir.md), which can be looked
// at, and goes to adc_compile with its places. One header; link with the compiler's library (adc.h).
//
//   adc::Builder b;
//   b.Kernel("scale", {{"x", "buffer<f32, 1>", "diff"}, {"n", "i32"}}, [&](auto p) {
//     b.Parallel(0, p[1], [&](adc::Value i) { b.Store(p[0], {i}, p[0][i] * 2.0); });
//   });
//   std::string text = b.Text();
//
// Values know no types: the verifier does. Check and Compile report a value that does not fit, at the place
// that was current when it was built.

#ifndef ADC_BUILDER_HPP
#define ADC_BUILDER_HPP

#include <cstdint>
#include <cstdio>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "adc/adc.h"

namespace adc {

class Builder;

/// A value of the function that is being built, or a number, whose type its place gives it.
class Value {
 public:
  Value() = default;
  Value(int number) : text_(std::to_string(number)) {}      // NOLINT(google-explicit-constructor)
  Value(int64_t number) : text_(std::to_string(number)) {}  // NOLINT(google-explicit-constructor)
  Value(bool truth) : text_(truth ? "true" : "false") {}    // NOLINT(google-explicit-constructor)
  Value(double number) : text_(Number(number)) {}           // NOLINT(google-explicit-constructor)
  /// A number of a stated type: Value::Of("f64", 1.0).
  static Value Of(const std::string& type, double number) { return {nullptr, Number(number) + ":" + type}; }
  static Value Of(const std::string& type, int number) {
    return {nullptr, std::to_string(number) + ":" + type};
  }

  const std::string& Text() const { return text_; }
  /// An element of memory, loaded; or a component of a vector where the builder's Component is meant.
  template <class... Index>
  Value operator[](Index... index) const;

 private:
  friend class Builder;
  Value(Builder* builder, std::string text) : builder_(builder), text_(std::move(text)) {}
  static std::string Number(double number) {
    char text[40];
    std::snprintf(text, sizeof text, "%.17g", number);
    std::string shown = text;
    bool integral = shown.find_first_of(".enai") == std::string::npos;
    return integral ? shown + ".0" : shown == "-nan" ? "nan" : shown;
  }
  Builder* builder_ = nullptr;
  std::string text_;
};

using Values = std::vector<Value>;

struct Param {
  std::string name, type, attributes = {};
};

class Builder {
 public:
  // ---- places

  /// Names the front end's source, for messages that show its lines.
  void Origin(std::string name, std::string text = {}) {
    origin_ = std::move(name);
    origin_text_ = std::move(text);
  }
  /// The place of what is built from here on.
  void At(uint32_t line, uint32_t column = 1) {
    line_ = line;
    column_ = column;
  }

  // ---- items

  void Const(const std::string& name, const std::string& type, const std::string& value) {
    Line("const @" + name + " = " + value + " : " + type);
  }
  Value Constant(const std::string& name) { return {this, "@" + name}; }
  void Layout(const std::string& name, const std::string& members) {
    Line("layout @" + name + " { " + members + " }");
  }
  void Import(const std::string& path) { Line("import \"" + path + "\""); }
  void Kernel(const std::string& name, const std::vector<Param>& params,
              const std::function<void(const Values&)>& body) {
    Item("kernel @" + name, params, "", body);
  }
  /// The body ends with Return.
  void Func(const std::string& name, const std::vector<Param>& params,
            const std::vector<std::string>& results, const std::function<void(const Values&)>& body) {
    std::string list;
    for (const std::string& type : results) list += (list.empty() ? " -> " : ", ") + type;
    Item("func @" + name, params, list, body);
  }
  void Return(const Values& values) { Line("return" + List(values, " ")); }

  // ---- values

  /// Any operation that is written as a list of operands: Op("sin", {a}), Op("select", {c, a, b}).
  Value Op(const std::string& op, const Values& operands) { return Named(op + List(operands, " ")); }
  Value Cast(const Value& value, const std::string& type) {
    return Named("cast " + value.Text() + " to " + type);
  }
  Value Bitcast(const Value& value, const std::string& type) {
    return Named("bitcast " + value.Text() + " to " + type);
  }
  Value Random(const Values& operands, const std::string& type) {
    return Named("random" + List(operands, " ") + " : " + type);
  }
  Value Component(const Value& vector, const Value& index) { return Op("vec.get", {vector, index}); }
  Value Shape(const Value& buffer, int axis) {
    return Named("shape " + buffer.Text() + ", " + std::to_string(axis));
  }
  Value Array(const std::string& element, int length) {
    return Named("alloca array<" + element + ", " + std::to_string(length) + ">");
  }
  /// `base` is a buffer, a local array, a constant array, or a field (Field).
  Value Load(const Value& base, const Values& indices) { return Named("load " + Element(base, indices)); }
  void Store(const Value& base, const Values& indices, const Value& value) {
    Line("store " + Element(base, indices) + ", " + value.Text());
  }
  /// Atomic("add", x, {i}, v): the old value.
  Value Atomic(const std::string& op, const Value& base, const Values& indices, const Value& value) {
    return Named("atomic " + op + " " + Element(base, indices) + ", " + value.Text());
  }
  Value Field(const Value& layout, const std::string& name) { return {this, layout.Text() + "::" + name}; }
  Values Call(const std::string& function, const Values& arguments, size_t results) {
    return NamedMany("call @" + function + "(" + List(arguments, "") + ")", results);
  }
  void Print(const std::string& text, const Values& values) {
    Line("print \"" + text + "\"" + List(values, ", "));
  }
  void Assert(const Value& condition, const std::string& text) {
    Line("assert " + condition.Text() + ", \"" + text + "\"");
  }

  /// The operation on two values; of two numbers, their expression.
  static Value Make(const char* op, const char* sign, const Value& a, const Value& b) {
    Builder* builder = a.builder_ != nullptr ? a.builder_ : b.builder_;
    if (builder == nullptr) return {nullptr, "(" + a.Text() + sign + b.Text() + ")"};
    return builder->Op(op, {a, b});
  }

  // ---- control

  /// One iteration for each index from `lo` to `hi`, at once.
  void Parallel(const Value& lo, const Value& hi, const std::function<void(Value)>& body) {
    Value index = Fresh();
    Open("parallel " + index.Text() + " in " + lo.Text() + ".." + hi.Text());
    body(index);
    Close();
  }
  /// Carries values from one iteration to the next: the body gets the index and their values, and returns the
  /// next ones. The values after the last iteration.
  Values For(const Value& lo, const Value& hi, const Values& initial,
             const std::function<Values(Value, const Values&)>& body, const std::string& attributes = {}) {
    Value index = Fresh();
    Values carried, results = Many(initial.size());
    Open(Results(results) + "for " + index.Text() + " in " + lo.Text() + ".." + hi.Text() +
         (attributes.empty() ? "" : " " + attributes) + Carry(initial, &carried));
    Yield(body(index, carried));
    Close();
    return results;
  }
  /// The test gets the carried values and returns a condition, the body returns the next values.
  Values While(const Values& initial, const std::function<Value(const Values&)>& test,
               const std::function<Values(const Values&)>& body) {
    Values carried, results = Many(initial.size());
    Open(Results(results) + "while" + Carry(initial, &carried));
    Line("continue_if " + test(carried).Text());
    Else("do");
    Yield(body(carried));
    Close();
    return results;
  }
  /// Both branches return as many values as `results` says.
  Values If(const Value& condition, size_t results, const std::function<Values()>& then_branch,
            const std::function<Values()>& else_branch) {
    Values values = Many(results);
    Open(Results(values) + "if " + condition.Text());
    Yield(then_branch());
    Else("else");
    Yield(else_branch());
    Close();
    return values;
  }
  void If(const Value& condition, const std::function<void()>& then_branch) {
    Open("if " + condition.Text());
    then_branch();
    Close();
  }

  // ---- the module

  const std::string& Text() const { return text_; }
  /// For adc_compile. Good until the builder is used again.
  adc_source Source(const char* name) const {
    adc_source source = {};
    source.name = name;
    source.text = text_.data();
    source.size = text_.size();
    if (origin_.empty()) return source;
    source.places = places_.data();
    source.place_count = places_.size();
    source.origin = origin_.c_str();
    source.origin_text = origin_text_.empty() ? nullptr : origin_text_.c_str();
    source.origin_size = origin_text_.size();
    return source;
  }
  /// Verifies the module; `options.report` is given the errors.
  bool Check(adc_options options) const {
    options.emit = ADC_EMIT_CHECK;
    adc_product* product = nullptr;
    bool good = Compile("module", options, &product) == ADC_OK;
    adc_product_free(product);
    return good;
  }
  adc_status Compile(const char* name, const adc_options& options, adc_product** product) const {
    adc_source source = Source(name);
    return adc_compile(&source, 1, &options, product);
  }

 private:
  /// A number: no name of a parameter is one.
  Value Fresh() { return {this, "%" + std::to_string(next_++)}; }
  Values Many(size_t count) {
    Values values;
    for (size_t n = 0; n < count; ++n) values.push_back(Fresh());
    return values;
  }
  static std::string List(const Values& values, const char* before) {
    std::string text;
    for (const Value& value : values) text += (text.empty() ? before : ", ") + value.Text();
    return text;
  }
  static std::string Element(const Value& base, const Values& indices) {
    return base.Text() + "[" + List(indices, "") + "]";
  }
  static std::string Results(const Values& values) { return values.empty() ? "" : List(values, "") + " = "; }
  std::string Carry(const Values& initial, Values* carried) {
    *carried = Many(initial.size());
    std::string text;
    for (size_t n = 0; n < initial.size(); ++n)
      text += (n == 0 ? " carry(" : ", ") + (*carried)[n].Text() + " = " + initial[n].Text();
    return text.empty() ? text : text + ")";
  }
  void Yield(const Values& values) {
    if (!values.empty()) Line("yield" + List(values, " "));
  }
  Value Named(const std::string& instruction) {
    Value value = Fresh();
    Line(value.Text() + " = " + instruction);
    return value;
  }
  Values NamedMany(const std::string& instruction, size_t results) {
    Values values = Many(results);
    Line(Results(values) + instruction);
    return values;
  }
  void Item(const std::string& head, const std::vector<Param>& params, const std::string& results,
            const std::function<void(const Values&)>& body) {
    std::string list;
    Values values;
    next_ = 0;
    for (const Param& param : params) {
      values.push_back({this, "%" + param.name});
      list += (list.empty() ? "%" : ", %") + param.name + ": " + param.type +
              (param.attributes.empty() ? "" : " " + param.attributes);
    }
    Open(head + "(" + list + ")" + results);
    body(values);
    Close();
  }
  void Line(const std::string& text) {
    ++text_lines_;
    bool changed = places_.empty() || places_.back().line != line_ || places_.back().column != column_;
    if (changed) places_.push_back({text_lines_, line_, column_});
    text_.append(2 * depth_, ' ');
    text_ += text + "\n";
  }
  void Open(const std::string& text) {
    Line(text + " {");
    ++depth_;
  }
  void Else(const char* word) {
    --depth_;
    Line(std::string("} ") + word + " {");
    ++depth_;
  }
  void Close() {
    --depth_;
    Line("}");
  }

  std::string text_, origin_, origin_text_;
  std::vector<adc_place> places_;
  uint32_t text_lines_ = 0, line_ = 1, column_ = 1;
  size_t depth_ = 0;
  uint64_t next_ = 0;
};

template <class... Index>
Value Value::operator[](Index... index) const {
  return builder_->Load(*this, {Value(index)...});
}

inline Value operator+(const Value& a, const Value& b) {
  return Builder::Make("add", " + ", a, b);
}
inline Value operator-(const Value& a, const Value& b) {
  return Builder::Make("sub", " - ", a, b);
}
inline Value operator*(const Value& a, const Value& b) {
  return Builder::Make("mul", " * ", a, b);
}
inline Value operator/(const Value& a, const Value& b) {
  return Builder::Make("div", " / ", a, b);
}
inline Value operator%(const Value& a, const Value& b) {
  return Builder::Make("rem", " % ", a, b);
}
inline Value operator<(const Value& a, const Value& b) {
  return Builder::Make("lt", " < ", a, b);
}
inline Value operator<=(const Value& a, const Value& b) {
  return Builder::Make("le", " <= ", a, b);
}
inline Value operator>(const Value& a, const Value& b) {
  return Builder::Make("gt", " > ", a, b);
}
inline Value operator>=(const Value& a, const Value& b) {
  return Builder::Make("ge", " >= ", a, b);
}

}  // namespace adc

#endif
