"""The choice for an index: its own documents, the profiles that are to be added."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from argus.encoders import EmbeddingStore, Encoder, embed
from argus.encoders import documents as as_documents
from argus.encoders import queries as as_queries
from argus.encoders.store import store_of
from argus.errors import InputError
from argus.indexes.blend import RELEVANCE_WEIGHT, check_weight
from argus.indexes.fold import ORIGINAL
from argus.indexes.views import ViewIndex
from argus.jobs.workspace import require_some
from argus.scenarios.ablation.grid import Documents, embed_scenarios
from argus.scenarios.cells import AUTO, WEIGHTS
from argus.scenarios.choice.choose import choose, without_scenarios
from argus.scenarios.choice.summary import ChoiceFigures
from argus.scenarios.needs.findings import Need, Vectors
from argus.scenarios.profile import COMPONENT, Component, Profiled, needs

MOST = 1_000
"""Documents whose needs are asked at most, drawn at random."""
LEAST = 2
"""Scenarios of a document that asks: one is held out, another one stays."""
SEED = 0

AnyComponent: TypeAlias = Component | Literal["auto"]
AnyWeight: TypeAlias = float | Literal["auto"] | None


@dataclass(frozen=True)
class Selection:
    """Indexed component, and λ. None where none is kept. choice: how, where needs chose."""

    component: Component
    weight: float | None
    choice: ChoiceFigures | None = None


def selection(
    index: ViewIndex,
    profiles: Mapping[str, Profiled],
    model: Encoder,
    component: AnyComponent,
    weight: AnyWeight,
    *,
    seed: int = SEED,
) -> Selection:
    """Return component and λ as they are named, or as held-out needs choose where one is `auto`.

    Raises InputError for a λ that is not from 0 to 1, and where no document has two scenarios.
    """
    number = None if weight is None or isinstance(weight, str) else check_weight(weight)
    if isinstance(component, Component) and not isinstance(weight, str):
        return Selection(component, number)
    components = (component,) if isinstance(component, Component) else tuple(Component)
    alone = RELEVANCE_WEIGHT if number is None else number
    weights = WEIGHTS if isinstance(weight, str) else (alone,)
    vectors = _vectors(index, profiles, model, components, seed)
    choice = choose(vectors, components, weights, seed=seed)
    profiled = sum(p.profile is not None for p in vectors.documents.profiles.values())
    without = len(vectors.documents.ids) - profiled
    figures = choice.summary(without_scenarios(vectors, choice.cell, without))
    number = choice.cell.weight if weight is not None else None
    return Selection(choice.cell.component, number, figures)


def _vectors(
    index: ViewIndex,
    profiles: Mapping[str, Profiled],
    model: Encoder,
    components: Sequence[Component],
    seed: int,
) -> Vectors:
    """Embed the needs that ask, and the scenarios that are searched."""
    asking = _asking(profiles, seed)
    with EmbeddingStore(
        store_of(index.path), fingerprint=model.fingerprint, dim=model.dim
    ) as store:
        queries = embed(as_queries([n.text for n in asking]), model, store, what="needs")
        texts = embed_scenarios(
            profiles.values(),
            tuple(dict.fromkeys([*components, COMPONENT])),
            lambda texts: embed(as_documents(texts), model, store, what="scenarios"),
        )
    why = next(iter(queries.failures.values()), "")
    require_some(len(queries.vectors), "need has a vector", why)
    return Vectors(
        documents=_documents(index, profiles), document_failures={}, texts=texts, needs=asking,
        embedded=queries.ok, queries=queries.vectors, need_failures=queries.failures,
    )  # fmt: skip


def of_several(profiles: Mapping[str, Profiled]) -> dict[str, Profiled]:
    """Return the profiles of two scenarios or more, of which one can be held out."""
    return {
        doc: p
        for doc, p in profiles.items()
        if p.profile is not None and len(p.profile.scenarios) >= LEAST
    }


def _asking(profiles: Mapping[str, Profiled], seed: int) -> list[Need]:
    """Return the needs of documents with two scenarios or more. InputError where none has."""
    several = of_several(profiles)
    if not several:
        raise InputError(
            f"{AUTO}, and no document with {LEAST} scenarios",
            expected="needs of which one can be held out",
            fix="Name --component and --lambda, or leave them out.",
            where="--component",
        )
    ids = sorted(several)
    drawn = np.random.default_rng(seed).permutation(len(ids))[:MOST]
    return [Need(*need) for need in needs({ids[i]: several[ids[i]] for i in drawn})]


def _documents(index: ViewIndex, profiles: Mapping[str, Profiled]) -> Documents:
    """Return the documents of an index by their own text, as no remedy has touched them."""
    snapshot = index.snapshot(ORIGINAL)
    own = [i for i, view in enumerate(snapshot.views) if view.kind == ORIGINAL]
    ids = [snapshot.views[i].doc_id for i in own]
    return Documents(ids, snapshot.vectors[own], {d: profiles[d] for d in ids if d in profiles})
