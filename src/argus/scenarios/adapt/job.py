"""Learn a correction of queries, and have an index searched with it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from argus.corpora import NamedCorpus
from argus.data.fields import CoerceIds
from argus.data.folders import ArtifactFolder
from argus.data.provenance import content_hash, utc_now
from argus.data.reading import WRITTEN, reading
from argus.data.types import Document, Qrels, Query
from argus.data.writing import one_writer
from argus.devices import Device, check_device
from argus.encoders import EmbeddingStore, Encoder, embed
from argus.encoders import documents as as_documents
from argus.encoders import queries as as_queries
from argus.encoders.protocol import unit_rows
from argus.encoders.store import store_of
from argus.errors import ArgusError, InputError
from argus.indexes.blend import REMEDIES
from argus.indexes.fold import ORIGINAL
from argus.indexes.header import index_folder
from argus.indexes.recipe import CORRECTION, QueryCorrection, read_correction
from argus.indexes.retriever import encoder_of
from argus.indexes.views import BEFORE, ViewIndex, originals
from argus.jobs import options as o
from argus.jobs.workspace import Record
from argus.measures.significance import interval_words
from argus.remedies.remedy_result import RemedyResult, check_judged, evaluate_remedy
from argus.remedies.undo import MADE, ROLLED_BACK, is_in_index
from argus.reports import write_report
from argus.reports.section import Section
from argus.scenarios.adapt.config import ADAPT, AdaptConfig, Unlabelled
from argus.scenarios.adapt.learning import Examples, held_out_gain, learn
from argus.scenarios.adapt.needs import Needs, Profiles, read_needs
from argus.settings import CORPUS, INDEX, OUTPUT, Option

# Key of made.json for the learnt correction. Without it the learning was not finished.
LEARNT = "learnt"
UNLABELLED = ("titles", "sentences")


@dataclass(frozen=True, repr=False)
class AdaptResult(RemedyResult):
    """Correction learnt of needs, and whether an index is searched with it.

    Keys of `summary`:

    file: file of the correction. None where nothing was prescribed.
    prescribed: whether the index is searched with it.
    added: false where it was so already.
    documents: documents of the index.
    needs.source: profiles, needs, titles or sentences.
    needs.used: texts with a vector.
    needs.failed: texts that the encoder rejected.
    needs.documents: documents of the index that have some.
    needs.elsewhere: documents with some that the index does not hold.
    learnt.alpha: strength α of the correction. 0 where nothing was prescribed.
    learnt.rank: rank of the correction's matrix.
    learnt.epoch: epoch that was kept.
    learnt.held_out: mean reciprocal rank over documents, by a learning that saw none of their
        needs.
    bytes: bytes of the file.
    multiplications: multiplications that a query costs more.
    others: other corrections in the index, which count no more.
    judged: judged questions of the receipt. None without.
    judged.questions: judged questions.
    judged.with_needs: questions that want a document it was learnt from.
    """

    def _receipt(self) -> Iterator[str]:
        summary = self.summary
        needs, learnt = summary["needs"], summary["learnt"]
        if summary["prescribed"] and not summary["added"]:
            yield f"{summary['remedy']} was in the index already; nothing added"
        what = needs["source"] if needs["source"] in UNLABELLED else "needs"
        yield (
            f"{summary['remedy']}: learnt from {needs['used']:,} {what} of {needs['documents']:,} "
            f"of {summary['documents']:,} documents in {learnt['seconds']:.0f} s"
        )
        if needs["elsewhere"]:
            others = f"{needs['elsewhere']:,} documents that the index does not hold"
            yield f"needs of {others}: left out"
        if needs["failed"]:
            yield f"{needs['failed']:,} {what} could not be embedded and are left out"
        yield _held_out(learnt, what)
        yield from _kept(summary) if summary["prescribed"] else _abstained(summary)


@one_writer
def adapt_index(
    index: Annotated[Path | str, Option(("--index",)), INDEX, OUTPUT],
    *,
    profiles: Profiles | None = None,
    needs: Path | str | Sequence[Query] | None = None,
    needs_qrels: Path | str | Qrels | None = None,
    learn_from: Annotated[Unlabelled | None, Option(("--from",))] = None,
    config: AdaptConfig | None = None,
    encoder: o.IndexEncoder = None,
    queries: Path | str | Sequence[Query] | None = None,
    qrels: o.MaybeQrels = None,
    corpus: Annotated[NamedCorpus | None, Option(is_name=True), CORPUS] = None,
    device: Device = None,
    coerce_ids: CoerceIds = False,
    out: Annotated[Path | None, OUTPUT] = None,
) -> AdaptResult:
    """Learn a correction of all queries from what some documents are needed for.

    A repair that reaches beyond the documents that it was learnt from: no view is added, every
    query is moved a little, q' = unit(q + α·U Wᵀ q). Needs that are held out stop the learning and
    decide how far queries are moved; where they do not improve beyond chance, nothing is
    prescribed. `argus tune undo` takes it out again.

    profiles: scenario profiles by document id, or a path for `read_profiles`. needs, needs_qrels:
    texts, and the documents that each is for. The same correction is never learnt twice. queries,
    qrels: for an evaluation before and after. device: of the encoder and the learning. Raises
    InputError for bad input and for needs of other documents alone, ArgusError where none can be
    embedded.

    Args:
        index: Folder from argus index build.
        profiles: Profiles of documents (argus tune apply scenarios), whose information needs are
            used.
        needs: Queries that say what documents are needed for; with --needs-qrels.
        needs_qrels: Which documents each of --needs is for, as judgements.
        learn_from: titles, or sentences held out of documents, where nobody wrote needs. It did not
            carry over to questions where that was measured.
        queries: Judged queries, for the receipt.
        corpus: Where titles are, to tell implicit questions apart.
        out: Folder for the receipt; default: in the index.
    """
    questions = check_judged(queries, qrels, corpus)
    config = config or AdaptConfig()
    views = ViewIndex.open(index_folder(index))
    documents = originals(views)
    needed = read_needs(
        documents, profiles, needs, needs_qrels, learn_from, coerce_ids=coerce_ids, seed=config.seed
    )
    if config.rank > views.dim:
        raise InputError(
            f"rank {config.rank}", expected=f"at most {views.dim}, the dimension of the vectors",
            fix="Leave it out for 16.", where="--rank",
        )  # fmt: skip
    settings = {"index": str(index), "from": needed.source, **asdict(config)}
    record = Record(ADAPT, settings, dict(needed.files))
    model = encoder_of(views, encoder, device)
    views.header.check_fingerprint(model.fingerprint, views.path)
    record.encoder["fingerprint"] = model.fingerprint
    home = ArtifactFolder(views.path / REMEDIES / _remedy_id(needed, documents, config))
    folder, remedy = ArtifactFolder(out or home.path), home.path.name
    record.open(folder, about=(views.path,))
    home.open()
    is_there = remedy in {r.remedy for r in views.header.recipes}
    is_told = is_in_index(views, remedy, by_recipe=True)
    learnt, counts = _earlier(home) or _learn(
        views, model, documents, needed, config, home, record, check_device(device)
    )
    file = home / CORRECTION if learnt["alpha"] else None
    if file is not None:
        if not is_there:  # only now that it is written
            views.prescribe(remedy, corrects=True)
        (home / ROLLED_BACK).unlink(missing_ok=True)
    judged = None
    if questions is not None:
        known = {doc for need in needed.needs for doc in need.documents}
        grades = [questions.qrels[query.id] for query in questions.with_judgements]
        relevant = [{doc for doc, grade in own.items() if grade > 0} for own in grades]
        with_needs = sum(bool(docs & known) for docs in relevant)
        judged = {"questions": len(relevant), "with_needs": with_needs}
    summary: dict[str, Any] = {
        "remedy": remedy,
        "index": str(views.path),
        "file": None if file is None else str(file),
        "prescribed": file is not None,
        "added": file is not None and not is_told,
        "documents": len(documents),
        "needs": counts,
        "learnt": learnt,
        "bytes": 0 if file is None else file.stat().st_size,
        "multiplications": 0 if file is None else 2 * learnt["rank"] * views.dim,
        "others": [r.remedy for r in views.header.recipes if r.corrects and r.remedy != remedy],
        "judged": judged,
    }
    folder.write_results(ADAPT, summary, record.manifest(summary["needs"]))
    report = write_report(folder.path)
    evaluation = None
    if file is not None:
        evaluation = evaluate_remedy(views, remedy, questions, encoder=model, out=folder.path)
    return AdaptResult(remedy, folder.path, report, views, summary, evaluation)


def _remedy_id(needs: Needs, documents: Sequence[Document], config: AdaptConfig) -> str:
    """Return an id that equal needs of equal documents share, learnt from alike."""
    parts = [json.dumps(asdict(config), sort_keys=True)]
    for need in needs.needs:
        parts += [need.text, *need.documents, need.rest or ""]
    for d in documents:
        parts += [d.id, d.text, d.title, str(d.metadata["added"])]
    return f"{ADAPT}-{needs.source}-{content_hash(*parts, size=4).hex()}"


def _earlier(home: ArtifactFolder) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Return figures and needs of an earlier run. None if it is unfinished or its file gone."""
    note = home.read_json(MADE)
    if LEARNT not in note or "needs" not in note:
        return None
    with reading(home / MADE, "is damaged", expected="the file as Argus wrote it", fix=WRITTEN):
        learnt, counts = dict(note[LEARNT]), dict(note["needs"])
        alpha = float(learnt["alpha"])
    if alpha:
        if not (home / CORRECTION).is_file():
            return None
        read_correction(home / CORRECTION)
    return learnt, counts


