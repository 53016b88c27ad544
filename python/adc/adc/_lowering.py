"""Makes a module of IR of a kernel and the functions that it calls."""

from __future__ import annotations

import ast
import builtins
import inspect
import re

from . import _types as types
from ._expressions import static
from ._loops import Loops, assigned
from ._places import Source, refusal
from ._statements import changed
from ._text import Function, Piece
from ._values import WEAK_FLOAT, Again, Buffer, Guess, LocalArray, Several, Shape, Static, Told, Unknown, Value, nested

DEPTH = 64


class Module:
    """A kernel and the instances of functions that it calls."""

    def __init__(self, function):
        self.instances: dict[tuple, tuple[Function, str]] = {}
        self.active: list = []
        self.names: dict[str, int] = {}

        def read(told: Told):
            self.instances, self.names = {}, {function.__name__: 1}
            reader = KernelReader(self, function, told)
            return reader.made(), reader.types

        self.kernel, self.parameters = until_known(read)

    def functions(self) -> list[Function]:
        """The kernel, and the functions that it reaches."""
        by_name = {name: made for made, name in self.instances.values()}
        found, waiting = [], [self.kernel]
        while waiting:
            one = waiting.pop()
            found.append(one)
            for name in _called(one.body):
                if by_name[name] not in found and by_name[name] not in waiting:
                    waiting.append(by_name[name])
        return found

    def text(self) -> str:
        return "\n".join(one.text() for one in self.functions())


def until_known(read):
    """Reads a function as often as a type that was guessed turns out to be another one."""
    told = Told()
    while True:
        try:
            return read(told)
        except Again as again:
            again.learn(told)


def _called(pieces: list[Piece]) -> list[str]:
    found = []
    for piece in pieces:
        if piece.op == "call":
            found.append(re.search(r"call @([\w.]+)", piece.parts[0]).group(1))  # type: ignore[union-attr]
        for part in piece.parts:
            if not isinstance(part, str):
                found += _called(part)
    return found


