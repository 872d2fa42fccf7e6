"""Headers of PEPs, as their list in JSON has them, and of KEPs (shortened)."""

import json
from pathlib import Path

from argus.authority.domains import load_domain
from argus.authority.relation import Authority

PEPS = [
    (245, "Rejected", "11-Jan-2001", None, "246"),
    (246, "Rejected", "21-Mar-2001", None, "245, 3124"),
    (3124, "Deferred", "28-Apr-2007", "245, 246", "443"),
    (443, "Final", "22-May-2013", "3124", None),
    (5, "Superseded", "26-Oct-2000", None, "387"),
    (387, "Active", "18-Jun-2009", None, None),
    (402, "Rejected", "12-Jul-2011", "382", None),
    (382, "Final", "02-Apr-2009", None, None),
]
KEYS = ("number", "status", "created", "replaces", "superseded_by")
KEPS = [
    {"kep-number": "0009", "status": "replaced", "superseded-by": ["KEP-1234"]},
    {"kep-number": 1234, "status": "implemented", "creation-date": "2019-01-02"},
]


def test_either_header_supersedes_and_what_is_not_in_force_does_not(tmp_path: Path) -> None:
    rows = [*(dict(zip(KEYS, pep, strict=True)) for pep in PEPS), *KEPS]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    domain = load_domain("proposals")
    records = domain.read(tmp_path / "rows.jsonl")
    authority = Authority(records, domain.rules)
    controls = {one.id: authority.controlling([one.id]) for one in records}
    assert str(records[0].time) == "11-Jan-2001"
    assert controls["3124"] == ["443"] and controls["5"] == ["387"]
    assert controls["382"] == ["382"], "a rejected proposal replaces nothing"
    assert controls["246"] == ["246"], "nor do those that a deferred one names"
    assert controls["0009"] == ["1234"]
