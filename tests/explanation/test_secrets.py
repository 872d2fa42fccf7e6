"""An explanation shows no password of a store that is the corpus."""

from __future__ import annotations

from argus.corpora import StoreCorpus
from argus.explanation.run import shown


def test_a_corpus_is_shown_without_its_password() -> None:
    name = "pgvector:postgresql://ada:topsecret@127.0.0.1/db/docs"
    for corpus in (name, StoreCorpus(name)):
        assert shown(corpus) == "pgvector:postgresql://127.0.0.1/db/docs"
    assert shown("docs.jsonl") == "docs.jsonl" and shown(None) == ""
