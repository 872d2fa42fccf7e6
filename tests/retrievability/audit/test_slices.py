"""An audit by slice: shares of entities by what their documents' payloads hold."""

from __future__ import annotations

import numpy as np
import pyarrow.parquet as pq
import pytest

import argus
from argus.data import Document
from argus.errors import InputError
from argus.knowledge import KnowledgeSource
from argus.measures import wilson
from tests.support.kb import write_kb
from tests.support.results import shown
from tests.support.word_encoder import WordEncoder

CONFIG = argus.AuditConfig(k=(3,), pool=(20,), by=("metadata.lang", "year"))


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    """German documents are of words that no other has; each in English has the words of another."""
    home = tmp_path_factory.mktemp("slices")
    documents, edges = [], ["subject\trelation\tobject"]
    for i in range(60):
        is_german = i % 3 == 0
        text = f"wort{i} satz{i}" if is_german else f"river{i % 30} lake{i % 30}"
        payload = {"lang": "de" if is_german else "en", "year": 1900 + i}
        documents.append(Document(f"d{i:02}", text, f"Name {i}", payload))
        edges.append(f"d{i:02}\tnext\td{(i + 30) % 60:02}")
    (home / "edges.tsv").write_text("\n".join(edges) + "\n")
    return argus.audit(
        documents,
        out=home / "out",
        source=KnowledgeSource(relations=home / "edges.tsv"),
        encoder=WordEncoder(),
        config=CONFIG,
    )


def test_shares_are_those_of_the_table(result):
    rows = {row["id"]: row["rps"] for row in result.table.to_pylist()}
    german = np.array([rps for id_, rps in rows.items() if int(id_[1:]) % 3 == 0])
    table = pq.read_table(result.folder / "audit_slices.parquet").to_pylist()
    shares = {(row["slice"], row["share_of"]): row for row in table if row["field"] != "year"}
    share = shares["de", "RPS below 0.33"]
    assert share["share"] == (german < 0.33).mean() and share["n"] == 20
    assert (share["low"], share["high"]) == wilson(share["share"], 20)
    assert shares["de", "mean RPS"]["share"] == pytest.approx(german.mean())
    assert {row["slice"] for row in table if row["field"] == "year"} == {
        f"{1900 + 12 * i} to {1911 + 12 * i}" for i in range(5)
    }


def test_the_worst_slice_leads(result):
    worst = result.summary["slices"]["worst"][0]
    assert (worst["field"], worst["slice"]) == ("metadata.lang", "de") and worst["worse_by"] > 0
    assert any("metadata.lang = de" in line for line in shown(result))
    page = result.report.read_text()
    assert "By slice" in page and "60 numbers, cut into 5 ranges" in page


def test_a_knowledge_base_has_no_payload(tmp_path):
    with pytest.raises(InputError) as caught:
        argus.audit(write_kb(tmp_path / "kb"), out=tmp_path / "out", config=CONFIG)
    assert caught.value.where == "--by"
