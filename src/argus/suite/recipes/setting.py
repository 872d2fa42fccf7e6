"""Where recipes find what they read, and where they keep what takes long."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from argus.data.provenance import content_hash
from argus.encoders.config import EncoderConfig, as_config
from argus.llm.config import ChatConfig, LocalConfig


@dataclass(frozen=True)
class Setting:
    """Where figures are measured. home: of one recipe; shared: of all, for what takes long.

    minutes: of training, for outputs that are made here. model: who answers, where a table is of
    answers; None: nobody is asked.
    """

    data: Path
    stdlib: Path
    home: Path
    shared: Path
    minutes: float
    model: ChatConfig | LocalConfig | None = None

    def vectors(self, encoder: EncoderConfig | str) -> Path:
        """Return the folder of all that an encoder embeds: another for other texts before it."""
        config = as_config(encoder)
        prompts = [p for p in (config.query_prompt, config.document_prompt) if p is not None]
        ending = f"-{content_hash(*prompts, size=4).hex()}" if prompts else ""
        return self.shared / "vectors" / (Path(config.model).name + ending)

    def named(self, text: str) -> str:
        """Return a text with DATA and OUT in place of where these folders lie on this machine."""
        for name, folder in (("DATA", self.data), ("OUT", self.home.parent)):
            for path in (folder.resolve(), folder):
                text = re.sub(rf"(?<![\w./-]){re.escape(str(path))}(?=/| |$)", name, text)
        return text


def write_stdlib(folder: Path, stdlib: Path) -> None:
    """Write the standard library's documents where a recipe asks for them and they are not yet."""
    from argus.knowledge.stdlib import standard_library, write_sample_corpus

    if folder == stdlib and not (folder / "corpus.jsonl").is_file():
        write_sample_corpus(folder, standard_library())


def path_lacking(path: Path) -> str:
    """Return which folder or file of a path is not here, the outermost; empty where all is."""
    parts = (*reversed(path.parents), path)
    absent = next((part for part in parts if not part.exists()), None)
    return "" if absent is None else f"{absent} is not here"
