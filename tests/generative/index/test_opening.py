"""Damaged and foreign parts of an n-gram index are refused before compiled code follows them."""

import json
import shutil
from itertools import pairwise

import numpy as np
import pytest

from argus.data.types import Document
from argus.errors import InputError
from argus.generative.index import NgramIndex, build_index
from argus.generative.vocabulary import train_vocabulary

TEXTS = [f"The tower number {n} stands in Paris, of iron." for n in range(120)]
OTHERS = [f"A river of {n} miles flows to the sea." for n in range(90)]
LISTED = ["of " * 700, "of " * 700 + "iron", "of iron " * 700, "iron"]
"""Tokens frequent enough for continuation lists."""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Two indexes of as many token ids, of two tokenizers."""
    home = tmp_path_factory.mktemp("indexes")
    for name, texts in (("a", [*TEXTS, *LISTED]), ("b", OTHERS)):
        documents = [Document(str(i), text) for i, text in enumerate(texts)]
        build_index(documents, train_vocabulary(texts, 275), home / name)
    return home


@pytest.fixture
def index(built, tmp_path):
    shutil.copytree(built / "a", tmp_path / "a")
    return tmp_path / "a"


ARRAYS = [
    *("text", "suffixes", "first", "list_pointers", "list_tokens", "list_begins"),
    *("starts", "splits", "hashes", "order", "id_pointers", "id_bytes"),
]


@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_of_another_index_is_refused(built, index, name):
    shutil.copy(built / "b" / "segments/0001" / f"{name}.npy", index / "segments/0001")
    with pytest.raises(InputError, match=r"segments/0001/.*\.npy: .*--fresh"):
        NgramIndex.open(index)


def _rolled(array):
    return np.roll(array, 7)


def _shuffled_within_tokens(index):
    """Return the suffixes with those that begin with one token in another order."""
    folder = index / "segments/0001"
    suffixes, first = np.load(folder / "suffixes.npy"), np.load(folder / "first.npy")
    rng = np.random.default_rng(0)
    for begin, end in pairwise(first.tolist()):
        rng.shuffle(suffixes[begin:end])
    return suffixes


def test_suffixes_in_another_order_are_refused(index):
    shuffled = _shuffled_within_tokens(index)
    np.save(index / "segments/0001/suffixes.npy", shuffled)
    with pytest.raises(InputError, match=r"suffixes\.npy: suffixes .* not in their order"):
        NgramIndex.open(index)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("suffixes", lambda a: np.full_like(a, 2**31 - 1)),
        ("suffixes", lambda a: a * 0 - 1),
        ("suffixes", _rolled),
        ("suffixes", lambda a: a.astype(np.int64)),
        ("suffixes", lambda a: a[None]),
        ("text", lambda a: np.full_like(a, 65_535)),
        ("first", lambda a: a - 10**12),
        ("first", lambda a: a[::-1].copy()),
        ("starts", lambda a: np.full_like(a, -(10**12))),
        ("starts", _rolled),
        ("splits", lambda a: a + 10**6),
        ("splits", lambda a: -a),
        ("id_pointers", lambda a: a * 0),
        ("list_pointers", _rolled),
        ("list_begins", lambda a: a + 1),
        ("list_begins", lambda a: a[::-1].copy()),
        ("list_tokens", lambda a: np.full_like(a, 65_535)),
    ],
)
def test_numbers_that_lead_nowhere_are_refused(index, name, change):
    file = index / "segments/0001" / f"{name}.npy"
    np.save(file, change(np.load(file)))
    with pytest.raises(InputError, match=rf"{name}\.npy: .*--fresh"):
        NgramIndex.open(index)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("segments", ["0001", "0001"], "segments: '0001', '0001'"),
        ("segments", ["../../b/segments/0001"], "segments: "),
        ("segments", [1], "segments: 1"),
        ("border", 5, r"text\.npy|first\.npy"),
        ("border", -1, "border -1"),
        ("border", "2", "border: '2'"),
        ("size", 10**6, "shape"),
        ("identities", [], "identities"),
    ],
)
def test_a_manifest_of_another_index_is_refused(index, key, value, message):
    file = index / "ngram.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {key: value}))
    with pytest.raises(InputError, match=message):
        NgramIndex.open(index)


def test_an_index_of_an_earlier_version_opens(index):
    file = index / "ngram.json"
    content = json.loads(file.read_text())
    assert content.pop("identities")
    file.write_text(json.dumps(content))
    opened = NgramIndex.open(index)
    assert opened.n_documents == len(TEXTS) + len(LISTED)
    assert opened.title_and_text(0)[1] == TEXTS[0]
