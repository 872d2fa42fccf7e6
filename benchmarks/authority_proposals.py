"""Proposed supersessions on real collections: what is found, and whether confidences hold.

SCOTUS (41 listed overrulings over 3,699 case summaries, and 8 more that the summaries state in
words and the list lacks, in `MORE`), GHSA (159 advisories and their release notes) and the
standard library's documentation (deprecations as `argus.knowledge.deprecations` reads them from
docstrings and from warnings in the source; proposals see docstrings alone). With a folder as
ARGUS_RFCS also RFCs, as the RFC Editor describes each (`rfc2616.json`; Debian's doc-rfc-std and
doc-rfc-old-std hold 840): title, month and abstract are seen, what it obsoletes is the label.
Three tellings: a collection told by a model learnt on the two others of SCOTUS, GHSA and the
standard library (RFCs: on all three, so that this model is the one that ships); by one learnt on
half of its own decisions, drawn by superseded document, and the others; and by the words of
supersession alone, each proposal equally sure. With a path as ARGUS_WEIGHTS the model of the three
is written there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from argus.authority.domains import Domain
from argus.authority.edges import read_edges
from argus.authority.learning.config import ProposeConfig
from argus.authority.learning.model import fit_model
from argus.authority.learning.pairs import Clues, Pair, candidate_pairs
from argus.authority.learning.quality import quality
from argus.authority.records import Record
from argus.authority.times import parse_moment
from argus.data.provenance import content_hash
from argus.knowledge.deprecations import deprecations
from argus.knowledge.stdlib import standard_library, walk_members
from benchmarks.shared import collection

MORE = """
1940_1955.321us649 1900_1940.295us45
1956.342 1850_1900.163us537
1965.6 1958.4
2008.07-751 2000.99-1977
2008.08-205 1989.88-1569
2018.17-647 1984.84-4
2021.19-1392 1971.70-18
2021.19-1392 1991.91-744
"""
"""Overrulings that a summary states ("The Court overruled its decision in Grovey v. Townsend"), and
the list of SCOTUS lacks: superseder and superseded, read by hand among the proposals."""
STATED = ("stated", "stated_short", "stated_by_older")

Labelled = list[tuple[Pair, Clues, bool]]


def run() -> dict[str, Any]:
    parts = {"scotus": _folder("scotus"), "ghsa": _folder("ghsa"), "stdlib": _stdlib()}
    told = parts | ({"rfc": _rfcs(Path(place))} if (place := os.environ.get("ARGUS_RFCS")) else {})
    result: dict[str, Any] = {}
    for name, (pairs, gold) in told.items():
        others = [p for other, part in parts.items() if other != name for p in _labelled(*part)]
        own = _labelled(pairs, gold)
        half = [p for p in own if _is_first(p[0])]
        rest = [p for p in own if not _is_first(p[0])]
        rest_gold = {pair for pair in gold if not _is_first(pair)}
        words = {p: float(any(c.values.get(s) for s in STATED)) for p, c in pairs.items()}
        result[name] = {
            "candidates": len(pairs),
            "of the others": _told(others, own, gold),
            "of half of its own and the others": _told([*half, *others], rest, rest_gold),
            "words alone": quality(words, gold, bounds=(0.5,)),
        }
    model = _fit([p for part in parts.values() for p in _labelled(*part)])
    if place := os.environ.get("ARGUS_WEIGHTS"):
        model.write(Path(place))
    return {**result, "weights": model.values}


def _folder(name: str) -> tuple[dict[Pair, Clues], set[Pair]]:
    folder = collection(f"authority/{name}")
    records = Domain("records", ()).read(folder / "corpus.jsonl")
    gold = {(e.superseder, e.superseded) for e in read_edges(folder / "supersedes.jsonl")}
    if name == "scotus":
        for line in MORE.split("\n")[1:-1]:
            newer, older = line.split()
            gold.add((f"oyez:{newer}", f"oyez:{older}"))
    return _candidates(records), gold


def _stdlib() -> tuple[dict[Pair, Clues], set[Pair]]:
    base = standard_library()
    texts = {member.name: member.doc for member in walk_members()}
    records = [Record(id_, "documentation", text=texts.get(id_, "")) for id_ in base.index]
    return _candidates(records), {(d.replacement_id, d.deprecated_id) for d in deprecations(base)}


def _rfcs(folder: Path) -> tuple[dict[Pair, Clues], set[Pair]]:
    files = sorted(folder.rglob("rfc*.json"))
    rows = {row["doc_id"]: row for row in (json.loads(f.read_text("utf-8")) for f in files)}
    records = [
        Record(
            id_, "rfc", parse_moment(row["pub_date"]), {"number": f"RFC {int(id_[3:])}"},
            title=_line(row["title"]), text=_line(row["abstract"]),
        )
        for id_, row in rows.items()
    ]  # fmt: skip
    gold = {(id_, older) for id_, row in rows.items() for older in row["obsoletes"]}
    return _candidates(records), {pair for pair in gold if pair[1] in rows}


def _line(text: str | None) -> str:
    return " ".join((text or "").split())


def _candidates(records: Sequence[Record]) -> dict[Pair, Clues]:
    return candidate_pairs(records, similarity=ProposeConfig().similarity)


def _labelled(pairs: dict[Pair, Clues], gold: set[Pair]) -> Labelled:
    return [(pair, clues, pair in gold) for pair, clues in pairs.items()]


def _is_first(pair: Pair) -> bool:
    return content_hash("half", pair[1], size=1)[0] < 128


def _fit(labelled: Iterable[tuple[Pair, Clues, bool]]) -> Any:
    several = list(labelled)
    return fit_model(
        [c.row() for _, c, _ in several], [y for *_, y in several], [p[1] for p, *_ in several]
    )


def _told(teach: Labelled, tell: Labelled, gold: set[Pair]) -> Any:
    values = _fit(teach).confidences([clues.row() for _, clues, _ in tell])
    return quality({pair: float(p) for (pair, *_), p in zip(tell, values, strict=True)}, gold)