def _learn(
    index: ViewIndex,
    encoder: Encoder,
    documents: Sequence[Document],
    needs: Needs,
    config: AdaptConfig,
    home: ArtifactFolder,
    record: Record,
    device: str,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Embed the queries, learn of them, and leave the correction and its note in `home`.

    Returns the figures of both. ArgusError where the needs of fewer than two documents have a
    vector.
    """
    store_path = store_of(index.path)
    with (
        record.timed("embedding needs"),
        EmbeddingStore(store_path, fingerprint=encoder.fingerprint, dim=encoder.dim) as store,
    ):
        embedded = embed(as_queries([n.text for n in needs.needs]), encoder, store, what="needs")
        ok, failures, rests = embedded.ok, dict(embedded.failures), None
        if any(need.rest is not None for need in needs.needs):
            texts = as_documents([need.rest or "" for need in needs.needs])
            rests = embed(texts, encoder, store, what="documents without a sentence")
            ok, failures = ok & rests.ok, failures | rests.failures
    used = [need for need, fine in zip(needs.needs, ok, strict=True) if fine]
    counted = {doc for need in used for doc in need.documents[:1]}
    if len(counted) < 2:
        raise ArgusError(
            f"{index.path}: of {len(needs.needs):,} needs only those of {len(counted)} "
            f"documents could be embedded ({next(iter(failures.values()), '')}), so nothing was "
            "learnt."
        )
    snapshot = index.snapshot(ORIGINAL)
    first = {
        v.doc_id: i for i, v in reversed(list(enumerate(snapshot.views))) if v.kind == ORIGINAL
    }
    row = {d.id: i for i, d in enumerate(documents)}
    targets = np.full((len(used), max(len(n.documents) for n in used)), -1, np.int64)
    for i, need in enumerate(used):
        targets[i, : len(need.documents)] = [row[doc] for doc in need.documents]
    examples = Examples(
        np.ascontiguousarray(snapshot.vectors[[first[d.id] for d in documents]]),
        unit_rows(embedded.vectors[ok[embedded.ok]]),  # a correction does not depend on lengths
        targets,
        None if rests is None else rests.vectors[ok[rests.ok]],
    )
    counts = {
        "source": needs.source,
        "used": len(used),
        "failed": int((~ok).sum()),
        "documents": len({doc for need in used for doc in need.documents}),
        "elsewhere": needs.elsewhere,
    }
    start = time.perf_counter()
    with record.timed("learning"):
        taught = learn(examples, config, device)
    seconds = time.perf_counter() - start
    difference = held_out_gain(taught, examples, config.seed)
    learnt = {  # α = 0 where the gain on held-out needs may be chance
        "alpha": taught.alpha if difference.verdict == "better" else 0.0,
        "rank": taught.u.shape[1],
        "epoch": taught.epoch,
        "held_out": difference.figures(),
        "seconds": round(seconds, 2),
    }
    if learnt["alpha"]:
        correction = QueryCorrection(taught.u, taught.w, taught.alpha, encoder.fingerprint)
        correction.save(home.own(CORRECTION))
    about = {"remedy": home.path.name, "kind": ADAPT, "at": utc_now(), "relied_on": []}
    home.write_json(MADE, {**about, LEARNT: learnt, "needs": counts})
    return learnt, counts


def _held_out(learnt: Mapping[str, Any], what: str) -> str:
    held = learnt["held_out"]
    return (
        f"{what} held out, mean reciprocal rank of their documents among all: "
        f"{held['mean_before']:.3f} → {held['mean_after']:.3f} "
        f"({held['mean_difference']:+.3f}, {interval_words(held, '+.3f')}); "
        f"{held['improved']:,} documents improved, {held['harmed']:,} harmed"
    )


def _kept(summary: Mapping[str, Any]) -> Iterator[str]:
    learnt, remedy, index = summary["learnt"], summary["remedy"], summary["index"]
    yield (
        f"rank {learnt['rank']}, α = {learnt['alpha']:g}: {summary['bytes'] / 1024:.0f} KiB, "
        f"{summary['multiplications']:,} multiplications more per query, no view"
    )
    if summary["others"]:
        yield f"in place of {', '.join(summary['others'])}: the latest correction counts"
    judged = summary["judged"]
    if judged is not None and judged["with_needs"]:
        yield (
            f"{judged['with_needs']:,} of the {judged['questions']:,} judged questions want a "
            "document that it was learnt from; what it does for others is told by the rest"
        )
    if summary["needs"]["source"] in UNLABELLED:
        yield (
            f"WARNING: learnt from {summary['needs']['source']}, which did not carry over to "
            "questions where that was measured (docs/results.md): judge it before you serve it"
        )
    if judged is None:
        yield (
            "what it does to real questions was not measured: with --queries and --qrels the same "
            "command says so"
        )
    yield (
        f"every query of {index} is corrected from now on; {index}@{BEFORE}{remedy} is as before. "
        f"A store with the same vectors is asked with --correction {summary['file']}"
    )


def _abstained(summary: Mapping[str, Any]) -> Iterator[str]:
    yield (
        f"nothing was prescribed: held out, {summary['needs']['source']} do not improve beyond "
        f"chance; {summary['index']} is searched as before"
    )
    yield "Needs of more documents may tell more (argus tune apply scenarios writes them)."


def section(folder: Path, adapt: Mapping[str, Any]) -> Section:
    """Build it from the summary alone."""
    if not adapt["prescribed"]:
        return Section(brief="no correction: held-out needs do not improve")
    held = adapt["learnt"]["held_out"]
    return Section(
        brief=f"held-out needs, mean reciprocal rank: {held['mean_before']:.3f} → "
        f"{held['mean_after']:.3f}"
    )
