"""The verdict as the last lines of a command."""

from __future__ import annotations

from collections.abc import Iterator

from argus.verdict.summary import FolderVerdict, VerdictCount, VerdictLevel
from argus.verdict.verdict import SHORT


def verdict_lines(verdict: FolderVerdict) -> Iterator[str]:
    """Yield the counts, what each is worth, and what to do next; nothing of an empty verdict."""
    if not verdict.is_measured:
        return
    yield ""
    yield f"verdict: {verdict.answer}"
    for count in verdict.counts:
        yield f"  {count.level.upper():<12} {SHORT[count.name]}: {_figures(count)}"
        for validity in count.validity:
            yield f"  {'':<12}   {validity}"
    for text in verdict.explanations:
        yield f"  {text}"
    if verdict.actions:
        yield "next, by what it is expected to bring:"
    for number, action in enumerate(verdict.actions, 1):
        yield f"  {number}. {action.title}"
        yield f"     {action.command}"
        yield f"     {action.evidence}"


def _figures(count: VerdictCount) -> str:
    if count.level is VerdictLevel.NOT_MEASURED or count.bounds is None:
        return f"measure it with: {count.command}"
    interval = f", {count.low:.1%} to {count.high:.1%}" if count.low < count.high else ""
    return (
        f"{count.count:,} of {count.total:,} {count.unit} ({count.share:.1%}{interval}) "
        f"{count.meaning} [{count.bounds.words}]"
    )
