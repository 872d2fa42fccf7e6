"""What measures CAR's vocabulary gap and the harm of stale context in recipes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from argus.suite.recipes.benchmarks import benchmark_lacking, open_benchmark_of
from argus.suite.recipes.requests import GapRequest, HarmRequest
from argus.suite.recipes.sources import Figures, Source, model_lacking, short

NO_MODEL = (
    "no language model is named: --model NAME (the paper's is gpt-4o-mini), --base-url and "
    "--api-key-env as for argus authority harm"
)
ONE_FIGURE = "a share of questions, under the other column"


class OfGap(Source[GapRequest]):
    """Figures of `argus authority gap`: one measuring per benchmark and file of questions."""

    def lacking(self, request: GapRequest) -> str:
        """See `Source.lacking`."""
        if request.positive and request.side == "controlling":
            return ONE_FIGURE
        return benchmark_lacking(request)

    def run_of(self, request: GapRequest) -> str:
        """See `Source.run_of`."""
        return f"{request.benchmark} {request.released} {request.queries}"

    def measure(self, requests: Sequence[GapRequest]) -> Figures:
        """See `Source.measure`."""
        from argus.authority.benchmarks.gap import vocabulary_gap

        benchmark, queries = open_benchmark_of(requests[0])
        summary = vocabulary_gap(benchmark, queries=queries)
        of = {figures["measure"]: figures for figures in summary["measures"]}
        figures: Figures = {}
        for request in requests:
            row = of[request.gap]
            share = row["positive"]
            if request.positive:
                figures[request] = "no question" if share is None else 100 * share["value"]
            elif request.side == "superseded":
                figures[request] = row["superseded"]
            else:
                figures[request] = row["controlling"]
        return figures


class OfHarm(Source[HarmRequest]):
    """Shares of `argus authority harm`: one run per benchmark, question and k, all its systems."""

    def lacking(self, request: HarmRequest) -> str:
        """See `Source.lacking`."""
        from argus.authority.benchmarks.systems import SYSTEMS

        why = benchmark_lacking(request)
        if not why and SYSTEMS[request.system].dense:
            why = model_lacking(request.encoder)
        return why or ("" if self.setting.model else NO_MODEL)

    def is_sure(self, request: HarmRequest) -> bool:
        """See `Source.is_sure`: a model may give no answer."""
        return False

    def run_of(self, request: HarmRequest) -> str:
        """See `Source.run_of`."""
        return repr(replace(request, system="", verdict="correct"))

    def measure(self, requests: Sequence[HarmRequest]) -> Figures:
        """See `Source.measure`."""
        from argus.authority.harm.config import HarmSettings
        from argus.authority.harm.job import measure_harm

        run, model = requests[0], self.setting.model
        assert model is not None, "lacking() says so"
        systems = tuple(dict.fromkeys(request.system for request in requests))
        benchmark, _ = open_benchmark_of(run)
        result = measure_harm(
            benchmark, out=self.setting.home / f"harm-{short(self.run_of(run))}",
            encoder=run.encoder,
            config=HarmSettings(k=run.k, systems=systems, ask=run.ask).by(model, None),
            store=self.setting.vectors(run.encoder),
        )  # fmt: skip
        arms = {arm["arm"]: arm for arm in result.summary["arms"]}
        figures: Figures = {}
        for request in requests:
            share = arms[request.system][request.verdict]
            figures[request] = "no answer was judged" if share is None else 100 * share["value"]
        return figures
