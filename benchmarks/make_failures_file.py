"""A file of results of the shape and size of the published ones, of words made up from a seed.

As `SEAL --include_keys` writes it, indented by 4: questions with answers and annotated passages,
100 passages each, about 42 n-grams a passage, `[text, occurrences, weight]`. How often an n-gram is
used falls as in text (Zipf), it has the same occurrences everywhere, some are titles, and with
`queries` some are pseudo-queries (MINDER).
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from argus.data.artifacts import replacing

WORDS, DISTINCT, PASSAGES = 30_000, 1_500, 200_000
"""Words of the language; n-grams of a question; passages of the corpus."""
TEXT_WORDS, TITLES, QUERIES = 100, 0.04, 0.2
"""Words of a text; shares of titles and pseudo-queries among n-grams."""
MARGIN = " " * 4


def make(
    path: Path,
    questions: int = 6515,
    passages: int = 100,
    keys: int = 42,
    seed: int = 0,
    *,
    queries: bool = False,
) -> Path:
    """Write the file, one question in memory; return its path."""
    rng = np.random.default_rng(seed)
    language = Language(rng)
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        file.write("[")
        for number in range(questions):
            record = _record(number, language, rng, passages, keys, queries)
            file.write("," if number else "")
            file.write("\n" + "".join(_indented(record)))
        file.write("\n]\n")
    return path


class Language:
    """Made-up words, and a corpus of passages in them, each the same at every call."""

    def __init__(self, rng: np.random.Generator) -> None:
        consonants = rng.choice(list("tnshrdlcmfwypvbgk"), (WORDS, 5))
        vowels = rng.choice(list("eaoiu"), (WORDS, 5))
        syllables = np.char.add(consonants, vowels)
        lengths = 1 + (np.log(np.arange(WORDS) + 1) / 2.6).astype(int)  # frequent words are short
        self.words = ["".join(row[:n]) for row, n in zip(syllables, lengths, strict=True)]
        self.seed = int(rng.integers(2**31))

    def text(self, rng: np.random.Generator, n: int) -> list[str]:
        """Return n words, the first words of the language most often."""
        return [self.words[i] for i in _zipf(rng, n, WORDS)]

    def passage(self, number: int) -> dict[str, str]:
        """Return title, text and id of a passage."""
        rng = np.random.default_rng([self.seed, number])
        title = " ".join(self.text(rng, 2)).title()
        return {
            "title": title,
            "text": " ".join(self.text(rng, TEXT_WORDS)),
            "passage_id": str(number),
        }

    def occurrences(self, text: str) -> int:
        """Return how often an n-gram occurs: less for more words, the same for the same n-gram."""
        draw = zlib.crc32(text.encode(), self.seed) / 2**32
        return 1 + int(10 ** (6 * draw / len(text.split())))


def _record(
    number: int,
    language: Language,
    rng: np.random.Generator,
    passages: int,
    keys: int,
    queries: bool,
) -> dict[str, Any]:
    numbers = rng.choice(PASSAGES, passages + 1, replace=False)
    found = [language.passage(int(n)) for n in numbers[:passages]]
    gold = [language.passage(int(numbers[rng.integers(passages + 1)])), language.passage(number)]
    answer = " ".join(gold[0]["text"].split()[10:12])
    ngrams = _ngrams(language, rng, found, queries)
    scores = np.sort(rng.gamma(4.0, 60.0, passages))[::-1]
    contexts = [
        {**passage, "score": float(score), "keys": _keys(ngrams, keys, rng)}
        for passage, score in zip(found, scores, strict=True)
    ]
    question = f"who {' '.join(language.text(rng, 8))}"
    return {
        "id": f"q{number}",
        "question": question,
        "answers": [answer],
        "positive_ctxs": gold,
        "ctxs": contexts,
    }


def _ngrams(
    language: Language, rng: np.random.Generator, found: list[dict[str, str]], queries: bool
) -> list[str]:
    """Return the n-grams of a question, `"text", occurrences` of each as it is written."""
    words = [word for passage in found for word in passage["text"].split()]
    made: dict[str, int] = {}
    starts = rng.integers(len(words) - 10, size=DISTINCT)
    lengths = rng.geometric(0.45, DISTINCT).clip(max=10)
    kinds = rng.random(DISTINCT)
    for number, (start, length, kind) in enumerate(zip(starts, lengths, kinds, strict=True)):
        text = " " + " ".join(words[start : start + length])
        if kind < TITLES:
            text = f"</s> {found[number % len(found)]['title']} @@"
        elif queries and kind < TITLES + QUERIES:
            text = f" ||{text} @@"
        made[text] = 0
    indent = ",\n" + MARGIN * 6
    return [f"{json.dumps(text)}{indent}{language.occurrences(text)}{indent}" for text in made]


def _keys(ngrams: list[str], keys: int, rng: np.random.Generator) -> str:
    """Return the keys of one passage as they are written, heaviest first."""
    drawn = dict.fromkeys(_zipf(rng, 4 * keys, len(ngrams)).tolist())
    chosen = list(drawn)[: max(1, int(rng.poisson(keys)))]
    weights = np.sort(rng.gamma(0.8, 8.0, len(chosen)))[::-1].tolist()
    deep, deeper = "\n" + MARGIN * 5, "\n" + MARGIN * 6
    written = (
        f"{deep}[{deeper}{ngrams[i]}{weight!r}{deep}]"
        for i, weight in zip(chosen, weights, strict=True)
    )
    return f"[{','.join(written)}\n{MARGIN * 4}]"


def _indented(record: dict[str, Any]) -> Iterator[str]:
    """Yield a record in parts, as `json.dump(indent=4)` writes it; its keys are written already."""
    contexts = record["ctxs"]
    head = json.dumps({**record, "ctxs": None}, indent=4).replace("\n", "\n" + MARGIN)
    yield MARGIN + head.removesuffix(f"null\n{MARGIN}}}") + "["
    for number, context in enumerate(contexts):
        yield "," if number else ""
        text = json.dumps({**context, "keys": None}, indent=4).replace("\n", "\n" + MARGIN * 3)
        yield f"\n{MARGIN * 3}{text.removesuffix(f'null{chr(10)}{MARGIN * 3}}}')}"
        yield f"{context['keys']}\n{MARGIN * 3}}}"
    yield f"\n{MARGIN * 2}]\n{MARGIN}}}"


def _zipf(rng: np.random.Generator, n: int, size: int) -> npt.NDArray[np.int64]:
    """Return n numbers below `size`, number i about as often as 1 / (i + 1)."""
    drawn: npt.NDArray[np.int64] = np.exp(rng.random(n) * np.log(size + 1)).astype(np.int64)
    return drawn - 1
