"""`argus demo`: find the faults of a small search over Python's documentation.

`demo`: 300 docstrings and 149 judged questions, which ship with Argus -> a folder with a search
(`argus.demo.search`), what `check`, `evaluate` and `authority lint` find in it, and one report.
`full_demo`: the standard library of this Python -> a folder of results of every job, with one
report. That corpus and its questions are made by `argus.knowledge.stdlib`.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from argus.authority.config import AuthoritySource
from argus.authority.lint import lint
from argus.checks import check
from argus.commands import command
from argus.corpora.opening import read_corpus
from argus.data.documents import as_rows, write_beir
from argus.data.folders import SUMMARY, ArtifactFolder
from argus.data.tables import read_table
from argus.data.types import Query
from argus.data.writing import one_writer, write_jsonl
from argus.demo import search
from argus.drift.findings import Drift
from argus.encoders import DEFAULT_MODEL, EncoderConfig, as_config
from argus.errors import InputError
from argus.evaluation.job import evaluate
from argus.jobs import options as o
from argus.jobs.result import Result
from argus.jobs.workspace import Record
from argus.knowledge import stdlib
from argus.knowledge.base import KnowledgeBase
from argus.progress import announce
from argus.reports import write_report
from argus.retrievability.config import AuditConfig, ExposureConfig, ProbeConfig
from argus.settings import TOP_K, Options, Seed, Without
from argus.verdict.verdict import read_verdict

QRELS, EDGES = Path("qrels", "test.tsv"), "supersedes.jsonl"
DATA = Path(__file__).with_name("python")
# Planted: the index lacks the first document, and holds Python 3.10's text of those in
# earlier.jsonl. Python 3.10 superseded the second.
LOST = "statistics.quantiles"
SUPERSEDED = "pathlib.Path.link_to"
CURRENT = {SUPERSEDED: "pathlib.Path.hardlink_to"}
LINKING = Query("link", "hard link: in which order do the target and the link go?")
QUESTIONS = 60  # of the 150 that ship: the rest would take seconds
# Scored entities from which a probe is fitted. Fewer, under a small `limit`, would teach noise.
MIN_SCORED = 1000


@dataclass(frozen=True, repr=False)
class FirstLook(Result):
    """Result of the light demo. All of it is in `folder`.

    home: the documents, questions and search that it is about, a folder in `folder`.
    summary: documents and questions that were asked for, and faults by kind. lost, stale: ids of
    documents that the index lacks, or holds another text of, as `check` finds them. superseded: how
    often each superseded document was served. missed: questions without a right answer in the top
    10.
    checks: what `check` measured, in words.
    """

    folder: Path
    home: Path
    summary: dict[str, Any]
    checks: tuple[str, ...]

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        found, asked = self.summary, self.summary["questions"]
        yield (
            f"{found['documents']} docstrings of Python, {asked} judged questions, and a search "
            f"with faults: {self.home}"
        )
        yield from self.checks
        yield "what is wrong with this search:"
        for id_ in found["lost"]:
            yield f"  lost: {id_} is in the documents, not in the index; nothing brings it back"
        for id_ in found["stale"]:
            yield f"  stale: {id_} has changed since; the index holds the old text"
        for id_, times in found["superseded"].items():
            yield f"  superseded: {id_} answers {times} of {asked} questions; now {CURRENT[id_]}"
        missed = found["missed"]
        yield f"  missed: {len(missed)} of {asked} questions, no right answer in the top {TOP_K}:"
        yield from (f"    {text}" for text in missed[:2])

    def last_lines(self) -> Iterator[str]:
        """Yield the report, the verdict, three commands to try, and the one that serves it."""
        home, asked = self.home, ("--retriever", self.home / "search.py")
        judged = ("--queries", home / "queries.jsonl", "--qrels", home / QRELS)
        edges, linking = ("--edges", home / EDGES), LINKING.text
        yield f"report: {self.folder / 'report.html'}"
        yield f"verdict: {read_verdict(self.folder).answer}"
        yield "to try: what is indexed beside its sources, why questions fail, what is in force:"
        checking = (home / search.CHUNKS, "--sources", home, "--out", self.folder / "check")
        yield "  " + command("check", *checking, *asked)
        yield "  " + command("explain", "--failed", *judged, *asked, "--corpus", home)
        yield "  " + command("authority", "search", linking, "--records", home, *edges, *asked)
        yield f"to work in: {command('serve', self.folder)}"


def write_collection(home: Path) -> None:
    """Write documents, questions and a search with the planted faults."""
    documents = read_corpus(DATA / "documents.jsonl")
    ids = {d.id for d in documents}
    questions, judged = stdlib.standard_questions()
    judged[LINKING.id] = {CURRENT[SUPERSEDED]: 1}
    asked = [LINKING, *(q for q in questions[:QUESTIONS] if judged[q.id].keys() <= ids)]
    write_beir(home, documents, asked, {q.id: judged[q.id] for q in asked})
    edge = {
        "superseder": CURRENT[SUPERSEDED],
        "superseded": SUPERSEDED,
        "rule": "deprecated in Python 3.10",
    }
    write_jsonl(home / EDGES, [edge])
    shutil.copyfile(DATA / "LICENSE.txt", home / "LICENSE.txt")
    shutil.copyfile(search.__file__, home / "search.py")
    earlier = {d.id: d for d in read_corpus(DATA / "earlier.jsonl")}
    search.write_index(home, [earlier.get(d.id, d) for d in documents if d.id != LOST])


@one_writer
def demo(
    *,
    out: o.Out = Path("argus-demo"),
    full: bool = False,
    encoder: Annotated[
        EncoderConfig | str,
        Options(EncoderConfig),
        Without("base_url", "api_key_env", "batch_size", "concurrency"),
    ] = DEFAULT_MODEL,
    seed: Seed = 0,
    limit: o.Limit = None,
    fresh: o.Fresh = False,
) -> Result:
    """Find what a small search over Python's documentation loses, in seconds.

    Its index was made with three faults: one document is lost, one is stale, and a superseded one
    is served. Real jobs find them: check, evaluate and authority lint.

    With --full: every job on the standard library of this Python, thousands of entities and 150
    judged questions (audit, exposure, probe, deprecations, diagnosis, repair, evaluation before and
    after, scenarios), in minutes; needs the extras torch and probes. OUT is then
    also an index, and OUT/corpus a BEIR folder, to try every other command on.

    limit: only so many entities. InputError if it leaves no judged question. encoder, seed, limit:
    of the full demo alone.

    Args:
        full: Every job, on the whole standard library: minutes.
    """
    if full:
        return full_demo(out=out, encoder=encoder, seed=seed, limit=limit, fresh=fresh)
    if (as_config(encoder), seed, limit) != (as_config(DEFAULT_MODEL), 0, None):
        raise InputError(
            "an encoder, a seed or a limit, which the small demo does not take",
            expected="--out and --fresh alone, or --full",
            fix="Add --full.",
            where="argus demo",
        )
    folder = ArtifactFolder(Path(out), fresh=fresh)
    folder.open()
    home = folder.own("python")
    write_collection(home)
    retriever, queries, qrels = str(home / "search.py"), home / "queries.jsonl", home / QRELS
    chunks = home / search.CHUNKS
    checked = check(
        chunks, sources=home, retriever=retriever, queries=queries, out=folder.path,
        exposing=ExposureConfig(sentences=1),
    )  # fmt: skip
    judged = evaluate(queries, qrels, corpus=chunks, retrievers=[retriever], out=folder.path)
    source = AuthoritySource(records=home, edges=home / EDGES)
    linted = lint(None, source, queries=queries, retriever=retriever, out=folder.path)
    drift = read_table(folder / "drift.parquet").to_pylist()
    ranks = judged.table.select(["text", "rank"]).to_pylist()
    summary = {
        "documents": checked.summary["drift"]["sources"],
        "questions": len(ranks),
        "lost": [row["source"] for row in drift if row["kind"] == Drift.MISSING],
        "stale": [row["id"] for row in drift if row["kind"] == Drift.STALE],
        "superseded": Counter(id_ for q in linted.queries for id_ in q.conditions.superseded),
        "missed": [row["text"] for row in ranks if (row["rank"] or TOP_K + 1) > TOP_K],
    }
    return FirstLook(folder.path, home, summary, tuple(checked.headline()))


@dataclass(frozen=True, repr=False)
class DemoResult(Result):
    """Result of the full demo. All of it is in `folder`: its summary.json has a section per job.

    lines: the headlines of its jobs.
    """

    folder: Path
    report: Path
    summary: dict[str, Any]
    lines: tuple[str, ...]

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        yield from self.lines

    def last_lines(self) -> Iterator[str]:
        """Yield the command that serves it."""
        yield f"to work in: {command('serve', self.folder)}"


@one_writer
def full_demo(
    *,
    out: Path | str = Path("argus-demo"),
    encoder: EncoderConfig | str = DEFAULT_MODEL,
    seed: int = 0,
    limit: int | None = None,
    fresh: bool = False,
) -> DemoResult:
    """Audit a retriever on this Python's standard library, and repair it. See `demo`.

    Asks with every deprecated entity's documentation for that of its replacement, where a `limit`
    leaves any, by edges in `corpus/supersedes.jsonl`, for `argus authority` to try. Where enough
    entities are scored to fit a probe on, a repair follows, and its effect on the questions.
    """
    from argus.authority.audit import audit_authority
    from argus.retrievability.audit import audit_knowledge
    from argus.retrievability.exposure import exposure

    folder = ArtifactFolder(Path(out), fresh=fresh)
    base = stdlib.standard_library()
    if limit is not None:
        base = base.first(limit)
    n = len(base.entities)
    encoder = as_config(encoder)
    config, pool = AuditConfig(seed=seed, device=encoder.device), max(2, n // 2)
    if max(config.pool) > pool:  # k stays 5% of N
        at = f"k={config.k[0]}, N={config.pool[0]}"
        announce(f"only {n} entities: k=5% of N={pool} instead of {at}")
        config = replace(config, k=(max(1, pool // 20),), pool=(pool,))
    folder.open()
    home = folder / "corpus"
    questions, _ = stdlib.write_sample_corpus(home, base)
    about = {
        "corpus_name": "Python standard library",
        "relations": "contains, inherits, refers to by name",
    }
    record = Record("audit", asdict(config) | about, {"corpus": home / "corpus.jsonl"})
    audited = audit_knowledge(base, folder, encoder, config, record)
    exposed = exposure(
        read_corpus(home), out=folder.path, encoder=encoder, config=ExposureConfig(seed=seed),
        queries=questions,
    )  # fmt: skip
    lines = [*audited.headline(), *exposed.headline()]
    if changes := stdlib.deprecations(base):
        rows = [
            {
                "superseder": d["replacement_id"], "superseded": d["deprecated_id"],
                "rule": f"deprecated, says its {d['source']}", "since": d["since"],
                "evidence": d["evidence"],
            } for d in changes
        ]  # fmt: skip
        write_jsonl(home / EDGES, rows)
        source, k = AuthoritySource(records=home, edges=home / EDGES), exposed.summary["k"]
        lines += audit_authority(source, out=folder.path, encoder=encoder, k=k).headline()
    if audited.summary["entities"]["measured"] >= MIN_SCORED:
        lines += repair(base, folder, encoder)
    else:
        lines.append(
            f"fewer than {MIN_SCORED:,} scored entities: too few to fit a probe and repair by"
        )
    report = write_report(folder.path)
    return DemoResult(folder.path, report, folder.read_json(SUMMARY), tuple(lines))


def repair(base: KnowledgeBase, folder: ArtifactFolder, encoder: EncoderConfig) -> Iterator[str]:
    """Fit a probe to the demo's own audit, index its corpus, repair it, evaluate both repairs.

    Yield what they say. The blend needs nothing but the documents. Expansion comes on top of it and
    is told apart: its text was taken out of the corpus. The knowledge base is the rest of the
    docstrings, of which the corpus holds the beginning. An entity is at risk if the probe does not
    place it in the high band: its own τ would leave 1% (a document names its entity in full,
    "abc.ABCMeta", and is easier to find than the "ABCMeta" of the audit).

    The shipped scenarios are measured on documents as they are, which have one view, their own
    text. Then they are added to the index, where `--lambda` weighs them in every search.
    """
    from argus.indexes.job import build_index
    from argus.indexes.views import ViewIndex
    from argus.remedies.blend import blend_index
    from argus.remedies.config import ReferenceConfig
    from argus.remedies.diagnosis import headline as diagnosis_headline
    from argus.remedies.expansion import expand_index
    from argus.remedies.undo import rollback
    from argus.retrievability.probes.fit import HOME, fit_probe
    from argus.retrievability.rps import HIGH
    from argus.scenarios.ablation.findings import AblateConfig
    from argus.scenarios.ablation.job import ablate_scenarios
    from argus.scenarios.files import read_profiles
    from argus.scenarios.profile import Component
    from argus.scenarios.remedy import add_scenarios

    out, corpus, kb = folder.path, folder / "corpus", folder / "corpus" / "kb.jsonl"
    judgements, profiles = corpus / QRELS, corpus / "profiles.jsonl"
    write_jsonl(kb, as_rows(stdlib.standard_reference(base)))
    fit_probe(out, out=out, config=ProbeConfig(families=("ridge",)))
    build_index(corpus, out=out, encoder=encoder)
    for earlier in ViewIndex.open(out).remedies():  # of a demo that is run again
        rollback(out, earlier.id)
    yield from blend_index(out, queries=corpus, qrels=judgements, out=out).headline()
    expanded = expand_index(
        out, reference=ReferenceConfig(kb=(kb,)), probe=folder / HOME, tau=HIGH, queries=corpus,
        qrels=judgements, corpus=corpus, out=out,
    )  # fmt: skip
    yield "now with the rest of every docstring, which the corpus leaves out:"
    yield from diagnosis_headline(folder.read_json(SUMMARY)["diagnosis"])
    yield from expanded.headline()
    ablated = ablate_scenarios(
        corpus, profiles, corpus, judgements, out=out, encoder=encoder,
        expansions=corpus / "expansions.jsonl", config=AblateConfig(components=(Component.ME,)),
    )  # fmt: skip
    add_scenarios(out, read_profiles(profiles), encoder=encoder)
    yield from ablated.headline()
