"""A headless Chromium, driven over its DevTools pipe: pages are opened, pointed at, asked, and looked at as pictures."""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def find_browser():
    """The program's path, or None."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


class Failure(Exception):
    pass


class Browser:
    """One process with one page. Whatever it asks a network for is noted and refused."""

    def __init__(self, program, width=1300, height=900):
        self.folder = tempfile.TemporaryDirectory(prefix="adc-browser-", ignore_cleanup_errors=True)
        above = 10  # of the numbers that the browser reads and writes, 3 and 4
        pairs = [os.pipe(), os.pipe()]
        to_child, from_child = [[fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, above) for end in pair] for pair in pairs]
        for end in (*pairs[0], *pairs[1]):
            os.close(end)

        def place():
            os.dup2(to_child[0], 3)
            os.dup2(from_child[1], 4)

        words = [program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe",
                 "--force-device-scale-factor=1", f"--user-data-dir={self.folder.name}", "about:blank"]
        self.process = subprocess.Popen(words, preexec_fn=place, pass_fds=(3, 4), stdin=subprocess.DEVNULL,  # noqa: PLW1509
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_child[0])
        os.close(from_child[1])
        self.write_end, self.read_end, self.bytes, self.number, self.session = to_child[1], from_child[0], b"", 0, None
        self.requests, self.faults = [], []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.resize(width, height)

    def close(self):
        """Ends it, and the processes that it has started."""
        self.session = None
        try:
            self.call("Browser.close")
            self.process.wait(10)
        except (Failure, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.write_end)
        os.close(self.read_end)
        self.folder.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _message(self, seconds):
        until = time.monotonic() + seconds
        while b"\0" not in self.bytes:
            if not select.select([self.read_end], [], [], max(0, until - time.monotonic()))[0]:
                raise Failure(f"the browser says nothing for {seconds} seconds")
            piece = os.read(self.read_end, 1 << 16)
            if not piece:
                raise Failure("the browser has ended")
            self.bytes += piece
        text, self.bytes = self.bytes.split(b"\0", 1)
        told = json.loads(text)
        self._note(told.get("method"), told.get("params", {}))
        return told

    def _note(self, event, told):
        if event == "Network.requestWillBeSent":
            self.requests.append(told["request"]["url"])
        elif event == "Runtime.exceptionThrown":
            self.faults.append(told["exceptionDetails"].get("exception", {}).get("description", told["exceptionDetails"]["text"]))
        elif event == "Log.entryAdded" and told["entry"]["level"] == "error":
            self.faults.append(told["entry"]["text"])

    def call(self, method, **parameters):
        """A command of the DevTools protocol, and what it gives."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session is not None:
            message["sessionId"] = self.session
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        while True:
            told = self._message(60)
            if told.get("id") == self.number:
                break
        if "error" in told:
            raise Failure(f"{method}: {told['error']['message']}")
        return told["result"]

    def resize(self, width, height):
        self.width, self.height = width, height
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def open(self, path, scheme="light"):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.requests, self.faults = [], []
        self.call("Page.navigate", url=path.absolute().as_uri())
        until = time.monotonic() + 60
        while self.ask("document.readyState") != "complete" or self.ask("location.protocol") != "file:":
            if time.monotonic() > until:
                raise Failure(f"{path} does not load")
            time.sleep(0.02)

    def ask(self, expression):
        """The value of an expression of JavaScript in the page."""
        made = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in made:
            raise Failure(f"{expression}: {made['exceptionDetails'].get('exception', {}).get('description')}")
        return made["result"].get("value")

    def point(self, selector):
        """Moves the mouse to the middle of an element."""
        self.ask(f"document.querySelector({json.dumps(selector)}).scrollIntoView({{block: 'center'}})")
        x, y = self.ask(f"(box => [box.x + box.width / 2, box.y + box.height / 2])(document.querySelector({json.dumps(selector)}).getBoundingClientRect())")
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        return x, y

    def click(self, selector):
        x, y = self.point(selector)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def picture(self, path, whole=True):
        """Writes what the page looks like, all of it."""
        height = self.ask("document.documentElement.scrollHeight") if whole else self.height
        clip = {"x": 0, "y": 0, "width": self.width, "height": min(height, 12000), "scale": 1}
        made = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
        path.write_bytes(base64.b64decode(made["data"]))
