"""The scenarios' section of summary.json, key by key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NotRequired

from typing_extensions import TypedDict

from argus.jobs.recorded_model import Answers, spent
from argus.measures.coverage import Covered
from argus.scenarios.choice.summary import ChoiceFigures, choice_lines


class ProfiledDocuments(TypedDict):
    """Documents by outcome.

    total: documents that were read.
    ok: documents that have scenarios.
    noise: documents that serve no need.
    failed: documents without a profile that can be used.
    """

    total: int
    ok: int
    noise: int
    failed: int


class Failure(TypedDict):
    """Documents that failed for one reason.

    reason: why it failed.
    documents: documents of which that is so.
    """

    reason: str
    documents: int


class Note(TypedDict):
    """Documents of which something was left out.

    note: omissions.
    documents: documents of which that is so.
    """

    note: str
    documents: int


class Sample(TypedDict):
    """The first scenario of a document.

    main_topic: topic of the document.
    information_need: information need that it serves.
    explanation: how the document serves it.
    """

    doc_id: str
    main_topic: str
    information_need: str
    explanation: str


class ProfileCounts(TypedDict):
    """Written profiles.

    scenarios_per_document: number of scenarios to how many documents have so many.
    samples: first scenarios of a few documents.
    """

    documents: ProfiledDocuments
    scenarios: int
    scenarios_per_document: dict[str, int]
    failures: list[Failure]
    notes: list[Note]
    samples: list[Sample]


class ProfileSummary(ProfileCounts):
    """Profiles by a model.

    language_model: cost of writing.
    """

    written_by: str
    role: str
    language_model: Answers


class Writer(TypedDict, total=False):
    """Authors of the profiles that are added to an index, where their folder says so.

    language_model: cost of writing.
    """

    written_by: str
    role: str
    language_model: Answers


class AddedScenarios(ProfileCounts, Covered):
    """Additions to an index.

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

    remedy: str
    index: str
    added: int
    views: int
    documents_with_views: int
    other_scenarios: list[str]
    bytes: int
    views_known: int
    views_failed: int
    documents_without: dict[str, int]
    profiles_of_other_documents: int
    choice: NotRequired[ChoiceFigures | None]


def profiles_headline(summary: ProfileSummary) -> Iterator[str]:
    """Yield how many documents have scenarios, why others have none, and the cost."""
    documents = summary["documents"]
    yield (
        f"{documents['ok']:,} of {documents['total']:,} documents have "
        f"{summary['scenarios']:,} scenarios; {documents['noise']:,} are noise, "
        f"{documents['failed']:,} failed"
    )
    for failure in summary["failures"][:3]:
        yield f"failed, {failure['documents']:,} documents: {failure['reason']}"
    for note in summary["notes"][:3]:
        yield f"noted, {note['documents']:,} documents: {note['note']}"
    yield spent(summary["language_model"])


def added_headline(summary: AddedScenarios) -> Iterator[str]:
    """Yield the additions to an index, and which documents have nothing in it."""
    if not summary["added"]:
        yield f"{summary['remedy']} was in the index already; nothing added"
    yield (
        f"{summary['remedy']}: {summary['views']:,} views ({summary['bytes'] / 2**20:.1f} MiB) of "
        f"{summary['documents_with_views']:,} documents"
    )
    if choice := summary.get("choice"):
        yield from choice_lines(choice)
    if known := summary["views_known"]:
        yield f"{known:,} more were in the index already"
    if others := summary["other_scenarios"]:
        yield (
            f"{', '.join(others)} also in the index: the best scenario of all counts. To have one "
            "component alone, roll the others back (argus tune undo ID)"
        )
    without = ", ".join(f"{n:,} ({why})" for why, n in summary["documents_without"].items())
    if without:
        yield f"documents without scenarios, found by their own text alone: {without}"
    if summary["profiles_of_other_documents"]:
        yield f"profiles of other documents: {summary['profiles_of_other_documents']:,}"
    if summary["views_failed"]:
        yield f"{summary['views_failed']:,} scenarios could not be embedded and are left out"
