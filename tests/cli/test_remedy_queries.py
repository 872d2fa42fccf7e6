"""`argus remedy queries`: text, JSON, and what it takes from an index and a store's name."""

from __future__ import annotations

import json

import pytest

from argus.indexes.blend import Blend
from tests.support.blended import blended_index


def test_an_index_and_a_store_say_what_is_asked(argus, tmp_path):
    blended_index(tmp_path / "index", 20, Blend(bm25=0.3))
    store = "pgvector:postgresql://me:secret@host/database/docs_argus"
    named = ("remedy", "queries", "--index", "index", "--remedy", "blend-1")
    ran = argus(*named, "--store", store, "--k", 3)
    assert ran.code in (0, None), ran.err
    assert 'FROM "docs_argus"' in ran.out and "argus_remedy = 'blend-1'" in ran.out
    assert "LIMIT 3" in ran.out and "secret" not in ran.out
    ran = argus(*named, "--engine", "elasticsearch", "--json")
    made = json.loads(ran.out)
    assert (made["remedy"], made["collection"], made["k"]) == ("blend-1", "docs_argus", 10)
    fused = made["queries"][2]["body"]["retriever"]["linear"]
    assert [part["weight"] for part in fused["retrievers"]] == [0.7, 0.3]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--remedy", "blend-1"], "neither an engine nor a store"),
        (["--engine", "qdrant"], "neither a remedy nor the store"),
        (["--engine", "solr", "--remedy", "blend-1"], "solr"),
        (["--store", "chroma:folder/docs", "--remedy", "blend-1"], "engine 'chroma'"),
        (["--engine", "qdrant", "--remedy", "blend-1", "--k", "0"], "k"),
    ],
)
def test_bad_input_is_refused(argus, options, message):
    ran = argus("remedy", "queries", *options)
    assert ran.code == 2 and message in ran.err
