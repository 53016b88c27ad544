#!/usr/bin/env python3
"""Prints a kernel whose body has N pieces of one kind, to see how compile time grows with a body.

  generate.py KIND N [--type f64]

Every kernel is differentiable, and its values stay between -2 and 2 whatever N is, so that gradients of it can
be checked. The result is summed into %out."""

import argparse


class Text:
    """Lines of a kernel, and names that are used once."""

    def __init__(self, real):
        self.real = real
        self.lines = []
        self.count = 0

    def name(self):
        self.count += 1
        return f"%t{self.count}"

    def add(self, line, depth=2):
        self.lines.append("  " * depth + line)

    def value(self, expression, depth=2):
        name = self.name()
        self.add(f"{name} = {expression}", depth)
        return name


def in_one_task(real, body, parameters=""):
    """A kernel with one parallel loop, whose body `body` writes: it gets the text and the values read, and gives
    the value that is summed."""
    text = Text(real)
    start = [text.value(f"load %x[%i, {n}]") for n in range(4)]
    result = body(text, start)
    text.add(f"atomic add %out[], {result}")
    head = f"kernel @big(%x: buffer<{real}, 2> diff, %out: buffer<{real}, 0> diff, %n: i32{parameters}) {{\n"
    return head + "  parallel %i in 0..shape(%x, 0) {\n" + "\n".join(text.lines) + "\n  }\n}\n"


def line(count, real):
    """N operations, each of which reads values from nearby, and some a value from the start: the end depends on it."""

    def body(text, start):
        recent = start
        for n in range(count):
            a, b = recent[-1], recent[-2 - n % 3]
            form = (f"{a} * {b}", f"{a} - {b}", f"sin({a})", f"{a} * {recent[-4]}", f"{a} + {start[n // 6 % 4]}", f"cos({a})")[n % 6]
            recent = (recent + [text.value(form)])[-8:]
        return recent[-1]

    return in_one_task(real, body)


def branches(count, real):
    """N branches one after another."""

    def body(text, start):
        value = start[0]
        for n in range(count):
            other = start[n % 4]
            condition = text.value(f"{value} < {other}")
            name = text.name()
            text.add(f"{name} = if {condition} {{")
            text.add(f"yield sin({value}) * {other}", 3)
            text.add("} else {")
            text.add(f"yield {value} * 0.5 - cos({other})", 3)
            text.add("}")
            value = name
        return value

    return in_one_task(real, body)


def nested_branches(count, real):
    """N branches in nests of 32."""

    def body(text, start):
        value = start[0]

        def nest(value, depth, left):
            if left == 0:
                return text.value(f"sin({value}) * {start[depth % 4]}", depth)
            condition = text.value(f"{value} < {start[left % 4]}", depth)
            name = text.name()
            text.add(f"{name} = if {condition} {{", depth)
            inner = nest(text.value(f"{value} * 0.5", depth + 1), depth + 1, left - 1)
            text.add(f"yield {inner}", depth + 1)
            text.add("} else {", depth)
            text.add(f"yield cos({value})", depth + 1)
            text.add("}", depth)
            return name

        for first in range(0, count, 32):
            value = nest(value, 2, min(32, count - first))
        return value

    return in_one_task(real, body)


def loops(count, real):
    """N loops one after another."""

    def body(text, start):
        value = start[0]
        for n in range(count):
            name, inner = text.name(), text.name()
            text.add(f"{name} = for %j{n} in 0..%n carry({inner} = {value}) {{")
            text.add(f"yield sin({inner}) * {start[n % 4]}", 3)
            text.add("}")
            value = name
        return value

    return in_one_task(real, body)


def array_stores(count, real):
    """N stores to a local array, at indices known only at run time, each with a load."""

    def body(text, start):
        text.add(f"%a = alloca array<{real}, 16>")
        text.add(f"store %a[0], {start[0]}")
        for n in range(count):
            index = text.value(f"(%n + {n * 7 % 16}) & 15")
            loaded = text.value(f"load %a[{index}]")
            other = text.value(f"(%n + {n * 5 % 16}) & 15")
            text.add(f"store %a[{other}], sin({loaded}) + {start[n % 4]}")
        return text.value("load %a[%n & 15]")

    return in_one_task(real, body)


def constant_stores(count, real):
    """N stores to a local array, at indices that are constants, each with a load."""

    def body(text, start):
        text.add(f"%a = alloca array<{real}, 16>")
        text.add(f"store %a[0], {start[0]}")
        for n in range(count):
            loaded = text.value(f"load %a[{n * 7 % 16}]")
            text.add(f"store %a[{(n + 1) * 7 % 16}], sin({loaded}) + {start[n % 4]}")
        return text.value(f"load %a[{count * 7 % 16}]")

    return in_one_task(real, body)


