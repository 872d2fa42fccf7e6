"""How title and text were joined is found from the vectors, or named; never assumed."""

from __future__ import annotations

import numpy as np
import pytest

from argus.corpora.stored import COMPARED, USUAL, find_template, parse_template, spread
from argus.data.types import Document, filled
from argus.errors import InputError

BLANK_ALIKE = {"{title}\n{text}", "{title}\n\n{text}"}
"""MiniLM reads any white space as one space, so these cannot be told from "{title} {text}"."""


@pytest.fixture(scope="module")
def documents(wiki2):
    """Titles that begin the text, that do not, and none."""
    return wiki2[:24] + [Document(d.id, d.text) for d in wiki2[24:34]]


def vectors_of(documents, template, encoder):
    return encoder.encode_documents(
        [Document(d.id, d.text, d.title, template=template).content or "x" for d in documents]
    )


@pytest.mark.parametrize("template", [t for t in USUAL if t != "{title}"])
def test_the_template_is_found(template, documents, encoder):
    vectors = vectors_of(documents, template, encoder)
    agreement = find_template(documents, vectors, range(len(documents)), encoder)
    assert agreement.holds and agreement.least > 0.999
    assert agreement.template == ("{title} {text}" if template in BLANK_ALIKE else template)
    assert len(agreement.cosines) == COMPARED


def test_titles_alone_are_found(wiki2, encoder):
    titled = wiki2[:20]
    agreement = find_template(
        titled, vectors_of(titled, "{title}", encoder), range(len(titled)), encoder
    )
    assert agreement.template == "{title}" and agreement.holds


def test_vectors_rounded_to_int8_agree(documents, encoder):
    vectors = vectors_of(documents, "{title}. {text}", encoder)
    scale = np.abs(vectors).max(axis=1, keepdims=True) / 127
    rounded = np.round(vectors / scale).astype(np.int8) * scale
    rounded /= np.linalg.norm(rounded, axis=1, keepdims=True)
    agreement = find_template(documents, rounded, range(len(documents)), encoder)
    assert (agreement.template, agreement.holds) == ("{title}. {text}", True)
    assert agreement.cosines.min() < 1


def test_vectors_of_a_prefix_do_not_agree(documents, encoder):
    vectors = vectors_of(documents, "passage: {title} {text}", encoder)
    agreement = find_template(documents, vectors, range(len(documents)), encoder)
    assert not agreement.holds
    named = find_template(
        documents, vectors, range(len(documents)), encoder, template="passage: {title} {text}"
    )
    assert named.holds


def test_shuffled_vectors_do_not_agree(documents, encoder):
    vectors = vectors_of(documents, "{text}", encoder)[::-1]
    agreement = find_template(documents, vectors, range(len(documents)), encoder)
    assert not agreement.holds and agreement.median < 0.5


def test_the_sample_holds_every_sort_of_text():
    documents = [Document(str(i), "text") for i in range(5000)]
    documents[4001] = Document("t", "other", "A title")
    documents[7] = Document("b", "A title, and more", "A title")
    rows = spread(documents, range(5000))
    assert {7, 4001} <= set(rows) and len(set(rows)) == COMPARED
    assert max(rows) > 4900 and spread(documents[:3], range(3)) == [0, 1, 2]


@pytest.mark.parametrize(
    ("template", "title", "text", "result"),
    [
        ("{title}: {text}", "A", "b", "A: b"),
        ("{title}: {text}", "", "b", "b"),
        ("{title}: {text}", "A", "", "A"),
        ("passage: {title}\n{text}.", "", "b", "passage: b."),
        ("{text}", "A", "b {title}", "b {title}"),
        ("{title}", "", "b", ""),
    ],
)
def test_a_template_is_filled(template, title, text, result):
    assert filled(template, title, text) == result
    assert Document("d", text, title, template=template).content == result


def test_a_template_is_read_as_a_shell_gives_it():
    assert parse_template(r"{title}\n{text}") == "{title}\n{text}"
    assert parse_template(None) is None
    for wrong in ("title text", "{titel} {text}", "{text} {text}", "{}"):
        with pytest.raises(InputError) as error:
            parse_template(wrong)
        assert error.value.where == "--template"
