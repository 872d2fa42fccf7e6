"""Chromium without a window: skipped with the reason where there is none, a failure in CI."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--hide-scrollbars", "--enable-logging=stderr", "--virtual-time-budget=10000",
]  # fmt: skip


# Pixels of a window without a screen; a narrower page is shown in a frame.
NARROWEST = 500


def browser() -> str:
    """Return the program; skip where there is none, fail in CI."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        reason = "chromium is not installed"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return program


def dom(page: Path, profile: Path, script: str = "", size: tuple[int, int] = (1280, 800)) -> str:
    """Return the page as the browser has it after `script`; AssertionError for errors in it."""
    shown = page
    if script:
        shown = profile / page.name
        profile.mkdir(parents=True, exist_ok=True)
        text = page.read_text(encoding="utf-8")
        end = f"<script>addEventListener('load', async () => {{ {script} }});</script></body>"
        shown.write_text(text.replace("</body>", end), encoding="utf-8")
    if size[0] < NARROWEST:
        shown = _framed(shown, profile, size)
    command = [browser(), *FLAGS, f"--user-data-dir={profile / 'profile'}",
               f"--window-size={size[0]},{size[1]}", "--dump-dom", shown.as_uri()]  # fmt: skip
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    errors = [line for line in ran.stderr.splitlines() if "CONSOLE" in line and "rror" in line]
    assert errors == []
    return ran.stdout


def _framed(page: Path, profile: Path, size: tuple[int, int]) -> Path:
    """Return a page that shows another in a narrow frame, and takes over its title."""
    text = page.read_text(encoding="utf-8")
    telling = "<script>addEventListener('load', () => setTimeout(() => parent.postMessage("
    telling += "document.title, '*'), 2000));</script></body>"
    page.write_text(text.replace("</body>", telling), encoding="utf-8")
    frame = profile / "frame.html"
    frame.write_text(
        f'<title></title><iframe src="{page.name}" width="{size[0]}" height="{size[1]}" '
        'style="border:0"></iframe><script>onmessage = (e) => { document.title = e.data; };'
        "</script>",
        encoding="utf-8",
    )
    return frame


def measured(html: str) -> dict[str, float]:
    """Return the numbers that a script left in `document.title`, as name=value."""
    title = re.search(r"<title>(.*?)</title>", html, re.DOTALL)[1]
    return {name: float(value) for name, value in re.findall(r"([\w-]+)=([\d.]+)", title)}