def stores(count, real):
    """N loads and stores of buffers at indices known only at run time."""

    def body(text, start):
        value = start[0]
        for n in range(count):
            loaded = text.value(f"load %c[%i, %n + {n}]")
            value = text.value(f"sin({loaded}) * {value}")
            text.add(f"store %y[%i, {n}], {value}")
        return value

    return in_one_task(real, body, f", %c: buffer<{real}, 2> diff, %y: buffer<{real}, 2> diff")


def calls(count, real):
    """N calls of one small function."""

    def body(text, start):
        value = start[0]
        for n in range(count):
            value = text.value(f"call @step({value}, {start[n % 4]})")
        return value

    return (f"func @step(%a: {real}, %b: {real}) -> {real} {{\n  return sin(%a) * 0.5 + cos(%b * %a)\n}}\n"
            + in_one_task(real, body))


def tasks(count, real):
    """N parallel loops, each a task of its own."""
    lines = []
    for n in range(count):
        lines.append(f"  parallel %i in 0..shape(%x, 0) {{\n    %a = load %x[%i, {n % 4}]\n"
                     f"    atomic add %out[], sin(%a) * {n + 1}.0\n  }}")
    return (f"kernel @big(%x: buffer<{real}, 2> diff, %out: buffer<{real}, 0> diff, %n: i32) {{\n"
            + "\n".join(lines) + "\n}\n")


def kernels(count, real):
    """N kernels that are alike."""
    return "".join(f"kernel @k{n}(%x: buffer<{real}, 1> diff, %y: buffer<{real}, 1> diff) {{\n"
                   f"  parallel %i in 0..shape(%x, 0) {{\n    %a = load %x[%i]\n    store %y[%i], sin(%a)\n  }}\n}}\n"
                   for n in range(count))


def parameters(count, real):
    """N buffers, each of which is read once."""

    def body(text, start):
        value = start[0]
        for n in range(count):
            loaded = text.value(f"load %p{n}[%i]")
            value = text.value(f"sin({value}) * {loaded}")
        return value

    return in_one_task(real, body, "".join(f", %p{n}: buffer<{real}, 1> diff" for n in range(count)))


def stacks(count, real):
    """One loop that carries N values, each of which a gradient tapes."""

    def body(text, start):
        carried = [text.name() for _ in range(count)]
        results = [text.name() for _ in range(count)]
        initial = [f"{name} = {start[n % 4]}" for n, name in enumerate(carried)]
        text.add(f"{', '.join(results)} = for %j in 0..%n carry({', '.join(initial)}) {{")
        following = [text.value(f"sin({name}) * {start[n % 4]}", 3) for n, name in enumerate(carried)]
        text.add(f"yield {', '.join(following)}", 3)
        text.add("}")
        value = start[1]
        for name in results:
            value = text.value(f"{value} * 0.5 + {name}")
        return value

    return in_one_task(real, body)


def nest_of_loops(count, real, bound, order=""):
    """N loops, each in the one before, with the bound that `bound` gives for a depth; each changes what the next one
    begins with."""

    def body(text, start):
        def nest(depth, value):
            if depth == count:
                return text.value(f"sin({value}) * {start[1]}", depth + 2)
            name, inner = text.name(), text.name()
            text.add(f"{name} = for %j{depth} in 0..{bound(depth)}{order} carry({inner} = {value}) {{", depth + 2)
            changed = text.value(f"cos({inner}) + {start[depth % 4]}", depth + 3)
            result = nest(depth + 1, changed)
            text.add(f"yield {result}", depth + 3)
            text.add("}", depth + 2)
            return name

        return nest(0, start[0])

    return in_one_task(real, body)


def loop_nest(count, real):
    """One loop nest, N deep (at most 16), each level of which changes what the next one begins with."""
    return nest_of_loops(count, real, lambda depth: "%n")


def triangles(count, real):
    """The same with the index of each loop as the bound of the next."""
    return nest_of_loops(count, real, lambda depth: f"%j{depth - 1}" if depth else "%n")


def reversed_triangles(count, real):
    """The same, last iteration first."""
    return nest_of_loops(count, real, lambda depth: f"%j{depth - 1}" if depth else "%n", " reversed")


KINDS = {function.__name__.replace("_", "-"): function
         for function in (line, branches, nested_branches, loops, array_stores, constant_stores, stores, calls,
                          tasks, kernels, parameters, stacks, loop_nest, triangles, reversed_triangles)}
NESTS = ("loop-nest", "triangles", "reversed-triangles")  # which few pieces make costly


def main():
    kinds = "\n".join(f"  {name:16} {function.__doc__}" for name, function in KINDS.items())
    parser = argparse.ArgumentParser(description=__doc__ + "\n\nkinds:\n" + kinds,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("count", type=int)
    parser.add_argument("--type", default="f64", choices=("f32", "f64"))
    options = parser.parse_args()
    print(KINDS[options.kind](options.count, options.type), end="")


if __name__ == "__main__":
    main()
