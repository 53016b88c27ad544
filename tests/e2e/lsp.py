#!/usr/bin/env python3
"""`adc lsp` answers an editor: each request with exact expectations, and bad input with errors after which it goes on.

usage: lsp.py ADC
"""

import os
import sys
import tempfile

from lsp_client import Client, extent, position

RELAX = """kernel @relax(%x: buffer<f32, 1> diff, %loss: buffer<f32, 0> diff, %n: i32) {
  parallel %i in 0..shape(%x, 0) {
    %v0 = load %x[%i]
    %v = for %t in 0..%n carry(%a = %v0) {
      %b = add (sin %a), 0.1
      yield %b
    }
    atomic add %loss[], %v
  }
}
"""
URI = "file:///nowhere/relax.ir"


def equal(found, wanted):
    assert found == wanted, f"\n  found  {found}\n  wanted {wanted}"


def hover_text(answer):
    assert answer["contents"]["kind"] == "markdown", answer
    return answer["contents"]["value"]


def code(text):
    return "```adc\n" + text + "\n```"


def check_protocol(adc):
    client = Client(adc)
    equal(client.request("textDocument/hover", textDocument={"uri": URI})["code"], -32002)
    capabilities = client.initialize()
    equal(capabilities["serverInfo"]["name"], "adc")
    equal(capabilities["capabilities"]["positionEncoding"], "utf-16")
    equal(client.request("textDocument/nothing")["code"], -32601)
    equal(client.request("textDocument/hover", textDocument={"uri": URI})["code"], -32602)
    client.open(URI, RELAX)
    equal(client.diagnostics(URI), [])
    for place in ({}, {"line": -1, "character": 0}, {"line": "1", "character": 0}, {"line": 0.5, "character": 0}, [], 3):
        equal(client.at("hover", URI, place)["code"], -32602)
    equal(client.at("hover", URI, {"line": 10**18, "character": 10**18}), None)
    equal(client.request("shutdown"), None)
    equal(client.request("textDocument/hover")["code"], -32600)
    client.notify("exit")
    equal(client.process.wait(60), 0)
    # Who goes without a word gets an error.
    client = Client(adc)
    client.initialize()
    client.process.stdin.close()
    equal(client.process.wait(60), 1)


