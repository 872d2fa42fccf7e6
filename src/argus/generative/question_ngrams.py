"""The question's own words as keys: SEAL looks up its word n-grams beside the model's n-grams.

A word is a run of letters and digits, with apostrophes, points, hyphens and ampersands inside it
("Taylor's", "U.S", "AT&T"). The published system takes spaCy's words, which part "Taylor's" into
two and count punctuation as words. Here the text between two words of an n-gram is kept as the
question has it ("Paris, France").
"""

from __future__ import annotations

import re
from itertools import pairwise, product
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argus.generative.vocabulary import Vocabulary

LONGEST = 3
"""Words in an n-gram of the question, at most (SEAL)."""
_WORD = re.compile(r"[^\W_]+(?:['’.&-][^\W_]+)*")


def question_ngrams(question: str, longest: int = LONGEST) -> list[str]:
    """Return all n-grams of 1 to `longest` words, without repetition.

    Every word comes as it is and with its first letter in upper case, in all combinations: a
    question writes "reba mcentire", a passage "Reba McEntire". Short n-grams come first, then those
    that start first, then spellings that differ late and least from the question's.
    """
    question = " ".join(question.split())
    words = list(_WORD.finditer(question))
    ngrams: dict[str, None] = {}
    for n in range(1, longest + 1):
        for first in range(len(words) - n + 1):
            ngrams |= dict.fromkeys(_spellings(question, words[first : first + n]))
    return list(ngrams)


def question_ngram_tokens(
    question: str, vocabulary: Vocabulary, longest: int = LONGEST
) -> list[tuple[int, ...]]:
    """Return the n-grams of a question as tokens of passages, without repetition.

    Whether a passage holds them is for the index to say.
    """
    ngrams = vocabulary.encode(question_ngrams(question, longest))
    return list(dict.fromkeys(tuple(tokens) for tokens in ngrams if tokens))


def _spellings(question: str, words: list[re.Match[str]]) -> list[str]:
    """Return the text of consecutive words in every spelling."""
    gaps = [question[a.end() : b.start()] for a, b in pairwise(words)]
    options = [
        dict.fromkeys((word.group(), word.group()[0].upper() + word.group()[1:])) for word in words
    ]
    return [
        "".join(word + gap for word, gap in zip(spelling, [*gaps, ""], strict=True))
        for spelling in product(*options)
    ]
