"""Loops of a kernel: for over range, while, parallel."""

from __future__ import annotations

import ast
import builtins

from . import _host as host
from . import _types as types
from ._calls import LOOPS
from ._emitter import Loop
from ._expressions import known
from ._statements import UNROLLED_FOR_VECTORS, UNROLLED_INSTRUCTIONS, UNROLLED_TRIPS, Statements
from ._text import Piece, any_of, count
from ._values import LocalArray, Static, Unknown, Value


def assigned(nodes: list) -> dict[str, ast.Name]:
    """The names that statements assign, each with its first place."""
    found: dict[str, ast.Name] = {}
    names = [one for node in nodes for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)]
    for one in sorted(names, key=lambda name: (name.lineno, name.col_offset)):
        found.setdefault(one.id, one)
    return found


class Counting:
    """What a `for` over range says: bounds, step, and words of the IR's loop."""

    def __init__(self, low: Value, high: Value, step: int, words: list[str]):
        self.low, self.high, self.step, self.words = low, high, step, words


class Loops(Statements):
    """Reads loops."""

    def do_for(self, node: ast.For) -> None:
        if node.orelse:
            raise self.refuse(node.orelse[0], "'else' of a loop cannot stand in a kernel", "set a variable before 'break', and ask it")
        called = self.read(node.iter.func) if isinstance(node.iter, ast.Call) else None
        function = called.thing if isinstance(called, Static) else None
        if function in (host.parallel, host.serial):
            return self.parallel(node, node.iter, function)  # type: ignore[arg-type]
        words: list[str] = []
        call = node.iter
        while function in (host.unroll, host.checkpoint):
            call = self.loop_word(call, function, words)  # type: ignore[arg-type]
            called = self.read(call.func) if isinstance(call, ast.Call) else None
            function = called.thing if isinstance(called, Static) else None
        if function is not builtins.range:
            raise self.refuse(node.iter, "a loop of a kernel counts", "write for i in range(n), or adc.parallel(n)")
        if not isinstance(node.target, ast.Name):
            raise self.refuse(node.target, "a loop over range has one index", "write for i in range(n)")
        return self.count(node, self.counting(call, words))  # type: ignore[arg-type]

    def loop_word(self, call: ast.Call, function, words: list[str]) -> ast.expr:
        """adc.unroll(range(4)), adc.checkpoint(range(n), 64): the word of the IR's loop; gives what is inside."""
        given = [*call.args, *(one.value for one in call.keywords)]
        if not given or len(given) > (2 if function is host.checkpoint else 1):
            raise self.refuse(call, f"'{LOOPS[function]}' takes a range", f"write {LOOPS[function]}(range(n))")
        if function is host.unroll:
            words.append("unroll")
        else:
            every = self.value(given[1]).const if len(given) == 2 else None
            if len(given) == 2 and (not isinstance(every, int) or every < 1):
                raise self.refuse(given[1], "the distance of checkpoints is known when the kernel is read", "write a positive number")
            words.append("checkpoint" if every is None else f"checkpoint {every}")
        return given[0]

    def counting(self, call: ast.Call, words: list[str]) -> Counting:
        arguments = self.plain_arguments(call)
        if not 1 <= len(arguments) <= 3:
            raise self.refuse(call, f"'range' is given {len(arguments)} arguments, and takes 1 to 3")
        bounds = []
        for one in arguments:
            bounds.append(self.value(one))
            if not bounds[-1].type.scalar.is_integer or bounds[-1].type.shape:
                raise self.refuse(one, f"'range' takes integers, not {self.told(bounds[-1].type)}", "convert it, as in int(a)")
        low, high = (known(0), bounds[0]) if len(bounds) == 1 else bounds[:2]
        step = bounds[2].const if len(bounds) == 3 else 1
        if not isinstance(step, int) or step == 0:
            raise self.refuse(arguments[2], "the step of 'range' is a number that is known when the kernel is read, and not 0",
                              "write a 'while', or compute the index: i = a + k * step")
        low, high = self.agreed(call, low, high)
        if low.is_weak:
            low, high = self.determined(call, low), self.determined(call, high)
        return Counting(low, high, step, words)

    def count(self, node: ast.For, how: Counting) -> None:
        low, high, step = how.low, how.high, how.step
        words = list(how.words)
        from_top = None  # the index counts down from here by more than one
        if step == -1:
            one = known(1)
            low, high = self.arithmetic(node, ast.Add(), high, one), self.arithmetic(node, ast.Add(), low, one)
            words.append("reversed")
        elif step < 0:
            # A range may be longer than the largest number of its type: its length is counted in 64 bits.
            type = low.type if low.type.scalar.bits == 64 else types.i64
            length = (low.const - high.const if low.const is not None and high.const is not None else None)
            if length is not None and length >= 1 << 63:
                raise self.refuse(node.iter, "a range of 2^63 numbers and more", "write a 'while'")
            wide = Value(type, const=length) if length is not None else self.arithmetic(
                node, ast.Sub(), self.to_scalar(node, low, type), self.to_scalar(node, high, type))
            from_top, low, high = low, Value(type, const=0), wide
        if step not in (1, -1):
            words.insert(0, f"step {abs(step)}")
        trips = None
        if low.const is not None and high.const is not None:
            trips = max(0, -(-(high.const - low.const) // abs(step)))
        elif "unroll" in words:
            raise self.refuse(node.iter, "a loop that is unrolled has bounds that are known when the kernel is read", "write numbers")
        name = node.target.id  # type: ignore[union-attr]
        self.repeat(node, name, (low, high), words, from_top, trips)

    def carried(self, nodes: list, index: str | None = None) -> dict[str, types.Type]:
        """The names that a loop's body assigns and that have values before it."""
        found = {}
        for name, at in assigned(nodes).items():
            before = self.env.get(name)
            if isinstance(before, LocalArray):
                raise self.refuse(at, f"'{name}' is an array before the loop, and is assigned in it", "use another name")
            if isinstance(before, Value) and name != index:
                found[name] = before.type
        return found

    def initial(self, node: ast.AST, loop: Loop) -> tuple[list[str], str]:
        """Fresh names of what a loop carries, and its carry list."""
        names, texts = [], []
        for name, type in loop.carried.items():
            value = self.env[name]
            if not (self.trials and type.ir in ("integer", "float")):
                value = self.as_type(node, value, type, f"'{name}'")
            names.append(self.fresh(name))
            texts.append(f"{names[-1]} = {value.operand(type)}")
        return names, f" carry({', '.join(texts)})" if texts else ""

    def enter(self, loop: Loop, names: list[str]) -> None:
        for (name, type), text in zip(loop.carried.items(), names):
            self.env[name] = Value(type, text)

    def leave_loop(self, before: dict, nodes: list, loop: Loop, results: list[str], index: str | None) -> None:
        """What names stand for behind a loop."""
        self.env, self.reachable = before, True
        for (name, type), text in zip(loop.carried.items(), results):
            self.env[name] = Value(type, text)
        for name in assigned(nodes):
            if name not in loop.carried:
                self.env[name] = Unknown("is assigned in the loop only, which may not run", "assign it before the loop")
        if index is not None:
            self.env[index] = Unknown("is the index of a loop, which has ended", "assign it to another variable in the loop")

    def repeat(self, node: ast.For, index: str, bounds: tuple[Value, Value], words: list[str], from_top, trips: int | None) -> None:
        loop = Loop("for", self.carried(node.body, index))

        def body(one: Loop) -> tuple[Piece, list[str]]:
            return self.for_piece(node, index, bounds, words, from_top, trips, one)

        top, self.top = self.top, self.top and "unroll" in words
        self.find_types(loop, body)
        before = dict(self.env)
        piece, results = body(loop)
        self.top = top
        self.pieces.append(piece)
        self.leave_loop(before, node.body, loop, results, index)

    def for_piece(self, node, index, bounds, words, from_top, trips, loop) -> tuple[Piece, list[str]]:
        low, high = bounds
        results = [self.fresh(name) for name in loop.carried]
        names, carry = self.initial(node, loop)
        counter = self.fresh(index if from_top is None else "")
        outer, before = self.pieces, dict(self.env)

        def run() -> list[Value]:
            self.loops.append(loop)
            self.enter(loop, names)
            self.env[index] = Value(low.type, counter)
            if from_top is not None:
                self.env[index] = self.arithmetic(node, ast.Sub(), from_top, self.to_scalar(node, self.env[index], from_top.type))
            return self.end_of_turn(node, loop)

        region = self.region(run)
        self.pieces, self.env = outer, before
        if self.unrolls(region.pieces, counter, trips, words):
            words = [*words, "unroll"]
        # Two literals say their type, unless it is the one that literals have.
        end = high.operand() if low.const is not None and low.type is not types.i32 else high.plain()
        head = f"for {counter} in {low.plain()}..{end}" + "".join(" " + word for word in words) + carry + " {"
        head = (", ".join(results) + " = " if results else "") + head
        return Piece("for", [head, region.pieces, "}"], self.place(node)), results

    def end_of_turn(self, node, loop: Loop) -> list[Value]:
        """Reads the body of a loop that has been entered, and hands on what the loop carries."""
        self.block(node.body)
        if self.reachable and loop.carried:
            self.pieces.append(Piece("yield", [f"yield {self.carried_now(node, loop)}"], None))
        self.loops.pop()
        return []

    def unrolls(self, pieces: list[Piece], counter: str, trips: int | None, words: list[str]) -> bool:
        """Short loops over local arrays and components are unrolled, so that arrays become values (as C++'s are)."""
        if trips is None or trips > UNROLLED_TRIPS or any(word.split()[0] in ("unroll", "checkpoint") for word in words):
            return False
        arrays = {value.text for value in self.env.values() if isinstance(value, LocalArray)}
        size = max(trips, 1) * count(pieces)

        def on_array(piece: Piece) -> bool:
            text = piece.parts[0].split(" = ", 1)[-1]
            return piece.op in ("load", "store") and text.split()[1].split("[")[0] in arrays and "[%" in text

        def on_vector(piece: Piece) -> bool:
            return piece.op in ("vec.get", "mat.get") and any(word.startswith("%") for word in piece.parts[0].split(", ")[1:])

        return (size <= UNROLLED_INSTRUCTIONS and any_of(pieces, on_array)) or (size <= UNROLLED_FOR_VECTORS and any_of(pieces, on_vector))

    # ---- while

    def do_while(self, node: ast.While) -> None:
        if node.orelse:
            raise self.refuse(node.orelse[0], "'else' of a loop cannot stand in a kernel", "set a variable before 'break', and ask it")
        loop = Loop("while", self.carried(node.body))

        def body(one: Loop) -> tuple[Piece, list[str]]:
            return self.while_piece(node, one)

        top, self.top = self.top, False
        self.find_types(loop, body)
        before = dict(self.env)
        piece, results = body(loop)
        self.top = top
        self.pieces.append(piece)
        self.leave_loop(before, node.body, loop, results, None)

    def while_piece(self, node: ast.While, loop: Loop) -> tuple[Piece, list[str]]:
        results = [self.fresh(name) for name in loop.carried]
        names, carry = self.initial(node, loop)
        before = dict(self.env)
        self.enter(loop, names)

        def test() -> list[Value]:
            condition = self.condition(node.test)
            self.effect(node.test, "continue_if", f"continue_if {condition.plain()}")
            return []

        def run() -> list[Value]:
            self.loops.append(loop)
            return self.end_of_turn(node, loop)

        tested = self.region(test)
        done = self.region(run)
        self.env = before
        head = (", ".join(results) + " = " if results else "") + f"while{carry} {{"
        return Piece("while", [head, tested.pieces, "} do {", done.pieces, "}"], self.place(node)), results

    # ---- parallel

    def parallel(self, node: ast.For, call: ast.Call, function) -> None:
        """for i, j in adc.parallel(n, m): a task of the kernel. adc.serial is the same in order."""
        spelled = LOOPS[function]
        if function is host.parallel and not (self.is_kernel and self.top):
            raise self.refuse(node, f"'{spelled}' stands at the top level of a kernel",
                              "write adc.serial or range here, or launch the kernel as often as that")
        block = None
        for one in call.keywords:
            block = self.value(one.value).const
            if function is host.serial or one.arg != "block" or not isinstance(block, int):
                raise self.refuse(one.value, f"'{spelled}' takes counts", "write adc.parallel(n), adc.parallel(n, m, block=128)")
        targets = node.target.elts if isinstance(node.target, ast.Tuple) else [node.target]
        if len(targets) != len(call.args) or not all(isinstance(one, ast.Name) for one in targets):
            raise self.refuse(node.target, f"{len(targets)} indices of {len(call.args)} counts", "write for i, j in adc.parallel(n, m)")
        self.check_shared(node, spelled)
        counts = []
        for one in call.args:
            value = self.determined(one, self.value(one))
            if not value.type.scalar.is_integer or value.type.shape:
                raise self.refuse(one, f"a count is an integer, not {self.told(value.type)}", "convert it, as in int(a)")
            counts.append(value)
        self.pieces.append(self.parallel_piece(node, function, targets, counts, block))

    def check_shared(self, node: ast.For, spelled: str) -> None:
        for name, at in assigned(node.body).items():
            if isinstance(self.env.get(name), Value):
                raise self.refuse(at, f"'{name}' is a variable outside of '{spelled}', and all iterations would assign it",
                                  "sum into a buffer by adc.atomic_add, or use another name inside")

    def parallel_piece(self, node, function, targets, counts, block) -> Piece:
        before, loop = dict(self.env), Loop("parallel" if function is host.parallel else "serial", {})
        names = [self.fresh(one.id) for one in targets]

        def run() -> list[Value]:
            for name, value in before.items():
                if isinstance(value, LocalArray) and function is host.parallel:
                    self.env[name] = Unknown("is an array from outside of adc.parallel", "make it inside: each iteration has its own")
            for one, name, value in zip(targets, names, counts):
                self.env[one.id] = Value(value.type, name)
            self.loops.append(loop)
            self.block(node.body)
            self.loops.pop()
            return []

        top, self.top = self.top, False
        region = self.region(run)
        self.top, self.env, self.reachable = top, before, True
        for name in [*assigned(node.body), *(one.id for one in targets)]:
            self.env[name] = Unknown(f"is assigned inside of '{LOOPS[function]}'", "store it in a buffer")
        words = (f" block {block}" if block else "") + (" serial" if function is host.serial else "")
        head = f"parallel {', '.join(names)} in {', '.join('0..' + value.plain() for value in counts)}{words} {{"
        return Piece("parallel", [head, region.pieces, "}"], self.place(node))
