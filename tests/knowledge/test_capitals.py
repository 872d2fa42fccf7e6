import pytest

from argus.corpora.opening import read_corpus
from argus.knowledge.gazetteer import CapitalisedNames


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("born in New York by train", ["New York"]),
        ("the Prime Minister of the United Kingdom left", ["Prime Minister of the United Kingdom"]),
        ("by J. R. R. Tolkien and others", ["J. R. R. Tolkien"]),
        ("the U.S. Congress met", ["U.S. Congress"]),
        ("on Apollo 11 they flew", ["Apollo 11"]),
        ("with Hale-Bopp's tail", ["Hale-Bopp"]),
        ("saw Mike Connors and Robert Redford act", ["Mike Connors", "Robert Redford"]),
        ("from London, Paris and Oslo", ["London", "Paris", "Oslo"]),
        ("by Émile\nZola, of Évry", ["Émile\nZola", "Évry"]),
        ("on 23 March 2017, a Monday", []),
        ("yes, I think I'm right", []),
        ("東京 is far", []),
        (" \n", []),
    ],
)
def test_capitalised_runs_with_connectors_inside_are_names(text: str, names: list[str]) -> None:
    (mentions,) = CapitalisedNames().find([text])
    assert [m.surface for m in mentions] == names
    assert [text[m.span.start : m.span.end] for m in mentions] == names


def test_most_titles_that_begin_a_wiki2_passage_are_found_whole(shared) -> None:
    documents = [d for d in read_corpus(shared("wiki2")) if d.text.startswith(f"{d.title}(")]
    mentions = CapitalisedNames().find([d.text for d in documents])
    whole = [
        bool(own) and own[0].surface == document.title
        for document, own in zip(documents, mentions, strict=True)
    ]
    assert len(whole) > 1000
    assert sum(whole) / len(whole) > 0.8, "0.831 when this was written"
