"""Kernels that are refused. A comment at the end of a line says what the caret marks there, and words of the message."""

import math

import numpy as np

import adc

X = adc.buffer[adc.f64, 1, adc.diff]
F = adc.buffer[adc.f32, 1]
settings = {"gain": 2.0}


def plain(v):
    return v


@adc.function
def recursive(v):
    return recursive(v)  # refused `recursive(v)`: calls itself


@adc.function
def uneven_in_a_loop(x):
    for k in range(3):
        if x[k] > 0.0:
            return x[k], x[k]
        if x[k] < -1.0:
            return x[k]  # refused `return x[k]`: another number of values: the same on every way
    return 0.0, 0.0


@adc.function
def two_types_in_a_loop(x, y):
    for k in range(3):
        if x[k] > 0.0:
            return x[k]
        if x[k] < -1.0:
            return y[k]  # refused `return y[k]`: the returned value is f32, where f64 is wanted
    return 0.0


@adc.function
def endless(x):
    for k in range(3):  # refused `for k in range(3)`: another number of values
        if x[k] > 0.0:
            return x[k]


@adc.function
def uneven(v):
    if v > 0.0:  # refused `if v > 0.0`: another number of values
        return v, v
    return v


@adc.kernel
def quotient_of_vectors(q: adc.buffer[adc.vec[adc.i32, 2], 1]):
    q[0] = q[1] / 2  # refused `q[1] / 2`: '/' of vectors of integers: write '//'


@adc.kernel
def mixed(x: X, y: F):
    x[0] = x[0] + y[0]  # refused `x[0] + y[0]`: f64 beside f32: adc.f64(y[0])


@adc.kernel
def stored(x: X, y: F):
    y[0] = x[0]  # refused `x[0]`: the value is f64, where f32 is wanted: adc.f32(a)


@adc.kernel
def half_and_integer(h: adc.buffer[adc.f16, 1], n: adc.i32):
    h[0] = h[1] * n  # refused `h[1] * n`: i32 beside f16: adc.f16(i)


@adc.kernel
def float_in_integers(c: adc.buffer[adc.i32, 1], n: adc.i32):
    c[0] = n * 0.5  # refused `n * 0.5`: the value is f32, where i32 is wanted: adc.i32(a)


@adc.kernel
def truth(x: X, q: adc.i32):
    both = q and x[0] > 1.0  # refused `q`: a condition is a bool, not i32: 'a != 0'
    x[0] = 1.0 if both else 2.0


@adc.kernel
def bool_number(x: X, n: adc.i32):
    m = -(n > 0)  # refused `-(n > 0)`: a bool is no number
    x[0] = m


@adc.kernel
def one_branch(x: X):
    if x[0] > 0.0:
        v = 1.0
    x[1] = v  # refused `v`: 'v' is assigned in one branch only: before the 'if'


@adc.kernel
def after_loop(x: X, n: adc.i32):
    for i in range(n):
        v = x[i]
    x[0] = v  # refused `v`: 'v' is assigned in the loop only


@adc.kernel
def after_index(x: X, n: adc.i32):
    for i in range(n):
        x[i] = 1.0
    x[i] = 2.0  # refused `i`: is the index of a loop, which has ended


@adc.kernel
def two_types(x: X, y: F):
    v = x[0]
    for i in range(3):  # refused `for i in range(3)`: 'v', which the loop carries, is f32, where f64 is wanted
        v = y[i]
    x[1] = v


@adc.kernel
def shared(x: X):
    total = 0.0
    for i in adc.parallel(x.shape[0]):
        total += x[i]  # refused `total`: all iterations would assign it: adc.atomic_add
    x[0] = total


@adc.kernel
def ordered(x: X):
    for i in adc.parallel(x.shape[0]):
        break  # refused `break`: cannot end them: continue


@adc.kernel
def inner(x: X, n: adc.i32):
    for t in range(n):
        for i in adc.parallel(x.shape[0]):  # refused `for i in adc.parallel(x.shape[0])`: stands at the top level
            x[i] = 1.0


