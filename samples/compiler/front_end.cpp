// A front end: reads formulas over arrays, builds a module with include/adc/builder.hpp, and writes a bundle
// with the kernel and its gradient. Messages of the compiler point into the formulas.
//
//   wave(x, gain) -> y      # arrays of f32 of one length
//   a = sin(x) * gain       # element by element
//   y = a * a + 0.5
//
// usage: front_end formulas.txt wave.adcb

#include <cctype>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include "adc/builder.hpp"

namespace {

struct Mistake : std::string {};

/// One line of the source: names, numbers and signs.
struct Line {
  adc::Builder& builder;
  std::map<std::string, adc::Value>& names;
  std::string text;
  uint32_t number;
  size_t at = 0;

  std::string Name() {
    Skip();
    size_t begin = at;
    while (at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) || text[at] == '_')) ++at;
    if (begin == at) Fail("a name is missing");
    return text.substr(begin, at - begin);
  }
  bool Accept(const std::string& sign) {
    Skip();
    if (text.compare(at, sign.size(), sign) != 0) return false;
    at += sign.size();
    return true;
  }
  void Expect(const std::string& sign) {
    if (!Accept(sign)) Fail("'" + sign + "' is missing");
  }
  [[noreturn]] void Fail(const std::string& why) {
    throw Mistake{"line " + std::to_string(number) + ": " + why};
  }
  bool AtEnd() {
    Skip();
    return at == text.size() || text[at] == '#';
  }
  adc::Value Sum() {
    adc::Value value = Product();
    for (bool plus; (plus = Accept("+")) || Accept("-");)
      value = plus ? value + Product() : value - Product();
    return value;
  }

  void Skip() {
    while (at < text.size() && text[at] == ' ') ++at;
    builder.At(number, static_cast<uint32_t>(at + 1));
  }
  adc::Value Product() {
    adc::Value value = Primary();
    for (bool times; (times = Accept("*")) || Accept("/");)
      value = times ? value * Primary() : value / Primary();
    return value;
  }
  adc::Value Primary() {
    if (Accept("(")) {
      adc::Value value = Sum();
      Expect(")");
      return value;
    }
    Skip();
    if (at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0) {
      size_t used = 0;
      adc::Value value = adc::Value::Of("f32", std::stod(text.substr(at), &used));
      at += used;
      return value;
    }
    std::string name = Name();
    bool call = Accept("(");
    if (!call && names.count(name) == 0) Fail("no value '" + name + "'");
    if (!call) return names[name];
    adc::Values operands{Sum()};
    while (Accept(",")) operands.push_back(Sum());
    Expect(")");
    return builder.Op(name, operands);  // the compiler says whether there is such an operation
  }
};

void Read(const std::string& source, adc::Builder& builder) {
  std::istringstream lines(source);
  std::string text;
  std::map<std::string, adc::Value> names;
  std::getline(lines, text);
  Line head{builder, names, text, 1};
  std::string kernel = head.Name();
  std::vector<adc::Param> params;
  head.Expect("(");
  do {
    params.push_back({head.Name(), "buffer<f32, 1>", "diff readonly"});
  } while (head.Accept(","));
  head.Expect(")");
  head.Expect("->");
  std::string output = head.Name();
  params.push_back({output, "buffer<f32, 1>", "diff"});
  builder.Kernel(kernel, params, [&](const adc::Values& p) {
    builder.Parallel(0, builder.Shape(p[0], 0), [&](adc::Value i) {
      for (size_t n = 0; n + 1 < params.size(); ++n) names[params[n].name] = p[n][i];
      for (uint32_t number = 2; std::getline(lines, text); ++number) {
        Line line{builder, names, text, number};
        if (line.AtEnd()) continue;
        std::string name = line.Name();
        line.Expect("=");
        names[name] = line.Sum();
        if (!line.AtEnd()) line.Fail("this is no formula");
      }
      if (names.count(output) == 0) throw Mistake{"no line gives '" + output + "'"};
      builder.Store(p.back(), {i}, names[output]);
    });
  });
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) return std::fprintf(stderr, "usage: %s formulas.txt kernel.adcb\n", words[0]), 2;
  std::ifstream file(words[1]);
  std::string source{std::istreambuf_iterator<char>(file), {}};
  adc::Builder builder;
  builder.Origin(words[1], source);
  try {
    Read(source, builder);
  } catch (const Mistake& mistake) {
    return std::fprintf(stderr, "%s: %s\n", words[1], mistake.c_str()), 1;
  }
  adc_options options;
  adc_options_init(&options);
  options.report = [](void*, const adc_diagnostic* found) { std::fputs(found->text, stderr); };
  adc_product* bundle = nullptr;
  if (builder.Compile("formulas.ir", options, &bundle) != ADC_OK) return 1;
  size_t size = 0;
  const char* bytes = reinterpret_cast<const char*>(adc_product_bytes(bundle, &size));
  std::ofstream(words[2], std::ios::binary).write(bytes, static_cast<std::streamsize>(size));
  adc_product_free(bundle);
  return 0;
}
