"""`argus tune apply adapt`: learn a linear correction of query vectors from the needs of documents.

Index and profiles -> U, W and α of `q' = unit(q + α·U Wᵀ q)`, with which the index is searched from
then on (`argus.indexes.recipe`), if held-out needs gain by it. The loss is InfoNCE over the
documents of a batch and random ones. U begins at zero, so that learning begins at the encoder's own
queries. The documents with needs are cut into folds, and as many learnings go on side by side, each
without the needs of one fold. The mean reciprocal rank of all needs, each asked with the learning
that saw none of its fold, ends them all, and decides α and whether there is a correction at all.
(One fold that ended its own learning would be a smaller, and so a more flattering, judge.) The
result is the mean of the learnings, cut back to the rank.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import numpy.typing as npt

from argus.corpora import NamedCorpus
from argus.data.fields import CoerceIds
from argus.data.folders import ArtifactFolder
from argus.data.provenance import content_hash, utc_now
from argus.data.types import Document, FloatArray, IntArray, Query
from argus.data.writing import one_writer
from argus.devices import Device, check_device
from argus.encoders import EmbeddingStore, Encoder, embed
from argus.encoders import queries as as_queries
from argus.encoders.protocol import unit_rows
from argus.encoders.store import store_of
from argus.errors import ArgusError, InputError
from argus.indexes.blend import REMEDIES
from argus.indexes.exact import rounding_bound
from argus.indexes.fold import ORIGINAL
from argus.indexes.header import index_folder
from argus.indexes.recipe import CORRECTION, QueryCorrection
from argus.indexes.retriever import encoder_of
from argus.indexes.views import BEFORE, ViewIndex, originals
from argus.jobs import options as o
from argus.jobs.workspace import Record
from argus.measures.significance import PairedDifference, interval_words, paired_difference
from argus.progress import progress
from argus.remedies.remedy_result import RemedyResult, check_judged, evaluate_remedy
from argus.remedies.undo import MADE, ROLLED_BACK, is_in_index
from argus.reports import write_report
from argus.reports.section import Section
from argus.scenarios.files import given_profiles
from argus.scenarios.needs.ranks import by_document
from argus.scenarios.profile import Profiled
from argus.scenarios.profile import needs as needs_of
from argus.settings import CORPUS, INDEX, OUTPUT, Ge, Gt, Le, Option, Seed, check_settings
from argus.training.loop import WeightDecay

if TYPE_CHECKING:
    import torch

ADAPT = "adapt"
ALPHAS = (0.5, 1.0)
# How far below 1 the cosine of two documents is that are one: neither is the other's rival.
SAME = 1e-5
BLOCK_SCORES = 8 << 20  # Scores that are held at a time.
Ranks = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class AdaptConfig:
    """Settings of the learning.

    Of the settings that the study measured (docs/results/scenarios.md) these had the highest gain
    on needs that were held out.

    Attributes:
        rank: Directions of the correction.
        learning_rate: Of AdamW.
        temperature: Of the contrastive loss, in cosines.
        negatives: Random documents beside those of the batch.
        batch_size: Needs at once.
        epochs: Most passes over the needs.
        patience: Epochs without a better rank of held-out needs that end it.
        folds: Parts of the documents with needs, each held out once.
    """

    rank: Annotated[int, Ge(1)] = 16
    learning_rate: Annotated[float, Gt(0), Le(1), Option(panel="Training")] = 1e-3
    weight_decay: WeightDecay = 0.01
    temperature: Annotated[float, Gt(0), Option(panel="Training")] = 0.05
    negatives: Annotated[int, Ge(0), Option(panel="Training")] = 1024
    batch_size: Annotated[int, Ge(2), Option(("--batch",), panel="Training")] = 64
    epochs: Annotated[int, Ge(1), Option(panel="Training")] = 100
    patience: Annotated[int, Ge(1), Option(panel="Training")] = 5
    folds: Annotated[int, Ge(2)] = 5
    seed: Seed = 0

    def __post_init__(self) -> None:
        check_settings(self)


@dataclass(frozen=True, repr=False)
class AdaptResult(RemedyResult):
    """Correction learnt of needs, and whether an index is searched with it.

    Keys of `summary`:

    file: file of the correction. None where nothing was prescribed.
    prescribed: whether the index is searched with it.
    added: false where it was so already.
    documents: documents of the index.
    needs.used: texts with a vector.
    needs.failed: texts that the encoder rejected.
    needs.documents: documents of the index that have some.
    needs.elsewhere: documents with some that the index does not hold.
    learnt.alpha: strength α of the correction. 0 where nothing was prescribed.
    learnt.rank: rank of the correction's matrix.
    learnt.epoch: epoch that was kept.
    learnt.held_out: mean reciprocal rank over documents, by a learning that saw none of their
        needs.
    judged: judged questions of the receipt. None without.
    judged.questions: judged questions.
    judged.with_needs: questions that want a document it was learnt from.
    """

    def _receipt(self) -> Iterator[str]:
        summary = self.summary
        needs, learnt, remedy = summary["needs"], summary["learnt"], summary["remedy"]
        if summary["prescribed"] and not summary["added"]:
            yield f"{remedy} was in the index already; nothing added"
        yield (
            f"{remedy}: learnt from {needs['used']:,} needs of {needs['documents']:,} "
            f"of {summary['documents']:,} documents in {learnt['seconds']:.0f} s"
        )
        if needs["elsewhere"]:
            others = f"{needs['elsewhere']:,} documents that the index does not hold"
            yield f"needs of {others}: left out"
        if needs["failed"]:
            yield f"{needs['failed']:,} needs could not be embedded and are left out"
        held = learnt["held_out"]
        yield (
            "needs held out, mean reciprocal rank of their documents among all: "
            f"{held['mean_before']:.3f} → {held['mean_after']:.3f} "
            f"({held['mean_difference']:+.3f}, {interval_words(held, '+.3f')}); "
            f"{held['improved']:,} documents improved, {held['harmed']:,} harmed"
        )
        if not summary["prescribed"]:
            yield (
                "nothing was prescribed: held out, needs do not improve beyond chance; "
                f"{summary['index']} is searched as before"
            )
            yield "Needs of more documents may tell more: argus research scenarios write."
            return
        yield f"rank {learnt['rank']}, α = {learnt['alpha']:g}, no view"
        judged = summary["judged"]
        if judged is None:
            yield (
                "what it does to real questions was not measured: with --queries and --qrels the "
                "same command says so"
            )
        elif judged["with_needs"]:
            yield (
                f"{judged['with_needs']:,} of the {judged['questions']:,} judged questions want a "
                "document that it was learnt from; what it does for others is told by the rest"
            )
        index = summary["index"]
        yield (
            f"every query of {index} is corrected from now on; {index}@{BEFORE}{remedy} is as "
            f"before. A store with the same vectors is asked with --correction {summary['file']}"
        )


@one_writer
def adapt_index(
    index: Annotated[Path | str, Option(("--index",)), INDEX, OUTPUT],
    *,
    profiles: Path | str | Mapping[str, Profiled],
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

    profiles: scenario profiles by document id, or a path for `read_profiles`. queries, qrels: for
    an evaluation before and after. device: of the encoder and the learning. Raises InputError for
    bad input and for needs of other documents alone, ArgusError where none can be embedded.

    Args:
        index: Folder from argus index build.
        profiles: Profiles of documents (argus research scenarios write), whose needs are used.
        queries: Judged queries, for the receipt.
        corpus: Where titles are, to tell implicit questions apart.
        out: Folder for the receipt; default: in the index.
    """
    questions = check_judged(queries, qrels, corpus)
    config = config or AdaptConfig()
    views = ViewIndex.open(index_folder(index))
    documents = originals(views)
    profiles, path = given_profiles(profiles, coerce_ids=coerce_ids)
    own = {d.id for d in documents}
    found = ((n.text, n.doc_id) for n in needs_of(profiles) if n.doc_id in own)
    needs = [need for need in dict.fromkeys(found) if need[0].strip()]
    if (n := len({doc for _, doc in needs})) < 2:
        raise InputError(
            f"{len(needs):,} needs of {n} of the {len(documents):,} documents of the index",
            expected="what is needed of two documents at least, better of hundreds",
            fix="Check that they and the index belong to one corpus: it holds "
            f"{', '.join(repr(d.id) for d in documents[:3])}.",
            where=path or "profiles",
        )
    if config.rank > views.dim:
        raise InputError(
            f"rank {config.rank}", expected=f"at most {views.dim}, the dimension of the vectors",
            fix="Leave it out for 16.", where="--rank",
        )  # fmt: skip
    record = Record(ADAPT, {"index": str(index), **asdict(config)}, {"profiles": path})
    model = encoder_of(views, encoder, device)
    views.header.check_fingerprint(model.fingerprint, views.path)
    record.encoder["fingerprint"] = model.fingerprint
    parts = [json.dumps(asdict(config), sort_keys=True)]
    for need in needs:
        parts += need
    for d in documents:
        parts += [d.id, d.text, d.title, str(d.metadata["added"])]
    remedy = f"{ADAPT}-{content_hash(*parts, size=4).hex()}"
    home = ArtifactFolder(views.path / REMEDIES / remedy)
    folder = ArtifactFolder(out or home.path)
    record.open(folder, about=(views.path,))
    home.open()
    is_there = remedy in {r.remedy for r in views.header.recipes}
    is_told = is_in_index(views, remedy, by_recipe=True)
    learnt, counts = _learn(
        views, model, documents, needs, config, home, record, check_device(device)
    )
    file = home / CORRECTION if learnt["alpha"] else None
    if file is not None:
        if not is_there:  # only now that it is written
            views.prescribe(remedy, corrects=True)
        (home / ROLLED_BACK).unlink(missing_ok=True)
    judged = None
    if questions is not None:
        known = {doc for _, doc in needs}
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
        "needs": {**counts, "elsewhere": len(profiles.keys() - own)},
        "learnt": learnt,
        "judged": judged,
    }
    folder.write_results(ADAPT, summary, record.manifest(summary["needs"]))
    report = write_report(folder.path)
    evaluation = None
    if file is not None:
        evaluation = evaluate_remedy(views, remedy, questions, encoder=model, out=folder.path)
    return AdaptResult(remedy, folder.path, report, views, summary, evaluation)


