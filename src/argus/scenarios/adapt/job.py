"""`remedy adapt`: learn a correction of queries, and have an index searched with it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from argus.corpora import NamedCorpus
from argus.data.folders import ArtifactFolder
from argus.data.provenance import content_hash, utc_now
from argus.data.reading import WRITTEN, reading
from argus.data.types import Document, Qrels, Query
from argus.data.writing import one_writer
from argus.devices import check_device
from argus.encoders import EmbeddingStore, Encoder, EncoderConfig, embed
from argus.encoders import documents as as_documents
from argus.encoders import queries as as_queries
from argus.encoders.store import store_of
from argus.errors import ArgusError, InputError
from argus.evaluation.judged import JudgedQueries
from argus.indexes.blend import REMEDIES
from argus.indexes.fold import ORIGINAL
from argus.indexes.header import index_folder
from argus.indexes.recipe import CORRECTION, QueryCorrection, read_correction
from argus.indexes.retriever import encoder_of
from argus.indexes.views import ViewIndex, originals
from argus.jobs.workspace import Record
from argus.remedies.remedy_result import RemedyResult, check_judged, evaluate_remedy
from argus.remedies.undo import MADE, ROLLED_BACK, is_recorded, write_recorded
from argus.reports import write_report
from argus.scenarios.adapt.config import ADAPT, AdaptConfig, Unlabelled
from argus.scenarios.adapt.learning import (
    Examples,
    held_out_gain,
    learn,
    unit_examples,
)
from argus.scenarios.adapt.needs import Needs, Profiles, read_needs
from argus.scenarios.adapt.section import headline

# Key of made.json for the learnt correction. Without it the learning was not finished.
LEARNT = "learnt"


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
        return headline(self.summary)


@dataclass(frozen=True)
class _Opened:
    """An index whose queries are to be corrected, and the needs of its documents."""

    index: ViewIndex
    encoder: Encoder
    documents: list[Document]
    needs: Needs
    config: AdaptConfig
    home: ArtifactFolder
    record: Record

    @property
    def remedy(self) -> str:
        return self.home.path.name


@one_writer
def adapt_index(
    index: Path | str,
    *,
    profiles: Profiles | None = None,
    needs: Path | str | Sequence[Query] | None = None,
    needs_qrels: Path | str | Qrels | None = None,
    learn_from: Unlabelled | None = None,
    config: AdaptConfig | None = None,
    encoder: Encoder | EncoderConfig | str | None = None,
    queries: Path | str | Sequence[Query] | None = None,
    qrels: Path | str | Qrels | None = None,
    corpus: NamedCorpus | None = None,
    device: str | None = None,
    coerce_ids: bool = False,
    out: Path | None = None,
) -> AdaptResult:
    """Learn a correction of an index's queries from the needs of some of its documents.

    profiles: scenario profiles by document id, or a path for `read_profiles`. needs, needs_qrels:
    texts, and the documents that each is for. learn_from: titles or held-out sentences, which did
    not carry over to questions where that was measured. Where held-out needs do not improve beyond
    chance, nothing is prescribed and the index is searched as before. The same correction is never
    learnt twice. `argus tune undo` takes it out. queries, qrels: for an evaluation before and
    after. device: of the encoder and the learning. out: default `INDEX/remedies/ID`. Raises
    InputError for bad input and for needs of other documents alone, ArgusError where none can be
    embedded.
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
    record = Record(ADAPT, {"index": str(index), "from": needed.source, **asdict(config)},
                    dict(needed.files))  # fmt: skip
    model = encoder_of(views, encoder, device)
    views.header.check_fingerprint(model.fingerprint, views.path)
    record.encoder["fingerprint"] = model.fingerprint
    home = ArtifactFolder(views.path / REMEDIES / _remedy_id(needed, documents, config))
    opened = _Opened(views, model, documents, needed, config, home, record)
    folder = ArtifactFolder(out or home.path)
    record.open(folder, about=(views.path,))
    home.open()
    summary = _adapt(opened, questions, check_device(device))
    folder.write_results(ADAPT, summary, record.manifest(summary["needs"]))
    report = write_report(folder.path)
    evaluation = None
    if summary["prescribed"]:
        out = folder.path
        evaluation = evaluate_remedy(views, opened.remedy, questions, encoder=model, out=out)
    write_recorded(home)
    return AdaptResult(opened.remedy, folder.path, report, views, summary, evaluation)


def _remedy_id(needs: Needs, documents: Sequence[Document], config: AdaptConfig) -> str:
    """Return an id that equal needs of equal documents share, learnt from alike."""
    parts = [json.dumps(asdict(config), sort_keys=True)]
    for need in needs.needs:
        parts += [need.text, *need.documents, need.rest or ""]
    for d in documents:
        parts += [d.id, d.text, d.title, str(d.metadata["added"])]
    return f"{ADAPT}-{needs.source}-{content_hash(*parts, size=4).hex()}"


