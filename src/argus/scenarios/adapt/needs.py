"""Examples for a correction: texts, and the documents that each is for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args

from argus.data.documents import file_in, read_queries
from argus.data.qrels import read_judgements
from argus.data.types import Document, Qrels, Query
from argus.errors import InputError
from argus.retrievability.sentences import hold_out
from argus.scenarios.adapt.config import Unlabelled
from argus.scenarios.files import FILE, read_profiles
from argus.scenarios.profile import Profiled

Profiles = Path | str | Mapping[str, Profiled]


@dataclass(frozen=True, slots=True)
class Need:
    """A text that asks. documents: ids of those it is for. rest: of a document it was taken out of.

    A document is counted with its first ones. `rest` stands for it while the text asks.
    """

    text: str
    documents: tuple[str, ...]
    rest: str | None = None


@dataclass(frozen=True)
class Needs:
    """The needs of an index's documents, and where they come from.

    source: profiles, needs, titles or sentences.
    elsewhere: documents that something is needed of, and that the index does not hold.
    """

    source: str
    needs: list[Need]
    files: dict[str, Path]
    elsewhere: int = 0

    @property
    def documents(self) -> int:
        """How many documents have needs."""
        return len({doc for need in self.needs for doc in need.documents})


def read_needs(
    documents: Sequence[Document],
    profiles: Profiles | None,
    needs: Path | str | Sequence[Query] | None,
    needs_qrels: Path | str | Qrels | None,
    unlabelled: Unlabelled | None,
    *,
    coerce_ids: bool = False,
    seed: int = 0,
) -> Needs:
    """Return needs of these documents from the one source that is named.

    Raises InputError where none is or several are, and for needs of fewer than two documents.
    """
    _check_source(profiles, needs, needs_qrels, unlabelled)
    if profiles is not None:
        needed = _of_profiles(profiles, documents, coerce_ids)
    elif needs is not None and needs_qrels is not None:
        needed = _of_queries(needs, needs_qrels, documents, coerce_ids)
    elif unlabelled == "titles":
        titled = [Need(d.title, (d.id,)) for d in documents if d.title.strip()]
        needed = Needs("titles", titled, {})
    else:
        needed = Needs("sentences", _sentences(documents, seed), {})
    if needed.documents < 2:
        raise _too_few(needed, documents)
    return needed


def _too_few(needed: Needs, documents: Sequence[Document]) -> InputError:
    some = ", ".join(repr(d.id) for d in documents[:3])
    if needed.source in get_args(Unlabelled):
        mend = "A title is one that the index knows; a sentence needs others beside it."
    else:
        mend = f"Check that they and the index belong to one corpus: it holds {some}."
    return InputError(
        f"{len(needed.needs):,} {needed.source} of {needed.documents} of the {len(documents):,} "
        "documents of the index",
        expected="what is needed of two documents at least, better of hundreds",
        fix=mend,
        where=next(iter(needed.files.values()), needed.source),
    )


def _check_source(profiles: object, needs: object, needs_qrels: object, unlabelled: object) -> None:
    sources = {"--profiles": profiles, "--needs": needs, "--from": unlabelled}
    named = [option for option, value in sources.items() if value is not None]
    if len(named) != 1:
        raise InputError(
            " and ".join(named) or "nothing to learn from",
            expected="one of --profiles, --needs and --from",
            fix="Scenario profiles (argus tune apply scenarios) are what was measured to help.",
            where=", ".join(sources),
        )
    if unlabelled not in (None, *get_args(Unlabelled)):
        raise InputError(
            f"{unlabelled!r}",
            expected=f"one of {', '.join(get_args(Unlabelled))}",
            fix="Leave it out, and give --profiles or --needs.",
            where="--from",
        )
    if (needs is None) != (needs_qrels is None):
        one, other = "--needs", "--needs-qrels"
        raise InputError(
            f"{other if needs is None else one} alone",
            expected="both: what is needed, and which documents each is for",
            fix=f"Give {one if needs is None else other}.",
            where=one if needs is None else other,
        )


def _of_profiles(profiles: Profiles, documents: Sequence[Document], coerce_ids: bool) -> Needs:
    files = {}
    if isinstance(profiles, (str, Path)):
        files = {"profiles": file_in(Path(profiles), FILE)}
        profiles = read_profiles(files["profiles"], coerce_ids=coerce_ids)
    own = {d.id for d in documents}
    needs = [
        Need(scenario.information_need, (doc,))
        for doc, profiled in sorted(profiles.items())
        if doc in own and profiled.profile is not None
        for scenario in profiled.profile.scenarios
    ]
    return Needs("profiles", _with_text(needs), files, len(profiles.keys() - own))


def _of_queries(
    needs: Path | str | Sequence[Query],
    qrels: Path | str | Qrels,
    documents: Sequence[Document],
    coerce_ids: bool,
) -> Needs:
    sources = {"needs": needs, "needs qrels": qrels}
    files = {name: Path(v) for name, v in sources.items() if isinstance(v, (str, Path))}
    if isinstance(needs, (str, Path)):
        needs = read_queries(Path(needs), coerce_ids=coerce_ids)
    judged = read_judgements(qrels)
    own = {d.id for d in documents}
    relevant = {
        query.id: [doc for doc, grade in judged.get(query.id, {}).items() if grade > 0]
        for query in needs
    }
    texts = [Need(q.text, tuple(d for d in relevant[q.id] if d in own)) for q in needs]
    elsewhere = {doc for docs in relevant.values() for doc in docs} - own
    return Needs("needs", _with_text(n for n in texts if n.documents), files, len(elsewhere))


def _with_text(needs: Iterable[Need]) -> list[Need]:
    return [need for need in dict.fromkeys(needs) if need.text.strip()]


def _sentences(documents: Sequence[Document], seed: int) -> list[Need]:
    """Return a sentence of each document that has several, and the document without it."""
    bodies = [
        replace(d, text=d.text.removeprefix(d.title).lstrip()) if d.title else d for d in documents
    ]
    held, _ = hold_out(bodies, per_document=1, seed=seed)
    return [Need(h.sentence, (documents[h.position].id,), h.rest) for h in held]
