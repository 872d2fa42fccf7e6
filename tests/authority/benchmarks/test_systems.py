"""The built-in systems on records small enough to say by hand what each must serve."""

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from argus.authority.benchmarks.collection import Benchmark, Question
from argus.authority.benchmarks.systems import SYSTEMS, Bench, Okapi, choose, okapi_words
from argus.authority.rules import Edge, Record, Rule
from argus.authority.times import parse_moment
from argus.encoders import EmbeddingStore
from argus.errors import InputError


def record(id_: str, type_: str, day: int, text: str, **scope: str) -> Record:
    return Record(id_, type_, parse_moment(f"2024-01-{day:02}"), scope, text)


RECORDS = [
    record("flaw-1", "flaw", 1, "path traversal in the archive reader", product="tarkit", cve="1"),
    record("fix-1", "fix", 5, "version two is out, see notes", product="tarkit", cve="1"),
    record("chat-1", "chat", 9, "meeting moved to friday", product="tarkit", cve="1"),
    record("flaw-2", "flaw", 2, "overflow in the image reader", product="pixlib", cve="2"),
    record("fix-2", "fix", 6, "release nine ships today", product="pixlib", cve="2"),
    record("fix-3", "fix", 7, "release nine ships today", product="other", cve="3"),
]
RULES = [Rule("fix", "flaw", ("product", "cve"))]
EDGES = [Edge("fix-1", "flaw-1"), Edge("fix-2", "flaw-2")]
ONE = Question("q1", "path traversal of the archive", ("fix-1",), ("flaw-1",), ("flaw-1", "fix-1"))
TWO = Question("q2", "image overflow in pixlib", ("fix-2",), ("flaw-2",), ("flaw-2", "fix-2"))
BENCHMARK = Benchmark(
    "tiny", RECORDS, [ONE, TWO], EDGES, RULES, {"q1": "version two is out, see notes"}
)


def served(name: str, benchmark: Benchmark = BENCHMARK, k: int = 5) -> tuple[str, ...]:
    return SYSTEMS[name].run(Bench(benchmark, k=k))["q1"].documents


def test_two_stages_serve_the_fix_that_shares_no_word_with_the_question() -> None:
    for name in ("bm25", "okapi", "tfidf"):
        found = served(name)
        assert found[0] == "flaw-1" and "fix-1" not in found, name
    outcome = SYSTEMS["two-stage-bm25"].run(Bench(BENCHMARK, k=5))["q1"]
    assert outcome.documents[0] == "fix-1" and "flaw-1" not in outcome.documents
    assert outcome.anchors is not None and outcome.anchors[0] == "flaw-1"
    assert served("known")[0] == "flaw-1" and served("two-stage-known")[0] == "fix-1"
    assert served("closure") == ("fix-1",)
    assert served("oracle") == ("fix-1", "flaw-1")
    assert served("oracle", k=1) == ("fix-1",)


def test_anchors_behind_the_first_k_fill_what_is_left() -> None:
    scope = {"product": "p", "cve": "c"}
    many = [record(f"m{i}", "flaw", i + 1, "path traversal archive", **scope) for i in range(8)]
    fix = record("fix", "fix", 20, "done", **scope)
    crowded = replace(BENCHMARK, records=[*RECORDS, *many, fix])
    # the eight look-alikes all lead to one fix: the next document comes from an anchor behind them
    assert served("two-stage-bm25", crowded, k=2) == ("fix", "fix-1")


def test_a_question_without_vector_fails_in_dense_systems(minilm, tmp_path) -> None:
    class Picky:
        fingerprint, dim = minilm.fingerprint, minilm.dim

        def encode_documents(self, texts):
            return minilm.encode_documents(texts)

        def encode_queries(self, texts):
            vectors = minilm.encode_queries(texts)
            vectors[["overflow" in text for text in texts]] = 0
            return vectors

        encode_spans = None

    with EmbeddingStore(tmp_path, fingerprint="picky", dim=minilm.dim) as store:
        bench = Bench(BENCHMARK, encoder=Picky(), store=store, k=5)
        for name in ("dense", "hybrid", "two-stage-dense", "latest-dense", "rerank"):
            outcomes = SYSTEMS[name].run(bench)
            assert "zero or not finite" in outcomes["q2"].failure, name
            assert outcomes["q1"].documents, name


def test_a_shuffled_corpus_changes_nothing(minilm, tmp_path) -> None:
    turned = replace(BENCHMARK, records=RECORDS[::-1])
    with EmbeddingStore(tmp_path, fingerprint=minilm.fingerprint, dim=minilm.dim) as store:
        one, other = (Bench(b, encoder=minilm, store=store, k=5) for b in (BENCHMARK, turned))
        for name in ("bm25", "okapi", "tfidf", "dense", "hybrid", "two-stage-bm25", "latest-okapi"):
            assert SYSTEMS[name].run(one) == SYSTEMS[name].run(other), name


def test_okapi_is_rank_bm25s_formula_written_out() -> None:
    texts = ["the cat sat", "the dog_2 sat on the cat", "the cow", "", "the the bee"]
    counts = [Counter(okapi_words(text)) for text in texts]
    n, mean = len(texts), sum(map(Counter.total, counts)) / len(texts)
    df = Counter(word for count in counts for word in count)
    idf = {word: math.log((n - f + 0.5) / (f + 0.5)) for word, f in df.items()}
    floor = 0.25 * sum(idf.values()) / len(idf)
    idf = {word: value if value >= 0 else floor for word, value in idf.items()}
    assert idf["the"] == floor, "in four of five texts"
    question = "The cat, the unknown DOG_2"
    expected = [
        sum(
            idf.get(w, 0) * c[w] * 2.5 / (c[w] + 1.5 * (0.25 + 0.75 * c.total() / mean))
            for w in okapi_words(question)
        )
        for c in counts
    ]
    np.testing.assert_allclose(Okapi(texts).scores([question])[0], expected, rtol=1e-12)


def test_systems_that_are_unknown_or_lack_an_encoder_are_refused() -> None:
    with pytest.raises(InputError, match=r"--system: system 'bm52'; expected one of bm25, okapi"):
        choose(["bm52"], BENCHMARK, encoder=False)
    with pytest.raises(InputError, match=r"dense has no encoder; expected --encoder MODEL"):
        choose(["dense"], BENCHMARK, encoder=False)
