"""`argus research generative train`: train a seq2seq model to write the n-grams of a corpus.

`train_generative`: a corpus, its n-gram index, questions if there are -> a folder with the model
and losses.parquet. `examples` makes the data, `model` the network, `argus.training` runs the loop.
`tune` goes on with such a model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import pyarrow as pa

from argus.data.fields import FieldNames
from argus.data.folders import ArtifactFolder
from argus.data.provenance import content_hash
from argus.data.tables import read_table
from argus.data.writing import one_writer
from argus.devices import Device, check_device
from argus.errors import InputError
from argus.generative.decode.model import start_token, token_limit
from argus.generative.folders import MODEL, index_folder, need_model
from argus.generative.index import NgramIndex
from argus.generative.settings import SCRATCH, GenerativeTrainConfig
from argus.generative.training.examples import (
    build_examples,
    choose,
    fingerprint,
    read_inputs,
    seq2seq_task,
    write_held_out,
)
from argus.generative.training.model import new_network, open_network, save_network
from argus.generative.vocabulary import Vocabulary
from argus.jobs import options as o
from argus.jobs.result import Result
from argus.jobs.workspace import Record, keep_input
from argus.llm.weights import base_hash
from argus.settings import Option, Without
from argus.training.loop import Trained, train, training_lines
from argus.version import __version__

SECTION = "generative_train"
STATE, LOSSES = "training", "losses"


@dataclass(frozen=True, repr=False)
class LearntModel(Result):
    """A folder with a model, and a row of losses.parquet per step."""

    TABLES = ("losses",)
    folder: Path
    model: Path
    summary: dict[str, Any]

    @property
    def losses(self) -> pa.Table:
        """One row per step."""
        return read_table(self.folder / f"{LOSSES}.parquet")


def write_model(
    folder: ArtifactFolder, network: Any, vocabulary: Vocabulary, note: Mapping[str, Any],
    trained: Trained,
) -> Path:  # fmt: skip
    """Write the model, with a note of its origin, and its losses. Return the model's folder."""
    note = {"argus": __version__, "vocabulary": vocabulary.fingerprint, **note}
    folder.write_table(LOSSES, pa.Table.from_pylist(trained.progress.steps))
    return save_network(network, vocabulary, folder.own(MODEL), note)


@dataclass(frozen=True, repr=False)
class GenerativeTrainResult(LearntModel):
    """A trained model.

    Keys of the summary, beside those of `argus.training.loop.training_lines`:

    model: the model that it began with. weights: their number.
    examples: examples by use, and by source and view.
    views: views that it learns to write: body, title, query.
    out_of_time: whether it ended for want of time. With more it goes on.
    """

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        summary = self.summary
        counts = summary["examples"]
        yield (
            f"{counts['train']:,} examples an epoch, {counts['validation']:,} to validate with; "
            f"{counts['questions']:,} questions, {counts['held_out']:,} titles held out"
        )
        yield from training_lines(summary, "step")
        if summary["out_of_time"]:
            yield "give more --minutes, and it goes on"
        yield f"model: {self.model} ({self.summary['weights'] / 1e6:.1f} million weights)"


