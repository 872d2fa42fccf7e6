"""Name a corpus: rows in a file, a knowledge base, a vector store, or documents of a program."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from argus.data.types import Document
from argus.errors import InputError, unnamed
from argus.stores.protocol import Store
from argus.stores.spec import StoreConfig, is_store, parse_store


@dataclass(frozen=True, repr=False)
class StoreCorpus:
    """A vector store as a corpus: its records are the documents, with the vectors that it holds.

    store: `KIND:PLACE/COLLECTION`, or one that is opened. opening: settings beside the name.
    """

    store: str | Store
    opening: StoreConfig = field(default_factory=StoreConfig)

    def __str__(self) -> str:
        """Return its name, without user and password."""
        return str(parse_store(self.store)) if isinstance(self.store, str) else self.store.name

    __repr__ = __str__


NamedCorpus = Path | str | StoreCorpus
"""A file, a folder, a knowledge base or a store, by name. A store with its settings."""
Corpus = NamedCorpus | Sequence[Document]
"""The same, or documents of a program."""


@dataclass(frozen=True, slots=True)
class CorpusName:
    """In a setting's type: it names a corpus, which may be a store."""


def named(corpus: NamedCorpus) -> Path | StoreCorpus:
    """Return the store that a text names, or else a path. InputError for an empty text."""
    if isinstance(corpus, StoreCorpus):
        return corpus
    if corpus == "":
        raise unnamed("the name of a corpus is empty")
    text = str(corpus)
    if not is_store(text):
        return Path(corpus)
    # a Path makes one slash of two
    return StoreCorpus(re.sub(r"^([\w-]+:\w+):/(?!/)", r"\1://", text))


def named_once(source: Any, corpus: Any) -> Any:
    """Return the corpus of an argument, or of --corpus. Raises InputError where both name one."""
    if source is not None and corpus is not None:
        got, fix = "documents are named twice", "Leave --corpus out."
        raise InputError(got, expected="one corpus", fix=fix, where="--corpus")
    return corpus if source is None else source


def parse_template(text: str | None) -> str | None:
    r"""Read a template from the command line, where `\n` and `\t` stand for white space.

    Raises InputError for one without `{title}` and `{text}`, or with another field.
    """
    if text is None:
        return None
    template = text.replace("\\n", "\n").replace("\\t", "\t")
    fields = re.findall(r"\{([^{}]*)\}", template)
    if not fields or not {"title", "text"}.issuperset(fields) or len(set(fields)) < len(fields):
        raise InputError(
            f"{text!r}", expected="{title} and {text}, or one of them, each once",
            fix=r"For example --template '{title}\n{text}'.", where="--template",
        )  # fmt: skip
    return template
