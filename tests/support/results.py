"""What results show of themselves: lines at the prompt and in a notebook, and their tables."""

import json
from html import unescape
from pathlib import Path

from argus.jobs.result import Result


def shown(result: Result) -> list[str]:
    """Return the lines of a result at the prompt; a notebook shows the same."""
    title, *lines = repr(result).splitlines()
    assert title.startswith(type(result).__name__)
    assert 1 <= len(lines) <= 7, "six of the headline, and how many more there are"
    page = unescape(result._repr_html_())
    assert title in page and all(line.strip() in page for line in lines)
    return [line.strip() for line in lines]


def unbound(folder: Path) -> Path:
    """Have a folder of results whose files may be changed by hand: no hash of them is known."""
    manifest = folder / "manifest.json"
    sections = json.loads(manifest.read_text(encoding="utf-8"))
    for section in sections.values():
        section["parts"] = {}
    manifest.write_text(json.dumps(sections), encoding="utf-8")
    return folder
