"""What a document is written in, by its text, on real texts of each kind; and the paper's types."""

from collections import defaultdict

import pytest

from argus.data.types import Document
from argus.errors import InputError
from argus.scenarios.document_types import (
    BRIGHT,
    PUBLISHED_WEIGHTS,
    DocumentType,
    document_type,
    type_slicings,
)
from argus.suite.recipes import read_recipe

LATEX = r"The area is $\frac{1}{2} b h$, so that $\int_0^1 x\,dx = \frac{1}{2}$."
JAVA = "public int area(int b, int h) {\n  int area = b * h / 2;\n  return area;\n}"


def test_small_texts_of_each_kind():
    assert document_type(LATEX) is DocumentType.MATH
    assert document_type("Σ (2^(-li)) ≤ 1, hence P(X) = 1 - P(Y)") is DocumentType.MATH
    assert document_type(JAVA) is DocumentType.CODE
    assert document_type("Die Fähre fährt jeden Morgen über den See.") is DocumentType.NATURAL
    assert document_type("") is DocumentType.NATURAL


def test_a_field_counts_before_the_text():
    documents = [Document("a", LATEX), Document("b", JAVA), Document("c", "A ferry.")]
    (by_text,) = type_slicings(documents, ("document-type",))
    assert by_text.labels == [("math",), ("code",), ("natural language",)]
    own = [Document(d.id, d.text, metadata={"document-type": "told"}) for d in documents]
    (by_field,) = type_slicings(own, ("document-type",))
    assert by_field.labels == [("told",)] * 3
    with pytest.raises(InputError, match="no document has a field 'kind'"):
        type_slicings(documents, ("kind",))


def test_the_published_weights_are_those_of_the_published_table(tmp_path):
    recipe = read_recipe("spike-7", {"data": tmp_path, "stdlib": tmp_path})
    means = defaultdict(lambda: defaultdict(list))
    for cell in recipe.cells:
        component, weight = cell.row.split()
        if component == "M+E" and cell.column in BRIGHT:
            means[BRIGHT[cell.column]][float(weight)].append(cell.published)
    assert {kind: len(rows[0.7]) for kind, rows in means.items()} == {
        DocumentType.NATURAL: 5, DocumentType.CODE: 4, DocumentType.MATH: 3
    }  # fmt: skip
    for kind, rows in means.items():
        best = max(sorted(rows), key=lambda weight: round(sum(rows[weight]), 6))
        assert best == PUBLISHED_WEIGHTS[kind]
