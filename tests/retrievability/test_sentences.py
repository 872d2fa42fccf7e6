import pytest

from argus.data import Document
from argus.retrievability.sentences import hold_out, split_sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One here. Two there! Three?", ["One here.", "Two there!", "Three?"]),
        ("Dr. Smith met J. R. Hill. They spoke.", ["Dr. Smith met J. R. Hill.", "They spoke."]),
        ('He said "Go." Then left.', ['He said "Go."', "Then left."]),
        ("Version 3.11 is out. See 2.7 too.", ["Version 3.11 is out.", "See 2.7 too."]),
        ("A heading\n\nand a text", ["A heading", "and a text"]),
        ("  no end", ["no end"]),
        ("", []),
    ],
)
def test_sentences_are_split(text, expected):
    assert [text[s.start : s.end] for s in split_sentences(text)] == expected


def document(text):
    return Document("d", text, "Title")


def test_the_rest_lacks_the_sentence_and_keeps_all_else():
    text = "The first sentence has words. The second sentence has others. Short end."
    held, reasons = hold_out([document(text)], per_document=5)
    first, second = "The first sentence has words.", "The second sentence has others."
    assert [(h.sentence, h.rest) for h in held] == [
        (first, f"Title {second} Short end."), (second, f"Title {first} Short end."),
    ]  # fmt: skip
    assert not reasons


def test_what_cannot_be_asked_for_says_why():
    documents = [
        document("Only one sentence here, however long."),
        document("Too short. Also short."),
        document("Say this line twice now. Say this line twice now."),
    ]
    held, reasons = hold_out(documents, per_document=2)
    assert held == []
    assert reasons[0] == "fewer than two sentences"
    assert "stands once" in reasons[1] and "stands once" in reasons[2]
