"""The questions and answers of a folder of a generative search, and what a replay lost."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from argus.data.artifacts import ArtifactFolder
from argus.data.parquet import read_table, read_where
from argus.generative.answer import Hit, HitKey
from argus.generative.failures.jobs.files import PRUNED
from argus.generative.jobs.answers import FILE, StoredAnswer, find_answer
from argus.generative.jobs.outputs import TABLE
from argus.service.page.rows import Rows

MOST = 100
"""Questions that are listed."""
MOST_KEYS = 20
"""N-grams of a passage that are shown, the heaviest first."""


@dataclass(frozen=True, slots=True)
class ShownKey:
    """An n-gram by which a passage was found. share: of the heaviest one's weight, 0 to 1."""

    key: HitKey
    share: float


@dataclass(frozen=True, slots=True)
class ShownHit:
    """A passage, its heaviest n-grams, and its text in pieces, those apart that an n-gram says."""

    hit: Hit
    keys: tuple[ShownKey, ...]
    pieces: tuple[tuple[str, bool], ...]


def questions(folder: Path | None, words: str) -> Rows:
    """Return questions whose text or id holds some words, in the order of the search."""
    path = None if folder is None else folder / f"{TABLE}.parquet"
    if path is None or not path.is_file():
        return []
    low = words.strip().casefold()
    rows = read_table(path, ["query_id", "question", "hits", "title"]).to_pylist()
    held = [r for r in rows if low in r["question"].casefold() or low in r["query_id"].casefold()]
    return held[:MOST]


def answer_of(folder: Path, query_id: str) -> StoredAnswer | None:
    """Return the stored answer to a question; None where there is none."""
    path = ArtifactFolder(folder) / FILE
    return find_answer(path, query_id) if path.is_file() else None


def shown_hits(stored: StoredAnswer) -> list[ShownHit]:
    """Return the passages of an answer as they are shown."""
    border = (stored.border or "").strip()
    return [
        ShownHit(hit, _keys(hit), tuple(pieces_of(hit.text, hit.keys, border)))
        for hit in stored.answer.hits
    ]


def _keys(hit: Hit) -> tuple[ShownKey, ...]:
    heaviest = sorted(hit.keys, key=lambda key: -key.weight)[:MOST_KEYS]
    most = max((key.weight for key in heaviest), default=0.0)
    return tuple(ShownKey(key, key.weight / most if most > 0 else 0.0) for key in heaviest)


def pieces_of(text: str, keys: list[HitKey], border: str) -> list[tuple[str, bool]]:
    """Return a text in pieces; a piece that an n-gram of its body says is true."""
    marks = bytearray(len(text))
    for key in keys:
        words = key.text.replace(border, "").strip() if border else key.text.strip()
        start = text.find(words) if words else -1
        while start >= 0:
            marks[start : start + len(words)] = b"\x01" * len(words)
            start = text.find(words, start + 1)
    pieces: list[tuple[str, bool]] = []
    begin = 0
    for end in range(1, len(text) + 1):
        if end == len(text) or marks[end] != marks[begin]:
            pieces.append((text[begin:end], bool(marks[begin])))
            begin = end
    return pieces


def dropped(folders: list[Path], query_id: str) -> Rows:
    """Return what the beam dropped of a question's positives, heaviest first, of any replay."""
    rows: Rows = []
    for folder in folders:
        path = folder / f"{PRUNED}.parquet"
        if path.is_file():
            rows += read_where(path, [("query_id", "=", query_id)]).to_pylist()
    return sorted(rows, key=lambda row: -row["weight"])[:MOST]
