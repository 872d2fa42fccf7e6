"""Order documents by risk: how deep they stand for their needs.

A document's risk is its typical rank: the geometric mean of its ranks under its own needs, in an
index of documents alone, or in a retriever's lists. It orders documents and is no probability.
Judged questions, where there are any, measure what it says of real ones: the AUC for pairs of
question and relevant document. Chunks may be folded to the documents they are of: one ranks by its
best chunk, among documents. All documents ask, or a random sample. A language model writes the
needs that are missing.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from argus.corpora import Corpus
from argus.corpora.opening import Origin
from argus.data.fields import FieldNames
from argus.data.folders import ArtifactFolder
from argus.data.provenance import content_hash
from argus.data.tables import read_table
from argus.data.types import Document, Qrels, Query, State, count_states
from argus.encoders import Encoder, EncoderConfig
from argus.errors import InputError
from argus.evaluation.judged import JudgedQueries, ParentFold, read_judged
from argus.jobs.recorded_model import RecordedModel, spent
from argus.jobs.workspace import read_documents, require_some
from argus.llm import Estimate, Ledger, estimate, open_model
from argus.llm.ledger import ledger_to_read
from argus.measures.intervals import discrimination, wilson
from argus.measures.slices import Slicing, Trials, rank_slices, slice_shares
from argus.progress import announce
from argus.reports.section import MAX_ROWS, Table, naming, table
from argus.scenarios.config import NeedsConfig, ProfileConfig
from argus.scenarios.files import ProfileAnswer, given_profiles, write_profiles
from argus.scenarios.generate import generate, prompts_for
from argus.scenarios.profile import Need, Profiled, ProfileState
from argus.scenarios.profiles import LEDGER
from argus.scenarios.tables import headings, schema
from argus.verdict.verdict import validity_of_needs

# One row per document whose needs were asked, the greatest risk first.
#
# chunks: chunks of it, 1 where documents are not cut.
# needs: needs of it that were asked.
# found: share of its needs that bring it into the top k.
# typical_rank: geometric mean of its ranks: the risk.
# worst_need: need with the worst rank.
# worst_rank: that rank, from 1.
_SCHEMA = schema(
    ("id label", str), ("chunks needs", int), ("found low high typical_rank", float),
    ("worst_need", str), ("worst_rank", int),
)  # fmt: skip
# Profiles of the documents that were drawn, where a model wrote some of them.
WRITTEN = "need_profiles.jsonl"
# Returns the documents that came for each question, by its id. Failed ones are not in.
Lists = Callable[[Sequence[Query], int], Mapping[str, Sequence[str]]]


@dataclass(frozen=True)
class JudgedFiles:
    """Judged questions that the risk is compared with, or none."""

    queries: Path | str | Sequence[Query] | None = None
    qrels: Path | str | Qrels | None = None


@dataclass(frozen=True)
class NeedSource:
    """Documents by id, and the profiles of those that the corpus holds.

    elsewhere: profiles of other documents. inputs: files for the manifest. parents: document of
    each chunk, where chunks are folded. drawn: documents whose needs ask; None for all.
    """

    documents: list[Document]
    profiles: dict[str, Profiled]
    elsewhere: int = 0
    inputs: dict[str, Origin | None] = field(default_factory=dict)
    questions: JudgedQueries | None = None
    parents: Mapping[str, str] = field(default_factory=dict)
    drawn: frozenset[str] | None = None

    def parent(self, id_: str) -> str:
        """Return the document that a chunk is of. Itself where nothing is folded."""
        return self.parents.get(id_, id_)

    @property
    def usable(self) -> list[Document]:
        """The documents that have text."""
        return [d for d in self.documents if d.content.strip()]

    @property
    def asking(self) -> dict[str, Profiled]:
        """The profiles whose needs ask: of documents that have text, and are drawn."""
        ids = {d.id for d in self.usable}
        ids = ids if self.drawn is None else ids & self.drawn
        return {id_: profile for id_, profile in self.profiles.items() if id_ in ids}

    def states(
        self, failed: Mapping[str, str], failures: Sequence[tuple[Need, str]], asked: set[str]
    ) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Return a row per document with its state and the reason, and the counts of both.

        failed: document to why it has no vector. failures: needs that could not be asked, and why.
        asked: documents with a need that could.
        """
        rows, reasons = [], Counter[str]()
        for document in self.documents:
            own = [why for need, why in failures if need.doc_id == document.id]
            state, why = State.NOT_APPLICABLE, self._why_not_asked(document)
            if document.id in failed:
                state, why = State.FAILED, f"no vector: {failed[document.id]}"
            elif not why and document.id not in asked:
                state, why = State.FAILED, f"no need could be asked: {own[0]}"
            elif not why:
                state = State.MEASURED
                why = f"{len(own)} of its needs could not be asked" if own else ""
            if state is not State.MEASURED:
                reasons[why.partition(":")[0]] += 1
            row = {"id": document.id, "label": document.title, "state": str(state), "reason": why}
            rows.append(row)
        counts = Counter(row["state"] for row in rows)
        return rows, count_states(counts, reasons)

    def _why_not_asked(self, document: Document) -> str:
        if not document.content.strip():
            return "no text"
        if self.drawn is not None and document.id not in self.drawn:
            return "not drawn"
        if (profiled := self.profiles.get(document.id)) is None:
            return "no profile"
        if profiled.state is ProfileState.NOISE:
            return f"the profile is noise: {profiled.reason}"
        return "" if profiled.profile else f"the profile failed: {profiled.reason}"


