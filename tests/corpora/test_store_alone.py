"""`argus check STORE`, where nothing is known but the store's name."""

import shlex

import pytest

from argus.corpora import StoreCorpus
from argus.corpora.opening import read_corpus
from argus.errors import InputError
from tests.cli.conftest import argus as argus
from tests.support.payloads import write_payloads
from tests.support.stored_corpora import FILLS, ListStore
from tests.support.stores import LOCAL

UNMEASURED = "not measured, how its texts find them:"


def next_command(out: str) -> list[str]:
    """Return the first command below "next, by what it is expected to bring"."""
    lines = out.partition("next, by what")[2].splitlines()
    return shlex.split(next(line for line in lines if line.strip().startswith("argus ")))[1:]


@pytest.mark.parametrize("kind", ["lancedb", "sqlite-vec"])  # a folder and a file
def test_a_store_of_the_default_model_is_searched_by_its_texts(
    kind, argus, tmp_path, wiki2, vectors
):
    spec = FILLS[kind](tmp_path / "store", wiki2, vectors)
    ran = argus("check", spec, "--sample", "4", "--out", "report")
    assert ran.code == 0, ran.err
    assert "a sample: 4 of 36 documents" in ran.out and UNMEASURED not in ran.out
    assert "4 of 4 come back" in ran.out and "verdict: " in ran.out
    following = next_command(ran.out)
    assert following[:4] == ["tune", "apply", "blend", "--store"]
    if kind == "sqlite-vec":  # the quickest
        ran = argus(*following)
        assert ran.code == 0, ran.err


@pytest.mark.parametrize(
    ("kind", "why"),
    [("faiss", "its records hold no text (fields: none)"),
     ("chroma", "holds 16; "), ("sqlite-vec", "--encoder")],
)  # fmt: skip
def test_what_cannot_be_measured_is_told_and_no_failure(kind, why, argus, tmp_path):
    ran = argus("check", LOCAL[kind](tmp_path / "store").spec, "--out", "report")
    assert ran.code == 0, ran.err
    assert "60 of 60 come back" in ran.out and "not measured: what people ask" in ran.out
    (note,) = (line for line in ran.out.splitlines() if line.startswith(UNMEASURED))
    assert why in note
    following = next_command(ran.out)
    assert following == ["gate", "report", "--max-unreachable-share", "0.001"]
    assert argus(*following).code == 0


def test_the_field_of_the_longest_texts_is_the_text(tmp_path, wiki2, vectors):
    rows = [{"blurb": d.text, "about": {"by": "a b"}, "key": d.id} for d in wiki2]
    spec = write_payloads(tmp_path / "store", rows, vectors)
    assert {d.text for d in read_corpus(spec)} == {d.text for d in wiki2}
    rows = [{"first": d.text, "second": d.text[::-1]} for d in wiki2]
    corpus = StoreCorpus(ListStore([d.id for d in wiki2], vectors, rows))
    with pytest.raises(InputError, match=r"\(fields: first, second\).*--text-field"):
        read_corpus(corpus)
