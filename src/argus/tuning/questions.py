"""The questions of a trial: judged ones, or information needs that are held out of profiles.

`of_judged` and `hold_out_needs`: their inputs -> `Questions`, for `argus.repair.job`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from argus.data.types import Qrels, Query
from argus.evaluation.judged import JudgedQueries, ParentFold, fold_system
from argus.evaluation.systems import System, missing_gold
from argus.scenarios.profile import Profiled

JUDGED, NEEDS = "judged questions", "held-out needs"


@dataclass(frozen=True)
class Questions:
    """Queries with their relevant documents. fold: of chunks to these documents."""

    kind: str
    queries: list[Query]
    qrels: Qrels
    fold: ParentFold | None = None


def of_judged(judged: JudgedQueries, documents: Iterable[str]) -> Questions:
    """Return the judged questions that have a relevant document.

    documents: ids of the index. Raises InputError if it has none of the relevant documents.
    """
    index, fold = System("the index", {}, documents=frozenset(documents)), judged.fold
    missing_gold(index if fold is None else fold_system(index, fold), judged.judged)
    return Questions(JUDGED, list(judged.judged.queries.values()), judged.judged.qrels, fold)


def hold_out_needs(
    profiles: Mapping[str, Profiled], max_needs: int, seed: int
) -> tuple[Questions, dict[str, Profiled]]:
    """Return one need per document of several as a question, and the profiles without those.

    Documents of one need keep it. At most `max_needs` documents are drawn.
    """
    needs_of: dict[str, list[str]] = {}
    for doc, profiled in sorted(profiles.items()):
        scenarios = profiled.profile.scenarios if profiled.profile is not None else ()
        needs = list(dict.fromkeys(need for s in scenarios if (need := s.information_need.strip())))
        if len(needs) > 1:
            needs_of[doc] = needs
    several = list(needs_of)
    rng = np.random.default_rng(seed)
    queries: list[Query] = []
    qrels: Qrels = {}
    rest = dict(profiles)
    for i in sorted(rng.permutation(len(several))[:max_needs]):
        doc = several[i]
        profile = profiles[doc].profile
        assert profile is not None
        text = needs_of[doc][int(rng.integers(len(needs_of[doc])))]
        queries.append(Query(f"need of {doc}", text))
        qrels[f"need of {doc}"] = {doc: 1}
        others = tuple(s for s in profile.scenarios if s.information_need.strip() != text)
        rest[doc] = replace(profiles[doc], profile=replace(profile, scenarios=others))
    return Questions(NEEDS, queries, qrels), rest
