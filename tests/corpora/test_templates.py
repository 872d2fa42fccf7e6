"""How title and text were joined is found from the vectors, or named; never assumed."""

from dataclasses import replace

import numpy as np
import pytest

from argus.corpora.stored import COMPARED, USUAL, find_template
from argus.data.types import Document
from tests.corpora.conftest import Asked

# MiniLM reads any white space as one space, so these cannot be told from "{title} {text}".
BLANK_ALIKE = {"{title}\n{text}", "{title}\n\n{text}"}


@pytest.fixture(scope="module")
def documents(wiki2):
    """Titles that begin the text, that do not, and none."""
    return wiki2[:24] + [Document(d.id, d.text) for d in wiki2[24:34]]


@pytest.mark.parametrize("template", [t for t in USUAL if t != "{title}"])
def test_the_template_is_found_in_vectors_as_they_are_and_in_int8(template, documents, minilm):
    joined = [replace(d, template=template).content or "x" for d in documents]
    vectors = minilm.encode_documents(joined)
    scale = np.abs(vectors).max(axis=1, keepdims=True) / 127
    rounded = np.round(vectors / scale).astype(np.int8) * scale
    rounded /= np.linalg.norm(rounded, axis=1, keepdims=True)
    for stored, least in (vectors, 0.999), (rounded, 0.99):
        asked = Asked(minilm)
        agreement = find_template(documents, stored, range(len(documents)), asked)
        assert len(asked.asked) < len(USUAL) * COMPARED / 2, "what disagrees is soon left"
        assert agreement.holds and least < agreement.least and len(agreement.cosines) == COMPARED
        assert agreement.template == ("{title} {text}" if template in BLANK_ALIKE else template)
