// Names and results in print, for functions that passes build.

#include <catch2/catch.hpp>

#include "ir/builder.h"
#include "ir/module.h"

using namespace adc;
using namespace adc::ir;

namespace {

struct Built {
  Module module;
  Function& kernel = module.AddFunction(FunctionKind::Kernel, module.Intern("k"));
  Value x = kernel.AddParameter(Type::Buffer(kF32, 1), module.Intern("x"), {});
  Builder builder{module, kernel, kernel.Body()};

  Value Named(Value v, const char* name) {
    kernel[v].name = module.Intern(name);
    return v;
  }
  std::string Body() {
    builder.SetBlock(kernel.Body());
    builder.Terminate(Op::Return, {});
    std::string text = Print(module, kernel);
    size_t begin = text.find("{\n") + 2;
    return text.substr(begin, text.size() - begin - 2);
  }
};

}  // namespace

TEST_CASE("a name that stands twice gets a number", "[ir]") {
  Built b;
  Value a = b.Named(b.builder.Make(Op::Sin, {b.builder.Float(kF32, 1)}), "a");
  Value taken = b.Named(b.builder.Make(Op::Sin, {a}), "a.1");
  b.Named(b.builder.Make(Op::Cos, {taken}), "a");
  b.Named(b.builder.Make(Op::Cos, {a}), "a");
  CHECK(b.Body() == "  %a = sin 1.0\n  %a.1 = sin %a\n  %a.2 = cos %a.1\n  %a.3 = cos %a\n");
}

TEST_CASE("numbers of values without a name are free ones", "[ir]") {
  Built b;
  Value first = b.builder.Make(Op::Sin, {b.builder.Float(kF32, 1)});
  Value named = b.Named(b.builder.Make(Op::Sin, {first}), "1");
  b.builder.Make(Op::Add, {named, first});
  CHECK(b.Body() == "  %0 = sin 1.0\n  %1 = sin %0\n  %2 = add %1, %0\n");
}

TEST_CASE("what passes make of a number that a text had is a free number in text", "[ir]") {
  Built b;
  Value first = b.Named(b.builder.Make(Op::Sin, {b.builder.Float(kF32, 1)}), "0");
  Value part = b.Named(b.builder.Make(Op::Sin, {first}), "0.1");
  Value again = b.Named(b.builder.Make(Op::Cos, {part}), "0");
  b.builder.Make(Op::Add, {again, first});
  CHECK(b.Body() == "  %0 = sin 1.0\n  %1 = sin %0\n  %2 = cos %1\n  %3 = add %2, %0\n");
}

TEST_CASE("results that nobody reads", "[ir]") {
  Built b;
  Value one = b.builder.Float(kF32, 1);
  Value index[] = {b.builder.I32(0)};
  b.builder.Access(Op::AtomicAdd, b.x, index, {&one, 1});
  Value old = b.builder.Access(Op::AtomicAdd, b.x, index, {&one, 1});
  Inst loop = b.builder.For(b.builder.I32(0), b.builder.I32(4), b.builder.I32(1), {&old, 1});
  b.builder.SetBlock(b.kernel[loop].regions[0]);
  Value carried = b.kernel[b.builder.block()].params[1];
  b.builder.Yield({&carried, 1});
  b.builder.SetBlock(b.kernel.Body());
  Inst branch = b.builder.If(b.builder.Bits(kI1, 1), {&kF32, 1});
  for (Block region : b.kernel[branch].regions) {
    b.builder.SetBlock(region);
    b.builder.Yield({&one, 1});
  }
  CHECK(b.Body() ==
        "  atomic add %x[0], 1.0\n"
        "  %0 = atomic add %x[0], 1.0\n"
        "  for %1 in 0..4 carry(%2 = %0) {\n    yield %2\n  }\n"
        "  %3 = if true {\n    yield 1.0\n  } else {\n    yield 1.0\n  }\n");
}

TEST_CASE("types of literals where nothing else gives them", "[ir]") {
  Built b;
  Value one = b.builder.Float(kF64, 1);
  Value sum = b.builder.Make(Op::Add, {one, b.builder.Float(kF64, 2)});
  b.builder.Make(Op::Add, {sum, one});
  b.builder.Make(Op::Select, {b.builder.Bits(kI1, 1), one, b.builder.Float(kF64, 2)});
  b.builder.Cast(b.builder.I64(3), kF32);
  b.builder.Load(b.x, std::vector<Value>{b.builder.I64(7)});
  CHECK(b.Body() ==
        "  %0 = add 1.0:f64, 2.0\n  %1 = add %0, 1.0\n  %2 = select true, 1.0:f64, 2.0\n"
        "  %3 = cast 3:i64 to f32\n  %4 = load %x[7:i64]\n");
}

TEST_CASE("functions that passes add follow their primal", "[ir]") {
  Module module;
  for (const char* name : {"a", "b", "a.grad"}) {
    Function& f = module.AddFunction(FunctionKind::Kernel, module.Intern(name));
    Builder(module, f, f.Body()).Terminate(Op::Return, {});
  }
  module.functions[2]->derived_from = module.Intern("a");
  module.items = {{Module::ItemKind::Function, 0, false}, {Module::ItemKind::Function, 1, false}};
  CHECK(Print(module) == "kernel @a() {\n}\n\nkernel @a.grad() {\n}\n\nkernel @b() {\n}\n");
}

TEST_CASE("names of types", "[ir]") {
  CHECK(TypeName(kNoType) == "none");
  CHECK(TypeName(Type::Vec(Scalar::F16, 4)) == "vec<f16, 4>");
  CHECK(TypeName(Type::Mat(Scalar::F64, 2, 3)) == "mat<f64, 2, 3>");
  CHECK(TypeName(Type::Array(Type::Vec(Scalar::F32, 3), 9)) == "array<vec<f32, 3>, 9>");
  CHECK(TypeName(Type::Buffer(Type::Mat(Scalar::U8, 2, 2), 8)) == "buffer<mat<u8, 2, 2>, 8>");
  CHECK(TypeName(Type::LayoutOf(3)) == "@layout#3");
  CHECK(TypeName(Type::Stack(Scalar::I64)) == "stack of i64");
}