def check_bad_bytes(adc):
    client = Client(adc)
    client.initialize()

    def refused(data, wanted):
        client.raw(data)
        answer = client.answer()
        equal((answer["id"], answer["error"]["code"]), (None, wanted))

    def framed(body):
        return b"Content-Length: %d\r\n\r\n" % len(body) + body

    refused(framed(b"{"), -32700)
    refused(framed(b'{"jsonrpc":"2.0","id":1,"method":"\xff"}'), -32700)
    refused(framed(b"[" * 1000000), -32700)
    refused(framed(b"[]"), -32600)
    refused(framed(b"[" * 100000 + b"]" * 100000), -32700)
    refused(framed(b"7"), -32600)
    refused(framed(b'{"id":{"a":[]},"method":"initialize"}'), -32600)
    refused(b"Content-Length: 99999999999999999999\r\n\r\n", -32700)
    refused(b"Content-Length: 1000000000000\r\n\r\n", -32700)
    refused(b"Content-Length: -1\r\n\r\n", -32700)
    refused(b"Content-Length: no\r\n\r\n", -32700)
    refused(framed(b'{"id":1,"method":"$/x","params":' + b"[" * 100000 + b"]" * 100000 + b"}"), -32700)
    refused(b"Content-Length: 5 apples\r\n\r\n" + framed(b'{"jsonrpc":"2.0","method":"$/x"}'), -32700)
    # What is left of a body that was refused, and then a header again.
    refused(b"GET / HTTP/1.1\r\n" + b"x" * 100000 + framed(b'{"jsonrpc":"2.0","method":"$/x"}'), -32700)
    client.raw(b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\n" + framed(b'{"id":"a","method":"b"}'))
    equal(client.answer()["error"]["code"], -32601)
    # Notes that say nothing of use are passed over, also what answers no question.
    for note in ({}, {"textDocument": 1}, {"textDocument": {"uri": URI}}, {"textDocument": {"uri": URI, "text": 1}}):
        client.send({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": note})
        client.send({"jsonrpc": "2.0", "method": "textDocument/didChange", "params": note})
        client.send({"jsonrpc": "2.0", "method": "textDocument/didClose", "params": note})
    client.send({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": 3})
    client.send({"jsonrpc": "2.0", "id": 5, "result": None})
    client.send({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": 1}})
    # Any text at all.
    for text in ("", "\0", "kernel", "%", "\ud83d\ude00" * 1000, "kernel @k(%x: f32) {" * 300, RELAX[:200], "(" * 100000):
        client.open(URI, text)
        client.diagnostics(URI)
        for place in ({"line": 0, "character": 0}, {"line": 0, "character": 7}, {"line": 1, "character": 1}):
            client.at("hover", URI, place)
            client.at("definition", URI, place)
            client.at("completion", URI, place)
            client.at("references", URI, place)
            client.at("rename", URI, place, newName="x")
        client.request("textDocument/formatting", textDocument={"uri": URI}, options={})
    equal(client.end(), 0)


def check_diagnostics(adc):
    client = Client(adc)
    client.initialize()
    wrong = RELAX.replace("%v\n  }", "%w\n  }")
    client.open(URI, wrong)
    equal(
        client.diagnostics(URI),
        [
            {
                "range": extent(wrong, "%w"),
                "severity": 1,
                "code": "E0106",
                "source": "adc",
                "message": "no value is named '%w'\nhelp: did you mean '%x'?",
                "relatedInformation": [
                    {
                        "location": {"uri": URI, "range": extent(wrong, "%x")},
                        "message": "a similar name is defined here",
                    }
                ],
            }
        ],
    )
    # What the client says next counts, and what it takes back is gone.
    client.change(URI, RELAX)
    equal(client.diagnostics(URI), [])
    # Characters in front count in UTF-16: one unit, two units.
    wide = RELAX.replace("    atomic add %loss[], %v", '    print "é😀 {}", %w')
    client.change(URI, wide)
    found = client.diagnostics(URI)
    equal([(one["code"], one["range"]) for one in found], [("E0106", extent(wide, "%w"))])
    equal(found[0]["range"]["start"]["character"], len('    print "é😀 {}", ') + 1)
    # Rules of the verifier, and what differentiation refuses.
    client.change(URI, RELAX.replace("%x[%i]\n", "%x[%i]\n    store %x[%i], 1.0\n"))
    found = client.diagnostics(URI)
    assert [one["code"] for one in found] == ["E0401"], found
    client.change(URI, "kernel @k(%x: buffer<f32, 1>) {\n  parallel %i in 0..4 { }\n  return 1\n}\n")
    assert client.diagnostics(URI), "a return with a value"
    client.notify("textDocument/didClose", textDocument={"uri": URI})
    equal(client.diagnostics(URI), [])
    equal(client.request("textDocument/hover", textDocument={"uri": URI}, position={"line": 0, "character": 0})["code"], -32602)
    equal(client.end(), 0)


def check_answers(adc):
    client = Client(adc)
    client.initialize()
    client.open(URI, RELAX)
    equal(client.diagnostics(URI), [])
    for place in (position(RELAX, "%a)"), position(RELAX, "%a = ")):
        found = client.at("hover", URI, place)
        equal(
            hover_text(found),
            code("%a: f32")
            + f"\n\n`@relax.grad`: taped in the loop at /nowhere/relax.ir:4:10, 4 bytes an iteration: carried from iteration to iteration",
        )
    equal(client.at("hover", URI, position(RELAX, "%a)"))["range"], extent(RELAX, "%a", 1))
    equal(hover_text(client.at("hover", URI, position(RELAX, "%x[")))[: len(code("%x: buffer<f32, 1>"))], code("%x: buffer<f32, 1>"))
    equal(hover_text(client.at("hover", URI, position(RELAX, "sin "))), code("sin") + "\n\nsine, radians")
    assert hover_text(client.at("hover", URI, position(RELAX, "add %loss"))).startswith(code("atomic add") + "\n\n")
    equal(
        hover_text(client.at("hover", URI, position(RELAX, "@relax"))), code(RELAX[: RELAX.index(" {")])
    )
    equal(client.at("hover", URI, position(RELAX, "0.1")), None)
    # Definitions: of the carried value and not of another one; of a parameter.
    equal(client.at("definition", URI, position(RELAX, "%a)")), {"uri": URI, "range": extent(RELAX, "%a")})
    equal(client.at("definition", URI, position(RELAX, "%v\n")), {"uri": URI, "range": extent(RELAX, "%v", 1)})
    equal(client.at("definition", URI, position(RELAX, "%x[", behind=True)), {"uri": URI, "range": extent(RELAX, "%i")})
    equal(client.at("definition", URI, position(RELAX, "yield")), None)
    # A text that changes between requests: the answer is of the new one, asked at once or later.
    moved = "// é😀\n" + RELAX.replace("%a", "%state")
    client.change(URI, moved)
    equal(client.at("definition", URI, position(moved, "%state)")), {"uri": URI, "range": extent(moved, "%state")})
    client.change(URI, "")
    equal(client.at("definition", URI, position(moved, "%state)")), None)
    equal(client.end(), 0)


def renamed(text, edits):
    """The text after edits, which are applied from the last one to the first."""
    lines = text.split("\n")
    for edit in sorted(edits, key=lambda one: (one["range"]["start"]["line"], one["range"]["start"]["character"]), reverse=True):
        start, end = edit["range"]["start"], edit["range"]["end"]
        equal(start["line"], end["line"])
        units = lines[start["line"]].encode("utf-16-le")
        units = units[: 2 * start["character"]] + edit["newText"].encode("utf-16-le") + units[2 * end["character"] :]
        lines[start["line"]] = units.decode("utf-16-le")
    return "\n".join(lines)


def check_rename(adc):
    client = Client(adc)
    client.initialize()
    text = """const @one = 1.0 : f32
func @f<T>(%p: vec<T, 3>) -> T {
  %s = %p.x + %p.y
  return %s
}
kernel @k(%x: buffer<f32, 1> diff, %n: i32) {
  parallel %i in 0..shape(%x, 0) {
    print "é😀 {}", %n  // %s
    if %n > 2 {
      %s = %x[%i] * @one
      %x[%i] = %s
    }
    %s = @f(vec<f32, 3>(%x[%i]))
    %x[%i] = %s + 2.0 * @f(vec<f32, 3>(@one))
  }
}
"""
    client.open(URI, text)
    equal(client.diagnostics(URI), [])

    def rename(place, name):
        found = client.at("rename", URI, place, newName=name)
        if "code" in found:
            equal(found["code"], -32803)
            return found["message"]
        equal(list(found["changes"]), [URI])
        return renamed(text, found["changes"][URI])

    lines = text.split("\n")
    # One of four values of one name: comments, other regions and other functions stay.
    wanted = lines[:9] + [lines[9].replace("%s", "%t"), lines[10].replace("%s", "%t")] + lines[11:]
    for name in ("t", "%t"):
        equal(rename(position(text, "%s = %x"), name), "\n".join(wanted))
        equal(rename(position(text, "%s\n    }"), name), "\n".join(wanted))
    equal(rename(position(text, "%n  //"), "größe"), "a name is letters, digits, '_' and '.', and begins with no digit")
    # Behind characters of two units; a vector with components; a parameter of a generic function.
    equal(rename(position(text, "%n  //"), "m"), text.replace("%n", "%m"))
    equal(rename(position(text, "%p.y"), "q"), text.replace("%p", "%q"))
    # Functions and constants.
    equal(rename(position(text, "@f(", 1), "sum"), text.replace("@f", "@sum"))
    equal(rename(position(text, "@one"), "@unit"), text.replace("@one", "@unit"))
    # What would mean something else is refused: a name that is taken, seen from inside, or no name.
    assert rename(position(text, "%n"), "x").startswith("'%x' cannot be its name: "), "taken"
    assert rename(position(text, "@f<"), "k").startswith("'@k' cannot be its name: "), "taken"
    assert rename(position(text, "%n"), "x.adj").startswith("'%x.adj' cannot be its name: "), "taken by the gradient"
    equal(rename(position(text, "%x:"), "s"), "'%s' cannot be its name: '%s' is defined twice")
    for name in ("", "a b", "a.", "1a", "%", "@t", "t // c", "t\n", "%%t"):
        assert "name" in rename(position(text, "%s = %x"), name), name
    equal(rename(position(text, "print"), "t"), "no value, function, constant or layout stands here")
    equal(client.at("rename", URI, position(text, "%n"))["message"], "no new name is given")
    equal(
        [one["range"] for one in client.at("references", URI, position(text, "@one"), context={"includeDeclaration": True})],
        [extent(text, "@one", n) for n in range(3)],
    )
    equal(client.at("references", URI, position(text, "print")), [])
    # Where a name hides from the parser nothing is renamed.
    client.change(URI, text.replace("%s + 2.0", "%s +"))
    assert client.at("rename", URI, position(text, "%n"), newName="m")["message"].startswith("the text has errors"), "errors"
    equal(client.end(), 0)


def check_completion(adc):
    client = Client(adc)
    client.initialize()
    text = """type real = f32
const @half = 0.5 : real
func @double(%v: real) -> real { return %v + %v }
kernel @k(%x: buffer<real, 1> diff, %n: i32) {
  parallel %i in 0..shape(%x, 0) {
    %a = %x[%i]
    if %n > 2 {
      %inner = %a * %a
      %x[%i] = %inner
    }
    %b = add %
    %c = 1.0:f32 + 2.0
  }
}
"""
    client.open(URI, text)
    assert client.diagnostics(URI), "an operand is missing"

    def labels(place):
        return [(one["label"], one.get("detail")) for one in client.at("completion", URI, place)]

    # What is visible: neither the other function's values, nor the branch's, nor this one or later ones.
    wanted = [("a", "f32"), ("i", "i32"), ("n", "i32"), ("x", "buffer<f32, 1>")]
    equal(labels(position(text, "add %", behind=True)), wanted)
    equal(labels(position(text, "= %inner", behind=True)), sorted(wanted + [("inner", "f32")]))
    equal(labels(position(text, "return %v", behind=True)), [("v", "f32")])
    typed = text.replace("add %", "add @d")
    client.change(URI, typed)
    equal(
        labels(position(typed, "@d", 1, behind=True)),
        [
            ("double", "func @double(%v: real) -> real"),
            ("half", "const @half = 0.5 : real"),
            ("k", "kernel @k(%x: buffer<real, 1> diff, %n: i32)"),
        ],
    )
    # Words: operations with what they do, keywords, types, and the names of types.
    items = {one["label"]: one for one in client.at("completion", URI, position(typed, "add @"))}
    equal(items["sin"], {"label": "sin", "kind": 24, "documentation": "sine, radians"})
    equal(items["atomic add"]["kind"], 24)
    equal(items["carry"], {"label": "carry", "kind": 14})
    equal(items["writeonce"], {"label": "writeonce", "kind": 14})
    equal(items["f64"], {"label": "f64", "kind": 22})
    equal(items["real"], {"label": "real", "kind": 22, "detail": "type real = f32"})
    assert "row.claim" not in items and "stack.push" not in items, "operations of passes"
    equal(client.at("completion", "file:///other.ir", {"line": 0, "character": 0})["code"], -32602)
    client.change(URI, "\0")
    equal([one for one in labels({"line": 0, "character": 0}) if one[0] == "real"], [])
    equal(client.end(), 0)


def check_formatting(adc):
    client = Client(adc)
    client.initialize()
    client.open(URI, RELAX)
    options = {"tabSize": 2, "insertSpaces": True}

    def formatted():
        return client.request("textDocument/formatting", textDocument={"uri": URI}, options=options)

    equal(formatted(), [])
    loose = "// é😀\n" + RELAX.replace("    ", "\t").replace(" = ", "=")
    client.change(URI, loose)
    edits = formatted()
    equal(len(edits), 1)
    equal(edits[0]["range"], {"start": {"line": 0, "character": 0}, "end": {"line": loose.count("\n"), "character": 0}})
    equal(edits[0]["newText"], "// é😀\n" + RELAX)
    client.change(URI, RELAX.replace("}\n", "", 1))
    equal(formatted()["code"], -32803)
    equal(client.end(), 0)


def check_files(adc, folder):
    """Imports are files beside the document, and definitions lead into them."""
    library = "type real = f32\nfunc @double(%v: real) -> real {\n  %w = %v + %v\n  return %w\n}\nconst @half = 0.5 : f32\n"
    folder = os.path.join(folder, "a b é")
    os.mkdir(folder)
    with open(os.path.join(folder, "lib.ir"), "w", encoding="utf-8") as file:
        file.write(library)
    text = 'import "lib.ir"\nkernel @k(%x: buffer<real, 1> diff) {\n  parallel %i in 0..shape(%x, 0) {\n    %x[%i] = @double(@half)\n  }\n}\n'
    base = "file://" + folder.replace(" ", "%20").replace("é", "%C3%A9")
    client = Client(adc)
    client.initialize()
    client.open(base + "/k.ir", text)
    equal(client.diagnostics(base + "/k.ir"), [])
    for name, word in (("@double", "@double"), ("@half", "@half"), ("real", "real")):
        equal(
            client.at("definition", base + "/k.ir", position(text, word)),
            {"uri": base + "/lib.ir", "range": extent(library, name)},
        )
    equal(hover_text(client.at("hover", base + "/k.ir", position(text, "@double"))), code("func @double(%v: real) -> real"))
    equal(hover_text(client.at("hover", base + "/k.ir", position(text, "@half"))), code("const @half = 0.5 : f32"))
    equal(hover_text(client.at("hover", base + "/k.ir", position(text, "real"))), code("type real = f32"))
    # What is wrong in an import is told at the beginning, with the place.
    with open(os.path.join(folder, "lib.ir"), "w", encoding="utf-8") as file:
        file.write(library.replace("%w = %v", "%w = %u"))
    client.change(base + "/k.ir", text + "\n")
    found = client.diagnostics(base + "/k.ir")
    equal([(one["code"], one["range"]["start"]) for one in found], [("E0106", {"line": 0, "character": 0})])
    equal(found[0]["relatedInformation"][0]["location"]["uri"], base + "/lib.ir")
    equal(found[0]["relatedInformation"][0]["location"]["range"], extent(library.replace("%w = %v", "%w = %u"), "%u"))
    # What is no text of the IR is left alone.
    client.open(base + "/shader.comp", "void main() {}")
    client.open(base + "/k.ir", text)
    client.diagnostics(base + "/k.ir")
    equal(client.end(), 0)


SHADER = """#version 460
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer X { float x[]; };  // adc: diff
layout(std430, set = 0, binding = 1) buffer Y { float y[]; };  // adc: diff
void main() {
  uint i = gl_GlobalInvocationID.x;
  float v = x[i];
  for (int t = 0; t < 3 + int(i); ++t) v = sin(v) + 0.1;
  y[i] = v;
}
"""


def check_shader(adc):
    client = Client(adc)
    client.initialize()
    uri = "file:///nowhere/relax.comp"
    client.open(uri, SHADER)
    equal(client.diagnostics(uri), [])
    text = hover_text(client.at("hover", uri, position(SHADER, "sin(v)")))
    assert "taped in the loop at /nowhere/relax.comp:8:3, 4 bytes an iteration: carried from iteration to iteration" in text, text
    equal(client.at("hover", uri, position(SHADER, "layout(local")), None)
    equal(client.at("definition", uri, position(SHADER, "sin(v)")), None)
    # glslang's messages, and the compiler's own, in their lines.
    client.change(uri, SHADER.replace("sin(v)", "sine(v)"))
    found = client.diagnostics(uri)
    equal([(one["severity"], one["range"]["start"]["line"]) for one in found][:1], [(1, 7)])
    assert "sine" in found[0]["message"], found
    client.change(uri, SHADER.replace("readonly buffer X", "buffer X").replace("y[i] = v;", "x[i] = v; x[i + 1] = v;"))
    found = client.diagnostics(uri)
    assert found and all(one["code"][0] in "EW" for one in found), found
    # A shader without marks is meant for other tools.
    client.change(uri, SHADER.replace("// adc: diff", "").replace("sin(v)", "sine(v)"))
    equal(client.diagnostics(uri), [])
    client.change(uri, SHADER)
    equal(client.diagnostics(uri), [])


def main():
    adc = os.path.abspath(sys.argv[1])
    check_protocol(adc)
    check_bad_bytes(adc)
    check_diagnostics(adc)
    check_answers(adc)
    check_rename(adc)
    check_completion(adc)
    check_formatting(adc)
    check_shader(adc)
    with tempfile.TemporaryDirectory() as folder:
        check_files(adc, os.path.realpath(folder))
    print("lsp: all answers are as they should be")


main()
