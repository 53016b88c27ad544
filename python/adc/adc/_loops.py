"""Loops of a kernel: for over range, while, parallel."""

from __future__ import annotations

import ast
import builtins

from . import _host as host
from . import _types as types
from ._calls import LOOPS
from ._emitter import Loop
from ._expressions import LARGEST_CHOICE, known
from ._statements import UNROLLED_FOR_VECTORS, UNROLLED_INSTRUCTIONS, UNROLLED_TRIPS, Statements, changed, leaving
from ._text import Piece, any_of, count
from ._values import OPEN, RESULT, RETURNED, WEAK_INT, Buffer, Key, LocalArray, Several, Static, Unknown, Value, held, hold, leaves, name_of

LARGEST_SEQUENCE = 64  # elements of a tuple over which a loop runs


def assigned(nodes: list) -> dict[str, ast.Name]:
    """The names that statements assign, each with its first place."""
    found: dict[str, ast.Name] = {}
    names = [one for node in nodes for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)]
    for one in sorted(names, key=lambda name: (name.lineno, name.col_offset)):
        found.setdefault(one.id, one)
    return found


class Counting:
    """What a `for` over range says: bounds, step, words of the IR's loop, and the type of its index."""

    def __init__(self, low: Value, high: Value, step: int, words: list[str], index: types.Scalar):
        self.low, self.high, self.step, self.words, self.index = low, high, step, words, index


