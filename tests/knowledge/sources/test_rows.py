import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from argus.errors import InputError
from argus.knowledge.triples import EntityRows

ADA = {
    "id": "ada", "label": "Ada Lovelace", "paragraph": "Ada wrote notes.", "description": "woman",
    "aliases": ["Countess", "Ada Lovelace", "Countess"],
    "relations": ["babbage", "engine"],
}  # fmt: skip
RELATIONS = {("ada", "related", "babbage", "triples"), ("ada", "related", "engine", "triples")}


def test_json_lines_hold_aliases_and_relations(file, written):
    source = EntityRows(file("e.jsonl", json.dumps(ADA), json.dumps({"id": "b", "title": "B"})))
    raw = written(source)
    assert source.inputs() == {"entities": source.path}
    assert raw.entities["ada"] == {
        "id": "ada", "label": "Ada Lovelace", "description": "woman", "article": "",
        "paragraph": "Ada wrote notes.",
    }  # fmt: skip
    assert (raw.entities["b"]["label"], raw.entities["b"]["paragraph"]) == ("B", "")
    assert set(raw.relations) == RELATIONS
    assert raw.aliases == {("ada", "Countess", "alias")}
    assert raw.counts == {"entity": 2, "relation": 2}


def test_parquet_holds_lists(tmp_path, written):
    pq.write_table(pa.Table.from_pylist([ADA, {"id": "b", "label": "B"}]), tmp_path / "e.parquet")
    raw = written(EntityRows(tmp_path / "e.parquet"))
    assert set(raw.entities) == {"ada", "b"}
    assert set(raw.relations) == RELATIONS


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (['{"id": "a", "label": "A"}'], r"no paragraph field among 'id', 'label'"),
        (['{"id": "a", "text": "A"}'], r"no label field among 'id', 'text'"),
        (['{"label": "a", "text": "A"}'], r"e.jsonl, line 1: no id field"),
        (['{"id": 7, "label": "A", "text": "T"}'], r"7 is a number.*--coerce-ids"),
        (['{"id": "a", "label": 1, "text": "T"}'], r"field 'label': 1 is of type int"),
        (['{"id": "a", "label": "A", "text": "T", "aliases": [1]}'], r"field 'aliases': 1 is"),
        (['{"id": "a", "label": "A", "text": "T", "aliases": {}}'], r"field 'aliases': '{}'"),
        (['{"id": "a", "label": "A", "text": "T", "relations": [null]}'], r"None is no id"),
        (['{"id": "a", "label": "A", "text": "T", "relations": 3}'], r"field 'relations': '3'"),
        (["not JSON"], r"line 1: broken JSON"),
        ([""], "no entity in it"),
    ],
)
def test_bad_rows_are_said(file, written, lines, says):
    with pytest.raises(InputError, match=says):
        written(EntityRows(file("e.jsonl", *lines)))
