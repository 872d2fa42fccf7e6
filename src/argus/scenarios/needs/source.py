"""Read the inputs of a need audit: documents, their profiles, and judged questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from argus.corpora import Corpus
from argus.corpora.opening import Origin
from argus.data.fields import FieldNames
from argus.data.types import Document, Qrels, Query
from argus.encoders import Encoder, EncoderConfig
from argus.errors import InputError
from argus.evaluation.judged import JudgedQueries, ParentFold, read_judged
from argus.jobs.workspace import read_documents, require_some
from argus.scenarios.files import given_profiles
from argus.scenarios.needs.config import NeedsConfig
from argus.scenarios.profile import Profiled, ProfileState


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

    def why_unmeasured(self, document: Document) -> str:
        """Return why no need asks for a document. "" where it has some, and is drawn."""
        if not document.content.strip():
            return "no text"
        if self.drawn is not None and document.id not in self.drawn:
            return "not drawn"
        if (profiled := self.profiles.get(document.id)) is None:
            return "no profile"
        if profiled.state is ProfileState.NOISE:
            return "the profile is noise"
        return "" if profiled.profile else "the profile failed"


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
            fix="Give --profiles of argus tune apply scenarios, or --model NAME with --estimate "
            "to see what that costs.",
            where="--profiles",
        )
    documents, path = read_documents(corpus, fields, limit, encoder)
    documents.sort(key=lambda d: d.id)
    profiles, file = given_profiles(profiles or {}, coerce_ids=fields.coerce_ids)
    with_text = {d.id for d in documents if d.content.strip()}
    require_some(len(with_text) > 1, "two documents have text", "Check --text-field, or --limit.")
    known = {d.id: profiles[d.id] for d in documents if d.id in profiles}
    if not known and not writes:
        first, other = documents[0].id, min(profiles, default="")
        raise InputError(
            f"{len(profiles):,} profiles, none of them of a document of the corpus (they begin "
            f"with {other!r}, the documents with {first!r})",
            expected="profiles by the ids of the corpus",
            fix="Check --profiles, --corpus and --id-field; --limit may have cut the corpus too "
            "short.",
            where=file or "profiles",
        )
    usable = writes or any(p.profile is not None and id_ in with_text for id_, p in known.items())
    missing = "document with text has a profile with scenarios"
    require_some(usable, missing, "Profiles of state noise or failed have none.")
    questions, folded = None, config.parent_field
    if judged is not None and (judged.queries is not None or judged.qrels is not None):
        if judged.queries is None or judged.qrels is None:
            lacking = "--queries" if judged.queries is None else "--qrels"
            raise InputError(
                f"judged questions without {lacking}",
                expected="both: --queries, and --qrels that say what is relevant to each",
                fix="Name the other file, too.",
                where=lacking,
            )
        questions = read_judged(judged.queries, judged.qrels)
        questions = replace(questions, documents=documents).folded(folded)
    inputs = {"corpus": path, "profiles": file, **(questions.files if questions else {})}
    fold = ParentFold.of(folded, documents)
    parents = fold.of_chunk if fold else {}
    elsewhere = len(profiles) - len(known)
    return NeedSource(documents, known, elsewhere, inputs, questions, parents)
