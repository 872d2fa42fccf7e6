import bm25s
from hypothesis import given
from hypothesis import strategies as st

from argus.indexes.lexical import STEMMED, LexicalIndex, long_words, query_words, words


def test_words_fold_case_width_and_ligatures_and_keep_accents():
    found = words("Éclair_ﬁn, the Straße-7 北京 don't")
    assert found == ["éclair", "fin", "the", "strasse", "7", "北京", "don", "t"]


def test_stop_words_leave_a_query_only_where_others_stay():
    assert query_words("What is the capital of France?") == ["capital", "france"]
    assert query_words("The Who") == ["the", "who"]
    assert query_words("") == []


def test_a_name_of_code_is_found_by_its_parts_and_whole():
    found = long_words("parse_json loadJSONFile __init__ über NASA a_b")
    assert found == ["parse_json", "loadjsonfile", "__init__", "über", "nasa", "a_b",
                     "parse", "json", "load", "json", "file", "init"]  # fmt: skip
    names = LexicalIndex.build(["a", "b"], ["def parse_json(x)", "def jsonParse(x)"], STEMMED)
    assert names.search(["parse_json"], 1).ids == [["a"]]
    assert names.search(["parsing JSON"], 2).ids == [["a", "b"]]


def test_the_best_text_comes_first_and_zeros_are_left_out():
    index = LexicalIndex.build(["c", "a", "b", "e"], ["cats and dogs", "dogs", "dogs", ""])
    hits = index.search(["dogs", "cats", "nothing", "", "the"], 10)
    assert hits.ids == [["a", "b", "c"], ["c"], [], [], []]  # a and b tie: by id
    assert hits.scores[0][0] == hits.scores[0][1] > hits.scores[0][2] > 0
    assert index.search(["dogs"], 1).ids == [["a"]]
    assert list(hits.run(["q0", "q1", "q2", "q3", "q4"])["q0"]) == ["a", "b", "c"]


def test_a_saved_index_answers_as_the_one_that_was_saved(tmp_path):
    texts = ["cats and dogs", "dogs", "Éclair dogs", "blue"]
    built = LexicalIndex.build(["c", "a", "b", "a"], texts)
    built.save(tmp_path / "words")
    opened = LexicalIndex.open(tmp_path / "words")
    queries = ["dogs", "éclair", "blue cats", "nothing"]
    assert opened.search(queries, 3) == built.search(queries, 3)
    assert opened.ids == built.ids and len(opened) == 3


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
