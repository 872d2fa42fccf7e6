"""What judges the candidates: judged questions, or needs that are held out of the profiles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from argus.data.types import Qrels, Query
from argus.evaluation.judged import JudgedQueries
from argus.evaluation.parents import ParentFold, fold_system
from argus.evaluation.systems import System, missing_gold
from argus.scenarios.profile import Profiled

JUDGED, NEEDS, DEFAULT = "judged questions", "held-out needs", "nothing"


@dataclass(frozen=True)
class Questions:
    """Queries with their relevant documents."""

    kind: str
    queries: list[Query]
    qrels: Qrels
    fold: ParentFold | None = None
    """Of chunks to the documents that are relevant."""

    def relevant(self) -> list[list[str]]:
        """Return the relevant documents, by question."""
        grades = (self.qrels[query.id] for query in self.queries)
        return [[doc for doc, grade in of_one.items() if grade > 0] for of_one in grades]


def of_judged(judged: JudgedQueries, documents: Iterable[str]) -> Questions:
    """Return the judged questions that can be measured: those with a relevant document.

    documents: ids of the index. InputError where it holds none of the relevant documents.
    """
    index, fold = System("the index", {}, documents=frozenset(documents)), judged.fold
    missing_gold(index if fold is None else fold_system(index, fold), judged.judged)
    return Questions(JUDGED, list(judged.judged.queries.values()), judged.judged.qrels, fold)


def hold_out_needs(
    profiles: Mapping[str, Profiled], most: int, seed: int
) -> tuple[Questions, dict[str, Profiled]]:
    """Return one need per document of several as a question, and the profiles without those.

    Documents of one need keep it. Of many documents `most` are drawn.
    """
    several = sorted(
        doc for doc, p in profiles.items() if p.profile is not None and len(_needs(p)) > 1
    )
    rng = np.random.default_rng(seed)
    drawn = [several[i] for i in sorted(rng.permutation(len(several))[:most])]
    queries: list[Query] = []
    qrels: Qrels = {}
    rest = dict(profiles)
    for doc in drawn:
        profiled = profiles[doc]
        assert profiled.profile is not None
        needs = _needs(profiled)
        text = needs[int(rng.integers(len(needs)))]
        queries.append(Query(f"need of {doc}", text))
        qrels[f"need of {doc}"] = {doc: 1}
        others = tuple(s for s in profiled.profile.scenarios if s.information_need.strip() != text)
        rest[doc] = replace(profiled, profile=replace(profiled.profile, scenarios=others))
    return Questions(NEEDS, queries, qrels), rest


def _needs(profiled: Profiled) -> list[str]:
    assert profiled.profile is not None
    needs = (s.information_need.strip() for s in profiled.profile.scenarios)
    return list(dict.fromkeys(need for need in needs if need))
