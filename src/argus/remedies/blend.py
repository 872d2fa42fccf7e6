"""`argus tune apply blend`: mix sentences and BM25 into the search of an index.

`blend_index` adds the blend to the index as one remedy, or a fixed fusion of vectors and BM25,
which is a blend without sentences. Its parts are made in `argus.remedies.blend_parts`.
`argus.remedies.store_blend` writes them into a vector store instead. What it gains on judged
questions tells `argus tune try`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from argus.data.folders import ArtifactFolder
from argus.data.provenance import utc_now
from argus.data.types import Qrels, Query
from argus.data.writing import one_writer
from argus.encoders import EmbeddingStore, Encoder, EncoderConfig
from argus.encoders.config import COSINE
from argus.encoders.store import store_of
from argus.errors import InputError
from argus.evaluation.config import ChunkedCorpus
from argus.evaluation.judged import fold_system
from argus.evaluation.systems import System, missing_gold
from argus.indexes.blend import BLEND, FUSION, REMEDIES, Blend
from argus.indexes.header import index_folder
from argus.indexes.retriever import encoder_of
from argus.indexes.views import BEFORE, ViewIndex, new_views, originals
from argus.jobs.workspace import Record
from argus.remedies.blend_parts import blend_id, make_blend
from argus.remedies.config import SentenceSettings
from argus.remedies.remedy_result import RemedyResult, check_judged, evaluate_remedy
from argus.remedies.undo import MADE, ROLLED_BACK, is_in_index
from argus.reports import write_report
from argus.reports.section import Section
from argus.verdict.verdict import BLEND_MEASURED

NDCG, RECALL = "nDCG@10", "R@10"
K = 10
DENSE = Blend(weight=1, bm25=0)
ALONE, SENTENCES, BM25 = "vectors alone", "+ sentences", "+ BM25"


@dataclass(frozen=True, repr=False)
class BlendResult(RemedyResult):
    """Result of `blend_index`.

    Keys of its summary:

    added: false if the index had it already.
    settings: weights of the blend.
    max_views: most sentence views of a document.
    documents: total, with_views (those that have sentence views), without (one sentence, or no
        word) and joined (too many sentences, whose neighbours are joined).
    views: sentence views of the remedy.
    views_known: sentences left out, since their documents have views with that text.
    views_failed: sentences that could not be embedded.
    bytes: bytes of texts (UTF-8) and vectors.
    relied_on: remedies whose views were left out here.
    seconds: seconds by step.
    """

    def _receipt(self) -> Iterator[str]:
        return headline(self.summary)


@one_writer
def blend_index(
    index: Path | str,
    blend: Blend | None = None,
    *,
    sentences: SentenceSettings | None = None,
    encoder: Encoder | EncoderConfig | str | None = None,
    queries: Path | str | Sequence[Query] | None = None,
    qrels: Path | str | Qrels | None = None,
    chunks: ChunkedCorpus | None = None,
    device: str | None = None,
    out: Path | None = None,
) -> BlendResult:
    """Add a blend to the search of an index, and write the receipt.

    Sentence views of all documents are added as one remedy. Once all are there, every search of the
    index uses the blend. The same blend is never added twice. A killed run changes no search, and
    the same command continues it. `argus tune undo` removes the blend. queries, qrels: to
    evaluate before and after. chunks: the corpus of the index, and
    the field in which its chunks name their document. Then judgements are of documents. out:
    default `INDEX/remedies/ID`. Raises InputError for bad input, and for an index that ranks by dot
    product.
    """
    chunks, blend = chunks or ChunkedCorpus(), blend or Blend()
    settings = sentences or SentenceSettings()
    questions = check_judged(queries, qrels, chunks.corpus, chunks.fields, chunks.parent_field)
    opened = ViewIndex.open(index_folder(index))
    if opened.header.similarity != COSINE:
        got = f"an index that ranks by {opened.header.similarity}"
        expected = "one that ranks by cosine: a blend's weights hold for cosines"
        fix = "Build it with an encoder that ranks by cosine."
        raise InputError(got, expected=expected, fix=fix, where=opened.path)
    documents = originals(opened)
    remedy = blend_id(blend, settings, documents)
    config = {"index": str(index), **asdict(blend), **asdict(settings)}
    record = Record(BLEND, config | {"parent_field": chunks.parent_field}, {})
    model = encoder_of(opened, encoder, device)
    opened.header.check_fingerprint(model.fingerprint, opened.path)
    record.encoder["fingerprint"] = model.fingerprint
    if questions is not None:  # refused now, not when the index has been changed
        fold = questions.fold
        system = System(str(opened.path), {}, documents=frozenset(d.id for d in documents))
        missing_gold(system if fold is None else fold_system(system, fold), questions.judged)
    home = ArtifactFolder(opened.path / REMEDIES / remedy)
    folder = ArtifactFolder(out or home.path)
    record.open(folder, about=(opened.path,))
    home.open()
    was_there = is_in_index(opened, remedy, by_recipe=True)
    vectors = store_of(opened.path)
    with EmbeddingStore(vectors, fingerprint=model.fingerprint, dim=model.dim) as cache:
        with record.timed("embedding sentences"):
            made = make_blend(blend, settings, remedy, documents, model, cache)
        with record.timed("adding views"):
            new = new_views(made.views, opened, remedy)
            note = {"remedy": remedy, "kind": BLEND, "at": utc_now()}
            home.write_json(MADE, note | {"views_known": new.known, "relied_on": new.relied_on})
            row = {view.id: i for i, view in enumerate(made.views)}
            if new.views:
                opened.add(new.views, made.vectors[[row[v.id] for v in new.views]], remedy)
            others = opened.recipe().sentences_of if blend.sentences else ()
            relied_on = dict.fromkeys(
                other for other in (*new.relied_on, *others) if other != remedy
            )
            opened.prescribe(remedy, blend=blend, relied_on=[*relied_on])  # now they count
            (home / ROLLED_BACK).unlink(missing_ok=True)
    there = next(r for r in opened.remedies() if r.id == remedy)
    summary: dict[str, Any] = {
        "remedy": remedy,
        "index": str(opened.path),
        "added": not was_there,
        "settings": asdict(blend),
        "max_views": settings.max_views,
        "documents": {
            "total": len(documents),
            "with_views": there.documents,
            **made.counts,
        },
        "views": there.views,
        "views_known": new.known,
        "views_failed": made.failed,
        "bytes": there.bytes,
        "relied_on": new.relied_on,
        "seconds": record.timings_s,
    }
    folder.write_results(BLEND, summary, record.manifest(summary["documents"]))
    report = write_report(folder.path)
    evaluation = evaluate_remedy(opened, remedy, questions, encoder=model, out=folder.path)
    return BlendResult(remedy, folder.path, report, opened, summary, evaluation)


def headline(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield the counts of a blend, its costs and gains, and its effect on other commands."""
    documents, settings = summary["documents"], summary["settings"]
    if not summary["added"]:
        yield f"{summary['remedy']} was in the index already; nothing added"
    if settings["weight"] == 1:
        weighs = f", BM25 {settings['bm25']:g}" if settings["fusion"] == FUSION else ""
        yield f"{summary['remedy']}: vectors and BM25 fused by {settings['fusion']}{weighs}"
        yield "nothing else was added to the index"
    else:
        yield (
            f"{summary['remedy']}: {summary['views']:,} sentence views of "
            f"{documents['with_views']:,} of {documents['total']:,} documents; "
            f"λ = {settings['weight']:g}, BM25 {settings['bm25']:g}"
        )
    if others := ", ".join(summary["relied_on"]):
        yield f"{summary['views_known']:,} views were in the index already ({others})"
    if failed := summary["views_failed"]:
        yield f"{failed:,} sentences could not be embedded and are left out"
    if settings["by_question"]:
        yield f"argus tune try says what it changes here. {BLEND_MEASURED}"
    yield (
        "search, evaluate, explain, compare and gate use it from now on; "
        f"{summary['index']}@{BEFORE}{summary['remedy']} is as before"
    )


def section(folder: Path, blend: Mapping[str, Any]) -> Section:
    """Build the report's section."""
    documents = blend["documents"]
    brief = f"{blend['views']:,} sentence views of {documents['with_views']:,} documents"
    return Section({}, {}, brief)
