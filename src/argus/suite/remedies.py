"""Apply the remedies of a suite: the settings of each kind, and the job that it runs.

Each kind is a job of `argus remedy`, on an index that a suite builds for one task. The kind
`authority` changes the answers of any retriever instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from argus.authority.config import CHAINS, PLACES, Chains, Places
from argus.data.types import Run
from argus.encoders import Encoder
from argus.errors import InputError, NothingToMend
from argus.evaluation.systems import System
from argus.indexes.blend import Blend, Weight
from argus.llm.config import ChatConfig
from argus.remedies.config import (
    TAU,
    ExpandConfig,
    ReferenceConfig,
    SentenceSettings,
    SynthesizeSettings,
    Tau,
)  # fmt: skip
from argus.repair.config import RepairConfig
from argus.scenarios.adapt.config import AdaptConfig, Unlabelled
from argus.scenarios.profile import COMPONENT
from argus.settings import Doc, Ge, check_settings
from argus.suite.config import ORIGINAL, SuiteRemedy, SuiteRetriever, SuiteTask
from argus.suite.toml import Table, keys_of
from argus.tasks.task import Task


@dataclass(frozen=True, kw_only=True)
class AtRisk:
    """Prediction of risk. A probe ships for the default encoder only."""

    probe: Annotated[Path | None, Doc("Folder from argus probe fit.")] = None
    tau: Tau = TAU

    def __post_init__(self) -> None:
        check_settings(self)


@dataclass(frozen=True, kw_only=True)
class Profiles:
    """Profiles of documents."""

    profiles: Annotated[Path | None, Doc("Profiles of documents (argus remedy scenarios).")] = None


@dataclass(frozen=True, kw_only=True)
class Scenarios:
    """Scenarios to index. component: also `auto`."""

    component: Annotated[str, Doc("M, I, E, M+E, I+E, or auto.")] = str(COMPONENT)
    weight: Weight = None

    def __post_init__(self) -> None:
        check_settings(self)


@dataclass(frozen=True, kw_only=True)
class Learning:
    """Texts to learn a correction of queries from, if nobody wrote needs."""

    learn_from: Annotated[Unlabelled | None, Doc("titles or sentences of the documents.")] = None

    def __post_init__(self) -> None:
        check_settings(self)


@dataclass(frozen=True, kw_only=True)
class AuthorityServing:
    """Ranking of controlling documents. anchors: None for all results."""

    anchors: Annotated[int | None, Ge(1), Doc("Results that are looked at.")] = None
    places: Annotated[Places, Doc("Where what supersedes is ranked.")] = PLACES
    chains: Annotated[Chains, Doc("Which chains of one scope are served.")] = CHAINS

    def __post_init__(self) -> None:
        check_settings(self)


@dataclass(frozen=True, kw_only=True)
class MaybeReference:
    """A knowledge base, or none."""

    reference: ReferenceConfig | None = None


@dataclass(frozen=True, kw_only=True)
class MaybeWriter:
    """A language model that writes. Without one, the knowledge base's descriptions are used."""

    model: ChatConfig | None = None


@dataclass(frozen=True)
class Patient:
    """An index to repair, and its encoder."""

    index: Path
    encoder: Encoder


Serve = Callable[..., Run]
"""Takes a task, a retriever's answers, the depth, and the configs of its kind."""


@dataclass(frozen=True)
class Kind:
    """A kind of remedy.

    apply: takes a patient and the configs. paths: settings that name files to read. needs: settings
    that it must have. serve: changes answers, of a kind that leaves the index as it is.
    """

    configs: tuple[type, ...]
    apply: Callable[..., None]
    paths: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    serve: Serve | None = None


def _blend(patient: Patient, blend: Blend, sentences: SentenceSettings) -> None:
    from argus.remedies.blend import blend_index

    blend_index(patient.index, blend, sentences=sentences, encoder=patient.encoder)


def _expand(
    patient: Patient, reference: ReferenceConfig, config: ExpandConfig, risk: AtRisk
) -> None:
    from argus.remedies.expansion import expand_index

    expand_index(
        patient.index, reference=reference, config=config, probe=risk.probe,
        encoder=patient.encoder, tau=risk.tau,
    )  # fmt: skip


def _synthesize(
    patient: Patient,
    reference: ReferenceConfig,
    settings: SynthesizeSettings,
    risk: AtRisk,
    writer: MaybeWriter,
) -> None:
    from argus.remedies.synthesis import synthesize_index

    synthesize_index(
        patient.index, reference=reference, config=settings.by(writer.model), probe=risk.probe,
        encoder=patient.encoder, tau=risk.tau,
    )  # fmt: skip


def _scenarios(patient: Patient, profiles: Profiles, scenarios: Scenarios) -> None:
    from argus.scenarios.cells import AUTO
    from argus.scenarios.profile import component
    from argus.scenarios.profiles.index import add_scenarios

    assert profiles.profiles is not None
    add_scenarios(
        patient.index, profiles.profiles, encoder=patient.encoder, weight=scenarios.weight,
        component=AUTO if scenarios.component == AUTO else component(scenarios.component),
    )  # fmt: skip


def _adapt(patient: Patient, profiles: Profiles, learning: Learning, config: AdaptConfig) -> None:
    from argus.scenarios.adapt.job import adapt_index

    result = adapt_index(
        patient.index, profiles=profiles.profiles, learn_from=learning.learn_from, config=config,
        encoder=patient.encoder,
    )  # fmt: skip
    if not result.summary["prescribed"]:
        raise NothingToMend("held-out needs do not improve by a correction of queries")


