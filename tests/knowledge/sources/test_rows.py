import json

import pytest

from argus.errors import InputError
from argus.knowledge.triples import EntityRows

ADA = {
    "id": "ada", "label": "Ada Lovelace", "paragraph": "Ada wrote notes.", "description": "woman",
    "aliases": ["Countess", "Ada Lovelace", "Countess"],
    "relations": ["babbage", "engine"],
}  # fmt: skip


def test_json_lines_hold_aliases_and_relations(file, written):
    source = EntityRows(file("e.jsonl", json.dumps(ADA), json.dumps({"id": "b", "title": "B"})))
    raw = written(source)
    assert source.inputs() == {"entities": source.path}
    assert raw.entities["ada"] == {
        "id": "ada", "label": "Ada Lovelace", "description": "woman", "article": "",
        "paragraph": "Ada wrote notes.",
    }  # fmt: skip
    assert (raw.entities["b"]["label"], raw.entities["b"]["paragraph"]) == ("B", "")
    assert set(raw.relations) == {
        ("ada", "related", name, "triples") for name in ("babbage", "engine")
    }
    assert raw.aliases == {("ada", "Countess", "alias")}
    assert raw.counts == {"entity": 2, "relation": 2}


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (['{"id": "a", "label": "A"}'], r"e.jsonl, line 1: no paragraph field among 'id', 'lab"),
        (['{"id": 7, "label": "A", "text": "T"}'], r"7 is a number.*--coerce-ids"),
        (['{"id": "a", "label": 1, "text": "T"}'], r"field 'label': 1 is of type int"),
        (['{"id": "a", "label": "A", "text": "T", "aliases": [1]}'], r"field 'aliases': 1 is"),
        (['{"id": "a", "label": "A", "text": "T", "aliases": {}}'], r"field 'aliases': '{}'"),
        (['{"id": "a", "label": "A", "text": "T", "relations": [null]}'], r"None is no id"),
        ([""], "no entity in it"),
    ],
)
def test_bad_rows_are_said(file, written, lines, says):
    with pytest.raises(InputError, match=says):
        written(EntityRows(file("e.jsonl", *lines)))
