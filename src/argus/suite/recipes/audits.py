"""What recipes measure of entities: audits, and probes."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import numpy.typing as npt

from argus.data.folders import is_current, read_section
from argus.data.types import FloatArray
from argus.retrievability.probes.summary import ProbeSummary
from argus.suite.recipes.requests import KnowledgeRequest, ProbeRequest, ReachRequest
from argus.suite.recipes.setting import Setting, path_lacking
from argus.suite.recipes.sources import Figures, Source, model_lacking, short

K, POOL = 50, 800
"""Of the paper's audits."""
BEST = "best"
NO_XGBOOST = "xgboost is not installed: pip install 'argus-retrieval[probes]'"
OF_LDA = ("held out", "commonest")
TOO_FEW = "too few entities for it"
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
    """Values of ARGUS' figures, of the ranks and vectors that an audit keeps."""

    def lacking(self, request: ReachRequest) -> str:
        """See `Source.lacking`."""
        return _lacking(request)

    def is_sure(self, request: ReachRequest) -> bool:
        """See `Source.is_sure`: entities may be too few for a pool or an LDA."""
        return request.pool <= POOL and request.reach not in OF_LDA

    def run_of(self, request: ReachRequest) -> str:
        """See `Source.run_of`."""
        return f"{request.knowledge} {request.encoder} {request.pooling}"

    def measure(self, requests: Sequence[ReachRequest]) -> Figures:
        """See `Source.measure`."""
        from argus.retrievability.pair_table import FILE, read_pairs
        from argus.retrievability.probes.data import read_audit
        from argus.retrievability.rps import score

        folder = _audited(requests[0], self.setting)
        audited = read_audit(folder)
        ranks = read_pairs(folder / FILE, audited.ids)
        figures: Figures = {}
        for k, pool in dict.fromkeys((request.k, request.pool) for request in requests):
            scores = score(ranks, len(audited.ids), k=k, pool=pool)
            rows = np.flatnonzero(scores.measured)
            asked = [r for r in requests if (r.k, r.pool) == (k, pool)]
            figures |= _reached(asked, scores.rps[rows], audited.vectors[rows])
        return figures


def _reached(
    requests: Sequence[ReachRequest], rps: npt.NDArray[np.float64], vectors: FloatArray
) -> Figures:
    """Return what is asked of entities at one k and N. rps: (n,); vectors: (n, dim)."""
    from argus.retrievability.geometry import project_bands
    from argus.retrievability.limits import PROJECTED
    from argus.retrievability.rps import band

    if not len(rps):
        return dict.fromkeys(requests, TOO_FEW)
    bands = band(rps)
    values: dict[str, float | str | None] = {
        "mean RPS": float(rps.mean()), "above half": float((rps > 0.5).mean()),
        **{name: float((bands == name).mean()) for name in ("low", "mid", "high")},
    }  # fmt: skip
    if any(request.reach in OF_LDA for request in requests):
        some = np.sort(np.random.default_rng(0).permutation(len(rps))[:PROJECTED])
        shown = project_bands(vectors[some], bands[some])
        of_lda = (None, None) if shown is None else (shown.accuracy, shown.majority)
        values |= dict(zip(OF_LDA, of_lda, strict=True))
    found = {request: values[request.reach] for request in requests}
    return {request: TOO_FEW if value is None else value for request, value in found.items()}


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
