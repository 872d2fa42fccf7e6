"""A place for the service in which every text is an attack: titles, ids, payloads, answers."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import argus
from argus.data.types import Document, Query
from argus.encoders import EncoderConfig
from argus.indexes.job import build_index
from argus.remedies.blend import blend_index
from argus.retrievability.audit import audit
from argus.retrievability.config import AuditConfig
from argus.service.workplace import Workplace, open_workplace
from tests.support.words import ByWords, corpus

# Each sets a flag where it is run, but the last: it turns what stands beside it.
ATTACKS = (
    "<script>window.attacked = 1</script>",
    "\"><img src=x onerror='window.attacked = 1'>",
    "</title></option></textarea><svg onload=window.attacked=1>",
    "javascript:window.attacked=1//{{ 7 * 7 }}${7 * 7}",
    "' onfocus=window.attacked=1 autofocus hx-on:load=window.attacked=1 hx-get=/ hx-trigger=load '",
    "\u202egpj.exe \u2067of\u200f\x1b]0;attacked\x07",
)
# Of a document, beside those of `corpus`.
ID = "<b onclick=window.attacked=1>&'\"/?#%2e%2e\u202e"
FIELD = "kind"


def documents() -> list[Document]:
    """Return forty plain documents, of which some are attacks in title, text and payload."""
    plain = [replace(d, metadata={FIELD: d.id.split("-")[1]}) for d in corpus()]
    hostile = [
        replace(plain[i], title=attack, text=f"{plain[i].text} {attack}", metadata={FIELD: attack})
        for i, attack in enumerate(ATTACKS)
    ]
    return [*hostile, *plain[len(ATTACKS) :], replace(plain[0], id=ID, title=f"Alder {ATTACKS[0]}")]


QUESTIONS = [
    Query("q1", "alder mill by the river"),
    Query(f"q2 {ATTACKS[0]}", f"where is the birch tower {ATTACKS[1]}"),
]


def make_place(root: Path) -> Workplace:
    """Make an index with a repair, results of every page, and records; return the workplace."""
    encoder = EncoderConfig()
    place, everything = root / "place", documents()
    report = place / "report"
    report.mkdir(parents=True)
    file = report / "corpus.jsonl"
    file.write_text("".join(json.dumps(_row(d)) + "\n" for d in everything), encoding="utf-8")
    build_index(file, out=report, encoder=encoder)
    blend_index(report, encoder=encoder, out=report)
    exposed = argus.ExposureConfig(k=5, by=(FIELD,))
    lost = [d.id for d in everything if d.id.endswith("-mill") or d.id == ID]
    argus.exposure(file, out=report, retriever=ByWords(everything, lost=lost), config=exposed)
    source = argus.knowledge.KnowledgeSource(
        relations=_relations(root / "relations.tsv", everything)
    )
    audit(file, out=report, source=source, encoder=encoder, config=AuditConfig(k=(2,), pool=(8,)))
    _compared(place, everything)
    records = _records(report)
    return open_workplace([place], index=str(report), authority=records)


def _row(document: Document) -> dict[str, object]:
    return {"_id": document.id, "title": document.title, "text": document.text,
            "metadata": dict(document.metadata)}  # fmt: skip


def _relations(path: Path, everything: Sequence[Document]) -> Path:
    """Write triples between documents of one subject."""
    ids = [d.id for d in everything]
    pairs = zip(ids, [*ids[1:], ids[0]], strict=True)
    path.write_text("".join(f"{a}\tbeside\t{b}\n" for a, b in pairs), encoding="utf-8")
    return path


def _compared(place: Path, everything: Sequence[Document]) -> None:
    """Compare two retrievers, of which the second loses documents."""
    lost = [everything[0].id, ID]
    both = [ByWords(everything), ByWords(everything, lost)]
    argus.compare_retrievers(*both, queries=QUESTIONS, out=place / "comparison", k=5)


def _records(folder: Path) -> argus.AuthoritySource:
    """Write dated records of three versions, one of them an attack, and the rule."""
    rows = [
        {"_id": f"v{n}", "type": "release", "timestamp": f"2024-0{n}-01", "title": title,
         "text": f"Version {n}. {title}", "entities": {"name": "tool"}}
        for n, title in enumerate(("First", ATTACKS[1], ATTACKS[0]), 1)
    ]  # fmt: skip
    (folder / "records.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "rules.yaml").write_text(
        "rules:\n  - {name: newer, superseding: release, superseded: release, scope: [name]}\n"
    )
    return argus.AuthoritySource(records=folder / "records.jsonl", rules=str(folder / "rules.yaml"))