@adc.kernel
def early(x: X, n: adc.i32):
    for i in adc.parallel(n):
        if x[i] > 0.0:
            return  # refused `return`: would end all iterations: write 'continue'
        x[i] = 1.0


@adc.kernel
def with_a_value(x: X):
    if x[0] > 0.0:
        return x[0]  # refused `return x[0]`: a kernel returns nothing: store the value
    x[0] = 1.0


@adc.kernel
def not_a_range(x: X):
    for v in x:  # refused `x`: a loop of a kernel counts: range(n)
        pass


@adc.kernel
def step_of_zero(x: X, n: adc.i32):
    for i in range(0, 10, n):  # refused `n`: the step of 'range'
        x[i] = 1.0


@adc.kernel
def rank(x: X):
    x[0, 1] = 1.0  # refused `x[0, 1]`: 2 indices, where there are 1 axes: x[i]


@adc.kernel
def float_index(x: X):
    x[x[0]] = 1.0  # refused `x[0]`: an index is an integer, not f64: adc.i32(a)


@adc.kernel
def from_the_end(x: X):
    x[-1] = 1.0  # refused `-1`: would count from the end


@adc.kernel
def sliced(x: X):
    x[0:2] = 1.0  # refused `0:2`: a slice


@adc.kernel
def whole_buffer(x: X):
    x[0] = math.sin(x)  # refused `x`: is a buffer, where a value is wanted: x[i]


@adc.kernel
def read_only(x: adc.buffer[adc.f64, 1, adc.readonly]):
    x[0] = 1.0  # refused `x[0]`: 'x' is readonly


@adc.kernel
def calls_plain(x: X):
    x[0] = plain(x[1])  # refused `plain(x[1])`: is a plain function: @adc.function


@adc.kernel
def calls_itself(x: X):
    x[0] = recursive(x[1])


@adc.kernel
def returns_unevenly_in_a_loop(x: X):
    x[0], x[1] = uneven_in_a_loop(x)


@adc.kernel
def returns_two_types_in_a_loop(x: X, y: F):
    x[0] = two_types_in_a_loop(x, y)


@adc.kernel
def returns_in_a_loop_alone(x: X):
    x[0] = endless(x)


@adc.kernel
def returns_unevenly(x: X):
    x[0] = uneven(x[1])


@adc.kernel
def no_gamma(x: X):
    x[0] = math.gamma(x[1])  # refused `math.gamma(x[1])`: has no counterpart: of math there are


@adc.kernel
def unknown_name(x: X):
    x[0] = nothing  # noqa: F821 # refused `nothing`: no name 'nothing' is known


@adc.kernel
def too_early(x: X):
    x[0] = later  # refused `later`: is read before it is assigned
    later = 1.0


@adc.kernel
def dictionary(x: X):
    x[0] = settings["gain"]  # refused `settings["gain"]`: an element of a dict: pass it as a buffer


@adc.kernel
def vector_component(p: adc.buffer[adc.vec[adc.f64, 3], 1]):
    v = p[0]
    p[0].x = v.x  # refused `p[0].x`: a component is assigned of a variable alone: v = p[i]; v.x = 1.0; p[i] = v


@adc.kernel
def one_vector(p: adc.buffer[adc.vec[adc.f64, 3], 1]):
    v = p[0]
    w = v  # refused `v`: would be one vector in Python: w = +v
    w.x = 1.0
    p[0] = w


@adc.kernel
def vector_of_a_tuple(p: adc.buffer[adc.vec[adc.f64, 3], 1]):
    pair = p[0], 1.0
    v = pair[0]  # refused `pair[0]`: would be one vector in Python: copy it
    v.x = 1.0
    p[0] = v


@adc.kernel
def vector_of_a_loop(p: adc.buffer[adc.vec[adc.f64, 3], 1]):
    for _, v in enumerate((p[0], p[1])):  # refused `v`: would be one vector with another name: w = +v
        v.x = 1.0
        p[2] = v


