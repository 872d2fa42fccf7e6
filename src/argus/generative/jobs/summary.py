"""Records of a generative search: its settings, its part of summary.json, an answer as JSON."""

from __future__ import annotations

from collections.abc import Iterator

from typing_extensions import TypedDict


class SearchSettings(TypedDict):
    """Settings of a search.

    decoding: fields of `Decoding`.
    scoring: fields of `Scoring`.
    """

    mode: str
    k: int
    decoding: dict[str, int | float | bool | str]
    scoring: dict[str, float | bool | str | None]


class SearchIdentity(SearchSettings):
    """All that decides an answer.

    index: hash of the index's contents.
    model: hash of the model's contents.
    """

    index: str
    model: str


class SearchRecord(SearchSettings):
    """The settings as the manifest has them.

    index: folder of the index.
    model: folder of the model.
    """

    index: str
    model: str


class QuestionCounts(TypedDict):
    """Questions by outcome.

    total: questions that were read.
    answered: questions that passages were found for.
    nothing_found: questions that no passage was found for.
    without_text: questions without a text, which were not asked.
    """

    total: int
    answered: int
    nothing_found: int
    without_text: int


class SearchPace(TypedDict):
    """Questions that this run answered, and the time they took. Decoding includes the constraint.

    answered_now: questions that this run answered.
    queries_per_s: these per second. None if there was none.
    seconds_by_step: seconds by step. Constraint is part of decoding.
    batch_wanted: questions at once, as set.
    batch: questions at once in the end, fewer where memory did not suffice.
    """

    answered_now: int
    seconds: float
    queries_per_s: float | None
    seconds_by_step: dict[str, float]
    batch_wanted: int
    batch: int


class SearchSummary(SearchPace):
    """Summary of a search.

    model: folder of the model.
    hits: passages found, over all questions.
    keys_per_hit: n-grams that a passage is found by, in the mean. None without.
    view_shares: share of the scores by view: body, title, query.
    exact_texts: whether texts shown are those of the corpus, not joined of tokens.
    files: format of results to its file.
    """

    index: str
    model: str
    mode: str
    k: int
    questions: QuestionCounts
    hits: int
    keys_per_hit: float | None
    view_shares: dict[str, float]
    exact_texts: bool
    files: dict[str, str]


class KeyRecord(TypedDict):
    """An n-gram by which a passage was found.

    text: the n-gram.
    count: occurrences in the corpus.
    weight: its part of the score.
    view: body, title or query.
    """

    text: str
    count: int
    weight: float
    view: str


class HitRecord(TypedDict):
    """A passage of an answer.

    rank: from 1.
    id: id of the passage.
    text: text of the passage.
    keys: n-grams that it was found by, the heaviest first.
    """

    rank: int
    id: str
    score: float
    title: str
    text: str
    keys: list[KeyRecord]


class AnswerRecord(TypedDict):
    """The answer to one question that was asked alone. Passages best first.

    query: question that was asked.
    model: folder of the model.
    results: passages, best first.
    """

    query: str
    index: str
    model: str
    mode: str
    results: list[HitRecord]


def headline(summary: SearchSummary) -> Iterator[str]:
    """Yield how many questions were answered, how fast, and where the answers are."""
    counts = summary["questions"]
    kinds = {"found nothing": counts["nothing_found"], "without text": counts["without_text"]}
    left_out = ", ".join(f"{n:,} {kind}" for kind, n in kinds.items() if n)
    more = f" ({left_out})" if left_out else ""
    yield f"{counts['answered']:,} of {counts['total']:,} questions answered{more}"
    earlier = counts["total"] - counts["without_text"] - summary["answered_now"]
    if earlier:
        yield f"{earlier:,} of them were answered in an earlier run"
    if summary["queries_per_s"]:
        yield f"{summary['queries_per_s']:.2f} questions per second, {summary['seconds']} s"
    if summary["batch"] < summary["batch_wanted"]:
        yield (
            f"out of memory with {summary['batch_wanted']:,} questions at once: "
            f"{summary['batch']:,} instead (--batch)"
        )
    if summary["view_shares"]:
        shares = ", ".join(f"{view} {share:.0%}" for view, share in summary["view_shares"].items())
        yield f"where scores come from: {shares}"
    for name, path in summary["files"].items():
        yield f"{name}: {path}"
