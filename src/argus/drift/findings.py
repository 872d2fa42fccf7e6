"""Say of each chunk and source how it has drifted, and what to do about it.

`find`: chunks, sources, the sources that chunks name, an `Alignment` -> a `Finding` for each chunk
or source that is not as it should be. What a payload says counts before what texts tell: a hash
that is still its source's, then a path, then words.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from enum import StrEnum

import numpy as np
from typing_extensions import TypedDict

from argus.data.types import IntArray
from argus.drift.align import WHOLE, WIDTH, Alignment
from argus.drift.sources import ABSENT, NO_NAME, UNREAD, Chunks, Sources

# Share of a source in chunks, of whatever other source, from which it is not missing.
ELSEWHERE = 0.5
# Words, and share of a source, that stand behind all its chunks, from which it is cut off.
TAIL, TAIL_SHARE = 30, 0.1
# Share of the longer of two chunks of a source that both span, from which they are duplicates.
SPANNED = 0.8


class Drift(StrEnum):
    """How a chunk or source has drifted, the worst first."""

    STALE = "stale"
    ORPHAN = "orphan"
    MOVED = "moved"
    DUPLICATE = "duplicate"
    MISSING = "missing"
    TRUNCATED = "truncated"
    UNKNOWN = "unknown"


ACTIONS = {
    Drift.STALE: "re-ingest", Drift.ORPHAN: "delete", Drift.MOVED: "re-ingest",
    Drift.DUPLICATE: "delete", Drift.MISSING: "ingest", Drift.TRUNCATED: "re-ingest",
    Drift.UNKNOWN: "look",
}  # fmt: skip


class Finding(TypedDict):
    """One row per chunk or source that has drifted.

    id: of the chunk; empty where it is a source.
    source: the source, as far as it is known.
    kind: stale, orphan, moved, duplicate, missing, truncated or unknown.
    action: re-ingest, delete, ingest or look.
    reason: why, in words.
    rank: the best rank at which the chunk came back. None: it did not, or was not asked for.
    asked_by: what brought it back: its title, its first sentence, its vector, or a question's id.
    """

    id: str
    source: str
    kind: str
    action: str
    reason: str
    rank: int | None
    asked_by: str


def finding(kind: Drift, reason: str, *, id_: str = "", source: str = "") -> Finding:
    """Return a row, of which no rank is known yet."""
    return {
        "id": id_, "source": source, "kind": str(kind), "action": ACTIONS[kind], "reason": reason,
        "rank": None, "asked_by": "",
    }  # fmt: skip


def find(
    chunks: Chunks, sources: Sources, values: Sequence[str], named: IntArray,
    same_hash: Sequence[bool | None], found: Alignment,
) -> list[Finding]:  # fmt: skip
    """Return what has drifted: chunks in their order, then sources.

    values, named: what chunks name as their source, and its row, as `names_of` returns them.
    same_hash: whether it has the hash that a chunk gives.
    """
    rows: list[Finding] = []
    kinds: list[Drift | None] = []
    ids = [document.id for document in sources.documents]
    for row, chunk in enumerate(chunks.documents):
        kind, reason, source = _judge(row, named, same_hash, found)
        kinds.append(kind)
        name = ids[source] if source >= 0 else values[row]
        if kind is not None:
            rows.append(finding(kind, reason.format(value=values[row]), id_=chunk.id, source=name))
    copies = _duplicates(chunks, kinds, named, found)
    rows += [
        finding(Drift.DUPLICATE, reason, id_=chunks.documents[row].id,
                source=ids[found.source[row]] if found.source[row] >= 0 else values[row])
        for row, reason in copies.items()
    ]  # fmt: skip
    order = {chunk.id: row for row, chunk in enumerate(chunks.documents)}
    rows.sort(key=lambda one: order[one["id"]])
    return [*rows, *_of_sources(sources, kinds, named, found)]


def _judge(
    row: int, named: IntArray, same_hash: Sequence[bool | None], found: Alignment
) -> tuple[Drift | None, str, int]:
    """Return how a chunk has drifted, why, and the row of its source."""
    name, source, best = int(named[row]), int(found.source[row]), int(found.best[row])
    changed, words = int(found.changed[row]), int(found.words[row])
    is_short = words < WIDTH or (words < 2 * WIDTH and found.share[row] == 0)
    if same_hash[row]:
        return None, "", name
    if name == UNREAD:
        return Drift.UNKNOWN, "its source {value} is there and cannot be read", name
    if name == ABSENT:
        if found.best_share[row] >= WHOLE:
            return Drift.MOVED, "it names {value}, which is not there; its text is", best
        return Drift.ORPHAN, "its source {value} is not there", name
    if same_hash[row] is False and not words:
        return Drift.STALE, "its source has another hash, or was written later", name
    if is_short and not found.is_inside[row]:
        why = f"{words} words are too few to tell" if words else "no text, and no hash, to tell by"
        return Drift.UNKNOWN, why, name
    if name >= 0 and not is_short and source != name:
        return Drift.MOVED, "its text is not in {value} any more, but in another source", best
    if source < 0 and not is_short:
        return Drift.ORPHAN, "no source has its text", NO_NAME
    if changed and not is_short:
        return Drift.STALE, f"its source changed since: {changed} of {words} words", source
    return None, "", source


def _duplicates(
    chunks: Chunks, kinds: Sequence[Drift | None], named: IntArray, found: Alignment
) -> dict[int, str]:
    """Return rows of chunks that say what an earlier one says, and why.

    Of two sources that have one text, each may have its chunk.
    """
    copies: dict[int, str] = {}
    first: dict[tuple[bytes, int], int] = {}
    of_source: dict[int, list[int]] = defaultdict(list)
    for row, kind in enumerate(kinds):
        if kind is not None or found.words[row] < WIDTH:
            continue
        source = int(named[row] if named[row] >= 0 else found.source[row])
        kept = first.setdefault((found.keys[row], source), row)
        if kept != row:
            copies[row] = f"the same as {chunks.documents[kept].id}"
        elif found.source[row] >= 0:
            of_source[int(found.source[row])].append(row)
    for rows in of_source.values():
        rows.sort(key=lambda row: (found.begin[row], -found.end[row], row))
        kept = rows[0]
        for row in rows[1:]:
            (a, b), (c, d) = ((found.begin[one], found.end[one]) for one in (kept, row))
            if min(b, d) - c >= SPANNED * max(b - a, d - c):
                copies[row] = f"nearly the same as {chunks.documents[kept].id}"
            else:
                kept = row
    return copies


def _of_sources(
    sources: Sources, kinds: Sequence[Drift | None], named: IntArray, found: Alignment
) -> Iterator[Finding]:
    """Yield sources of which nothing, or only the first part, is in chunks."""
    for id_, why in sources.unread.items():
        yield finding(Drift.UNKNOWN, why, source=id_)
    used = {*named.tolist(), *found.source.tolist()}
    lost = np.zeros(len(found.size), np.int64)  # words that stood there, of stale chunks
    np.add.at(lost, np.maximum(found.source, 0), np.where(found.source >= 0, found.changed, 0))
    for row, document in enumerate(sources.documents):
        size, tail = int(found.size[row]), int(found.tail[row])
        if row not in used:
            if size < WIDTH:
                why = f"{size} words are too few to tell"
                yield finding(Drift.UNKNOWN, why, source=document.id)
            elif (named >= 0).any() or found.elsewhere[row] < ELSEWHERE:
                yield finding(Drift.MISSING, "no chunk is of it", source=document.id)
            continue
        is_begun = found.covered[row] >= 0.5 * (size - tail) > 0
        if is_begun and tail - lost[row] >= max(TAIL, TAIL_SHARE * size):
            why = f"its last {tail:,} of {size:,} words are in no chunk: cut off, or added since"
            yield finding(Drift.TRUNCATED, why, source=document.id)
