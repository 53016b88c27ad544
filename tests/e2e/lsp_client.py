"""A client of `adc lsp` for tests: sends messages, and reads what comes back."""

import json
import queue
import subprocess
import threading

SECONDS = 120  # far beyond what any answer takes: that none comes is what is found


def position(text, needle, occurrence=0, behind=False):
    """Where `needle` begins in `text`, or what follows it, as editors count: lines, and UTF-16 units in them."""
    at = -1
    for _ in range(occurrence + 1):
        at = text.index(needle, at + 1)
    before = text[: at + len(needle) * behind]
    line = before.count("\n")
    return {"line": line, "character": len(before[before.rfind("\n") + 1 :].encode("utf-16-le")) // 2}


def extent(text, needle, occurrence=0):
    return {"start": position(text, needle, occurrence), "end": position(text, needle, occurrence, behind=True)}


class Client:
    def __init__(self, adc, *options, folder=None):
        self.process = subprocess.Popen(
            [adc, "lsp", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder
        )
        self.received = queue.Queue()
        self.number = 0
        self.published = {}
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        output = self.process.stdout
        while True:
            header = output.readline()
            if not header:
                self.received.put(None)
                return
            assert header.startswith(b"Content-Length: "), header
            assert output.readline() == b"\r\n"
            self.received.put(json.loads(output.read(int(header[16:]))))

    def raw(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message):
        body = json.dumps(message).encode()
        self.raw(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    def next(self):
        message = self.received.get(timeout=SECONDS)
        assert message is not None, "the server has ended"
        return message

    def notify(self, method, **parameters):
        self.send({"jsonrpc": "2.0", "method": method, "params": parameters})

    def answer(self):
        """The next message that is no note of diagnostics, which are set aside."""
        while True:
            message = self.next()
            if message.get("method") != "textDocument/publishDiagnostics":
                return message
            self.published[message["params"]["uri"]] = message["params"]["diagnostics"]

    def request(self, method, **parameters):
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": parameters})
        answer = self.answer()
        assert answer["jsonrpc"] == "2.0" and answer["id"] == self.number, answer
        return answer["result"] if "result" in answer else answer["error"]

    def initialize(self):
        return self.request("initialize", processId=None, rootUri=None, capabilities={})

    def open(self, uri, text):
        self.notify(
            "textDocument/didOpen", textDocument={"uri": uri, "languageId": "adc", "version": 1, "text": text}
        )

    def change(self, uri, text, version=2):
        self.notify(
            "textDocument/didChange", textDocument={"uri": uri, "version": version}, contentChanges=[{"text": text}]
        )

    def diagnostics(self, uri):
        """Those that come next for `uri`."""
        while True:
            message = self.next()
            assert message.get("method") == "textDocument/publishDiagnostics", message
            if message["params"]["uri"] == uri:
                return message["params"]["diagnostics"]

    def at(self, method, uri, place, **more):
        return self.request("textDocument/" + method, textDocument={"uri": uri}, position=place, **more)

    def end(self):
        """The exit code after a polite end."""
        assert self.request("shutdown") is None
        self.notify("exit")
        return self.process.wait(SECONDS)
