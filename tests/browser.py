"""Helpers for tests in a browser: a Streamlit server, a static server, Chromium, and a watch for errors. No sleeps."""

import functools
import http.server
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import expect, sync_playwright

expect.set_options(timeout=30_000)  # a busy machine is no reason to fail
ROOT = Path(__file__).resolve().parents[1]
CHROMIUM_ARGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
ONE_PROCESS = ("--process-per-site", "--renderer-process-limit=1")
open_browsers = []  # the text of their pages is printed when a test fails
_running = []  # the Playwright of this process, while there is one
DESKTOP = {"viewport": {"width": 1280, "height": 900}}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(check, seconds=60.0, what="condition"):
    """Poll until ``check()`` is true."""
    end = time.monotonic() + seconds
    pause = threading.Event()
    while not check():
        if time.monotonic() > end:
            raise TimeoutError(f"{what} did not come true within {seconds:.0f} s")
        pause.wait(0.05)


def answers(url):
    try:
        with urllib.request.urlopen(url, timeout=2) as response:
            return response.status == 200
    except (urllib.error.URLError, OSError):
        return False


@contextmanager
def streamlit_app(script, **environment):
    """The address of a headless Streamlit server that runs ``script`` (a path below the project's root)."""
    with streamlit_server(script, **environment) as (url, _):
        yield url


@contextmanager
def streamlit_server(script, port=None, **environment):
    """The address of a server and its process, for tests that kill it; another can take its ``port``."""
    port = port or free_port()
    command = [sys.executable, "-m", "streamlit", "run", str(ROOT / script), "--server.headless=true"]
    # Only where to listen: everything else is the project's own configuration, as for everybody who runs the app.
    command += [f"--server.port={port}", "--server.address=127.0.0.1"]
    paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in paths if path)} | environment
    server = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        url = f"http://127.0.0.1:{port}"
        wait_for(lambda: server.poll() is not None or answers(f"{url}/_stcore/health"), what="the server")
        if server.poll() is not None:
            raise RuntimeError(f"streamlit run {script} ended with code {server.returncode}")
        yield url, server
    finally:
        server.terminate()
        server.wait(20)


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/favicon.ico":  # browsers ask for it unbidden
            self.send_response(204)
            self.end_headers()
        else:
            super().do_GET()

    def log_message(self, format, *args):
        pass


@contextmanager
def static_files(folder):
    """The address of a server for the files below ``folder``."""
    handler = functools.partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def running_playwright():
    """The Playwright of this process: a second one beside it would refuse to start."""
    if _running:
        yield _running[0]
        return
    with sync_playwright() as playwright:
        _running.append(playwright)
        try:
            yield playwright
        finally:
            _running.remove(playwright)


@contextmanager
def chromium(*args):
    """A headless Chromium: the system's, the one without windows first (half the work), or else Playwright's own."""
    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    executable = next((path for path in map(shutil.which, names) if path), None)
    with running_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=[*CHROMIUM_ARGS, *args])
        open_browsers.append(browser)
        try:
            yield browser
        finally:
            open_browsers.remove(browser)
            browser.close()


class Watch:
    """Collects what must not happen on a page: errors, console errors, requests to other hosts."""

    def __init__(self, page):
        self.problems = []
        page.on("pageerror", lambda error: self.problems.append(f"page error: {error}"))
        page.on("console", self._console)
        page.on("request", self._request)

    def _console(self, message):
        # On an inner page Streamlit first looks for its server below that page's address, and finds it above.
        looking = "/_stcore/" in message.location.get("url", "")
        if message.type == "error" and not looking:
            self.problems.append(f"console: {message.text}")

    def _request(self, request):
        parts = urlsplit(request.url)
        if parts.scheme in ("http", "https", "ws", "wss") and parts.hostname not in ("127.0.0.1", "localhost"):
            self.problems.append(f"outside request: {request.url}")


def wait_idle(page, seconds=60.0):
    """Wait until Streamlit has finished its script run."""
    page.wait_for_selector('[data-test-script-state="notRunning"]', timeout=1000 * seconds, state="attached")


def choose(page, label, option):
    """Pick from a drop-down list. Its box is brought into view first: a list closes when the page scrolls under it."""
    box = page.get_by_role("combobox", name=label)
    box.scroll_into_view_if_needed()
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    box.click()
    page.get_by_role("option", name=option, exact=isinstance(option, str)).first.click()
    wait_idle(page)


_shared = {}  # a context of each browser, and in it a page of each app


def _shared_context(browser, app):
    """A context in which Chromium keeps Streamlit's compiled scripts: a second less for each visit."""
    if browser not in _shared:
        _shared[browser] = browser.new_context(**DESKTOP), {}
    context, kept = _shared[browser]
    if app not in kept:  # the process stays when a visit ends
        kept[app] = context.new_page()
        kept[app].goto(f"{app}/_stcore/health")
    return context, kept[app]


def visits(browser, app, visit):
    """For a fixture: yields ``open_page(query="", **context_options)``, which returns ``visit(context, app, query)``.

    Visits without options share a context, which remembers nothing of the tests before. In the end no visit may have
    had errors or requests to other hosts.
    """
    own, opened = [], []
    context, kept = _shared_context(browser, app)
    kept.evaluate("localStorage.clear()")

    def open_page(query="", **options):
        if options:
            own.append(browser.new_context(**DESKTOP | options))
        opened.append(visit(own[-1] if options else context, app, query))
        return opened[-1]

    yield open_page
    problems = [problem for one in opened for problem in one.watch.problems]
    for one in opened:
        one.page.close()
    for context in own:
        context.close()
    assert not problems, problems
