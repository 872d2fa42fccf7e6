import math
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.corpora.opening import read_corpus
from argus.data.types import Document
from argus.errors import InputError
from argus.indexes.words import query_words, words
from argus.knowledge.config import GazetteerConfig
from argus.knowledge.gazetteer import Gazetteer
from argus.remedies.config import K_AUG
from argus.remedies.lookup import PassageLookup
from tests.support.draws import examples


def plain_bm25(query, passages, k):
    """Robertson's BM25 as Lucene has it, k1 = 1.5, b = 0.75, straight from the formula."""
    texts = {p.id: words(p.content) for p in passages if p.content.strip()}
    if not texts:
        return []
    average = sum(map(len, texts.values())) / len(texts)
    found_in = Counter(word for text in texts.values() for word in set(text))
    scores = {}
    for id_, text in texts.items():
        count = Counter(text)
        scores[id_] = sum(
            math.log(1 + (len(texts) - found_in[word] + 0.5) / (found_in[word] + 0.5))
            * count[word]
            / (count[word] + 1.5 * (0.25 + 0.75 * len(text) / average))
            for word in query_words(query)
            if count[word]
        )
    best = sorted((-score, id_) for id_, score in scores.items() if score > 0)
    return [(id_, -score) for score, id_ in best][:k]


PASSAGES = [
    Document("moon", "The crater Bern lies on the Moon; Bern, Bern and Bern again.", "Craters"),
    Document("bern", "Bern is the capital of Switzerland.", "Bern"),
    Document("aare", "The Aare is a river in Switzerland that runs around Bern.", "Aare"),
    Document("blank", " \n"),
    Document("title", "", "Thun"),
]


@pytest.fixture(scope="module")
def lookup():
    return PassageLookup(PASSAGES)


def ids(passages):
    return [[passage.id for passage in found] for found in passages]


def test_words_find_frequent_names_and_titles_find_subjects(lookup):
    [by_words] = lookup.by_words(["Bern"], 2)
    [by_title] = lookup.by_title([("bern",)], 2)
    assert [p.id for p in by_words] == ["moon", "bern"], "the crater has the name four times"
    assert [p.id for p in by_title] == ["bern"]
    assert [p.linked for p in by_words] == [False, False]
    assert [p.linked for p in by_title] == [True]
    assert by_words[0].document is PASSAGES[0]


def test_the_paper_takes_two_passages(lookup):
    assert K_AUG == 2
    assert ids(lookup.by_words(["Bern"])) == [["moon", "bern"]]
    assert ids(lookup.by_title([("moon", "bern", "aare")])) == [["moon", "bern"]]


def test_k_is_most_and_what_shares_no_word_is_not_found(lookup):
    assert ids(lookup.by_words(["Bern", "Switzerland", "Lausanne", "!?"], 9)) == [
        ["moon", "bern", "aare"], ["bern", "aare"], [], [],
    ]  # fmt: skip
    assert ids(lookup.by_words(["Bern"], 1)) == [["moon"]]
    assert lookup.by_words([]) == [] and lookup.by_title([]) == []
    with pytest.raises(InputError, match="k=0"):
        lookup.by_words(["Bern"], 0)


def test_a_passage_without_anything_to_read_is_never_found(lookup):
    assert ids(lookup.by_title([("blank", "bern"), ("gone",), ()])) == [["bern"], [], []]
    assert ids(lookup.by_words(["Thun"])) == [[]], "a title alone says nothing"


def test_a_knowledge_base_with_nothing_to_read_finds_nothing():
    for passages in ([], [Document("a", ""), Document("b", "\n")], [Document("a", "!?")]):
        empty = PassageLookup(passages)
        assert empty.by_words(["Bern"]) == [[]]
        assert ids(empty.by_title([("b",)])) == [[]]


def test_surface_forms_are_linked_as_a_gazetteer_does(lookup):
    kb = [
        Document("planet", "Mercury is a planet.", "Mercury  (planet)"),
        Document("god", "Mercury is a god.", "Mercury (god)", {"aliases": "Hermes|Mercurius"}),
        Document("bare", " ", "Mercury"),
        Document("zurich", "It is a city.", "Zu\u0308rich", {"aliases": ["Turicum"]}),
    ]
    linked = PassageLookup(kb)
    asked = ["Mercury", "Mercury (god)", "Hermes", "Turicum", "Z\u00fcrich", "mercury", "Bern", ""]
    assert ids(linked.by_name(asked)) == [
        ["planet", "god"], ["god"], ["god"], ["zurich"], ["zurich"], [], [], [],
    ]  # fmt: skip
    assert ids(linked.by_name(["Mercury"], 1)) == [["planet"]]
    assert all(p.linked for p in linked.by_name(["Mercury"])[0])
    assert linked.by_name([]) == [] and ids(lookup.by_name(["Thun"])) == [[]]
    with pytest.raises(InputError, match="aliases '7' of document 'a'"):
        PassageLookup([Document("a", "x", "A", {"aliases": 7})]).by_name(["A"])


def test_a_gazetteer_links_to_the_same_passages(shared):
    passages = read_corpus(shared("wiki2") / "corpus.jsonl")[:400]
    by_id = {p.id for p in passages if p.text.strip()}
    finder = Gazetteer.from_documents(passages, GazetteerConfig(common_words=True))
    names = list(finder.names)
    expected = [[i for i in finder.names[name] if i in by_id] for name in names]
    assert ids(PassageLookup(passages).by_name(names, 99)) == expected


def test_names_with_regex_characters_are_words_like_others():
    lookup = PassageLookup(
        [Document("c", "C is a language."), Document("x", "The list [x] and a.b* in C++.")]
    )
    assert ids(lookup.by_words(["[x]", "a.b*", "C++ (language)", "(("])) == [
        ["x"], ["x"], ["c", "x"], [],
    ]  # fmt: skip


TEXTS = st.lists(st.sampled_from(["Bern", "bern", "Aare", "of", "the", "ﬁre", "2"]), max_size=8)


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(TEXTS, max_size=8), TEXTS, st.integers(1, 4))
def test_order_is_that_of_the_formula(texts, query, k):
    passages = [Document(f"p{i}", " ".join(text)) for i, text in enumerate(texts)]
    expected = plain_bm25(" ".join(query), passages, len(passages))
    [found] = PassageLookup(passages).by_words([" ".join(query)], k)
    scores = dict(expected)
    assert len(found) == min(k, len(expected))
    assert [scores[p.id] for p in found] == pytest.approx([s for _, s in expected[:k]], rel=1e-5)


def test_a_rare_names_real_passage_comes_first(shared):
    passages = read_corpus(shared("wiki2") / "corpus.jsonl")[:300]
    names = ["Teutberga", "Theodred II", "Lambert, Margrave of Tuscany"]
    found = PassageLookup(passages).by_words(names)
    for name, hits in zip(names, found, strict=True):
        assert [p.id for p in hits] == [id_ for id_, _ in plain_bm25(name, passages, 2)]
        assert hits[0].document.title.startswith(name)
