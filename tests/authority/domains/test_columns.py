import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from argus.authority.domains import Domain, load_domain
from argus.authority.opening import cover
from argus.authority.relation import Authority
from argus.authority.rules import Record
from argus.errors import InputError

GHSA = (
    "rules: [{superseding: patch, superseded: disclosure, scope: [product, cve_id], order: type}]"
)


def domain(tmp_path: Path, text: str = GHSA) -> Domain:
    (tmp_path / "rules.yaml").write_text(text)
    return load_domain(tmp_path / "rules.yaml")


def read(tmp_path: Path, row: dict[str, Any]) -> Record:
    path = tmp_path / "records.jsonl"
    path.write_text(json.dumps(row) + "\n")
    return domain(tmp_path).read(path)[0]


def test_advisories_and_release_notes_read_as_they_are(
    shared: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = shared("authority/ghsa")
    given = domain(tmp_path)
    records = given.read(folder)
    assert Counter(r.type for r in records) == {"distractor": 2000, "disclosure": 159, "patch": 159}
    assert all(r.time is None for r in records)
    authority = Authority(records, given.rules)
    for line in (folder / "supersedes.jsonl").read_text().splitlines():
        pair = json.loads(line)
        assert authority.controlling([pair["superseded"]]) == [pair["superseder"]]


def test_the_case_summaries_read_as_they_are(shared: Callable[[str], Path], tmp_path: Path) -> None:
    rule = "rules: [{superseding: case_summary, superseded: case_summary, scope: [us_cite]}]"
    given = domain(tmp_path, rule)
    records = given.read(shared("authority/scotus") / "corpus.jsonl")
    assert len(records) == 3699
    assert sum(r.time is None for r in records) == 281
    years = sorted(str(r.time) for r in records if r.time and len(str(r.time)) == 4)
    assert years == ["2024", "2025"]
    assert sum("us_cite" in r.scope for r in records) == 2638, "1,061 are null"
    assert sum("docket" in r.scope for r in records) == 3639, '60 are "None"'
    (coverage,) = cover(Authority(records, given.rules))
    assert coverage["no_scope"] == 1061


def test_columns_have_the_usual_names(tmp_path: Path) -> None:
    row = {
        "doc_id": "a", "type": "patch", "date": "2024-03-01", "published": "March 2024",
        "scope": {"cve_id": ["CVE-1", "CVE-2", "CVE-1"], "product": " axios ", "n": 7},
        "title": "T", "body": " as it is ", "severity": "high", "metadata": {"tag": "v1"},
    }  # fmt: skip
    record = read(tmp_path, row)
    assert (record.id, record.type, record.title, record.text) == ("a", "patch", "T", " as it is ")
    assert record.scope == {"cve_id": ("CVE-1", "CVE-2"), "product": "axios", "n": "7"}
    assert record.metadata == {"severity": "high", "tag": "v1"}
    assert (str(record.time), str(record.published)) == ("2024-03-01", "March 2024")


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"type": "x"}, "line 1: no id field among 'type'; expected one of '_id', 'id'"),
        ({"id": "a"}, "line 1: no type field among 'id'; expected one of 'type'. Rename "
         "the column, or name yours with `records` in the domain file."),
        ({"id": 7, "type": "x"}, "field 'id': 7 is a number; expected a non-empty string. "
         'Write "7" in quotes'),
        ({"id": "a", "type": "x", "date": 20240301}, "20240301 is a number; expected a date"),
        ({"id": "a", "type": "x", "entities": ["CVE-1"]}, "field 'entities': ['CVE-1']; expected "
         "an object of keys and values"),
        ({"id": "a", "type": "x", "entities": {"k": {"v": 1}}}, "field 'entities.k': {'v': 1}"),
    ],
)  # fmt: skip
def test_fields_of_another_kind_are_told(row: dict[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        read(tmp_path, row)
    assert words in str(error.value)
