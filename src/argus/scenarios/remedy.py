"""`argus tune apply scenarios`: index each document also by the needs that it serves.

Index and profiles -> views (indexed texts) of one remedy, and a receipt. Which part of a scenario
(component) and which weight λ are named, or chosen by held-out needs: every need of a document with
two scenarios or more asks an index without its own scenario (`argus.scenarios.needs.ranks`). A cell
is worth the mean over documents of the mean reciprocal rank of their needs. No judged question
takes part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from argus.corpora import NamedCorpus
from argus.data.fields import CoerceIds
from argus.data.folders import SUMMARY, ArtifactFolder
from argus.data.provenance import content_hash
from argus.data.writing import one_writer
from argus.devices import Device
from argus.encoders import EmbeddingStore, Encoder
from argus.encoders.store import store_of
from argus.errors import InputError
from argus.indexes.blend import DOCUMENTS_ALONE, RELEVANCE_WEIGHT, REMEDIES, check_weight
from argus.indexes.fold import ORIGINAL
from argus.indexes.header import index_folder
from argus.indexes.retriever import encoder_of
from argus.indexes.views import ViewIndex, originals
from argus.jobs import options as o
from argus.jobs.workspace import Record, require_some
from argus.measures.significance import bootstrap_interval
from argus.remedies.remedy_result import RemedyResult, check_judged, evaluate_remedy
from argus.remedies.repair import add_views
from argus.remedies.undo import MADE, read_origin
from argus.reports import write_report
from argus.scenarios.ablation.grid import Documents
from argus.scenarios.config import AUTO, WEIGHTS, Cell
from argus.scenarios.files import FILE, read_profiles, scenario_views, write_profiles
from argus.scenarios.needs.ranks import NeedVectors, by_document, mean_change
from argus.scenarios.profile import COMPONENT, Component, Profiled, needs
from argus.scenarios.profile import component as named_component
from argus.scenarios.profiles import JOB, summarise
from argus.settings import CORPUS, INDEX, OUTPUT, Option

NONE = "no profile"
WRITER = ("written_by", "role", "language_model")  # of the summary of `profile_documents`
USUAL = Cell(COMPONENT, RELEVANCE_WEIGHT)  # Choice of the paper.

# Mean reciprocal rank of the needs of each document, (n_documents,).
Values = npt.NDArray[np.float64]
MOST = 1_000  # Documents whose needs are asked at most, drawn at random.
LEAST = 2  # Scenarios of a document that asks: one is held out, another one stays.
SEED = 0
AnyComponent: TypeAlias = Component | Literal["auto"]
AnyWeight: TypeAlias = float | Literal["auto"] | None


@dataclass(frozen=True, repr=False)
class ScenariosResult(RemedyResult):
    """Views that scenarios added to an index.

    Keys of `summary`:

    documents to samples: as of `ProfileResult`.
    added: views that the index lacked.
    views: views of the remedy in the index.
    documents_with_views: documents that have such views.
    views_known: views that the index held already.
    views_failed: views without a vector.
    documents_without: documents of the index, by why they have no scenarios.
    profiles_of_other_documents: profiles of no document in the index.
    choice: how component and λ were chosen, where held-out needs did.
    """

    def _receipt(self) -> Iterator[str]:
        summary = self.summary
        if not summary["added"]:
            yield f"{summary['remedy']} was in the index already; nothing added"
        yield (
            f"{summary['remedy']}: {summary['views']:,} views of "
            f"{summary['documents_with_views']:,} documents"
        )
        if choice := summary.get("choice"):
            mrr, usual, alone = choice["mrr"], choice["usual"], choice["alone"]
            yield (
                f"chosen by {choice['needs']:,} held-out needs of {choice['documents']:,} "
                f"documents: {choice['component']} at λ = {choice['lambda']:g}, mean reciprocal "
                f"rank {mrr['mean']:.3f} ({mrr['low']:.3f} to {mrr['high']:.3f}); M+E at 0.7 "
                f"{usual['mean']:.3f}, documents alone {alone['mean']:.3f}"
            )
        if known := summary["views_known"]:
            yield f"{known:,} more were in the index already"
        without = ", ".join(f"{n:,} ({why})" for why, n in summary["documents_without"].items())
        if without:
            yield f"documents without scenarios, found by their own text alone: {without}"
        if summary["profiles_of_other_documents"]:
            yield f"profiles of other documents: {summary['profiles_of_other_documents']:,}"
        if summary["views_failed"]:
            yield f"{summary['views_failed']:,} scenarios could not be embedded and are left out"


@one_writer
def add_scenarios(
    index: Annotated[Path | str, Option(("--index",), is_name=True), INDEX, OUTPUT],
    profiles: Annotated[Path | str | Mapping[str, Profiled], Option(("--profiles",))],
    *,
    component: Annotated[AnyComponent | str, Option(is_name=True)] = COMPONENT,
    weight: Annotated[AnyWeight | str, Option(("--lambda",), is_name=True)] = None,
    encoder: o.IndexEncoder = None,
    queries: o.MaybeQueries = None,
    qrels: o.MaybeQrels = None,
    corpus: Annotated[NamedCorpus | None, Option(is_name=True), CORPUS] = None,
    device: Device = None,
    coerce_ids: CoerceIds = False,
    out: Annotated[Path | None, OUTPUT] = None,
) -> ScenariosResult:
    """Add what documents are needed for to an index, as views beside each document's own (SPIKE).

    A document without scenarios is found as before. --queries and --qrels tell what it is worth,
    before and after. `argus tune undo` takes the views out; the same are never added twice.

    Raises InputError for bad input and for profiles of other documents alone, ArgusError where no
    view could be embedded.

    Args:
        index: Folder from argus index build.
        profiles: Folder from argus research scenarios write, or JSONL of _id, main_topic, and
            scenarios of information_need and explanation.
        component: What is indexed: M, I, E, M+E or I+E; auto: as held-out needs choose.
        weight: What a document's own score counts against its scenarios' in searches that do not
            say; auto: as held-out needs choose.
        corpus: Where titles are, to tell implicit questions apart.
        out: Folder for the receipt; default: in the index.
    """
    if component != AUTO:
        component = named_component(component)
    weight = _weight_of(weight)
    questions = check_judged(queries, qrels, corpus)
    path = Path(profiles) if isinstance(profiles, (str, Path)) else None
    if isinstance(profiles, (str, Path)):
        profiles = read_profiles(profiles, coerce_ids=coerce_ids)
    writer: dict[str, Any] = {}  # who wrote the profiles, where their folder tells
    if path is not None:
        wrote = ArtifactFolder(path if path.is_dir() else path.parent).read_json(SUMMARY).get(JOB)
        if isinstance(wrote, dict):
            writer = {name: wrote[name] for name in WRITER if name in wrote}
    opened = ViewIndex.open(index_folder(index))
    documents = originals(opened)
    ids = [d.id for d in documents]
    own = {doc: profiles[doc] for doc in ids if doc in profiles}
    having = [doc for doc, profiled in own.items() if profiled.profile is not None]
    if not having:
        some = ", ".join(map(repr, sorted(profiles)[:3]))
        raise InputError(
            f"no scenarios for any of the {len(ids):,} documents of {opened.path} "
            f"({len(own):,} profiles of them, all noise or failed)"
            if own
            else f"profiles of other documents ({some})",
            expected=f"scenarios of its documents ({', '.join(map(repr, ids[:3]))})",
            fix="Check that profiles and index belong to one corpus.",
            where=path or "profiles",
        )
    model = encoder_of(opened, encoder, device)
    opened.header.check_fingerprint(model.fingerprint, opened.path)
    component, number, choice = select(opened, own, model, component, weight)
    settings: dict[str, object] = {"component": str(component), "lambda": number}
    record = Record(JOB, {"index": str(index), **settings}, {"profiles": path})
    record.encoder["fingerprint"] = model.fingerprint
    parts = [str(component)]  # equal scenarios of equal documents share an id
    for d in documents:
        if d.id in own and (profile := own[d.id].profile) is not None:
            parts += [d.id, str(d.metadata["added"]), *profile.texts(component).values()]
    name = f"{JOB}-{component.replace('+', '')}"
    remedy = f"{name}-{content_hash(*parts, size=4).hex()}"
    home = ArtifactFolder(opened.path / REMEDIES / remedy)
    folder = ArtifactFolder(out or home.path)
    record.open(folder, about=(opened.path,))
    home.open()
    before = sum(r.views for r in opened.remedies() if r.id == remedy)
    views = scenario_views(own.values(), component, label=remedy)
    vectors = EmbeddingStore(store_of(opened.path), fingerprint=model.fingerprint, dim=model.dim)
    with record.timed("adding scenarios"), vectors as store:
        add_views(opened, model, store, home, views, {"component": str(component)})
    if number is not None:
        opened.prescribe(remedy, weight=number)
    states = Counter(str(own[doc].state) if doc in own else NONE for doc in ids)
    there = next(r for r in opened.remedies() if r.id == remedy)
    made = read_origin(home)
    summary: dict[str, Any] = {
        **summarise(own),
        "remedy": remedy,
        "index": str(opened.path),
        "added": there.views - before,
        "views_known": made.get("views_known", 0),
        "views_failed": made["views_failed"],
        "views": there.views,
        "documents_with_views": there.documents,
        "documents_without": {state: n for state, n in sorted(states.items()) if state != "ok"},
        "profiles_of_other_documents": len(profiles) - len(own),
        "choice": choice,
        "coverage": questions.coverage(ids, having) if questions is not None else None,
    }
    write_profiles(folder / FILE, own.values())
    folder.write_json(MADE, made)
    folder.write_results(JOB, {**writer, **summary}, record.manifest(summary["documents"]))
    report = write_report(folder.path)
    judged = evaluate_remedy(opened, remedy, questions, encoder=model, out=folder.path)
    return ScenariosResult(remedy, folder.path, report, opened, summary, judged)


def _weight_of(weight: AnyWeight | str) -> AnyWeight:
    """Return λ, None for the index's own, or "auto". InputError for any other text."""
    if weight is None or weight == AUTO:
        return weight  # type: ignore[return-value]
    try:
        return check_weight(float(weight))
    except ValueError as error:
        expected, fix = "a number from 0 to 1, or auto", f"Leave it out for {RELEVANCE_WEIGHT}."
        raise InputError(repr(weight), expected=expected, fix=fix, where="--lambda") from error


