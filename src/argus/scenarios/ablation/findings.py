"""What an ablation found on one corpus: rows against document-only search, and what they say."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from argus.measures import Evaluation, PairedDifference, paired_difference
from argus.scenarios.ablation.grid import Cell, best_cell, split, usual_cell
from argus.scenarios.expansions import Baseline

DOCUMENTS, SCENARIOS, PLACEBO = "documents alone", "scenarios", "placebo"


@dataclass(frozen=True)
class Settings:
    """How runs are compared. measure: the one that cells are judged by."""

    measure: str
    measures: Sequence[str]
    tune_share: float
    resamples: int
    seed: int


@dataclass(frozen=True)
class Ablation:
    """All runs on one corpus, measured on the same questions."""

    corpus: str
    """"whole", or "profiled": only the documents that have scenarios."""
    n_documents: int
    n_profiled: int
    alone: Evaluation
    cells: Mapping[Cell, Evaluation]
    settings: Settings
    baselines: Mapping[Baseline, Evaluation] = field(default_factory=dict)
    placebos: Mapping[Cell, Evaluation] = field(default_factory=dict)
    """Per question the mean over several exchanges of the profiles."""

    @property
    def usual(self) -> Cell:
        """M+E at λ = 0.7, chosen before these questions were seen."""
        return usual_cell(self.cells)

    @property
    def best(self) -> Cell:
        """The best cell on these very questions."""
        return best_cell(self.cells, self.settings.measure)

    def rows(self) -> list[dict[str, Any]]:
        """Return every run: its measures, and its difference from documents alone."""
        rows = [self._row(DOCUMENTS, self.alone)]
        rows += [self._row(SCENARIOS, found, cell) for cell, found in self.cells.items()]
        rows += [self._row(str(name), found) for name, found in self.baselines.items()]
        return rows + [self._row(PLACEBO, found, cell) for cell, found in self.placebos.items()]

    def summary(self, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Return the figures of the report; no value in it is NaN. rows: of this ablation."""
        return {
            "documents": self.n_documents,
            "documents_with_scenarios": self.n_profiled,
            "queries": len(self.alone.per_query),
            "usual": _name(self.usual),
            "best": _name(self.best),
            "tuned": self._tuned(),
            "gaps": list(self._gaps()),
            "rows": list(rows),
        }

    def difference(
        self, before: Evaluation, after: Evaluation, queries: Collection[str] | None = None
    ) -> dict[str, Any]:
        """Return a paired difference, over all questions or `queries`, with its verdict."""
        kept = before.per_query.keys() if queries is None else queries
        found = paired_difference(
            *({q: e.per_query[q][self.settings.measure] for q in kept} for e in (before, after)),
            seed=self.settings.seed,
            resamples=self.settings.resamples,
        )
        return _described(found)

    def _row(self, system: str, found: Evaluation, cell: Cell | None = None) -> dict[str, Any]:
        same = found is self.alone
        return {
            "corpus": self.corpus,
            "system": system,
            **(_name(cell) if cell is not None else {"component": None, "lambda": None}),
            "measures": dict(found.aggregate),
            "comparison": None if same else self.difference(self.alone, found),
        }

    def _gaps(self) -> Iterator[dict[str, Any]]:
        """Compare usual and best cell with their placebos, and with expanded documents."""
        for cell in dict.fromkeys([self.usual, self.best]):
            rivals = {str(name): found for name, found in self.baselines.items()}
            if cell in self.placebos:
                rivals = {PLACEBO: self.placebos[cell]} | rivals
            for name, rival in rivals.items():
                found = self.difference(rival, self.cells[cell])
                yield _name(cell) | {"against": name, "comparison": found}

    def _tuned(self) -> dict[str, Any] | None:
        """Choose a cell on some questions and compare it on the others; None without either."""
        rng = np.random.default_rng(self.settings.seed)
        chosen_on, told_on = split(self.alone.per_query, self.settings.tune_share, rng)
        if not chosen_on or not told_on:
            return None
        cell = best_cell(self.cells, self.settings.measure, chosen_on)
        return _name(cell) | {
            "chosen_on": len(chosen_on),
            "comparison": self.difference(self.alone, self.cells[cell], told_on),
            "usual": self.difference(self.alone, self.cells[self.usual], told_on),
        }


def groups(whole: Ablation, gold: Mapping[str, Sequence[str]], profiled: Collection[str]) -> Any:
    """Return the usual cell's difference by how much of what is relevant has scenarios.

    gold: the relevant documents of each question.
    """
    found: dict[str, list[str]] = {}
    for query in whole.alone.per_query:
        n = sum(document in profiled for document in gold[query])
        name = "none" if not n else "all" if n == len(gold[query]) else "some"
        found.setdefault(name, []).append(query)
    cell = whole.cells[whole.usual]
    return [
        {"relevant_with_scenarios": name, "comparison": whole.difference(whole.alone, cell, ids)}
        for name, ids in sorted(found.items())
    ]


def table(rows: Sequence[dict[str, Any]], measures: Sequence[str]) -> pa.Table:
    """Return one row per run and corpus."""
    numbers, counts = ("difference", "low", "high", "p"), ("improved", "harmed", "queries")
    schema = pa.schema(
        [(name, pa.string()) for name in ("corpus", "system", "component")]
        + [("lambda", pa.float64())]
        + [(name, pa.float64()) for name in (*measures, *numbers)]
        + [(name, pa.int64()) for name in counts]
        + [("verdict", pa.string()), ("no_interval", pa.string())]
    )
    return pa.Table.from_pylist(list(_flat(rows)), schema=schema)


def _flat(rows: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for row in rows:
        names = {name: row[name] for name in ("corpus", "system", "component", "lambda")}
        found = row["comparison"] or {}
        renamed = {"difference": "mean_difference", "p": "p_value"}
        columns = ("difference", "low", "high", "p", "improved", "harmed", "queries", "verdict")
        values = {name: found.get(renamed.get(name, name)) for name in (*columns, "no_interval")}
        yield names | row["measures"] | values


def _name(cell: Cell) -> dict[str, Any]:
    return {"component": str(cell.component), "lambda": cell.weight}


def _described(found: PairedDifference) -> dict[str, Any]:
    before = found.mean_before
    relative = found.mean_difference / before if before > 0 else None
    return asdict(found) | {"verdict": found.verdict, "relative": relative}