class Reader(Loops):
    """Reads one function. Names are those of the function, then what Python finds around it."""

    def __init__(self, module: Module, function, default_float: types.Scalar, told: Told):
        super().__init__(Source(function), default_float)
        self.module, self.function, self.told = module, function, told
        around = inspect.getclosurevars(function)
        self.around = {**vars(builtins), **function.__globals__, **around.nonlocals}
        arguments = self.source.definition.args
        self.locals = {*assigned(self.source.definition.body), *(one.arg for one in (*arguments.args, *arguments.kwonlyargs))}
        self.changed = set(changed(self.source.definition.body))
        if arguments.vararg or arguments.kwarg or arguments.posonlyargs:
            raise refusal(self.source.name_place(), "'*', '**' and '/' cannot stand among the parameters of a kernel",
                          "name each parameter")

    def parameters(self) -> list[ast.arg]:
        arguments = self.source.definition.args
        return [*arguments.args, *arguments.kwonlyargs]

    def scope(self, name: str, node: ast.AST):
        if name in self.locals:
            return Unknown("is read before it is assigned", "assign it first")
        if name not in self.around:
            raise self.refuse(node, f"no name '{name}' is known here")
        return static(self.around[name])

    def annotation(self, parameter: ast.arg):
        """What a parameter's annotation says; None without one."""
        node = parameter.annotation
        if node is None:
            return None
        told = self.function.__annotations__.get(parameter.arg)
        if isinstance(told, str):  # from __future__ import annotations
            try:
                told = eval(told, self.function.__globals__, self.around)
            except Exception as error:
                raise self.refuse(node, f"the annotation cannot be evaluated: {error}") from error
        told = {int: types.i32, bool: types.boolean}.get(told, told) if isinstance(told, type) else told
        if isinstance(told, types.Type):
            told = types.Parameter(told, None, ())
        if not isinstance(told, types.Parameter):
            raise self.refuse(node, f"{told!r} is no type of a kernel",
                              "write adc.buffer[adc.f32, 1, adc.diff], adc.f32, adc.i32, adc.vec[adc.f32, 3], ...")
        return told

    def bind(self, parameter: ast.arg, type: types.Parameter) -> str:
        """Gives a parameter its name in the IR; the IR's spelling of it."""
        if not parameter.arg.isascii():
            raise self.refuse(parameter, "the name of a parameter has letters of ASCII", "rename it")
        text = self.fresh(parameter.arg)
        self.env[parameter.arg] = Value(type.element, text) if type.rank is None else Buffer(text, type.element, type.rank,
                                                                                             type.attributes)
        return f"{text}: {type.ir}"

    # ---- calls of other functions

    def call_function(self, node: ast.Call, function):
        if function.is_adc_function != "function":
            raise self.refuse(node, f"'{self.source.text(node.func)}' is a kernel, and kernels call functions alone",
                              "mark it with @adc.function, or launch one after the other")
        reader_function = function.python_function
        if reader_function in self.module.active:
            raise self.refuse(node, f"'{reader_function.__name__}' calls itself", "write a loop")
        given = self.bound(node, reader_function)
        if any(isinstance(read, (LocalArray, Several)) for _, read in given.values()):
            return self.call_in_place(node, reader_function, given)
        wanted = {key[-1]: type for key, type in self.told.items() if key[:-1] == (*self.calls, node.lineno, node.col_offset)}
        wanted = {name[1]: type for name, type in wanted.items() if isinstance(name, tuple)}
        key, texts, kinds = [reader_function, tuple(wanted.items())], [], {}
        for name, (at, read) in given.items():
            if isinstance(read, Value) and read.const is None and read.is_weak:
                read = Value(types.i32 if read.type.scalar.is_integer else self.default_float, read.text)
            kinds[name] = read
            key.append(_key_of(read))
            if not isinstance(read, (Value, Buffer, Static)):
                self.to_value(at, read)
        made, name = self.module_instance(tuple(key), reader_function, kinds, given, wanted)
        for parameter in made.taken:  # type: ignore[attr-defined]
            at, read = given[parameter]
            wanted = made.types[parameter]  # type: ignore[attr-defined]
            if isinstance(read, Buffer):
                texts.append(read.text)
            elif read.is_weak and read.const is None:
                texts.append(read.text)
            else:
                texts.append(self.as_type(at, read, wanted, f"the argument '{parameter}'").operand())
        return self.call_piece(node, name, texts, made.results)  # type: ignore[attr-defined]

    def call_piece(self, node: ast.Call, name: str, texts: list[str], results: Results):
        """The call, and what it gives: a number that every call returns is known."""
        values, names = [], []
        for at, value in enumerate(results.values):
            if not (value.is_weak and value.const is not None):
                guesses = frozenset({Guess(self.told, (*self.calls, node.lineno, node.col_offset, ("result", at)),
                                           any(one.counts for one in value.guesses))} if value.guesses else ())
                value = Value(value.type, self.fresh(), guesses=guesses)
                names.append(value.text)
            values.append(value)
        head = (", ".join(names) + " = " if names else "") + f"call @{name}({', '.join(texts)})"
        self.pieces.append(Piece("call", [head], self.place(node)))
        return nested(results.form, iter(values))

    def call_in_place(self, node: ast.Call, function, given: dict):
        """A call with arrays or tuples among the arguments: the function's instructions stand in its place."""
        reader = FunctionReader(self.module, function, self.default_float, self.told)
        reader.pieces, reader.counts, reader.trials, reader.top = self.pieces, self.counts, self.trials, False
        reader.calls = (*self.calls, function.__qualname__, node.lineno, node.col_offset)
        reader.called_at = self.place(node)
        self.module.active.append(function)
        try:
            results = reader.in_place(self, given)
        finally:
            self.module.active.pop()
        self.counts = reader.counts
        return nested(results.form, iter(results.values))

    def bound(self, node: ast.Call, function) -> dict[str, tuple[ast.AST, object]]:
        """The arguments of a call by the names of the parameters."""
        parameters = inspect.signature(function).parameters
        given: dict[str, tuple[ast.AST, object]] = {}
        positional: list[tuple[ast.AST, object]] = []
        for one in node.args:
            if isinstance(one, ast.Starred):
                positional += [(one, item) for item in self.items_of(one.value, "'*'")]
            else:
                positional.append((one, self.read(one)))
        for (one, read), name in zip(positional, parameters):
            given[name] = (one, Several(self.items(one, read)) if isinstance(read, Shape) else read)
        for word in node.keywords:
            if word.arg is None or word.arg in given or word.arg not in parameters:
                raise self.refuse(word.value, f"'{function.__name__}' has no parameter for this")
            given[word.arg] = (word.value, self.read(word.value))
        for name, parameter in parameters.items():
            if name not in given:
                if parameter.default is inspect.Parameter.empty:
                    raise self.refuse(node, f"'{function.__name__}' is given no '{name}'")
                given[name] = (node, static(parameter.default))
        if len(positional) > len(parameters):
            raise self.refuse(node, f"'{function.__name__}' is given {len(positional)} arguments, and takes {len(parameters)}")
        return {name: given[name] for name in parameters}

    def module_instance(self, key: tuple, function, kinds: dict, given: dict, wanted: dict):
        found = self.module.instances.get(key)
        if found is None:
            if len(self.module.active) >= DEPTH:
                raise refusal(self.source.name_place(), "functions call each other too deeply")
            base = function.__name__ if function.__name__.isidentifier() and function.__name__.isascii() else "f"
            number = self.module.names.get(base, 0)
            self.module.names[base] = number + 1
            name = base if number == 0 else f"{base}.{number}"
            self.module.active.append(function)
            try:
                made = until_known(lambda told: FunctionReader(self.module, function, self.default_float, told).made(
                    name, kinds, self, given, wanted))
            finally:
                self.module.active.pop()
            found = self.module.instances[key] = (made, name)
        return found


