"""Whether the index holds the document, and whether the approximate search finds it there."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from pathlib import Path

from typing_extensions import TypedDict

from argus.corpora import NamedCorpus, named
from argus.corpora.opening import read_corpus
from argus.data.fields import FieldNames
from argus.data.folders import MANIFEST, read_section
from argus.data.types import Document
from argus.errors import ArgusError, InputError
from argus.explanation.evidence import ApproximateEvidence, PresenceEvidence
from argus.explanation.types import Case, Cause, Finding, Standing, Verdict

NEAR = 5
"""How many near ids are listed."""
NEAR_POOL = 20_000
"""Ids that difflib is given at most; of more, those that begin or end like the one asked for."""


class CorpusFile(TypedDict):
    """The corpus that an index was built from."""

    file: str


class IndexInputs(TypedDict):
    """What an index was built from."""

    corpus: CorpusFile


class IndexJob(TypedDict):
    """What is read of an index's part of manifest.json."""

    inputs: IndexInputs


def check_presence(
    case: Case, corpus: NamedCorpus | None, fields: FieldNames
) -> Finding[PresenceEvidence]:
    """Say whether this state of the index holds the document and, if not, where it was lost."""
    if case.present:
        kinds = [view.kind for view in case.views]
        return Finding(
            Cause.ABSENT, Verdict.RULED_OUT,
            f"it is in the index, through {len(kinds)} view{'s' * (len(kinds) > 1)}",
            {"views": {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)}},
        )  # fmt: skip
    index = case.retriever.index
    now = index.texts()
    evidence: PresenceEvidence = {"documents_in_this_state": len(case.snapshot)}
    if case.doc_id in now["doc_id"]:
        state = next((r.id for r in index.remedies() if _holds(case, r.id)), None)
        place = str(index.path) if state is None else f"{index.path}@{state}"
        return Finding(
            Cause.ABSENT, Verdict.FOUND,
            f"it is in the index now, but was not yet in the state {case.retriever.as_of!r}",
            {**evidence, "first_state_that_holds_it": state},
            f"Search {place}, or the index as it is now.",
        )  # fmt: skip
    owner = dict(zip(now["id"], now["doc_id"], strict=True)).get(case.doc_id)
    if owner is not None:
        return Finding(
            Cause.ABSENT, Verdict.FOUND,
            f"{case.doc_id!r} is no document but a view of document {owner!r}",
            {**evidence, "document_of_this_view": owner},
            f"Ask for {owner!r}.",
        )  # fmt: skip
    near = near_ids(case.doc_id, case.snapshot.doc_ids)
    document, file = corpus_document(case.doc_id, index.path, corpus, fields)
    why, advice = _lost(document, file, near, index.path)
    evidence |= {"near_ids": near, "corpus": file}
    return Finding(Cause.ABSENT, Verdict.FOUND, f"it is not in the index{why}", evidence, advice)


def _holds(case: Case, remedy: str) -> bool:
    return case.doc_id in case.retriever.index.texts(remedy)["doc_id"]


def _lost(
    document: Document | None, corpus: str, near: Sequence[str], index: Path
) -> tuple[str, str]:
    """Say what the corpus knows of a document that the index lacks, and what to do.

    document, corpus: as `corpus_document` returns them. near: ids like the one asked for.
    """
    meant = f"Did you mean {near[0]!r}? " if near else ""
    if corpus.startswith("could not"):
        return "", meant + "Check the id, or add the document with `argus index add`."
    if document is None:
        return ", and not in the corpus either", meant + "Check the id."
    if not document.content.strip():
        return (
            ": the corpus has it, but without text",
            "Give it a text (mind --text-field), then `argus index add`.",
        )
    return (
        ", though the corpus has it with text: it was deleted, left out by --limit, failed to be "
        "embedded, or came later",
        f"See the failures in {index / 'summary.json'}, then `argus index add`.",
    )


def corpus_document(
    doc_id: str, index: Path, corpus: NamedCorpus | None, fields: FieldNames
) -> tuple[Document | None, str]:
    """Return the document as the corpus has it, and which file was read.

    corpus: None reads the file that the index's manifest names. fields: its columns. The second
    value begins with "could not" where there is no such file, or these columns do not read it.
    """
    path = corpus or _named_corpus(index)
    if path is None:
        return None, "could not be looked at: the index does not name its corpus (--corpus FILE)"
    if isinstance(path, Path) and corpus is None and not path.exists():
        return None, f"could not be looked at: {path} is gone (--corpus FILE)"
    try:
        documents = read_corpus(path, fields)
    except ArgusError as error:
        if corpus is not None:
            raise
        return None, f"could not be looked at: {error}"
    return next((d for d in documents if d.id == doc_id), None), str(path)


def _named_corpus(index: Path) -> NamedCorpus | None:
    try:
        job = read_section(IndexJob, index, "index", of=MANIFEST)
        return None if job is None else named(job["inputs"]["corpus"]["file"])
    except (InputError, OSError):
        return None  # an index that a program made has no manifest


def near_ids(doc_id: str, ids: Sequence[str]) -> list[str]:
    """Return the ids that are most like `doc_id`, best first."""
    plain = _plain(doc_id)
    same = [id_ for id_ in ids if _plain(id_) == plain and plain][:NEAR]
    pool = ids
    if len(ids) > NEAR_POOL:
        pool = [i for i in ids if i[:2] == doc_id[:2] or i[-3:] == doc_id[-3:]][:NEAR_POOL]
    return list(dict.fromkeys([*same, *difflib.get_close_matches(doc_id, pool, NEAR)]))[:NEAR]


def _plain(id_: str) -> str:
    return re.sub(r"[\W_]+", "", id_).casefold()


def check_approximate(case: Case, place: Standing) -> Finding[ApproximateEvidence]:
    """Compare the exact rank with what the approximate search returns."""
    cause = Cause.APPROXIMATE
    if place.approximate is None:
        text = "there is no approximate index: search is exact"
        return Finding(cause, Verdict.RULED_OUT, text, {})
    if not case.present or place.dense.rank is None:
        text = "the document is not in this state of the index"
        return Finding(cause, Verdict.UNCHECKED, text, {})
    rank = place.approximate.rank
    evidence: ApproximateEvidence = {
        "exact_rank": place.dense.rank, "approximate_rank": rank, "k": case.k
    }  # fmt: skip
    if place.dense.rank <= case.k and rank is None:
        return Finding(
            cause, Verdict.FOUND,
            f"exact search ranks it {place.dense.rank}, the approximate index does not return it "
            f"among {case.k}",
            evidence,
            "Build the approximate index again (`argus index build --ann` or add --ann), or search "
            "exactly.",
            decisive=True,
        )  # fmt: skip
    if place.dense.rank > case.k:
        return Finding(
            cause, Verdict.RULED_OUT, f"exact search ranks it {place.dense.rank} as well", evidence
        )
    return Finding(cause, Verdict.RULED_OUT, "the approximate search returns it", evidence)