class Loops(Statements):
    """Reads loops."""

    def assigned(self, nodes: list) -> dict[str, ast.AST]:
        """The names that statements assign, and the vectors and matrices of which they assign components."""
        found: dict[str, ast.AST] = dict(assigned(nodes))
        for name, at in changed(nodes).items():
            if isinstance(self.env.get(name), Value):
                found.setdefault(name, at)
        returned = next((one for node in nodes for one in ast.walk(node) if isinstance(one, ast.Return)), None)
        return {**found, RETURNED: returned, RESULT: returned} if returned is not None else found

    def do_for(self, node: ast.For) -> None:
        if node.orelse:
            raise self.refuse(node.orelse[0], "'else' of a loop cannot stand in a kernel", "set a variable before 'break', and ask it")
        call, function = node.iter, self.called(node.iter)
        if function is host.serial and not self.is_task(node):
            return self.nest(node, call)  # type: ignore[arg-type]
        if function in (host.parallel, host.serial):
            return self.parallel(node, call, function)  # type: ignore[arg-type]
        words: list[str] = []
        while function in (host.unroll, host.checkpoint, builtins.reversed):
            if function is builtins.reversed and self.called(call.args[0] if call.args else call) is not builtins.range:  # type: ignore
                break
            call = self.loop_word(call, function, words)  # type: ignore[arg-type]
            function = self.called(call)
        if function is not builtins.range:
            return self.each(node, call, words)
        if not isinstance(node.target, ast.Name):
            raise self.refuse(node.target, "a loop over range has one index", "write for i in range(n)")
        return self.count(node, self.counting(call, words))  # type: ignore[arg-type]

    def called(self, node: ast.expr):
        """The function that an expression calls; None of another expression."""
        called = self.read(node.func) if isinstance(node, ast.Call) else None
        return called.thing if isinstance(called, Static) else None

    # ---- loops over tuples

    def each(self, node: ast.For, iterated: ast.expr, words: list[str]) -> None:
        """A loop over a tuple: its body once for each element. One that is left early is a loop over the index."""
        items = self.elements(iterated)
        if any(word.startswith("checkpoint") for word in words):
            raise self.refuse(iterated, "'adc.checkpoint' takes a range", "write adc.checkpoint(range(n))")
        self.check_items(node, iterated, items)
        left = leaving(node.body) or leaving(node.body, (ast.Return,), inner=True)
        if left is not None and len(items) > LARGEST_CHOICE:
            raise self.refuse(left, f"a loop over more than {LARGEST_CHOICE} elements is written out, and cannot be left",
                              "put the rest into a branch")
        if left is not None:
            return self.each_by_index(node, items)
        for item in items:
            self.assign(node.target, item, iterated)
            self.block(node.body)
        for name in assigned([node.target]):
            self.env[name] = Unknown("is the index of a loop, which has ended", "assign it to another variable in the loop")

    def check_items(self, node: ast.For, iterated: ast.expr, items: list) -> None:
        """The elements are the vectors of other names in Python, so that components of neither are assigned."""
        if not any(isinstance(one, Value) and one.type.shape for item in items for one in [item, *(getattr(item, "values", None) or [])]):
            return
        for one in [*ast.walk(node.target), *ast.walk(iterated)]:
            if isinstance(one, ast.Name) and one.id in self.changed:
                raise self.refuse(one, f"components of '{one.id}' are assigned, which would be one vector with another name in Python",
                                  "copy the vector to a name of its own: w = +v")

    def each_by_index(self, node: ast.For, items: list) -> None:
        index, whole = self.hidden("index", node), self.hidden("items", node)
        self.env[whole] = Several(items)
        element = ast.Subscript(ast.Name(whole, ast.Load()), ast.Name(index, ast.Load()), ast.Load())
        first = ast.Assign([node.target], element)
        loop = ast.For(ast.Name(index, ast.Store()), node.iter, [first, *node.body], [])
        for one in (first, loop, *ast.walk(element), loop.target):
            ast.copy_location(one, node.iter if one is not loop else node)
        if items:
            self.count(loop, Counting(Value(types.i32, const=0), Value(types.i32, const=len(items)), 1, ["unroll"], types.i32))

    def hidden(self, what: str, node: ast.AST) -> str:
        """A name that no source has."""
        return f"{what} of {node.lineno}:{node.col_offset}"  # type: ignore[attr-defined]

    def elements(self, node: ast.expr) -> list:
        """The elements of a sequence, as many as may be written out."""
        items = self.sequence(node)
        if len(items) > LARGEST_SEQUENCE:
            raise self.refuse(node, f"a loop over more than {LARGEST_SEQUENCE} elements, which would be written out as often",
                              "pass a buffer, and write for i in range(n)")
        return items

    def sequence(self, node: ast.expr) -> list:
        """The elements over which a loop runs: of a tuple, enumerate, zip, reversed, or a range of numbers among those."""
        function = self.called(node)
        if function not in (builtins.enumerate, builtins.zip, builtins.reversed, builtins.range):
            read = self.read_tuple(node) if isinstance(node, ast.List) else self.read(node)  # type: ignore[arg-type]
            found = self.items(node, read)
            if found is None:
                raise self.refuse(node, "a loop of a kernel counts, or runs over a tuple", "write for i in range(n), or adc.parallel(n)")
            return found
        if function is builtins.range:
            numbers = [self.value(one).const for one in self.plain_arguments(node)]  # type: ignore[arg-type]
            if not all(isinstance(one, int) for one in numbers):
                raise self.refuse(node, "a range beside a tuple or in a generator has bounds that are known when the kernel is read",
                                  "write numbers, or a loop")
            return [known(one) for one in range(*numbers)[:LARGEST_SEQUENCE + 1]]
        given = node.args  # type: ignore[attr-defined]
        starts = [one.value for one in node.keywords if one.arg == "start"] + given[1:]  # type: ignore[attr-defined]
        if not given or function is builtins.reversed and len(given) != 1 or function is builtins.enumerate and len(starts) > 1:
            raise self.refuse(node, "this takes tuples", "write enumerate(t), zip(s, t), reversed(t)")
        if function is builtins.zip:
            return [Several(list(row)) for row in zip(*map(self.sequence, given))]
        items = self.sequence(given[0])
        if function is builtins.reversed:
            return items[::-1]
        start = self.value(starts[0]).const if starts else 0
        if not isinstance(start, int):
            raise self.refuse(starts[0], "the start of 'enumerate' is known when the kernel is read", "write a number")
        return [Several([known(start + at), item]) for at, item in enumerate(items)]

    # ---- serial loops inside of others

    def is_task(self, node: ast.For) -> bool:
        """Whether adc.serial is a task of the kernel: at its top level, and without variables that go through it."""
        return self.is_kernel and self.top and leaving(node.body, (ast.Break,)) is None and not self.returns(node) and not any(
            isinstance(self.env.get(name), (Value, Several)) for name in self.assigned(node.body))

    def nest(self, node: ast.For, call: ast.Call) -> None:
        """adc.serial(n, m) as loops over ranges."""
        targets, sizes = self.indices_of(node, call)
        left = leaving(node.body, (ast.Break,))
        if left is not None and len(targets) > 1:
            raise self.refuse(left, "'break' cannot end several loops of adc.serial", "write loops over range")
        body = node.body
        for at in range(len(targets) - 1, -1, -1):
            name = self.hidden(f"count {at}", node)
            self.env[name] = sizes[at][1]
            count = ast.copy_location(ast.Name(name, ast.Load()), sizes[at][0])
            body = [ast.copy_location(ast.For(targets[at], ast.copy_location(ast.Call(call.func, [count], []), call), body, []), node)]
        self.count(body[0], self.counting(body[0].iter, []))  # type: ignore

    def loop_word(self, call: ast.Call, function, words: list[str]) -> ast.expr:
        """adc.unroll(range(4)), adc.checkpoint(range(n), 64): the word of the IR's loop; gives what is inside."""
        given = [*call.args, *(one.value for one in call.keywords)]
        if not given or len(given) > (2 if function is host.checkpoint else 1):
            raise self.refuse(call, f"'{LOOPS[function]}' takes a range", f"write {LOOPS[function]}(range(n))")
        if function is not host.checkpoint:
            words.append("unroll" if function is host.unroll else "reversed")
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
                raise self.refuse(one, f"'range' takes integers, not {self.named(bounds[-1].type)}", "convert it, as in int(a)")
        low, high = (known(0), bounds[0]) if len(bounds) == 1 else bounds[:2]
        step = bounds[2].const if len(bounds) == 3 else 1
        if not isinstance(step, int) or step == 0:
            raise self.refuse(arguments[2], "the step of 'range' is a number that is known when the kernel is read, and not 0",
                              "write a 'while', or compute the index: i = a + k * step")
        if "reversed" in words and step != 1:
            raise self.refuse(call, "'reversed' of a range with a step", "write the range from its last number on, as in range(n - 1, -1, -1)")
        if words.count("reversed") > 1:
            raise self.refuse(call, "'reversed' of 'reversed'", "leave both out")
        return self.typed_range(call, low, high, step, words)

    def typed_range(self, call: ast.Call, low: Value, high: Value, step: int, words: list[str]) -> Counting:
        """Loops count in i32 or i64. The index has the type of the bounds, which hold all its numbers."""
        index = low.type if not low.is_weak else high.type
        wide = {types.u32: types.i64, types.u64: types.u64, types.i64: types.i64}.get(index.scalar, types.i32)
        if index is types.u64:
            raise self.refuse(call, "a loop counts in 64 bits with a sign, and its bounds are u64", "write range(adc.i64(n))")
        if not low.is_weak and not high.is_weak and low.type is not high.type:
            self.agreed(call, low, high)
        low, high = (self.as_type(call, one, wide) if one.is_weak else self.to_scalar(call, one, wide) for one in (low, high))
        return Counting(low, high, step, words, types.i32 if index is WEAK_INT else index.scalar)

    def count(self, node: ast.For, how: Counting) -> None:
        low, high, step = how.low, how.high, how.step
        words = list(how.words)
        from_top = None  # the index counts down from here by more than one
        if step == -1 and low.const != low.type.scalar.limits()[1]:
            low, high = self.next_number(node, high), self.next_number(node, low)
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

        def shown(counter: Value) -> Value:
            """The index, of the loop's counter."""
            if from_top is not None:
                counter = self.arithmetic(node, ast.Sub(), from_top, self.to_scalar(node, counter, from_top.type))
            return self.to_scalar(node, counter, how.index)

        plain = from_top is None and how.index is low.type
        self.repeat(node, name, (low, high), words, None if plain else shown, trips)

    def next_number(self, node: ast.AST, value: Value) -> Value:
        if value.const is not None:
            return Value(value.type, const=value.const + 1)
        return self.arithmetic(node, ast.Add(), value, known(1))

    def carried(self, nodes: list, index: str | None = None) -> dict[Key, types.Type]:
        """The names that a loop's body assigns and that have values before it."""
        found: dict[Key, types.Type] = {}
        for name, at in self.assigned(nodes).items():
            for key, before in leaves(self.env.get(name), name):
                if isinstance(before, (LocalArray, Buffer, Static)) and name != index:
                    what = {LocalArray: "an array", Buffer: "a buffer", Static: "None, or another thing of Python's,"}[type(before)]
                    what = f"holds {what}" if key is not name else f"is {what}"
                    raise self.refuse(at, f"'{name}' {what} before the loop, and is assigned in it", "use another name")
                if isinstance(before, Value) and name != index:
                    found[key] = before.type
        return found

    def initial(self, node: ast.AST, loop: Loop) -> tuple[list[str], str]:
        """Fresh names of what a loop carries, and its carry list."""
        names, texts = [], []
        for name, type in loop.carried.items():
            value = held(self.env, name)
            if not (self.trials and type in OPEN):
                value = self.as_type(node, value, type, f"'{name_of(name)}'")
            names.append(self.fresh(name))
            texts.append(f"{names[-1]} = {value.operand(type)}")
        return names, f" carry({', '.join(texts)})" if texts else ""

    def enter(self, loop: Loop, names: list[str]) -> None:
        for (name, type), text in zip(loop.carried.items(), names):
            hold(self.env, name, Value(type, text, guesses=loop.guesses.get(name, frozenset())))

    def leave_loop(self, before: dict, nodes: list, loop: Loop, results: list[str], index: str | None) -> None:
        """What names stand for behind a loop."""
        self.env, self.reachable = before, True
        self.enter(loop, results)
        carried = set(map(name_of, loop.carried))
        for name in self.assigned(nodes):
            if name not in carried and name != RESULT:  # which is of no values where the function returns none
                self.env[name] = Unknown("is assigned in the loop only, which may not run", "assign it before the loop")
        if index is not None:
            self.env[index] = Unknown("is the index of a loop, which has ended", "assign it to another variable in the loop")

    def repeat(self, node: ast.For, index: str, bounds: tuple[Value, Value], words: list[str], shown, trips: int | None) -> None:
        loop = Loop("for", self.carried(node.body, index))

        def body(one: Loop) -> tuple[Piece, list[str]]:
            return self.for_piece(node, index, bounds, words, shown, trips, one)

        top, self.top = self.top, self.top and "unroll" in words
        self.find_types(node, loop, body)
        before = dict(self.env)
        piece, results = body(loop)
        self.top = top
        self.pieces.append(piece)
        self.leave_loop(before, node.body, loop, results, index)

    def for_piece(self, node, index, bounds, words, shown, trips, loop) -> tuple[Piece, list[str]]:
        low, high = bounds
        results = [self.fresh(name) for name in loop.carried]
        names, carry = self.initial(node, loop)
        counter = self.fresh(index if shown is None and " " not in index else "")
        outer, before = self.pieces, dict(self.env)

        def run() -> list[Value]:
            self.loops.append(loop)
            self.enter(loop, names)
            self.env[index] = Value(low.type, counter)
            if shown is not None:
                self.env[index] = shown(self.env[index])
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
        self.find_types(node, loop, body)
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
            condition = self.truth(node.test)
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
        targets, sizes = self.indices_of(node, call)
        self.check_shared(node, spelled)
        counts = []
        for one, size in sizes:
            value = self.determined(one, size)
            if not value.type.scalar.is_integer or value.type.shape:
                raise self.refuse(one, f"a count is an integer, not {self.named(value.type)}", "convert it, as in int(a)")
            counts.append(value)
        self.pieces.append(self.parallel_piece(node, function, targets, counts, block))

    def indices_of(self, node: ast.For, call: ast.Call) -> tuple[list[ast.Name], list[tuple[ast.expr, Value]]]:
        """The indices of adc.parallel and adc.serial, and the counts; *x.shape stands for several."""
        targets = node.target.elts if isinstance(node.target, ast.Tuple) else [node.target]
        sizes: list[tuple[ast.expr, Value]] = []
        for one in call.args:
            held = self.items_of(one.value, "'*'") if isinstance(one, ast.Starred) else [self.read(one)]
            sizes += [(one, self.to_value(one, size)) for size in held]
        if not targets or len(targets) != len(sizes) or not all(isinstance(one, ast.Name) for one in targets):
            raise self.refuse(node.target, f"{len(targets)} indices of {len(sizes)} counts", "write for i, j in adc.parallel(n, m)")
        return targets, sizes  # type: ignore[return-value]

    def check_shared(self, node: ast.For, spelled: str) -> None:
        for name, at in self.assigned(node.body).items():
            if isinstance(self.env.get(name), (Value, Several)):
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
        for name in [*self.assigned(node.body), *(one.id for one in targets)]:
            self.env[name] = Unknown(f"is assigned inside of '{LOOPS[function]}'", "store it in a buffer")
        words = (f" block {block}" if block else "") + (" serial" if function is host.serial else "")
        head = f"parallel {', '.join(names)} in {', '.join('0..' + value.plain() for value in counts)}{words} {{"
        return Piece("parallel", [head, region.pieces, "}"], self.place(node))
