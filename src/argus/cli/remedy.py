"""`argus remedy`: repair an index, and undo a repair."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from argus.cli import options as o
from argus.cli.config_options import with_blocks
from argus.cli.evaluate import print_change
from argus.cli.groups import Group, example
from argus.cli.model_options import LanguageModel, needs_model
from argus.engine.config import EngineConfig
from argus.errors import InputError
from argus.remedies.config import ExpandConfig
from argus.remedies.diagnosis.config import TAU
from argus.remedies.repair.config import ReferenceConfig, SynthesizeConfig, SynthesizeSettings
from argus.settings import Doc, Ge, Option, check_settings

if TYPE_CHECKING:
    from argus.jobs.heard import Answers
    from argus.llm import Estimate
    from argus.remedies.repair.receipt import RemedyResult
    from argus.remedies.repair.summary import Origin, RemedySummary

app = Group("Repair an index, with a receipt, and undo a repair.")

Index = Annotated[Path, Doc("Folder from argus index build."), Option(("--index",)), o.INDEX]


@dataclass(frozen=True, kw_only=True)
class Risk:
    """Options that say what is at risk in an index."""

    encoder: o.IndexEncoder = None
    device: o.Device = None
    probe: o.ProbeFolder = None
    tau: o.Tau = TAU

    def __post_init__(self) -> None:
        check_settings(self)

    def options(self) -> dict[str, Any]:
        """Return what a workflow is told of what is at risk."""
        return {f.name: getattr(self, f.name) for f in fields(self)}


@dataclass(frozen=True, kw_only=True)
class Proof:
    """Options that say what the receipt holds, and where it goes."""

    queries: Annotated[Path | None, Doc("Judged queries, for the receipt.")] = None
    qrels: Annotated[Path | None, Doc("Their judgements.")] = None
    corpus: Annotated[
        Path | None,
        Doc("Where titles are, to tell implicit questions apart."),
        o.CORPUS,
    ] = None
    k: Annotated[int, Ge(1), Doc("How far down a list counts.")] = 10
    out: Annotated[
        Path | None,
        Doc("Folder for the receipt; default INDEX/remedies/ID."),
    ] = None

    def options(self) -> dict[str, Any]:
        """Return what a workflow is told of the receipt."""
        return {f.name: getattr(self, f.name) for f in fields(self)}


@app.command()
@example("argus remedy expand --index index/ --kb kb.jsonl --tau 1")
@with_blocks
def expand(
    index: Index,
    reference: ReferenceConfig,
    risk: Risk,
    proof: Proof,
    expansion: ExpandConfig,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Add views that join documents at risk with what a knowledge base says of their entities.

    No language model is needed. The same repair is never added twice; `argus remedy rollback`
    takes it out again.
    """
    from argus.remedies.repair.expand import expand_index

    options = risk.options() | proof.options()
    _print(expand_index(index, reference=reference, config=expansion, **options), json)