def choose(
    vectors: NeedVectors, components: Sequence[Component], weights: Sequence[float], *, seed: int
) -> tuple[Cell, dict[str, Any]]:
    """Return the best cell by the needs of `vectors`, and the figures of the choice.

    vectors: with the scenario texts of these components and of the paper's. Keys of the figures:

    documents: documents whose needs asked.
    needs: needs that asked.
    mrr: mean reciprocal rank with this cell.
    alone: the same of documents alone.
    usual: the same of M+E at 0.7.
    to_usual: difference from these, each half by the best cell of the other half.
    grid: every cell with its mean reciprocal rank.
    grid.mrr: mean reciprocal rank of needs.
    """
    grid = sorted({*weights, DOCUMENTS_ALONE, RELEVANCE_WEIGHT})
    every = tuple(dict.fromkeys([*components, COMPONENT]))
    ranks = vectors.ranks(every, grid)
    values = {
        Cell(component, weight): by_document(1 / of[i], vectors.targets)
        for component, of in ranks.items()
        for i, weight in enumerate(grid)
    }
    cells = {Cell(c, w): values[Cell(c, w)] for c in components for w in weights}
    cell, crossed = best_of(cells), cross_chosen(cells, seed)
    usual = values[USUAL]
    return cell, {
        "component": str(cell.component),
        "lambda": cell.weight,
        "documents": len(usual),
        "needs": len(vectors.targets),
        "mrr": _mean(cells[cell], seed),
        "alone": _mean(values[Cell(COMPONENT, DOCUMENTS_ALONE)], seed),
        "usual": _mean(usual, seed),
        "to_usual": mean_change(crossed - usual, seed=seed),
        "grid": [
            {"component": str(c.component), "lambda": c.weight, "mrr": float(of.mean())}
            for c, of in cells.items()
        ],
    }