@adc.kernel
def computed_in_matrix(p: adc.buffer[adc.mat[adc.f64, 2, 2], 1], n: adc.i32):
    m = p[0]
    m[n, 0] = 1.0  # refused `m[n, 0]`: at an index that is computed: adc.array
    p[0] = m


@adc.kernel
def no_component(p: adc.buffer[adc.vec[adc.f64, 2], 1]):
    p[0] = p[1] * p[1].z  # refused `p[1].z`: a vector of 2 components has no 'z'


@adc.kernel
def shapes(p: adc.buffer[adc.mat[adc.f64, 3, 3], 1]):
    p[0] = p[1] + 1.0  # refused `p[1] + 1.0`: beside a float: give both one shape


@adc.kernel
def cannot_hold(y: F):
    y[0] = 1e300  # refused `1e300`: f32 cannot hold


@adc.kernel
def cannot_hold_a_power(x: X):
    x[0] = 2 ** 5000  # refused `2 ** 5000`: f64 cannot hold


@adc.kernel
def compared(x: X):
    x[0] = 1.0 if x[1] in x else 2.0  # refused `x`: 'in' takes a tuple


@adc.kernel
def tries(x: X):
    try:  # refused `try`: 'try' cannot stand in a kernel
        x[0] = 1.0
    except ValueError:
        pass


@adc.kernel
def comprehension(x: X):
    a = [x[i] for i in range(3)]  # refused `[x[i] for i in range(3)]`: a list cannot stand in a kernel: write a loop
    x[0] = a[0]


@adc.kernel
def generator(x: X, n: adc.i32):
    x[0] = sum(x[i] for i in range(n))  # refused `range(n)`: known when the kernel is read: or a loop


@adc.kernel
def generator_with_if(x: X):
    x[0] = sum(x[i] for i in range(3) if i != 1)  # refused `(x[i] for i in range(3) if i != 1)`: a generator with 'if': write a loop


@adc.kernel
def walrus(x: X):
    x[0] = (v := 1.0) + v  # refused `v := 1.0`: ':=' cannot stand in a kernel


@adc.kernel
def dropped(x: X):
    x[0] + 1.0  # refused `x[0] + 1.0`: the value of this statement is dropped


@adc.kernel
def no_type(x):  # refused `x`: the parameter 'x' has no type
    x[0] = 1.0


@adc.kernel
def wrong_type(x: float):  # refused `float`: is no type of a kernel
    pass


@adc.kernel
def outside(x: X):
    a = adc.array(adc.f64, 3)
    for i in adc.parallel(x.shape[0]):
        x[i] = a[0]  # refused `a`: is an array from outside of adc.parallel: make it inside


@adc.kernel
def umlauts(x: X):
    größe = "ü" + x[0]  # refused `"ü"`: is no number


@adc.kernel
def added_component(p: adc.buffer[adc.vec[adc.f64, 3], 1]):
    v = p[0]
    v[3] += 1.0  # refused `v[3]`: there is no component 3 of 3
    p[0] = v


@adc.kernel
def added_to_shape(p: adc.buffer[adc.vec[adc.f64, 3], 1]):
    p.shape += 1  # refused `p.shape`: cannot be assigned


@adc.kernel
def constant_written(x: X):
    settings["gain"] = x[0]  # refused `settings["gain"]`: cannot be assigned in a kernel: kernels write to buffers


@adc.kernel
def several_named(x: X):
    pair = x[0], x[1]
    for _ in range(3):  # refused `for _ in range(3)`: 'pair' is not of the form that it has before the loop: use two names
        pair = x[2], (x[3], 1)
    x[0] = pair[0]


@adc.kernel
def none_before_a_loop(x: X):
    best = None
    for k in range(3):
        if best is None or x[k] > 0.0:
            best = x[k]  # refused `best`: is None: use another name


@adc.kernel
def sides_of_two_forms(x: X):
    a, b = (x[0], x[1]) if x[2] > 0.0 else (x[0], (x[1], x[2]))  # refused `(x[0], (x[1], x[2]))`: a tuple of another form
    x[0] = a + b