@app.command()
@example("argus remedy synthesize --index index/ --kb kb.jsonl --tau 1")
@with_blocks
def synthesize(
    index: Index,
    reference: ReferenceConfig,
    risk: Risk,
    asked: LanguageModel,
    engine: EngineConfig | None,
    proof: Proof,
    estimate: Annotated[
        bool,
        Doc("Only say what would be asked and what it would cost."),
    ] = False,
    *,
    settings: SynthesizeSettings,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Add one text per document at risk, with short descriptions after first mentions.

    Without --model the knowledge base's own short descriptions are inserted. Whatever a model
    answers, only the document itself with descriptions of at most five words, that the knowledge
    base supports, is ever indexed; other answers are listed, and the original stays.
    """
    from argus.remedies.repair.synthesize import estimate_synthesis, synthesize_index

    synthesis = _synthesis(asked, settings)
    options: dict[str, Any] = {"reference": reference, "config": synthesis} | risk.options()
    if estimate:
        print_estimate(estimate_synthesis(index, **options), json)
        return
    _print(synthesize_index(index, **options, **proof.options(), engine=engine), json)


def _synthesis(asked: LanguageModel, settings: SynthesizeSettings) -> SynthesizeConfig:
    """Return the settings with their model; InputError for one that would change nothing."""
    model = asked.config()
    if model is None and settings.accept_unanswered:
        raise needs_model(["--accept-unanswered"])
    if model is not None and settings.min_similarity is not None:
        raise InputError(
            "--min-similarity with --model",
            expected="one of them: a model is shown the passages and told to check the context",
            fix="Leave --min-similarity out.",
            where="--min-similarity",
        )
    return settings.by(model)


def print_estimate(found: Estimate, as_json: bool) -> None:
    """Print what a run would ask and cost at most."""
    if as_json:
        o.print_json(asdict(found))
        return
    cost = ""
    if found.cost is not None and found.cost_at_most is not None:
        cost = f"; about {found.cost:.2f}, at most {found.cost_at_most:.2f}"
    typer.echo(
        f"{found.to_ask:,} of {found.prompts:,} prompts would be asked ({found.cached:,} are in "
        f"the ledger): {found.tokens_in:,} tokens in, at most {found.tokens_out_at_most:,} "
        f"out{cost}"
    )


@app.command()
@with_blocks
def rollback(
    remedy: Annotated[str, typer.Argument(help="Id of the remedy, as its receipt names it.")],
    index: Index,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Remove exactly the views that a remedy added."""
    from argus.remedies.repair.remedy import rollback as run

    note = run(index, remedy)
    if json:
        o.print_json(note)
        return
    typer.echo(f"removed {note['views_removed']:,} views of {remedy} from {index}")
    for other in note["relied_on_by"]:
        typer.echo(f"{other} left out views that this one held: run its command again to add them")


@app.command("list")
@example("argus remedy list --index index/")
@with_blocks
def list_(index: Index, json: o.AsJson = False, config: o.Config = None) -> None:
    """Show the remedies in an index, oldest first."""
    from argus.remedies.repair.remedy import list_remedies

    listed = list_remedies(index)
    if json:
        o.print_json(listed)
        return
    if not listed:
        typer.echo(f"no remedy in {index}")
        return
    shown = [("id", "kind", "when (UTC)", "views", "documents")]
    for r in listed:
        counts = (f"{r['views']:,}", f"{r['documents']:,}")
        shown.append((r["id"], r["kind"] or "?", r["at"] or "?", *counts))
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    for row in shown:
        typer.echo("  ".join(map(str.ljust, row, widths)).rstrip())


def _print(result: RemedyResult, as_json: bool) -> None:
    if as_json:
        judged = {"evaluation": result.evaluation} if result.evaluation else {}
        o.print_json({**result.summary, **judged})
        return
    print_remedy(result.summary)
    if result.evaluation:
        print_change(result.evaluation)
    typer.echo(f"report: {result.report}")


def print_remedy(summary: RemedySummary) -> None:
    """Print the headline of a receipt."""
    counts, made = summary["counts"], summary["made"]
    if not summary["added"]:
        typer.echo(f"{summary['remedy']} was in the index already; nothing added")
    typer.echo(
        f"{summary['remedy']}: {counts['views']:,} views ({counts['bytes'] / 2**20:.1f} MiB) for "
        f"{counts['documents_repaired']:,} of {counts['documents_at_risk']:,} documents at risk"
    )
    if own := counts["views_about_own_subject"]:
        typer.echo(f"{own:,} of them add what the knowledge base says of a document's own subject")
    _print_left_out(made)
    if "language_model" in made:
        print_spent(made["language_model"])
    _print_ranks(summary)
    if rps := summary["rps"]:
        alone = "" if rps["views"] is None else f", {rps['views']:.3f} in the views alone"
        typer.echo(
            f"mean predicted RPS of these entities: {rps['before']:.3f} in the originals{alone}; "
            f"by the better of both, which cannot fall, {rps['after']:.3f}"
        )


def _print_left_out(made: Origin) -> None:
    """Print how many views there could have been besides, and why they are not there."""
    others = ", ".join(made.get("relied_on", ()))
    if known := made.get("views_known"):
        typer.echo(f"{known:,} more were in the index already ({others})")
    if beyond := made.get("views_beyond_cap"):
        typer.echo(f"{beyond:,} were left out: their documents have as many as they may ({others})")
    if failed := made.get("views_failed"):
        typer.echo(f"{failed:,} views could not be embedded and were left out")
    if back := sum(made.get("fallen_back", {}).values()):
        typer.echo(
            f"{back:,} documents keep their original alone, rejected or not answered: "
            "see synthesis.parquet"
        )


def print_spent(model: Answers) -> None:
    """Print what a language model was asked and what that took."""
    cost = "" if model["cost"] is None else f", costing {model['cost']:.4g}"
    typer.echo(
        f"{model['prompts']:,} prompts, {model['cached']:,} of them answered before: "
        f"{model['tokens_in']:,} tokens in, {model['tokens_out']:,} out{cost}"
    )


def _print_ranks(summary: RemedySummary) -> None:
    if failed := summary["risk_queries"]["failed"]:
        typer.echo(f"{failed:,} risk queries failed and have no rank: see receipt.parquet")
    repaired = summary["of_repaired"]
    if repaired["queries"]:
        typer.echo(
            f"asked for by the names of their entities at risk, top {summary['k']}: "
            f"{repaired['found_before']:.1%} → {repaired['found_after']:.1%} come back "
            f"({repaired['recovered']:,} recovered, {repaired['lost']:,} lost); "
            f"{summary['neighbours_fallen']:,} documents lost a place to them"
        )
