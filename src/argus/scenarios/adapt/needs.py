"""Examples for a correction: texts, and the documents that each is for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, get_args

from argus.data.documents import read_queries
from argus.data.runs import read_judgements
from argus.data.types import Document, Qrels, Query
from argus.errors import InputError
from argus.retrievability.sentences import hold_out
from argus.scenarios.adapt.config import Unlabelled
from argus.scenarios.files import given_profiles
from argus.scenarios.profile import Profiled
from argus.scenarios.profile import needs as needs_of

Profiles = Path | str | Mapping[str, Profiled]


class Need(NamedTuple):
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
    own, files, elsewhere = {d.id for d in documents}, dict[str, Path](), set[str]()
    if profiles is not None:
        source = "profiles"
        profiles, file = given_profiles(profiles, coerce_ids=coerce_ids)
        files = {"profiles": file} if file is not None else {}
        elsewhere = profiles.keys() - own
        found = [Need(n.text, (n.doc_id,)) for n in needs_of(profiles) if n.doc_id in own]
    elif needs is not None and needs_qrels is not None:
        source, sources = "needs", {"needs": needs, "needs qrels": needs_qrels}
        files = {name: Path(v) for name, v in sources.items() if isinstance(v, (str, Path))}
        if isinstance(needs, (str, Path)):
            needs = read_queries(Path(needs), coerce_ids=coerce_ids)
        judged, found = read_judgements(needs_qrels), []
        for query in needs:
            relevant = [doc for doc, grade in judged.get(query.id, {}).items() if grade > 0]
            elsewhere |= set(relevant) - own
            if inside := tuple(doc for doc in relevant if doc in own):
                found.append(Need(query.text, inside))
    elif unlabelled == "titles":
        source, found = "titles", [Need(d.title, (d.id,)) for d in documents]
    else:  # of each document that has several sentences one, and the document without it
        source = "sentences"
        bodies = [
            replace(d, text=d.text.removeprefix(d.title).lstrip()) if d.title else d
            for d in documents
        ]
        held, _ = hold_out(bodies, per_document=1, seed=seed)
        found = [Need(h.sentence, (documents[h.position].id,), h.rest) for h in held]
    if not unlabelled:
        found = list(dict.fromkeys(found))
    found = [need for need in found if need.text.strip()]
    if (n := len({doc for need in found for doc in need.documents})) < 2:
        fix = "A title is one that the index knows; a sentence needs others beside it."
        if not unlabelled:
            some = ", ".join(repr(d.id) for d in documents[:3])
            fix = f"Check that they and the index belong to one corpus: it holds {some}."
        raise InputError(
            f"{len(found):,} {source} of {n} of the {len(documents):,} documents of the index",
            expected="what is needed of two documents at least, better of hundreds",
            fix=fix,
            where=next(iter(files.values()), source),
        )
    return Needs(source, found, files, len(elsewhere))


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
