"""What an n-gram index answers, by plain scans of the passages: slow, short, and the oracle.

An occurrence of an n-gram is a position p of the whole text inside a passage D, border in front,
where D[p : p + m] equals the n-gram. A closing border, one past the end of D, may be the last token
of an n-gram longer than one. So a border can be the first or the last token and nothing between,
and no n-gram reaches from one passage into the next. The empty n-gram occurs before every token.
"""

import hashlib
from collections import Counter
from types import SimpleNamespace

import numpy as np


class PlainIndex:
    """Passages as lists of tokens, without and with their border; everything else is a loop.

    passages: tokens of each passage, without any border. border: the token put before each. ids:
    one per passage, the passages' numbers unless given. vocabulary_size: one more than the
    greatest token unless given.
    """

    def __init__(self, passages, border=0, ids=None, vocabulary_size=None, special=None):
        if any(border in passage for passage in passages):
            raise ValueError("a passage holds the border")
        self.passages = [[border, *passage] for passage in passages]
        self.ids = [str(i) for i in range(len(passages))] if ids is None else list(ids)
        self.border = border
        self.starts = []
        self.n_tokens = 0
        for passage in self.passages:
            self.starts.append(self.n_tokens)
            self.n_tokens += len(passage)
        self.n_documents = len(passages)
        greatest = max((max(passage) for passage in self.passages), default=border)
        self.vocabulary_size = greatest + 1 if vocabulary_size is None else vocabulary_size
        marks = {"pad": -1, "unknown": None, "title_end": -2, "query_start": -3, **(special or {})}
        self.vocabulary = SimpleNamespace(size=self.vocabulary_size, border=border, **marks)

    def places(self, ngram):
        """Every occurrence as (position in the whole text, passage), ascending."""
        ngram = list(ngram)
        found = []
        for document, (start, passage) in enumerate(zip(self.starts, self.passages, strict=True)):
            readable = [*passage, self.border] if len(ngram) > 1 else passage
            found += [
                (start + p, document)
                for p in range(len(passage))
                if readable[p : p + len(ngram)] == ngram
            ]
        return found

    def count(self, ngram):
        return len(self.places(ngram))

    def counts(self, ngrams):
        return np.array([self.count(ngram) for ngram in ngrams], np.int64)

    def occurrences(self, ngrams, most):
        """Positions of each n-gram; none of an n-gram with more than `most`. (n + 1,), (total,)."""
        ptr, positions = [0], []
        for ngram in ngrams:
            here = [position for position, _ in self.places(ngram)]
            positions += here if len(here) <= most else []
            ptr.append(len(positions))
        return np.array(ptr, np.int64), np.array(positions, np.int64)

    def documents_at(self, positions):
        """The passage of each position: the last that starts at or before it."""
        return np.array(
            [max(d for d, start in enumerate(self.starts) if start <= p) for p in positions],
            np.int64,
        )

    def tokens_of(self, documents):
        """Tokens of passages, border in front. (n + 1,) int64, (total,) int32."""
        ptr, tokens = [0], []
        for document in documents:
            tokens += self.passages[document]
            ptr.append(len(tokens))
        return np.array(ptr, np.int64), np.array(tokens, np.int32)

    def documents(self, ngram):
        """Distinct passages that hold the n-gram, ascending."""
        return np.array(sorted({document for _, document in self.places(ngram)}), np.int64)

    def continuations(self, ngram):
        """Distinct next tokens, ascending, and how often each comes.

        After an n-gram that ends a passage comes its closing border; after the closing border
        comes nothing. Of the empty n-gram: all tokens of the passages, borders in front included.
        """
        ngram, after = list(ngram), Counter()
        for passage in self.passages:
            if not ngram:
                after.update(passage)
                continue
            closed = [*passage, self.border]
            for p in range(len(passage)):
                if closed[p : p + len(ngram)] == ngram and p + len(ngram) < len(closed):
                    after[closed[p + len(ngram)]] += 1
        tokens = sorted(after)
        return np.array(tokens, np.int64), np.array([after[t] for t in tokens], np.int64)

    def order(self, documents):
        """A hash of each id, which breaks ties independently of the passages' order. uint64."""
        return np.array([_hash(self.ids[document]) for document in documents], np.uint64)

    def id_of(self, document):
        return self.ids[document]


def _hash(id_):
    return int.from_bytes(hashlib.blake2b(str(id_).encode(), digest_size=8).digest(), "little")
