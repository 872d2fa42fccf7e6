"""Read expanded texts of documents (pseudo-queries, summaries), the baseline of an ablation.

A file of three pseudo-queries, and one summary, per document -> the text to embed, for
`research scenarios ablate` (SPIKE Appendix A). Each is concatenated with the document's text, which
is then embedded as one vector in place of the document's own. Nothing else is indexed.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from argus.data.documents import EXPANSIONS, file_in, rows_by_document
from argus.data.types import Document
from argus.errors import InputError

QUERIES = 3  # Pseudo-queries per document (SPIKE Appendix A).
_EXAMPLE = '{"_id": "d1", "pseudo_queries": ["...", "...", "..."], "summary": "..."}'


class Baseline(StrEnum):
    """Parts that a document is expanded with."""

    PSEUDO_QUERIES = "pseudo-queries"
    SUMMARY = "summary"


@dataclass(frozen=True, slots=True)
class Expansion:
    """Texts to expand a document with. Either part may be missing."""

    doc_id: str
    pseudo_queries: tuple[str, ...] = ()
    summary: str = ""

    def texts(self, baseline: Baseline) -> tuple[str, ...]:
        """Return the text to concatenate with the document. Nothing where there is none."""
        if baseline is Baseline.PSEUDO_QUERIES:
            return self.pseudo_queries
        return (self.summary,) if self.summary else ()


def expanded(document: Document, expansion: Expansion | None, baseline: Baseline) -> str:
    """Return the text to embed in place of the document's own. That itself without an expansion.

    Document, then each text on a line of its own.
    """
    texts = expansion.texts(baseline) if expansion is not None else ()
    return "\n".join([document.content, *texts])


def read_expansions(path: Path | str, *, coerce_ids: bool = False) -> dict[str, Expansion]:
    """Read expansions by document id: a file, or a folder that holds expansions.jsonl.

    The first three different queries of a row count. Other fields are not read. Raises InputError,
    with the line, for another file, a document that comes twice and a part of another form, and
    where no row has anything that can be used.
    """
    path = file_in(Path(path), EXPANSIONS)
    expansions = {}
    for doc_id, row in rows_by_document(path, coerce_ids=coerce_ids):
        queries, summary = row.values.get("pseudo_queries") or [], row.values.get("summary") or ""
        texts = [*queries, summary] if isinstance(queries, list) else [queries]
        if not isinstance(queries, list) or not all(isinstance(text, str) for text in texts):
            raise InputError(
                "queries that are no list of texts, or a summary that is none",
                expected=_EXAMPLE, fix="Correct the line.", where=row.at(),
            )  # fmt: skip
        different = dict.fromkeys(query.strip() for query in queries)
        usable = tuple(query for query in different if query)[:QUERIES]
        expansions[doc_id] = Expansion(doc_id, usable, summary.strip())
    if not any(e.pseudo_queries or e.summary for e in expansions.values()):
        raise InputError(
            f"no expansion that can be used in {len(expansions):,} lines",
            expected=f"lines such as {_EXAMPLE}",
            fix="Check the path and the fields.",
            where=path,
        )
    return expansions
