"""The receipt: what it compares, and that it comes whatever happens around it."""

import pytest

from argus.data.types import Document
from argus.errors import InputError
from argus.evaluation.job import evaluate
from argus.explanation.job import explain
from argus.indexes.job import add_documents
from argus.indexes.views import ViewIndex


def test_the_state_before_a_repair_can_be_named_everywhere(repairable, index, tmp_path):
    first = repairable.expand(index).remedy
    add_documents(index, [Document("new", "Basel is old.")], encoder=repairable.encoder)
    second = repairable.expand(index).remedy
    state = f"{index}@before:{second}"
    opened = ViewIndex.open(index)
    views = opened.rows(f"before:{second}")
    assert set(views["remedy"].to_pylist()) == {"", first}
    assert "new" in views["doc_id"].to_pylist()
    query = "A quay in Basel"
    given = {"queries": repairable.queries, "qrels": repairable.qrels, "out": tmp_path / "e"}
    judged = evaluate(**given, indexes=(state,), encoder=repairable.encoder).summary
    assert judged["systems"][0]["name"] == state
    assert judged["systems"][0]["documents"] == 14
    explained = explain(query, "new", index=state, encoder=repairable.encoder)
    assert explained.index == state
    for unknown in ("before:", "before:x", f"before:before:{second}"):
        with pytest.raises(InputError, match=rf"unknown remedy .*expected one of {first}, "):
            opened.snapshot(unknown)
