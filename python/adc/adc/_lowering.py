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
from ._text import Function, Piece
from ._values import Buffer, Several, Static, Unknown, Value

DEPTH = 64


class Module:
    """A kernel and the instances of functions that it calls."""

    def __init__(self, function):
        self.instances: dict[tuple, tuple[Function, str, list[types.Type]]] = {}
        self.active: list = []
        self.names: dict[str, int] = {function.__name__: 1}
        reader = KernelReader(self, function)
        self.kernel, self.parameters = reader.made(), reader.types

    def functions(self) -> list[Function]:
        """The kernel, and the functions that it reaches."""
        by_name = {name: made for made, name, _ in self.instances.values()}
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

    def __init__(self, module: Module, function, default_float: types.Scalar):
        super().__init__(Source(function), default_float)
        self.module, self.function = module, function
        around = inspect.getclosurevars(function)
        self.around = {**vars(builtins), **function.__globals__, **around.nonlocals}
        self.locals = set(assigned(self.source.definition.body))
        arguments = self.source.definition.args
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
        key, texts, kinds = [reader_function], [], {}
        for name, (at, read) in given.items():
            if isinstance(read, Value) and read.const is None:
                read = self.determined(at, read) if not read.is_weak else Value(
                    types.i32 if read.type.scalar.is_integer else self.default_float, read.text)
            kinds[name] = read
            key.append(_key_of(read))
            if not isinstance(read, (Value, Buffer, Static)):
                self.to_value(at, read)
        made, name, results = self.module_instance(tuple(key), reader_function, kinds, given)
        for parameter in made.taken:  # type: ignore[attr-defined]
            at, read = given[parameter]
            wanted = made.types[parameter]  # type: ignore[attr-defined]
            if isinstance(read, Buffer):
                texts.append(read.text)
            elif read.is_weak and read.const is None:
                texts.append(read.text)
            else:
                texts.append(self.as_type(at, read, wanted, f"the argument '{parameter}'").operand())
        return self.call_piece(node, name, texts, results)

    def call_piece(self, node: ast.Call, name: str, texts: list[str], results: list[types.Type]):
        names = [self.fresh() for _ in results]
        head = (", ".join(names) + " = " if names else "") + f"call @{name}({', '.join(texts)})"
        self.pieces.append(Piece("call", [head], self.place(node)))
        values = [Value(type, text) for type, text in zip(results, names)]
        return values[0] if len(values) == 1 else Several(values)

    def bound(self, node: ast.Call, function) -> dict[str, tuple[ast.AST, object]]:
        """The arguments of a call by the names of the parameters."""
        parameters = inspect.signature(function).parameters
        given: dict[str, tuple[ast.AST, object]] = {}
        for one, name in zip(node.args, parameters):
            given[name] = (one, self.read(one))
        for word in node.keywords:
            if word.arg is None or word.arg in given or word.arg not in parameters:
                raise self.refuse(word.value, f"'{function.__name__}' has no parameter for this")
            given[word.arg] = (word.value, self.read(word.value))
        for name, parameter in parameters.items():
            if name not in given:
                if parameter.default is inspect.Parameter.empty:
                    raise self.refuse(node, f"'{function.__name__}' is given no '{name}'")
                given[name] = (node, static(parameter.default))
        if len(node.args) > len(parameters):
            raise self.refuse(node, f"'{function.__name__}' is given {len(node.args)} arguments, and takes {len(parameters)}")
        return {name: given[name] for name in parameters}

    def module_instance(self, key: tuple, function, kinds: dict, given: dict):
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
                reader = FunctionReader(self.module, function, self.default_float)
                made, results = reader.made(name, kinds, self, given)
            finally:
                self.module.active.pop()
            found = self.module.instances[key] = (made, name, results)
        return found


class KernelReader(Reader):
    """Reads a kernel."""

    is_kernel = True

    def __init__(self, module: Module, function):
        super().__init__(module, function, types.f32)
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

    def made(self, name: str, kinds: dict, caller: Reader, given: dict):
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
            taken.append(parameter.arg)
            kinds_taken[parameter.arg] = type.element
        results = self.results()
        head = f"func @{name}({', '.join(heads)})" + (" -> " + ", ".join(one.type.ir for one in results) if results else "")
        made = Function(head, self.pieces, self.source.name_place())
        made.taken, made.types = taken, kinds_taken  # type: ignore[attr-defined]
        return made, [one.type for one in results]

    def results(self) -> list[Value]:
        """Reads the body, and ends it with a return."""
        definition = self.source.definition
        returned = self.block(definition.body)
        told = self.returned_types()
        if told is not None:
            if len(told) != len(returned):
                raise self.refuse(definition.returns, f"{len(returned)} values are returned, and {len(told)} are annotated")
            returned = [self.as_type(definition.returns, value, type, "the returned value") for value, type in zip(returned, told)]
        else:
            returned = [self.determined(definition, value) for value in returned]
        text = "return " + ", ".join(value.operand() for value in returned)
        self.pieces.append(Piece("return", [text.strip()], None))
        return returned

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


def _key_of(read):
    if isinstance(read, Value):
        return (read.type, None if read.const is None else (type(read.const), repr(read.const)))
    if isinstance(read, Buffer):
        return (read.element, read.rank, read.attributes)
    return ("static", id(read.thing)) if isinstance(read, Static) else None
