"""`remedy scenarios`, second part: profiles become views of an index, as one remedy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from argus.corpora import NamedCorpus
from argus.data.folders import SUMMARY, ArtifactFolder
from argus.data.provenance import content_hash, utc_now
from argus.data.reading import read_record
from argus.data.types import Document, Qrels, Query
from argus.data.writing import one_writer
from argus.encoders import EmbeddingStore, Encoder, EncoderConfig, embed
from argus.encoders import documents as as_documents
from argus.encoders.store import store_of
from argus.errors import ArgusError, InputError
from argus.evaluation.config import ChunkedCorpus
from argus.evaluation.judged import JudgedQueries
from argus.indexes.blend import REMEDIES
from argus.indexes.header import index_folder
from argus.indexes.retriever import encoder_of
from argus.indexes.views import NewViews, ViewIndex, new_views, originals
from argus.jobs.workspace import Record
from argus.measures.coverage import Coverage
from argus.remedies.remedy_result import RemedyResult, check_judged, evaluate_remedy
from argus.remedies.undo import MADE, ROLLED_BACK, is_recorded, write_recorded
from argus.reports import write_report
from argus.scenarios.choice.of_index import AnyComponent, AnyWeight, selection
from argus.scenarios.choice.summary import ChoiceFigures
from argus.scenarios.files import FILE, read_profiles, write_profiles
from argus.scenarios.openings import Form, in_form
from argus.scenarios.profile import COMPONENT, Component, Profiled
from argus.scenarios.profiles.job import JOB, summarise
from argus.scenarios.profiles.summary import AddedScenarios, Writer, added_headline
from argus.scenarios.views import scenario_views

NONE = "no profile"
LABEL = "scenarios-"


@dataclass(frozen=True, repr=False)
class ScenariosResult(RemedyResult[AddedScenarios]):
    """Views that scenarios added to an index."""

    def _receipt(self) -> Iterator[str]:
        return added_headline(self.summary)


@dataclass(frozen=True)
class _Profiles:
    """The profiles of an index's documents, and the counts of others."""

    of_index: dict[str, Profiled]
    unknown: int
    """Profiles of documents that the index does not hold."""
    without: dict[str, int]
    """Documents of the index without scenarios, by why: they score by their own text."""

    def coverage(
        self, questions: JudgedQueries | None, documents: Sequence[Document]
    ) -> Coverage | None:
        """Count the documents that have scenarios. None without judged questions."""
        if questions is None:
            return None
        having = [doc for doc, p in self.of_index.items() if p.profile is not None]
        return questions.coverage([d.id for d in documents], having)


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
    whether explanations are indexed without the beginnings that many share. The
    remedy's id names its sources, so the same
    profiles are never added twice. `argus tune undo` takes them out. out: default
    `INDEX/remedies/ID`. Raises InputError for bad input and for profiles of other documents alone,
    ArgusError where no view could be embedded.
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
    using = selection(opened, own.of_index, model, component, weight)
    settings: dict[str, object] = {
        "index": str(index),
        "component": str(using.component),
        "lambda": using.weight,
        "form": str(form),
    }
    record = Record(JOB, settings, {"profiles": path})
    record.encoder["fingerprint"] = model.fingerprint
    remedy = _remedy_id(own.of_index, documents, using.component)
    home = ArtifactFolder(opened.path / REMEDIES / remedy)
    folder = ArtifactFolder(out or home.path)
    record.open(folder, about=(opened.path,))
    home.open()
    addition = _add(opened, remedy, own, using.component, model, home, record)
    if using.weight is not None:
        opened.prescribe(remedy, weight=using.weight)
    covered = own.coverage(questions, documents)
    summary = _summary(opened, remedy, own, addition, using.choice, covered)
    write_profiles(folder / FILE, own.of_index.values())
    folder.write_json(MADE, home.read_json(MADE))
    folder.write_results(JOB, {**writer, **summary}, record.manifest(summary["documents"]))
    report = write_report(folder.path)
    judged = evaluate_remedy(
        opened, remedy, queries, qrels,
        chunks=ChunkedCorpus(corpus=corpus), encoder=model, out=folder.path,
    )  # fmt: skip
    write_recorded(home)
    return ScenariosResult(remedy, folder.path, report, opened, summary, judged)


def _writer(profiles: Path | None) -> Writer:
    """Return the folder's note on how its profiles were made, where it is one."""
    if profiles is None:
        return {}
    home = profiles if profiles.is_dir() else profiles.parent
    section = ArtifactFolder(home).read_json(SUMMARY).get(JOB)
    if not isinstance(section, dict):
        return {}
    own = {name: section[name] for name in Writer.__annotations__ if name in section}
    return read_record(Writer, own, where=home / SUMMARY, section=JOB)


def _of_index(
    profiles: Mapping[str, Profiled],
    documents: Sequence[Document],
    index: Path,
    path: Path | None,
    form: Form,
) -> _Profiles:
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
    states = Counter(str(own[doc].state) if doc in own else NONE for doc in ids)
    without = {state: n for state, n in sorted(states.items()) if state != "ok"}
    return _Profiles(own, len(profiles) - len(own), without)


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


@dataclass(frozen=True)
class _Addition:
    """Views that were added, those that were to be, and why some have no vector.

    added: since a run last told of it, which may be before one that was killed.
    """

    added: int
    new: NewViews
    failed: dict[int, str]


def _add(
    index: ViewIndex,
    remedy: str,
    profiles: _Profiles,
    component: Component,
    model: Encoder,
    home: ArtifactFolder,
    record: Record,
) -> _Addition:
    """Embed and add missing views. The note on them is on disk before."""
    views = scenario_views(profiles.of_index.values(), component, label=remedy)
    is_told = is_recorded(home, remedy, index, by_recipe=False)
    untold = 0 if is_told else _views_of(index, remedy)
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
    return _Addition(untold + len(with_vector), new, embedded.failures)


def _views_of(index: ViewIndex, remedy: str) -> int:
    return next((r.views for r in index.remedies() if r.id == remedy), 0)


def _summary(
    index: ViewIndex,
    remedy: str,
    profiles: _Profiles,
    addition: _Addition,
    choice: ChoiceFigures | None,
    coverage: Coverage | None,
) -> AddedScenarios:
    remedies = index.remedies()
    there = next(r for r in remedies if r.id == remedy)
    others = [r.id for r in remedies if r.id != remedy and r.id.startswith(LABEL)]
    return {
        **summarise(profiles.of_index),
        "remedy": remedy,
        "index": str(index.path),
        "added": addition.added,
        "views": there.views,
        "documents_with_views": there.documents,
        "other_scenarios": others,
        "bytes": there.bytes,
        "views_known": addition.new.known,
        "views_failed": len(addition.failed),
        "documents_without": profiles.without,
        "profiles_of_other_documents": profiles.unknown,
        "choice": choice,
        "coverage": coverage,
    }
