"""`argus research`: the methods of the papers, suites and published tables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from argus.cli import output
from argus.cli.groups import Entry, Group
from argus.cli.signatures import with_blocks
from argus.commands import command
from argus.jobs import options as o
from argus.llm.config import ModelOptions
from argus.settings import Gt, Option


def _prediction(result: Any, given: Mapping[str, Any]) -> str:
    from argus.verdict.results import Results

    results = Results.of(given["audit"])
    options = results.options_of("research probe predict")
    where = ["--corpus", results.corpus, *options, "--probe", result.folder]
    return command("research", "probe", "predict", *where)


probe = Group(
    "Predict how reachable entities are, before anything is indexed.",
    entries=(
        Entry(
            "fit", "argus.retrievability.probes.fit:fit_probe", "Fit probes to an audit.",
            example="argus research probe fit --audit report/ --families ridge", then=_prediction,
        ),
        Entry(
            "predict", "argus.retrievability.probes.predict:predict_rps",
            "Predict the RPS of entities from their vectors.",
            example="argus research probe predict --corpus docs.jsonl --out predicted/",
        ),
    ),
)  # fmt: skip


def _auditing(_result: Any, given: Mapping[str, Any]) -> str:
    return command("research", "audit", "--corpus", given["out"], "--out", "report/")


kb = Group(
    "Make knowledge bases: entities, first paragraphs, relations, aliases.",
    entries=(
        Entry(
            "build", "argus.kb.build:build_kb", "A knowledge base of dumps, triples, rows, pages.",
            example="argus research kb build --pages docs/ --out kb/", then=_auditing,
        ),
    ),
)  # fmt: skip
app = Group(
    "Measure and repair by the methods of the papers: entities, probes, needs, n-grams.",
    entries=(
        Entry(
            "audit", "argus.retrievability.audit:audit", "How reachable entities are (RPS).",
            example="argus research audit --corpus docs.jsonl --pool 100 --k 10 --out report/",
        ),
        Entry(
            "diagnose", "argus.remedies.diagnosis:diagnose", "Where the risk is, before indexing.",
            example="argus research diagnose --corpus docs.jsonl --kb kb.jsonl --out diagnosis/",
        ),
        Entry(
            "export", "argus.retrievability.exposure:export_probes",
            "Write what argus check asks, to be answered elsewhere.",
            example="argus research export --corpus docs.jsonl --out probes/",
        ),
        Entry("probe", "research:probe", "Learn to predict what comes back."),
        Entry("scenarios", "scenarios:app", "What documents are needed for."),
        Entry("generative", "generative:app", "N-gram retrieval, and why it fails."),
        Entry("authority", "authority:benchmarks", "Benchmarks of supersession, and its harm."),
        Entry(
            "suite", "argus.suite.job:run_suite", "Retrievers x remedies x tasks.",
            example="argus research suite suite.toml --out suite/",
        ),
        Entry(
            "reproduce", "research:reproduce", "A paper's table, beside ours.",
            example="argus research reproduce car-9 --out reproduced/",
        ),
        Entry("kb", "research:kb", "Knowledge bases of dumps, triples, pages."),
    ),
)  # fmt: skip


@with_blocks
def reproduce(
    name: Annotated[str | None, Option(argument="NAME")] = None,
    *,
    data: Path | None = None,
    train_minutes: Annotated[float, Gt(0)] = 4.0,
    model: ModelOptions,
    out: o.Out = o.OUT,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
) -> None:
    """Measure a published table as far as models and data are here, beside what was published.

    Recipes are the tables of four papers (ARGUS, SPIKE, the thesis on SEAL and MINDER, CAR), and
    the figures of ARGUS. A cell that cannot be measured here has its reason. Nothing is
    downloaded, and no language model is asked but the one of --model. Without a name all recipes
    are listed, with how many of their cells are measured here, and of how many more only a run can
    tell.

    Args:
        name: A recipe, such as car-9; without it all are listed.
        data: Folder of data sets; default: $ARGUS_SHARED/data, else shared/data.
        train_minutes: Of training, where the thesis' tables are made of a model trained here.
    """
    from argus.suite import reproduce as suite

    asked: dict[str, Any] = {"out": out, "data": data, "model": model.config()}
    if name is not None:
        result = suite.reproduce(name, minutes=train_minutes, fresh=fresh, **asked)
        return output.show(result, as_json=json)
    listed = suite.recipes(**asked)
    output.print_json(listed) if json else output.print_lines(suite.listed_lines(listed))
