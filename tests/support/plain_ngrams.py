"""An n-gram index as a straightforward reading has it: sorted suffixes in plain lists, and bisect.

Fast enough to stand beside the compiled index on millions of tokens; `PlainIndex` is not.
"""

from bisect import bisect_left, bisect_right
from collections import Counter


class SortedSuffixes:
    """text: tokens of all passages, borders in front, one border at the end; a list of ints.

    suffixes: where suffixes start, in the order of their tokens. starts: where passages begin.
    """

    def __init__(self, text: list[int], suffixes: list[int], starts: list[int]) -> None:
        self.text, self.suffixes, self.starts = text, suffixes, starts

    @classmethod
    def of(cls, text: list[int], starts: list[int]) -> "SortedSuffixes":
        """Sort the suffixes of every passage, each up to the border that closes it."""
        whole: list[tuple[list[int], int]] = []
        for start, end in zip(starts, [*starts[1:], len(text) - 1], strict=True):
            whole += [(text[at : end + 1], at) for at in range(start, end)]
        whole.sort()
        return cls(text, [at for _, at in whole], starts)

    def rows(self, ngram: list[int]) -> tuple[int, int]:
        """Return the rows that begin with an n-gram."""
        text, m = self.text, len(ngram)

        def head(start: int) -> list[int]:
            return text[start : start + m]

        low = bisect_left(self.suffixes, ngram, key=head)
        return low, bisect_right(self.suffixes, ngram, low, key=head)

    def count(self, ngram: list[int]) -> int:
        """Return how often an n-gram occurs."""
        low, high = self.rows(ngram)
        return high - low

    def continuations(self, ngram: list[int]) -> Counter[int]:
        """Return what follows an n-gram, and how often."""
        low, high = self.rows(ngram)
        text, m = self.text, len(ngram)
        return Counter([text[start + m] for start in self.suffixes[low:high]])

    def documents(self, ngram: list[int]) -> list[int]:
        """Return the passage of every occurrence."""
        low, high = self.rows(ngram)
        return [bisect_right(self.starts, start) - 1 for start in self.suffixes[low:high]]

    def tokens_of(self, document: int) -> list[int]:
        """Return the tokens of a passage, its border in front."""
        end = self.starts[document + 1] if document + 1 < len(self.starts) else len(self.text) - 1
        return self.text[self.starts[document] : end]