def _repair(
    patient: Patient, profiles: Profiles, maybe: MaybeReference, config: RepairConfig
) -> None:
    """Keep the repairs that held-out needs support. The task's judgements choose nothing."""
    from argus.repair.job import repair_index

    repair_index(
        patient.index, profiles=profiles.profiles, reference=maybe.reference, config=config,
        encoder=patient.encoder,
    )  # fmt: skip


def _untouched(_patient: Patient, *_: object) -> None:
    """Leave an index as it is."""


def _authority(task: Task, run: Run, depth: int, config: AuthorityServing) -> Run:
    """Serve the documents that control the results, by the task's relation (CAR, two stages)."""
    from argus.authority.benchmarks.judging import pipeline_relation
    from argus.authority.resolve import resolve

    if task.benchmark is None:
        raise NothingToMend("the task says of no document what supersedes it")
    return resolve(
        run, pipeline_relation(task.benchmark), k=depth, anchors=config.anchors,
        places=Places(config.places), chains=Chains(config.chains),
    )  # fmt: skip


KINDS = {
    ORIGINAL: Kind((), _untouched),
    "blend": Kind((Blend, SentenceSettings), _blend),
    "expand": Kind((ReferenceConfig, ExpandConfig, AtRisk), _expand, ("kb", "probe"), ("kb",)),
    "synthesize": Kind(
        (ReferenceConfig, SynthesizeSettings, AtRisk, MaybeWriter), _synthesize,
        ("kb", "probe"), ("kb",),
    ),
    "scenarios": Kind((Profiles, Scenarios), _scenarios, ("profiles",), ("profiles",)),
    "adapt": Kind((Profiles, Learning, AdaptConfig), _adapt, ("profiles",)),
    "repair": Kind((Profiles, MaybeReference, RepairConfig), _repair, ("profiles", "kb")),
    "authority": Kind((AuthorityServing,), _untouched, serve=_authority),
}  # fmt: skip
"""Kinds of remedies by their name in a TOML file."""


def keys_of_kind(kind: str) -> list[str]:
    """Return the keys that a remedy of this kind may have."""
    return ["name", "kind", *keys_of(*KINDS[kind].configs)]


def configs_of(table: Table, kind: str) -> list[Any]:
    """Return a remedy's settings as configs of its kind. Raises InputError for bad ones."""
    for key in KINDS[kind].needs:
        if key not in table.values:
            raise table.error(key, f"{kind} without {key!r}", f"{key} = ...", "Add it.")
    return [table.config(config) for config in KINDS[kind].configs]


def require_fit(remedy: SuiteRemedy, retriever: SuiteRetriever, table: Table) -> None:
    """Raise InputError for a remedy of vectors on a retriever without them."""
    fits_all = remedy.kind == ORIGINAL or KINDS[remedy.kind].serve is not None
    if fits_all or retriever.encoder is not None:
        return
    raise table.error(
        "remedies", f"{remedy.name!r} ({remedy.kind}) on {retriever.name!r}, {retriever.kind}",
        f"remedies that fit it: {ORIGINAL} and authority; the others mend an index of vectors",
        f'Set remedies = ["{ORIGINAL}"] of {retriever.name!r}.',
    )  # fmt: skip


def filled(
    values: Mapping[str, object], retriever: SuiteRetriever, task: SuiteTask
) -> dict[str, object]:
    """Return settings with the names of retriever and task in place of {retriever}, {task}."""

    def fill(value: object) -> object:
        if isinstance(value, list):
            return [fill(row) for row in value]
        if not isinstance(value, str):
            return value
        return value.replace("{task}", task.name).replace("{retriever}", retriever.name)

    return {key: fill(value) for key, value in values.items()}


def paths_in(values: Mapping[str, object], kind: str) -> Iterator[tuple[str, Path]]:
    """Yield the files and folders that a remedy's settings name, with their key."""
    for key in KINDS[kind].paths:
        value = values.get(key, [])
        for row in value if isinstance(value, list) else [value]:
            yield key, Path(str(row))


def apply_remedy(remedy: SuiteRemedy, table: Table, patient: Patient) -> None:
    """Add a remedy to an index. table: its settings, filled. Raises ArgusError on failure."""
    for key, path in paths_in(table.values, remedy.kind):
        if not path.exists():
            raise InputError(
                f"{path} is absent", expected=f"{key} of {remedy.name!r}", fix="Check the path.",
                where=remedy.name,
            )  # fmt: skip
    KINDS[remedy.kind].apply(patient, *configs_of(table, remedy.kind))


def served(remedy: SuiteRemedy, table: Table, task: Task, system: System, depth: int) -> System:
    """Return answers as a remedy changes them. A remedy of the index changes none.

    The warning says so if a remedy finds nothing to change.
    """
    serve = KINDS[remedy.kind].serve
    if serve is None:
        return system
    try:
        run = serve(task, system.run, depth, *configs_of(table, remedy.kind))
    except NothingToMend as error:
        return replace(system, warning=unchanged(error))
    return replace(system, run=run)


def unchanged(error: NothingToMend) -> str:
    """Return the warning about a remedy that changed nothing."""
    return f"nothing was changed: {error}"


def settings_of(
    remedy: SuiteRemedy, retriever: SuiteRetriever, task: SuiteTask, file: Path
) -> Table:
    """Return a remedy's settings for one retriever and task."""
    return Table(filled(remedy.values, retriever, task), file, f"remedies.{remedy.name}")
