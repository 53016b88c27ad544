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
    refused(framed(b"[" * 100000 + b"]" * 100000), -32600)
    refused(framed(b"7"), -32600)
    refused(framed(b'{"id":{"a":[]},"method":"initialize"}'), -32600)
    refused(b"Content-Length: 99999999999999999999\r\n\r\n", -32700)
    refused(b"Content-Length: 1000000000000\r\n\r\n", -32700)
    refused(b"Content-Length: -1\r\n\r\n", -32700)
    refused(b"Content-Length: no\r\n\r\n", -32700)
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


def main():
    adc = os.path.abspath(sys.argv[1])
    check_protocol(adc)
    check_bad_bytes(adc)
    check_diagnostics(adc)
    check_answers(adc)
    check_formatting(adc)
    with tempfile.TemporaryDirectory() as folder:
        check_files(adc, os.path.realpath(folder))
    print("lsp: all answers are as they should be")


main()