def best_of(cells: Mapping[Cell, Values]) -> Cell:
    """Return the best cell. Of equal ones that of the greater λ, then the paper's component."""

    def worth(cell: Cell) -> tuple[float, float, bool]:
        mean = round(float(cells[cell].mean()), 12)
        return mean, cell.weight, cell.component is COMPONENT

    return max(cells, key=worth)


def cross_chosen(cells: Mapping[Cell, Values], seed: int) -> Values:
    """Return the worth, on each half of the documents, of the other half's best cell."""
    n = len(next(iter(cells.values())))
    order = np.random.default_rng(seed).permutation(n)
    halves = order[::2], order[1::2]
    values = np.empty(n)
    for half, other in (halves, halves[::-1]):
        judging = other if len(other) else half
        chosen = best_of({cell: of[judging] for cell, of in cells.items()})
        values[half] = cells[chosen][half]
    return values


def _mean(values: Values, seed: int) -> dict[str, float]:
    low, high, _ = bootstrap_interval(values, seed=seed)
    mean = float(values.mean())
    return {
        "mean": mean, "low": mean if low is None else low, "high": mean if high is None else high,
    }  # fmt: skip


def select(
    index: ViewIndex,
    profiles: Mapping[str, Profiled],
    model: Encoder,
    component: AnyComponent,
    weight: AnyWeight,
    *,
    seed: int = SEED,
) -> tuple[Component, float | None, dict[str, Any] | None]:
    """Return component and λ as they are named, or as held-out needs choose where one is `auto`.

    λ is None where none is kept. Third, figures of the choice: see `choose`. Documents are
    searched by their own text, as no remedy has touched them. Raises InputError for a λ that is not
    from 0 to 1, and where no document has two scenarios.
    """
    number = None if weight is None or isinstance(weight, str) else check_weight(weight)
    if isinstance(component, Component) and not isinstance(weight, str):
        return component, number, None
    several = of_several(profiles)
    if not several:
        raise InputError(
            f"{AUTO}, and no document with {LEAST} scenarios",
            expected="needs of which one can be held out",
            fix="Name --component and --lambda, or leave them out.",
            where="--component",
        )
    components = (component,) if isinstance(component, Component) else tuple(Component)
    usual = RELEVANCE_WEIGHT if number is None else number
    weights = WEIGHTS if isinstance(weight, str) else (usual,)
    ids = sorted(several)
    drawn = np.random.default_rng(seed).permutation(len(ids))[:MOST]
    asking = needs({ids[i]: several[ids[i]] for i in drawn})
    snapshot = index.snapshot(ORIGINAL)
    rows = [i for i, view in enumerate(snapshot.views) if view.kind == ORIGINAL]
    own = [snapshot.views[i].doc_id for i in rows]
    known = {d: profiles[d] for d in own if d in profiles}
    documents = Documents(own, snapshot.vectors[rows], known)
    every, path = tuple(dict.fromkeys([*components, COMPONENT])), store_of(index.path)
    with EmbeddingStore(path, fingerprint=model.fingerprint, dim=model.dim) as store:
        vectors = NeedVectors.embed(documents, asking, every, model, store)
    why = next(iter(vectors.queries.failures.values()), "")
    require_some(len(vectors.targets), "need has a vector", why)
    cell, figures = choose(vectors, components, weights, seed=seed)
    return cell.component, None if weight is None else cell.weight, figures


def of_several(profiles: Mapping[str, Profiled]) -> dict[str, Profiled]:
    """Return the profiles of two scenarios or more, of which one can be held out."""
    return {
        doc: p
        for doc, p in profiles.items()
        if p.profile is not None and len(p.profile.scenarios) >= LEAST
    }
