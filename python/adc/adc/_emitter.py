"""Makes IR of values: names, literals, types that agree, branches that join, loops that carry."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable

from . import _types as types
from ._compile import CompileError
from ._places import Place, Source, refusal
from ._text import Piece
from ._values import WEAK_FLOAT, WEAK_INT, LocalArray, Unknown, Value

CHEAP = {"neg", "not", "add", "sub", "and", "or", "xor", "shl", "shr", "select", "cast", "bitcast", "vec.make", "stop_gradient",
         "eq", "ne", "lt", "le", "gt", "ge", "vec.get", "shape"}
CHEAP_OF_INTEGERS = {"mul", "min", "max"}
CHEAP_INSTRUCTIONS = 4  # that a branch may have and still be computed where it is not taken


class Region:
    """What a branch or a body became: its pieces, what the names stand for at its end, and whether its end is reached."""

    def __init__(self, pieces: list[Piece], env: dict, falls: bool, results: list[Value]):
        self.pieces, self.env, self.falls, self.results = pieces, env, falls, results


class Loop:
    """A loop around what is read: the names that it carries, their types, and the types that reach its end."""

    def __init__(self, kind: str, carried: dict[str, types.Type]):
        self.kind, self.carried = kind, carried
        self.seen: dict[str, list[types.Type]] = {name: [] for name in carried}


class Emitter:
    """The state of reading one function, and the instructions that it becomes."""

    def __init__(self, source: Source, default_float: types.Scalar):
        self.source, self.default_float = source, default_float
        self.pieces: list[Piece] = []
        self.env: dict = {}
        self.loops: list[Loop] = []
        self.reachable = True
        self.top = True  # whether parallel loops may stand here, if this is a kernel
        self.trials = 0  # how many searches for types are under way, whose instructions are dropped
        self.counts: dict[str, int] = {}

    # ---- names and messages

    def place(self, node: ast.AST) -> Place:
        return self.source.place(node)

    def refuse(self, node: ast.AST, message: str, remedy: str | None = None) -> CompileError:
        return refusal(self.place(node), message, remedy)

    def fresh(self, hint: str = "") -> str:
        hint = hint if hint.isascii() else ""
        used = self.counts.get(hint, 0)
        self.counts[hint] = used + 1
        if not hint:
            return f"%{used}"
        return f"%{hint}.{used}" if used else f"%{hint}"

    def rename(self, value: Value, hint: str) -> None:
        """Names a value after the variable that it was just made for."""
        last = self.pieces[-1].parts if self.pieces else [""]
        if hint.isascii() and value.text[1:].isdigit() and isinstance(last[0], str) and last[0].startswith(value.text + " = "):
            name = self.fresh(hint)
            last[0] = name + last[0][len(value.text):]
            value.text = name

    # ---- instructions

    def emit(self, node: ast.AST, op: str, operands: str, type: types.Type, cheap: bool | None = None) -> Value:
        name = self.fresh()
        if cheap is None:
            cheap = op in CHEAP or (op in CHEAP_OF_INTEGERS and type.scalar.is_integer)
        self.pieces.append(Piece(op, [f"{name} = {op} {operands}"], self.place(node), cheap))
        return Value(type, name)

    def effect(self, node: ast.AST, op: str, text: str) -> None:
        self.pieces.append(Piece(op, [text], self.place(node)))

    def apply(self, node: ast.AST, op: str, *values: Value, type: types.Type | None = None) -> Value:
        """An operation on values of one type, of which the first typed one says the result's."""
        known = all(value.const is not None for value in values)
        texts = [value.operand() if known else value.plain() for value in values]
        return self.emit(node, op, ", ".join(texts), type or values[0].type)

    # ---- types

    def as_type(self, node: ast.AST, value: Value, type: types.Type, what: str = "this") -> Value:
        """The value as one of a type: literals become it, others have it."""
        if value.type is type:
            return value
        if not value.is_weak or type.shape:
            raise self.refuse(node, f"{what} is {self.told(value.type)}, where {type.ir} is wanted", self.conversion(value.type, type))
        if value.const is None:
            if value.type is WEAK_FLOAT and not type.is_float:
                raise self.refuse(node, f"{what} is a float, where {type.ir} is wanted", f"write adc.{type.ir}(...)")
            return Value(type, value.text)
        return Value(type, const=self.literal(node, value.const, type))

    def literal(self, node: ast.AST, number, type: types.Scalar):
        if type.is_float:
            rounded = type(number)
            if number not in (math.inf, -math.inf) and (math.isinf(rounded) or (rounded == 0 and number != 0)):
                raise self.refuse(node, f"{type.ir} cannot hold {_short(number)}", "write a number that it can hold, or use a wider type")
            if isinstance(number, int) and rounded != number:
                raise self.refuse(node, f"{type.ir} cannot hold the integer {number} exactly", f"write {float(number)!r}")
            return float(number)
        if type.kind == "bool" or isinstance(number, float):
            raise self.refuse(node, f"the number {number!r} stands where {type.ir} is wanted",
                              "write True or False" if type.kind == "bool" else f"write adc.{type.ir}({number!r})")
        low, high = type.limits()
        if not low <= number <= high:
            raise self.refuse(node, f"{type.ir} cannot hold {_short(number)}", "use a wider type, such as adc.i64")
        return number

    def determined(self, node: ast.AST, value: Value) -> Value:
        """The value with the type that a literal has where nothing else says it."""
        if not value.is_weak:
            return value
        return self.as_type(node, value, types.i32 if value.type is WEAK_INT else self.default_float)

    @staticmethod
    def told(type: types.Type) -> str:
        return {WEAK_INT: "an integer", WEAK_FLOAT: "a float", types.boolean: "a bool"}.get(type, type.ir)

    def conversion(self, given: types.Type, wanted: types.Type) -> str:
        if wanted is types.boolean:
            return "compare it, as in 'a != 0'"
        if wanted.shape and not given.shape:
            return f"make one, as in adc.vec{wanted.shape[0]}(a)" if len(wanted.shape) == 1 else "make a matrix of it"
        if given.shape:
            return "take a component, or change the type of the other one"
        return f"convert it, as in adc.{wanted.ir}(a)"

    def joined_type(self, a: Value, b: Value) -> types.Type | None:
        """The type of two values of which one is taken; None where there is none."""
        if a.type is b.type:
            return a.type
        if a.is_weak and b.is_weak:
            return WEAK_FLOAT
        weak, other = (a, b) if a.is_weak else (b, a)
        if not weak.is_weak or other.type.shape or other.type is types.boolean:
            return None
        return other.type if other.type.is_float or weak.type is WEAK_INT else None

    # ---- branches

    def region(self, run: Callable[[], list[Value]]) -> Region:
        outer, self.pieces = self.pieces, []
        self.reachable = True
        results = run()
        made = Region(self.pieces, self.env, self.reachable, results)
        self.pieces = outer
        return made

    def branch(self, node: ast.AST, condition: Value, then: Callable[[], list[Value]], other: Callable[[], list[Value]]) -> list[Value]:
        """An `if`: the names go on with what its branches gave them, and the results of the branches are given."""
        if condition.const is not None:
            return (then if condition.const else other)()
        before = self.env
        self.env = dict(before)
        yes = self.region(then)
        self.env = dict(before)
        no = self.region(other)
        if not (yes.falls or no.falls):
            self.env, self.reachable = before, False
            self.pieces.append(Piece("if", [f"if {condition.text} {{", yes.pieces, "}"], self.place(node)))
            self.pieces += no.pieces
            return []
        self.reachable = True
        if yes.falls and no.falls:
            return self.join(node, condition, yes, no)
        return self.go_on(node, condition, before, yes, no)

    def go_on(self, node: ast.AST, condition: Value, before: dict, yes: Region, no: Region) -> list[Value]:
        """Behind an `if` of which one branch leaves the loop."""
        stays = yes if yes.falls else no
        self.env = dict(stays.env)
        names, values = [], []
        for name, value in stays.env.items():
            if isinstance(value, LocalArray) and before.get(name) is not value:
                self.env[name] = Unknown("is an array that a branch made", "make it before the 'if'")
            if isinstance(value, Value) and value.const is None and not value.same(before.get(name)):
                names.append(name)
                values.append(value)
        if stays.results:
            raise self.refuse(node, "a 'return' and a 'break' in branches of one 'if'", "assign to a variable, and return at the end")
        results = [self.fresh(name) for name in names]
        stays.pieces.append(Piece("yield", ["yield " + ", ".join(value.operand() for value in values)], None)) if names else None
        self.if_piece(node, condition, results, yes.pieces, no.pieces)
        for name, value, result in zip(names, values, results):
            self.env[name] = Value(value.type, result)
        return []

    def if_piece(self, node: ast.AST, condition: Value, results: list[str], yes: list[Piece], no: list[Piece]) -> None:
        head = (", ".join(results) + " = " if results else "") + f"if {condition.text} {{"
        parts: list = [head, yes, "} else {", no, "}"] if no or results else [head, yes, "}"]
        self.pieces.append(Piece("if", parts, self.place(node)))

    def join(self, node: ast.AST, condition: Value, yes: Region, no: Region) -> list[Value]:
        self.env, merged = {}, []  # merged: (name or None, of yes, of no)
        for name in [*yes.env, *(name for name in no.env if name not in yes.env)]:
            a, b = yes.env.get(name), no.env.get(name)
            self.env[name] = self.one_of(name, a, b)
            if self.env[name] is None:
                merged.append((name, a, b))
        if len(yes.results) != len(no.results):
            raise self.refuse(node, "one branch returns another number of values than the other", "return the same on every way")
        merged += [(None, a, b) for a, b in zip(yes.results, no.results)]
        made = self.chosen(node, condition, yes, no, merged)
        for (name, _, _), value in zip(merged, made):
            if name is not None:
                self.env[name] = value
        return made[len(merged) - len(yes.results):]

    def one_of(self, name: str, a, b):
        """What a name stands for behind two branches; None where a value has to be chosen."""
        if a is b or (isinstance(a, Value) and a.same(b)):
            return a
        for one in a, b:
            if isinstance(one, Unknown):
                return one
        if a is None or b is None:
            return Unknown("is assigned in one branch only", "assign it before the 'if', or in both branches")
        if not isinstance(a, Value) or not isinstance(b, Value):
            return Unknown("stands for different things in two branches", "use two names")
        if self.joined_type(a, b) is None:
            return Unknown(f"is {self.told(a.type)} in one branch and {self.told(b.type)} in the other", "give it one type")
        return None

    def chosen(self, node: ast.AST, condition: Value, yes: Region, no: Region, merged: list) -> list[Value]:
        pairs = []
        for _, a, b in merged:
            type = self.joined_type(a, b)
            if type is None:
                raise self.refuse(node, f"this is {self.told(a.type)} in one branch and {self.told(b.type)} in the other",
                                  self.conversion(b.type, a.type))
            if type in (WEAK_INT, WEAK_FLOAT) and not self.trials:
                type = types.i32 if type is WEAK_INT else self.default_float
            pairs.append((a, b, type) if type in (WEAK_INT, WEAK_FLOAT) else
                         (self.as_type(node, a, type), self.as_type(node, b, type), type))
        cheap = all(len(one.pieces) <= CHEAP_INSTRUCTIONS and all(piece.cheap for piece in one.pieces) for one in (yes, no))
        if cheap:
            self.pieces += yes.pieces + no.pieces
            made = []
            for (name, _, _), (a, b, type) in zip(merged, pairs):
                text = f"{condition.text}, {a.operand(type)}, {b.operand(type)}"
                made.append(self.emit(node, "select", text, type))
                self.rename(made[-1], name or "")
            return made
        results = [self.fresh(name or "") for name, _, _ in merged]
        if results:
            for one, side in ((yes, 0), (no, 1)):
                text = "yield " + ", ".join(pair[side].operand(pair[2]) for pair in pairs)
                one.pieces.append(Piece("yield", [text], None))
        self.if_piece(node, condition, results, yes.pieces, no.pieces)
        return [Value(pair[2], result) for pair, result in zip(pairs, results)]

    # ---- loops

    def find_types(self, loop: Loop, run: Callable[[Loop], object]) -> None:
        """Gives carried names that begin with literals the types that the loop's body gives them: reads the body, and drops
        the instructions, until no type changes."""
        before, counts, top = self.env, dict(self.counts), self.top
        while any(type in (WEAK_INT, WEAK_FLOAT) for type in loop.carried.values()):
            trial = Loop(loop.kind, dict(loop.carried))
            pieces, loops = self.pieces, list(self.loops)
            self.trials, self.env, self.pieces = self.trials + 1, dict(before), []
            try:
                run(trial)
            except CompileError:
                pass  # the reading that counts says it
            self.trials, self.pieces, self.loops, self.env = self.trials - 1, pieces, loops, before
            self.counts, self.top = dict(counts), top
            if not self.refine(loop, trial):
                break
        self.reachable = True
        for name, type in loop.carried.items():
            if type in (WEAK_INT, WEAK_FLOAT) and not self.trials:
                loop.carried[name] = types.i32 if type is WEAK_INT else self.default_float

    @staticmethod
    def refine(loop: Loop, trial: Loop) -> bool:
        changed = False
        for name, type in loop.carried.items():
            if type not in (WEAK_INT, WEAK_FLOAT):
                continue
            seen = trial.seen[name]
            found = next((one for one in seen if one not in (WEAK_INT, WEAK_FLOAT)), WEAK_FLOAT if WEAK_FLOAT in seen else type)
            if found is not type:
                loop.carried[name], changed = found, True
        return changed

    def carried_now(self, node: ast.AST, loop: Loop) -> str:
        """The values of the carried names, as a `yield`, `break` or `continue` gives them on."""
        texts = []
        for name, type in loop.carried.items():
            value = self.env[name]
            if not isinstance(value, Value):
                why = f"'{name}' {value.why}" if isinstance(value, Unknown) else f"'{name}' is no value"
                raise self.refuse(node, f"{why}, and the loop carries it", value.remedy if isinstance(value, Unknown) else "use two names")
            loop.seen[name].append(value.type)
            if not (self.trials and type in (WEAK_INT, WEAK_FLOAT)):
                value = self.as_type(node, value, type, f"'{name}', which the loop carries,")
            texts.append(value.operand(type))
        return ", ".join(texts)

    def leave(self, node: ast.AST, word: str) -> None:
        values = self.carried_now(node, self.loops[-1])
        self.effect(node, word, f"{word} {values}".strip())
        self.reachable = False


def _short(number) -> str:
    return repr(number) if isinstance(number, float) or abs(number) < 1 << 128 else f"an integer of {number.bit_length()} bits"
