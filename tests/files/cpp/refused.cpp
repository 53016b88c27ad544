// What a kernel may not have, a kernel each: refused at its place, with a reason and a remedy.
//
// RUN: not adc --target=cpu --error-limit=0 -o %t.adcb %s 2>&1 | FileCheck %s
// RUN: not ls %t.adcb
//
// Of templates first.
// CHECK: error: the kernel 'never_made' is a template that is never instantiated [E0803]

// clang-format off
#include <adc/kernel.hpp>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

using Out = adc::buffer<float, 1>;
#define KERNEL(name, ...) \
  ADC_KERNEL void name(Out y, [[maybe_unused]] int n) { adc::parallel(y.extent(0), [&]([[maybe_unused]] int i) __VA_ARGS__); }

float counter = 0;
static int calls = 3;
int Count() { return ++calls; }
inline int Factorial(int n) { return n < 2 ? 1 : n * Factorial(n - 1); }
inline int Odd(int n);
inline int Even(int n) { return n == 0 ? 1 : Odd(n - 1); }
inline int Odd(int n) { return n == 0 ? 0 : Even(n - 1); }
float Elsewhere(float v);
struct Shape {
  virtual float Area() const { return 1; }
};
struct Holds {
  float* data;
};
struct Cleans {
  float v = 0;
  ~Cleans() { counter += v; }
};
union Both {
  float f;
  short i[2];
};
template <class Derived>
struct Base {
  float v = 0;
  float Get() { return static_cast<Derived*>(this)->w; }
};
struct From : Base<From> {
  float w = 0;
};
static float table[2] = {1, 2};
static float escaped[2] = {1, 2};
float* Row() { return escaped; }
float Change() { float* row = table; return row[1] = 3; }
union Wide {
  float f[4];
  __attribute__((vector_size(16))) float w;
};
union Halves {
  adc::vec<float, 2> v;
  float f[2];
};
struct Bits {
  unsigned low : 4;
};
struct Mixed {
  float v;
  double w;
};
struct Packed {
  float v;
  short low, high;
};
float* Either(float& a, float& b, bool first) {
  if (first) return &a;
  return &b;
}
float Any(int count, ...) { return static_cast<float>(count); }
float Static(float v) {
  static float retained = 0;
  return retained += v;
}
float& Chosen(float* a, int n, bool first) {
  if (first) return a[n + 1];
  return a[n * 2];
}