def read_source(
    corpus: Corpus,
    profiles: Path | str | Mapping[str, Profiled] | None,
    config: NeedsConfig,
    *,
    fields: FieldNames | None = None,
    limit: int | None = None,
    encoder: Encoder | EncoderConfig | str | None = None,
    judged: JudgedFiles | None = None,
    writes: bool,
) -> NeedSource:
    """Read everything. encoder: as for `read_documents`. writes: missing profiles are written.

    Raises InputError where documents and profiles have no id in common, where there is neither a
    profile nor a writer, and for queries without judgements or the other way round.
    """
    fields = fields or FieldNames()
    if profiles is None and not writes:
        raise InputError(
            "neither --profiles nor --model",
            expected="what documents are needed for, or a language model that writes it",
            fix="Give --profiles of argus research scenarios write, or --model NAME with "
            "--estimate to see what that costs.",
            where="--profiles",
        )
    documents, path = read_documents(corpus, fields, limit, encoder)
    documents.sort(key=lambda d: d.id)
    profiles, file = given_profiles(profiles or {}, coerce_ids=fields.coerce_ids)
    with_text = {d.id for d in documents if d.content.strip()}
    require_some(len(with_text) > 1, "two documents have text", "Check --text-field, or --limit.")
    known = {d.id: profiles[d.id] for d in documents if d.id in profiles}
    if not known and not writes:
        raise InputError(
            f"{len(profiles):,} profiles, none of them of a document of the corpus (they begin "
            f"with {min(profiles, default='')!r}, the documents with {documents[0].id!r})",
            expected="profiles by the ids of the corpus",
            fix="Check --profiles, --corpus and --id-field; --limit may have cut the corpus too "
            "short.",
            where=file or "profiles",
        )
    usable = writes or any(p.profile is not None and id_ in with_text for id_, p in known.items())
    missing = "document with text has a profile with scenarios"
    require_some(usable, missing, "Profiles of state noise or failed have none.")
    questions, folded, judged = None, config.parent_field, judged or JudgedFiles()
    if judged.queries is not None and judged.qrels is not None:
        questions = read_judged(judged.queries, judged.qrels)
        questions = replace(questions, documents=documents).folded(folded)
    elif judged.queries is not None or judged.qrels is not None:
        lacking = "--queries" if judged.queries is None else "--qrels"
        raise InputError(
            f"judged questions without {lacking}",
            expected="both: --queries, and --qrels that say what is relevant to each",
            fix="Name the other file, too.",
            where=lacking,
        )
    inputs = {"corpus": path, "profiles": file, **(questions.files if questions else {})}
    fold = ParentFold.of(folded, documents)
    parents = fold.of_chunk if fold else {}
    return NeedSource(documents, known, len(profiles) - len(known), inputs, questions, parents)


def draw_order(source: NeedSource, config: NeedsConfig, *, writes: bool) -> list[Document]:
    """Return the documents whose needs ask, in random order, at most `config.sample`.

    writes: whether needs are written. If not, only documents with a profile have some. The order is
    by a hash of the ids: a larger sample holds the smaller one.
    """
    documents = [d for d in source.usable if writes or d.id in source.profiles]
    documents.sort(key=lambda d: (content_hash(str(config.seed), d.id), d.id))
    return documents[: config.sample]


