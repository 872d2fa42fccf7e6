"""`argus research probe fit`: train models that predict the RPS of an entity from its vector.

RPS is the probability that a search finds the entity, and a probe is such a regression model (ARGUS
§4). In: the folder of `argus research audit`. Several families and settings are fitted
(`argus.retrievability.probes.models`), one is chosen by the validation error, and reported once on
entities that no fit has seen (docs/score.md). Out: probe.json with weights, for
`argus research probe predict` and `argus research diagnose`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow as pa

from argus.data.folders import ArtifactFolder
from argus.data.provenance import content_hash
from argus.data.reading import parse_json
from argus.data.tables import read_table
from argus.data.types import FloatArray
from argus.data.writing import one_writer, write_whole
from argus.extras import naming_extras
from argus.jobs.result import Result
from argus.jobs.workspace import Record
from argus.progress import progress
from argus.reports import write_report
from argus.reports.figures import BAND_COLOURS, INK, framed
from argus.reports.section import Section, table
from argus.retrievability import rps
from argus.retrievability.config import ProbeConfig
from argus.retrievability.probes.data import (
    SHARES,
    TEST,
    TRAIN,
    VALIDATION,
    Audited,
    measure,
    read_audit,
    split_entities,
)
from argus.retrievability.probes.models import Floats, Model, import_xgboost
from argus.retrievability.probes.probe import QUANTILE, Probe, fit_domain, save_probe
from argus.settings import Option, Writes

HOME = "probe"  # folder of the fitted probe and its trials within the results
Parameters = dict[str, float | bool]
Parts = Mapping[str, tuple[FloatArray, Floats]]
"""Vectors and RPS of each split, ordered by id (batches of networks go by row)."""
# ARGUS §C.1: 20, 729 (2,187 with the numbers of trees) and 243 settings. `distilled` is ours.
FULL: Mapping[str, Mapping[str, Sequence[float | bool]]] = {
    "ridge": {"alpha": [10.0**e for e in range(-6, 4)], "standardize": [False, True]},
    "xgboost": {
        # 300, 600 and 1,000 trees are prefixes of one run, of which early stopping takes the best.
        "n_estimators": [1000],
        "max_depth": [4, 6, 8],
        "learning_rate": [0.03, 0.05, 0.1],
        "subsample": [0.7, 0.9, 1.0],
        "colsample_bytree": [0.7, 0.9, 1.0],
        "min_child_weight": [1, 5, 10],
        "reg_lambda": [0, 1, 10],
        # §C.1 names no number of bins: the trees of 64 err as those of 256, at half their time.
        "max_bin": [64],
    },
    "mlp": {
        "width": [256, 512, 1024],
        "depth": [1, 2, 3],
        "dropout": [0.0, 0.1, 0.2],
        "learning_rate": [1e-4, 3e-4, 1e-3],
        "batch_size": [256, 512, 1024],
    },
    "distilled": {"width": [256], "depth": [2], "dropout": [0.0, 0.05, 0.1]},
}

# Points of the full grid, trees on histograms of 64 bins. Ridge is swept whole: it is cheap.
# Networks are 256 wide, so that a quick probe is half a megabyte. On FB15k-237 with MiniLM 512 and
# 1,024 units lower the validation RMSE by 0.001 at two to seven times the size.
QUICK: dict[str, list[Parameters]] = {
    "xgboost": [
        {"n_estimators": 300, "max_depth": 4, "learning_rate": 0.1, "subsample": 0.7,
         "colsample_bytree": 0.7, "min_child_weight": 5, "reg_lambda": 1, "max_bin": 64},
        {"n_estimators": 300, "max_depth": 6, "learning_rate": 0.05, "subsample": 0.7,
         "colsample_bytree": 0.7, "min_child_weight": 10, "reg_lambda": 10, "max_bin": 64},
    ],
    "mlp": [
        {"width": 256, "depth": 1, "dropout": 0.2, "learning_rate": 1e-3, "batch_size": 512},
        {"width": 256, "depth": 2, "dropout": 0.1, "learning_rate": 1e-3, "batch_size": 512},
        {"width": 256, "depth": 2, "dropout": 0.2, "learning_rate": 3e-4, "batch_size": 256},
        {"width": 256, "depth": 2, "dropout": 0.2, "learning_rate": 1e-3, "batch_size": 512},
        {"width": 256, "depth": 2, "dropout": 0.2, "learning_rate": 1e-3, "batch_size": 1024},
    ],
    "distilled": [{"width": 256, "depth": 2, "dropout": 0.05}],
}  # fmt: skip


@dataclass(frozen=True)
class Trial:
    """One setting, fitted on the training split and scored on the validation split.

    key: hash of training and validation data, family, parameters and seed. iterations: epochs or
    trees of the best model. seconds: processor time, all threads together.
    """

    key: str
    family: str
    parameters: Parameters
    validation_rmse: float
    iterations: int
    seconds: float


@dataclass(frozen=True, repr=False)
class ProbeResult(Result):
    """Result of a fit. Everything in it is also in `folder`. summary: as follows.

    k, pool, pooling: of the audit.
    family: family with the lowest validation RMSE.
    parameters: its parameters.
    iterations: steps that fitting took.
    trials: settings that were tried.
    grid: grid of settings: full or quick.
    entities: train, validation, test: entities per split. abstained_on_test: entities of the test
    split of which the probe says nothing.
    table: baselines, and the best of each family (ARGUS Table 3): family, parameters,
    validation_rmse, and test, as `data.measure` returns it.
    test: measures on the test entities.
    test_in_domain: the same over those inside its region. None without any.
    domain: threshold: largest score of an entity that is inside. quantile: share of the validation
    entities that is inside.
    label_std: standard deviation of the RPS of the test entities: the RMSE of knowing their mean.
    """

    TABLES = ("table", "trials")
    folder: Path
    report: Path
    summary: dict[str, Any]
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
        yield from headline(self.summary)
        yield f"probe: {self.folder / HOME}"


@naming_extras()
@one_writer
def fit_probe(
    audit: Path | str,
    *,
    out: Annotated[Path | str | None, Writes(lambda options: options["audit"])] = None,
    config: ProbeConfig | None = None,
    fresh: Annotated[bool, Option(("--fresh/--resume",))] = False,
) -> ProbeResult:
    """Fit probes to an audit, choose by validation error, report on held-out entities (ARGUS §4).

    RPS measures reachability; which real questions fail it does not tell. Writes probe/ (the probe,
    and trials.jsonl as trials finish), trials.parquet, predictions.parquet, summary.json,
    manifest.json and report.html. A run that was stopped goes on where it was.

    out: folder for the results, by default the audit's own. Trials of an interrupted run on the
    same data are used again unless `fresh`. Raises InputError for a folder of no audit, for fewer
    scored entities than can be split, and for the family xgboost without its extra.

    Args:
        audit: Folder that argus research audit wrote.
        out: Folder for the results; default: the audit's.
        fresh: Forget the trials of earlier runs first.
    """
    config = config or ProbeConfig()
    if "xgboost" in config.families:
        import_xgboost()
    audit = Path(audit)
    audited = read_audit(audit)
    split = split_entities(audited.ids, audited.keys, seed=config.seed)
    parts = {name: (audited.vectors[split == name], audited.rps[split == name]) for name in SHARES}
    folder = ArtifactFolder(Path(out) if out is not None else audit)
    inputs = {name: facts["file"] for name, facts in audited.origin["inputs"].items()}
    record = Record(
        "probe",
        {**asdict(config), "audit": str(audit), "limit": audited.origin["limit"]},
        inputs | {"scores": audit / "retrievability.parquet"},
    )
    record.encoder["fingerprint"] = audited.fingerprint
    record.open(folder, about=[audit])
    ledger = folder.own(HOME) / "trials.jsonl"
    if fresh:
        ledger.unlink(missing_ok=True)
    with record.timed("fitting"):
        trials, best = sweep(parts, config, ledger)
    with record.timed("reporting"):
        probe, summary = _conclude(audited, parts, trials, best, config)
        save_probe(probe, folder / HOME)
        rows = [asdict(one) | {"parameters": json.dumps(one.parameters)} for one in trials]
        folder.write_table("trials", pa.Table.from_pylist(rows).drop_columns(["key"]))
        test = np.flatnonzero(split == TEST)
        folder.write_table("predictions", _predictions_table(audited, test, probe))
    folder.write_results("probe", summary, record.manifest(summary["entities"]))
    return ProbeResult(folder.path, write_report(folder.path), summary, probe)


def sweep(
    parts: Parts, config: ProbeConfig, ledger: Path
) -> tuple[list[Trial], dict[str, tuple[Trial, Model]]]:
    """Fit every setting that `config` names. Reads only the training and the validation split.

    Returns all trials, and of each family the one with the lowest validation RMSE with its model.
    ledger: JSON lines, one per finished trial. Those of the same data and seed are not repeated, so
    a killed sweep loses the trial it was in. Settings are tried in the order of their hashes, which
    is none: the time left is told well, and a part of a grid is a random draw of it.
    """
    from argus.retrievability.probes.models import FAMILIES, validation_rmse

    train = parts[TRAIN][0].astype(np.float64), parts[TRAIN][1]
    validation, seed = parts[VALIDATION], config.seed

    def fit(key: str, family: str, parameters: Parameters) -> tuple[Trial, Model]:
        start = time.process_time()
        model, iterations = FAMILIES[family](train, validation, seed=seed, **parameters)
        rmse, seconds = validation_rmse(model, validation), time.process_time() - start
        return Trial(key, family, parameters, rmse, iterations, round(seconds, 3)), model

    arrays = (np.ascontiguousarray(a).data for n in (TRAIN, VALIDATION) for a in parts[n])
    origin = content_hash(*arrays)
    grid: dict[str, tuple[str, Parameters]] = {}
    for family in config.families:
        axes = FULL[family]
        settings = [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]
        for parameters in settings if config.full else QUICK.get(family, settings):
            text = json.dumps(parameters, sort_keys=True)
            grid[content_hash(origin, family, text, str(seed)).hex()] = family, parameters
    finished: dict[str, Trial] = {}
    lines = ledger.read_text(errors="replace").splitlines() if ledger.is_file() else []
    for line in lines:
        with suppress(ValueError, TypeError):  # damaged: it is fitted again
            trial = Trial(**parse_json(line))
            finished[trial.key] = trial
    best: dict[str, tuple[Trial, Model | None]] = {}
    ledger.parent.mkdir(parents=True, exist_ok=True)
    with progress("fitting probes", len(grid)) as advance:
        for key in sorted(grid):
            family, model = grid[key][0], None
            if key not in finished:
                finished[key], model = fit(key, *grid[key])
                every = "".join(json.dumps(asdict(trial)) + "\n" for trial in finished.values())
                write_whole(ledger, every)
            rmse = finished[key].validation_rmse
            if family not in best or rmse < best[family][0].validation_rmse:
                best[family] = finished[key], model
            advance(1)
    fitted = {}
    for family in config.families:
        trial, model = best[family]
        fitted[family] = trial, model or fit(trial.key, family, trial.parameters)[1]
    return [finished[key] for key in grid], fitted


def _conclude(
    audited: Audited,
    parts: Parts,
    trials: Sequence[Trial],
    best: Mapping[str, tuple[Trial, Model]],
    config: ProbeConfig,
) -> tuple[Probe, dict[str, Any]]:
    """Score the best of each family on the test split, once. Build the probe of the winner.

    Ties go to the family asked for first.
    """
    winner = min(best, key=lambda family: best[family][0].validation_rmse)
    trial, model = best[winner]
    domain = fit_domain(parts[TRAIN][0], parts[VALIDATION][0])
    vectors, labels = parts[TEST]
    mean = float(parts[TRAIN][1].mean())
    rows: list[dict[str, Any]] = [
        {
            "family": name,
            "parameters": {},
            "validation_rmse": measure(held, np.full(len(held), constant))["rmse"],
            "test": measure(labels, np.full(len(labels), constant)),
        }
        for name, constant in (("all zero", 0.0), ("all one", 1.0), ("mean", mean))
        for held in [parts[VALIDATION][1]]
    ]
    for family, (one, fitted) in best.items():
        predicted = np.clip(fitted.predict(vectors), 0, 1)
        rmse = round(one.validation_rmse, 6)
        row = {"family": family, "parameters": one.parameters, "validation_rmse": rmse}
        rows.append({**row, "test": measure(labels, predicted)})
    test = next(row["test"] for row in rows if row["family"] == winner)
    inside = domain.inside(domain.scores(vectors))
    predicted = np.clip(model.predict(vectors[inside]), 0, 1)
    counts = {name: len(parts[name][1]) for name in SHARES}
    probe = Probe(
        model, domain, fingerprint=audited.fingerprint, pooling=audited.pooling,
        dim=vectors.shape[1], k=audited.k, pool=audited.pool, parameters=trial.parameters,
        training={
            "seed": config.seed,
            "entities": counts,
            "mean_rps": round(mean, 6),
            "inputs": {
                name: facts | {"file": facts["file"].name}
                for name, facts in audited.origin["inputs"].items()
            },
            "relations": Path(str(audited.origin["relations"])).name,
        },
        metrics={"validation_rmse": round(trial.validation_rmse, 6), "test": test},
    )  # fmt: skip
    return probe, {
        **{name: getattr(probe, name) for name in ("k", "pool", "pooling", "family", "parameters")},
        "iterations": trial.iterations,
        "label_std": round(float(labels.std()), 6),
        "trials": len(trials),
        "grid": "full" if config.full else "quick",
        "entities": {**counts, "abstained_on_test": int((~inside).sum())},
        "table": rows,
        "test": test,
        "test_in_domain": measure(labels[inside], predicted) if inside.any() else None,
        "domain": {"threshold": domain.threshold, "quantile": QUANTILE},
    }


def _predictions_table(audited: Audited, test: np.ndarray, probe: Probe) -> pa.Table:
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
    measured, vectors = audited.rps[test], audited.vectors[test]
    estimates, prediction = probe.estimate(vectors), probe.predict(vectors)
    return pa.table(
        {
            "id": pa.array([audited.ids[i] for i in test], pa.string()),
            "label": pa.array([audited.labels[i] for i in test], pa.string()),
            "rps": pa.array(measured, pa.float64()),
            "related": pa.array(audited.related[test], pa.int64()),
            "predicted": pa.array(estimates, pa.float64()),
            "residual": pa.array(measured - estimates, pa.float64()),
            "band": pa.array(rps.band(measured).tolist(), pa.string()),
            "predicted_band": pa.array(rps.band(estimates).tolist(), pa.string()),
            "domain_score": pa.array(prediction.domain_score, pa.float64()),
            "state": pa.array(prediction.states.tolist(), pa.string()),
        }
    )


# The measures of ARGUS Tables 1 and 3: how lines and the report head them.
MEASURES = {
    "rmse": ("RMSE", "RMSE"), "mae": ("MAE", "MAE"), "pearson": ("Pearson", "Pearson"),
    "spearman": ("Spearman", "Spearman"), "macro_f1": ("macro-F1", "macro F1"),
    "macro_recall": ("macro-R", "macro recall"), "macro_precision": ("macro-P", "macro precision"),
    "weighted_precision": ("weigh.-P", "weighted precision"),
    "weighted_f1": ("weigh.-F1", "weighted F1"), "accuracy": ("accuracy", "accuracy"),
}  # fmt: skip
CELLS = 40  # cells of the joint density along each axis
DOTTED = {"color": INK, "width": 1, "dash": "dot"}


def headline(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield the table of the fit, which family was chosen, and the spread of its labels."""
    yield f"{'':<9}" + "".join(f"{short:>10}" for short, _ in MEASURES.values())
    for row in summary["table"]:
        text = "".join(f"{_digits(row['test'][name]):>10}" for name in MEASURES)
        yield f"{row['family']:<9}{text}"
    counts = summary["entities"]
    yield (
        f"chosen by validation RMSE: {summary['family']} of {summary['trials']} settings; measured "
        f"on {counts['test']:,} entities that none of them saw, {counts['abstained_on_test']:,} of "
        "them beyond its region"
    )
    yield f"for reference: labels have a standard deviation of {summary['label_std']:.3f}"


