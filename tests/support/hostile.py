"""A place for the service in which every text is an attack: titles, ids, payloads, answers."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import argus
from argus.data.types import Query
from argus.encoders import EncoderConfig
from argus.generative.decode.settings import Decoding
from argus.generative.failures.jobs.analyse import analyse_failures
from argus.generative.failures.jobs.settings import FailureConfig, ReplayConfig
from argus.generative.jobs.search import search_ngrams
from argus.generative.jobs.settings import NgramSearchConfig
from argus.generative.settings import Scoring
from argus.indexes.job import build_index
from argus.remedies.blend.job import blend_index
from argus.retrievability.audit.config import AuditConfig
from argus.retrievability.audit.job import audit
from argus.service.workplace import Workplace, open_workplace
from tests.support.ngrams import make_ready
from tests.support.sentence_models import make_model
from tests.support.words import ByWords, corpus

ATTACKS = (
    "<script>window.attacked = 1</script>",
    "\"><img src=x onerror='window.attacked = 1'>",
    "</title></option></textarea><svg onload=window.attacked=1>",
    "javascript:window.attacked=1//{{ 7 * 7 }}${7 * 7}",
    "' onfocus=window.attacked=1 autofocus x-data x-init=window.attacked=1 hx-on:load=window.attacked=1 '",
)
"""Each sets a flag where it is run."""
ID = "<b onclick=window.attacked=1>&'\"/?#%2e%2e"
"""Of a document, beside those of `corpus`."""
FIELD = "kind"


def documents():
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
    model = make_model(root.parent / "model")
    encoder = EncoderConfig(model=str(model), precision="float32", device="cpu")
    place, everything = root / "place", documents()
    report = place / "report"
    report.mkdir(parents=True)
    file = report / "corpus.jsonl"
    file.write_text("".join(json.dumps(_row(d)) + "\n" for d in everything), encoding="utf-8")
    build_index(file, out=report, encoder=encoder)
    blend_index(report, encoder=encoder, out=report)
    exposed = argus.ExposureConfig(k=5, by=(FIELD,))
    argus.exposure(file, out=report, retriever=ByWords(everything, lost=(ID,)), config=exposed)
    source = argus.KnowledgeSource(relations=_relations(root / "relations.tsv", everything))
    audit(file, out=report, source=source, encoder=encoder, config=AuditConfig(k=(2,), pool=(8,)))
    _generative(place)
    _compared(place, everything)
    records = _records(report)
    return open_workplace([place], index=str(report), authority=records)


def _row(document) -> dict[str, object]:
    return {"_id": document.id, "title": document.title, "text": document.text,
            "metadata": dict(document.metadata)}  # fmt: skip


def _relations(path: Path, everything) -> Path:
    """Write triples between documents of one subject."""
    ids = [d.id for d in everything]
    pairs = zip(ids, [*ids[1:], ids[0]], strict=True)
    path.write_text("".join(f"{a}\tbeside\t{b}\n" for a, b in pairs), encoding="utf-8")
    return path


def _generative(place: Path) -> None:
    """Search with a small model, and replay what its beam dropped."""
    (place.parent / "ngrams").mkdir()
    ready = make_ready(place.parent / "ngrams")
    out = place / "generative"
    decoding = Decoding(beams=2, body_tokens=3, title_tokens=4, query_tokens=4)
    config = NgramSearchConfig(
        model=ready.model, k=3, decoding=decoding, scoring=Scoring(smoothing=0.05)
    )
    asked = ready.questions
    rows = [json.loads(line) for line in asked.read_text().splitlines()]
    rows[1]["text"] += f" {ATTACKS[0]}"
    asked.write_text("".join(json.dumps(row) + "\n" for row in rows))
    search_ngrams(ready.index, asked, config=config, out=out)
    qrels = place.parent / "qrels.tsv"
    qrels.write_text("query-id\tcorpus-id\tscore\nq1\tbern\t1\nq2\tada\t1\n")
    replayed = FailureConfig(index=ready.index, replay=ReplayConfig(model=ready.model))
    analyse_failures([out], config=replayed, out=place / "failures", qrels=qrels)


def _compared(place: Path, everything) -> None:
    """Compare two retrievers, of which the second loses documents."""
    lost = [everything[0].id, ID]
    runs = []
    for name, retriever in (("before", ByWords(everything)), ("after", ByWords(everything, lost))):
        run = {q.id: dict(retriever.search(q.text, 5)) for q in QUESTIONS}
        path = place.parent / f"{name}.json"
        path.write_text(json.dumps(run))
        runs.append(path)
    queries = place.parent / "queries.jsonl"
    queries.write_text("".join(json.dumps({"_id": q.id, "text": q.text}) + "\n" for q in QUESTIONS))
    argus.compare_runs(tuple(runs), out=place / "comparison", queries=queries)


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
    return argus.AuthoritySource(
        records=folder / "records.jsonl", rules=str(folder / "rules.yaml")
    )