class KernelReader(Reader):
    """Reads a kernel."""

    is_kernel = True

    def __init__(self, module: Module, function, told: Told):
        super().__init__(module, function, types.f32, told)
        self.types: dict[str, types.Parameter] = {}

    def made(self) -> Function:
        definition, place = self.source.definition, self.source.name_place()
        if not definition.name.isascii():
            raise refusal(place, "the name of a kernel has letters of ASCII", "rename it")
        heads, floats = [], set()
        for parameter in self.parameters():
            type = self.annotation(parameter)
            if type is None:
                raise self.refuse(parameter, f"the parameter '{parameter.arg}' has no type",
                                  "write adc.buffer[adc.f32, 1, adc.diff], adc.f32, adc.i32, ...")
            self.types[parameter.arg] = type
            heads.append(self.bind(parameter, type))
            if type.element.scalar.is_float:
                floats.add(type.element.scalar)
        if definition.args.defaults or any(definition.args.kw_defaults):
            raise refusal(place, "a parameter of a kernel has no default", "give every argument at the call")
        if len(floats) == 1:
            self.default_float, = floats
        self.block(definition.body)
        return Function(f"kernel @{definition.name}({', '.join(heads)})", self.pieces, place)


class FunctionReader(Reader):
    """Reads a function for the arguments of one call; numbers and functions among them are known inside."""

    def made(self, name: str, kinds: dict, caller: Reader, given: dict, wanted: dict) -> Function:
        heads, taken, kinds_taken = [], [], {}
        for parameter in self.parameters():
            at, read = given[parameter.arg][0], kinds[parameter.arg]
            told = self.annotation(parameter)
            if isinstance(read, Buffer):
                if told is not None and (told.element, told.rank) != (read.element, read.rank):
                    raise caller.refuse(at, f"a buffer of {read.element.ir} and rank {read.rank} is given for '{parameter.arg}', "
                                            f"which is {told.ir}")
                type = types.Parameter(read.element, read.rank, ())
            elif isinstance(read, Value) and (told is not None or read.const is None):
                if told is not None and told.rank is not None:
                    raise caller.refuse(at, f"a value is given for '{parameter.arg}', which is {told.ir}")
                element = told.element if told is not None else read.type
                caller.as_type(at, read, element, f"the argument '{parameter.arg}'")
                type = types.Parameter(element, None, ())
            else:
                self.env[parameter.arg] = read
                continue
            heads.append(self.bind(parameter, type))
            if isinstance(read, Buffer) and "readonly" in read.attributes:
                self.env[parameter.arg].attributes = read.attributes
            if isinstance(read, Value) and element is read.type:
                self.env[parameter.arg].guesses = read.guesses
            taken.append(parameter.arg)
            kinds_taken[parameter.arg] = type.element
        results = self.results(wanted)
        given_on = [one for one in results.values if one.const is None or not one.is_weak]
        self.pieces.append(Piece("return", [("return " + ", ".join(one.operand() for one in given_on)).strip()], None))
        head = f"func @{name}({', '.join(heads)})" + (" -> " + ", ".join(one.type.ir for one in given_on) if given_on else "")
        made = Function(head, self.pieces, self.source.name_place())
        made.taken, made.types, made.results = taken, kinds_taken, results  # type: ignore[attr-defined]
        return made

    def in_place(self, caller: Reader, given: dict) -> Results:
        """Reads the body into the caller's instructions."""
        for parameter in self.parameters():
            at, read = given[parameter.arg]
            told = self.annotation(parameter)
            if told is not None:
                what = {Buffer: "a buffer", LocalArray: "an array", Several: "a tuple"}.get(type(read))
                if isinstance(read, Buffer) and (told.element, told.rank) != (read.element, read.rank) or what and not isinstance(read, Buffer):
                    raise caller.refuse(at, f"{what} is given for '{parameter.arg}', which is {told.ir}")
                read = read if isinstance(read, Buffer) else caller.as_type(at, caller.to_value(at, read), told.element,
                                                                            f"the argument '{parameter.arg}'")
            self.env[parameter.arg] = read
        return self.results({})

    def results(self, wanted: dict) -> Results:
        """Reads the body; gives what it returns, of the types that are annotated or wanted."""
        definition = self.source.definition
        returned = self.block(definition.body)
        told = self.returned_types()
        if told is not None:
            if len(told) != len(returned):
                raise self.refuse(definition.returns, f"{len(returned)} values are returned, and {len(told)} are annotated")
            returned = [self.as_type(definition.returns, value, type, "the returned value") for value, type in zip(returned, told)]
        else:
            returned = [self.returned_value(definition, value, wanted.get(at)) for at, value in enumerate(returned)]
        return Results(returned, self.form)

    def returned_value(self, node: ast.AST, value: Value, wanted: types.Type | None) -> Value:
        if value.is_weak and (value.const is not None or self.called_at):
            return value  # a number, or one whose type a search will tell
        if wanted is WEAK_FLOAT:
            self.reconsider(value, WEAK_FLOAT)
        elif wanted is not None and not value.type.shape:
            return self.as_type(node, value, wanted, "the returned value")
        elif wanted is not None:
            self.reconsider(value, wanted)
        return self.determined(node, value)

    def returned_types(self) -> list[types.Type] | None:
        node = self.source.definition.returns
        if node is None or isinstance(node, ast.Constant) and node.value is None:
            return None
        told = self.function.__annotations__.get("return")
        if isinstance(told, str):
            told = eval(told, self.function.__globals__, self.around)
        told = {int: types.i32, bool: types.boolean}.get(told, told) if isinstance(told, type) else told
        if isinstance(told, types.Type):
            return [told]
        parts = getattr(told, "__args__", None)
        if parts and all(isinstance(one, types.Type) for one in parts):
            return list(parts)
        raise self.refuse(node, f"{told!r} is no type of a kernel", "write adc.f32, or tuple[adc.f32, adc.f32]")


class Results:
    """What a function returns: values, and how tuples hold them (None is a value)."""

    def __init__(self, values: list[Value], form):
        self.values, self.form = values, form


def _key_of(read):
    if isinstance(read, Value):
        return (read.type, None if read.const is None else (type(read.const), repr(read.const)), read.guesses)
    if isinstance(read, Buffer):
        return (read.element, read.rank, read.attributes)
    return ("static", id(read.thing)) if isinstance(read, Static) else None
