"""A small WebDriver client for chromedriver.

    with Browser() as browser:
        browser.open("page.html")
        browser.run("return document.title")

chromedriver chooses a loopback port and ends with its process; chromium gets a new
profile, which is removed afterward.
"""
import base64
import json
import pathlib
import re
import selectors
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
]
SECONDS = 60


class Trouble(Exception):
    """The browser could not be started, or refused a command."""


class Browser:
    def __init__(self):
        self.session = self.driver = None
        self.profile = tempfile.mkdtemp(prefix="lawn-report-")

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.session:
            try:
                self.call("DELETE", "")
            except Trouble:
                pass
        if self.driver:
            self.driver.terminate()
            try:
                self.driver.wait(10)
            except subprocess.TimeoutExpired:
                self.driver.kill()
                self.driver.wait()
            self.driver.stdout.close()
        shutil.rmtree(self.profile, ignore_errors=True)

    def start(self):
        command = shutil.which("chromedriver")
        binary = shutil.which("chromium")
        if not command or not binary:
            raise Trouble(
                "chromium and chromedriver must be installed: tools/deps test"
            )
        self.driver = subprocess.Popen(
            [command, "--port=0"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self.base = "http://127.0.0.1:%d" % self.port()
        # Without a proxy for the loopback.
        self.opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({})
        )
        reply = self.send(
            "POST",
            "/session",
            {
                "capabilities": {
                    "alwaysMatch": {
                        "browserName": "chrome",
                        "goog:loggingPrefs": {"browser": "ALL"},
                        "goog:chromeOptions": {
                            "binary": binary,
                            "args": FLAGS
                            + ["--user-data-dir=" + self.profile],
                        },
                    }
                }
            },
        )
        self.session = reply["sessionId"]

    def port(self):
        """Reads the output of chromedriver until it prints its port."""
        said = b""
        end = time.monotonic() + SECONDS
        with selectors.DefaultSelector() as selector:
            selector.register(self.driver.stdout, selectors.EVENT_READ)
            while selector.select(max(0, end - time.monotonic())):
                more = self.driver.stdout.read1()
                said += more
                found = re.search(rb"successfully on port (\d+)", said)
                if found:
                    return int(found.group(1))
                if not more:
                    break
        raise Trouble(
            "chromedriver did not start: " + said.decode(errors="replace")
        )

    def send(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self.base + path,
            data,
            {"Content-Type": "application/json"},
            method=method,
        )
        try:
            with self.opener.open(request, timeout=SECONDS) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise Trouble(
                error.read().decode(errors="replace")[:2000]
            ) from None
        except OSError as error:
            raise Trouble(str(error)) from None

    def call(self, method, path, body=None):
        return self.send(method, "/session/%s%s" % (self.session, path), body)

    def cdp(self, command, **parameters):
        return self.call(
            "POST", "/goog/cdp/execute", {"cmd": command, "params": parameters}
        )

    def run(self, script, *arguments):
        return self.call(
            "POST",
            "/execute/sync",
            {"script": script, "args": list(arguments)},
        )

    def open(self, path, width=1280, height=900, dark=False, media=""):
        self.cdp(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        self.media(media, dark)
        self.call(
            "POST", "/url", {"url": pathlib.Path(path).resolve().as_uri()}
        )

    def media(self, media="", dark=False):
        self.cdp(
            "Emulation.setEmulatedMedia",
            media=media,
            features=[
                {
                    "name": "prefers-color-scheme",
                    "value": "dark" if dark else "light",
                }
            ],
        )

    def wait(self, script, *arguments):
        """Repeats the script until it returns true, or a timeout."""
        end = time.monotonic() + SECONDS
        while True:
            answer = self.run(script, *arguments)
            if answer or time.monotonic() > end:
                return answer

    def key(self, *keys):
        """Presses keys, one after the other, on the focused element."""
        actions = [
            {"type": kind, "value": key}
            for key in keys
            for kind in ("keyDown", "keyUp")
        ]
        self.call(
            "POST",
            "/actions",
            {"actions": [{"type": "key", "id": "keys", "actions": actions}]},
        )

    def point(self, x, y):
        self.call(
            "POST",
            "/actions",
            {
                "actions": [
                    {
                        "type": "pointer",
                        "id": "mouse",
                        "actions": [
                            {
                                "type": "pointerMove",
                                "x": round(x),
                                "y": round(y),
                            }
                        ],
                    }
                ]
            },
        )

    def log(self):
        """The console messages since the last call."""
        return self.call("POST", "/se/log", {"type": "browser"})

    def shot(self, path, full=True):
        reply = self.cdp(
            "Page.captureScreenshot", format="png", captureBeyondViewport=full
        )
        pathlib.Path(path).write_bytes(base64.b64decode(reply["data"]))

    def pdf(self):
        reply = self.cdp(
            "Page.printToPDF", printBackground=True, preferCSSPageSize=True
        )
        return base64.b64decode(reply["data"])
