"""What an index tells of a question: coverage, pieces, cut answers, and which passages it holds."""

import random

import pytest

from argus.data.types import Document
from argus.generative.failures.case import Case, Passage, Positive
from argus.generative.failures.indexed import IndexLookup, indexed, lookup_of, spelled, with_texts
from argus.generative.failures.measures.columns import IndexFigures
from argus.generative.index import append, build_index
from argus.generative.index.ngram_index import NgramIndex
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


def case(question="who", answers=(), positives=None, passages=()):
    """A question with positives and passages given by id."""
    return Case(
        "q", question, (), tuple(answers),
        None if positives is None else tuple(
            p if isinstance(p, Positive) else Positive(p, "", None) for p in positives
        ),
        tuple(Passage(id_, "", "", None, None) for id_ in passages), (),
    )  # fmt: skip


def test_the_columns_are_those_of_the_index_in_their_order(index):
    assert list(indexed(case(), index, 10)) == list(IndexFigures.__annotations__)


def test_coverage_counts_words_as_written_or_capitalised(index):
    # "king" as it is (and "KING" is the same word again), "paris" as " Paris"; "kINGS" is neither
    # " kINGS" nor " KINGS", "zebra" is nowhere: 2 of 4.
    question = "king paris, KING zebra kINGS"
    assert indexed(case(question), index, 10)["coverage"] == 2 / 4


def test_words_are_spelled_as_they_are_written():
    assert list(spelled("What's Río's, U.S. 1st?")) == ["What", "s", "Río", "s", "U", "S", "1st"]


def test_a_question_without_words_has_no_coverage(index):
    assert indexed(case("?!"), index, 10)["coverage"] is None


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


def test_pieces_are_of_answers_then_titles_then_the_question(index):
    sizes = {w: len(index.vocabulary.encode([w])[0]) for w in ("Paris", "Xyzzyq", "Qwrtz", "the")}
    assert sizes["Xyzzyq"] > sizes["Paris"]
    titled = [Positive("a1", "Qwrtz", None)]
    row = indexed(case("Wvwvwvwv", ["Paris", "the Xyzzyq"], titled), index, 10)
    assert (row["pieces"], row["pieces_word"]) == (sizes["Xyzzyq"], "Xyzzyq")
    row = indexed(case("Wvwvwvwv", ["the"], titled), index, 10)  # an answer of stop words
    assert (row["pieces"], row["pieces_word"]) == (sizes["Qwrtz"], "Qwrtz")
    assert indexed(case("of Wvwvwvwv"), index, 10)["pieces_word"] == "Wvwvwvwv"
    row = indexed(case("of the"), index, 10)
    assert (row["pieces"], row["pieces_word"]) == (None, None)


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
        ({"positives": ["a1"]}, [], 10),
        ({"positives": ["a1"]}, ["?"], 10),
        ({"passages": ["d1", "a1"]}, ["Notre Dame"], 1),  # beyond the first k
        ({"positives": ["unheard"]}, ["Notre Dame"], 10),
    ],
)
def test_no_other_answer_is_called_cut(index, near, answers, k):
    assert indexed(case("where", answers, **near), index, k)["cut_answer"] is None


def test_positives_are_counted_where_the_index_holds_them(index):
    assert indexed(case(positives=["a1", "b1", "unheard"]), index, 10)["positives_indexed"] == 2
    assert indexed(case(positives=["unheard"]), index, 10)["positives_indexed"] == 0
    assert indexed(case(positives=[]), index, 10)["positives_indexed"] is None
    assert indexed(case(), index, 10)["positives_indexed"] is None


def test_a_text_that_the_file_lacks_is_the_indexs(index):
    known, given, unknown = with_texts(
        case(positives=["a1", Positive("a1", "Own", "Own text."), "nowhere"]), index
    ).positives
    number = lookup_of(index).number_of_id("a1")
    assert (known.title, known.text) == index.title_and_text(number)
    assert (given.title, given.text) == ("Own", "Own text.")
    assert unknown == Positive("nowhere", "", None)
    assert with_texts(case(), index) == case()


def test_a_positive_without_id_is_found_by_its_title_and_text(index):
    lookup = IndexLookup(index)
    assert lookup.number_of(Positive(None, "kings", "Dame of  Paris, a large church.")) == 1
    assert lookup.number_of(Positive(None, "", "Dame of Paris")) == 5
    assert lookup.number_of(Positive(None, "Ships", "Dame of Paris")) is None
    assert lookup.number_of(Positive(None, "Kings", "Dame of Paris")) is None, "a part of a text"
    assert lookup.number_of(Positive(None, "Kings", None)) is None
    assert lookup.number_of(Positive("a1", "Ships", "He sailed with Notre")) == 0, "the id counts"


def test_every_id_of_every_segment_is_found_and_no_other(tmp_path):
    ids = [f"p{n}" for n in range(60)] + ["é\ud800", ""]
    random.Random(0).shuffle(ids)
    documents = [Document(id_, f"text {n}") for n, id_ in enumerate(ids)]
    folder = tmp_path / "i"
    build_index(documents[:20], train_vocabulary(["text 1"], 270), folder)
    append(folder, documents)
    index = NgramIndex.open(folder)
    assert len(index.segments) == 2
    lookup = lookup_of(index)
    assert [lookup.number_of_id(id_) for id_ in index.ids()] == list(range(62))
    assert lookup.number_of_id("p60") is None
    assert lookup_of(index) is lookup
