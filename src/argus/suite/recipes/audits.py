"""What recipes measure of entities: audits, the figures over them, and probes."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from argus.data.manifest import is_current, read_section
from argus.retrievability.figures.summary import FiguresSummary, PanelFigures, RetrieverFigures
from argus.retrievability.probes.summary import ProbeSummary
from argus.suite.recipes.requests import KnowledgeRequest, ProbeRequest, ReachRequest
from argus.suite.recipes.setting import Setting, path_lacking
from argus.suite.recipes.sources import Figures, Source, model_lacking, short

K, POOL = 50, 800
"""Of the paper's audits."""
BEST = "best"
NO_XGBOOST = "xgboost is not installed: pip install 'argus-retrieval[probes]'"
CONSTANT = ("all zero", "all one", "mean")


def _lacking(request: KnowledgeRequest) -> str:
    return path_lacking(Path(request.knowledge)) or model_lacking(request.encoder)


def _audited(request: KnowledgeRequest, setting: Setting) -> Path:
    """Return the folder of an audit at the paper's k and N; all recipes share it."""
    from argus.retrievability.audit.config import AuditConfig
    from argus.retrievability.audit.job import audit

    one = f"{request.knowledge} {request.encoder} {request.pooling}"
    folder = setting.shared / "audits" / short(one)
    if not is_current(folder, "audit"):
        config = AuditConfig(k=(K,), pool=(POOL,), pooling=request.pooling)
        audit(
            request.knowledge, out=folder, encoder=request.encoder, config=config,
            store=setting.vectors(request.encoder),
        )  # fmt: skip
    return folder


class OfReach(Source[ReachRequest]):
    """Values of ARGUS' figures: a page per knowledge base, over all retrievers asked for."""

    def lacking(self, request: ReachRequest) -> str:
        """See `Source.lacking`."""
        return _lacking(request)

    def is_sure(self, request: ReachRequest) -> bool:
        """See `Source.is_sure`: entities may be too few for a pool or an LDA."""
        return request.reach in ("mean RPS", "low", "mid", "high")

    def run_of(self, request: ReachRequest) -> str:
        """See `Source.run_of`: figures are of one knowledge base."""
        return request.knowledge

    def measure(self, requests: Sequence[ReachRequest]) -> Figures:
        """See `Source.measure`."""
        from argus.retrievability.figures.config import FigureConfig
        from argus.retrievability.figures.job import audit_figures

        folders = {_name(request): _audited(request, self.setting) for request in requests}
        pools = tuple(sorted({POOL, *(request.pool for request in requests)}))
        summary = audit_figures(
            [f"{name}={folder}" for name, folder in folders.items()],
            out=self.setting.home / "figures" / Path(requests[0].knowledge).name,
            config=FigureConfig(k=K, pools=pools),
        ).summary  # fmt: skip
        return {request: _reached(request, summary) for request in requests}


def _name(request: ReachRequest) -> str:
    return f"{Path(request.encoder).name}, {request.pooling}"


def _reached(request: ReachRequest, summary: FiguresSummary) -> float | str:
    one = next(o for o in summary["retrievers"] if o["name"] == _name(request))
    if request.reach == "above half":
        return _above_half(request, one, summary["pools"][-1])
    if request.k != K:
        return f"nothing but the share above 0.5 is measured at another k than {K}"
    return _of_panel(request, next(p for p in one["panels"] if p["pool"] == request.pool))


def _above_half(request: ReachRequest, one: RetrieverFigures, last: int) -> float | str:
    curve, at = one["over_pool"], request.pool
    if request.k != K and request.pool == last:
        curve, at = one["over_k"], request.k
    elif request.k != K:
        return f"other values of k are measured at N={last}"
    if at not in curve["values"]:
        return "too few entities for it"
    return curve["share_above_half"][curve["values"].index(at)]


def _of_panel(request: ReachRequest, panel: PanelFigures) -> float | str:
    counts = panel["groups"]["counts"]
    values = {
        "mean RPS": panel["mean_rps"], "low": counts["low"] / panel["entities"],
        "mid": counts["mid"] / panel["entities"], "high": counts["high"] / panel["entities"],
        "held out": panel["accuracy"], "commonest": panel["majority"],
    }  # fmt: skip
    value = values[request.reach]
    return f"no LDA: {panel['method']}" if value is None else value


class OfProbes(Source[ProbeRequest]):
    """Measures of `argus probe fit` on held-out entities: one fit of the quick grid per encoder."""

    def lacking(self, request: ProbeRequest) -> str:
        """See `Source.lacking`."""
        if request.family in CONSTANT and request.measure in ("pearson", "spearman"):
            return "a constant has none"
        absent = "" if find_spec("xgboost") else NO_XGBOOST
        return _lacking(request) or absent

    def run_of(self, request: ProbeRequest) -> str:
        """See `Source.run_of`."""
        return f"{request.knowledge} {request.encoder} {request.pooling}"

    def measure(self, requests: Sequence[ProbeRequest]) -> Figures:
        """See `Source.measure`."""
        from argus.retrievability.probes.fit import fit_probe

        audited = _audited(requests[0], self.setting)
        out = self.setting.shared / "probes" / audited.name
        summary = read_section(ProbeSummary, out, "probe") if is_current(out, "probe") else None
        if summary is None:
            summary = fit_probe(audited, out=out).summary
        rows = {row["family"]: row["test"] for row in summary["table"]}
        rows[BEST] = summary["test"]
        figures: Figures = {}
        for request in requests:
            value = dict(rows[request.family])[request.measure]
            assert value is None or isinstance(value, float | int)
            figures[request] = "all its predictions are equal" if value is None else value
        return figures
