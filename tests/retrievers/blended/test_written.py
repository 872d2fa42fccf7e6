"""A blend that `blend_store` wrote beside an index's own, served in two lines."""

from __future__ import annotations

import json

import pytest

from argus.corpora import StoreCorpus
from argus.data.types import Document
from argus.errors import FingerprintMismatch, InputError
from argus.indexes.blend import Blend
from argus.indexes.job import build_index
from argus.reach import reach
from argus.remedies.blend.job import blend_index
from argus.remedies.writing.of_store import blend_store
from argus.retrievers.blended.retriever import BlendedRetriever
from tests.support.blended import UnitWords, queries, texts
from tests.support.stored_corpora import FILLS, opening

QUERY = queries()[0]
ENCODER = UnitWords()


@pytest.fixture
def chroma(tmp_path):
    """A store of forty documents, and an index of it with a blend of its own."""
    documents = [Document(id_, ". ".join(parts) + ".") for id_, parts in texts(40).items()]
    vectors = ENCODER.encode_documents([document.content for document in documents])
    spec = FILLS["chroma"](tmp_path / "store", documents, vectors)
    build_index(StoreCorpus(spec, opening(spec)), out=tmp_path / "index", encoder=ENCODER)
    blend_index(tmp_path / "index", encoder=ENCODER)
    return spec


def written(spec, tmp_path, **options):
    return blend_store(
        spec, encoder=ENCODER, opening=opening(spec), out=tmp_path / "out", **options
    )


def test_a_receipt_of_reach_is_not_overwritten(chroma, tmp_path):
    reach(chroma, out=tmp_path / "out")
    before = json.loads((tmp_path / "out/summary.json").read_text())["reach"]
    remedy = written(chroma, tmp_path).remedy
    after = json.loads((tmp_path / "out/summary.json").read_text())
    assert after["reach"] == before and after["written"]["remedy"] == remedy
    own = json.loads((tmp_path / "out" / remedy / "summary.json").read_text())["reach"]
    assert own["store"] != before["store"]


def test_another_encoder_is_refused(chroma, tmp_path):
    class Other(UnitWords):
        fingerprint = "other words"

    written(chroma, tmp_path)
    with pytest.raises(FingerprintMismatch) as error:
        BlendedRetriever(f"{chroma}_argus", encoder=Other())
    assert (error.value.stored, error.value.given) == ("unit words", "other words")


def open_index(tmp_path):
    from argus.indexes.retriever import open_retriever

    return open_retriever(tmp_path / "index", ENCODER)


def test_a_store_and_its_index_are_enough(chroma, tmp_path):
    remedy = written(chroma, tmp_path).remedy
    index = open_index(tmp_path)
    assert remedy != index.recipe.remedies[0]
    with BlendedRetriever(f"{chroma}_argus", index) as own:
        assert remedy in own.name
        assert list(own.search([QUERY], 5)[QUERY.id]) == list(index.search([QUERY], 5)[QUERY.id])
    texts_of = {id_: ". ".join(parts) + "." for id_, parts in texts(40).items()}
    with BlendedRetriever(f"{chroma}_argus", encoder=ENCODER) as own:
        for page in own.invoke(QUERY.text):
            assert page.page_content == texts_of[page.id] and page.metadata["key"] == page.id
            assert "document" not in page.metadata
    other = written(chroma, tmp_path, blend=Blend(weight=0.5)).remedy
    with pytest.raises(InputError, match="records of 2 remedies") as error:
        BlendedRetriever(f"{chroma}_argus", index)
    assert remedy in error.value.expected and other in error.value.expected
