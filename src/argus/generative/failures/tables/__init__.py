"""Tables of one system, from the rows of failures.parquet (docs/failures.md).

`figures` returns plain JSON: numbers of 8 significant digits, None if a figure does not apply.

    {"questions": rows, "judged": rows with judgements, "k": k,
     SECTION: {TABLE: table, ...}, ...}

The sections are quality, metadata, generation, scoring, annotation, texts, corpus (the index),
replay (index and model), ablations, correlations. All are always there, with all their tables,
whose names are unique among all sections (those of the thesis begin with their number, t04_). A
table is one of

* `{"n": ..., "columns": [...], "rows": [[...], ...]}`. n: the questions it is made of. Some have
  further single figures beside n: decile tables have `indicator` and its mean, sigma, median, min
  and max over the same questions.
* `{"n": ..., "mean": ..., ...}`: single figures.
* `{"not_applicable": "why, and what to give"}`.

Shares and rates are between 0 and 1. X_low, X_high (or low, high) are the ends of the 95% interval
of X: Wilson's for shares and means of values in [0, 1], else the bootstrap's. sigma is the
population's (divided by n). Nothing depends on the order of the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from argus.generative.failures.tables.ablations import ablations
from argus.generative.failures.tables.annotation import annotation
from argus.generative.failures.tables.corpus import corpus
from argus.generative.failures.tables.correlations import correlations
from argus.generative.failures.tables.csv import csv_tables
from argus.generative.failures.tables.generation import generation
from argus.generative.failures.tables.metadata import metadata
from argus.generative.failures.tables.quality import quality
from argus.generative.failures.tables.records import (
    PARTS,
    Figures,
    Part,
    Table,
    Tables,
    has_rows,
    is_missing,
)
from argus.generative.failures.tables.replay import replay
from argus.generative.failures.tables.rows import Rows, known, not_applicable
from argus.generative.failures.tables.scoring import scoring
from argus.generative.failures.tables.shape import plain
from argus.generative.failures.tables.texts import texts

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "PARTS",
    "SECTIONS",
    "Figures",
    "Part",
    "Table",
    "csv_tables",
    "figures",
    "has_rows",
    "is_missing",
]

SECTIONS: dict[Part, Callable[[Rows], Tables]] = {
    "quality": quality,
    "metadata": metadata,
    "generation": generation,
    "scoring": scoring,
    "annotation": annotation,
    "texts": texts,
    "corpus": corpus,
    "replay": replay,
    "ablations": ablations,
    "correlations": correlations,
}


def figures(rows: pa.Table, *, k: int, seed: int, strict: bool = False) -> Figures:
    """Return every table of one system. Its shape is described at the top of this module.

    rows: one per question, with the columns of `measures.columns`. Those that were not measured
    may be missing. k: of hit_k, as it was measured. seed: of the bootstraps.
    strict: deciles are those of the thesis.
    """
    ordered = Rows.of(rows, k=k, seed=seed, strict=strict)

    def tables(part: Part) -> Tables:
        return {name: _of_somebody(table) for name, table in SECTIONS[part](ordered).items()}

    all_figures: Figures = {
        "questions": len(ordered),
        "judged": int(known(ordered.number("hit_1")).sum()),
        "k": k,
        "quality": tables("quality"),
        "metadata": tables("metadata"),
        "generation": tables("generation"),
        "scoring": tables("scoring"),
        "annotation": tables("annotation"),
        "texts": tables("texts"),
        "corpus": tables("corpus"),
        "replay": tables("replay"),
        "ablations": tables("ablations"),
        "correlations": tables("correlations"),
    }
    return plain(all_figures)


def _of_somebody(table: Table) -> Table:
    nobody = not is_missing(table) and table["n"] == 0
    return not_applicable("No question has this figure.") if nobody else table
