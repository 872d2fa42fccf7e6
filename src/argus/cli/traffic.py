"""`argus traffic`: a log of real questions, their results, and how often these fail."""

from __future__ import annotations

from argus.cli import output
from argus.cli.groups import Entry, Group


def show_preview(lines: list[str], as_json: bool) -> None:
    """Print how the first questions of a log are read."""
    output.print_json(lines) if as_json else output.print_lines(lines)


app = Group(
    "What people really ask, and how often it fails.",
    first="audit",
    entries=(
        Entry(
            "audit", "argus.traffic.job:audit_traffic", "What people ask, and what came for it.",
            example="argus traffic audit log.jsonl --corpus docs.jsonl --out traffic/",
        ),
        Entry(
            "preview", "argus.traffic.reading:preview_log", "How a log is read, and no more.",
            example="argus traffic preview log.jsonl", show=show_preview,
        ),
        Entry(
            "judge", "argus.traffic.judging:judge_traffic", "How often it fails, of few grades.",
            example="argus traffic judge queries.jsonl --run run.trec --corpus docs.jsonl "
            "--out judged/",
        ),
    ),
)  # fmt: skip
