"""`research diagnose`: predict which entities of new documents a search will hardly find (RPS).

Nothing is indexed and no query is needed. `diagnose_documents` finds the entities of documents,
embeds every mention in its context and predicts its RPS (Retrieval Probability Score) with a probe,
a regression model (`argus.retrievability.probes`). An entity of a document takes the least RPS of
its occurrences and is at risk below τ (ARGUS §5.1, §D.2). Out: diagnosis.parquet. The remedies
`expand` and `synthesize` add texts for the entities at risk.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from argus.data.fields import FieldNames
from argus.data.folders import ArtifactFolder
from argus.data.tables import read_table
from argus.data.types import Document, Span, State, count_states
from argus.data.writing import one_writer
from argus.encoders import DEFAULT_MODEL, EmbeddingStore, Encoder, Item, Role, embed, pools_spans
from argus.engine import open_given
from argus.errors import InputError
from argus.jobs import options as o
from argus.jobs.result import Result
from argus.jobs.workspace import Record, open_encoder, read_documents, require_some
from argus.knowledge.names import Mention, MentionFinder
from argus.progress import progress
from argus.remedies.config import TAU, ReferenceConfig, Tau
from argus.remedies.reference import make_finder, open_probe, read_passages
from argus.reports import write_report
from argus.reports.section import MAX_ROWS, Section, table
from argus.retrievability.probes import Probe, load_probe, probe_file

TABLE = "diagnosis"
MAX_NAMED = 8  # entities named per document in the report
Score = tuple[float | None, State, str]  # predicted RPS of a mention, its state and the reason
OUTSIDE: Score = (None, State.NOT_APPLICABLE, "beyond the probe's training region")


@dataclass(frozen=True, slots=True)
class Risk:
    """One entity of one document: an entity is a surface form, as in ARGUS §D.1.

    spans: every occurrence, in characters of the document's content, in order. entity_ids: entities
    of the knowledge base that bear the name, if the finder links. rps: least predicted RPS of the
    scored occurrences. None without any.
    """

    doc_id: str
    entity: str
    spans: tuple[Span, ...]
    entity_ids: tuple[str, ...]
    rps: float | None
    state: State
    reason: str = ""

    def below(self, tau: float) -> bool:
        """Return whether the entity is at risk. An entity without a score is not."""
        return self.rps is not None and self.rps < tau


@dataclass(frozen=True)
class Diagnosis:
    """The entities of a corpus, ordered by document and first occurrence.

    documents: number of documents that were read. finder: name of the mention finder. left_out:
    number of names that it did not look for, by reason.
    """

    risks: list[Risk]
    tau: float
    documents: int
    finder: str = ""
    left_out: Mapping[str, int] = field(default_factory=dict)

    def flagged(self) -> dict[str, list[Risk]]:
        """Return the entities at risk of each document that has any, `E_risk(d)`."""
        risks: dict[str, list[Risk]] = {}
        for risk in self.risks:
            if risk.below(self.tau):
                risks.setdefault(risk.doc_id, []).append(risk)
        return risks


@dataclass(frozen=True, repr=False)
class DiagnoseResult(Result):
    """Result of `diagnose`. Everything in it is also in `folder`.

    Keys of its summary:

    tau: threshold τ. A predicted RPS below it is a risk.
    finder: name of the mention finder, and left_out: names that it does not look for, by reason.
    documents: documents that were read.
    documents_with_entities: documents that name an entity.
    documents_at_risk: documents with an entity at risk.
    entities: entities by state, once per document.
    flagged: entities at risk, once per document.
    share_flagged: these as a share of the scored entities.
    mean_rps: mean predicted RPS. None where none was predicted.
    stored_vectors: the vectors of a store, if they are of one.
    documents_without_text: documents that were left out.
    """

    TABLES = ("table",)
    folder: Path
    report: Path
    summary: dict[str, Any]
    diagnosis: Diagnosis

    @property
    def table(self) -> pa.Table:
        """One row per entity of a document."""
        return risk_table(self.diagnosis)

    def headline(self) -> Iterator[str]:
        """Yield how many entities are at risk, and why others have no score."""
        return headline(self.summary)


@one_writer
def diagnose(
    corpus: o.Corpus,
    *,
    out: o.Out = o.OUT,
    reference: ReferenceConfig,
    probe: o.ProbeFolder = None,
    encoder: o.Encoder = DEFAULT_MODEL,
    tau: Tau = TAU,
    fields: FieldNames | None = None,
    store: o.Store = None,
    limit: o.Limit = None,
    fresh: o.Fresh = False,
    engine: o.Engine = None,
) -> DiagnoseResult:
    """Find the entities of every document and predict how reachable they are (RPS).

    RPS measures reachability, and cannot tell which real questions fail (AUC 0.50, where 0.50 is
    chance). Needs no query and no index. Writes diagnosis.parquet, summary.json, manifest.json and
    report.html.

    corpus, out, encoder, store, limit, engine: as for `argus.audit`. probe: a folder from `argus
    research probe fit`. None uses the one shipped for the encoder. Raises InputError for bad input,
    ArgusError when no document has text.
    """
    check_tau(tau)
    probe_input = None
    if isinstance(probe, (str, Path)):
        load_probe(Path(probe))  # before the encoder is loaded, and the folder made
        probe_input = probe_file(Path(probe))
    whole, path = read_documents(corpus, fields or FieldNames(), limit, encoder)
    documents = [d for d in whole if d.content.strip()]
    require_some(len(documents), "document has text", "Check --text-field.")
    passages = read_passages(reference)
    folder = ArtifactFolder(Path(out), fresh=fresh)
    inputs = {"corpus": path, "probe": probe_input, **reference.inputs()}
    record = Record(TABLE, {"tau": tau, "limit": limit, **reference.described()}, inputs)
    texts = [d.content for d in documents]
    finder = make_finder(reference, passages, texts)
    with (
        open_given(engine) as running,
        open_encoder(
            folder, encoder, record, store=store, check=partial(open_probe, probe),
            engine=running,
        ) as (model, cache),
    ):  # fmt: skip
        judge = open_probe(probe, model)
        record.config |= {"finder": finder.name, "probe": judge.family}
        with record.timed("diagnosing"):
            diagnosis = diagnose_documents(documents, finder, model, cache, judge, tau=tau)
    without_text = len(whole) - len(documents)
    summary = write_diagnosis(folder, diagnosis, record, without_text=without_text)
    return DiagnoseResult(folder.path, write_report(folder.path), summary, diagnosis)


def check_tau(tau: float) -> None:
    """Raise InputError unless τ is a share."""
    if not 0 <= tau <= 1:
        raise InputError(
            f"τ={tau}", expected="a number from 0 to 1, since RPS is a probability",
            fix=f"Leave it out for {TAU}.", where="--tau",
        )  # fmt: skip


def diagnose_documents(
    documents: Sequence[Document],
    finder: MentionFinder,
    encoder: Encoder,
    cache: EmbeddingStore,
    probe: Probe,
    *,
    tau: float = TAU,
) -> Diagnosis:
    """Find the entities of every document and predict their RPS.

    Spans refer to `Document.content`, the text that is indexed. A mention is part of the title or
    of the text, never of both. A mention that the encoder cannot embed is failed. One beyond the
    probe's training region is not applicable. An entity is measured when any of its occurrences
    is. A mention beyond the encoder's window is read in a window of its own. An encoder that pools
    no spans embeds the whole text instead. Raises InputError for a probe of another encoder.
    """
    pooling = "span" if pools_spans(encoder) else "sentence"
    probe.check_vectors_of(encoder.fingerprint, pooling, where=Path("the probe given"))
    texts = [document.content for document in documents]
    mentions = find_mentions(texts, documents, finder)
    places = [(i, mention.span) for i, own in enumerate(mentions) for mention in own]
    items = [
        Item(texts[i], Role.SPAN, span) if pools_spans(encoder) else Item(texts[i], Role.DOCUMENT)
        for i, span in places
    ]
    embedded = embed(items, encoder, cache, what="mentions")
    prediction = probe.predict(embedded.vectors)
    predicted = iter(zip(prediction.rps.tolist(), prediction.in_domain.tolist(), strict=True))
    scores: list[Score] = []
    for position, ok in enumerate(embedded.ok):
        if not ok:
            scores.append((None, State.FAILED, embedded.failures[position]))
            continue
        rps, inside = next(predicted)
        scores.append((rps, State.MEASURED, "") if inside else OUTSIDE)
    risks: list[Risk] = []
    first = 0
    for document, own in zip(documents, mentions, strict=True):
        named: dict[str, list[int]] = {}
        for number, mention in enumerate(own, first):
            named.setdefault(" ".join(mention.surface.split()), []).append(number)
        for entity, at in named.items():
            missing = [scores[i] for i in at if scores[i][0] is None]
            known = [rps for i in at if (rps := scores[i][0]) is not None]
            reason = "; ".join(dict.fromkeys(why for *_, why in missing))
            if missing and known:
                reason = f"{len(missing)} of {len(at)} occurrences: {reason}"
            linked = (id_ for i in at for id_ in own[i - first].entity_ids)
            risks.append(Risk(
                document.id, entity, tuple(own[i - first].span for i in at),
                tuple(dict.fromkeys(linked)), min(known, default=None),
                State.MEASURED if known else missing[0][1], reason,
            ))  # fmt: skip
        first += len(own)
    left_out = dict(getattr(finder, "left_out", {}))  # names that a gazetteer does not look for
    return Diagnosis(risks, tau, len(documents), finder.name, left_out)


def find_mentions(
    texts: Sequence[str], documents: Sequence[Document], finder: MentionFinder
) -> list[list[Mention]]:
    """Return the mentions of every text. Titles and texts are searched apart.

    A text that begins with its own title counts as title and text, as documents read from an index
    have it. The finder gets everything at once, since some finders learn common words from it.
    """
    seams = []
    for text, document in zip(texts, documents, strict=True):
        at = len(document.title) if text.startswith(document.title) else 0
        seams.append(at if text[at : at + 1].isspace() else 0)
    pairs = zip(texts, seams, strict=True)
    found = finder.find([part for text, at in pairs for part in (text[:at], text[at:])])
    mentions: list[list[Mention]] = []
    with progress("finding mentions", len(texts)) as advance:
        for at, in_title, in_text in zip(seams, found, found, strict=False):
            moved = (replace(m, span=Span(m.span.start + at, m.span.end + at)) for m in in_text)
            mentions.append([*in_title, *moved])
            advance(1)
    return mentions


def write_diagnosis(
    folder: ArtifactFolder, diagnosis: Diagnosis, record: Record, *, without_text: int = 0
) -> dict[str, Any]:
    """Write diagnosis.parquet and the job's sections, and return its summary.

    without_text: documents that were left out because there is nothing to read in them.
    """
    folder.write_table(TABLE, risk_table(diagnosis))
    risks, flagged = diagnosis.risks, diagnosis.flagged()
    values = [r.rps for r in risks if r.rps is not None]
    n_flagged = sum(map(len, flagged.values()))
    summary: dict[str, Any] = {
        "tau": diagnosis.tau,
        "finder": {"name": diagnosis.finder, "left_out": dict(diagnosis.left_out)},
        "documents": diagnosis.documents,
        "documents_with_entities": len({r.doc_id for r in risks}),
        "documents_at_risk": len(flagged),
        "entities": count_states(
            Counter(str(r.state) for r in risks), Counter(r.reason for r in risks if r.rps is None)
        ),
        "flagged": n_flagged,
        "share_flagged": round(n_flagged / len(values), 6) if values else None,
        "mean_rps": round(float(np.mean(values)), 6) if values else None,
        **record.of_store(),
        "documents_without_text": without_text,
    }
    folder.write_results(TABLE, summary, record.manifest(summary["entities"]))
    return summary


def risk_table(diagnosis: Diagnosis) -> pa.Table:
    """Return one row per entity that a document names.

    entity: name as the document has it.
    spans: where it stands, in characters of title and text.
    rps: RPS that the probe predicts, or null.
    flagged: whether that is below τ.
    entity_ids: entities of the knowledge base with that name.
    """
    span = pa.struct([("start", pa.int64()), ("end", pa.int64())])
    schema = pa.schema([
        ("doc_id", pa.string()), ("entity", pa.string()), ("spans", pa.list_(span)),
        ("rps", pa.float64()), ("flagged", pa.bool_()), ("state", pa.string()),
        ("reason", pa.string()), ("entity_ids", pa.list_(pa.string())),
    ])  # fmt: skip
    rows = []
    for r in diagnosis.risks:
        spans = [{"start": span.start, "end": span.end} for span in r.spans]
        scored = (r.rps, r.below(diagnosis.tau), str(r.state), r.reason)
        values = (r.doc_id, r.entity, spans, *scored, list(r.entity_ids))
        rows.append(dict(zip(schema.names, values, strict=True)))
    return pa.Table.from_pylist(rows, schema=schema)


def headline(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield how many entities are at risk, and why others have no score."""
    counts, share = summary["entities"], summary["share_flagged"]
    yield (
        f"{counts['total']:,} entities in {summary['documents_with_entities']:,} of "
        f"{summary['documents']:,} documents: {counts['measured']:,} scored, "
        f"{counts['not applicable']:,} beyond the probe's region, {counts['failed']:,} failed"
    )
    if share is not None:
        yield (
            f"at risk (predicted RPS below {summary['tau']:g}): {share:.1%} of the scored, in "
            f"{summary['documents_at_risk']:,} documents"
        )
    if not counts["total"]:
        yield (
            "no document names an entity: give a knowledge base of this corpus (--kb), take names "
            "in any case (--ignore-case) or common words, too (--common-words), or find them "
            "without one (--mentions capitals, ner:MODEL)"
        )
    if left_out := summary["finder"]["left_out"]:
        reasons = ", ".join(f"{n:,} {reason}" for reason, n in left_out.items())
        yield f"names that were not looked for: {reasons} (--common-words, --min-length)"


