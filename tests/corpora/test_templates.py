"""How title and text were joined is found from the vectors, or named; never assumed."""

from __future__ import annotations

import numpy as np
import pytest

from argus.corpora.stored import COMPARED, USUAL, find_template
from argus.data.types import Document

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


def test_vectors_rounded_to_int8_agree(documents, encoder):
    vectors = vectors_of(documents, "{title}. {text}", encoder)
    scale = np.abs(vectors).max(axis=1, keepdims=True) / 127
    rounded = np.round(vectors / scale).astype(np.int8) * scale
    rounded /= np.linalg.norm(rounded, axis=1, keepdims=True)
    agreement = find_template(documents, rounded, range(len(documents)), encoder)
    assert (agreement.template, agreement.holds) == ("{title}. {text}", True)
    assert agreement.cosines.min() < 1


def test_shuffled_vectors_do_not_agree(documents, encoder):
    vectors = vectors_of(documents, "{text}", encoder)[::-1]
    agreement = find_template(documents, vectors, range(len(documents)), encoder)
    assert not agreement.holds and agreement.median < 0.5
