"""Damaged and foreign parts of an n-gram index are refused before compiled code follows them."""

import json
import shutil

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


@pytest.mark.parametrize("name", ["text", "suffixes", "starts", "splits", "hashes", "order"])
def test_an_array_of_another_index_is_refused(built, index, name):
    shutil.copy(built / "b" / "segments/0001" / f"{name}.npy", index / "segments/0001")
    with pytest.raises(InputError, match=r"segments/0001/.*\.npy: .*--fresh"):
        NgramIndex.open(index)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [("size", 10**6, "shape"), ("identities", {"0001": "other"}, "a segment of another index")],
)
def test_a_manifest_of_another_index_is_refused(index, key, value, message):
    file = index / "ngram.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {key: value}))
    with pytest.raises(InputError, match=message):
        NgramIndex.open(index)
