"""What the comments of a program say: arguments and closed forms as Python expressions, and files of numbers."""

import array
import ast
import functools
import itertools
import math
import re
import struct

FORMATS = {"f2": "e", "f4": "f", "f8": "d", "i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I",
           "i8": "q", "u8": "Q", "b1": "?"}
CODES = {"i1": "|b1", "i8": "|i1", "u8": "|u1", "i16": "<i2", "u16": "<u2", "i32": "<i4", "u32": "<u4", "i64": "<i8",
         "u64": "<u8", "f16": "<f2", "f32": "<f4", "f64": "<f8"}


def read_npy(path):
    """The numbers of the file, flat."""
    with open(path, "rb") as file:
        data = file.read()
    begin = 10 + struct.unpack("<H", data[8:10])[0]
    code = FORMATS[ast.literal_eval(data[10:begin].decode())["descr"][1:]]
    count = (len(data) - begin) // struct.calcsize(code)
    return list(struct.unpack("<%d%s" % (count, code), data[begin:]))


def spoil_npy(path):
    """NaN (of integers: all bits set) in the place of the numbers of the file."""
    with open(path, "r+b") as file:
        data = file.read()
        begin = 10 + struct.unpack("<H", data[8:10])[0]
        file.seek(begin)
        file.write(b"\xff" * (len(data) - begin))


def extents_of(value):
    if not isinstance(value, (list, array.array)):
        return []
    return [len(value)] + (extents_of(value[0]) if len(value) > 0 else [])


def flat(value):
    if not isinstance(value, list):
        return [value]
    if not value or not isinstance(value[0], list):
        return value
    return [number for part in value for number in flat(part)]


def write_npy(path, scalar, value):
    """Nested lists, or an array.array, as an array of the IR's type `scalar`."""
    code = CODES[scalar]
    header = "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }" % (
        code, "".join("%d," % extent for extent in extents_of(value)))
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        if isinstance(value, array.array):
            kind = FORMATS[code[1:]]
            file.write((value if value.typecode == kind else array.array(kind, value)).tobytes())
        else:
            numbers = flat(value)
            file.write(struct.pack("<%d%s" % (len(numbers), FORMATS[code[1:]]), *numbers))


def rounded(scalar, value):
    """The value as elements of this type hold it."""
    if scalar not in ("f16", "f32"):
        return value
    if isinstance(value, list):
        return [rounded(scalar, part) for part in value]
    if isinstance(value, array.array):
        return value
    code = "<" + FORMATS[CODES[scalar][1:]]
    return struct.unpack(code, struct.pack(code, value))[0]


def parameters(text):
    """Of every kernel of the text: its parameters' types by name, as (scalar, is_buffer); a layout has no scalar."""
    kernels = {}
    for name, body in re.findall(r"^kernel @([\w.]+)\(([^{]*?)\)\s*(?:grad @[\w.]+\s*)?\{", text, re.M | re.S):
        types = {}
        kind = r"(?:buffer<(?:vec<[^>]*>|mat<[^>]*>|\w+)|vec<|mat<)?@?\w*"
        for parameter, kind in re.findall(rf"%([\w.]+):\s*({kind})", body):
            scalar = re.search(r"\b(i1|[iu](?:8|16|32|64)|f16|f32|f64)\b", kind)
            types[parameter] = (scalar.group(1) if scalar else None, kind.startswith("buffer"))
        kernels[name] = types
    return kernels


class Names(dict):
    """What an expression sees: functions of math, reduce, accumulate, pack (of struct), array, what was set before it."""

    def __init__(self):
        super().__init__(vars(math))
        self.update(reduce=functools.reduce, accumulate=itertools.accumulate, pack=struct.pack, array=array.array)

    def evaluate(self, expression, **more):
        # Names of one dictionary, so that comprehensions see them.
        return eval(expression, {**self, **more})  # pylint: disable=eval-used

    def element_wise(self, expression, count):
        code = compile(expression, expression, "eval")
        scope = dict(self)
        values = []
        for i in range(count):
            scope["i"] = i
            values.append(eval(code, scope))  # pylint: disable=eval-used
        return values
