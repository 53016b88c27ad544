#!/usr/bin/env python3
"""Makes a file that fuzz.py kept as small as it gets while it fails as before.

Usage: reduce.py [--on cpu-strict] [--level 0] [--metal ADC_ON_METAL_HOST] [-o FILE] ADC FILE

Statements go, first many at once, and what used their results gets an operand of theirs or a constant; loops and
branches are unwrapped, attributes dropped, carried values and parameters left out, numbers made short. Each try is read,
evaluated and run anew: what is no program any more, or fails in another way, is not taken. Device and level are those of
the file's first line, if not stated.
"""

import argparse
import ast
import glob
import os
import re
import sys
import tempfile

import evaluate
import execute
import ir_text
from ir_text import Literal, Name, Node


ENDS = ("yield", "continue_if", "return", "break", "continue", "exit")


def read_case(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    sets = {name: ast.literal_eval(value) for name, value in re.findall(r"^// set: (\S+) = (.*)$", text, re.M)}
    body = "".join(line + "\n" for line in text.splitlines() if not line.startswith("//"))
    module = ir_text.read(body)
    kernel = module.functions["k"]
    inputs = {}
    for param in kernel.params:
        if param.type[0] == "layout":
            for field, type, extents, _, _ in evaluate.fields_of(module.layouts[param.type[1]]):
                name = f"{param.name}::{field}"
                inputs[name] = (extents, flat(sets[name]))
        elif param.type[0] == "buffer":
            value, width = sets[param.name], evaluate.count_of(param.type[1])
            numbers = flat(value) if isinstance(value, list) else [value]
            inputs[param.name] = (extents_of(value, param.type[2], width, len(numbers)), numbers)
        else:
            value = sets[param.name]
            inputs[param.name] = ([], flat(value) if isinstance(value, list) else [value])
    how = re.search(r"^// how: (.*)$", text, re.M)
    how = ast.literal_eval(how.group(1)) if how else {}
    first = re.match(r"// seed (\d+) on (\S+) -O(\d)", text)
    return body, inputs, how, first.groups() if first else (None, None, None)


def flat(value):
    return [number for part in value for number in flat(part)] if isinstance(value, list) else [value]


def extents_of(value, rank, width, count):
    extents = []
    for _ in range(rank):
        extents.append(len(value))
        value = value[0] if value else []
    if extents and width > 1 and extents[-1] * width == count and rank == 1 or not extents:
        return extents
    # Numbers of vectors lie flat along the last axis.
    known = 1
    for extent in extents[:-1]:
        known *= extent
    extents[-1] = count // width // known
    return extents


def walk(body, visit):
    """Calls visit(list, index) for each statement, outer ones first."""
    at = 0
    while at < len(body):
        node = body[at]
        visit(body, at)
        if at < len(body) and body[at] is node:
            for region in node.regions:
                walk(region, visit)
            at += 1


def statements(module):
    found = []
    for function in module.functions.values():
        def visit(body, at):
            found.append((body, at))
        walk(function.body, visit)
    return found


def substitute(module, name, operand):
    def new(arg):
        if isinstance(arg, Name) and arg.name == name:
            return operand
        if isinstance(arg, Node):
            change(arg)
        return arg

    def change(node):
        node.args = [new(arg) for arg in node.args]
        if "place" in node.attrs:
            node.attrs["place"].indices = [new(index) for index in node.attrs["place"].indices]
        if "carry" in node.attrs:
            node.attrs["carry"] = [(carried, new(init)) for carried, init in node.attrs["carry"]]
        for region in node.regions:
            for inner in region:
                change(inner)
    for function in module.functions.values():
        for node in function.body:
            change(node)


def uses(module):
    """Names that something reads."""
    return set(re.findall(r"%([\w.]+)", ir_text.print_module(module)))


def used_names(body, names):
    def see(arg):
        if isinstance(arg, Name):
            names.add(arg.name)
        elif isinstance(arg, Node):
            used_names([arg], names)
    for node in body:
        for arg in node.args:
            see(arg)
        for _, init in node.attrs.get("carry", ()):
            see(init)
        if "place" in node.attrs:
            see(node.attrs["place"].base)
            for index in node.attrs["place"].indices:
                see(index)
        if "of" in node.attrs:
            see(node.attrs["of"])
        for region in node.regions:
            used_names(region, names)
    return names


def acts(node):
    return (node.op in ENDS + ("store", "call", "assert", "print") or node.op.startswith("atomic") or
            node.op == "while" or any(map(acts, [inner for region in node.regions for inner in region
                                                 if inner.op not in ("yield", "continue_if")])))


def sweep(module):
    """Leaves out what nobody needs."""
    for function in module.functions.values():
        while True:
            names, dead = used_names(function.body, set()), []

            def visit(body, at):
                node = body[at]
                local = node.op == "store" and node.attrs["place"].base.name[:1] == "s" and node.attrs["place"].base.name in alone
                if not acts(node) and not any(result in names for result in node.results) or local:
                    dead.append((body, node))
            # Arrays that are only stored to.
            loaded, arrays = set(), set()

            def look(body, at):
                node = body[at]
                if node.op == "alloca":
                    arrays.update(node.results)
                for part in [node] + [arg for arg in node.args if isinstance(arg, Node)]:
                    if "place" in part.attrs and part.op != "store":
                        loaded.add(part.attrs["place"].base.name)
            walk(function.body, look)
            alone = arrays - loaded
            walk(function.body, visit)
            if not dead:
                break
            for body, node in dead:
                if node in body:
                    body.remove(node)


class Reducer:
    def __init__(self, text, inputs, seed, executor, how=None):
        self.text, self.inputs, self.seed, self.executor, self.how = text, inputs, seed, executor, how or {}
        self.tries, self.loud = 0, False
        self.verdict = self.judge(text, inputs)

    def judge(self, text, inputs):
        self.tries += 1
        try:
            expected = execute.Expected(text, inputs, self.seed, self.how_of(text))
        except (execute.Unfit, evaluate.Race, evaluate.OutOfRange, evaluate.TooLong, evaluate.Untyped, ir_text.ReadError, KeyError,
                IndexError, ValueError, AttributeError, TypeError, SyntaxError, NameError):
            return None
        return execute.check(expected, self.executor)

    def how_of(self, text):
        """Without active parameters that are gone."""
        how = dict(self.how)
        if "active" in how:
            how["active"] = [name for name in how["active"] if re.search(rf"%{re.escape(name)}\b", text)]
        return how

    def drop_how(self):
        """Fewer things asked of a case."""
        for key in list(self.how):
            before = dict(self.how)
            del self.how[key]
            if not self.fails_alike(self.judge(self.text, self.inputs)):
                self.how = before

    def fails_alike(self, verdict):
        if verdict is None or verdict.kind != self.verdict.kind:
            return False
        if verdict.kind in ("crash", "failed"):
            return verdict.what == self.verdict.what
        if verdict.kind == "refused":
            return bool(set(verdict.what.split(",")) & set(self.verdict.what.split(",")))
        # A wrong gradient does not turn into a wrong value.
        return set(verdict.what.split("+")) <= set(self.verdict.what.split("+"))

    def attempt(self, text, inputs=None):
        if text == self.text and inputs is None:
            return False
        inputs = inputs if inputs is not None else self.inputs
        if self.fails_alike(self.judge(text, inputs)):
            self.text, self.inputs = text, inputs
            if self.loud:
                print(f"  {self.tries} tries, {text.count(chr(10))} lines", flush=True)
            return True
        return False

    def edit(self, change):
        """Tries what `change` makes of a fresh module; it returns false where there is nothing to do."""
        module = ir_text.read(self.text)
        try:
            if change(module) is False:
                return False
        except (IndexError, KeyError, AttributeError):
            return False
        whole = ir_text.print_module(module)
        sweep(module)
        swept = ir_text.print_module(module)
        return self.attempt(swept) or (swept != whole and self.attempt(whole))

    def run(self, rounds=6):
        self.drop_how()
        for _ in range(rounds):
            before = self.text, self.inputs
            self.drop_effects()
            self.edit(lambda module: True)
            self.drop_statements()
            self.unwrap()
            self.drop_attributes()
            self.drop_carried()
            self.forward_operands()
            self.drop_parameters()
            self.shorten_numbers()
            if (self.text, self.inputs) == before:
                break
        return self.text

    def count(self):
        return len(statements(ir_text.read(self.text)))

    def drop_effects(self):
        """What is stored goes first, with all that was computed for it."""
        def effects(module):
            return [(body, at) for body, at in statements(module)
                    if body[at].op == "store" or body[at].op.startswith("atomic") and not body[at].results]
        count = len(effects(ir_text.read(self.text)))
        size = max(1, count // 2)
        while size >= 1:
            at = 0
            while at < len(effects(ir_text.read(self.text))):
                def change(module):
                    found = effects(module)[at:at + size]
                    for body, node in [(body, body[index]) for body, index in found]:
                        body.remove(node)
                    return True
                if not self.edit(change):
                    at += size
            size //= 2

    def drop_statements(self):
        size = max(1, self.count() // 2)
        while size >= 1:
            at = 0
            while at < self.count():
                if not any(self.edit(lambda module: self.drop(module, at, size, fill)) for fill in self.fills(size)):
                    at += size if size == 1 else max(1, size // 2)
            size //= 2

    @staticmethod
    def fills(size):
        return ("0.5", "1", "true") if size == 1 else ("0.5",)

    @staticmethod
    def drop(module, at, size, fill):
        """Drops statements at .. at + size of the order in which they are printed; all in one list with the first."""
        found = statements(module)
        body, index = found[at]
        dropped = body[index:index + size]
        if any(node.op in ENDS for node in dropped) and len(dropped) == 1:
            return False
        dropped = [node for node in dropped if node.op not in ENDS]
        if not dropped:
            return False
        for node in dropped:
            body.remove(node)
        changed = False
        for node in dropped:
            for name in node.results:
                changed = True
                substitute(module, name, Reducer.stand_in(module, node, name, fill))
        if fill != "0.5" and not changed:
            return False
        return True

    @staticmethod
    def stand_in(module, node, name, fill):
        if fill != "0.5":
            return Literal(fill)
        text = ir_text.print_module(module)
        head = name[:1]
        real = next((type for type in ("f64", "f32", "f16") if f"<{type}," in text), "f64")
        if head in "kjnt":
            return Literal("1", "i32")
        if head == "b":
            return Literal("true")
        return Literal("0.5", real)

    def unwrap(self):
        at = 0
        while at < self.count():
            if not any(self.edit(lambda module: self.unwrap_one(module, at, way)) for way in range(4)):
                at += 1

    @staticmethod
    def unwrap_one(module, at, way):
        body, index = statements(module)[at]
        node = body[index]
        if node.op == "if":
            if way >= len(node.regions):
                return False
            inner, ends = list(node.regions[way]), []
        elif node.op in ("for", "while"):
            carry = node.attrs.get("carry", [])
            if way == 0:  # what it begins with is what it ends with
                inner, ends = [], [init for _, init in carry]
            elif way == 1:  # its body, once
                inner, ends = list(node.regions[-1]), []
                for name, init in carry:
                    substitute(module, name, init)
                if node.op == "for":
                    substitute(module, node.attrs["index"], node.args[0] if not isinstance(node.args[0], Literal) else
                               Literal(node.args[0].text, "i32"))
                else:
                    inner = [part for part in node.regions[0] if part.op != "continue_if"] + inner
            elif way == 2 and node.op == "for" and not isinstance(node.args[1], Literal):
                node.args[1] = Literal("2")
                return True
            elif way == 3 and node.op == "for" and isinstance(node.args[1], Literal) and int(node.args[1].text) > 1:
                node.args[1] = Literal(str(int(node.args[1].text) - 1))
                return True
            else:
                return False
        else:
            return False
        if inner and inner[-1].op == "yield":
            ends = inner.pop().args
        body[index:index + 1] = inner
        for name, end in zip(node.results, ends):
            substitute(module, name, end)
        return True

    def drop_attributes(self):
        at = 0
        while at < self.count():
            for attr in ("checkpoint", "reversed", "step", "unroll", "block"):
                def change(module):
                    body, index = statements(module)[at]
                    if attr not in body[index].attrs:
                        return False
                    del body[index].attrs[attr]
                    return True
                self.edit(change)

            def no_max(module):
                body, index = statements(module)[at]
                if body[index].op != "while" or not body[index].args:
                    return False
                body[index].args = []
                return True
            self.edit(no_max)
            at += 1

    def drop_carried(self):
        at = 0
        while at < self.count():
            for k in range(6):
                def change(module):
                    body, index = statements(module)[at]
                    node = body[index]
                    if node.op == "if" and node.results:
                        if k >= len(node.results):
                            return False
                        name = node.results.pop(k)
                        for region in node.regions:
                            value = region[-1].args.pop(k)
                        substitute(module, name, value if isinstance(value, Literal) else self.stand_in(module, node, name, "0.5"))
                        return True
                    carry = node.attrs.get("carry", [])
                    if k >= len(carry):
                        return False
                    name, init = carry.pop(k)
                    node.regions[-1][-1].args.pop(k)
                    substitute(module, name, init)
                    if node.results:
                        substitute(module, node.results.pop(k), init)
                    return True
                while self.edit(change):
                    pass
            at += 1

    def forward_operands(self):
        """A result becomes one of its operands."""
        at = 0
        while at < self.count():
            for k in range(3):
                def change(module):
                    body, index = statements(module)[at]
                    node = body[index]
                    if node.regions or len(node.results) != 1 or k >= len(node.args):
                        return False
                    del body[index]
                    substitute(module, node.results[0], node.args[k])
                    return True

                def flat_operand(module):
                    body, index = statements(module)[at]
                    node = body[index]
                    if k >= len(node.args) or not isinstance(node.args[k], Node) or not node.args[k].args:
                        return False
                    node.args[k] = node.args[k].args[0]
                    return True

                def constant(module):
                    body, index = statements(module)[at]
                    node = body[index]
                    if k >= len(node.args) or isinstance(node.args[k], Literal) or node.regions:
                        return False
                    node.args[k] = Literal("0.5")
                    return True
                if any(self.edit(how) for how in (change, flat_operand, constant)):
                    at -= 1
                    break
            at += 1
            at = max(at, 0)

    def drop_parameters(self):
        module = ir_text.read(self.text)
        for param in list(module.functions["k"].params):
            def change(module):
                kernel = module.functions["k"]
                kernel.params = [other for other in kernel.params if other.name != param.name]
                return True
            self.edit(change)

            def plain(module):
                for other in module.functions["k"].params:
                    if other.name == param.name and other.attrs:
                        other.attrs = []
                        return True
                return False
            self.edit(plain)
        for name in list(module.functions):
            if name != "k":
                self.edit(lambda module: module.functions.pop(name) and True)
        for name in list(module.layouts):
            self.edit(lambda module: module.layouts.pop(name) and True)
        used = uses(ir_text.read(self.text))
        self.inputs = {name: value for name, value in self.inputs.items() if name.split("::")[0] in used}

    def shorten_numbers(self):
        for name, (extents, numbers) in list(self.inputs.items()):
            if len(extents) == 1 and numbers and "::" not in name:
                width = len(numbers) // max(1, extents[0])
                for size in (1, 2):
                    if size < extents[0] and self.attempt(self.text, {**self.inputs, name: ([size], numbers[:size * width])}):
                        break
        names = [name for name, (extents, _) in self.inputs.items() if len(extents) == 1]
        for size in (1, 2, 3):
            smaller = {name: ([size], numbers[:size * (len(numbers) // extents[0])]) if name in names and extents[0] > size and "::" not in name
                       else (extents, numbers) for name, (extents, numbers) in self.inputs.items()}
            if smaller != self.inputs and self.attempt(self.text, smaller):
                break
        for name in list(self.inputs):
            extents, numbers = self.inputs[name]
            if name in ("ka", "kb", "kc") or not all(isinstance(number, float) for number in numbers):
                continue
            for digits in (0, 1, 2):
                short = [round(number, digits) + 0.0 for number in numbers]
                if short == numbers or self.attempt(self.text, {**self.inputs, name: (extents, short)}):
                    break


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("adc")
    parser.add_argument("file")
    parser.add_argument("--on")
    parser.add_argument("--level", type=int)
    parser.add_argument("--metal", default="")
    parser.add_argument("-o", "--output")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    icd = glob.glob("/usr/share/vulkan/icd.d/lvp_icd.*.json")
    if icd:
        os.environ.setdefault("VK_ICD_FILENAMES", icd[0])
    text, inputs, how, (seed, device, level) = read_case(options.file)
    device = options.on or device or "cpu-contract"
    level = options.level if options.level is not None else int(level or 0)
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        (machine,), batches = execute.executors([device], os.path.abspath(options.adc), os.path.abspath(options.metal or options.adc),
                                                folder, level)
        reducer = Reducer(text, inputs, int(seed) if seed else 0, machine, how)
        print(f"{options.file}: {reducer.verdict}", flush=True)
        reducer.loud = options.verbose
        if reducer.verdict is None or reducer.verdict.kind in ("right", "near", "unsupported"):
            return 1
        if machine.level:
            machine.level = 0
            if not reducer.fails_alike(reducer.judge(text, inputs)):
                machine.level = level
        reducer.run()
        verdict = reducer.judge(reducer.text, reducer.inputs)
        for batch in batches:
            batch.end()
    lines = [f"// seed {seed or 0} on {machine.name} -O{machine.level}: {verdict}, {reducer.tries} tries"]
    lines += [f"//   {line}" for line in verdict.text.splitlines()[:6]]
    lines += [f"// set: {name} = {execute.nested(numbers, extents) if extents else numbers}" for name, (extents, numbers) in reducer.inputs.items()]
    lines += [f"// how: {reducer.how_of(reducer.text)}"] if reducer.how else []
    result = "\n".join(lines) + "\n" + reducer.text
    if options.output:
        with open(options.output, "w", encoding="utf-8") as file:
            file.write(result)
    print(result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
