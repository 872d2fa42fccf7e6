from importlib import import_module
from importlib.util import find_spec

import pyarrow as pa
import pytest

import argus
from argus.corpora.opening import read_corpus
from argus.data.fields import FieldNames
from argus.errors import InputError
from tests.support.words import ByWords, corpus

ROWS = {
    "_id": ["a", "b", "c"],
    "title": ["Alder", None, "Cedar"],
    "text": ["One tree.", "Another.", "A third."],
    "year": [1999, None, 2001],
}


def frames():
    names = [name for name in ("pandas", "polars") if find_spec(name)]
    return [pa.table(ROWS), *(import_module(name).DataFrame(ROWS) for name in names)]


def test_every_kind_of_frame_gives_the_same_documents():
    first, *others = [read_corpus(frame) for frame in frames()]
    assert [(d.id, d.title, d.text) for d in first] == [
        ("a", "Alder", "One tree."), ("b", "", "Another."), ("c", "Cedar", "A third."),
    ]  # fmt: skip
    for other in others:
        assert [(d.id, d.title, d.text) for d in other] == [(d.id, d.title, d.text) for d in first]
    assert first[0].metadata == {"year": 1999} and first[1].metadata == {}


def test_columns_are_named_and_the_first_rows_taken():
    table = pa.table({"key": ["a", "b"], "body text": ["x y", "z"]})
    fields = FieldNames(id="key", text="body text")
    assert [d.text for d in read_corpus(table, fields, limit=1)] == ["x y"]


def test_a_frame_is_measured_as_its_documents_are(tmp_path):
    rows = [{"_id": d.id, "title": d.title, "text": d.text} for d in corpus()]
    config, retriever = argus.ExposureConfig(k=5), ByWords(corpus(), lost=["elm-mill"])
    frame = argus.exposure(
        pa.Table.from_pylist(rows), out=tmp_path / "frame", retriever=retriever, config=config
    )
    plain = argus.exposure(corpus(), out=tmp_path / "plain", retriever=retriever, config=config)
    assert frame.table.equals(plain.table)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({"_id": ["a", "a"], "text": ["x", "y"]}, "already given on line 1"),
        ({"_id": [1, 2], "text": ["x", "y"]}, "line 1"),
        ({"name": ["a"], "text": ["x"]}, "id"),
        ({"_id": ["a"], "number": [7]}, "text"),
        ({"_id": [], "text": []}, "no document"),
    ],
)
def test_a_frame_that_is_no_corpus_is_refused(rows, message):
    with pytest.raises(InputError, match=message):
        read_corpus(pa.table(rows))