@adc.kernel
def two_forms_behind_a_branch(x: X):
    if x[0] > 0.0:
        pair = x[1], x[2]
    else:
        pair = x[1]
    x[0] = pair[0]  # refused `pair`: stands for different things in two branches: use two names


@adc.kernel
def too_many_names(x: X):
    a, b = x[0], x[1], x[2]  # refused `a, b`: 3 values are given to 2 names
    x[0] = a + b


@adc.kernel
def range_of_floats(x: X):
    for i in range(x[0]):  # refused `x[0]`: 'range' takes integers, not f64
        x[i] = 1.0


@adc.kernel
def kernel_in_kernel(x: X):
    no_type(x)  # refused `no_type(x)`: is a kernel


@adc.kernel
def vector_condition(p: adc.buffer[adc.vec[adc.f64, 3], 1]):
    if p[0] > p[1]:  # refused `p[0] > p[1]`: vectors cannot be compared
        p[0] = p[1]


@adc.kernel
def nested(x: X):
    def inner_function(v):  # refused `def`: a function cannot stand in a kernel
        return v
    x[0] = inner_function(x[1])


@adc.kernel
def wrong_argument(x: X):
    x[0] = adc.clamp(x[1], 0.0)  # refused `adc.clamp(x[1], 0.0)`: is given 2 arguments, and takes 3


@adc.kernel
def text(x: X):
    x[0] = f"{x[1]}"  # refused `f"{x[1]}"`: an f-string cannot stand in a kernel


@adc.kernel
def array_size(x: X, n: adc.i32):
    a = adc.array(adc.f64, n)  # refused `n`: the extent of an array is known
    x[0] = a[0]


@adc.kernel
def both_returned(x: X):
    x[0] = pair_of(x[1])  # refused `pair_of(x[1])`: is several values


@adc.function
def pair_of(v):
    return v, v


@adc.kernel
def complex_power(x: X):
    x[0] = (-8.0) ** 0.5  # refused `(-8.0) ** 0.5`: Python says of these numbers: the result is complex


@adc.kernel
def huge_power(x: X, n: adc.i64):
    x[0] = adc.f64(n * 9 ** 9 ** 9)  # refused `9 ** 9 ** 9`: more than 1,024 bits


@adc.kernel
def huge_shift(x: X):
    x[0] = 1 << 10000000000  # refused `1 << 10000000000`: more than 1,024 bits


@adc.kernel
def wide_shift(x: X, n: adc.i32):
    x[0] = adc.f64(n >> 32)  # refused `n >> 32`: is shifted by 32: shift by 0 to 31


@adc.kernel
def else_of_a_loop(x: X):
    for i in range(3):
        x[i] = 1.0
    else:
        x[0] = 2.0  # refused `x[0] = 2.0`: 'else' of a loop: set a variable


@adc.kernel
def matches(x: X, n: adc.i32):
    match n:  # refused `match n`: 'match' cannot stand in a kernel: if and elif
        case 0:
            x[0] = 1.0


@adc.kernel
def unsigned_range(x: X, n: adc.u64):
    for i in range(n):  # refused `range(n)`: its bounds are u64: range(adc.i64(n))
        x[i] = 1.0


@adc.kernel
def long_sequence(x: X):
    for i in enumerate(range(1000)):  # refused `enumerate(range(1000))`: a loop over more than 64 elements: pass a buffer
        x[0] = 1.0


@adc.kernel
def left_nest(x: X, n: adc.i32):
    for i, j in adc.serial(n, 3):
        if i == j:
            continue
        if x[i] > 1.0:
            break  # refused `break`: cannot end several loops of adc.serial: loops over range
        x[i] = 1.0


@adc.kernel
def a_count_in_f32(y: F, n: adc.i32):
    count = 0
    for i in range(n):
        if y[i] > 0.0:
            count += 1
    y[0] = count if y[0] > 0.0 else y[1]  # refused `count if y[0] > 0.0 else y[1]`: f32 in the other: adc.f32(a)


@adc.kernel
def of_numpy(x: X):
    x[0] = np.heaviside(x[1], 0.0)  # refused `np.heaviside(x[1], 0.0)`: cannot be called: of NumPy there are
