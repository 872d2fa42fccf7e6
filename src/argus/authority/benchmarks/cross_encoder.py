"""Cross-encoders: a model that reads question and document together, given by folder or name."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from argus.devices import check_device
from argus.errors import InputError
from argus.extras import naming_extras


class CrossEncoder:
    """A sentence-transformers cross-encoder, loaded when it is made.

    model: a folder, or a name on the hub. Raises InputError where there is no such model.
    """

    @naming_extras()
    def __init__(self, model: str, *, device: str | None = None) -> None:
        from sentence_transformers import CrossEncoder as Loaded

        self.name = Path(model).resolve().name if Path(model).is_dir() else model
        offline = Path(model).exists() or os.environ.get("HF_HUB_OFFLINE") == "1"
        try:
            self._model: Any = Loaded(model, device=check_device(device), local_files_only=offline)
        except Exception as error:  # of many kinds, from what is not a model in a folder to a 404
            reason = next(iter(str(error).strip().splitlines()), type(error).__name__)[:200]
            raise InputError(
                f"cross-encoder {model!r} could not be loaded ({reason})",
                expected="a folder with a sentence-transformers cross-encoder, or its name",
                fix="Check the path; without network, give a folder.",
                where="--cross-encoder",
            ) from error

    def scores(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return one score per (question, text), higher is better; a pair is scored once."""
        unique = list(dict.fromkeys(pairs))
        if not unique:
            return []
        values = self._model.predict(unique, show_progress_bar=False)
        if values.ndim != 1:
            raise InputError(
                f"cross-encoder {self.name!r} gives {values.shape[1]} numbers per pair",
                expected="one number: how well a document answers a question",
                fix="Give a model for ranking, with one label.",
                where="--cross-encoder",
            )
        score = dict(zip(unique, values.tolist(), strict=True))
        return [score[pair] for pair in pairs]
