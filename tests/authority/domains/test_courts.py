"""Opinions in the shape of CourtListener's search results (shortened)."""

import json
from pathlib import Path

from argus.authority.domains import load_domain

PLESSY = {
    "caseName": "Plessy v. Ferguson",
    "citation": ["163 U.S. 537", "16 S. Ct. 1138"],
    "cluster_id": 94508,
    "court_id": "scotus",
    "dateFiled": "1896-05-18",
    "opinions": [{"id": 94515, "type": "combined-opinion", "snippet": ""}],
}
OVERRULED = [
    ("We overrule Plessy v. Ferguson, 163 U.S. 537.", "163 U.S. 537"),
    ("Today we expressly overrule Adkins v. Children's Hospital, 261 U. S. 525 (1923).",
     "261 U.S. 525"),
    ("We therefore overrule Board of Ed. v. Barnette,\n319 U.S. 624.", "319 U.S. 624"),
    ("The Court today overrules Abood v. Detroit Bd. of Ed., 431 U.S. 209.", "431 U.S. 209"),
    ("Swift v. Tyson, 41 U.S. 1, is hereby overruled.", "41 U.S. 1"),
    ("We decline to overrule Roe v. Wade, 410 U.S. 113.", None),
    ("We do not overrule Roe v. Wade, 410 U.S. 113.", None),
    ("I would overrule Roe v. Wade, 410 U.S. 113.", None),
    ("Bowers, 478 U.S. 186, was overruled by Lawrence v. Texas, 539 U.S. 558.", None),
    ("Plessy, 163 U.S. 537, is overruled by Brown.", None),
    ("Roe v. Wade, 410 U.S. 113, should not be overruled.", None),
    ("We overrule the exception. The Court in Roe v. Wade, 410 U.S. 113, held so.", None),
    ("We overrule that. See Roe v. Wade, 410 U.S. 113.", None),
    ("We overrule Foo Corp. v. Bar Bros., Inc., 410 U.S. 113.", "410 U.S. 113"),
    ("We overrule the objection; see Roe v. Wade, 410 U.S. 113.", None),
]  # fmt: skip


def test_an_opinion_has_its_citation_and_what_it_overrules(tmp_path: Path) -> None:
    texts = [PLESSY | {"cluster_id": i, "text": text} for i, (text, _) in enumerate(OVERRULED)]
    answer = {"count": 1, "next": None, "previous": None, "results": [PLESSY, *texts]}
    (tmp_path / "search.json").write_text(json.dumps(answer))
    record, *opinions = load_domain("courts").read(tmp_path / "search.json")
    assert (record.id, record.type, record.title) == ("94508", "opinion", "Plessy v. Ferguson")
    assert record.scope == {"citation": "163 U.S. 537"}
    assert record.metadata["citations"] == ["163 U.S. 537", "16 S. Ct. 1138"]
    assert str(record.time) == "1896-05-18"
    for opinion, (text, citation) in zip(opinions, OVERRULED, strict=True):
        assert opinion.scope.get("overrules") == citation, text
