"""The built-in systems on records small enough to say by hand what each must serve."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.authority.benchmarks.collection import Benchmark, Question
from argus.authority.benchmarks.first_stages import (
    DEPTH,
    CrossEncoder,
    FirstStages,
    Okapi,
    okapi_words,
    top_rows,
)
from argus.authority.benchmarks.judging import Outcome
from argus.authority.benchmarks.systems import SYSTEMS, Bench, choose
from argus.authority.records import Record
from argus.authority.rules import Edge, Rule
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


@pytest.fixture(scope="module")
def dense(minilm, tmp_path_factory):
    path = tmp_path_factory.mktemp("vectors")
    with EmbeddingStore(path, fingerprint=minilm.fingerprint, dim=minilm.dim) as store:
        yield lambda benchmark, k=5: Bench(
            benchmark, FirstStages(benchmark, encoder=minilm, store=store, k=k), k=k
        )


def lexical(benchmark: Benchmark = BENCHMARK, k: int = 5) -> Bench:
    return Bench(benchmark, FirstStages(benchmark, k=k), k=k)


def served(name: str, bench: Bench, question: str = "q1") -> tuple[str, ...]:
    return SYSTEMS[name].run(bench)[question].documents


def test_relevance_never_finds_the_fix_that_shares_no_word() -> None:
    for name in ("bm25", "okapi", "tfidf"):
        found = served(name, lexical())
        assert found[0] == "flaw-1", name
        assert "fix-1" not in found, name


def test_two_stages_serve_the_fix_in_place_of_the_flaw() -> None:
    outcome = SYSTEMS["two-stage-bm25"].run(lexical())["q1"]
    assert outcome.documents[0] == "fix-1"
    assert "flaw-1" not in outcome.documents
    assert outcome.anchors is not None and outcome.anchors[0] == "flaw-1"


def test_a_lookup_blind_to_rules_takes_whatever_is_later() -> None:
    assert served("latest-okapi", lexical())[:2] == ("chat-1", "fix-1")
    assert served("latest-okapi", lexical(k=1)) == ("chat-1",), "the later chat hides the fix"
    assert served("two-stage-bm25", lexical(k=1)) == ("fix-1",)


def test_superseders_may_come_before_active_anchors() -> None:
    active = record("essay", "chat", 3, "path traversal of the archive", product="none", cve="9")
    bench = lexical(replace(BENCHMARK, records=[*RECORDS, active]))
    assert served("two-stage-bm25", bench)[:2] == ("essay", "fix-1")
    assert served("two-stage-bm25-first", bench)[:2] == ("fix-1", "essay")


def test_anchors_behind_the_first_k_fill_what_is_left() -> None:
    scope = {"product": "p", "cve": "c"}
    many = [record(f"m{i}", "flaw", i + 1, "path traversal archive", **scope) for i in range(8)]
    fix = record("fix", "fix", 20, "done", **scope)
    bench = lexical(replace(BENCHMARK, records=[*RECORDS, *many, fix]), k=2)
    # the eight look-alikes all lead to one fix: the next document comes from an anchor behind them
    assert served("two-stage-bm25", bench) == ("fix", "fix-1")


def test_the_relation_is_the_rules_or_without_any_the_edges() -> None:
    assert (
        served("two-stage-bm25", lexical(replace(BENCHMARK, rules=(), edges=EDGES[1:])))[0]
        == "flaw-1"
    )
    assert served("two-stage-bm25", lexical(replace(BENCHMARK, rules=())))[0] == "fix-1"
    assert served("two-stage-bm25", lexical(replace(BENCHMARK, edges=())))[0] == "fix-1"


def test_the_probe_looks_up_what_the_question_names_alone() -> None:
    outcomes = SYSTEMS["probe"].run(lexical())
    assert outcomes["q2"].documents == ("fix-2", "flaw-2")
    assert outcomes["q1"].documents == (), "no product is named"


def test_the_oracle_serves_gold_first_then_its_chain() -> None:
    assert served("oracle", lexical()) == ("fix-1", "flaw-1")
    assert served("oracle", lexical(k=1)) == ("fix-1",)


def test_dense_systems(dense) -> None:
    bench = dense(BENCHMARK)
    assert served("dense", bench)[0] == "flaw-1"
    assert served("two-stage-dense", bench)[0] == "fix-1"
    assert served("hybrid", bench)[0] == "flaw-1"
    assert served("two-stage-hybrid", bench)[0] == "fix-1"


def test_the_hybrid_fuses_by_reciprocal_ranks_unless_told_otherwise(dense) -> None:
    stages = dense(BENCHMARK).stages
    ranks = {
        name: {id_: place for place, id_ in enumerate(stage.run["q2"], 1)}
        for name, stage in (("bm25", stages.bm25), ("dense", stages.dense))
    }
    scores = stages.hybrid.run["q2"]
    for id_, score in scores.items():
        parts = [1 / (60 + places[id_]) for places in ranks.values() if id_ in places]
        assert score == pytest.approx(sum(parts))
    for weight, stage in ((0.0, stages.dense), (1.0, stages.bm25)):
        alone = stages.fused("min-max", weight).run["q2"]
        assert next(iter(alone)) == next(iter(stage.run["q2"]))
        assert max(alone.values()) == pytest.approx(1.0)


def test_documents_of_one_text_tie_by_id(dense) -> None:
    run = dense(BENCHMARK).stages.dense.run["q1"]
    assert run["fix-2"] == run["fix-3"]
    assert list(run).index("fix-2") < list(run).index("fix-3")


def test_reranking_moves_up_only_what_was_retrieved(dense) -> None:
    found = served("rerank", dense(BENCHMARK))
    assert set(found[:2]) == {"fix-1", "fix-2"}, "six documents are all among the first 20"
    filler = [record(f"z{i:02}", "chat", 3, f"path traversal archive {i}") for i in range(25)]
    crowded = served("rerank", dense(replace(BENCHMARK, records=[*RECORDS, *filler])))
    assert "fix-1" not in crowded, "behind the first 20 nothing is looked up"


def test_hyde_asks_with_the_hypothetical_and_fails_without(dense) -> None:
    outcomes = SYSTEMS["hyde"].run(dense(BENCHMARK))
    assert outcomes["q1"].documents[0] == "fix-1"
    assert outcomes["q2"] == Outcome(failure="no stored hypothetical document")


def test_a_question_without_vector_fails_in_dense_systems(dense, minilm) -> None:
    class Picky:
        fingerprint, dim = minilm.fingerprint, minilm.dim

        def encode_documents(self, texts):
            return minilm.encode_documents(texts)

        def encode_queries(self, texts):
            vectors = minilm.encode_queries(texts)
            vectors[["overflow" in text for text in texts]] = 0
            return vectors

        encode_spans = None

    import tempfile

    with (
        tempfile.TemporaryDirectory() as path,
        EmbeddingStore(Path(path), fingerprint="picky", dim=minilm.dim) as store,
    ):
        bench = Bench(BENCHMARK, FirstStages(BENCHMARK, encoder=Picky(), store=store), k=5)
        for name in ("dense", "hybrid", "two-stage-dense", "latest-dense", "rerank"):
            outcomes = SYSTEMS[name].run(bench)
            assert "zero or not finite" in outcomes["q2"].failure, name
            assert outcomes["q1"].documents, name


def test_every_system_does_the_same_twice(dense) -> None:
    for name, system in SYSTEMS.items():
        if name != "cross-encoder":
            assert system.run(dense(BENCHMARK)) == system.run(dense(BENCHMARK)), name


def test_a_shuffled_corpus_changes_nothing(dense) -> None:
    turned = replace(BENCHMARK, records=RECORDS[::-1])
    for name in ("bm25", "okapi", "tfidf", "dense", "hybrid", "two-stage-bm25", "latest-okapi"):
        assert SYSTEMS[name].run(dense(BENCHMARK)) == SYSTEMS[name].run(dense(turned)), name


def test_depth_is_that_of_k_where_k_is_more() -> None:
    assert FirstStages(BENCHMARK, k=5).depth == DEPTH
    assert FirstStages(BENCHMARK, k=500).depth == 500
    assert Bench(BENCHMARK, FirstStages(BENCHMARK, k=500), k=500).anchors == 500


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


def test_texts_without_words_are_found_by_nothing() -> None:
    empty = replace(BENCHMARK, records=[replace(r, text="") for r in RECORDS])
    for name in ("bm25", "okapi", "tfidf", "two-stage-bm25"):
        assert served(name, lexical(empty)) == (), name


@settings(deadline=None)
@given(st.lists(st.sampled_from([0.0, 1.0, 2.0, 3.0]), min_size=1, max_size=30), st.integers(1, 40))
def test_top_rows_are_those_of_a_full_sort_with_ties_by_row(scores, k) -> None:
    expected = sorted(range(len(scores)), key=lambda i: (-scores[i], i))[:k]
    assert top_rows(np.array(scores), k).tolist() == expected


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["bm52"], r"--system: system 'bm52'; expected one of bm25, okapi"),
        (["dense"], r"dense has no encoder; expected --encoder MODEL"),
        (["cross-encoder"], r"cross-encoder has no encoder"),
    ],
)
def test_systems_that_are_unknown_or_lack_something_are_refused(names, message) -> None:
    with pytest.raises(InputError, match=message):
        choose(names, BENCHMARK, encoder=False, cross_encoder=False)


def test_hyde_and_cross_encoder_without_input_are_refused() -> None:
    plain = replace(BENCHMARK, hypotheticals={})
    with pytest.raises(InputError, match="hyde has no stored hypothetical"):
        choose(["hyde"], plain, encoder=True, cross_encoder=False)
    with pytest.raises(InputError, match="cross-encoder has no model"):
        choose(["cross-encoder"], plain, encoder=True, cross_encoder=False)


def test_all_that_can_run_is_chosen_in_order() -> None:
    found = [s.name for s in choose([], BENCHMARK, encoder=False, cross_encoder=False)]
    assert found == [name for name, s in SYSTEMS.items() if not s.dense]
    assert choose(["oracle", "bm25"], BENCHMARK, encoder=False, cross_encoder=False) == [
        SYSTEMS["bm25"], SYSTEMS["oracle"],
    ]  # fmt: skip


@pytest.fixture(scope="module")
def tiny_cross_encoder(tmp_path_factory) -> Path:
    """A cross-encoder of one small random layer, saved as the library saves one."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

    words = sorted({w for r in RECORDS for w in r.text.split()} | set(ONE.text.split()))
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    vocabulary = {word: i for i, word in enumerate([*special, *words])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    torch.manual_seed(0)
    model = BertForSequenceClassification(
        BertConfig(
            vocab_size=len(vocabulary), hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
            intermediate_size=16, num_labels=1, max_position_embeddings=64,
        )
    )  # fmt: skip
    path = tmp_path_factory.mktemp("cross-encoder")
    model.save_pretrained(path)
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]",
        sep_token="[SEP]", model_max_length=64,
    ).save_pretrained(path)  # fmt: skip
    return path


def test_a_cross_encoder_from_a_folder_ranks_the_pool(dense, tiny_cross_encoder) -> None:
    model = CrossEncoder(str(tiny_cross_encoder))
    bench = dense(BENCHMARK)
    bench.cross_encoder = model
    texts = bench.stages.texts
    score = dict(zip(texts, model.scores([(ONE.text, t) for t in texts.values()]), strict=True))
    assert len(set(score.values())) > 2
    assert score["fix-2"] == score["fix-3"], "a pair is scored once"
    expected = sorted(sorted(texts), key=lambda id_: -score[id_])[:5]
    assert list(served("cross-encoder", bench)) == expected


def test_no_cross_encoder_in_a_folder_is_refused_with_the_reason(tmp_path) -> None:
    with pytest.raises(InputError, match=r"--cross-encoder: cross-encoder .* could not be loaded"):
        CrossEncoder(str(tmp_path))
