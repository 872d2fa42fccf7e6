"""What an index tells of a question: coverage, pieces, cut answers, and which passages it holds."""

import random

import pytest

from argus.data.types import Document
from argus.generative.failures.measures import indexed as measured_of
from argus.generative.failures.measures import number_of_id
from argus.generative.failures.reading import Case, Passage, Positive
from argus.generative.index import build_index
from argus.generative.vocabulary import train_vocabulary

DOCUMENTS = [
    Document("a1", "The king was crowned in Notre", "Kings"),
    Document("a2", "Dame of Paris, a large church.", "Kings"),
    Document("b1", "He sailed with Notre", "Ships"),
    Document("c1", "Dame of Paris was a ship.", "Other ships"),
    Document("d1", "Notre", ""),
    Document("d2", "Dame of Paris", ""),
    Document("d3", "Notre", ""),
]


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    texts = [f"{d.title} {d.text} king crowned" for d in DOCUMENTS]
    return build_index(
        DOCUMENTS, train_vocabulary(texts * 3, 400), tmp_path_factory.mktemp("indexed") / "i"
    )


def indexed(*given):
    return measured_of(*given)[0]


def case(question="who", answers=(), positives=(), passages=()):
    """A question with positives and passages given by id."""
    gold = tuple(Positive(id_, "", None) for id_ in positives)
    found = tuple(Passage(id_, "", "", None, None) for id_ in passages)
    return Case("q", question, (), tuple(answers), gold, found, ())


def test_coverage_counts_words_as_written_or_capitalised(index):
    # "king" as it is (and "KING" is the same word again), "paris" as " Paris"; "kINGS" is neither
    # " kINGS" nor " KINGS", "zebra" is nowhere: 2 of 4.
    question = "king paris, KING zebra kINGS"
    assert indexed(case(question), index, 10)["coverage"] == 2 / 4


def test_unknown_words_are_not_covered(tmp_path):
    from tokenizers import Tokenizer, models, pre_tokenizers

    from argus.generative.vocabulary import Vocabulary

    words = ["<pad>", "</s>", "<unk>", "tower", "in"]
    tokenizer = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    names = {"eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
    index = build_index(
        [Document("a", "tower in Oslo")], Vocabulary(tokenizer, names), tmp_path / "i"
    )
    assert indexed(case("tower in Rome"), index, 10)["coverage"] == 2 / 3


@pytest.mark.parametrize("near", [{"positives": ["a1"]}, {"passages": ["a2"]}])
def test_an_answer_over_the_border_of_two_passages_is_cut(index, near):
    found = indexed(case("where", ["notre dame"], **near), index, 10)
    assert found["cut_answer"] == "a1 + a2"


@pytest.mark.parametrize(
    ("near", "answers", "k"),
    [
        ({"passages": ["b1"]}, ["Notre Dame"], 10),  # the next one has another title
        ({"passages": ["d1", "d2", "d3"]}, ["Notre Dame"], 10),  # none has a title
        ({"positives": ["a1"]}, ["Notre Dame", "crowned"], 10),  # one holds another answer
        ({"positives": ["a1"]}, ["Dame of"], 10),  # whole in the second one
        ({"positives": ["a1"]}, ["Dame"], 10),  # a word
        ({"positives": ["a1"]}, ["?"], 10),
        ({"passages": ["d1", "a1"]}, ["Notre Dame"], 1),  # beyond the first k
    ],
)
def test_no_other_answer_is_called_cut(index, near, answers, k):
    assert indexed(case("where", answers, **near), index, k)["cut_answer"] is None


def test_every_id_of_every_segment_is_found_and_no_other(tmp_path, monkeypatch):
    ids = [f"p{n}" for n in range(60)] + ["é\ud800", ""]
    random.Random(0).shuffle(ids)
    documents = [Document(id_, f"text {n}") for n, id_ in enumerate(ids)]
    folder = tmp_path / "i"
    monkeypatch.setattr("argus.generative.passages.BLOCK", 40)
    index = build_index(documents, train_vocabulary(["text 1"], 270), folder, segment_tokens=1)
    assert len(index.segments) == 2
    assert [number_of_id(index, id_) for id_ in index.ids()] == list(range(62))
    assert number_of_id(index, "p60") is None
