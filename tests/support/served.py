"""A real `argus serve` in a process of its own, and a browser that looks at it."""

import gc
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.support.browser import browser as chromium

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
STARTS_S = 120
AXE = Path(__file__).parent / "axe" / "axe.min.js"
RULES = "{runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa']}"


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def start_service(*words: object, port: int | None = None) -> tuple[subprocess.Popen[str], str]:
    """Start the service, and return it with its address when it answers."""
    port = port or free_port()
    environment = {name: v for name, v in os.environ.items() if name != "ARGUS_SERVE_TOKEN"}
    process = subprocess.Popen(
        [sys.executable, "-m", "argus", "serve", *map(str, words), "--port", str(port)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        env=environment,
    )  # fmt: skip
    url, until = f"http://127.0.0.1:{port}", time.monotonic() + STARTS_S
    while True:
        try:
            httpx.get(f"{url}/jobs", timeout=30)
            return process, url
        except httpx.TransportError:
            assert process.poll() is None and time.monotonic() < until, "it did not start"
            time.sleep(0.1)


@contextmanager
def service(*words: object) -> Iterator[str]:
    """Run the service over some folders; yield its address."""
    process, url = start_service(*words)
    try:
        yield url
    finally:
        process.terminate()
        assert process.wait(60) in (0, -signal.SIGTERM)


@contextmanager
def open_browser():
    """Yield a browser without a window.

    Its greenlets are collected at the end: where that happens within `ast.parse`, CPython 3.11
    takes their stack for its own, and raises SystemError.
    """
    from playwright.sync_api import sync_playwright

    program = chromium()
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield launched
        launched.close()
    gc.collect()


@contextmanager
def page_of(launched, width: int = 1280, *, refused: bool = False, **settings):
    """Yield a page whose console must stay without errors.

    refused: the service refuses something, which browsers log as an error.
    """
    context = launched.new_context(viewport={"width": width, "height": 900}, **settings)
    page = context.new_page()
    page.set_default_timeout(240_000)
    errors: list[str] = []
    page.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda e: errors.append(str(e)))
    yield page
    attacked = page.evaluate("window.attacked")
    context.close()
    if refused:
        errors = [text for text in errors if "status of 422" not in text]
    assert errors == [] and attacked is None


def check_accessible(page, rules: str = RULES) -> None:
    """Fail for what axe finds serious or critical."""
    if not page.evaluate("typeof window.axe !== 'undefined'"):
        page.evaluate(AXE.read_text("utf-8"))
    told = page.evaluate(f"axe.run(document, {rules})")
    assert [
        (one["id"], node["target"], node.get("failureSummary"))
        for one in told["violations"]
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"][:3]
    ] == []


def check_fits(page, width: int = 390) -> None:
    """Fail where a page scrolls sideways on a telephone; its width is as before afterwards."""
    before = page.viewport_size
    page.set_viewport_size({"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    page.set_viewport_size(before)
