"""Fit probes to an audit, choose one, report on entities it has not seen (docs/methods.md)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from argus.data.folders import ArtifactFolder
from argus.data.tables import read_table
from argus.data.writing import one_writer
from argus.extras import naming_extras
from argus.jobs.result import Result
from argus.jobs.workspace import Record
from argus.reports import write_report
from argus.retrievability import rps
from argus.retrievability.probes import Probe, save_probe
from argus.retrievability.probes.config import ProbeConfig
from argus.retrievability.probes.data import Audited, read_audit
from argus.retrievability.probes.domain import QUANTILE, fit_domain
from argus.retrievability.probes.metrics import (
    LabelFigures,
    Measures,
    baselines,
    describe_labels,
    measure,
)
from argus.retrievability.probes.models import Parameters, import_xgboost
from argus.retrievability.probes.split import SHARES, TEST, TRAIN, VALIDATION, split_entities
from argus.retrievability.probes.summary import (
    FamilyRow,
    ProbeSummary,
    SplitCounts,
    Training,
    fit_headline,
)

if TYPE_CHECKING:
    from argus.retrievability.probes.sweep import Labelled, Sweep


HOME = "probe"
"""Folder of the fitted probe and its trials within the results."""


@dataclass(frozen=True, repr=False)
class ProbeResult(Result):
    """Result of a fit. Everything in it is also in `folder`."""

    TABLES = ("table", "trials")
    folder: Path
    report: Path
    summary: ProbeSummary
    probe: Probe

    @property
    def table(self) -> pa.Table:
        """One row per held-out entity: its RPS and the prediction."""
        return read_table(self.folder / "predictions.parquet")

    @property
    def trials(self) -> pa.Table:
        """One row per setting that was tried."""
        return read_table(self.folder / "trials.parquet")

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        yield from fit_headline(self.summary)
        yield f"probe: {self.folder / HOME}"


@naming_extras()
@one_writer
def fit_probe(
    audit: Path | str,
    *,
    out: Path | str | None = None,
    config: ProbeConfig | None = None,
    fresh: bool = False,
) -> ProbeResult:
    """Fit probes to the audit in a folder, choose by validation RMSE, report on test (ARGUS §4).

    out: folder for the results, by default the audit's own. Trials of an interrupted run on the
    same data are used again unless `fresh`. Raises InputError for a folder of no audit, for fewer
    scored entities than can be split, and for the family xgboost without its extra.
    """
    from argus.retrievability.probes.sweep import Labelled, sweep

    config = config or ProbeConfig()
    if "xgboost" in config.families:
        import_xgboost()
    audit = Path(audit)
    audited = read_audit(audit)
    split = split_entities(audited.ids, audited.keys, seed=config.seed)
    folder = ArtifactFolder(Path(out) if out is not None else audit)
    record = _record(audited, audit, config)
    record.open(folder, about=[audit])
    ledger = folder.own(HOME) / "trials.jsonl"
    if fresh:
        ledger.unlink(missing_ok=True)
    data = Labelled(audited.vectors, audited.rps, split)
    with record.timed("fitting"):
        trials = sweep(data, config, ledger)
    with record.timed("reporting"):
        probe, summary = _conclude(audited, data, trials, config)
        save_probe(probe, folder / HOME)
        _write_tables(folder, audited, data, trials, probe)
    folder.write_results("probe", summary, record.manifest(summary["entities"]))
    return ProbeResult(folder.path, write_report(folder.path), summary, probe)


def _record(audited: Audited, audit: Path, config: ProbeConfig) -> Record:
    inputs = {name: Path(input_["file"]) for name, input_ in audited.origin["inputs"].items()}
    limit = audited.origin["config"].get("limit")
    record = Record(
        "probe",
        {**asdict(config), "audit": str(audit), "limit": limit},
        inputs | {"scores": audit / "retrievability.parquet"},
    )  # fmt: skip
    record.encoder["fingerprint"] = audited.fingerprint
    return record


def _conclude(
    audited: Audited, data: Labelled, trials: Sweep, config: ProbeConfig
) -> tuple[Probe, ProbeSummary]:
    """Score the best of each family on the test split, once. Build the probe of the winner."""
    trial, estimator = trials.best[trials.winner]
    domain = fit_domain(data.part(TRAIN)[0], data.part(VALIDATION)[0])
    vectors, labels = data.part(TEST)
    rows = _comparison(data, trials)
    test = next(row["test"] for row in rows if row["family"] == trials.winner)
    inside = domain.inside(domain.scores(vectors))
    summary: ProbeSummary = {
        "k": audited.k,
        "pool": audited.pool,
        "pooling": audited.pooling,
        "family": trials.winner,
        "parameters": trial.parameters,
        "iterations": trial.iterations,
        "trials": len(trials.trials),
        "grid": "full" if config.full else "quick",
        "entities": {**_per_split(data), "abstained_on_test": int((~inside).sum())},
        "table": rows,
        "test": test,
        "test_in_domain": measure(
            labels[inside], estimator.predict(vectors[inside])
        ).rounded() if inside.any() else None,
        "domain": {"threshold": domain.threshold, "quantile": QUANTILE},
        "labels": _labels(audited, data),
    }  # fmt: skip
    probe = Probe(
        estimator.model_, domain, fingerprint=audited.fingerprint, pooling=audited.pooling,
        dim=vectors.shape[1], k=audited.k, pool=audited.pool,
        parameters=trial.parameters, training=_training(audited, data, config),
        metrics={"validation_rmse": round(trial.validation_rmse, 6), "test": test},
    )  # fmt: skip
    return probe, summary


def _training(audited: Audited, data: Labelled, config: ProbeConfig) -> Training:
    """Return the probe's training data, for its probe.json. No path of this machine."""
    return {
        "seed": config.seed,
        "entities": _per_split(data),
        "mean_rps": round(float(data.part(TRAIN)[1].mean()), 6),
        "inputs": {
            name: {"file": Path(facts["file"]).name, "sha256": facts["sha256"]}
            for name, facts in audited.origin["inputs"].items()
        },
        "relations": Path(str(audited.origin["config"].get("relations"))).name,
    }


