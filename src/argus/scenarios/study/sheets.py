"""Draw up the sheets of a study: who sees which pair, in which order, scenarios on which side.

A sheet is a table for a spreadsheet and a page for a browser, which holds the same. Neither says
the content of a side: that stands in key.jsonl, which raters do not get.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any, Literal

from argus.data.provenance import content_hash
from argus.data.tables import harmless
from argus.data.types import Query
from argus.data.writing import write_whole
from argus.indexes.snapshot import Snapshot
from argus.scenarios.context import ContextHit
from argus.scenarios.qa.cases import Retrieved, context_hit
from argus.scenarios.qa.compare import Arm
from argus.scenarios.study.config import Criterion, StudyConfig, Versus
from argus.visible import visible

NO_SCENARIO = "no document that is shown has a scenario"
EQUAL_SIDES = "both sides show the same"
NOTHING = "nothing was retrieved"
# Headings that a rater reads before the parts of a scenario. No word of who made them.
TOPIC, NEED, EXPLANATION = "Topic", "Needed by", "How it helps"
A, B, TIE = "A", "B", "tie"
Side = Literal["A", "B"]
PLACE = ("sheet", "pair")  # Columns of a sheet that say which pair an answer is on.


@dataclass(frozen=True, slots=True)
class Shown:
    """One result as it is shown. parts: heading and text of each shown part."""

    doc_id: str
    text: str
    parts: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Pair:
    """A question with two lists of results.

    id: tells neither the comparison nor whose side is whose, and is no number to a spreadsheet.
    scenarios: with topic, need and explanation.
    """

    id: str
    versus: Versus
    query: Query
    scenarios: tuple[Shown, ...]
    rival: tuple[Shown, ...]


@dataclass(frozen=True, slots=True)
class NoPair:
    """A question that cannot be shown, and why.

    failed: whether something went wrong. If not, the comparison does not apply.
    """

    versus: Versus
    reason: str
    failed: bool = False


def pairs(
    queries: Sequence[Query], retrieved: Retrieved, snapshot: Snapshot, config: StudyConfig
) -> Iterator[Pair | NoPair]:
    """Yield every question in every comparison, in order.

    With `same_results` the rival shows the documents of the search with scenarios, else a
    comparison with the document alone shows those of the search without (SPIKE §4.3).
    """
    for query in queries:
        for versus in config.versus:
            if (failure := retrieved.failed.get(query.id)) is not None:
                yield NoPair(versus, failure, failed=True)
            else:
                yield _pair(query, versus, retrieved, snapshot, config)


def _pair(
    query: Query, versus: Versus, retrieved: Retrieved, snapshot: Snapshot, config: StudyConfig
) -> Pair | NoPair:
    def shown(arm: Arm, parts: Sequence[str]) -> tuple[Shown, ...]:
        ids = list(retrieved.runs[arm][query.id])[: config.k]
        hits = [context_hit(snapshot, id_, retrieved.vectors[query.id]) for id_ in ids]
        return tuple(_shown(hit, parts, config.max_chars) for hit in hits)

    is_same = versus is Versus.MAIN_TOPIC or config.same_results
    scenarios = shown(Arm.FUSED, (TOPIC, NEED, EXPLANATION))
    parts = (TOPIC,) if versus is Versus.MAIN_TOPIC else ()
    rival = shown(Arm.FUSED if is_same else Arm.DOCUMENTS, parts)
    if not scenarios or not rival:
        return NoPair(versus, NOTHING, failed=True)
    if not any(one.parts for one in scenarios):
        return NoPair(versus, NO_SCENARIO)
    if scenarios == rival:
        return NoPair(versus, EQUAL_SIDES)
    hashed = content_hash(str(config.seed), str(versus), query.id, size=6).hex()
    return Pair(f"p{hashed}", versus, query, scenarios, rival)


def _shown(hit: ContextHit, parts: Sequence[str], max_chars: int) -> Shown:
    text = hit.text if len(hit.text) <= max_chars else f"{hit.text[:max_chars].rstrip()} …"
    shown: dict[tuple[str, str], None] = {}
    for scenario in hit.scenarios:
        texts = (scenario.main_topic, scenario.information_need, scenario.explanation)
        for part in zip((TOPIC, NEED, EXPLANATION), texts, strict=True):
            if part[0] in parts and part[1].strip():
                shown[part] = None
    return Shown(hit.doc_id, text, tuple(shown))


@dataclass(frozen=True, slots=True)
class Place:
    """A pair on a sheet. sheet: from 1. side: of the results with scenarios."""

    sheet: int
    pair: Pair
    side: Side

    def column(self, side: Side) -> tuple[Shown, ...]:
        """Return the contents of a side."""
        return self.pair.scenarios if side == self.side else self.pair.rival


def places(pairs: Sequence[Pair], sheets: int, judges: int, seed: int) -> list[Place]:
    """Return the place of each pair: on `judges` sheets. Lengths of sheets differ by 1 at most.

    Everything is drawn by the pair's id, so it depends on no order of files. On each sheet
    scenarios stand on either side equally often, or once more.
    """
    order = sorted(pairs, key=lambda pair: _draw(seed, "order", pair.id))
    by_sheet: dict[int, list[Pair]] = {sheet: [] for sheet in range(1, sheets + 1)}
    for i, pair in enumerate(order):
        for j in range(judges):
            by_sheet[1 + (i * judges + j) % sheets].append(pair)
    rows = []
    for sheet, own in by_sheet.items():
        tossed = sorted(own, key=lambda pair: _draw(seed, f"side {sheet}", pair.id))
        first: dict[str, Side] = {p.id: A if (i + sheet) % 2 else B for i, p in enumerate(tossed)}  # type: ignore[misc]
        shuffled = sorted(own, key=lambda pair: _draw(seed, f"sheet {sheet}", pair.id))
        rows += [Place(sheet, pair, first[pair.id]) for pair in shuffled]
    return rows


def _draw(seed: int, what: str, id_: str) -> bytes:
    return content_hash(str(seed), what, id_, size=8)


def key_row(place: Place) -> dict[str, Any]:
    """Return the key's line of a pair on a sheet."""
    return {
        "sheet": place.sheet,
        "pair": place.pair.id,
        "versus": str(place.pair.versus),
        "query_id": place.pair.query.id,
        "side": place.side,
        "scenarios": [shown.doc_id for shown in place.pair.scenarios],
        "rival": [shown.doc_id for shown in place.pair.rival],
    }