// CHECK: error: 'Factorial' calls itself [E0802]
// CHECK: error: 'Even' calls itself [E0802]
KERNEL(recursion, { y[i] = static_cast<float>(Factorial(i)); })
KERNEL(mutual_recursion, { y[i] = static_cast<float>(Even(i)); })
KERNEL(jump_back, {
  int k = 0;
// CHECK: :[[#@LINE+1]]:1: error: a kernel has no labels [E0802]
again:
  y[i] = 1;
  if (++k < 3) goto again;
})
KERNEL(jump_on, {
// CHECK: :[[#@LINE+1]]:14: error: a kernel has no goto [E0802]
  if (i > 2) goto end;
  y[i] = 1;
end:;
})
KERNEL(virtual_call, {
// CHECK: :[[#@LINE+1]]:3: error: 'Shape' has virtual functions or bases [E0802]
  Shape s;
  y[i] = s.Area();
})
KERNEL(throws, {
// CHECK: :[[#@LINE+1]]:14: error: a kernel has no exceptions [E0802]
  if (i > 2) throw 1;
  y[i] = 1;
})
KERNEL(catches, {
// CHECK: :[[#@LINE+1]]:3: error: a kernel has no exceptions [E0802]
  try {
    y[i] = 1;
  } catch (int) {
  }
})
KERNEL(allocates, {
// CHECK: :[[#@LINE+1]]:14: error: a kernel has no 'new' [E0802]
  float* p = new float[3];
  y[i] = p[0];
})
// CHECK: :[[#@LINE+1]]:17: error: a kernel has no 'delete' [E0802]
KERNEL(frees, { delete &y[i]; })
// CHECK: :[[#@LINE+1]]:52: error: 'malloc' has no body that the compiler sees [E0802]
KERNEL(calls_malloc, { y[i] = *static_cast<float*>(std::malloc(4)); })
KERNEL(reference_in_struct_chosen, {
  struct Place { float& at; };
  float a = 1, b = 2;
// CHECK: :[[#@LINE+1]]:41: error: a struct whose reference is to one of several objects that is chosen at run time [E0802]
  Place place = i > 2 ? Place{a} : Place{b};
  place.at += 1;
  y[i] = a + b;
})
KERNEL(pointer_chosen, {
  float a[2] = {1, 2}, b[2] = {3, 4};
  float* p = a;
// CHECK: :[[#@LINE+1]]:14: error: a pointer to one of several objects that is chosen at run time [E0802]
  if (i > 2) p = b;
  y[i] = *p;
})
KERNEL(pointer_chosen_at_once, {
  float a[2] = {1, 2}, b[2] = {3, 4};
// CHECK: :[[#@LINE+1]]:12: error: a pointer to one of several objects that is chosen at run time [E0802]
  y[i] = *(i > 2 ? &a[0] : &b[1]);
})
KERNEL(pointer_in_loop, {
  float a[2] = {1, 2}, b[2] = {3, 4};
  float* from = a;
  float* to = b;
  for (int k = 0; k < n; ++k) {
    to[0] += from[1];
// CHECK: :[[#@LINE+1]]:5: error: a pointer to one of several objects that is chosen at run time [E0802]
    std::swap(from, to);
  }
  y[i] = *from;
})
KERNEL(pointer_given_back, {
  float a = 1, b = 2;
// CHECK: error: a pointer to one of several objects that is chosen at run time [E0802]
  y[i] = *Either(a, b, i > 2);
})
KERNEL(pointer_outlived, {
  float* p;
  if (i > 2) {
    float a[2] = {1, 2};
// CHECK: :[[#@LINE+1]]:5: error: a pointer is declared before what it points to, outside of this branch or loop [E0802]
    p = a;
    y[i] = *p;
  }
})
KERNEL(pointer_unset, {
  float* p;
// CHECK: :[[#@LINE+1]]:11: error: a pointer is read before it points to anything [E0802]
  y[i] = *p;
})
KERNEL(null_pointer, {
  const float* p = nullptr;
// CHECK: :[[#@LINE+1]]:11: error: what a null pointer points to is used [E0802]
  y[i] = *p;
})
KERNEL(beyond_member, {
  Mixed m{y[i], 2};
// CHECK: :[[#@LINE+1]]:10: error: element 1 of 1 [E0802]
  y[i] = (&m.v)[1];
})
KERNEL(one_at_run_time, {
  Mixed m{y[i], 2};
  float v = 1;
  const float* p = &(i > 2 ? m.v : v);
// CHECK: :[[#@LINE+1]]:10: error: one object is indexed at run time [E0802]
  y[i] = p[n];
})
KERNEL(pointers_apart, {
  float a[2] = {1, 2}, b[2] = {3, 4};
// CHECK: :[[#@LINE+1]]:29: error: pointers into different objects are compared [E0802]
  y[i] = static_cast<float>(&a[0] < &b[0]);
})
KERNEL(other_numbers, {
  Mixed m{y[i], 2};
// CHECK: :[[#@LINE+1]]:10: error: 'Mixed' is seen as 'float' [E0802]
  y[i] = reinterpret_cast<float*>(&m)[0];
})
KERNEL(part_is_copied, {
  float a[2] = {1, 2};
// CHECK: :[[#@LINE+1]]:3: error: a part of an element is copied [E0802]
  std::memcpy(a, a + 1, 3);
  y[i] = a[0];
})
// CHECK: :[[#@LINE+1]]:35: error: a buffer cannot have elements of type 'float *' [E0802]
ADC_KERNEL void pointer_in_buffer(adc::buffer<Holds, 1> h, Out y) { y[0] = *h[0].data; }
KERNEL(function_pointer, {
// CHECK: :[[#@LINE+1]]:32: error: a kernel has no pointers or references to functions [E0802]
  float (*f)(float) = i > 2 ? &Static : &Static;
  y[i] = f(1.0f);
})
KERNEL(std_function, {
// CHECK: :[[#@LINE+1]]:3: error: 'function' has a destructor that runs code [E0802]
  std::function<float(float)> f = [](float v) { return v; };
  y[i] = f(1.0f);
})
// CHECK: :[[#@LINE+1]]:30: error: 'counter' is a variable outside of the kernel, which others may change [E0802]
KERNEL(global_read, { y[i] = counter; })
// CHECK: :[[#@LINE+1]]:26: error: 'counter' is a variable outside of the kernel, which others may change [E0802]
KERNEL(global_written, { counter = y[i]; })
// CHECK: :[[#@LINE+1]]:51: error: 'calls' is a variable outside of the kernel, which others may change [E0802]
KERNEL(static_global, { y[i] = static_cast<float>(calls); })
// CHECK: error: 'retained' keeps its value from call to call [E0802]
KERNEL(static_local, { y[i] = Static(y[i]); })
KERNEL(long_double, {
// CHECK: :[[#@LINE+1]]:3: error: a kernel has no values of type 'long double' [E0802]
  long double v = 1;
  y[i] = static_cast<float>(v);
})
// CHECK: :[[#@LINE+1]]:20: error: a kernel has no assembly [E0802]
KERNEL(assembly, { asm("nop"); })
KERNEL(volatile_variable, {
// CHECK: :[[#@LINE+1]]:3: error: a kernel has no volatile variables [E0802]
  volatile float v = 1;
  y[i] = v;
})
KERNEL(destructor, {
// CHECK: :[[#@LINE+1]]:3: error: 'Cleans' has a destructor that runs code [E0802]
  Cleans c;
  y[i] = c.v;
})
KERNEL(a_union, {
// CHECK: :[[#@LINE+1]]:3: error: a union whose members are numbers of different sizes [E0802]
  Both b;
  b.f = 1;
  y[i] = b.f;
})
KERNEL(other_bytes, {
  short b[2] = {1, 2};
  float f = 0;
// CHECK: :[[#@LINE+1]]:3: error: objects of different types are copied as bytes [E0802]
  std::memcpy(&f, b, 4);
  y[i] = f;
})
// CHECK: error: a base class is seen as 'From', which it is not known to be part of [E0802]
KERNEL(no_derived, { y[i] = Base<From>().Get(); })
// CHECK: :[[#@LINE+1]]:33: error: 'table' is a variable outside of the kernel, which others may change [E0802]
KERNEL(changed_by_row, { y[i] = table[i]; })
// CHECK: :[[#@LINE+1]]:26: error: 'escaped' is a variable outside of the kernel, which others may change [E0802]
KERNEL(escapes, { y[i] = escaped[i & 1]; })
KERNEL(null_in_a_loop, {
  float v[2] = {1, 2};
  float* p = v;
  for (int k = 0; p != nullptr; ++k) {
// CHECK: :[[#@LINE+1]]:26: error: a pointer to one of several objects that is chosen at run time [E0802]
    if (v[k % 2] > y[i]) p = nullptr;
  }
  y[i] = v[0];
})
KERNEL(simd_in_union, {
// CHECK: :[[#@LINE+1]]:3: error: a kernel has no values of type '{{.*}}vector_size{{.*}}' [E0802]
  Wide w{};
// CHECK: help: turn the SIMD of the header off, by the define that it has for that
  y[i] = w.f[0];
})
KERNEL(vector_in_union, {
// CHECK: :[[#@LINE+1]]:3: error: 'adc::vec<float, 2>' under another name [E0802]
  Halves h{};
  y[i] = h.v.x;
})
KERNEL(bit_field, {
// CHECK: :[[#@LINE+1]]:3: error: 'Bits' has a bit-field, 'low' [E0802]
  Bits b{};
  y[i] = static_cast<float>(b.low);
})
KERNEL(dynamic_memory, {
// CHECK: :[[#@LINE+1]]:3: error: 'vector' has a destructor that runs code [E0802]
  std::vector<float> v(3);
  y[i] = v[0];
})
// CHECK: :[[#@LINE+1]]:26: error: 'Elsewhere' has no body that the compiler sees [E0802]
KERNEL(no_body, { y[i] = Elsewhere(y[i]); })
// CHECK: :[[#@LINE+1]]:47: error: kernels do not know the function 'rand' [E0802]
KERNEL(c_library, { y[i] = static_cast<float>(std::rand()); })
// CHECK: :[[#@LINE+1]]:27: error: 'Any' takes any number of arguments [E0802]
KERNEL(variadic, { y[i] = Any(2, 1, 2); })
// CHECK: :[[#@LINE+1]]:31: error: 'int' is seen as 'double' [E0802]
KERNEL(reinterprets, { y[i] = reinterpret_cast<double&>(n); })
// CHECK: error: a reference to one of several objects that is chosen at run time [E0802]
KERNEL(chosen_reference, {
  float a[4] = {1, 2, 3, 4};
  Chosen(a, n, i > 2) = 3;
  y[i] = a[0];
})
KERNEL(chosen_lvalue, {
// CHECK: :[[#@LINE+1]]:4: error: a reference to one of several objects that is chosen at run time [E0802]
  (i > 2 ? y[i] : y[n]) = 3;
})
KERNEL(misplaced_checkpoint, {
  for (int t = 0; t < n; ++t) {
    y[i] += 1;
// CHECK: :[[#@LINE+1]]:5: error: adc::checkpoint is not the first statement of a loop [E0802]
    adc::checkpoint(4);
  }
})
KERNEL(atomic_on_local, {
  float v = 0;
// CHECK: :[[#@LINE+1]]:19: error: an atomic works on an element of a buffer or of a shared array [E0802]
  adc::atomic_add(v, 1.0f);
  y[i] = v;
})
// CHECK: :[[#@LINE+1]]:54: error: the axis of extent() is a constant below the buffer's number of axes [E0802]
KERNEL(axis_at_run_time, { y[i] = static_cast<float>(y.extent(n)); })
KERNEL(text, {
// CHECK: :[[#@LINE+1]]:19: error: a kernel has no text [E0802]
  const char* t = "text";
  y[i] = static_cast<float>(t[0]);
})
// CHECK: :[[#@LINE+1]]:27: error: adc::parallel stands inside of adc::parallel [E0802]
KERNEL(nested_parallel, { adc::parallel(3, [&](int j) { y[j] = 1; }); })
KERNEL(library_range, {
  std::array<float, 3> a{};
// CHECK: :[[#@LINE+1]]:24: error: '__introsort_loop' calls itself [E0802]
  std::sort(a.begin(), a.end());
  y[i] = a[0];
})
KERNEL(member_pointer, {
// CHECK: :[[#@LINE+1]]:3: error: a kernel has no pointers or references to functions or to members [E0802]
  float Mixed::* p = &Mixed::v;
  Mixed m{1, 2};
  y[i] = m.*p;
})
KERNEL(wide_integer, {
// CHECK: :[[#@LINE+1]]:3: error: a kernel has no values of type '__int128' [E0802]
  __int128 v = i;
  y[i] = static_cast<float>(v);
})
// CHECK: :[[#@LINE+1]]:63: error: kernels do not know the function '__builtin_nextafterf' [E0802]
KERNEL(function_of_the_library, { y[i] = std::nextafter(y[i], 2.0f); })
ADC_KERNEL void sums_outside(Out y) {
  float sum = 0;
// CHECK: :[[#@LINE+1]]:43: error: a variable that is declared outside of adc::parallel is assigned by all of its iterations [E0802]
  adc::parallel(y.extent(0), [&](int i) { sum += y[i]; });
  y[0] = sum;
}
ADC_KERNEL void array_outside(Out y) {
  float a[3] = {1, 2, y[0]};
// CHECK: :[[#@LINE+1]]:50: error: an array that is declared outside of adc::parallel is used inside of it [E0802]
  adc::parallel(y.extent(0), [&](int i) { y[i] = a[i % 3]; });
}
// CHECK: :[[#@LINE+1]]:12: error: a kernel gives no value [E0802]
ADC_KERNEL float gives_value(Out y) { return y[0]; }
// CHECK: :[[#@LINE+1]]:29: error: a kernel has no parameters of type 'float *' [E0802]
ADC_KERNEL void raw_pointer(float* y) { *y = 1; }
// CHECK: :[[#@LINE+1]]:37: error: a kernel gives nothing back through a reference [E0802]
ADC_KERNEL void by_reference(Out y, float& sum) { sum = y[0]; }
// CHECK: :[[#@LINE+1]]:30: error: a struct in a buffer with an adjoint has 'float' and 'double' [E0802]
ADC_KERNEL void mixed_struct(adc::diff<adc::buffer<Mixed, 1>> y) { y[0].v = 1; }
// CHECK: :[[#@LINE+1]]:58: error: a number of 2 bytes is stored beside others in a word of 4, which iterations would write at once [E0802]
ADC_KERNEL void part_of_word(adc::buffer<Packed, 1> p) { p[0].low = 1; }
// CHECK: :[[#@LINE+1]]:25: error: a parameter of a kernel has a name [E0802]
ADC_KERNEL void unnamed(Out) {}
ADC_KERNEL void twice(Out y) { y[0] = 1; }
// CHECK: :[[#@LINE+1]]:17: error: a second kernel of the name 'twice' [E0803]
ADC_KERNEL void twice(Out y, int n) { y[n] = 1; }
template <class T>
ADC_KERNEL void never_made(adc::buffer<T, 1> y) {
  y[0] = 1;
}
namespace {
// CHECK: :[[#@LINE+1]]:17: error: the kernel 'hidden' is in an unnamed namespace [E0803]
ADC_KERNEL void hidden(Out y) { y[0] = 1; }
}  // namespace
struct Owner {
// CHECK: :[[#@LINE+1]]:19: error: the kernel 'member' is a member function [E0803]
  ADC_KERNEL void member(Out y) { y[0] = 1; }
};
// CHECK: :[[#@LINE+1]]:17: error: the kernel 'only_declared' has no body [E0803]
ADC_KERNEL void only_declared(Out y);
