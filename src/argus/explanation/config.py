"""Declare the options of `argus explain`: `ExplainConfig` for an index, `RunConfig` for a ranking.

The options of the command line and of the page of `argus serve` come from these fields.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from argus.corpora import CorpusName, NamedCorpus
from argus.data.fields import FieldNames, ParentField
from argus.indexes.blend import Weight
from argus.settings import Doc, Ge, Seed, check_settings

K = Annotated[int, Ge(1), Doc("How many documents a search returns.")]
Queries = Annotated[Path | None, Doc("File of queries; QUERY is then an id in it.")]
Supersedes = Annotated[Path | None, Doc("File of superseder, superseded: documents replaced.")]
Corpus = Annotated[
    NamedCorpus | None,
    Doc("What was searched; an index says itself what it was built from, a run does not."),
    CorpusName(),
]


@dataclass(frozen=True, kw_only=True)
class ExplainConfig:
    """Settings of an explanation of an index. fields: the columns of `corpus`.

    Attributes:
        hybrid: Explain a search fused with BM25: min-max, rrf or dbsf.
    """

    k: K = 10
    hybrid: str | None = None
    weight: Weight = None
    queries: Queries = None
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

    queries: in any format of `read_topics`.
    fields: the columns of `corpus`.
    """

    k: K = 10
    corpus: Corpus = None
    fields: FieldNames = field(default_factory=FieldNames)
    parent_field: ParentField = None
    queries: Queries = None
    supersedes: Supersedes = None

    def __post_init__(self) -> None:
        check_settings(self)
