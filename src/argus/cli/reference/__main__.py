"""Write the pages of the reference into the folder that is named."""

from __future__ import annotations

import sys
from pathlib import Path

from argus.cli.reference import pages


def main() -> None:
    """Write every page; pages of an earlier reference are removed."""
    folder, texts = Path(sys.argv[1]), pages()
    for old in folder.rglob("*.md"):
        old.unlink()
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
