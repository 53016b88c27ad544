"""Makes IR of values: names, literals, types that agree, branches that join, loops that carry."""

from __future__ import annotations

import ast
import contextlib
import math
from collections.abc import Callable

from . import _types as types
from ._compile import CompileError
from ._places import Place, Source, refusal
from ._text import Piece
from ._values import (OPEN, RESULT, UNSET, WEAK_FLOAT, WEAK_INT, Again, Guess, Key, LocalArray, Several, Static, Told, Unknown, Value,
                      form_of, held, hold, leaves, name_of)

CHEAP = {"neg", "not", "add", "sub", "and", "or", "xor", "shl", "shr", "select", "cast", "bitcast", "vec.make", "stop_gradient",
         "eq", "ne", "lt", "le", "gt", "ge", "vec.get", "shape"}
BITWISE = {"and", "or", "xor", "shl", "shr", "not"}
CHEAP_OF_INTEGERS = {"mul", "min", "max"}
CHEAP_INSTRUCTIONS = 4  # that a branch may have and still be computed where it is not taken


class Region:
    """What a branch or a body became: its pieces, what the names stand for at its end, and whether its end is reached."""

    def __init__(self, pieces: list[Piece], env: dict, falls: bool, results: list[Value]):
        self.pieces, self.env, self.falls, self.results = pieces, env, falls, results


