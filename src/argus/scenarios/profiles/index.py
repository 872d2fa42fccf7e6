"""Add the scenarios of documents to an index, as views of one remedy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from argus.corpora import NamedCorpus
from argus.data.folders import SUMMARY, ArtifactFolder
from argus.data.provenance import content_hash, utc_now
from argus.data.types import Document, Qrels, Query
from argus.data.writing import one_writer
from argus.encoders import EmbeddingStore, Encoder, EncoderConfig, embed
from argus.encoders import documents as as_documents
from argus.encoders.store import store_of
from argus.errors import ArgusError, InputError
from argus.indexes.blend import REMEDIES
from argus.indexes.header import index_folder
from argus.indexes.retriever import encoder_of
from argus.indexes.views import ViewIndex, new_views, originals
from argus.jobs.workspace import Record
from argus.remedies.remedy_result import RemedyResult, check_judged, evaluate_remedy
from argus.remedies.undo import MADE, ROLLED_BACK, is_in_index
from argus.reports import write_report
from argus.scenarios.choice import AnyComponent, AnyWeight, select
from argus.scenarios.files import FILE, read_profiles, scenario_views, write_profiles
from argus.scenarios.openings import Form, in_form
from argus.scenarios.profile import COMPONENT, Component, Profiled
from argus.scenarios.profiles.job import JOB, summarise

NONE = "no profile"
LABEL = "scenarios-"
WRITER = ("written_by", "role", "language_model")  # of the summary of `profile_documents`


@dataclass(frozen=True, repr=False)
class ScenariosResult(RemedyResult):
    """Views that scenarios added to an index.

    Keys of `summary`:

    documents to samples: as of `ProfileResult`.
    added: views that the index lacked.
    views: views of the remedy in the index.
    documents_with_views: documents that have such views.
    other_scenarios: other remedies of scenarios in the index.
    bytes: bytes of the remedy's texts and vectors.
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
            f"{summary['remedy']}: {summary['views']:,} views "
            f"({summary['bytes'] / 2**20:.1f} MiB) of "
            f"{summary['documents_with_views']:,} documents"
        )
        if choice := summary.get("choice"):
            yield from _choice_lines(choice)
        if known := summary["views_known"]:
            yield f"{known:,} more were in the index already"
        if others := summary["other_scenarios"]:
            yield (
                f"{', '.join(others)} also in the index: the best scenario of all counts. To have "
                "one component alone, roll the others back (argus tune undo ID)"
            )
        without = ", ".join(f"{n:,} ({why})" for why, n in summary["documents_without"].items())
        if without:
            yield f"documents without scenarios, found by their own text alone: {without}"
        if summary["profiles_of_other_documents"]:
            yield f"profiles of other documents: {summary['profiles_of_other_documents']:,}"
        if summary["views_failed"]:
            yield f"{summary['views_failed']:,} scenarios could not be embedded and are left out"


@one_writer
def add_scenarios(
    index: Path | str,
    profiles: Path | str | Mapping[str, Profiled],
    *,
    component: AnyComponent = COMPONENT,
    weight: AnyWeight = None,
    form: Form = Form.WRITTEN,
    encoder: Encoder | EncoderConfig | str | None = None,
    queries: Path | str | Sequence[Query] | None = None,
    qrels: Path | str | Qrels | None = None,
    corpus: NamedCorpus | None = None,
    device: str | None = None,
    coerce_ids: bool = False,
    out: Path | None = None,
) -> ScenariosResult:
    """Add the scenarios of its documents to an index in one commit. Evaluate before and after.

    profiles: by document id, or a path for `read_profiles`. Documents without a profile stay
    as they are, and are found by their own text. component, weight: indexed part, and the λ of
    searches that name none. "auto" has held-out needs choose (`argus.scenarios.choice`). form:
    whether explanations are indexed without the beginnings that many share. The remedy's id names
    its sources, so the same profiles are never added twice. `argus tune undo` takes them out. out:
    default `INDEX/remedies/ID`. Raises InputError for bad input and for profiles of other documents
    alone, ArgusError where no view could be embedded.
    """
    questions = check_judged(queries, qrels, corpus)
    path = Path(profiles) if isinstance(profiles, (str, Path)) else None
    if isinstance(profiles, (str, Path)):
        profiles = read_profiles(profiles, coerce_ids=coerce_ids)
    writer: dict[str, Any] = {}  # who wrote the profiles, where their folder tells
    if path is not None:
        made = ArtifactFolder(path if path.is_dir() else path.parent).read_json(SUMMARY).get(JOB)
        if isinstance(made, dict):
            writer = {name: made[name] for name in WRITER if name in made}
    opened = ViewIndex.open(index_folder(index))
    documents = originals(opened)
    ids = [d.id for d in documents]
    own = in_form({doc: profiles[doc] for doc in ids if doc in profiles}, form)
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
    settings = {"index": str(index), "component": str(component), "lambda": number}
    record = Record(JOB, {**settings, "form": str(form)}, {"profiles": path})
    record.encoder["fingerprint"] = model.fingerprint
    remedy = _remedy_id(own, documents, component)
    home = ArtifactFolder(opened.path / REMEDIES / remedy)
    folder = ArtifactFolder(out or home.path)
    record.open(folder, about=(opened.path,))
    home.open()
    added = _add(opened, remedy, own, component, model, home, record)
    if number is not None:
        opened.prescribe(remedy, weight=number)
    states = Counter(str(own[doc].state) if doc in own else NONE for doc in ids)
    remedies = opened.remedies()
    there = next(r for r in remedies if r.id == remedy)
    summary: dict[str, Any] = {
        **summarise(own),
        "remedy": remedy,
        "index": str(opened.path),
        **added,
        "views": there.views,
        "documents_with_views": there.documents,
        "other_scenarios": [r.id for r in remedies if r.id != remedy and r.id.startswith(LABEL)],
        "bytes": there.bytes,
        "documents_without": {state: n for state, n in sorted(states.items()) if state != "ok"},
        "profiles_of_other_documents": len(profiles) - len(own),
        "choice": choice,
        "coverage": questions.coverage(ids, having) if questions is not None else None,
    }
    write_profiles(folder / FILE, own.values())
    folder.write_json(MADE, home.read_json(MADE))
    folder.write_results(JOB, {**writer, **summary}, record.manifest(summary["documents"]))
    report = write_report(folder.path)
    judged = evaluate_remedy(opened, remedy, questions, encoder=model, out=folder.path)
    return ScenariosResult(remedy, folder.path, report, opened, summary, judged)