def write_sheet(folder: Path, sheet: int, rows: Sequence[Place]) -> list[Path]:
    """Write a sheet as CSV and as HTML, whole or not at all. Return both paths."""
    paths = [folder / f"sheet-{sheet}.csv", folder / f"sheet-{sheet}.html"]
    for path, text in zip(paths, (_table(rows), _page(sheet, rows)), strict=True):
        write_whole(path, text)
    return paths


def _table(rows: Sequence[Place]) -> str:
    """Return a sheet as CSV. Answers are to be written into its last four columns.

    It begins with a byte order mark, by which spreadsheets know UTF-8.
    """
    out = StringIO()
    write = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\r\n").writerow
    write([*PLACE, "question", A, B, *Criterion])
    for place in rows:
        texts = [place.pair.query.text, *(_in_words(place.column(side)) for side in ("A", "B"))]
        cells = (harmless(visible(text)) for text in texts)
        write([place.sheet, place.pair.id, *cells, *[""] * len(Criterion)])
    return "\ufeff" + out.getvalue()


def _in_words(column: Sequence[Shown]) -> str:
    blocks = []
    for i, shown in enumerate(column, 1):
        lines = [f"[{i}] {shown.text}", *(f"{name}: {text}" for name, text in shown.parts)]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def _page(sheet: int, rows: Sequence[Place]) -> str:
    """Return a sheet as a page: nothing is fetched, and answers are saved as CSV by a button."""
    import jinja2

    from argus.reports import environment

    pages = environment(jinja2.PackageLoader("argus", "scenarios/study"))
    key = content_hash(*(f"{place.pair.id}{place.side}" for place in rows), size=6).hex()
    return pages.get_template("sheet.html.j2").render(
        sheet=sheet, rows=rows, criteria=list(Criterion), sides=[A, B], tie=TIE,
        place=PLACE, study=key, n=len(rows),
    )  # fmt: skip
