"""The reference, made of the code: `python -m argus.cli.reference docs/reference`.

A page per command (`commands/`), per room of Python names (`python/`), per room of files and their
columns (`files/`), and the glossary. Nothing of it is written by hand.
"""

from __future__ import annotations

from argus.cli.reference.commands import command_pages, leaves
from argus.cli.reference.files import file_pages
from argus.cli.reference.glossary import glossary_page
from argus.cli.reference.names import name_pages

__all__ = ["leaves", "pages"]


def pages() -> dict[str, str]:
    """Return every page by its path in docs/reference."""
    rooms = {"commands": command_pages(), "python": name_pages(), "files": file_pages()}
    texts = {f"{room}/{name}": text for room, of in rooms.items() for name, text in of.items()}
    return texts | {"glossary.md": glossary_page()}
