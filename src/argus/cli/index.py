"""`argus index build|add|delete`: indexes on disk, one view per document to begin with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from argus.cli.groups import Entry, Group
from argus.commands import command


def _search(_result: Any, given: Mapping[str, Any]) -> str:
    return command("explain", "WORDS", "--index", given["out"])


app = Group(
    "Build and change indexes.",
    entries=(
        Entry(
            "build", "argus.indexes.job:build_index", "Index every document of a corpus.",
            example="argus index build --corpus docs.jsonl --out index/", then=_search,
        ),
        Entry(
            "add", "argus.indexes.job:add_documents", "Add the documents of a corpus.",
            example="argus index add --index index/ --corpus more.jsonl",
        ),
        Entry(
            "delete", "argus.indexes.job:delete_documents", "Delete documents with their views.",
            example="argus index delete d3 d4 --index index/",
        ),
        Entry(
            "compact", "argus.indexes.job:compact_index", "Free the space of what was deleted.",
            example="argus index compact --index index/",
        ),
    ),
)  # fmt: skip
