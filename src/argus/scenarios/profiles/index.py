"""`remedy scenarios`, second part: profiles become views of an index, as one remedy."""

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
from argus.remedies.undo import MADE, ROLLED_BACK, is_recorded, write_recorded
from argus.reports import write_report
from argus.scenarios.choice import AnyComponent, AnyWeight, selection
from argus.scenarios.files import FILE, read_profiles, scenario_views, write_profiles
from argus.scenarios.openings import Form, in_form
from argus.scenarios.profile import COMPONENT, Component, Profiled
from argus.scenarios.profiles.job import JOB, summarise
from argus.scenarios.profiles.section import added_headline

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
        return added_headline(self.summary)


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
    writer = _writer(path)
    opened = ViewIndex.open(index_folder(index))
    documents = originals(opened)
    own = _of_index(profiles, documents, opened.path, path, form)
    model = encoder_of(opened, encoder, device)
    opened.header.check_fingerprint(model.fingerprint, opened.path)
    using = selection(opened, own, model, component, weight)
    settings: dict[str, object] = {
        "index": str(index),
        "component": str(using.component),
        "lambda": using.weight,
        "form": str(form),
    }
    record = Record(JOB, settings, {"profiles": path})
    record.encoder["fingerprint"] = model.fingerprint
    remedy = _remedy_id(own, documents, using.component)
    home = ArtifactFolder(opened.path / REMEDIES / remedy)
    folder = ArtifactFolder(out or home.path)
    record.open(folder, about=(opened.path,))
    home.open()
    added = _add(opened, remedy, own, using.component, model, home, record)
    if using.weight is not None:
        opened.prescribe(remedy, weight=using.weight)
    ids, having = [d.id for d in documents], [i for i, p in own.items() if p.profile is not None]
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
        "choice": using.choice,
        "coverage": questions.coverage(ids, having) if questions is not None else None,
    }
    write_profiles(folder / FILE, own.values())
    folder.write_json(MADE, home.read_json(MADE))
    folder.write_results(JOB, {**writer, **summary}, record.manifest(summary["documents"]))
    report = write_report(folder.path)
    judged = evaluate_remedy(opened, remedy, questions, encoder=model, out=folder.path)
    write_recorded(home)
    return ScenariosResult(remedy, folder.path, report, opened, summary, judged)


def _writer(profiles: Path | None) -> dict[str, Any]:
    """Return the folder's note on how its profiles were made, where it is one."""
    if profiles is None:
        return {}
    home = profiles if profiles.is_dir() else profiles.parent
    section = ArtifactFolder(home).read_json(SUMMARY).get(JOB)
    if not isinstance(section, dict):
        return {}
    return {name: section[name] for name in WRITER if name in section}


def _of_index(
    profiles: Mapping[str, Profiled],
    documents: Sequence[Document],
    index: Path,
    path: Path | None,
    form: Form,
) -> dict[str, Profiled]:
    """Return the profiles of the documents of an index. InputError where none has scenarios."""
    ids = [d.id for d in documents]
    own = in_form({doc: profiles[doc] for doc in ids if doc in profiles}, form)
    if not any(p.profile is not None for p in own.values()):
        some = ", ".join(map(repr, sorted(profiles)[:3]))
        raise InputError(
            f"no scenarios for any of the {len(ids):,} documents of {index} "
            f"({len(own):,} profiles of them, all noise or failed)"
            if own
            else f"profiles of other documents ({some})",
            expected=f"scenarios of its documents ({', '.join(map(repr, ids[:3]))})",
            fix="Check that profiles and index belong to one corpus.",
            where=path or "profiles",
        )
    return own


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
    is_told = is_recorded(home, remedy, index, by_recipe=False)
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
