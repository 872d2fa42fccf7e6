"""What the table of documents shows: which Parquet files, which of their columns, under what words.

Everything that becomes SQL is declared here; of a request only values are taken, and these are
bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["text", "count", "share", "decimals", "band", "flag"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name in the table of documents, where it is from, and how it is shown."""

    name: str
    source: str
    heading: str
    kind: Kind
    about: str
    is_listed: bool = True
    """Whether the table shows it; a document's page shows all."""


@dataclass(frozen=True, slots=True)
class Source:
    """A Parquet file of documents. id, label: their columns; label "" for none.

    is_unique: whether a document has one row; else the first of them counts.
    """

    file: str
    columns: tuple[Column, ...]
    id: str = "id"
    label: str = "label"
    is_unique: bool = True


SOURCES = (
    Source(
        "exposure",
        (
            Column("title_rank", "title_rank", "Rank by title", "count",
                   "its place where its own title is asked"),
            Column("sentence_rank", "sentence_rank", "Rank by sentence", "decimals",
                   "its place where a sentence of its own is asked"),
            Column("by_own", "retrieved_by_own", "By its own", "count",
                   "probes of its own that bring it back"),
            Column("by_others", "retrieved_by_others", "By others", "count",
                   "lists of others' probes that hold it"),
            Column("never", "never_retrieved", "Never back", "flag",
                   "nothing that was asked brought it", is_listed=False),
        ),
    ),
    Source(
        "retrievability",
        (
            Column("rps", "rps", "RPS", "share",
                   "share of related entities that bring it back, weighed by the competition"),
            Column("band", "band", "Band", "band", "RPS below 0.33, up to 0.66, above"),
            Column("related", "related", "Related", "count", "entities that are related to it"),
            Column("displaced_by", "displaced_by", "Outranked by", "text",
                   "what comes instead of it most often", is_listed=False),
        ),
    ),
    Source(
        "needs_served",
        (
            Column("needs", "needs", "Needs", "count", "what it is needed for, as was written"),
            Column("needs_met", "found", "Needs met", "share", "those of them that bring it back"),
        ),
    ),
    Source(
        "unreached",
        (Column("lost", "cause", "Lost", "text", "why the store does not bring it back"),),
        label="",
    ),
    Source(
        "authority",
        (
            Column("superseded_by", "controlling", "Superseded by", "text",
                   "what controls it now", is_listed=False),
        ),
        id="superseded", label="superseded_title", is_unique=False,
    ),
)  # fmt: skip
"""Tables in the order in which they are joined; documents of any of them are shown."""

SOUND, NOT_MEASURED = "none found", "not measured"
"""In the place of a cause: what was measured shows none, or nothing measured the document."""
CAUSES = (
    ("never retrieved", "never", "never"),
    ("lost by the index", "lost", "lost IS NOT NULL"),
    ("superseded", "superseded_by", "superseded_by IS NOT NULL"),
    ("not by its own words", "by_own", "by_own = 0"),
    (SOUND, "never", "never IS NOT NULL"),
)
"""What is wrong with a document, worst first: in words, the column that it needs, and the
condition; the first that holds is its cause, NOT_MEASURED where none does."""
