"""Declare the settings of `argus research suite`: retrievers, remedies, tasks and measures.

`argus.suite.reading` makes a `Suite` from a TOML file, and `argus.suite.job` runs it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated

from argus.data.provenance import content_hash
from argus.encoders.config import EncoderConfig
from argus.errors import InputError
from argus.settings import Ge, Seed, check_settings

ORIGINAL = "none"  # the remedy that all others are compared with: no change
INSTRUCTION = "{instruction}"  # in a query prompt, stands for the task's instruction
MEASURES = ("nDCG@5", "nDCG@10", "nDCG@20", "nDCG@50")  # of ARGUS' Tables 2 and 5
_OF_SPEED = ("api_key_env", "device", "batch_size", "concurrency")


@dataclass(frozen=True, kw_only=True)
class SuiteConfig:
    """Settings of measuring. k is one for all: the order of a fused search depends on it.

    Attributes:
        k: Results of every question, of every cell.
        measures: As papers write them; each task's own come with them.
        headline: By which a question counts as harmed.
    """

    k: Annotated[int, Ge(1)] = 100
    measures: tuple[str, ...] = MEASURES
    headline: str = "nDCG@10"
    seed: Seed = 0

    def __post_init__(self) -> None:
        from argus.measures.measures import cutoff, measure_name, parse_measure

        check_settings(self)
        for name in self.measures:
            parse_measure(name)
        names = dict.fromkeys(map(measure_name, (*self.measures, self.headline)))
        object.__setattr__(self, "measures", tuple(names))
        object.__setattr__(self, "headline", measure_name(self.headline))
        for name in self.measures:
            if (cutoff(name) or 0) > self.k:
                expected, fix = "k at least as deep as every measure", f"Set k = {cutoff(name)}."
                got = f"{name} of {self.k} results"
                raise InputError(got, expected=expected, fix=fix, where="measures")


@dataclass(frozen=True, kw_only=True)
class SuiteRetriever:
    """A retriever. One of encoder, bm25 and source is set.

    source: as --retriever names it; {task} in it stands for the task's name. remedies: names of its
    remedies, by default all of the suite.
    """

    name: str
    encoder: EncoderConfig | None = None
    bm25: bool = False
    source: str = ""
    remedies: tuple[str, ...] = ()

    @property
    def folder(self) -> str:
        """A hash of its name and identity."""
        return content_hash(self.name, repr(self.identity("")), size=8).hex()

    def with_instruction(self, instruction: str, task: str) -> SuiteRetriever:
        """Return it with a task's instruction, if its query prompt has a place for one.

        Raises InputError if it has and the task has no instruction.
        """
        if self.encoder is None or INSTRUCTION not in (self.encoder.query_prompt or ""):
            return self
        if not instruction:
            raise InputError(
                f"{task!r} has no instruction", expected=f"one for {INSTRUCTION} of {self.name!r}",
                fix='Set instruction = "..." of the task.', where=task,
            )  # fmt: skip
        prompt = (self.encoder.query_prompt or "").replace(INSTRUCTION, instruction)
        return replace(self, encoder=replace(self.encoder, query_prompt=prompt))

    def source_of(self, task: str) -> str:
        """Return its source for a task."""
        return self.source.replace("{task}", task)

    def identity(self, task: str) -> tuple[object, ...]:
        """Return the settings that its answers depend on, without device and speed."""
        if self.encoder is None:
            return self.bm25, self.source_of(task)
        settings = vars(self.encoder).items()
        return tuple((name, repr(value)) for name, value in settings if name not in _OF_SPEED)


@dataclass(frozen=True, kw_only=True)
class SuiteRemedy:
    """A remedy. values: its settings as in the file, the fields of its kind in `remedies`."""

    name: str
    kind: str = ORIGINAL
    values: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class SuiteTask:
    """A task. group: its benchmark, whose tasks are averaged.

    instruction: for models that take one; by default the task's own.
    """

    name: str
    place: str
    group: str = ""
    instruction: str = ""


@dataclass(frozen=True, kw_only=True)
class Suite:
    """A grid of retrievers, remedies and tasks."""

    config: SuiteConfig = field(default_factory=SuiteConfig)
    retrievers: tuple[SuiteRetriever, ...] = ()
    remedies: tuple[SuiteRemedy, ...] = ()
    tasks: tuple[SuiteTask, ...] = ()

    def remedies_of(self, retriever: SuiteRetriever) -> list[SuiteRemedy]:
        """Return the remedies of a retriever, the original first."""
        names = {ORIGINAL, *(retriever.remedies or (remedy.name for remedy in self.remedies))}
        return [remedy for remedy in self.remedies if remedy.name in names]
