"""BM25 over a state of an index, saved in its folder so that the next command need not count words.

`INDEX/bm25/` has one folder per state, of one version of the index: a later version's replace them.
Nothing is lost with it. Who may not write there counts the words anew.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from pathlib import Path

from argus.data.provenance import content_hash
from argus.errors import InputError
from argus.indexes.lexical import LexicalIndex, discard
from argus.indexes.table import version_mark
from argus.indexes.views import ViewIndex
from argus.indexes.words import Analyzer

FOLDER = "bm25"
"""Folder of an index that keeps its words."""
FORMAT = 1
"""To be raised when analyzers or scores change: what was saved before is then not taken."""


def words_of(
    index: ViewIndex, as_of: str | None, without: Sequence[str], analyzer: Analyzer
) -> LexicalIndex:
    """Return BM25 over the views of a state, saved or built; without: kinds that are left out."""
    state = index.condition(as_of)
    version = [index.version, version_mark(index.path, index.version), len(index)]
    made_of = json.dumps([FORMAT, *version, state, [*without], analyzer.name])
    home = index.path / FOLDER
    folder = home / f"{index.version}-{content_hash(made_of).hex()[:16]}"
    if LexicalIndex.is_saved(folder, made_of=made_of):
        with contextlib.suppress(InputError):  # damaged, or replaced this moment: built anew
            return LexicalIndex.open(folder)
    columns = index.texts(as_of, without=without)
    words = LexicalIndex.build(columns["doc_id"], columns["text"], analyzer, made_of=made_of)
    with contextlib.suppress(OSError):  # no right to write, or no space
        words.save(folder)
        _remove_older(home, index.version)
    return words


def remove_words(index: Path) -> None:
    """Remove what is saved of an index's words; nothing where that cannot be done."""
    with contextlib.suppress(OSError):
        if (index / FOLDER).is_dir():
            discard(index / FOLDER)


def _remove_older(home: Path, version: int) -> None:
    """Remove what is of versions before this one; what a killed process left is named as they."""
    for path in home.iterdir():
        number = path.name.partition("-")[0]
        if number.isdecimal() and int(number) < version:
            discard(path)
