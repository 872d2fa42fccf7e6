"""What measures the thesis' tables in recipes: the analysis of failures, judged where asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from argus.generative.failures.tables import is_missing
from argus.suite.recipes.outputs import are_here, outputs
from argus.suite.recipes.requests import FailureRequest
from argus.suite.recipes.sources import Failed, Figures, Source

OF_ANSWERS = ("annotation.", "generation.t07_answer_ngram")
"""Tables that need the questions' answers, by how their names begin."""
OF_INDEX = ("corpus.",)
OF_JUDGE = ("annotation.t10_verdicts", "annotation.t11_adjusted_hits")
"""The thesis' Tables 10 and 11: a language model says whether unannotated passages answer."""
NO_ANSWERS = (
    "the standard library's questions have no answers: DATA/thesis (seal.json and minder.json, "
    "with answers and passages) is not here"
)
NO_INDEX = "it needs the index that was searched, which published outputs come without"
NO_JUDGE = (
    "no language model is named: --model NAME, --base-url and --api-key-env as for --llm of "
    "argus generative analyse (the thesis names none)"
)
NO_PSEUDO_QUERY = (
    "the model that was trained here wrote no pseudo-query, so that its answers are SEAL's; train "
    "it longer (--train-minutes)"
)


class OfFailures(Source[FailureRequest]):
    """Tables of `argus generative analyse`, of published outputs or of ones made here."""

    def lacking(self, request: FailureRequest) -> str:
        """See `Source.lacking`. What only a run can tell, such as too few questions, it tells."""
        published = are_here(self.setting)
        if request.table.startswith(OF_ANSWERS) and not published:
            return NO_ANSWERS
        if request.table.startswith(OF_INDEX) and published:
            return NO_INDEX
        return NO_JUDGE if request.table in OF_JUDGE and self.setting.model is None else ""

    def is_sure(self, request: FailureRequest) -> bool:
        """See `Source.is_sure`: groups may have too few questions."""
        return False

    def measure(self, requests: Sequence[FailureRequest]) -> Figures:
        """See `Source.measure`."""
        from argus.generative.failures.jobs.analyse import analyse_failures

        made = outputs(self.setting)
        judged = [request for request in requests if request.table in OF_JUDGE]
        config = replace(made.config, llm=self.setting.model if judged else None)
        summary = analyse_failures(
            made.files, config=config, qrels=made.qrels, out=self.setting.home / "failures"
        ).summary
        systems = dict(zip(("seal", "minder"), summary["systems"], strict=True))
        figures: Figures = {r: _value(r, dict(systems[r.output]["figures"])) for r in requests}
        if made.here and is_missing(systems["minder"]["figures"]["scoring"]["query_ngrams"]):
            figures |= {r: NO_PSEUDO_QUERY for r in requests if r.output == "minder"}
        if summary["unjudged"]:
            figures |= dict.fromkeys(judged, Failed(summary["unjudged"]))
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
