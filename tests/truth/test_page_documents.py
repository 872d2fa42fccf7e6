"""The page of documents: what is wrong, what is not measured, and which questions count."""

import re

import pytest
from starlette.testclient import TestClient

import argus
from argus.data.documents import as_rows
from argus.data.types import Query
from argus.data.writing import write_jsonl
from argus.service.app import create_app
from argus.service.workplace import open_workplace
from tests.support.words import ByWords, corpus

PLAIN = corpus()[:12]


def page(folder, name="documents", **values):
    with TestClient(create_app(open_workplace([folder]))) as client:
        client.base_url = "http://127.0.0.1"
        return client.get(
            f"/page/{folder.name}/{name}", params=values, headers={"accept": "text/html"}
        ).text


def options(text, name):
    """The choices of a filter: words to count, in their order."""
    (select,) = re.findall(rf'<select name="{name}">(.*?)</select>', text, re.DOTALL)
    pairs = re.findall(r"<option[^>]*>([^<(]+) \(([\d,]+)\)<", select)
    return {words: int(n.replace(",", "")) for words, n in pairs}


def causes(text):
    """What is wrong, by document, as the table shows it."""
    rows = re.findall(
        r"<tr><td><a [^>]*>([^<]+)</a>.*?</td>\s*<td[^>]*>(.*?)</td>", text, re.DOTALL
    )
    return {name: re.sub("<[^>]+>", "", cell) for name, cell in rows}


@pytest.fixture
def files(tmp_path):
    write_jsonl(tmp_path / "corpus.jsonl", as_rows(PLAIN))
    return tmp_path / "corpus.jsonl"


def test_a_document_that_was_not_drawn_is_not_measured_and_not_wrong(files, tmp_path):
    config = argus.ExposureConfig(k=5, sample=4)
    out = tmp_path / "out"
    result = argus.exposure(files, out=out, retriever=ByWords(PLAIN), config=config)
    assert result.summary["sample"]["missed"] == 0  # all that were drawn are found
    table = result.table.to_pylist()
    drawn = [row for row in table if row["own_probes"]]
    assert len(drawn) == 4
    assert {row["retrieved_by_own"] for row in table if not row["own_probes"]} == {None}
    text = page(out)
    assert options(text, "cause") == {"none found": 4, "not measured": 8}
    shown = causes(text)
    assert sum(cell == "not measured" for cell in shown.values()) == 8
    other = next(row["id"] for row in table if not row["own_probes"])
    assert "<dd>not measured</dd>" in page(out, "document", id=other)


def test_what_is_wrong_holds_causes_worst_first_and_rps_is_a_column(files, tmp_path, minilm):
    out, lost = tmp_path / "out", [PLAIN[0].id, PLAIN[1].id]
    argus.exposure(
        files, out=out, retriever=ByWords(PLAIN, lost=lost), config=argus.ExposureConfig(k=3)
    )
    relations = tmp_path / "relations.tsv"
    relations.write_text(
        "".join(f"{d.id}\tbeside\t{PLAIN[i - 1].id}\n" for i, d in enumerate(PLAIN))
    )
    argus.audit(
        files, out=out, encoder=minilm, config=argus.retrievability.AuditConfig(k=(1,), pool=(8,)),
        source=argus.knowledge.KnowledgeSource(relations=relations),
    )  # fmt: skip
    edges = tmp_path / "edges.jsonl"
    edges.write_text(f'{{"superseded": "{PLAIN[2].id}", "superseding": "{PLAIN[3].id}"}}\n')
    argus.audit_authority(
        argus.AuthoritySource(records=files, edges=edges), out=out, retriever=ByWords(PLAIN)
    )
    text = page(out)
    assert options(text, "band")["low"] > 0
    assert options(text, "cause") == {"never retrieved": 2, "superseded": 1, "none found": 9}
    assert list(options(text, "cause"))[:2] == ["never retrieved", "superseded"]
    shown = causes(page(out, sort="cause"))
    assert list(shown.values())[:3] == ["never retrieved"] * 2 + ["superseded"]
    assert "<b>superseded</b>: Replaced by" in text


def test_a_question_without_judgements_is_no_judged_question(files, tmp_path):
    asked = [Query(f"q{i}", f"{d.title} by the river") for i, d in enumerate(PLAIN)]
    qrels = {f"q{i}": {d.id: 1} for i, d in enumerate(PLAIN[:5])}
    out = tmp_path / "out"
    argus.evaluate(asked, qrels, corpus=files, out=out, retrievers=[ByWords(PLAIN)])
    text = page(out, "questions")
    (met, total) = re.search(r"(\d+) of (\d+) have something relevant", text).groups()
    assert (int(met), int(total)) == (5, 5)
