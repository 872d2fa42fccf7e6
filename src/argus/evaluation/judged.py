"""Judged queries, read once: what is asked, what is relevant, and the files that say so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from argus.corpora.names import NamedCorpus
from argus.corpora.opening import open_corpus
from argus.corpora.stored import Origin
from argus.data.corpus import read_queries
from argus.data.fields import FieldNames
from argus.data.qrels import read_qrels
from argus.data.types import Document, Qrels, Query
from argus.evaluation.systems import Judged, judge


@dataclass(frozen=True)
class JudgedQueries:
    """Queries and judgements of which some can be measured."""

    queries: list[Query]
    qrels: Qrels
    judged: Judged
    files: dict[str, Path]
    """Those of queries and judgements that were read from a file."""
    corpus: Origin | None = None
    """What stands for the documents in a manifest."""
    documents: Sequence[Document] | None = None
    """Where titles and texts come from; None leaves it to the index."""

    @property
    def with_judgements(self) -> list[Query]:
        """The queries that have text and judgements."""
        return [q for q in self.queries if q.text.strip() and q.id in self.qrels]


def read_judged(
    queries: Path | str | Sequence[Query],
    qrels: Path | str | Qrels,
    corpus: NamedCorpus | None = None,
) -> JudgedQueries:
    """Read what is not at hand. Raises InputError when no query can be measured."""
    sources = {"queries": queries, "qrels": qrels}
    files = {name: Path(v) for name, v in sources.items() if isinstance(v, (str, Path))}
    questions = read_queries(Path(queries)) if isinstance(queries, (str, Path)) else list(queries)
    judgements = read_qrels(Path(qrels)) if isinstance(qrels, (str, Path)) else qrels
    judged = judge(questions, judgements)
    if corpus is None:
        return JudgedQueries(questions, judgements, judged, files)
    source = open_corpus(corpus)
    documents = source.documents(FieldNames())
    return JudgedQueries(questions, judgements, judged, files, source.origin, documents)
