"""`argus tune apply blend`: mix sentences and BM25 into the search of an index.

`blend_index` adds the parts to the index as one remedy. With judged questions it measures each part
against the vectors alone and writes a receipt. `measure_rivals` compares fixed fusions with BM25.
The parts are made in `argus.remedies.blend_parts`. `argus.remedies.store_blend` writes them into a
vector store instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from argus.data.folders import ArtifactFolder
from argus.data.provenance import utc_now
from argus.data.types import FloatArray, Qrels, Query, Run
from argus.data.writing import one_writer
from argus.encoders import EmbeddingStore, Encoder, EncoderConfig, embed
from argus.encoders import queries as as_queries
from argus.encoders.config import COSINE
from argus.encoders.store import store_of
from argus.errors import InputError
from argus.evaluation.config import ChunkedCorpus
from argus.evaluation.judged import JudgedQueries, ParentFold, deeper, fold_system
from argus.evaluation.systems import System, missing_gold
from argus.indexes.blend import BLEND, RELEVANCE_WEIGHT, REMEDIES, Blend
from argus.indexes.fusion import FUSION, RIVALS, fuse_with_bm25, question_weights
from argus.indexes.header import index_folder
from argus.indexes.lexical import LexicalIndex
from argus.indexes.retriever import FUSED_DEPTH, IndexRetriever, encoder_of
from argus.indexes.snapshot import Snapshot
from argus.indexes.views import BEFORE, ViewIndex, new_views, originals
from argus.jobs.workspace import Record
from argus.measures import evaluate, paired_difference
from argus.measures.significance import with_interval
from argus.remedies.blend_parts import blend_id, make_blend
from argus.remedies.config import SentenceSettings
from argus.remedies.remedy_result import RemedyResult, check_judged, evaluate_remedy
from argus.remedies.undo import MADE, ROLLED_BACK, is_in_index
from argus.reports import write_report
from argus.reports.section import Section, table
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
    parts: gain of each part, in the order in which they are added (`measure_parts`). Empty without
        judged questions.
    rivals: gains of fixed fusions over the vectors alone. Empty without judged questions.
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
    the same command continues it. `argus tune undo` removes the blend. queries, qrels: to measure
    the gain of each part, and to evaluate before and after. chunks: the corpus of the index, and
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
            opened.prescribe(remedy, blend=blend, relied_on=new.relied_on)  # now they count
            (home / ROLLED_BACK).unlink(missing_ok=True)
        there = next(r for r in opened.remedies() if r.id == remedy)
        parts, gains = [], []
        if questions is not None:
            with record.timed("measuring what it gains"):
                retriever = IndexRetriever(opened, model, remedy)
                judged = JudgedVectors.of(questions, retriever, cache)
                state = opened.snapshot(remedy)
                searched = Searched(state, retriever.lexical(), retriever.weight)
                parts = measure_parts(searched, blend, judged)
                gains = measure_rivals(searched, judged)
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
        "parts": parts,
        "rivals": gains,
        "seconds": record.timings_s,
    }
    folder.write_results(BLEND, summary, record.manifest(summary["documents"]))
    report = write_report(folder.path)
    evaluation = evaluate_remedy(opened, remedy, questions, encoder=model, out=folder.path)
    return BlendResult(remedy, folder.path, report, opened, summary, evaluation)


@dataclass(frozen=True)
class Searched:
    """A state of an index and BM25 over its documents, searched under any blend."""

    snapshot: Snapshot
    lexical: LexicalIndex
    weight: float = RELEVANCE_WEIGHT  # λ of scenarios, if there are any

    def run(self, queries: Sequence[Query], vectors: FloatArray, k: int, blend: Blend) -> Run:
        """Return the k best documents under a blend. vectors: (n_queries, dim)."""
        ids = [query.id for query in queries]
        depth = max(k, FUSED_DEPTH) if blend.bm25 else k
        dense = self.snapshot.blended(blend).search(vectors, depth, self.weight).run(ids)
        if not blend.bm25:
            return dense
        words = self.lexical.search([query.text for query in queries], depth)
        weights = question_weights(blend.bm25, ids, words.coverage)
        return fuse_with_bm25(dense, words.run(ids), k, FUSION, weights)


@dataclass(frozen=True)
class JudgedVectors:
    """Judged questions with their query vectors, (n_queries, dim)."""

    queries: Sequence[Query]
    vectors: FloatArray
    qrels: Qrels
    fold: ParentFold | None = None  # of chunks to the documents that were judged

    @classmethod
    def of(
        cls, questions: JudgedQueries, retriever: IndexRetriever, cache: EmbeddingStore
    ) -> JudgedVectors:
        """Embed judged questions as the index searches them, without those that cannot be."""
        judged, qrels = list(questions.judged.queries.values()), questions.judged.qrels
        items = as_queries([query.text for query in judged])
        embedded = embed(items, retriever.encoder, cache, what="queries")
        able = [query for query, ok in zip(judged, embedded.ok, strict=True) if ok]
        vectors = retriever.recipe.correct(embedded.vectors)
        return cls(able, vectors, {query.id: qrels[query.id] for query in able}, questions.fold)

    @property
    def depth(self) -> int:
        """Number of results that make ten documents."""
        return deeper(K, self.fold)

    def measure(self, run: Run, *measures: str) -> Mapping[str, Mapping[str, float]]:
        """Return each query's measures of a run, folded to judged documents."""
        run = run if self.fold is None else self.fold.run(run)
        return evaluate(run, self.qrels, list(measures)).per_query