class Loop:
    """A loop around what is read: the names that it carries, their types, and the types that reach its end."""

    def __init__(self, kind: str, carried: dict[Key, types.Type]):
        self.kind, self.carried = kind, carried
        self.seen: dict[Key, list[types.Type]] = {key: [] for key in carried}
        self.guesses: dict[Key, frozenset[Guess]] = {}


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
        self.told = Told()
        self.calls: tuple = ()  # the calls in which this function is read, if it is read in the place of a call
        self.called_at: Place | None = None

    # ---- names and messages

    def place(self, node: ast.AST) -> Place:
        """Where the instructions of a node belong."""
        return self.called_at or self.source.place(node)

    def refuse(self, node: ast.AST, message: str, remedy: str | None = None) -> CompileError:
        return refusal(self.source.place(node), message, remedy)

    def fresh(self, key: Key = "") -> str:
        hint = name_of(key)
        hint = hint if hint.isascii() and " " not in hint else ""
        used = self.counts.get(hint, 0)
        self.counts[hint] = used + 1
        if not hint:
            return f"%{used}"
        return f"%{hint}.{used}" if used else f"%{hint}"

    def rename(self, value: Value, key: Key) -> None:
        """Names a value after the variable that it was just made for."""
        last = self.pieces[-1].parts if self.pieces else [""]
        if name_of(key).isascii() and value.text[1:].isdigit() and isinstance(last[0], str) and last[0].startswith(value.text + " = "):
            name = self.fresh(key)
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
        made = self.emit(node, op, ", ".join(texts), type or values[0].type)
        if made.type.scalar is values[0].type.scalar and op not in BITWISE and all(one.guesses or one.const is not None for one in values):
            made.guesses = frozenset().union(*(one.guesses for one in values))
        return made

    # ---- types that literals have where nothing says one

    def guessed(self, node: ast.AST, name: Key | int, weak: types.Type, counts: bool = False) -> tuple[types.Scalar, frozenset[Guess]]:
        """The type of literals that nothing else determines, and the guess that it is one."""
        key = (*self.calls, node.lineno, node.col_offset, name)  # type: ignore[attr-defined]
        told = self.told.get(key)
        if told is not None and told is not WEAK_FLOAT:
            return told, frozenset()
        whole = told is None and weak.scalar.is_integer
        return types.i32 if whole else self.default_float, frozenset({Guess(self.told, key, counts and whole)})

    def other_guess(self, value: Value, type: types.Type) -> Again | None:
        """What to raise if the type of the value is a guess that should have been `type`."""
        given, wanted = value.type.scalar, type.scalar
        fits = (wanted.is_float and not (given.is_float and wanted is WEAK_FLOAT)) or (given.is_integer and wanted.is_integer)
        exact = (self.default_float if wanted is WEAK_FLOAT else wanted) in (types.f64, types.i64)
        if not value.guesses or wanted in (given, WEAK_INT) or not fits or (not exact and any(one.counts for one in value.guesses)):
            return None
        return Again(value.guesses, wanted)

    def reconsider(self, value: Value, type: types.Type) -> None:
        """Reads the function again if the value has another type only because that was guessed."""
        again = self.other_guess(value, type)
        if again is not None:
            raise again

    def literals(self, node: ast.AST, values: list[Value], name: str) -> tuple[list[Value], frozenset[Guess]]:
        """Operands of one type as they go into an instruction; the guess, if they are literals whose type nothing says."""
        if not all(value.is_weak and value.const is not None for value in values):
            return [self.determined(node, value) for value in values], frozenset()
        type, guesses = self.guessed(node, name, values[0].type)
        return [self.as_type(node, value, type) for value in values], guesses

    # ---- types

    def as_type(self, node: ast.AST, value: Value, type: types.Type, what: str = "this") -> Value:
        """The value as one of a type: literals become it, others have it."""
        if value.type is type:
            return value
        if value.type is UNSET:
            return self.zero(node, type)
        if value.type.shape == type.shape:
            self.reconsider(value, type)
        if not value.is_weak or type.shape:
            raise self.refuse(node, f"{what} is {self.named(value.type)}, where {type.ir} is wanted", self.conversion(value.type, type))
        if value.const is None:
            if value.type is WEAK_FLOAT and not type.is_float:
                raise self.refuse(node, f"{what} is a float, where {type.ir} is wanted", f"write adc.{type.ir}(...)")
            return Value(type, value.text)
        return Value(type, const=self.literal(node, value.const, type))

    def zero(self, node: ast.AST, type: types.Type) -> Value:
        """The value of a variable that was not assigned."""
        number = Value(type.scalar, const=False if type.scalar is types.boolean else 0)
        if not type.shape:
            return number
        op, stated = ("vec.make", "") if len(type.shape) == 1 else ("mat.make", f" : {type.ir}")
        return self.emit(node, op, ", ".join([number.operand()] * math.prod(type.shape)) + stated, type)

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
    def named(type: types.Type) -> str:
        return {WEAK_INT: "an integer", WEAK_FLOAT: "a float", types.boolean: "a bool"}.get(type, type.ir)

    def conversion(self, given: types.Type, wanted: types.Type) -> str:
        if wanted is types.boolean:
            return "compare it, as in 'a != 0'"
        if wanted.shape and not given.shape:
            return f"make one, as in adc.vec{wanted.shape[0]}(a)" if len(wanted.shape) == 1 else "make a matrix of it"
        if given.shape:
            return "take a component, or change the type of the other one"
        return "convert it, as in " + {WEAK_INT: "int(a)", WEAK_FLOAT: "float(a)"}.get(wanted, f"adc.{wanted.ir}(a)")

    def joined_type(self, a: Value, b: Value) -> types.Type | None:
        """The type of two values of which one is taken; None where there is none."""
        if a.type is b.type or b.type is UNSET:
            return a.type
        if a.type is UNSET:
            return b.type
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
        for name, whole in stays.env.items():
            parts = leaves(whole, name)
            if any(isinstance(value, LocalArray) and held(before, key) is not value for key, value in parts):
                self.env[name] = Unknown("is an array that a branch made", "make it before the 'if'")
                continue
            for key, value in parts:
                if isinstance(value, Value) and value.const is None and not value.same(held(before, key)):
                    names.append(key)
                    values.append(value)
        results = [self.fresh(name) for name in names]
        stays.pieces.append(Piece("yield", ["yield " + ", ".join(value.operand() for value in values)], None)) if names else None
        self.if_piece(node, condition, results, yes.pieces, no.pieces)
        for name, value, result in zip(names, values, results):
            hold(self.env, name, Value(value.type, result, guesses=value.guesses))
        return []

    def if_piece(self, node: ast.AST, condition: Value, results: list[str], yes: list[Piece], no: list[Piece]) -> None:
        head = (", ".join(results) + " = " if results else "") + f"if {condition.text} {{"
        parts: list = [head, yes, "} else {", no, "}"] if no or results else [head, yes, "}"]
        self.pieces.append(Piece("if", parts, self.place(node)))

    def join(self, node: ast.AST, condition: Value, yes: Region, no: Region) -> list[Value]:
        self.env, merged = {}, []  # merged: (key or None, of yes, of no)
        for name in [*yes.env, *(name for name in no.env if name not in yes.env)]:
            a, b = yes.env.get(name), no.env.get(name)
            self.env[name] = self.one_of(name, a, b)
            if self.env[name] is None:
                self.env[name] = a
                pairs = [(key, one, two) for (key, one), (_, two) in zip(leaves(a, name), leaves(b, name))]
                merged += [pair for pair in pairs if self.one_of(*pair) is None]
        if len(yes.results) != len(no.results):
            raise self.refuse(node, "one branch returns another number of values than the other", "return the same on every way")
        merged += [(None, a, b) for a, b in zip(yes.results, no.results)]
        made = self.chosen(node, condition, yes, no, merged)
        for (key, _, _), value in zip(merged, made):
            if key is not None:
                hold(self.env, key, value)
        return made[len(merged) - len(yes.results):]

    def one_of(self, key: Key, a, b):
        """What a name stands for behind two branches; None where values have to be chosen."""
        if a is b or (isinstance(a, Value) and a.same(b)) or (isinstance(a, Static) and isinstance(b, Static) and a.thing is b.thing):
            return a
        for one in a, b:
            if isinstance(one, Unknown):
                return one
        if a is None or b is None:
            return Unknown("is assigned in one branch only", "assign it before the 'if', or in both branches")
        if isinstance(a, Several) and form_of(a) == form_of(b):
            parts = [self.one_of(at, one, two) for (at, one), (_, two) in zip(leaves(a, key), leaves(b, key))]
            return next((one for one in parts if isinstance(one, Unknown)), None if None in parts else a)
        if not isinstance(a, Value) or not isinstance(b, Value):
            return Unknown("stands for different things in two branches", "use two names")
        if self.joined_type(a, b) is None:
            return Unknown(f"is {self.named(a.type)} in one branch and {self.named(b.type)} in the other", "give it one type",
                           self.other_guess(a, b.type) or self.other_guess(b, a.type))
        return None

    def chosen(self, node: ast.AST, condition: Value, yes: Region, no: Region, merged: list) -> list[Value]:
        pairs, guesses = [], []
        for at, (name, a, b) in enumerate(merged):
            type = self.joined_type(a, b)
            if type is None:
                self.reconsider(a, b.type)
                self.reconsider(b, a.type)
                raise self.refuse(node, f"this is {self.named(a.type)} in one branch and {self.named(b.type)} in the other",
                                  self.conversion(b.type, a.type))
            guesses.append(frozenset())
            if not self.trials and not type.shape and all(one.guesses or (one.is_weak and one.const is not None) for one in (a, b)):
                type, guesses[-1] = self.guessed(node, name or at - len(merged), type)
            pairs.append((a, b, type) if type in OPEN else
                         (self.as_type(node, a, type), self.as_type(node, b, type), type))
            guesses[-1] = guesses[-1] and guesses[-1] | a.guesses | b.guesses
        cheap = all(len(one.pieces) <= CHEAP_INSTRUCTIONS and all(piece.cheap for piece in one.pieces) for one in (yes, no))
        if cheap:
            self.pieces += yes.pieces + no.pieces
            made = []
            for (name, _, _), (a, b, type), guess in zip(merged, pairs, guesses):
                text = f"{condition.text}, {a.operand(type)}, {b.operand(type)}"
                made.append(self.emit(node, "select", text, type))
                made[-1].guesses = guess
                self.rename(made[-1], name or "")
            return made
        results = [self.fresh(name or "") for name, _, _ in merged]
        if results:
            for one, side in ((yes, 0), (no, 1)):
                text = "yield " + ", ".join(pair[side].operand(pair[2]) for pair in pairs)
                one.pieces.append(Piece("yield", [text], None))
        self.if_piece(node, condition, results, yes.pieces, no.pieces)
        return [Value(pair[2], result, guesses=guess) for pair, result, guess in zip(pairs, results, guesses)]

    # ---- loops

    def find_types(self, node: ast.AST, loop: Loop, run: Callable[[Loop], object]) -> None:
        """Gives carried names that begin with literals the types that the loop's body gives them: reads the body, and drops
        the instructions, until no type changes."""
        for name, type in loop.carried.items():
            if type in OPEN:
                told = self.told.get((*self.calls, node.lineno, node.col_offset, name))  # type: ignore[attr-defined]
                loop.carried[name] = told or type
        while any(type in OPEN for type in loop.carried.values()):
            trial = Loop(loop.kind, dict(loop.carried))
            with self.trial():
                run(trial)
            if not self.refine(loop, trial):
                break
        self.reachable = True
        for name, type in loop.carried.items():
            given = held(self.env, name).guesses
            if type in OPEN and not self.trials or given:
                guess, own = self.guessed(node, name, type, counts=name_of(name) != RESULT)
                loop.carried[name] = type if given else guess
                loop.guesses[name] = own | given

    @contextlib.contextmanager
    def trial(self):
        """What is read in this context is dropped."""
        state = self.env, self.pieces, self.loops, self.counts, self.top
        self.trials, self.env, self.pieces, self.loops, self.counts = self.trials + 1, dict(self.env), [], list(self.loops), dict(self.counts)
        try:
            yield
        except CompileError:
            pass  # the reading that counts says it
        finally:
            self.trials -= 1
            self.env, self.pieces, self.loops, self.counts, self.top = state
            self.reachable = True

    @staticmethod
    def refine(loop: Loop, trial: Loop) -> bool:
        changed = False
        for name, type in loop.carried.items():
            if type not in OPEN:
                continue
            seen = trial.seen[name]
            weak = type if type is WEAK_FLOAT else next((one for one in (WEAK_FLOAT, WEAK_INT) if one in seen), type)
            found = next((one for one in seen if one not in OPEN), weak)
            if found is not type:
                loop.carried[name], changed = found, True
        return changed

    def carried_now(self, node: ast.AST, loop: Loop) -> str:
        """The values of the carried names, as a `yield`, `break` or `continue` gives them on."""
        texts = []
        self.check_forms(node, loop)
        for key, type in loop.carried.items():
            value, name = held(self.env, key), name_of(key)
            if not isinstance(value, Value):
                raise self.refuse(node, f"'{name}' is no value, and the loop carries it", "use two names")
            loop.seen[key].append(value.type)
            if not (self.trials and type in OPEN):
                if not value.is_weak and not value.type.shape:
                    self.reconsider(Value(type, guesses=loop.guesses.get(key, frozenset())), value.type)
                value = self.as_type(node, value, type, "the returned value" if name == RESULT else f"'{name}', which the loop carries,")
            texts.append(value.operand(type))
        return ", ".join(texts)

    def check_forms(self, node: ast.AST, loop: Loop) -> None:
        """Tuples that a loop carries stay of one form."""
        for name in dict.fromkeys(map(name_of, loop.carried)):
            found = self.env[name]
            if isinstance(found, Unknown):
                raise self.refuse(node, f"'{name}' {found.why}, and the loop carries it", found.remedy)
            if {key for key, _ in leaves(found, name)} != {key for key in loop.carried if name_of(key) == name}:
                raise self.refuse(node, f"'{name}' is not of the form that it has before the loop", "use two names")

    def leave(self, node: ast.AST, word: str) -> None:
        values = self.carried_now(node, self.loops[-1])
        self.effect(node, word, f"{word} {values}".strip())
        self.reachable = False


def _short(number) -> str:
    return repr(number) if isinstance(number, float) or abs(number) < 1 << 128 else f"an integer of {number.bit_length()} bits"
