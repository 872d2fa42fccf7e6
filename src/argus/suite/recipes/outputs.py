"""Outputs of SEAL and MINDER: published ones where they lie, else of a model trained here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from argus.generative.failures.jobs.settings import FailureConfig
from argus.suite.recipes.setting import Setting, write_stdlib

PUBLISHED = ("seal.json", "minder.json")
"""Files of the thesis under DATA/thesis, each of 6,515 questions."""
TOKENIZER = "bpe:8000"
SCRATCH = "scratch"


@dataclass(frozen=True)
class Outputs:
    """Two systems' files, SEAL's first, and how they are judged. here: whether made here."""

    files: Sequence[Path]
    config: FailureConfig
    qrels: Path | None = None
    here: bool = False


def outputs(setting: Setting) -> Outputs:
    """Return the published files, or ask the standard library's questions of a small model."""
    home = setting.data / "thesis"
    files = [home / name for name in PUBLISHED]
    if all(file.is_file() for file in files):
        return Outputs(files, FailureConfig())
    return _made(setting)


def _made(setting: Setting) -> Outputs:
    """Build, train and search, or go on; all recipes share what is made."""
    from argus.generative.decode.settings import Decoding
    from argus.generative.index.job import build_ngrams
    from argus.generative.index.settings import NgramBuildConfig
    from argus.generative.jobs.search import search_ngrams
    from argus.generative.jobs.settings import Format, NgramSearchConfig
    from argus.generative.settings import Mode, Scoring
    from argus.generative.training.config import GenerativeTrainConfig, learning
    from argus.generative.training.job import train_generative

    corpus, home = setting.stdlib, setting.shared / "generative"
    write_stdlib(corpus, setting.stdlib)
    pseudo = corpus / "expansions.jsonl"
    index = home / "index"
    build_ngrams(
        corpus, out=index, config=NgramBuildConfig(tokenizer=TOKENIZER), pseudo_queries=pseudo
    )
    model = train_generative(
        corpus, index=index, out=home / "train", pseudo_queries=pseudo,
        config=GenerativeTrainConfig(training=learning(SCRATCH, max_minutes=setting.minutes)),
    ).model  # fmt: skip
    folders = [home / str(mode) for mode in Mode]
    for mode, folder in zip(Mode, folders, strict=True):
        config = NgramSearchConfig(
            model=model, mode=mode, k=100, formats=(Format.DPR,), decoding=Decoding(),
            scoring=Scoring().for_model(scratch=False),
        )  # fmt: skip
        search_ngrams(index, corpus / "queries.jsonl", out=folder, config=config)
    return Outputs(folders, FailureConfig(index=index), corpus / "qrels" / "test.tsv", here=True)
