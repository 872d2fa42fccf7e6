"""What measures the thesis' tables in recipes: the analysis of failures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from argus.generative.failures.tables import is_missing
from argus.suite.recipes.outputs import are_here, outputs
from argus.suite.recipes.requests import FailureRequest
from argus.suite.recipes.sources import Figures, Source

OF_INDEX = "corpus."
"""What tables begin with that need the index of a search."""
NO_INDEX = "it needs the index that was searched, which published outputs come without"
NO_PSEUDO_QUERY = (
    "the model that was trained here wrote no pseudo-query, so that its answers are SEAL's; train "
    "it longer (--train-minutes)"
)


class OfFailures(Source[FailureRequest]):
    """Tables of `argus generative analyse`, of published outputs or of ones made here."""

    def lacking(self, request: FailureRequest) -> str:
        """See `Source.lacking`. What only a run can tell, such as too few questions, it tells."""
        return NO_INDEX if request.table.startswith(OF_INDEX) and are_here(self.setting) else ""

    def is_sure(self, request: FailureRequest) -> bool:
        """See `Source.is_sure`: groups may have too few questions."""
        return False

    def measure(self, requests: Sequence[FailureRequest]) -> Figures:
        """See `Source.measure`."""
        from argus.generative.failures.jobs.analyse import analyse_failures

        made = outputs(self.setting)
        summary = analyse_failures(
            made.files, config=made.config, qrels=made.qrels, out=self.setting.home / "failures"
        ).summary
        systems = dict(zip(("seal", "minder"), summary["systems"], strict=True))
        figures: Figures = {r: _value(r, dict(systems[r.output]["figures"])) for r in requests}
        if made.here and is_missing(systems["minder"]["figures"]["scoring"]["query_ngrams"]):
            figures |= {r: NO_PSEUDO_QUERY for r in requests if r.output == "minder"}
        return figures


def _value(request: FailureRequest, figures: Mapping[str, object]) -> float | str:
    part, _, name = request.table.partition(".")
    section = figures[part]
    assert isinstance(section, Mapping)
    table = section[name]
    if "not_applicable" in table:
        return str(table["not_applicable"])
    column = table["columns"].index(request.value)
    row = next((r for r in table["rows"] if request.line in (f"{r[0]}", f"{r[0]} {r[1]}")), None)
    value = None if row is None else row[column]
    return f"no {request.line} in it" if value is None else float(value)
