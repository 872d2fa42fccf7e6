import time

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from argus.data.types import Span
from argus.remedies.guard import CLOSING, Insertion, examine, find_places, insert

DOCUMENT = "Bern lies on the Aare. Bern is old, and Zurich is larger (than Bern)."
CONTEXT = {"Bern": ["Bern is the capital of Switzerland."], "Aare": ["The Aare is a Swiss river."]}
SPANS = {e: Span(DOCUMENT.index(e), DOCUMENT.index(e) + len(e)) for e in CONTEXT}


def judged(synthesis):
    """Return the insertions that are found, or the reason why the text is rejected."""
    return examine(DOCUMENT, synthesis, SPANS, CONTEXT)


def without(text, document, insertions):
    """Delete what `apply` inserted, by arithmetic of its own."""
    for i in sorted(insertions, key=lambda i: i.at):
        comma = i.at < len(document) and document[i.at] not in CLOSING
        added = f", {i.description}" + "," * comma
        assert text[i.at : i.at + len(added)] == added
        text = text[: i.at] + text[i.at + len(added) :]
    return text


def test_descriptions_after_first_mentions_are_read():
    text = (
        "Bern, capital of Switzerland, lies on the Aare, Swiss river. "
        "Bern is old, and Zurich is larger (than Bern)."
    )
    assert [(i.entity, i.description) for i in judged(text)] == [
        ("Bern", "capital of Switzerland"), ("Aare", "Swiss river"),
    ]  # fmt: skip
    assert judged(f"\n {text}\n") == judged(text)
    assert insert(DOCUMENT, judged(text)) == text


@pytest.mark.parametrize(
    "change",
    [
        ("lies on", "lay on"),
        ("Bern is old", "Bern, capital of Switzerland, is old"),  # a later mention
        ("Zurich", "Zurich, capital of Switzerland,"),  # not offered
        (" and Zurich is larger", ""),
        ("Bern lies", "Bern, the old capital of all Switzerland, lies"),  # six words
        ("Bern lies", "Bern (capital of Switzerland) lies"),
        ("Bern lies", "Bern, capital of Switzerland. Bern is Swiss, lies"),
        ("Bern lies", "Bern, capi\u200btal, lies"),
        ("Bern lies", "Bern, capital\u00a0of Switzerland, lies"),
        ("Bern lies", "Bern, a" + "\u0301" * 4 + ", lies"),
        ("Bern lies", "Bern, " + "c" * 33 + ", lies"),
    ],
)
def test_anything_else_is_rejected(change):
    reason = judged(DOCUMENT.replace(*change, 1))
    assert "it is not the document with descriptions of at most 5 words" in reason


@pytest.mark.parametrize("said", ["capital of Acme", "AcmeCola", "capital in 1999", "of the"])
def test_what_the_passages_do_not_say_is_rejected(said):
    reason = judged(DOCUMENT.replace("Bern lies", f"Bern, {said}, lies"))
    assert reason == f"{said!r} after 'Bern' is not supported by the knowledge base"


TEXT = st.text(st.sampled_from("Ab1 ,.;:!?()'\n\r\t-éß字\u0301\u200b\U0001f600"), max_size=60)
WORD = st.sampled_from(["Ab", "1", "b", "é", "字", "St. Ab", "A.B.", "R&B", "1990", "a-b", "Ab's"])
DESCRIPTION = st.lists(WORD, min_size=1, max_size=4).map(" ".join)
SUPPORT = "Ab b é 字 St. Ab A.B. R&B a-b 1990 1"


@st.composite
def documents_and_mentions(draw):
    document = draw(TEXT.filter(bool))
    cuts = st.tuples(st.integers(0, len(document) - 1), st.integers(1, 8))
    spans = [
        Span(start, min(start + size, len(document) + 1))
        for start, size in draw(st.lists(cuts, max_size=6))
    ]
    return document, {f"e{i}": span for i, span in enumerate(spans)}


@st.composite
def edited(draw):
    """A document, its first mentions, and a synthesis that may or may not be acceptable."""
    document, spans = draw(documents_and_mentions())
    kind = draw(st.sampled_from(["any", "inserted", "applied"]))
    if kind == "any":
        return document, spans, draw(st.one_of(TEXT, st.just(document)))
    if kind == "applied":
        where = find_places(document, spans)
        chosen = [Insertion(at, e, draw(DESCRIPTION)) for e, at in where.items()]
        return document, spans, insert(document, chosen)
    at = draw(st.integers(0, len(document)))
    piece = f", {draw(DESCRIPTION)}{draw(st.sampled_from(['', ',']))}"
    return document, spans, document[:at] + piece + document[at:]


def compared(text):
    """What is left when white space around and commas that close are of no account."""
    return text.strip().replace("\r\n", "\n").replace(",", "")


@given(edited())
def test_deleting_insertions_gives_the_document_back(case):
    document, spans, synthesis = case
    found = examine(document, synthesis, spans, {e: [SUPPORT] for e in spans})
    assume(not isinstance(found, str))
    text = insert(document, found)
    assert without(text, document, found) == document
    assert compared(text) == compared(synthesis)
    assert {i.at for i in found} <= set(find_places(document, spans).values())


@pytest.mark.parametrize("unit", [", a", ",", ", ", "a. ", ", a.a.a", "a, a ", ", b, a"])
def test_hostile_texts_take_linear_time(unit):
    document = (unit * 30_000)[:30_000]
    step = len(unit)
    spans = {f"e{i}": Span(i, i + step) for i in range(0, 15_000, step)}
    start = time.process_time()
    for synthesis in (document, document + unit, document.replace("a", "a, a", 20), unit * 29_000):
        examine(document, synthesis, spans, {e: ["a"] for e in spans})
    assert time.process_time() - start < 10  # quadratic, it would be minutes
