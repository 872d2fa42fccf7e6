"""Outputs of SEAL and MINDER: published ones where they lie, else of a model trained here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from argus.generative.failures.jobs.settings import FailureConfig
from argus.suite.recipes.setting import Setting, write_stdlib

PUBLISHED = ("seal.json", "minder.json")
"""Files of the thesis under DATA/thesis, each of 6,515 questions."""
COUNTS_WITH = "tokenizer"
"""Folder of GPT-2's or BART's tokenizer beside them: what the thesis counts with."""
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
    files = _published(setting)
    if not files:
        return _made(setting)
    tokenizer = _tokenizer(setting)
    return Outputs(files, FailureConfig(tokenizer=tokenizer, strict=tokenizer is not None))


def are_here(setting: Setting) -> bool:
    """Return whether the published outputs are on this machine."""
    return bool(_published(setting))


def how_counted(setting: Setting) -> str:
    """Return how published outputs are counted, for a note; empty where none are here."""
    if not _published(setting):
        return ""
    if _tokenizer(setting):
        return "Counted as the thesis does (argus generative analyse --strict)."
    return (
        f"Not counted as the thesis does, by words instead of its tokens: DATA/thesis/{COUNTS_WITH}"
        " (of GPT-2 or BART) is not here, so that digits differ where tokens are counted."
    )


def _published(setting: Setting) -> list[Path]:
    files = [setting.data / "thesis" / name for name in PUBLISHED]
    return files if all(file.is_file() for file in files) else []


def _tokenizer(setting: Setting) -> Path | None:
    folder = setting.data / "thesis" / COUNTS_WITH
    return folder if folder.is_dir() else None


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
