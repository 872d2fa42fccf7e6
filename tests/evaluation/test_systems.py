"""What is asked of an index: as it is served, and what becomes of queries that are rejected."""

import hashlib

import numpy as np
import pytest

from argus.data import Document, Query, View
from argus.data.folders import ArtifactFolder
from argus.encoders import EmbeddingStore
from argus.errors import EncodingError, InputError
from argus.evaluation.compared_lists import compare_indexes
from argus.evaluation.config import EvaluateConfig
from argus.evaluation.job import evaluate
from argus.evaluation.systems import search_index
from argus.indexes.job import build_index
from argus.indexes.retriever import IndexRetriever
from argus.indexes.views import ViewIndex
from argus.measures import evaluate as score

DIM = 24
TEXTS = [f"text {i}" for i in range(3000)]
CONFIG = EvaluateConfig(resamples=1000, measures=("nDCG@10", "RR"))


class Scattered:
    """An encoder that gives every text a direction of its own, and rejects those with "!"."""

    fingerprint, dim, max_tokens, pools_spans = "scattered", DIM, None, False

    def __init__(self):
        self.asked = []

    def encode_queries(self, texts):
        self.asked += texts
        if any("!" in text for text in texts):
            raise EncodingError("HTTP 400: too loud", retryable=False)
        return self.encode_documents(texts)

    def encode_documents(self, texts):
        seeds = [int.from_bytes(hashlib.sha256(t.encode()).digest()[:8], "big") for t in texts]
        rows = np.array([np.random.default_rng(s).normal(size=DIM) for s in seeds], np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def encode_spans(self, texts, spans):
        return self.encode_documents(texts)


@pytest.fixture(scope="module")
def approximate(tmp_path_factory):
    path = tmp_path_factory.mktemp("served") / "index"
    index = ViewIndex.create(path, fingerprint="scattered", dim=DIM)
    views = [View(f"d{i:04}", f"d{i:04}", "original", text) for i, text in enumerate(TEXTS)]
    index.add(views, Scattered().encode_documents(TEXTS))
    index.build_ann()
    return path


QUESTIONS = [Query(f"q{i:02}", f"question {i}") for i in range(30)]


def test_an_index_is_searched_as_served_whatever_is_in_memory(approximate):
    served = IndexRetriever(ViewIndex.open(approximate), Scattered())
    assert not served.searches_exactly() and served.name.startswith("approximate dense of")
    first = served.search(QUESTIONS, 50)
    served.index.snapshot()
    assert served.search(QUESTIONS, 50) == first
    system = search_index("i", served, QUESTIONS, 50)  # its vectors are scaled once more
    assert {q: list(docs) for q, docs in system.run.items()} == {q: list(first[q]) for q in first}
    exact = IndexRetriever(ViewIndex.open(approximate), Scattered(), exact=True)
    assert exact.name.startswith("dense of") and exact.search(QUESTIONS, 50) != first


def test_name_and_manifest_say_how_an_index_was_searched(approximate, tmp_path):
    qrels = {q.id: {"d0001": 1} for q in QUESTIONS}
    names = {}
    for exact in (None, True, False):
        result = evaluate(
            QUESTIONS, qrels, out=tmp_path / str(exact), indexes=[str(approximate)],
            encoder=Scattered(), exact=exact, config=CONFIG,
        )  # fmt: skip
        (system,) = result.summary["systems"]
        names[exact] = system["name"].removeprefix(str(approximate))
        manifest = (result.folder / "manifest.json").read_text()
        assert ('"exact": [\n        true' in manifest) == (exact is True)
    assert names == {None: " (approximate search)", True: "", False: " (approximate search)"}


@pytest.fixture
def index(tmp_path):
    documents = [Document("a", "rain and wind", "Rain"), Document("b", "a stone", "Stone")]
    return build_index(documents, out=tmp_path / "index", encoder=Scattered()).index


ASKED = [Query("q1", "rain and wind"), Query("q2", "stone!"), Query("q3", "a stone")]
JUDGED = {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"b": 1}}


def test_a_rejected_query_fails_alone_and_is_in_no_mean(index, tmp_path):
    encoder = Scattered()
    result = evaluate(
        ASKED, JUDGED, out=tmp_path / "out", indexes=[str(index.path)], encoder=encoder,
        config=CONFIG,
    )  # fmt: skip
    assert result.summary["queries"] == {
        "total": 3, "measured": 2, "failed": 1, "not applicable": 0,
        "reasons": {"HTTP 400: too loud": 1},
    }  # fmt: skip
    assert result.summary["failed"] == [{"query_id": "q2", "reason": "HTTP 400: too loud"}]
    row = result.table.to_pylist()[1]
    assert (row["state"], row["reason"], row["RR"]) == ("failed", "HTTP 400: too loud", None)
    run = search_index("i", IndexRetriever(index, encoder), ASKED, 10).run
    left = {q: JUDGED[q] for q in ("q1", "q3")}
    assert result.summary["systems"][0]["measures"] == score(run, left, CONFIG.measures).aggregate
    assert "1 failed" in result.report.read_text() and "too loud" in result.report.read_text()
    with EmbeddingStore(index.path / "embeddings", fingerprint="scattered", dim=DIM) as store:
        assert len(store) == 4, "two documents and the two queries that could be asked"
    encoder.asked.clear()
    search_index("i", IndexRetriever(index, encoder), ASKED, 10)
    assert encoder.asked == ["stone!"], "what was embedded is not asked for again"


def test_a_query_that_failed_in_one_system_counts_in_neither(index, tmp_path):
    given = {"q1": {"a": 1.0}, "q2": {"b": 1.0}, "q3": {"b": 1.0}}
    result = evaluate(
        ASKED, JUDGED, out=tmp_path / "out", indexes=[str(index.path)], runs=[given],
        encoder=Scattered(), config=CONFIG,
    )  # fmt: skip
    assert result.summary["comparison"]["RR"]["queries"] == 2


def test_fresh_does_not_delete_the_index_that_is_evaluated(index, tmp_path):
    for out in (index.path, index.path.parent):
        ArtifactFolder(out).open()
        with pytest.raises(InputError, match="--fresh would empty the folder that holds"):
            evaluate(
                ASKED, JUDGED, out=out, indexes=[f"{index.path}@original"], encoder=Scattered(),
                config=CONFIG, fresh=True,
            )  # fmt: skip
    assert (index.path / "index.json").is_file() and len(ViewIndex.open(index.path)) == 2


def test_results_go_beside_an_index_but_not_to_another_corpus(tmp_path):
    for name, text in (("one", "rain and wind"), ("two", "a stone")):
        (tmp_path / f"{name}.jsonl").write_text(f'{{"_id": "a", "text": "{text}"}}\n')
        build_index(tmp_path / f"{name}.jsonl", out=tmp_path / name, encoder=Scattered())
    options = {"indexes": [str(tmp_path / "one")], "encoder": Scattered(), "config": CONFIG}
    evaluate(ASKED[:1], JUDGED, out=tmp_path / "one", **options)
    with pytest.raises(InputError, match="holds the index of another corpus"):
        evaluate(ASKED[:1], JUDGED, out=tmp_path / "two", **options)
    with pytest.raises(InputError, match="holds the index of another corpus"):
        compare_indexes(
            (str(tmp_path / "one"), str(tmp_path / "one")), out=tmp_path / "two", queries=ASKED[:1]
        )
