"""Opinions in the shape of CourtListener's search results (shortened)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from argus.authority.domains import load_domain
from argus.authority.records import Record
from argus.authority.relation import Authority


def opinion(cluster: int, name: str, cites: list[str], day: str, **more: Any) -> dict[str, Any]:
    return {
        "absolute_url": f"/opinion/{cluster}/{name.lower().replace(' ', '-')}/",
        "caseName": name,
        "citation": cites,
        "cluster_id": cluster,
        "court": "Supreme Court of the United States",
        "court_id": "scotus",
        "dateFiled": day,
        "docketNumber": "",
        "status": "Published",
        "opinions": [{"id": cluster + 7, "type": "combined-opinion", "snippet": ""}],
        **more,
    }


PLESSY = opinion(94508, "Plessy v. Ferguson", ["163 U.S. 537", "16 S. Ct. 1138"], "1896-05-18")
BOWERS = opinion(111738, "Bowers v. Hardwick", ["478 U.S. 186", "106 S. Ct. 2841"], "1986-06-30")
ROE = opinion(108713, "Roe v. Wade", ["410 U. S. 113", "93 S. Ct. 705"], "1973-01-22")
CASEY = opinion(112786, "Planned Parenthood v. Casey", ["505 U.S. 833"], "1992-06-29")
AUSTIN = opinion(112402, "Austin v. Michigan Chamber", ["494 U.S. 652"], "1990-03-27")
BROWN = opinion(
    105221,
    "Brown v. Board of Education",
    ["347 U.S. 483"],
    "1954-05-17",
    overrules=["Plessy v. Ferguson, 163 U. S. 537 (1896)"],
)
LAWRENCE = opinion(
    130160,
    "Lawrence v. Texas",
    ["539 U.S. 558"],
    "2003-06-26",
    text="Its continuance as precedent demeans the lives of homosexual persons. Bowers v. "
    "Hardwick, 478 U. S. 186, should be and now is overruled.",
)
CITIZENS = opinion(
    1741,
    "Citizens United v. FEC",
    ["558 U.S. 310"],
    "2010-01-21",
    opinions=[{"id": 1, "snippet": "For these reasons we now overrule Austin v. Michigan Chamber "
               "of Commerce, 494 U. S. 652. In Buckley v. Valeo, 424 U. S. 1, we held otherwise."}],
)  # fmt: skip
DOBBS = opinion(
    6480696,
    "Dobbs v. Jackson Women's Health Organization",
    ["597 U.S. 215"],
    "2022-06-24",
    overrules=["410 U.S. 113", "505 U.S. 833"],
)
ALL = [PLESSY, BOWERS, ROE, CASEY, AUSTIN, BROWN, LAWRENCE, CITIZENS, DOBBS]


def read(tmp_path: Path, *opinions: dict[str, Any]) -> list[Record]:
    answer = {"count": len(opinions), "next": None, "previous": None, "results": opinions}
    (tmp_path / "search.json").write_text(json.dumps(answer))
    return load_domain("courts").read(tmp_path / "search.json")


def test_an_opinion(tmp_path: Path) -> None:
    (record,) = read(tmp_path, PLESSY)
    assert (record.id, record.type, record.title) == ("94508", "opinion", "Plessy v. Ferguson")
    assert record.scope == {"citation": "163 U.S. 537"}
    assert record.metadata["citations"] == ["163 U.S. 537", "16 S. Ct. 1138"]
    assert str(record.time) == "1896-05-18"


def test_opinions_are_overruled_by_key_and_by_text(tmp_path: Path) -> None:
    authority = Authority(read(tmp_path, *ALL), load_domain("courts").rules)
    controls = {record.title: authority.controlling([id_]) for id_, record in
                authority.records.items()}  # fmt: skip
    assert controls == {
        "Plessy v. Ferguson": ["105221"],
        "Bowers v. Hardwick": ["130160"],
        "Roe v. Wade": ["6480696"],
        "Planned Parenthood v. Casey": ["6480696"],
        "Austin v. Michigan Chamber": ["1741"],
        "Brown v. Board of Education": ["105221"],
        "Lawrence v. Texas": ["130160"],
        "Citizens United v. FEC": ["1741"],
        "Dobbs v. Jackson Women's Health Organization": ["6480696"],
    }


@pytest.mark.parametrize(
    ("text", "cites"),
    [
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
    ],
)  # fmt: skip
def test_what_a_text_says_it_overrules(text: str, cites: str | None, tmp_path: Path) -> None:
    (record,) = read(tmp_path, opinion(1, "A v. B", [], "2000", text=text))
    assert record.scope.get("overrules") == cites


def test_a_cluster_without_search_fields_has_its_own_id(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"id": 7, "caseName": "A v. B", "dateFiled": "1896", "text": "T"}\n')
    (record,) = load_domain("courts").read(path)
    assert (record.id, record.text, record.scope) == ("7", "T", {})
