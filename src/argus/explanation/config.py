"""Settings of an explanation of an index or a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from argus.corpora import CorpusName, NamedCorpus
from argus.data.fields import FieldNames, ParentField
from argus.indexes.blend import Weight
from argus.remedies.config import TAU
from argus.settings import Doc, Ge, Interval, Seed, check_settings

K = Annotated[int, Ge(1), Doc("How many documents a search returns.")]
Queries = Annotated[Path | None, Doc("File of queries; QUERY is then an id in it.")]
Supersedes = Annotated[Path | None, Doc("File of superseder, superseded: documents replaced.")]
Corpus = Annotated[
    NamedCorpus | None,
    Doc("What was searched; an index says itself what it was built from, a run does not."),
    CorpusName(),
]


@dataclass(frozen=True)
class RpsSource:
    """Source of predicted RPS: a diagnosis, or else entities that are found and scored anew."""

    diagnosis: Annotated[Path | None, Doc("Folder with diagnosis.parquet: predicted RPS.")] = None
    kb: Annotated[
        Path | None,
        Doc("Knowledge base whose titles are the entities; default: capitalised names."),
    ] = None
    probe: Annotated[
        Path | None, Doc("Folder of a probe; default: the one shipped for the encoder.")
    ] = None
    tau: Annotated[float, Interval(ge=0, le=1), Doc("Predicted RPS below this is low.")] = TAU

    def __post_init__(self) -> None:
        check_settings(self)


@dataclass(frozen=True, kw_only=True)
class ExplainConfig:
    """Settings of an explanation of an index. fields: the columns of `corpus`."""

    k: K = 10
    hybrid: Annotated[
        str | None, Doc("Explain a search fused with BM25: min-max, rrf or dbsf.")
    ] = None
    weight: Weight = None
    queries: Queries = None
    rps: RpsSource = field(default_factory=RpsSource)
    supersedes: Supersedes = None
    corpus: Corpus = None
    fields: FieldNames = field(default_factory=FieldNames)
    parent_field: ParentField = None
    seed: Seed = 0

    def __post_init__(self) -> None:
        check_settings(self)


@dataclass(frozen=True, kw_only=True)
class RunConfig:
    """Settings of an explanation of a run. Each check needs the files that it compares.

    queries: in any format of `read_topics`. None takes the text from the keys, if there are any.
    fields: the columns of `corpus`.
    """

    k: K = 10
    corpus: Corpus = None
    fields: FieldNames = field(default_factory=FieldNames)
    parent_field: ParentField = None
    queries: Queries = None
    keys: Annotated[
        Path | None,
        Doc(
            "answers.jsonl or DPR JSON of the n-gram search that made the run; default: what "
            "lies beside it."
        ),
    ] = None
    supersedes: Supersedes = None

    def __post_init__(self) -> None:
        check_settings(self)
