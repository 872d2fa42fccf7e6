"""The n-grams of a question, gathered passage by passage."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from argus.generative.failures.case import BODY, QUERY, TITLE, Keys, Ngram
from argus.generative.failures.reading.problems import Notes, Problem
from argus.generative.failures.reading.settings import Reading
from argus.generative.failures.reading.values import GREATEST, GREATEST_NUMBER, count, number
from argus.generative.failures.words import words

QUERY_START, TITLE_END = "||", "@@"
_TEXT, _COUNT, _WEIGHT = ("ngram", "text"), ("count", "freq", "frequency"), ("weight", "score")


@dataclass(frozen=True, slots=True)
class _Key:
    """A key as it is written. count: None if it is missing."""

    text: object
    count: object
    weight: object


class Ngrams:
    """The different n-grams of one question, by their text as the file has it."""

    def __init__(self, note: Notes) -> None:
        self._note = note
        self._places: dict[str, int] = {}
        self._counts: list[int | None] = []

    def keys(self, listed: object, place: str) -> Keys | None:
        """Return the keys of a passage: `[text, count, weight]` each, or as `read_case` says."""
        if listed is None:
            self._note(Problem.NO_KEYS, place, "none")
            return None
        if not isinstance(listed, list):
            self._note(Problem.KEYS, place, listed)
            return None
        if not listed:
            self._note(Problem.NO_KEYS, place, "an empty list")
        regular = self._regular(listed)
        return self._mended(listed, place) if regular is None else regular

    def gathered(
        self, texts: list[str], reading: Reading
    ) -> tuple[list[tuple[Hashable, ...]], tuple[Ngram, ...]]:
        """Return the tokens of each of `texts`, and all n-grams. Splits new texts in one go."""
        new = {raw: _bare(raw, reading.border) for raw in self._places if raw not in reading.memory}
        counted = new if reading.strict else (text for text, _ in new.values())
        split = reading.tokens.split([*texts, *counted])
        first = {
            raw: Ngram(text, view, tokens, words(text), self._counts[self._places[raw]])
            for (raw, (text, view)), tokens in zip(new.items(), split[len(texts) :], strict=True)
        }
        known = {**{raw: reading.memory[raw] for raw in self._places if raw not in first}, **first}
        reading.remember(first)
        ngrams = (
            known[raw] if known[raw].count == times else replace(known[raw], count=times)
            for raw, times in zip(self._places, self._counts, strict=True)
        )
        return split[: len(texts)], tuple(ngrams)

    def _regular(self, listed: list[Any]) -> Keys | None:  # of a file: anything may be in it
        """Return the keys of a list that is as it should be. None for any other."""
        try:
            texts, counts, weights, *_ = zip(*listed, strict=True)
        except (TypeError, ValueError):
            return None
        regular = (
            {*map(type, texts)} == {str}
            and {*map(type, counts)} == {int}
            and {*map(type, weights)} <= {float, int}
            and min(counts) >= 0
            and max(counts) <= GREATEST
            and len({*texts}) == len(texts)
        )
        if not regular:
            return None
        try:
            added = np.array(weights, np.float64)
        except OverflowError:
            return None
        if not (np.abs(added) <= GREATEST_NUMBER).all():
            return None
        n, places = len(self._counts), self._places
        at = [places.setdefault(text, len(places)) for text in texts]
        self._counts.extend(times for i, times in zip(at, counts, strict=True) if i >= n)
        if any(self._counts[i] != times for i, times in zip(at, counts, strict=True)):
            return None
        return Keys(np.array(at, np.int64), added)

    def _mended(self, listed: list[object], place: str) -> Keys:
        """Return the keys of any list, and note problems."""
        weights: dict[int, float] = {}
        for position, value in enumerate(listed):
            where = f"{place}[{position}]"
            key = _key(value)
            weight = number(key.weight, self._note, where) if key else None
            times = count(key.count, self._note, where) if key else None
            readable = key and weight is not None and (times is not None or key.count is None)
            if not key or not isinstance(key.text, str) or weight is None or not readable:
                self._note(Problem.KEYS, where, value)
                continue
            at = self._place(key.text, times, where)
            if at in weights:
                self._note(Problem.KEYS_TWICE, where, key.text)
            weights[at] = weights.get(at, 0.0) + weight
        return Keys(np.array(list(weights), np.int64), np.array(list(weights.values()), np.float64))

    def _place(self, text: str, times: int | None, where: str) -> int:
        """Return where an n-gram is among the question's. Its first frequency stays."""
        at = self._places.setdefault(text, len(self._places))
        if at == len(self._counts):
            self._counts.append(times)
        known = self._counts[at]
        if times is None:
            self._note(Problem.NO_FREQUENCY, where, text)
        elif known is None:
            self._counts[at] = times
        elif known != times:
            self._note(Problem.FREQUENCIES, where, f"{text!r}: {known} and {times}")
        return at


def _key(value: object) -> _Key | None:
    """Return a key written as a pair, a triple or more, or an object. None for anything else."""
    if isinstance(value, dict):
        text, times, weight = (
            next((value[name] for name in names if value.get(name) is not None), None)
            for names in (_TEXT, _COUNT, _WEIGHT)
        )
        return _Key(text, times, weight)
    if not isinstance(value, list) or len(value) < 2:
        return None
    return _Key(value[0], None, value[1]) if len(value) == 2 else _Key(*value[:3])


def _bare(raw: str, border: str) -> tuple[str, str]:
    """Return the text of an n-gram without its markers, and its view."""
    text, view = raw.strip(), BODY
    if text.startswith(border):
        text, view = text.removeprefix(border).lstrip(), TITLE
    elif text.startswith(QUERY_START):
        text, view = text.removeprefix(QUERY_START).lstrip(), QUERY
    if text == TITLE_END or text.endswith(" " + TITLE_END):
        text = text.removesuffix(TITLE_END).rstrip()
    return text, view
