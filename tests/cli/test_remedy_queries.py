"""`argus tune apply queries`: refusals."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--remedy", "blend-1"], "neither --engine nor the store"),
        (["--engine", "qdrant"], "neither --remedy nor the store"),
        (["--engine", "solr", "--remedy", "blend-1"], "solr"),
        (["--store", "chroma:folder/docs", "--remedy", "blend-1"], "engine 'chroma'"),
        (["--engine", "qdrant", "--remedy", "blend-1", "--k", "0"], "k"),
    ],
)
def test_bad_input_is_refused(argus, options, message):
    ran = argus("tune", "apply", "queries", *options)
    assert ran.code == 2 and message in ran.err
