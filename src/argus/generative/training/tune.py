"""`argus research generative tune`: teach a trained model to rank right passages first (LTRGR).

`tune_generative`: a corpus, its index, judged questions and a model -> a tuned model, with the mean
reciprocal rank of right passages before and after. `ranking` makes the examples and the loss.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from argus.data.fields import FieldNames, QrelsName
from argus.data.folders import ArtifactFolder
from argus.data.provenance import content_hash
from argus.data.reading import parse_json, read_own
from argus.data.writing import one_writer
from argus.devices import Device, check_device
from argus.generative.folders import NOTE, index_folder, is_from_scratch, need_model
from argus.generative.index import NgramIndex, check_corpus
from argus.generative.search import open_searcher, with_scoring
from argus.generative.settings import GenerativeTuneConfig
from argus.generative.training.examples import read_inputs
from argus.generative.training.job import LearntModel, write_model
from argus.generative.training.ranking import RankList, rank_lists, rank_questions, rank_task
from argus.jobs import options as o
from argus.jobs.workspace import Record, keep_input
from argus.llm.weights import base_hash
from argus.settings import Option, Without
from argus.training.loop import train, training_lines

SECTION = "generative_tune"
STATE = "tuning"


@dataclass(frozen=True, repr=False)
class GenerativeTuneResult(LearntModel):
    """A model that learnt to rank.

    Keys of the summary, beside those of `argus.training.loop.training_lines`:

    model: the model that it was before. weights: their number. mode: of the search.
    lists: judged questions: train, validation, out_of_list (no right passage in their list),
    nothing_wrong (no wrong one) and without_gold (no right passage in the corpus).
    before, after: of the questions that were validated with: the share whose first passage is right
    (first), with a right one in ten (first_10), and the mean of 1 / its rank (reciprocal_rank).
    """

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        summary = self.summary
        counts, before, after = summary["lists"], summary["before"], summary["after"]
        yield (
            f"{counts['train']:,} questions to learn from, {counts['validation']:,} to validate "
            f"with; {counts['out_of_list']:,} have no right passage in their list"
        )
        yield from training_lines(summary, "epoch")
        yield (
            f"right passage first for {before['first']:.1%} of the questions to validate with, now "
            f"{after['first']:.1%}; mean reciprocal rank {before['reciprocal_rank']:.3f}, now "
            f"{after['reciprocal_rank']:.3f}"
        )
        yield f"model: {self.model}"


@one_writer
def tune_generative(
    corpus: o.Corpus,
    *,
    index: Annotated[Path | str, Option(argument="INDEX")],
    queries: Annotated[Path | str, Option(("--questions",))],
    qrels: Annotated[Path | str, QrelsName()],
    config: Annotated[GenerativeTuneConfig, Without("k", "batch")],
    out: o.Out = o.OUT,
    pseudo_queries: Path | str | None = None,
    fields: Annotated[FieldNames | None, Without("template")] = None,
    limit: o.Limit = None,
    device: Device = None,
    fresh: o.Fresh = False,
) -> GenerativeTuneResult:
    """Teach a trained model to rank: LTRGR, on the lists that it ranks for judged questions.

    Passages that answer are to lead others by a margin, in scores made of the n-grams that found
    them. Writes OUT/model, which search takes as --model, with losses.parquet, summary.json and
    manifest.json. A run that was stopped goes on where it was.

    index: of this corpus. The model searches the questions, and learns from the lists that it ranks
    (see `tuning.loss`). Raises InputError for bad input: a corpus that the index does not hold, a
    model of another tokenizer, too few questions with a right passage in their list, another
    training in OUT.

    Args:
        index: Folder that argus research generative build wrote.
        queries: What teaches to rank: BEIR queries.jsonl or TSV.
        qrels: Judgements (BEIR: query-id, corpus-id, score; or TREC).
        pseudo_queries: JSONL of {"_id", "queries"}: MINDER's third view.
    """
    on, base, home = check_device(device), need_model(config.search.model), index_folder(index)
    config = replace(config, search=with_scoring(config.search, base))
    inputs = read_inputs(corpus, queries, qrels, pseudo_queries, fields or FieldNames(), limit)
    folder = ArtifactFolder(Path(out), fresh=fresh)
    keep_input(folder, [base, home, *inputs.files.values()])
    settings: dict[str, object] = {  # all that decides the result, except the model
        "mode": str(config.search.mode),
        "decoding": config.search.decoding.identity,
        "scoring": config.search.scoring.identity,
        **{name: getattr(config, name) for name in ("passages", "keys", "margin", "rank_weight")},
        **config.training.described(),
    }
    record = Record(SECTION, {"model": str(base), "limit": limit, **settings}, inputs.files)
    searcher = open_searcher(NgramIndex.open(home), base, config.search, on)
    model, indexed = searcher.model, searcher.index
    check_corpus(indexed, inputs.documents, None)
    with record.timed("ranking the questions"):
        taught = rank_questions(inputs, searcher, config)
    record.open(folder, about=[home.parent])
    weights = base_hash(base)
    options = json.dumps(settings, sort_keys=True)
    pad = model.vocabulary.border if model.vocabulary.pad is None else model.vocabulary.pad
    task = rank_task(
        model.start, pad, searcher.scoring, indexed.n_tokens,
        margin=config.margin, rank_weight=config.rank_weight,
    )  # fmt: skip
    with record.timed("training"):
        trained = train(
            model.network, task, taught.examples, taught.validation, config.training,
            folder=folder.own(STATE), device=on,
            key=content_hash(
                weights, taught.fingerprint, options, indexed.hashes().tobytes()
            ).hex(),
        )  # fmt: skip
    with record.timed("ranking the questions to validate with again"):
        after = rank_lists(
            searcher, [one.query for one in taught.before], [one.gold for one in taught.before],
            passages=config.passages, keys=config.keys,
        )  # fmt: skip
    summary: dict[str, Any] = {
        "model": str(base),
        "mode": str(config.search.mode),
        "lists": taught.counts,
        "before": _places(taught.before),
        "after": _places(after),
        "weights": sum(p.numel() for p in model.network.parameters()),
        **trained.figures("float32", model.device),
    }
    origin: dict[str, str | float] = {"name": str(base), "weights": weights}
    if is_from_scratch(base):  # it stays one: its single tokens are as noisy as ever
        origin = parse_json(read_own(base / NOTE))["base"]
    note = {"base": origin, "tuned": {"name": str(base), "weights": weights, **settings}}
    saved = write_model(folder, model.network, model.vocabulary, note, trained)
    folder.write_results(SECTION, summary, record.manifest(dict(summary["lists"])))
    return GenerativeTuneResult(folder.path, saved, summary)


def _places(lists: Sequence[RankList]) -> dict[str, Any]:
    """Return the means over lists."""
    n = max(1, len(lists))
    ranks = [one.place for one in lists if one.place is not None]
    return {
        "questions": len(lists),
        "first": round(sum(rank == 1 for rank in ranks) / n, 4),
        "first_10": round(sum(rank <= 10 for rank in ranks) / n, 4),
        "reciprocal_rank": round(sum(1 / rank for rank in ranks) / n, 4),
    }
