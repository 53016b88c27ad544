#!/usr/bin/env python3
"""A front end that prints text: formulas over arrays to a kernel, which `adc` compiles.

    wave(x, gain) -> y      # arrays of f32 of one length
    a = sin(x) * gain       # element by element
    y = a * a + 0.5

usage: front_end.py formulas.txt | adc -o wave.adcb -
"""

import ast
import re
import sys

SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}


class Mistake(Exception):
    pass


def expression(node):
    """Python's syntax of a formula as infix text: both have the same precedence, so that parentheses say it all."""
    if isinstance(node, ast.BinOp) and type(node.op) in SIGNS:
        return f"({expression(node.left)} {SIGNS[type(node.op)]} {expression(node.right)})"
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return f"-({expression(node.operand)})"
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return f"{node.func.id}({', '.join(expression(argument) for argument in node.args)})"
    if isinstance(node, ast.Name):
        return "%" + node.id
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return f"{float(node.value)!r}:f32"
    raise Mistake("this is no formula: " + ast.unparse(node))


def translate(source):
    lines = [line.split("#")[0].strip() for line in source.splitlines()]
    lines = [line for line in lines if line]
    head = re.fullmatch(r"(\w+)\(([\w, ]+)\) -> (\w+)", lines[0]) if lines else None
    if not head:
        raise Mistake("the first line is 'name(array, ...) -> array'")
    kernel, inputs, output = head[1], [name.strip() for name in head[2].split(",")], head[3]
    params = [f"%{name}.array: buffer<f32, 1> diff readonly" for name in inputs]
    yield f"kernel @{kernel}({', '.join(params)}, %{output}.array: buffer<f32, 1> diff) {{"
    yield f"  parallel %i in 0..shape(%{inputs[0]}.array, 0) {{"
    for name in inputs:
        yield f"    %{name} = %{name}.array[%i]"
    for line in lines[1:]:
        name, formula = (part.strip() for part in line.split("=", 1))
        yield f"    %{name} = {expression(ast.parse(formula, mode='eval').body)}"
    yield f"    %{output}.array[%i] = %{output}"
    yield "  }"
    yield "}"


def main():
    try:
        with open(sys.argv[1], encoding="utf-8") as file:
            print("\n".join(translate(file.read())))
    except (Mistake, SyntaxError, ValueError) as mistake:
        sys.exit(f"{sys.argv[1]}: {mistake}")


if __name__ == "__main__":
    main()
