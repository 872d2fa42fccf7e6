"""`scenarios distill`: train an adapter that writes profiles as a teacher did (SPIKE §3.2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from argus.data.fields import FieldNames
from argus.data.folders import ArtifactFolder
from argus.data.tables import read_table
from argus.data.writing import one_writer
from argus.devices import Device, check_device
from argus.errors import InputError
from argus.jobs import options as o
from argus.jobs.result import Result
from argus.jobs.workspace import Record, keep_input, read_documents
from argus.llm import weights
from argus.llm.model import schema_hash
from argus.scenarios.distill.examples import build_examples
from argus.scenarios.distill.settings import DistillConfig
from argus.scenarios.distill.train import save_adapter, save_merged, train, with_lora
from argus.scenarios.files import given_profiles
from argus.scenarios.profile import Profiled
from argus.scenarios.schema import ProfileAnswer
from argus.training.settings import training_lines
from argus.version import __version__

SECTION = "scenarios_distill"
ADAPTER, MERGED, STATE, LOSSES = "adapter", "merged", "training", "losses"
LEAST = 2


@dataclass(frozen=True, repr=False)
class DistillResult(Result):
    """Result of a training. The figures are also in `folder`.

    Keys of `summary`:

    evaluations: losses in validation, in their order.
    best: evaluation whose weights are kept.
    dtype: type of the numbers that were computed with.
    device: device that it ran on.
    stopped: why it ended.
    seconds: seconds of training, without validating.
    tokens_per_s: tokens per second, of training alone.
    peak_memory_bytes: peak memory of the process, in bytes.
    device_memory_bytes: peak memory of the device, in bytes. None on the CPU.
    base: model that was trained.
    examples.profiles: profiles that were read.
    examples.train: documents to train on.
    examples.validation: documents to validate with.
    examples.noise: of these, documents that are noise.
    examples.failed: profiles that failed.
    examples.too_long: documents that are longer than an example may be.
    examples.without_document: profiles without a document.
    examples.documents_without_profile: documents without a profile.
    examples.documents_without_text: documents without a text.
    teachers: who wrote how many of the examples.
    tokens.longest: tokens of the longest example.
    tokens.total: tokens of all examples.
    tokens.bound: most tokens that an example may have.
    merged: whether the adapter was merged into the model.
    """

    TABLES = ("losses",)
    folder: Path
    adapter: Path
    merged: Path | None
    summary: dict[str, Any]

    @property
    def losses(self) -> pa.Table:
        """One row per step."""
        return read_table(self.folder / f"{LOSSES}.parquet")

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        summary = self.summary
        counts = summary["examples"]
        noise = f", {counts['noise']:,} of them noise" if counts["noise"] else ""
        kinds = {
            "documents without profile": counts["documents_without_profile"],
            "profiles without document": counts["without_document"],
            "failed profiles": counts["failed"],
            "documents without text": counts["documents_without_text"],
            "too long": counts["too_long"],
        }
        parts = ", ".join(f"{n:,} {kind}" for kind, n in kinds.items() if n)
        yield (
            f"{counts['train']:,} documents to train on, {counts['validation']:,} to validate "
            f"with{noise}; {f'left out: {parts}' if parts else 'none left out'}"
        )
        yield from training_lines(summary, "epoch")
        yield f"adapter: {self.adapter} (--model local:{self.summary['base']} --adapter ...)"
        if self.merged:
            yield f"merged model: {self.merged} (--model local:{self.merged})"


@one_writer
def distill(
    corpus: o.Corpus,
    *,
    profiles: Path | str | Mapping[str, Profiled],
    config: DistillConfig,
    out: o.Out = o.OUT,
    fields: FieldNames | None = None,
    limit: o.Limit = None,
    device: Device = None,
    fresh: o.Fresh = False,
) -> DistillResult:
    """Fine-tune a small language model with LoRA on the scenarios that a large one wrote.

    Writes OUT/adapter (with --merge, OUT/merged, too), losses.parquet, summary.json and
    manifest.json. The adapter generates with --model local:BASE --adapter OUT/adapter; a merged
    model with --model local:OUT/merged, or from any endpoint that serves it.

    profiles: a file, or a folder that holds profiles.jsonl. A run that was killed goes on from its
    last checkpoint. Raises InputError for bad input: nothing or too little to train on, a model
    without tokenizer, another training in OUT.

    Args:
        profiles: Teacher's profiles: a file, or a folder that holds them.
    """
    weights.need_peft()
    documents, path = read_documents(corpus, fields or FieldNames(), limit, None)
    coerce_ids = fields.coerce_ids if fields else False
    profiles, source = given_profiles(profiles, coerce_ids=coerce_ids)
    device, base = check_device(device), weights.find_model(config.base)
    dtype = weights.choose_dtype(config.dtype, device)
    folder = ArtifactFolder(Path(out), fresh=fresh)
    keep_input(folder, [base, source])
    record = Record(
        SECTION,
        {"base": config.base, "dtype": dtype, "limit": limit, **config.training.described()},
        {"corpus": path, "profiles": source},
    )
    with record.timed("loading the base model"):
        network, tokenizer = weights.load_base(base, dtype)
    longest = min(config.max_length, weights.window_of(network) or config.max_length)
    with record.timed("building the training set"):
        stops, share = weights.stop_tokens(network, tokenizer), config.validation_share
        examples = build_examples(
            documents, profiles, tokenizer, stops, max_length=longest, validation_share=share
        )
    counts = examples.counts
    if (usable := counts["train"] + counts["validation"]) < LEAST:
        left_out = {
            "of documents that the corpus does not have": counts["without_document"],
            "failed": counts["failed"],
            "of documents without text": counts["documents_without_text"],
            f"longer than {longest:,} tokens": counts["too_long"],
        }
        why = "; ".join(f"{n:,} {kind}" for kind, n in left_out.items() if n) or "no more"
        raise InputError(
            f"{usable} of {counts['profiles']:,} profiles can be learnt from ({why})",
            expected=f"at least {LEAST}, one to train on and one to validate with; some hundred "
            "teach",
            fix="Check that --corpus and --profiles belong together, or raise --max-length "
            "(bounded by the model's window).",
            where="--profiles",
        )
    record.open(folder)
    base_hash = weights.base_hash(base)
    model = with_lora(network, config.training, config.base).to(device)
    with record.timed("training"):
        trained = train(
            model, examples.train, examples.validation, config.training,
            folder=folder.own(STATE), base=f"{base_hash} {dtype}", device=device,
        )  # fmt: skip
    state, speed = trained.progress, trained.tokens_per_s
    lengths = [len(e.tokens) for e in (*examples.train, *examples.validation)]
    summary: dict[str, Any] = {
        "base": config.base,
        "dtype": dtype,
        "device": device,
        "examples": examples.counts,
        "teachers": examples.teachers,
        "tokens": {"longest": max(lengths), "total": sum(lengths), "bound": longest},
        "steps": state.step,
        "stopped": state.stopped,
        **state.losses(),
        "seconds": round(state.seconds, 2),
        "tokens_per_s": None if speed is None else round(speed, 1),
        "peak_memory_bytes": trained.peak_memory_bytes,
        "device_memory_bytes": trained.device_memory_bytes,
        "merged": config.merge,
    }
    note = _note(config, summary, base_hash)
    adapter = save_adapter(model, folder.own(ADAPTER), note)
    merged = save_merged(model, tokenizer, folder.own(MERGED), note) if config.merge else None
    folder.write_table(LOSSES, pa.Table.from_pylist(trained.progress.steps))
    folder.write_results(SECTION, summary, record.manifest(summary["examples"]))
    return DistillResult(folder.path, adapter, merged, summary)


def _note(config: DistillConfig, summary: Mapping[str, Any], base_hash: str) -> dict[str, object]:
    """Return distill.json: identity of an adapter, and of its base.

    base: name of the model that it was trained on top of, and the hash of its weights.
    trained_for: hashes of the schemas that it need not be told.
    settings: settings of the training.
    teachers: who wrote how many of the examples.
    dtype: type of the numbers that were computed with.
    stopped: why training ended.
    evaluations: losses in validation, in their order.
    best: the evaluation with the least loss.
    """
    names = ("examples", "teachers", "dtype", "steps", "stopped", "evaluations", "best")
    return {
        "argus": __version__,
        "base": {"name": config.base, "weights": base_hash},
        "trained_for": [schema_hash(ProfileAnswer)],
        "settings": config.training.described(),
        **{name: summary[name] for name in names},
    }
