"""Precision and prompts where nobody says them."""

import numpy as np
import pytest

from argus.data.types import Document
from argus.encoders.config import Prompt, resolve_prompts
from argus.encoders.load import choose_precision
from argus.errors import InputError
from argus.retrievability.exposure import exposure

TEXTS = [f"text {i}" for i in range(60)]


class Turned:
    """Encodes texts to rows of (cos angle, sin angle), one of them perhaps to (0, 1)."""

    def __init__(self, angle=0.0, wrong=""):
        self.row, self.wrong = (np.cos(angle), np.sin(angle)), wrong

    def encode_documents(self, texts):
        return np.array([(0, 1) if text == self.wrong else self.row for text in texts], np.float32)


@pytest.mark.parametrize(
    ("half", "cosine", "accepted"),
    [
        (Turned(), 1, True),
        (Turned(angle=0.05), 0.99875, False),
        (Turned(wrong="text 59"), 0, False),
    ],
)
def test_bfloat16_is_taken_where_it_changes_no_vector(half, cosine, accepted):
    encoders = {"float32": Turned(), "bfloat16": half}
    best, (trial,) = choose_precision(encoders.__getitem__, TEXTS, has_units=True)
    assert best is encoders["bfloat16" if accepted else "float32"]
    assert trial["accepted"] == accepted and trial["min_cosine"] == pytest.approx(cosine, abs=1e-5)


def test_without_units_it_is_not_tried():
    encoders = {"float32": Turned()}
    assert choose_precision(encoders.__getitem__, TEXTS, has_units=False)[1] == []


OWN = {"query": "", "document": "", "passage": "passage: ", "search_query": "find: "}


def test_usual_names_are_understood():
    prompts = resolve_prompts(OWN)
    assert prompts.query == Prompt("find: ", "search_query")
    assert prompts.document == Prompt("passage: ", "passage")


@pytest.mark.parametrize("own", [OWN, {}])
@pytest.mark.parametrize("option", ["query", "document"])
def test_a_word_that_is_no_name_is_refused(own, option):
    with pytest.raises(InputError) as error:
        resolve_prompts(own, **{option: "pasage"})
    assert error.value.where == f"--{option}-prompt"
    assert ("'passage'" in str(error.value)) == bool(own)


def test_a_report_tells_the_check_of_bfloat16(monkeypatch, tmp_path):
    monkeypatch.setattr("argus.encoders.load.has_bfloat16", lambda device: True)
    documents = [Document(f"d{i}", f"Part {i} is a part.", f"Part {i}") for i in range(3)]
    result = exposure(documents, out=tmp_path, encoder="all-MiniLM-L6-v2")
    assert "bfloat16: least cosine to float32 0.9" in result.report.read_text(encoding="utf-8")
