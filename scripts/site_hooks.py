"""The reference, folders in the nav, and links that leave docs/: hooks of `make docs`."""

from __future__ import annotations

import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

LINK = re.compile(r"\[([^]]*)\]\(((?:\.\./)+)([^)#]*)(#[^)]*)?\)")


@cache
def _reference() -> dict[str, str]:
    sys.path.insert(0, str(Path(__file__).parent))
    from reference import pages

    return pages()


def on_files(files: Any, config: Any) -> Any:
    """Add the pages of the reference."""
    for name, text in _reference().items():
        files.append(File.generated(config, name, content=text))
    return files


def on_config(config: Any) -> Any:
    """Put the pages of a folder where the nav names it: its overview first, then by name."""
    docs = Path(config.docs_dir)
    config.nav = [_filled(entry, docs) for entry in config.nav]
    return config


def _filled(entry: Any, docs: Path) -> Any:
    if isinstance(entry, dict):
        return {title: _pages(value, docs) for title, value in entry.items()}
    return entry


def _pages(value: Any, docs: Path) -> Any:
    if isinstance(value, list):
        return [_filled(entry, docs) for entry in value]
    if not value.endswith("/"):
        return value
    there = [path.name for path in (docs / value).glob("*.md")]
    made = [name.removeprefix(value) for name in _reference() if name.startswith(value)]
    names = sorted({*there, *made})
    names.sort(key=lambda name: name not in ("README.md", "overview.md"))
    return [f"{value}{name}" for name in names]


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """Name the file in the source, where a link leads out of docs/: it is no page of the site."""
    docs = Path(config.docs_dir).resolve()
    folder = (docs / page.file.src_uri).parent

    def named(match: re.Match[str]) -> str:
        text, up, rest, _anchor = match.groups()
        target = (folder / up / rest).resolve()
        if target.is_relative_to(docs):
            return match[0]
        return f"{text} (`{target.relative_to(docs.parent)}` in the source)"

    return LINK.sub(named, markdown)