def section(folder: Path, summary: Mapping[str, Any]) -> Section:
    """Build the section of a fit from predictions.parquet: families, and calibration."""
    rows = read_table(folder / "predictions.parquet", columns=["rps", "predicted"])
    measured, predicted = rows["rps"].to_numpy(), rows["predicted"].to_numpy()
    # Joint density of predicted (x) and measured (y) RPS. On the diagonal they agree.
    edges = np.linspace(0, 1, CELLS + 1)
    counts, _, _ = np.histogram2d(measured, predicted, bins=[edges, edges])
    middles = ((edges[:-1] + edges[1:]) / 2).round(4).tolist()
    heat = {
        "type": "heatmap", "x": middles, "y": middles,
        # Counts span decades. The root shows the sparse cells, the hover says the count.
        "z": np.sqrt(counts).round(3).tolist(),
        "text": counts.astype(int).tolist(),
        "hovertemplate": "predicted %{x:.2f}, measured %{y:.2f}: %{text} entities<extra></extra>",
        "colorscale": [[0, "rgba(42,111,176,0)"], [1, BAND_COLOURS["high"]]],
        "showscale": False,
    }  # fmt: skip
    diagonal = {
        "type": "scatter", "mode": "lines", "x": [0, 1], "y": [0, 1], "line": DOTTED,
        "hoverinfo": "skip", "showlegend": False,
    }  # fmt: skip
    density = framed(
        [heat, diagonal], "predicted RPS", "measured RPS", {}, xrange=[0, 1], yrange=[0, 1]
    )
    families = table(
        {"probe": "text", **dict.fromkeys((long for _, long in MEASURES.values()), "text")},
        [
            [row["family"], *(_digits(row["test"][name]) for name in MEASURES)]
            for row in summary["table"]
        ],
    )
    return Section(
        {"probe_density": density},
        {"probe": families},
        f"{summary['family']}: predicted and measured RPS of held-out entities correlate at "
        f"{_digits(summary['test']['pearson'])} (Pearson), RMSE {summary['test']['rmse']:.3f}",
    )


def _digits(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
