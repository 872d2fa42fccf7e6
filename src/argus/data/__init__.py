"""Documents, queries, judgements, runs; their readers and writers; the artifact folder."""

from argus.data.artifacts import ArtifactFolder
from argus.data.beir import write_beir
from argus.data.corpus import FieldNames, read_corpus, read_queries
from argus.data.provenance import content_hash, file_hash
from argus.data.qrels import read_qrels
from argus.data.types import (
    Document,
    FloatArray,
    IntArray,
    Qrels,
    Query,
    Run,
    Span,
    State,
    View,
)

__all__ = [
    "ArtifactFolder",
    "Document",
    "FieldNames",
    "FloatArray",
    "IntArray",
    "Qrels",
    "Query",
    "Run",
    "Span",
    "State",
    "View",
    "content_hash",
    "file_hash",
    "read_corpus",
    "read_qrels",
    "read_queries",
    "write_beir",
]