def _per_split(data: Labelled) -> SplitCounts:
    train, validation, test = (int((data.split == name).sum()) for name in SHARES)
    return {"train": train, "validation": validation, "test": test}


def _comparison(data: Labelled, trials: Sweep) -> list[FamilyRow]:
    """Return the rows of ARGUS Table 3: baselines, then the best of each family."""
    vectors, labels = data.part(TEST)
    mean = float(data.part(TRAIN)[1].mean())
    on_validation = baselines(data.part(VALIDATION)[1], mean)
    rows = [
        _row(name, {}, on_validation[name].rmse, measures)
        for name, measures in baselines(labels, mean).items()
    ]
    for family, (trial, estimator) in trials.best.items():
        measures = measure(labels, estimator.predict(vectors))
        rows.append(_row(family, trial.parameters, trial.validation_rmse, measures))
    return rows


def _row(family: str, parameters: Parameters, validation_rmse: float, test: Measures) -> FamilyRow:
    return {
        "family": family,
        "parameters": parameters,
        "validation_rmse": round(validation_rmse, 6),
        "test": test.rounded(),
    }


def _labels(audited: Audited, data: Labelled) -> LabelFigures:
    """Return the spread of the test entities' labels, to read the errors against."""
    test = data.split == TEST
    parts = (audited.rps, audited.related, audited.hit_variance)
    return describe_labels(*(part[test] for part in parts)).rounded()


def _write_tables(
    folder: ArtifactFolder, audited: Audited, data: Labelled, trials: Sweep, probe: Probe
) -> None:
    """Write trials.parquet, and predictions.parquet of the test entities."""
    folder.write_table("trials", _trials_table(trials))
    folder.write_table("predictions", _predictions_table(audited, data, probe))


def _trials_table(trials: Sweep) -> pa.Table:
    """Return one row per setting of the grid that was tried.

    family: ridge, xgboost, mlp or distilled.
    parameters: its settings, as JSON.
    validation_rmse: RMSE on the validation entities.
    iterations: steps or trees of the fit.
    """
    return pa.table(
        {
            "family": pa.array([t.family for t in trials.trials], pa.string()),
            "parameters": pa.array([json.dumps(t.parameters) for t in trials.trials], pa.string()),
            "validation_rmse": pa.array([t.validation_rmse for t in trials.trials], pa.float64()),
            "iterations": pa.array([t.iterations for t in trials.trials], pa.int64()),
            "seconds": pa.array([t.seconds for t in trials.trials], pa.float64()),
        }
    )


def _predictions_table(audited: Audited, data: Labelled, probe: Probe) -> pa.Table:
    """Return one row per entity of the test split, which no trial saw.

    rps: RPS that the audit measured.
    related: related entities that the audit measured it with.
    predicted: RPS that the probe predicts.
    residual: measured less predicted RPS.
    band: low, medium or high, by the measured RPS.
    predicted_band: the same by the predicted one.
    domain_score: how far from the training entities. Above the threshold the probe abstains.
    state: predicted or abstained.
    """
    test = np.flatnonzero(data.split == TEST)
    estimates = probe.estimate(audited.vectors[test])
    prediction = probe.predict(audited.vectors[test])
    return pa.table(
        {
            "id": pa.array([audited.ids[i] for i in test], pa.string()),
            "label": pa.array([audited.labels[i] for i in test], pa.string()),
            "rps": pa.array(audited.rps[test], pa.float64()),
            "related": pa.array(audited.related[test], pa.int64()),
            "predicted": pa.array(estimates, pa.float64()),
            "residual": pa.array(audited.rps[test] - estimates, pa.float64()),
            "band": pa.array(rps.band(audited.rps[test]).tolist(), pa.string()),
            "predicted_band": pa.array(rps.band(estimates).tolist(), pa.string()),
            "domain_score": pa.array(prediction.domain_score, pa.float64()),
            "state": pa.array(prediction.states.tolist(), pa.string()),
        }
    )