def draw(
    source: NeedSource, config: NeedsConfig, writing: ProfileConfig | None, folder: ArtifactFolder
) -> tuple[NeedSource, RecordedModel | None]:
    """Return the source with the documents that ask, and the model that wrote missing needs.

    writing: how they are written. Answers are kept in `folder`/answers.sqlite, which
    `argus research scenarios write` goes on with.
    """
    order, model = draw_order(source, config, writes=writing is not None), None
    written: dict[str, Profiled] = {}
    if writing is not None:
        missing = [d for d in order if d.id not in source.profiles]
        with Ledger(folder.own(LEDGER, goes_on=True)) as ledger:
            prompts = prompts_for(missing, writing)
            announce(f"needs: {estimate(prompts, ledger, writing.model, schema=ProfileAnswer)}")
            model = RecordedModel(open_model(writing.model, ledger))
            written = {p.doc_id: p for p in generate(missing, model, writing)}
        whole = [source.profiles.get(d.id) or written[d.id] for d in order]
        write_profiles(folder.own(WRITTEN), whole)
    drawn = None if config.sample is None else frozenset(d.id for d in order)
    return replace(source, profiles={**source.profiles, **written}, drawn=drawn), model


def estimate_needs(
    corpus: Corpus,
    profiles: Path | str | Mapping[str, Profiled] | None,
    *,
    out: Path | str,
    config: NeedsConfig,
    model: ProfileConfig,
    fields: FieldNames | None = None,
    limit: int | None = None,
) -> Estimate:
    """Return prompts and cost of `audit_needs` for the drawn documents, asking nothing."""
    source = read_source(corpus, profiles, config, fields=fields, limit=limit, writes=True)
    order = draw_order(source, config, writes=True)
    prompts = prompts_for([d for d in order if d.id not in source.profiles], model)
    with ledger_to_read(Path(out) / LEDGER) as ledger:
        return estimate(prompts, ledger, model.model, schema=ProfileAnswer)


def measure_risk(
    source: NeedSource,
    config: NeedsConfig,
    ranks: Sequence[tuple[Need, int]],
    lists: Lists,
    folder: ArtifactFolder,
    name: str,
) -> tuple[dict[str, Any], pa.Table]:
    """Write the table of the documents' risk. Return its part of the summary, and the table.

    ranks: rank of the document of each need that could be asked. One beyond a list that ends is as
    if it came next. lists: answers questions. name: of the table. Keys of the result:

    parent_field: field that names the document of a chunk. None without chunks.
    documents: documents of the corpus.
    measured: documents that were asked for.
    reached: of these, documents that a need brings into the top k.
    low, high: 95% interval of their share.
    sample: documents that were to be drawn. None for all.
    judged: see `judged_risk`.
    validity: what the order tells of real questions, in words.
    """
    k = min(config.k, len(source.usable))
    titles: dict[str, str] = {}
    for document in source.documents:
        titles.setdefault(source.parent(document.id), document.title)
    chunks = Counter(source.parent(document.id) for document in source.documents)
    by_document: dict[str, list[tuple[Need, int]]] = defaultdict(list)
    for need, rank in ranks:
        by_document[source.parent(need.doc_id)].append((need, rank))
    rows: list[dict[str, Any]] = []
    for id_, own in by_document.items():
        places = np.array([rank for _, rank in own], np.float64)
        worst, worst_rank = max(own, key=lambda one: one[1])
        share = float((places <= k).mean())
        low, high = wilson(share, len(own))
        rows.append({
            "id": id_, "label": titles.get(id_, ""), "chunks": chunks[id_], "needs": len(own),
            "found": share, "low": float(low), "high": float(high),
            "typical_rank": float(np.exp(np.log(places).mean())),
            "worst_need": worst.text, "worst_rank": worst_rank,
        })  # fmt: skip
    rows.sort(key=lambda row: (-row["typical_rank"], row["id"]))
    folder.write_table(name, found := pa.Table.from_pylist(rows, schema=_SCHEMA), csv=True)
    reached, n = sum(row["found"] > 0 for row in rows), len(rows)
    first, last = wilson(reached / n, n) if n else (0.0, 1.0)
    judged = None
    if source.questions is not None:
        typical = {row["id"]: row["typical_rank"] for row in rows}
        judged = judged_risk(typical, source.questions, lists, k)
    return {
        "k": k,
        "parent_field": config.parent_field,
        "documents": len({source.parent(d.id) for d in source.usable}),
        "measured": n,
        "reached": reached,
        "low": float(first),
        "high": float(last),
        "sample": config.sample,
        "judged": judged,
        "validity": [str(one) for one in validity_of_needs(judged["area"] if judged else None)],
    }, found


