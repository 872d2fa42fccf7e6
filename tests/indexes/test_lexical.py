import time
import tracemalloc

import bm25s
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.corpora.opening import read_corpus
from argus.errors import InputError
from argus.indexes.lexical import LexicalIndex
from argus.indexes.words import query_words, words


def test_words_fold_case_width_and_ligatures_and_keep_accents():
    found = words("Éclair_ﬁn, the Straße-7 北京 don't")
    assert found == ["éclair", "fin", "the", "strasse", "7", "北京", "don", "t"]


def test_stop_words_leave_a_query_only_where_others_stay():
    assert query_words("What is the capital of France?") == ["capital", "france"]
    assert query_words("The Who") == ["the", "who"]
    assert query_words("") == []


def test_the_best_text_comes_first_and_zeros_are_left_out():
    index = LexicalIndex.build(["c", "a", "b", "e"], ["cats and dogs", "dogs", "dogs", ""])
    hits = index.search(["dogs", "cats", "nothing", "", "the"], 10)
    assert hits.ids == [["a", "b", "c"], ["c"], [], [], []]  # a and b tie: by id
    assert hits.scores[0][0] == hits.scores[0][1] > hits.scores[0][2] > 0
    assert index.search(["dogs"], 1).ids == [["a"]]
    assert list(hits.run(["q0", "q1", "q2", "q3", "q4"])["q0"]) == ["a", "b", "c"]


def test_an_id_with_several_texts_counts_by_its_best():
    index = LexicalIndex.build(["a", "b", "a"], ["red", "blue sky", "blue"])
    assert index.search(["blue", "red"], 5).ids == [["a", "b"], ["a"]]
    assert len(index) == 2


def test_texts_without_a_word_are_never_found():
    for texts in ([], ["", "  "]):
        index = LexicalIndex.build([f"d{i}" for i in range(len(texts))], texts)
        assert index.search(["words", ""], 3).ids == [[], []]


def test_ten_thousand_names_are_looked_up_in_seconds(shared):
    documents = read_corpus(shared("wiki2"))
    index = LexicalIndex.build([d.id for d in documents], [d.content for d in documents])
    names = [d.title for d in documents] * 2
    start = time.perf_counter()
    hits = index.search(names[:10_000], 2)
    assert time.perf_counter() - start < 10  # 0.5 s where it was measured
    among = [d.id in ids for ids, d in zip(hits.ids, documents, strict=False)]
    assert sum(among) / len(among) > 0.9


def test_a_saved_index_answers_as_the_one_that_was_saved(tmp_path):
    texts = ["cats and dogs", "dogs", "Éclair dogs", "blue"]
    built = LexicalIndex.build(["c", "a", "b", "a"], texts)
    built.save(tmp_path / "words")
    opened = LexicalIndex.open(tmp_path / "words")
    queries = ["dogs", "éclair", "blue cats", "nothing"]
    assert opened.search(queries, 3) == built.search(queries, 3)
    assert opened.ids == built.ids and len(opened) == 3


def test_an_index_of_nothing_can_be_saved(tmp_path):
    LexicalIndex.build(["a"], [""]).save(tmp_path / "words")
    assert LexicalIndex.open(tmp_path / "words").search(["a"], 3).ids == [[]]


def test_saving_replaces_and_another_folder_is_refused(tmp_path):
    LexicalIndex.build(["a"], ["red"]).save(tmp_path / "words")
    LexicalIndex.build(["b"], ["red"]).save(tmp_path / "words")
    assert LexicalIndex.open(tmp_path / "words").search(["red"], 3).ids == [["b"]]
    (tmp_path / "words" / "starts.npy").write_bytes(b"half")
    for folder in (tmp_path / "words", tmp_path / "nowhere"):
        with pytest.raises(InputError, match=r"cannot be read as (a BM25 index|Parquet)"):
            LexicalIndex.open(folder)


WORDS = st.lists(
    st.sampled_from(["red", "blue", "sky", "the", "a", "x", "y", "z"]), max_size=12
).map(" ".join)


