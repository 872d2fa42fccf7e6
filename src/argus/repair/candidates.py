"""The remedies that may help an index, and what each needs."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from argus.encoders import Encoder
from argus.errors import ArgusError
from argus.evaluation.parents import ParentFold
from argus.indexes.views import ViewIndex
from argus.remedies.blend.job import blend_index
from argus.remedies.repair.config import ReferenceConfig
from argus.remedies.repair.expand import expand_index
from argus.remedies.repair.remedy import rollback
from argus.scenarios.adapt.job import adapt_index
from argus.scenarios.cells import AUTO
from argus.scenarios.choice.of_index import of_several
from argus.scenarios.profile import Profiled
from argus.scenarios.profiles.index import add_scenarios

BLEND, EXPAND, SCENARIOS, ADAPT = "blend", "expand", "scenarios", "adapt"
Apply = Callable[[Path], str]
"""Adds a remedy to the index in a folder; returns its id. Raises ArgusError where it cannot."""


@dataclass(frozen=True)
class Materials:
    """What the remedies are made of, beside the index."""

    encoder: Encoder
    reference: ReferenceConfig | None = None
    """For expansions."""
    profiles: Mapping[str, Profiled] | None = None
    """For scenarios, and for what corrects queries."""
    fold: ParentFold | None = None
    """The document of each chunk, for the blend."""


@dataclass(frozen=True)
class Candidate:
    """One remedy, or several one after another."""

    name: str
    steps: tuple[tuple[str, Apply], ...]

    def apply(self, index: Path) -> list[str]:
        """Add it to an index; return the ids of its remedies that were not there.

        Where a step fails, those before it are taken out again.
        """
        before = {remedy.id for remedy in ViewIndex.open(index).remedies()}
        try:
            added = [step(index) for _, step in self.steps]
        except BaseException:
            take_out(index, before)
            raise
        return [remedy for remedy in added if remedy not in before]


def candidates(materials: Materials) -> tuple[list[Candidate], dict[str, str]]:
    """Return what can be tried, alone and together with the blend, and why the rest cannot."""
    there: dict[str, Apply] = {}
    missing: dict[str, str] = {}
    if (profiles := materials.profiles) is not None:
        there[SCENARIOS] = lambda index: _scenarios(index, profiles, materials.encoder)
        there[ADAPT] = lambda index: _adapt(index, profiles, materials.encoder)
    else:
        missing |= dict.fromkeys((SCENARIOS, ADAPT), "no profiles (--profiles, or --model)")
    if (reference := materials.reference) is not None:
        there[EXPAND] = lambda index: (
            expand_index(index, reference=reference, encoder=materials.encoder).remedy
        )
    else:
        missing[EXPAND] = "no knowledge base (--kb)"
    there[BLEND] = lambda index: (
        blend_index(index, encoder=materials.encoder, fold=materials.fold).remedy
    )
    return [_candidate(names, there) for names in _sets(list(there))], missing


def _scenarios(index: Path, profiles: Mapping[str, Profiled], encoder: Encoder) -> str:
    """Index scenarios by the component and λ that held-out needs choose; M+E where none can be."""
    if not of_several(profiles):
        return add_scenarios(index, profiles, encoder=encoder).remedy
    return add_scenarios(index, profiles, component=AUTO, weight=AUTO, encoder=encoder).remedy


def _adapt(index: Path, profiles: Mapping[str, Profiled], encoder: Encoder) -> str:
    """Learn a correction of queries; ArgusError where held-out needs do not improve by one."""
    result = adapt_index(index, profiles=profiles, encoder=encoder)
    if not result.summary["prescribed"]:
        raise ArgusError("held-out needs do not improve by a correction of queries")
    return result.remedy


def _candidate(names: Sequence[str], there: Mapping[str, Apply]) -> Candidate:
    return Candidate(" + ".join(names), tuple((name, there[name]) for name in names))


def _sets(names: list[str]) -> list[tuple[str, ...]]:
    """Return each name alone, and with the blend: in pairs, and all together."""
    sets: list[tuple[str, ...]] = [(name,) for name in names]
    sets += [pair for pair in combinations(names, 2) if BLEND in pair]
    return [*sets, tuple(names)] if len(names) > 2 else sets


def take_out(index: Path, but: Container[str]) -> None:
    """Roll back all remedies of an index but these, the latest first."""
    for remedy in reversed(ViewIndex.open(index).remedies()):
        if remedy.id not in but:
            rollback(index, remedy.id)


def attempt(candidate: Candidate, index: Path) -> str | None:
    """Add a candidate to an index; return why it could not be added, None where it was."""
    try:
        candidate.apply(index)
    except ArgusError as error:
        return str(error)
    return None
