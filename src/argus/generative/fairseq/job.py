"""`generative convert`: a checkpoint of fairseq in, a model of transformers out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from typing_extensions import TypedDict

from argus.data.artifacts import ArtifactFolder
from argus.data.locks import one_writer
from argus.generative.fairseq.checkpoint import read_checkpoint
from argus.generative.fairseq.dictionary import join, read_bpe, read_dictionary
from argus.generative.fairseq.network import Shape, to_bart
from argus.generative.fairseq.settings import ConvertConfig
from argus.generative.folders import MODEL
from argus.generative.training.model import save_network
from argus.jobs.result import Result
from argus.jobs.workspace import Record, keep_input
from argus.version import __version__

SECTION = "generative_convert"


class ConvertSummary(TypedDict):
    """What was converted. settings: whether the checkpoint said what its weights do not.

    shape: the fields of `Shape`. left_out: names of the checkpoint that no text is written with.
    """

    checkpoint: str
    weights: int
    settings: bool
    shape: dict[str, int | float | bool | str]
    mask: bool
    left_out: list[str]


class ConvertNote(TypedDict):
    """argus.json beside a model that was converted. vocabulary: fingerprint of the tokenizer."""

    argus: str
    vocabulary: str
    base: dict[str, str]


@dataclass(frozen=True, repr=False)
class ConvertResult(Result):
    """A model of transformers out of a checkpoint of fairseq; the figures are also in `folder`."""

    folder: Path
    model: Path
    summary: ConvertSummary

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        summary, shape = self.summary, Shape(**self.summary["shape"])  # type: ignore[arg-type]
        mask = ", <mask> among them" if summary["mask"] else ""
        yield (
            f"{shape.encoder_layers} + {shape.decoder_layers} layers of {shape.d_model} dimensions "
            f"and {shape.encoder_heads} heads; {shape.tokens:,} tokens{mask}"
        )
        if not summary["settings"]:
            yield "the checkpoint has no settings: heads and activation are as given, or BART's"
        if summary["left_out"]:
            yield f"left out, since no text is written with it: {', '.join(summary['left_out'])}"
        yield f"model: {self.model} ({summary['weights'] / 1e6:.1f} million weights)"


@one_writer
def convert_fairseq(
    checkpoint: Path | str,
    *,
    dictionary: Path | str,
    bpe: Path | str,
    out: Path | str,
    config: ConvertConfig | None = None,
    fresh: bool = False,
) -> ConvertResult:
    """Write a checkpoint of fairseq's BART as a model of transformers to OUT/model.

    dictionary: dict.txt. bpe: GPT-2's byte-pair encoding (see `read_bpe`). The model's tokenizer
    gives each token the row that the dictionary says. Nothing in the checkpoint is run. Raises
    InputError for a checkpoint that cannot be read without, one of another network, and a
    dictionary that is not of this model or of this BPE.
    """
    config = config or ConvertConfig()
    symbols, encoding = read_dictionary(Path(dictionary)), read_bpe(Path(bpe))
    files = {
        "checkpoint": Path(checkpoint), "dictionary": Path(dictionary), "bpe": encoding.file
    }  # fmt: skip
    folder = ArtifactFolder(Path(out), fresh=fresh)
    keep_input(folder, files.values())
    record = Record(SECTION, dict(asdict(config)), files)
    with record.timed("reading the checkpoint"):
        read = read_checkpoint(files["checkpoint"])
        network, shape, left_out = to_bart(read, files["checkpoint"], config)
    vocabulary = join(symbols, encoding, shape.tokens, files["dictionary"])
    record.open(folder)
    note: ConvertNote = {
        "argus": __version__,
        "vocabulary": vocabulary.fingerprint,
        "base": {"name": "fairseq", "file": files["checkpoint"].name,
                 "sha256": record.describe("checkpoint")["checkpoint"]["sha256"]},
    }  # fmt: skip
    model = save_network(network, vocabulary, folder.own(MODEL), note)
    summary: ConvertSummary = {
        "checkpoint": str(checkpoint),
        "weights": sum(p.numel() for p in network.parameters()),
        "settings": bool(read.settings),
        "shape": asdict(shape),
        "mask": shape.tokens > len(symbols),
        "left_out": left_out,
    }
    folder.write_results(SECTION, summary, record.manifest({"weights": summary["weights"]}))
    return ConvertResult(folder.path, model, summary)