@given(st.lists(st.tuples(st.sampled_from("abcdef"), WORDS), max_size=25), st.data())
def test_batches_of_any_size_score_exactly_as_bm25s(rows, data):
    rows = sorted(rows, key=lambda row: row[0])
    cuts = sorted(data.draw(st.lists(st.integers(0, len(rows)), max_size=4)))
    parts = [rows[a:b] for a, b in zip([0, *cuts], [*cuts, len(rows)], strict=True)]
    index = LexicalIndex.from_batches(([i for i, _ in p], [t for _, t in p]) for p in parts)
    assert index.ids == sorted({i for i, _ in rows})
    numbers = {"": 0}
    tokens = [[numbers.setdefault(w, len(numbers)) for w in words(t)] for _, t in rows]
    if len(numbers) == 1:
        return
    plain = bm25s.BM25(auto_compile=False)
    plain.index((tokens, numbers), show_progress=False)
    for word, number in numbers.items():
        scores = plain.get_scores_from_ids([number])
        best = {i: max(s for (j, _), s in zip(rows, scores, strict=True) if j == i)
                for i in index.ids}  # fmt: skip
        if word:
            assert index.scores(word).tolist() == list(best.values())


def test_batches_out_of_order_or_unequal_are_refused():
    with pytest.raises(ValueError, match="'a' comes after 'b'"):
        LexicalIndex.from_batches([(["b"], ["red"]), (["a"], ["red"])])
    with pytest.raises(ValueError, match="shorter"):
        LexicalIndex.from_batches([(["a", "b"], ["red"])])


def test_a_word_that_a_text_has_a_thousand_times_is_counted():
    index = LexicalIndex.build(["a", "b"], ["red " * 1000 + "blue", "red blue"])
    scores = index.scores("red")
    assert scores[0] > scores[1] and np.isfinite(scores).all()


def test_a_saved_index_says_what_it_was_made_of(tmp_path):
    LexicalIndex.from_batches([(["a"], ["red"])], made_of="k1").save(tmp_path / "words")
    assert LexicalIndex.open(tmp_path / "words").made_of == "k1"
    assert LexicalIndex.is_saved(tmp_path / "words", made_of="k1")
    assert not LexicalIndex.is_saved(tmp_path / "words", made_of="k2")
    assert not LexicalIndex.is_saved(tmp_path / "nowhere", made_of="k1")
    LexicalIndex.build(["a"], ["red"]).save(tmp_path / "words")
    assert LexicalIndex.open(tmp_path / "words").made_of == ""


def test_neither_texts_nor_words_stay_in_memory():
    rng = np.random.default_rng(0)
    names = np.array([f"someword{i}" for i in range(300)])
    size = 0

    def batches():
        nonlocal size
        for at in range(0, 300, 20):
            texts = [" ".join(names[rng.integers(0, 300, 1000)]) for _ in range(20)]
            size += sum(map(len, texts))
            yield [f"d{i:04d}" for i in range(at, at + 20)], texts

    tracemalloc.start()
    try:
        index = LexicalIndex.from_batches(batches())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(index) == 300 and size > 3_000_000
    assert peak < 2_300_000  # 86,000 postings; the texts alone have 3.3 MB


@given(st.lists(st.text("abc ", max_size=12), min_size=1, max_size=6), st.text("abc ", min_size=1))
def test_an_index_of_the_querys_words_scores_the_same(texts, query):
    ids = [f"d{i}" for i in range(len(texts))]
    whole = LexicalIndex.build(ids, texts)
    part = LexicalIndex.build(ids, texts, only=frozenset(query.split()))
    assert np.array_equal(whole.scores(query), part.scores(query))
    assert whole.search([query], 3) == part.search([query], 3)


def test_an_index_in_memory_scores_as_the_saved_one(tmp_path):
    texts = ["one two three", "two two four", "five", "", "one five two"]
    index = LexicalIndex.build(list("abcde"), texts)
    index.save(tmp_path / "bm25")
    saved = LexicalIndex.open(tmp_path / "bm25")
    for query in ("two", "one two five", "two two", "none"):
        assert np.array_equal(index.scores(query), saved.scores(query))


def test_one_text_is_no_list_of_queries():
    with pytest.raises(InputError, match=r"queries are the text 'cat'; .+ For one: \['cat'\]"):
        LexicalIndex.build(["a"], ["cat"]).search("cat", 1)