def _adapt(opened: _Opened, questions: JudgedQueries | None, device: str) -> dict[str, Any]:
    """Learn, unless an earlier run did. Write it beside the index, and only then prescribe it."""
    index, home, remedy = opened.index, opened.home, opened.remedy
    is_there = remedy in {r.remedy for r in index.header.recipes}
    is_told = is_recorded(home, remedy, index, by_recipe=True)
    learnt, counts = _earlier(home) or _learn(opened, device)
    file = home / CORRECTION if learnt["alpha"] else None
    if file is not None:
        if not is_there:
            index.prescribe(remedy, corrects=True)
        (home / ROLLED_BACK).unlink(missing_ok=True)
    judged = None
    if questions is not None:
        needed = {doc for need in opened.needs.needs for doc in need.documents}
        grades = [questions.qrels[query.id] for query in questions.with_judgements]
        relevant = [{doc for doc, grade in own.items() if grade > 0} for own in grades]
        with_needs = sum(bool(docs & needed) for docs in relevant)
        judged = {"questions": len(relevant), "with_needs": with_needs}
    return {
        "remedy": remedy,
        "index": str(index.path),
        "file": None if file is None else str(file),
        "prescribed": file is not None,
        "added": file is not None and not is_told,
        "documents": len(opened.documents),
        "needs": counts,
        "learnt": learnt,
        "bytes": 0 if file is None else file.stat().st_size,
        "multiplications": 2 * learnt["rank"] * index.dim if file is not None else 0,
        "others": [r.remedy for r in index.header.recipes if r.corrects and r.remedy != remedy],
        "judged": judged,
    }


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


def _learn(opened: _Opened, device: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Embed the queries, learn of them, and leave the correction and its note in `home`."""
    index, encoder, record = opened.index, opened.encoder, opened.record
    with (
        record.timed("embedding needs"),
        EmbeddingStore(
            store_of(index.path), fingerprint=encoder.fingerprint, dim=encoder.dim
        ) as store,
    ):
        examples, counts = _examples(opened, store)
    start = time.perf_counter()
    with record.timed("learning"):
        taught = learn(examples, opened.config, device)
    seconds = time.perf_counter() - start
    difference = held_out_gain(taught, examples, opened.config.seed)
    learnt = {  # α = 0 where the gain on held-out needs may be chance
        "alpha": taught.alpha if difference.verdict == "better" else 0.0,
        "rank": taught.u.shape[1],
        "epoch": taught.epoch,
        "held_out": difference.figures(),
        "seconds": round(seconds, 2),
    }
    if learnt["alpha"]:
        correction = QueryCorrection(taught.u, taught.w, taught.alpha, encoder.fingerprint)
        correction.save(opened.home.own(CORRECTION))
    made: Mapping[str, object] = {
        "remedy": opened.remedy, "kind": ADAPT, "at": utc_now(), "relied_on": [],
        LEARNT: learnt, "needs": counts,
    }  # fmt: skip
    opened.home.write_json(MADE, made)
    return learnt, counts


def _examples(opened: _Opened, store: EmbeddingStore) -> tuple[Examples, dict[str, Any]]:
    """Return the needs with a vector, against all documents. ArgusError where none has one."""
    needs, encoder = opened.needs, opened.encoder
    embedded = embed(as_queries([n.text for n in needs.needs]), encoder, store, what="needs")
    ok = embedded.ok.copy()
    rests = None
    if any(need.rest is not None for need in needs.needs):
        texts = as_documents([need.rest or "" for need in needs.needs])
        rests = embed(texts, encoder, store, what="documents without a sentence")
        ok &= rests.ok
    used = [need for need, fine in zip(needs.needs, ok, strict=True) if fine]
    documents = {doc for need in used for doc in need.documents[:1]}
    if len(documents) < 2:
        why = next(iter((embedded.failures | (rests.failures if rests else {})).values()), "")
        raise ArgusError(
            f"{opened.index.path}: of {len(needs.needs):,} needs only those of {len(documents)} "
            f"documents could be embedded ({why}), so nothing was learnt."
        )
    snapshot = opened.index.snapshot(ORIGINAL)
    first = {
        v.doc_id: i for i, v in reversed(list(enumerate(snapshot.views))) if v.kind == ORIGINAL
    }
    row = {d.id: i for i, d in enumerate(opened.documents)}
    targets = np.full((len(used), max(len(n.documents) for n in used)), -1, np.int64)
    for i, need in enumerate(used):
        targets[i, : len(need.documents)] = [row[doc] for doc in need.documents]
    examples = Examples(
        np.ascontiguousarray(snapshot.vectors[[first[d.id] for d in opened.documents]]),
        embedded.vectors[ok[embedded.ok]],
        targets,
        None if rests is None else rests.vectors[ok[rests.ok]],
    )
    return unit_examples(examples), {
        "source": needs.source,
        "used": len(used),
        "failed": int((~ok).sum()),
        "documents": len({doc for need in used for doc in need.documents}),
        "elsewhere": needs.elsewhere,
    }
