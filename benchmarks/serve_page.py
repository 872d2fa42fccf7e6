"""The page of `argus serve` in Chromium: the first paint of the overview, and a map of many points.

First contentful paint of the demo in `argus-demo` (ARGUS_DEMO names another folder), in a window of
its own each time, once the service has answered once. The map is of a made folder of 100,000
documents; it is moved by keys and zoomed, and what counts is a frame: the time between two calls of
`requestAnimationFrame` while it moves. Where frames take long, fewer points are drawn until it
rests, and then all of them, which is checked. Chromium draws WebGL on the processor here.
"""

from __future__ import annotations

import json
import os
import statistics
import tempfile
from pathlib import Path
from typing import Any

import argus
from benchmarks.serve_documents import make
from tests.support.served import open_browser, page_of, service

POINTS = int(os.environ.get("ARGUS_POINTS", "100000"))
BARS = {"first_contentful_paint_s": 0.5, "frames_per_second": 30}
WINDOWS, MOVES = 7, 60
PAINT = """() => new Promise((done) => new PerformanceObserver((list) => {
  const one = list.getEntriesByName("first-contentful-paint")[0];
  if (one) done(one.startTime);
}).observe({ type: "paint", buffered: true }))"""
FRAMES = """async (moves) => {
  const map = document.getElementById("map");
  const keys = ["ArrowLeft", "ArrowUp", "+", "ArrowRight", "-"];
  const frame = () => new Promise(requestAnimationFrame);
  const paints = [], gaps = [];
  await frame();
  let before = await frame();
  for (let i = 0; i < moves; i++) {
    map.dispatchEvent(new KeyboardEvent("keydown", { key: keys[i % keys.length] }));
    const now = await frame();
    gaps.push(now - before);
    before = now;
    paints.push(Number(map.dataset.paintMs));
  }
  await new Promise((rested) => setTimeout(rested, 1000));
  if (map.dataset.drawn !== map.dataset.count) throw new Error(`${map.dataset.drawn} at rest`);
  return { gaps, paints, drawn_by: map.dataset.drawnBy, points: Number(map.dataset.count) };
}"""


def run() -> dict[str, Any]:
    folder = Path(os.environ.get("ARGUS_DEMO", "argus-demo"))
    if not (folder / "summary.json").is_file():
        argus.demo(out=folder)
    with open_browser() as browser, tempfile.TemporaryDirectory() as place:
        with service(folder) as url:
            paints = [
                _first_paint(browser, f"{url}/page/{folder.name}/overview")
                for _ in range(WINDOWS + 1)
            ]
        points = Path(place) / "points"
        points.mkdir()
        make(points, POINTS)
        with service(points) as url:
            frames = _frames(browser, f"{url}/page/points/map")
    return {
        "bars": BARS,
        "first paint, the first time, s": round(paints[0], 2),
        "first paint, s": round(statistics.median(paints[1:]), 2),
        "first paint, the slowest, s": round(max(paints[1:]), 2),
        "map": frames,
    }


def _first_paint(browser: Any, address: str) -> float:
    """Return the seconds until something of a page is seen, in a window without a cache."""
    with page_of(browser) as page:
        page.goto(address)
        return float(page.evaluate(PAINT)) / 1000


def _frames(browser: Any, address: str) -> dict[str, Any]:
    """Return how a map is drawn while it is moved and zoomed."""
    with page_of(browser) as page:
        page.goto(address)
        page.wait_for_selector("#map[data-count]")
        told = page.evaluate(FRAMES, MOVES)
    return {
        "points": told["points"],
        "drawn by": told["drawn_by"],
        "frames per second": round(1000 / statistics.median(told["gaps"]), 1),
        "slowest frame, ms": round(max(told["gaps"]), 1),
        "drawing, median ms": statistics.median(told["paints"]),
    }


if __name__ == "__main__":
    print(json.dumps(run(), indent=1))
