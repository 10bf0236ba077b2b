"""A headless Chromium, driven over the DevTools protocol: two pipes, through which messages of JSON go that end with a
zero byte. Needs nothing but the standard library."""

import fcntl
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Chromium reads from file 3 and writes to file 4.
EXECUTE = ("import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); "
           "os.execv(sys.argv[3], sys.argv[3:])")
DEADLINE = 60  # seconds, which only ends a test that hangs


def find():
    """The path of a Chromium; None if there is none."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One page in a Chromium. `events` are the protocol's messages about it: requests, errors, lines of its console."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="normsweep-chromium-")
        into, self.writer = os.pipe()
        self.reader, out = os.pipe()
        command = [find(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                   "--disable-background-networking", "--disable-component-update", "--disable-sync",
                   "--no-default-browser-check", f"--user-data-dir={self.folder}", "--remote-debugging-pipe",
                   "about:blank"]
        high = [fcntl.fcntl(file, fcntl.F_DUPFD, 10) for file in (into, out)]
        self.process = subprocess.Popen(
            [sys.executable, "-c", EXECUTE, *map(str, high), *command], pass_fds=high,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for file in (into, out, *high):
            os.close(file)
        self.number, self.buffer, self.events, self.session = 0, b"", [], None
        target = next(one for one in self.call("Target.getTargets")["targetInfos"] if one["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.writer)
        os.close(self.reader)
        shutil.rmtree(self.folder, ignore_errors=True)

    def receive(self, seconds):
        """The next message; None if there is none for so many seconds."""
        deadline = time.monotonic() + seconds
        while b"\0" not in self.buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.reader], [], [], left)[0]:
                return None
            found = os.read(self.reader, 1 << 16)
            assert found, "Chromium has ended"
            self.buffer += found
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.writer, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive(DEADLINE)
            assert answer is not None, f"{method}: no answer"
            if answer.get("id") == self.number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]
            self.events.append(answer)

    def wait(self, seconds):
        """Lets the page live, and takes in what is told about it."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            message = self.receive(left)
            if message is not None:
                self.events.append(message)

    def open(self, url):
        self.call("Page.navigate", url=url)
        self.until("document.readyState === 'complete' && location.href !== 'about:blank'")

    def tell(self, expression):
        """The value of an expression of JavaScript in the page."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, f"{expression}: {result['exceptionDetails']}"
        return result["result"].get("value")

    def until(self, expression):
        """Waits until an expression is true."""
        deadline = time.monotonic() + DEADLINE
        while not self.tell(expression):
            assert time.monotonic() < deadline, f"never: {expression}"
            self.wait(0.1)

    def look(self, width, height=900, dark=False, scale=1):
        """Sets the size of the window and the preference of colours."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale,
                  mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def press(self, key):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                      windowsVirtualKeyCode={"Escape": 27, "Enter": 13, "Tab": 9}[key],
                      text="\r" if key == "Enter" and kind == "keyDown" else "")

    def requests(self):
        """The addresses that the page has asked for; of data: only the scheme."""
        urls = [event["params"]["request"]["url"] for event in self.events
                if event.get("method") == "Network.requestWillBeSent"]
        return ["data:" if url.startswith("data:") else url for url in urls]

    def complaints(self):
        """Errors and warnings: of scripts, of the console, of the content security policy, of loading."""
        found = [event["params"]["exceptionDetails"]["text"] for event in self.events
                 if event.get("method") == "Runtime.exceptionThrown"]
        found += [event["params"]["entry"]["text"] for event in self.events
                  if event.get("method") == "Log.entryAdded" and event["params"]["entry"]["level"] != "verbose"]
        return found + [str(event["params"]["args"]) for event in self.events
                        if event.get("method") == "Runtime.consoleAPICalled"]