def judged_risk(
    typical_ranks: Mapping[str, float], questions: JudgedQueries, lists: Lists, k: int
) -> dict[str, Any]:
    """Return the worth of the typical rank on judged questions.

    A pair of question and relevant document fails where k documents that are not relevant, or more,
    come before it, or where it does not come at all. The interval draws questions, since pairs of
    one question are not independent.

    questions: judged questions whose documents' needs were asked.
    pairs: pairs of question and relevant document that needs asked for.
    failed: of these, pairs whose document does not come back.
    area: AUC of the typical rank for failure. None where fewer than five failed, or did not.
    """
    relevant = {
        query.id: {id_ for id_, grade in questions.qrels.get(query.id, {}).items() if grade > 0}
        for query in questions.queries
    }
    queries = [q for q in questions.queries if relevant[q.id] & typical_ranks.keys()]
    most = max((len(relevant[query.id]) for query in queries), default=0)
    found = lists(queries, k + most) if queries else {}
    ranks, failed, clusters = [], [], []
    for query, ids in found.items():
        for id_ in sorted(relevant[query] & typical_ranks.keys()):
            before = ids[: ids.index(id_)] if id_ in ids else None
            fails = before is None or sum(other not in relevant[query] for other in before) >= k
            ranks.append(typical_ranks[id_])
            failed.append(fails)
            clusters.append(query)
    area = discrimination(ranks, failed, clusters=clusters)
    return {"questions": len(found), "pairs": len(ranks), "failed": sum(failed), "area": area}


def risk_lines(summary: Mapping[str, Any]) -> list[str]:
    """Return the risk and its worth for real questions, and why documents were not measured."""
    risk, lines = summary["risk"], []
    if "language_model" in summary:
        lines.append(f"needs written: {spent(summary['language_model'])}")
    if risk["measured"]:
        whose = f", folded by {risk['parent_field']}," if risk["parent_field"] else ""
        lines += [
            f"at risk: {risk['measured'] - risk['reached']:,} of {risk['measured']:,} "
            f"documents{whose} come into the top {risk['k']} for none of their needs "
            f"({1 - risk['high']:.1%} to {1 - risk['low']:.1%}); asked for: "
            f"{risk['measured']:,} of {risk['documents']:,}",
            f"what that order tells of real questions: {'; '.join(risk['validity'])}",
        ]
        if risk["judged"] is None:
            lines.append(
                "Measure it here: --queries and --qrels. The riskiest stand first in need_risk.csv."
            )
    if reasons := summary["documents"]["reasons"]:
        lines.append(f"not measured: {', '.join(f'{n:,} {why}' for why, n in reasons.items())}")
    if n := summary["profiles_elsewhere"]:
        lines.append(f"{n:,} profiles are of documents that the corpus lacks")
    return lines


def risk_table(folder: Path, name: str) -> Table:
    """Return the documents by their risk, for a report."""
    rows = read_table(folder / f"{name}.parquet").to_pylist()
    columns = headings(
        "document: text; typical rank: count; needs: count; find it: share; "
        "95% interval: interval; the need that fails it most: text; rank: count"
    )
    shown: list[list[object]] = [
        [
            naming(row["label"], row["id"]), round(row["typical_rank"]), row["needs"],
            row["found"], [row["low"], row["high"]], row["worst_need"], row["worst_rank"],
        ]
        for row in rows[:MAX_ROWS]
    ]  # fmt: skip
    return table(columns, shown, total=len(rows))


def write_slices(
    folder: ArtifactFolder, name: str, cut: Sequence[Slicing], trials: Sequence[Trials]
) -> dict[str, Any]:
    """Write the shares of every slice, the worst first. Return their figures for the summary."""
    if not cut:
        return {}
    fields = [one.figures for one in cut]
    figures, shares = rank_slices(fields, slice_shares(cut, trials))
    folder.write_table(name, shares, csv=True)
    return {"slices": figures}
