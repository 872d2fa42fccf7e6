"""Near-duplicates among texts: pairs that share most of their runs of words."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from argus.data.provenance import content_hash

RUN = 4
"""Words of a shingle."""
LEAST_SHINGLES = 6
"""A text with fewer tells too little."""
CROWD = 20
"""A shingle of more texts is a template's: it finds no pair."""
SKETCH = 24
"""Shingles by which a text is looked for: those of the smallest hashes (Broder, 1997)."""
_WORD = re.compile(r"\w+")


def shingles(text: str) -> frozenset[bytes]:
    """Return hashes of all runs of words."""
    words = _WORD.findall(text.lower())
    runs = {" ".join(words[i : i + RUN]) for i in range(len(words) - RUN + 1)}
    return frozenset(content_hash(run, size=8) for run in runs)


def near_duplicates(texts: Sequence[str], least: float) -> Iterator[tuple[int, int, float]]:
    """Yield pairs of numbers, the smaller first, with a Jaccard similarity of at least `least`.

    Two texts are compared when their sketches meet in a shingle that no crowd of texts has.
    """
    sets = [shingles(text) for text in texts]
    holders: defaultdict[bytes, list[int]] = defaultdict(list)
    for i, hashes in enumerate(sets):
        if len(hashes) >= LEAST_SHINGLES:
            for one in sorted(hashes)[:SKETCH]:
                holders[one].append(i)
    meetings: Counter[tuple[int, int]] = Counter()
    for group in holders.values():
        if len(group) <= CROWD:
            meetings.update((i, j) for n, i in enumerate(group) for j in group[n + 1 :])
    for i, j in sorted(meetings):
        similarity = len(sets[i] & sets[j]) / len(sets[i] | sets[j])
        if similarity >= least:
            yield i, j, similarity