def section(folder: Path, diagnosis: Mapping[str, Any]) -> Section:
    """Build the report's section from diagnosis.parquet: the documents most at risk."""
    columns = ["doc_id", "entity", "rps", "flagged"]
    rows = read_table(folder / "diagnosis.parquet", columns=columns).to_pylist()
    at_risk: dict[str, list[tuple[float, str]]] = {}
    for row in rows:
        if row["flagged"]:
            at_risk.setdefault(row["doc_id"], []).append((row["rps"], row["entity"]))
    entities = Counter(row["doc_id"] for row in rows)
    cells = []
    ordered = sorted(at_risk.items(), key=lambda item: (-len(item[1]), item[0]))
    for doc_id, own in ordered[:MAX_ROWS]:
        worst = ", ".join(entity for _, entity in sorted(own)[:MAX_NAMED])
        more = f" and {len(own) - MAX_NAMED} more" if len(own) > MAX_NAMED else ""
        cells.append([doc_id, len(own), entities[doc_id], min(own)[0], worst + more])
    heads = {"document": "text", "at risk": "count", "entities": "count"}
    heads |= {"lowest predicted RPS": "share", "which, worst first": "text"}
    tables = {"documents_at_risk": table(heads, cells, total=len(at_risk))} if at_risk else {}
    brief = (
        f"{diagnosis['documents_at_risk']:,} of {diagnosis['documents']:,} documents name an "
        f"entity at risk (predicted RPS below {diagnosis['tau']:g})"
    )
    return Section({}, tables, brief)