def steps(blend: Blend) -> dict[str, Blend]:
    """Return the blend part after part, by the name of each. Parts that are off are left out."""
    arms = {ALONE: DENSE}
    if blend.sentences:
        arms[SENTENCES] = replace(blend, bm25=0)
    if blend.bm25:
        arms[BM25] = blend
    return arms


def measure_parts(searched: Searched, blend: Blend, judged: JudgedVectors) -> list[dict[str, Any]]:
    """Measure the gain of the blend, part after part, against the vectors alone.

    part: part up to which the blend is searched. ndcg10, recall10: paired differences.
    """
    parts: list[dict[str, Any]] = []
    alone: dict[str, dict[str, float]] = {}
    for name, arm in steps(blend).items():
        run = searched.run(judged.queries, judged.vectors, judged.depth, arm)
        per_query = judged.measure(run, NDCG, RECALL)
        gains = {}
        for m in (NDCG, RECALL):
            values = {q: v[m] for q, v in per_query.items()}
            gains[m] = paired_difference(alone.setdefault(m, values), values, seed=0).figures()
        parts.append({"part": name, "ndcg10": gains[NDCG], "recall10": gains[RECALL]})
    return parts


def measure_rivals(
    searched: Searched,
    judged: JudgedVectors,
    before: Mapping[str, float] | None = None,
    seed: int = 0,
) -> list[dict[str, Any]]:
    """Return the gain of the vectors fused with BM25 by each of `RIVALS`: fusion and ndcg10.

    before: nDCG@10 of each query that they are compared with. None is that of the vectors alone.
    """
    if before is None:
        plain = searched.run(judged.queries, judged.vectors, judged.depth, DENSE)
        before = {query: of[NDCG] for query, of in judged.measure(plain, NDCG).items()}
    dense = searched.run(judged.queries, judged.vectors, FUSED_DEPTH, DENSE)
    texts, ids = [q.text for q in judged.queries], [q.id for q in judged.queries]
    words = searched.lexical.search(texts, FUSED_DEPTH).run(ids)
    gains = []
    for name, (method, weight) in RIVALS.items():
        fused = judged.measure(fuse_with_bm25(dense, words, judged.depth, method, weight), NDCG)
        after = {query: of[NDCG] for query, of in fused.items()}
        figures = paired_difference(before, after, seed=seed).figures()
        gains.append({"fusion": name, "ndcg10": figures})
    return gains


def describe_rivals(rivals: Sequence[Mapping[str, Any]]) -> str:
    """Return the gains of fixed fusions in one line."""
    changes = (f"{r['fusion']} {with_interval(r['ndcg10'])}" for r in rivals)
    return f"fixed fusions of the same vectors and BM25: {', '.join(changes)}"


def headline(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield the counts of a blend, its costs and gains, and its effect on other commands."""
    documents, settings, parts = summary["documents"], summary["settings"], summary["parts"]
    if not summary["added"]:
        yield f"{summary['remedy']} was in the index already; nothing added"
    yield (
        f"{summary['remedy']}: {summary['views']:,} sentence views of "
        f"{documents['with_views']:,} of "
        f"{documents['total']:,} documents; λ = {settings['weight']:g}, BM25 {settings['bm25']:g}"
    )
    if others := ", ".join(summary["relied_on"]):
        yield f"{summary['views_known']:,} views were in the index already ({others})"
    if failed := summary["views_failed"]:
        yield f"{failed:,} sentences could not be embedded and are left out"
    for part in parts[1:]:
        figures = part["ndcg10"]
        yield (
            f"{part['part']}: nDCG@10 {figures['mean_after']:.3f}, {with_interval(figures)} to "
            "the vectors alone"
        )
    if parts:
        yield describe_rivals(summary["rivals"])
    else:
        yield f"not judged here: --queries and --qrels say what each part changes. {BLEND_MEASURED}"
    yield (
        "search, evaluate, explain, compare and gate use it from now on; "
        f"{summary['index']}@{BEFORE}{summary['remedy']} is as before"
    )


def section(folder: Path, blend: Mapping[str, Any]) -> Section:
    """Build the report's section: the gain of each part."""
    columns = ("search", "nDCG@10", "difference (95%)", "R@10")
    rows = []
    for part in blend["parts"]:
        ndcg, recall = part["ndcg10"], part["recall10"]
        figures = [f"{ndcg['mean_after']:.3f}", with_interval(ndcg), f"{recall['mean_after']:.3f}"]
        rows.append([part["part"], *figures])
    documents = blend["documents"]
    brief = f"{blend['views']:,} sentence views of {documents['with_views']:,} documents"
    tables = {"blend_parts": table(dict.fromkeys(columns, "text"), rows)} if rows else {}
    return Section({}, tables, brief)
