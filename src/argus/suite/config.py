"""What a suite runs: retrievers, remedies, tasks, and how deep they are asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated

from argus.data.provenance import content_hash
from argus.data.texts import cut_name, plain_name
from argus.encoders.config import EncoderConfig
from argus.errors import InputError
from argus.settings import Doc, Ge, Seed, check_settings

ORIGINAL = "none"  # the remedy that is none: what all others are compared with
# In a query prompt: what the task tells models that take an instruction.
INSTRUCTION = "{instruction}"
MEASURES = ("nDCG@5", "nDCG@10", "nDCG@20", "nDCG@50")  # of ARGUS' Tables 2 and 5


@dataclass(frozen=True, kw_only=True)
class SuiteConfig:
    """How a suite measures. k is one for all: the order of a fused search depends on it."""

    k: Annotated[int, Ge(1), Doc("Results of every question, of every cell.")] = 100
    measures: Annotated[
        tuple[str, ...], Doc("As papers write them; each task's own come with them.")
    ] = MEASURES
    headline: Annotated[str, Doc("By which a question counts as harmed.")] = "nDCG@10"
    seed: Seed = 0

    def __post_init__(self) -> None:
        from argus.measures.measures import measure_name, parse_measure

        check_settings(self)
        for name in self.measures:
            parse_measure(name)
        names = dict.fromkeys(map(measure_name, (*self.measures, self.headline)))
        object.__setattr__(self, "measures", tuple(names))
        object.__setattr__(self, "headline", measure_name(self.headline))
        check_depth(self.measures, self.k, "measures")


def check_depth(measures: tuple[str, ...], k: int, where: str) -> None:
    """Raise InputError for a measure that reads more than k results."""
    from argus.measures.measures import cutoff

    for name in measures:
        if (cutoff(name) or 0) > k:
            raise InputError(
                f"{name} of {k} results",
                expected="k at least as deep as every measure",
                fix=f"Set k = {cutoff(name)}.",
                where=where,
            )


@dataclass(frozen=True, kw_only=True)
class SuiteRetriever:
    """What is asked. One of encoder, bm25, source and output is set.

    source: as --retriever names it. output: what a generative search brought back, as `argus
    generative analyse` takes it. corpus_index: the index of n-grams that it searched. {task} in
    these stands for the task's name. remedies: those that it is asked under, all of the suite where
    none is named.
    """

    name: str
    encoder: EncoderConfig | None = None
    bm25: bool = False
    source: str = ""
    output: str = ""
    corpus_index: str = ""
    remedies: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """What it is, in words."""
        if self.output:
            return "the answers of a generative search"
        return "an encoder" if self.encoder else "BM25" if self.bm25 else "a source of its own"

    @property
    def folder(self) -> str:
        """Its name, as far as a folder may be called so, and a hash of what answers depend on."""
        digest = content_hash(self.name, repr(self.identity("")), size=4).hex()
        return f"{cut_name(plain_name(self.name)[:60])}-{digest}"

    def with_instruction(self, instruction: str, task: str) -> SuiteRetriever:
        """Return it with a task's instruction where its query prompt has a place for one.

        Raises InputError where it has, and the task tells none.
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

    @staticmethod
    def named(place: str, task: str) -> str:
        """Return a place with the task's name in it."""
        return place.replace("{task}", task)

    def identity(self, task: str) -> tuple[object, ...]:
        """Return what its answers depend on; where it runs, and how fast, is no part of that."""
        if self.encoder is None:
            return (self.bm25, *(self.named(name, task) for name in (self.source, self.output)))
        e = self.encoder
        pooling = filter(None, [e.token_pooling])  # cells of before there was one stay
        return (
            e.model, e.base_url if e.is_endpoint else "", e.query_prompt, e.document_prompt,
            e.revision, e.precision, *pooling, *sorted(_of_subclass(e).items()),
        )  # fmt: skip


_RUNS = (
    "model", "base_url", "query_prompt", "document_prompt", "token_pooling", "revision",
    "precision", "api_key_env", "trust_remote_code", "device", "batch_size", "concurrency",
)  # fmt: skip


def _of_subclass(encoder: EncoderConfig) -> dict[str, str]:
    """Return settings of a subclass of EncoderConfig: they may change vectors."""
    return {name: repr(value) for name, value in vars(encoder).items() if name not in _RUNS}


@dataclass(frozen=True, kw_only=True)
class SuiteRemedy:
    """A remedy by name. values: its settings as the file has them, keys of its kind's configs."""

    name: str
    kind: str = ORIGINAL
    values: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class SuiteTask:
    """A task. group: the benchmark it is of, whose tasks are averaged. shown: in the main table.

    instruction: what models that take one are told; that of the task itself where it is empty.
    """

    name: str
    place: str
    group: str = ""
    instruction: str = ""
    shown: bool = True


@dataclass(frozen=True, kw_only=True)
class Suite:
    """A grid of retrievers x remedies x tasks; without the remedies that do not fit a retriever."""

    config: SuiteConfig = field(default_factory=SuiteConfig)
    retrievers: tuple[SuiteRetriever, ...] = ()
    remedies: tuple[SuiteRemedy, ...] = ()
    tasks: tuple[SuiteTask, ...] = ()

    def remedies_of(self, retriever: SuiteRetriever) -> list[SuiteRemedy]:
        """Return the remedies that a retriever is asked under, the original first."""
        names = {ORIGINAL, *(retriever.remedies or (remedy.name for remedy in self.remedies))}
        return [remedy for remedy in self.remedies if remedy.name in names]
