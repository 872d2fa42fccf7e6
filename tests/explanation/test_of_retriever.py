"""Why a document does not come back from a retriever that is asked."""

from __future__ import annotations

import json

import pytest

from argus.data.beir import write_beir
from argus.data.fields import FieldNames
from argus.data.types import Query
from argus.errors import ArgusError, InputError
from argus.explanation.config import RunConfig
from argus.explanation.of_retriever import explain_retriever
from argus.explanation.types import Cause, Verdict
from tests.support.retrievable import DOCUMENTS, word_store
from tests.support.word_encoder import WordEncoder


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    write_beir(folder, DOCUMENTS, [Query("q1", "hot leaves"), Query("q2", "rain")], {})
    return folder


def listed(query, k):
    """Two results at k, and what would follow where more are asked for."""
    return ["coffee", "rain", "ska", "tea"][:k]


def scored(query, k):
    return list(zip(listed(query, k), (4.0, 3.0, 2.0, 0.5), strict=False))


def test_its_rank_and_what_stands_above_it_are_told(corpus):
    result = explain_retriever("hot leaves", "tea", scored, RunConfig(k=2, corpus=corpus))
    place = result.standing
    assert (place.rank, place.came_back, place.gap) == (4, False, 2.5)
    assert [row.id for row in place.above] == ["coffee", "rain"]
    assert result.cause is Cause.LEXICAL and "the retriever 4" in result.verdict
    assert (result.run, result.query, result.query_id) == ("scored", "hot leaves", "query")
    assert Cause.IDENTIFIERS not in {f.cause for f in result.findings}
    json.dumps(result.as_dict())


def test_ids_without_scores_have_no_gap(corpus):
    result = explain_retriever("q1", "ska", listed, RunConfig(k=2, corpus=corpus, queries=corpus))
    assert (result.query_id, result.query) == ("q1", "hot leaves")
    assert result.standing.rank == 3 and result.standing.gap is None
    assert "(rank 3 of 4)" in result.verdict


def test_it_is_asked_as_people_ask_it(corpus):
    """A reranker puts other documents first where it is given more of them."""

    def reranked(query, k):
        return listed(query, k) if k < 10 else listed(query, k)[::-1]

    result = explain_retriever("hot leaves", "tea", reranked, RunConfig(k=2))
    assert not result.came_back and result.standing.rank == 3
    assert [row.id for row in result.standing.above] == ["coffee", "rain"]
    assert explain_retriever("hot leaves", "rain", reranked, RunConfig(k=2)).came_back


def test_columns_of_any_name_are_read(tmp_path):
    rows = [{"key": d.id, "words": d.text, "m": {"head": d.title}} for d in DOCUMENTS]
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    fields = FieldNames("key", "m.head", "words")
    config = RunConfig(k=2, corpus=file, fields=fields)
    result = explain_retriever("hot leaves", "tea", scored, config)
    assert result.cause is Cause.LEXICAL and result.standing.above[0].title
    with pytest.raises(InputError, match="no id field"):
        explain_retriever("hot leaves", "tea", scored, RunConfig(k=2, corpus=file))


def test_a_store_is_asked(corpus, tmp_path):
    result = explain_retriever(
        "hot leaves", "ska", word_store(tmp_path / "qdrant"), RunConfig(k=2, corpus=corpus),
        encoder=WordEncoder(),
    )  # fmt: skip
    assert result.standing.above[0].id == "tea" and result.standing.above[0].says
    (found,) = (f for f in result.findings if f.cause is Cause.CORPUS)
    assert found.state is Verdict.RULED_OUT and not result.came_back


def test_what_cannot_be_explained_is_told(corpus):
    def down(query, k):
        raise OSError("refused")

    with pytest.raises(ArgusError, match=r"down failed the query: .*refused"):
        explain_retriever("hot leaves", "tea", down)
    with pytest.raises(InputError, match="no query has the id 'q7'"):
        explain_retriever("q7", "tea", listed, RunConfig(queries=corpus))
    with pytest.raises(InputError, match="retriever and corpus belong together"):
        explain_retriever("tea", "tea", lambda query: ["x"], RunConfig(corpus=corpus))
    with pytest.raises(InputError, match="an empty document id"):
        explain_retriever("tea", " ", listed)
