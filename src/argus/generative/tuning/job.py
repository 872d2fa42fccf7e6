"""`generative tune`: learn to rank the right passages of judged questions first."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from argus.corpora import Corpus
from argus.data.fields import FieldNames
from argus.data.folders import ArtifactFolder
from argus.data.provenance import content_hash
from argus.data.reading import parse_json, read_own
from argus.data.tables import read_table
from argus.data.writing import one_writer
from argus.devices import check_device
from argus.generative.folders import MODEL, NOTE, index_folder, is_from_scratch, need_model
from argus.generative.index import NgramIndex, check_corpus
from argus.generative.jobs.search import open_searcher, with_scoring
from argus.generative.searcher import GenerativeSearcher
from argus.generative.training.inputs import read_inputs
from argus.generative.training.model import save_network
from argus.generative.training.settings import GenerativeTuneConfig
from argus.generative.tuning.lists import RankExample, RankList, Taught, lists_again, rank_questions
from argus.generative.tuning.loss import rank_task
from argus.jobs.result import Result
from argus.jobs.workspace import Record, keep_input
from argus.llm.weights import base_hash
from argus.training.loop import Task, Trained, train
from argus.training.settings import training_lines
from argus.version import __version__

SECTION = "generative_tune"
STATE, LOSSES = "tuning", "losses"


@dataclass(frozen=True, repr=False)
class GenerativeTuneResult(Result):
    """A model that learnt to rank.

    Keys of the summary, beside those of `argus.training.settings.training_lines`:

    model: the model that it was before. weights: their number. mode: of the search.
    lists: judged questions: train, validation, out_of_list (no right passage in their list),
    nothing_wrong (no wrong one) and without_gold (no right passage in the corpus).
    before, after: of the questions that were validated with: the share whose first passage is right
    (first), with a right one in ten (first_10), and the mean of 1 / its rank (reciprocal_rank).
    """

    TABLES = ("losses",)
    folder: Path
    model: Path
    summary: dict[str, Any]

    @property
    def losses(self) -> pa.Table:
        """One row per step."""
        return read_table(self.folder / f"{LOSSES}.parquet")

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        yield from headline(self.summary)
        yield f"model: {self.model}"


@one_writer
def tune_generative(
    corpus: Corpus,
    *,
    index: Path | str,
    queries: Path | str,
    qrels: Path | str,
    config: GenerativeTuneConfig,
    out: Path | str,
    pseudo_queries: Path | str | None = None,
    fields: FieldNames | None = None,
    limit: int | None = None,
    device: str | None = None,
    fresh: bool = False,
) -> GenerativeTuneResult:
    """Teach a model to rank the passages that answer judged questions first. Write OUT/model.

    index: of this corpus. The model searches the questions, and learns from the lists that it ranks
    (see `tuning.loss`). A run that was stopped ranks them again and goes on where it was. Raises
    InputError for bad input: a corpus that the index does not hold, a model of another tokenizer,
    too few questions with a right passage in their list, another training in OUT.
    """
    on, base, home = check_device(device), need_model(config.search.model), index_folder(index)
    config = replace(config, search=with_scoring(config.search, base))
    inputs = read_inputs(corpus, queries, qrels, pseudo_queries, fields or FieldNames(), limit)
    folder = ArtifactFolder(Path(out), fresh=fresh)
    keep_input(folder, [base, home, *inputs.files.values()])
    record = Record(
        SECTION, {"model": str(base), "limit": limit, **_settings(config)}, inputs.files
    )
    searcher = open_searcher(NgramIndex.open(home), base, config.search, on)
    check_corpus(searcher.index, inputs.documents, None)
    with record.timed("ranking the questions"):
        taught = rank_questions(inputs, searcher, config)
    record.open(folder, about=[home.parent])
    weights = base_hash(base)
    with record.timed("training"):
        trained = train(
            searcher.model.network, _task(searcher, config), taught.examples, taught.validation,
            config.training, folder=folder.own(STATE),
            key=_key(config, weights, searcher.index, taught), device=on,
        )  # fmt: skip
    with record.timed("ranking the questions to validate with again"):
        after = lists_again(searcher, taught.before, config)
    summary = _summary(config, base, taught, after, trained, searcher)
    note = _note(config, base, weights, searcher)
    vocabulary = searcher.model.vocabulary
    model = save_network(searcher.model.network, vocabulary, folder.own(MODEL), note)
    folder.write_table(LOSSES, pa.Table.from_pylist(trained.progress.steps))
    folder.write_results(SECTION, summary, record.manifest(dict(summary["lists"])))
    return GenerativeTuneResult(folder.path, model, summary)


def _task(searcher: GenerativeSearcher, config: GenerativeTuneConfig) -> Task[RankExample]:
    model = searcher.model
    pad = model.vocabulary.border if model.vocabulary.pad is None else model.vocabulary.pad
    return rank_task(
        model.start, pad, searcher.scoring, searcher.index.n_tokens,
        margin=config.margin, rank_weight=config.rank_weight,
    )  # fmt: skip


def _settings(config: GenerativeTuneConfig) -> dict[str, object]:
    """Return all that decides the result, as plain values, except the model."""
    search = config.search
    return {
        "mode": str(search.mode),
        "decoding": search.decoding.identity,
        "scoring": search.scoring.identity,
        "passages": config.passages,
        "keys": config.keys,
        "margin": config.margin,
        "rank_weight": config.rank_weight,
        **config.training.described(),
    }


def _key(config: GenerativeTuneConfig, weights: str, index: NgramIndex, taught: Taught) -> str:
    """Return the hash of all that is learnt, and how."""
    settings = json.dumps(_settings(config), sort_keys=True)
    return content_hash(weights, taught.fingerprint, settings, index.hashes().tobytes()).hex()


def _summary(
    config: GenerativeTuneConfig,
    base: Path,
    taught: Taught,
    after: list[RankList],
    trained: Trained,
    searcher: GenerativeSearcher,
) -> dict[str, Any]:
    state, rate = trained.progress, trained.tokens_per_s
    return {
        "model": str(base),
        "mode": str(config.search.mode),
        "weights": sum(p.numel() for p in searcher.model.network.parameters()),
        "dtype": "float32",
        "device": searcher.model.device,
        "lists": taught.counts,
        "before": places(taught.before),
        "after": places(after),
        "steps": state.step,
        "stopped": state.stopped,
        **state.losses(),
        "seconds": round(state.seconds, 2),
        "tokens_per_s": None if rate is None else round(rate, 1),
        "peak_memory_bytes": trained.peak_memory_bytes,
        "device_memory_bytes": trained.device_memory_bytes,
    }


def _note(
    config: GenerativeTuneConfig, base: Path, weights: str, searcher: GenerativeSearcher
) -> dict[str, Any]:
    """Return argus.json. A model from scratch stays one: its single tokens are as noisy as ever."""
    begun: dict[str, str | float] = {"name": str(base), "weights": weights}
    if is_from_scratch(base):
        begun = parse_json(read_own(base / NOTE))["base"]
    return {
        "argus": __version__,
        "vocabulary": searcher.model.vocabulary.fingerprint,
        "base": begun,
        "tuned": {"name": str(base), "weights": weights, **_settings(config)},
    }


def places(lists: Sequence[RankList]) -> dict[str, Any]:
    """Return the means over lists."""
    n = max(1, len(lists))
    ranks = [one.place for one in lists if one.place is not None]
    return {
        "questions": len(lists),
        "first": round(sum(rank == 1 for rank in ranks) / n, 4),
        "first_10": round(sum(rank <= 10 for rank in ranks) / n, 4),
        "reciprocal_rank": round(sum(1 / rank for rank in ranks) / n, 4),
    }


def headline(summary: dict[str, Any]) -> Iterator[str]:
    """Yield lines on the pairs learnt, the time, and the places of right passages now."""
    counts, before, after = summary["lists"], summary["before"], summary["after"]
    yield (
        f"{counts['train']:,} questions to learn from, {counts['validation']:,} to validate with; "
        f"{counts['out_of_list']:,} have no right passage in their list"
    )
    yield from training_lines(summary, "epoch")
    yield (
        f"right passage first for {before['first']:.1%} of the questions to validate with, now "
        f"{after['first']:.1%}; mean reciprocal rank {before['reciprocal_rank']:.3f}, now "
        f"{after['reciprocal_rank']:.3f}"
    )