def _remedy_id(
    profiles: Mapping[str, Profiled], documents: Sequence[Document], component: Component
) -> str:
    """Return an id that equal scenarios of equal documents share."""
    parts = [str(component)]
    for d in documents:
        profiled = profiles.get(d.id)
        if profiled is None or profiled.profile is None:
            continue
        parts += [d.id, str(d.metadata["added"]), *profiled.profile.texts(component).values()]
    return f"{LABEL}{component.replace('+', '')}-{content_hash(*parts, size=4).hex()}"


def _add(
    index: ViewIndex,
    remedy: str,
    profiles: Mapping[str, Profiled],
    component: Component,
    model: Encoder,
    home: ArtifactFolder,
    record: Record,
) -> dict[str, int]:
    """Embed and add missing views. The note on them is on disk before. Return their counts.

    added: since a run last told of it, which may be before one that was killed.
    """
    views = scenario_views(profiles.values(), component, label=remedy)
    is_told = is_in_index(index, remedy, by_recipe=False)
    there = next((r.views for r in index.remedies() if r.id == remedy), 0)
    new = new_views(views, index, remedy)
    with (
        record.timed("embedding scenarios"),
        EmbeddingStore(store_of(index.path), fingerprint=model.fingerprint, dim=model.dim) as store,
    ):
        embedded = embed(as_documents([v.text for v in new.views]), model, store, what="scenarios")
    with_vector = [view for view, ok in zip(new.views, embedded.ok, strict=True) if ok]
    if new.views and not with_vector:
        raise ArgusError(
            f"{index.path}: none of {len(new.views):,} scenarios could be embedded "
            f"({next(iter(embedded.failures.values()))}), so nothing was added."
        )
    about = {"remedy": remedy, "kind": "scenarios", "at": utc_now(), "component": str(component)}
    home.write_json(MADE, about | {"views_known": new.known, "relied_on": new.relied_on})
    if with_vector:
        with record.timed("adding scenarios"):
            index.add(with_vector, embedded.vectors, remedy=remedy)
    elif remedy not in {r.id for r in index.remedies()}:
        raise ArgusError(
            f"{index.path}: all {len(views):,} scenarios are in the index already "
            f"(remedy {', '.join(new.relied_on)}); nothing was added."
        )
    (home / ROLLED_BACK).unlink(missing_ok=True)
    return {
        "added": len(with_vector) + (0 if is_told else there),
        "views_known": new.known,
        "views_failed": len(embedded.failures),
    }


def _choice_lines(choice: Mapping[str, Any]) -> Iterator[str]:
    """Yield the choice, its worth, and its cost to other documents."""
    yield (
        f"chosen by {choice['needs']:,} held-out needs of {choice['documents']:,} documents: "
        f"{choice['component']} at λ = {choice['lambda']:g}, mean reciprocal rank "
        f"{choice['mrr']['mean']:.3f} ({choice['mrr']['low']:.3f} to {choice['mrr']['high']:.3f}); "
        f"M+E at 0.7 {choice['usual']['mean']:.3f}, documents alone {choice['alone']['mean']:.3f}"
    )
    gain = choice["to_usual"]
    if gain["low"] is not None and gain["high"] is not None:
        yield (
            f"against M+E at 0.7 {gain['mean']:+.3f} ({gain['low']:+.3f} to {gain['high']:+.3f}), "
            "chosen on the other half of the documents"
        )
    without = choice["without_scenarios"]
    if without["documents"]:
        yield (
            f"{without['documents']:,} documents have no scenarios: for the needs of such, "
            f"{without['mrr']:.3f}, {without['alone']:.3f} by documents alone"
        )