@one_writer
def train_generative(
    corpus: o.Corpus,
    *,
    index: Path | str,
    config: GenerativeTrainConfig,
    out: o.Out = o.OUT,
    queries: Annotated[Path | str | None, Option(("--questions",))] = None,
    qrels: Path | str | None = None,
    pseudo_queries: Path | str | None = None,
    fields: Annotated[FieldNames | None, Without("template")] = None,
    limit: o.Limit = None,
    device: Device = None,
    fresh: o.Fresh = False,
) -> GenerativeTrainResult:
    """Train a model to write n-grams, titles and pseudo-queries of the passages that answer.

    Learns from judged questions where there are some, and from titles and passages themselves.
    Writes OUT/model, a model of transformers, with what was held out, losses.parquet, summary.json
    and manifest.json. A run that was stopped, or ran out of time, goes on where it was.

    Raises InputError for bad input: nothing to learn from, a model of another tokenizer, another
    training in OUT.

    Args:
        index: N-gram index whose tokenizer the model is to use.
        queries: Questions, BEIR queries.jsonl or TSV.
        qrels: Which passages answer the questions.
        pseudo_queries: JSONL of {"_id", "queries"}: MINDER's third view.
    """
    on, learning = check_device(device), config.loop
    inputs = read_inputs(corpus, queries, qrels, pseudo_queries, fields or FieldNames(), limit)
    vocabulary = NgramIndex.open(index_folder(index)).vocabulary
    base = None if config.model == SCRATCH else need_model(Path(config.model))
    folder = ArtifactFolder(Path(out), fresh=fresh)
    keep_input(folder, [base, Path(index), *inputs.files.values()])
    settings = {"model": config.model, "limit": limit, **learning.described()}
    record = Record(SECTION, settings, inputs.files)
    held_out = choose(inputs.documents, config.hold_out)
    with record.timed("planning the examples"):
        examples = build_examples(inputs, vocabulary, config.examples, held_out)
    counts = examples.counts
    if not (len(examples.train) and examples.validation):
        raise InputError(
            f"{counts['train']:,} examples to train on and {counts['validation']:,} to validate "
            f"with, of {len(inputs.documents):,} documents, {counts['questions']:,} questions with "
            f"a passage in the corpus ({counts['questions_without_gold']:,} without), "
            f"{counts['held_out']:,} titles held out",
            expected="at least one of either: two titles or questions; some hundred teach",
            fix="Check --corpus, --questions and --qrels; hold out less.",
            where="--corpus",
        )
    with record.timed("making the model"):
        if base is None:
            network = new_network(vocabulary, config.size, seed=learning.seed)
        else:
            network = open_network(base, vocabulary, seed=learning.seed)
    limit_of_model = token_limit(network, "encoder")
    if limit_of_model is not None and limit_of_model < config.examples.source_tokens:
        raise InputError(
            f"{config.examples.source_tokens} tokens of a source, of which the model reads "
            f"{limit_of_model}",
            expected="sources that the model can read",
            fix=f"Give --source-tokens {limit_of_model} or less.",
            where="--source-tokens",
        )
    network = network.to(on)
    record.open(folder)
    weights = None if base is None else base_hash(base)
    begun = weights or str(sorted(asdict(config.size).items()))
    options = [f"{name}={value}" for name, value in sorted(learning.described().items())]
    pad = vocabulary.border if vocabulary.pad is None else vocabulary.pad
    task = seq2seq_task(
        start_token(network), pad, label_smoothing=learning.label_smoothing, dtype=learning.dtype
    )
    with record.timed("training"):
        trained = train(
            network, task, examples.train, examples.validation, learning,
            folder=folder.own(STATE), device=on,
            key=content_hash(begun, fingerprint(examples), *options).hex(),
        )  # fmt: skip
    summary: dict[str, Any] = {
        "model": config.model,
        "examples": examples.counts,
        "views": examples.views,
        "weights": sum(p.numel() for p in network.parameters()),
        **trained.figures(learning.dtype, on),
        "out_of_time": trained.progress.out_of_time,
    }
    scratch: dict[str, str | float] = {"name": SCRATCH, **asdict(config.size)}
    note = {
        "base": scratch if weights is None else {"name": config.model, "weights": weights},
        "settings": {"examples": asdict(config.examples), "training": learning.described()},
        **{
            name: summary[name]
            for name in ("views", "examples", "steps", "stopped", "evaluations", "best")
        },
    }
    model = write_model(folder, network, vocabulary, note, trained)
    write_held_out(folder, inputs.documents, held_out)
    folder.write_results(SECTION, summary, record.manifest(dict(summary["examples"])))
    return GenerativeTrainResult(folder.path, model, summary)