def section(folder: Path, adapt: Mapping[str, Any]) -> Section:
    """Build it from the summary alone."""
    if not adapt["prescribed"]:
        return Section(brief="no correction: held-out needs do not improve")
    held = adapt["learnt"]["held_out"]
    return Section(
        brief=f"held-out needs, mean reciprocal rank: {held['mean_before']:.3f} → "
        f"{held['mean_after']:.3f}"
    )


def _learn(
    index: ViewIndex,
    encoder: Encoder,
    documents: Sequence[Document],
    needs: Sequence[tuple[str, str]],
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
        embedded = embed(as_queries([text for text, _ in needs]), encoder, store, what="needs")
    used = [doc for (_, doc), fine in zip(needs, embedded.ok, strict=True) if fine]
    if len(set(used)) < 2:
        raise ArgusError(
            f"{index.path}: of {len(needs):,} needs only those of {len(set(used))} documents "
            f"could be embedded ({next(iter(embedded.failures.values()), '')}), so nothing was "
            "learnt."
        )
    snapshot = index.snapshot(ORIGINAL)
    first = {
        v.doc_id: i for i, v in reversed(list(enumerate(snapshot.views))) if v.kind == ORIGINAL
    }
    row = {d.id: i for i, d in enumerate(documents)}
    examples = Examples(
        np.ascontiguousarray(snapshot.vectors[[first[d.id] for d in documents]]),
        unit_rows(embedded.vectors),  # a correction does not depend on lengths
        np.array([row[doc] for doc in used], np.int64),
    )
    counts = {
        "used": len(used), "failed": len(embedded.failures), "documents": len(set(used)),
    }  # fmt: skip
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
    home.write_json(MADE, {**about, "learnt": learnt, "needs": counts})
    return learnt, counts


@dataclass(frozen=True)
class Examples:
    """Queries, and the documents that they are for.

    documents: (n_documents, dim). queries: (n, dim). targets: (n,), rows of documents.
    """

    documents: FloatArray
    queries: FloatArray
    targets: IntArray

    def of(self, rows: IntArray) -> Examples:
        """Return some of the queries."""
        return Examples(self.documents, self.queries[rows], self.targets[rows])


@dataclass(frozen=True)
class Learnt:
    """Correction from the needs. u, w: (dim, rank). alpha: 0 where nothing is gained.

    before, after: reciprocal rank of each query, held out, (n,). epoch: the best, which is kept.
    0, where none was better than none.
    """

    u: FloatArray
    w: FloatArray
    alpha: float
    before: Ranks
    after: Ranks
    epoch: int


def learn(examples: Examples, config: AdaptConfig, device: str = "cpu") -> Learnt:
    """Return the mean of the learnings, and its worth by held-out queries.

    Results are equal for equal seeds, on a CPU. Two documents at least must have queries.
    """
    folds = fold_of(examples, config)
    learnings = [_Learning(examples, folds, n, config, device) for n in range(folds.max() + 1)]
    before = reciprocal_ranks(examples, 0 * examples.queries)[0]
    zero = np.zeros((examples.queries.shape[1], config.rank), np.float32)
    best = Learnt(zero, zero, 0.0, before, before, 0)
    score = by_document(before, examples.targets).mean()
    after = np.zeros((1 + len(ALPHAS), len(before)))
    with progress("learning a correction of queries", config.epochs) as advance:
        for epoch in range(1, config.epochs + 1):
            weights = [learning.epoch() for learning in learnings]
            if not all(np.isfinite(part).all() for pair in weights for part in pair):
                break
            for learning, (left, right) in zip(learnings, weights, strict=True):
                moves = np.asarray((learning.held.queries @ right) @ left.T, np.float32)
                after[:, learning.held_rows] = reciprocal_ranks(learning.held, moves)
            means = by_document(after, examples.targets).mean(axis=1)[1:]
            if means.max() > score:
                at = int(np.argmax(means))
                score = means[at]
                u, w = mean_of(weights, config.rank)
                best = Learnt(u, w, ALPHAS[at], before, after[1 + at].copy(), epoch)
            elif epoch - best.epoch >= config.patience:
                break
            advance(1)
    return best


def held_out_gain(learnt: Learnt, examples: Examples, seed: int) -> PairedDifference:
    """Return the effect of the learnings on the mean reciprocal rank of documents, needs held out.

    A correction is worth having where its verdict is "better": the interval is above zero. The
    epoch and α were chosen on the same ranks, by which even needs without any meaning "gain".
    """
    rows = [str(row) for row in np.unique(examples.targets)]
    before, after = by_document(np.stack([learnt.before, learnt.after]), examples.targets).tolist()
    return paired_difference(
        dict(zip(rows, before, strict=True)), dict(zip(rows, after, strict=True)), seed=seed
    )


def fold_of(examples: Examples, config: AdaptConfig) -> IntArray:
    """Return the fold of every document, (n_documents,). -1 of those without queries."""
    counted = np.unique(examples.targets)
    rng = np.random.default_rng([config.seed, 0])
    folds = np.full(len(examples.documents), -1, np.int64)
    count = min(config.folds, len(counted))
    folds[rng.permutation(counted)] = np.arange(len(counted)) % count
    return folds


def mean_of(
    corrections: Sequence[tuple[FloatArray, FloatArray]], rank: int
) -> tuple[FloatArray, FloatArray]:
    """Return the mean of corrections u wᵀ, of the rank, and as strong as they are in the mean.

    Where they differ they cancel out, and a mean moves queries less than any of them: α was chosen
    on those.
    """
    lefts: FloatArray = np.hstack([left / np.float32(len(corrections)) for left, _ in corrections])
    rights: FloatArray = np.hstack([right for _, right in corrections])
    u, w = low_rank(lefts, rights, rank)
    strengths = [strength(*pair) for pair in corrections]
    own = strength(u, w)
    return u * np.float32(np.mean(strengths) / own if own else 0), w


def strength(u: FloatArray, w: FloatArray) -> float:
    """Return the Frobenius norm of u wᵀ, without making it."""
    return float(np.sqrt(np.sum((u.T @ u).astype(float) * (w.T @ w).astype(float))))


def low_rank(u: FloatArray, w: FloatArray, rank: int) -> tuple[FloatArray, FloatArray]:
    """Return the factors of the given rank, or less, whose product is the nearest to u wᵀ."""
    left, from_u = np.linalg.qr(u.astype(float))
    right, from_w = np.linalg.qr(w.astype(float))
    inner, values, outer = np.linalg.svd(from_u @ from_w.T)
    root = np.sqrt(values[:rank])
    lefts, rights = left @ inner[:, :rank] * root, right @ outer[:rank].T * root
    return lefts.astype(np.float32), rights.astype(np.float32)


class _Learning:
    """One learning, from the needs of all folds but one, which is held out."""

    def __init__(
        self, examples: Examples, folds: IntArray, fold: int, config: AdaptConfig, device: str
    ) -> None:
        import torch

        in_fold = folds[examples.targets] == fold
        self.held_rows = np.flatnonzero(in_fold)
        self.held = examples.of(self.held_rows)
        self.examples = examples.of(np.flatnonzero(~in_fold))
        self.config, self.device = config, device
        self.rng = np.random.default_rng([config.seed, 1, fold])
        dim = examples.queries.shape[1]
        start = self.rng.normal(size=(dim, config.rank)) / np.sqrt(dim)
        self.w = torch.nn.Parameter(torch.tensor(start, dtype=torch.float32, device=device))
        self.u = torch.nn.Parameter(torch.zeros_like(self.w))
        self.steps = torch.optim.AdamW(
            [self.u, self.w], lr=config.learning_rate, weight_decay=config.weight_decay
        )
        self.queries = torch.from_numpy(self.examples.queries).to(device)
        self.documents = torch.from_numpy(examples.documents).to(device)
        lengths = np.linalg.norm(examples.documents, axis=1)
        self.scale = 1 / (config.temperature * max(float(lengths.mean()), 1e-12))

    def epoch(self) -> tuple[FloatArray, FloatArray]:
        """Go through all examples once. Return u and w."""
        order = self.rng.permutation(len(self.examples.targets))
        for start in range(0, len(order), self.config.batch_size):
            rows = order[start : start + self.config.batch_size]
            self.steps.zero_grad()
            self._loss(rows).backward()
            self.steps.step()
        u, w = (part.detach().cpu().numpy().copy() for part in (self.u, self.w))
        return u, w

    def _loss(self, query: IntArray) -> torch.Tensor:
        """Return InfoNCE of some rows of queries and their documents: scalar."""
        import torch

        n, document = len(self.examples.documents), self.examples.targets[query]
        drawn = self.rng.choice(n, min(self.config.negatives, n), replace=False)
        columns = torch.from_numpy(np.concatenate([document, drawn])).to(self.device)
        queries = self.queries[query]
        queries = torch.nn.functional.normalize(queries + (queries @ self.w) @ self.u.T)
        others = self.documents[columns]
        scores = queries @ others.T * self.scale  # (batch, batch + negatives)
        own, unit = self.documents[document], torch.nn.functional.normalize
        own_row = torch.from_numpy(document).to(self.device)[:, None] == columns
        equal = unit(own) @ unit(others).T > 1 - SAME
        scores = scores.masked_fill(own_row | equal, -torch.inf)  # no rivals of the query
        first = (queries * own).sum(dim=1, keepdim=True) * self.scale
        scores = torch.cat([first, scores], dim=1)
        return -torch.log_softmax(scores, dim=1)[:, 0].mean()


def reciprocal_ranks(examples: Examples, moves: FloatArray) -> Ranks:
    """Return 1 / rank of the document of each query among all documents, exactly.

    moves: (n, dim), where a correction of α = 1 moves each query. Shape (1 + len(ALPHAS), n): of
    the queries as they are, then at every α. Scores that rounding cannot tell from the document's
    own are no rivals.
    """
    documents, targets = examples.documents, examples.targets
    alphas = [np.float32(alpha) for alpha in (0.0, *ALPHAS)]
    longest = float(np.linalg.norm(documents, axis=1).max(initial=0))
    bound = np.float32(2 * rounding_bound(documents.shape[1]) * longest)
    ahead = np.zeros((len(alphas), len(moves)), np.int64)
    step = max(1, BLOCK_SCORES // max(1, len(documents)))
    for start in range(0, len(moves), step):
        rows = slice(start, start + step)
        own = documents[targets[rows]]
        parts = [(q[rows] @ documents.T, q[rows]) for q in (examples.queries, moves)]
        still, move = ((scores, np.einsum("nd,nd->n", q, own)) for scores, q in parts)
        for i, alpha in enumerate(alphas):
            least = still[1] + alpha * move[1] + bound
            before = still[0] + alpha * move[0] > least[:, None]
            mine = np.take_along_axis(before, targets[rows, None], axis=1)[:, 0]
            ahead[i, rows] = before.sum(axis=1) - mine
    ranks: Ranks = 1 / (1.0 + ahead)
    return ranks
