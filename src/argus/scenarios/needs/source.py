"""Inputs of a need audit: documents, and the profiles of those that have text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from argus.corpora import Corpus
from argus.corpora.opening import Origin
from argus.data.fields import FieldNames
from argus.data.types import Document
from argus.encoders import Encoder, EncoderConfig
from argus.errors import InputError
from argus.jobs.workspace import read_documents, require_some
from argus.scenarios.files import FILE, read_profiles
from argus.scenarios.profile import Profiled, ProfileState


@dataclass(frozen=True)
class NeedSource:
    """Audited documents: documents by id, and the profiles of those that have text.

    elsewhere: profiles of documents that the corpus does not hold.
    drawn: documents whose needs ask. None is all that have some.
    """

    documents: list[Document]
    path: Origin | None
    profiles: dict[str, Profiled]
    profiles_path: Path | None
    elsewhere: int
    drawn: frozenset[str] | None = None

    @classmethod
    def read(
        cls,
        corpus: Corpus,
        profiles: Path | str | Mapping[str, Profiled] | None,
        fields: FieldNames,
        limit: int | None,
        encoder: Encoder | EncoderConfig | str | None,
        *,
        writes: bool = False,
    ) -> NeedSource:
        """Read both. encoder: as for `read_documents`. writes: missing profiles are written.

        Raises InputError where they have no id in common, and where there is neither.
        """
        if profiles is None and not writes:
            raise InputError(
                "neither --profiles nor --model",
                expected="what documents are needed for, or a language model that writes it",
                fix="Give --profiles of argus tune apply scenarios, or --model NAME with "
                "--estimate "
                "to see what that costs.",
                where="--profiles",
            )
        documents, path = read_documents(corpus, fields, limit, encoder)
        documents.sort(key=lambda d: d.id)
        file = None
        if isinstance(profiles, (str, Path)):
            file = Path(profiles)
            file = file / FILE if file.is_dir() else file
            profiles = read_profiles(file, coerce_ids=fields.coerce_ids)
        with_text = {d.id for d in documents if d.content.strip()}
        require_some(
            int(len(with_text) > 1), "two documents have text", "Check --text-field, or --limit."
        )
        profiles = profiles or {}
        ids = {d.id for d in documents}
        known = {id_: profiled for id_, profiled in profiles.items() if id_ in ids}
        if not known and not writes:
            raise _no_common_id(documents, profiles, file)
        usable = writes or sum(
            p.profile is not None and id_ in with_text for id_, p in known.items()
        )
        require_some(
            int(usable),
            "document with text has a profile with scenarios",
            "Profiles of state noise or failed have none.",
        )
        return cls(documents, path, known, file, len(profiles) - len(known))

    @property
    def asking(self) -> dict[str, Profiled]:
        """The profiles whose needs ask: of documents that have text, and are drawn."""
        ids = {d.id for d in self.usable}
        ids = ids if self.drawn is None else ids & self.drawn
        return {id_: profile for id_, profile in self.profiles.items() if id_ in ids}

    @property
    def usable(self) -> list[Document]:
        """The documents that have text."""
        return [d for d in self.documents if d.content.strip()]


def _no_common_id(
    documents: Sequence[Document], profiles: Mapping[str, Profiled], file: Path | None
) -> InputError:
    ours, theirs = documents[0].id, next(iter(sorted(profiles)), "")
    return InputError(
        f"{len(profiles):,} profiles, none of them of a document of the corpus (they begin with "
        f"{theirs!r}, the documents with {ours!r})",
        expected="profiles by the ids of the corpus",
        fix="Check --profiles, --corpus and --id-field; --limit may have cut the corpus too short.",
        where=file or "profiles",
    )


def why_unmeasured(
    document: Document, profiles: Mapping[str, Profiled], drawn: frozenset[str] | None = None
) -> str | None:
    """Return why nobody asks for a document by its needs. None where it has some, and is drawn."""
    profiled = profiles.get(document.id)
    if not document.content.strip():
        return "no text"
    if drawn is not None and document.id not in drawn:
        return "not drawn"
    if profiled is None:
        return "no profile"
    if profiled.state is ProfileState.NOISE:
        return "the profile is noise"
    return "the profile failed" if profiled.profile is None else None
