"""Split texts where the thesis counts tokens (it uses GPT-2's, which is BART's)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Protocol

from argus.generative.failures.words import words

if TYPE_CHECKING:
    from argus.generative.vocabulary import Vocabulary


class Tokens(Protocol):
    """Splits texts. name: its name in the report."""

    name: str

    def split(self, texts: Sequence[str]) -> list[tuple[Hashable, ...]]:
        """Return the tokens of each text."""
        ...


class WordTokens:
    """Words in place of tokens, where no tokenizer was given."""

    name = "words"

    def split(self, texts: Sequence[str]) -> list[tuple[Hashable, ...]]:
        """Return the words of each text, case-folded."""
        return [words(text) for text in texts]


class VocabularyTokens:
    """The tokens of an index or of a model. name: of the folder that it was opened from."""

    def __init__(self, vocabulary: Vocabulary, name: str) -> None:
        self.vocabulary, self.name = vocabulary, name

    def split(self, texts: Sequence[str]) -> list[tuple[Hashable, ...]]:
        """Return the tokens of each text as it is, after a space."""
        return [tuple(ids) for ids in self.vocabulary.encode(texts)]


class PublishedTokens(VocabularyTokens):
    """The tokens of texts as they stand, nothing added or taken off: as the thesis counts."""

    def split(self, texts: Sequence[str]) -> list[tuple[Hashable, ...]]:
        """Return the tokens of each text."""
        return [tuple(ids) for ids in self.vocabulary.encode_as_is(texts)]
