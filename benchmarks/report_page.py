"""The page of a report in Chromium: bytes, screens at three widths, first paint.

Of the demo in `argus-demo` (ARGUS_DEMO names another folder of results), which is made first where
there is none. Screens: height of the page, everything folded, over 800 pixels; beside it with all
of it open. First paint: median of several loads of the file, from the start of its navigation.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue
from typing import Any

import argus
from tests.support.browser import FLAGS, browser, dom, measured

WIDTHS, SCREEN, LOADS = (390, 768, 1280), 800, 7
BARS = {"bytes": 2_500_000, "screens at 1280": 8, "first_paint_ms": 1000}
HEIGHT = "document.title = `height=${document.documentElement.scrollHeight} inner=${innerWidth}`;"
OPEN = "document.querySelectorAll('details').forEach((d) => { d.open = true; });"
WAIT = "await new Promise((done) => setTimeout(done, 1000));"
PAINT = (
    "await new Promise((done) => setTimeout(done, 1500)); fetch('/', {method: 'POST', "
    "body: String(performance.getEntriesByName('first-contentful-paint')[0].startTime)});"
)


def run() -> dict[str, Any]:
    folder = Path(os.environ.get("ARGUS_DEMO", "argus-demo"))
    if not (folder / "summary.json").is_file():
        argus.demo(out=folder)
    begun = time.process_time()
    page = argus.write_report(folder)
    seconds = time.process_time() - begun
    with tempfile.TemporaryDirectory() as place:
        home = Path(place)
        folded = {w: _screens(page, home / f"{w}", w, HEIGHT) for w in WIDTHS}
        opened = {w: _screens(page, home / f"{w}-open", w, OPEN + WAIT + HEIGHT) for w in WIDTHS}
        paints = [_paint(page, home / "paint") for _ in range(LOADS)]
    return {
        "bars": BARS,
        "documents": json.loads((folder / "summary.json").read_text())["exposure"]["documents"][
            "total"
        ],
        "bytes": page.stat().st_size,
        "writing_s": round(seconds, 2),
        "screens_folded": folded,
        "screens_open": opened,
        "first_paint_ms": round(statistics.median(paints)),
        "paints_ms": [round(paint) for paint in paints],
    }


def _screens(page: Path, home: Path, width: int, script: str) -> float:
    home.mkdir()
    values = measured(dom(page, home, script, (width, SCREEN)))
    assert values["inner"] == width, values
    return round(values["height"] / SCREEN, 1)


def _paint(page: Path, home: Path) -> float:
    """Return the milliseconds to the first paint with content, in real time, served from here."""
    end = f"<script>addEventListener('load', async () => {{ {PAINT} }});</script></body>"
    content = page.read_text("utf-8").replace("</body>", end).encode("utf-8")
    answers: Queue[float] = Queue()

    class Serving(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(content)

        def do_POST(self) -> None:
            answers.put(float(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    flags = [flag for flag in FLAGS if "virtual-time" not in flag]
    with ThreadingHTTPServer(("127.0.0.1", 0), Serving) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/"
        command = [browser(), *flags, f"--user-data-dir={home / 'profile'}", url]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            return answers.get(timeout=60)
        finally:
            process.terminate()
            process.wait(timeout=30)
            server.shutdown()
