"""Compared pairs: results with their scenarios, and the same question without them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from argus.data.provenance import content_hash
from argus.data.types import FloatArray, Query
from argus.indexes.snapshot import Snapshot
from argus.indexes.views import ViewScenario
from argus.scenarios.context import ContextHit
from argus.scenarios.qa.cases import Retrieved, context_hit
from argus.scenarios.qa.compare import Arm
from argus.scenarios.study.config import StudyConfig, Versus

NO_SCENARIO = "no document that is shown has a scenario"
EQUAL_SIDES = "both sides show the same"
NOTHING = "nothing was retrieved"
TOPIC, NEED, EXPLANATION = "Topic", "Needed by", "How it helps"
"""Headings that a rater reads before the parts of a scenario. No word of who made them."""


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
    """

    id: str
    versus: Versus
    query: Query
    scenarios: tuple[Shown, ...]
    """With topic, need and explanation."""
    rival: tuple[Shown, ...]


@dataclass(frozen=True, slots=True)
class NoPair:
    """A question that cannot be shown, and why."""

    versus: Versus
    query_id: str
    reason: str
    failed: bool = False
    """Whether something went wrong. If not, the comparison does not apply."""


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
                yield NoPair(versus, query.id, failure, failed=True)
                continue
            yield _pair(query, versus, retrieved, snapshot, config)


def _pair(
    query: Query, versus: Versus, retrieved: Retrieved, snapshot: Snapshot, config: StudyConfig
) -> Pair | NoPair:
    vector = retrieved.vectors[query.id]
    hits = _hits(list(retrieved.runs[Arm.FUSED][query.id])[: config.k], snapshot, vector)
    alone = hits
    if versus is Versus.DOCUMENT and not config.same_results:
        alone = _hits(list(retrieved.runs[Arm.DOCUMENTS][query.id])[: config.k], snapshot, vector)
    if not hits or not alone:
        return NoPair(versus, query.id, NOTHING, failed=True)
    if not any(hit.scenarios for hit in hits):
        return NoPair(versus, query.id, NO_SCENARIO)
    whole = (TOPIC, NEED, EXPLANATION)
    scenarios = tuple(_shown(hit, whole, config.max_chars) for hit in hits)
    parts = (TOPIC,) if versus is Versus.MAIN_TOPIC else ()
    rival = tuple(_shown(hit, parts, config.max_chars) for hit in alone)
    if scenarios == rival:
        return NoPair(versus, query.id, EQUAL_SIDES)
    hashed = content_hash(str(config.seed), str(versus), query.id, size=6).hex()
    return Pair(f"p{hashed}", versus, query, scenarios, rival)


def _hits(ids: Sequence[str], snapshot: Snapshot, vector: FloatArray) -> list[ContextHit]:
    return [context_hit(snapshot, doc_id, vector) for doc_id in ids]


def _shown(hit: ContextHit, parts: Sequence[str], max_chars: int) -> Shown:
    text = hit.text if len(hit.text) <= max_chars else f"{hit.text[:max_chars].rstrip()} …"
    parts_shown = [
        part for scenario in hit.scenarios for part in _told(scenario) if part[0] in parts
    ]
    return Shown(hit.doc_id, text, tuple(dict.fromkeys(parts_shown)))


def _told(scenario: ViewScenario) -> list[tuple[str, str]]:
    parts = {
        TOPIC: scenario.main_topic,
        NEED: scenario.information_need,
        EXPLANATION: scenario.explanation,
    }
    return [(name, text) for name, text in parts.items() if text.strip()]
