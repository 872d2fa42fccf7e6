import time

import pytest

from argus.data.corpus import read_corpus
from argus.errors import InputError
from argus.indexes.lexical import LexicalIndex
from argus.indexes.words import asked, words


def test_words_fold_case_width_and_ligatures_and_keep_accents():
    found = words("Éclair_ﬁn, the Straße-7 北京 don't")
    assert found == ["éclair", "fin", "the", "strasse", "7", "北京", "don", "t"]


def test_stop_words_leave_a_query_only_where_others_stay():
    assert asked("What is the capital of France?") == ["capital", "france"]
    assert asked("The Who") == ["the", "who"]
    assert asked("") == []


def test_the_best_text_comes_first_and_scores_of_nothing_are_left_out():
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


def test_saving_again_replaces_and_a_folder_that_is_no_index_is_told(tmp_path):
    LexicalIndex.build(["a"], ["red"]).save(tmp_path / "words")
    LexicalIndex.build(["b"], ["red"]).save(tmp_path / "words")
    assert LexicalIndex.open(tmp_path / "words").search(["red"], 3).ids == [["b"]]
    (tmp_path / "words" / "starts.npy").write_bytes(b"half")
    for folder in (tmp_path / "words", tmp_path / "nowhere"):
        with pytest.raises(InputError, match="cannot be read as a BM25 index"):
            LexicalIndex.open(folder)
