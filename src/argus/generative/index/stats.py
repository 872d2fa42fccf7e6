"""`generative stats`: what an n-gram index holds, and how well its identifiers tell passages apart.

An n-gram that many passages share says little about each; one that occurs once is a name. Titles
that stand within other titles, or that several passages bear, are no names either.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from argus.data.artifacts import ArtifactFolder
from argus.data.locks import one_writer
from argus.data.types import IntArray
from argus.errors import InputError
from argus.generative.folders import described, index_folder
from argus.generative.index import NgramIndex, profile
from argus.generative.index.headline import stats_headline
from argus.generative.index.profile import LONGEST as MOST
from argus.generative.index.profile import NgramProfile
from argus.generative.index.settings import LONGEST
from argus.generative.index.summary import (
    Histogram,
    InnerTitle,
    NgramCounts,
    QueryCounts,
    RepeatedTitle,
    Spread,
    StatsSummary,
    TitleCounts,
    TokenCounts,
)
from argus.jobs.result import Result
from argus.jobs.workspace import Record, keep_input
from argus.progress import progress
from argus.reports import write_report

JOB = "generative_stats"
TABLE = "ngram_profile"
BLOCK = 8192
_QUANTILES = (0, 0.05, 0.5, 0.95, 1)
_BINS = 40
_NAMED = 5
_PARTS = {
    "text": ("text",),
    "suffix array": ("suffixes",),
    "continuations": ("first", "list_pointers", "list_tokens", "list_begins"),
    "passages and ids": ("starts", "splits", "hashes", "order", "id_pointers", "id_bytes"),
}

Title = tuple[int, ...]


@dataclass(frozen=True, repr=False)
class StatsResult(Result):
    """The figures; they are also in `folder`, where one was given."""

    TABLES = ("table",)
    summary: StatsSummary
    folder: Path | None = None
    report: Path | None = None

    @property
    def table(self) -> pa.Table:
        """One row per length of n-grams."""
        return _table(self.summary["ngrams"])

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        return stats_headline(self.summary)


@one_writer
def ngram_stats(
    index: Path | str,
    *,
    longest: int = LONGEST,
    out: Path | str | None = None,
    fresh: bool = False,
) -> StatsResult:
    """Describe an index; exact, nothing is sampled. With `out`, also as a report there.

    longest: n-grams of 1 to so many tokens are profiled. Raises InputError where there is no whole
    index.
    """
    if not 1 <= longest <= MOST:
        raise InputError(
            f"{longest}", expected=f"a length from 1 to {MOST}", fix=f"For example {LONGEST}.",
            where="--longest",
        )  # fmt: skip
    home = index_folder(index)
    opened = NgramIndex.open(home)
    folder = ArtifactFolder(Path(out), fresh=fresh) if out is not None else None
    if folder is not None:
        keep_input(folder, [home])
    record = Record(JOB, {"index": str(home), "longest": longest}, {})
    record.encoder["what"] = "index"
    record.encoder["fingerprint"] = described(home)
    summary = _summary(opened, home, longest, record)
    if folder is None:
        return StatsResult(summary)
    record.open(folder, about=[home.parent])
    folder.write_table(TABLE, _table(summary["ngrams"]), csv=True)
    counts = {"passages": opened.n_documents, "tokens": opened.n_tokens}
    folder.write_results(JOB, summary, record.manifest(counts))
    return StatsResult(summary, folder.path, write_report(folder.path))


def _summary(index: NgramIndex, home: Path, longest: int, record: Record) -> StatsSummary:
    with record.timed("passages"):
        lengths = _Lengths.of(index)
        titles = _titles(index, lengths) if index.titles else None
    with record.timed("n-grams"):
        ngrams = _ngrams(index, longest)
    by_part = _bytes(index)
    return {
        "index": str(home),
        "segments": len(index.segments),
        "tokens": _tokens(index),
        "bytes": by_part,
        "bytes_per_token": round(by_part["total"] / index.n_tokens, 3),
        "passages": {
            "total": index.n_documents,
            "tokens": spread(lengths.passages),
            "text_tokens": spread(lengths.texts),
            "without_text": int((lengths.texts == 0).sum()),
            "histogram": histogram(lengths.passages),
        },
        "titles": titles,
        "pseudo_queries": _pseudo_queries(index, lengths),
        "ngrams": ngrams,
    }


def spread(values: npt.NDArray[Any]) -> Spread | None:
    """Return mean and quantiles of numbers (values that occur, no interpolation); None of none."""
    if not len(values):
        return None
    least, p5, median, p95, most = map(int, np.quantile(values, _QUANTILES, method="lower"))
    return {
        "mean": round(float(values.mean()), 2),
        "min": least,
        "p5": p5,
        "median": median,
        "p95": p95,
        "max": most,
    }


def histogram(values: npt.NDArray[Any]) -> Histogram:
    """Return counts of whole numbers in bins of equal, whole width: edges (n + 1), counts (n)."""
    low, high = int(values.min()), int(values.max())
    width = max(1, -(-(high - low + 1) // _BINS))
    edges = np.arange(low, high + width + 1, width)
    return {"edges": edges.tolist(), "counts": np.histogram(values, edges)[0].tolist()}


@dataclass(frozen=True)
class _Lengths:
    """Tokens of every passage; each (n_documents,). queries_at: where its pseudo-queries begin."""

    passages: IntArray
    titles: IntArray
    texts: IntArray
    queries_at: IntArray

    @classmethod
    def of(cls, index: NgramIndex) -> _Lengths:
        splits = index.splits(np.arange(index.n_documents)).astype(np.int64)
        passages = np.concatenate([np.diff(s.starts) for s in index.segments]).astype(np.int64)
        titles = np.maximum(splits[:, 0] - 2, 0)  # without the border and the marker
        return cls(passages, titles, splits[:, 1] - splits[:, 0], splits[:, 1])


def _tokens(index: NgramIndex) -> TokenCounts:
    return {
        "total": index.n_tokens,
        "types": len(index.continuations(())[0]),
        "vocabulary": index.vocabulary_size,
    }


def _bytes(index: NgramIndex) -> dict[str, int]:
    by_array = index.bytes()
    parts = {part: sum(by_array[name] for name in names) for part, names in _PARTS.items()}
    return {"total": sum(by_array.values()), **parts}


def _titles(index: NgramIndex, lengths: _Lengths) -> TitleCounts:
    """Describe titles as sequences of tokens: repeated ones, and those inside other titles."""
    counts = Counter(_each_title(index, lengths))
    without = counts.pop((), 0)
    repeated = [title for title, n in counts.items() if n > 1]
    inside = _contained(counts)
    return {
        "distinct": len(counts),
        "without": without,
        "tokens": spread(lengths.titles[lengths.titles > 0]),
        "repeated": len(repeated),
        "passages_of_repeated": sum(counts[title] for title in repeated),
        "most_repeated": _most_repeated(index, counts, repeated),
        "inside_others": len(inside),
        "inside_examples": _inside_examples(index, inside),
    }


def _most_repeated(
    index: NgramIndex, counts: Counter[Title], repeated: Sequence[Title]
) -> list[RepeatedTitle]:
    often = sorted(repeated, key=lambda title: (-counts[title], title))[:_NAMED]
    texts = index.vocabulary.decode_all(often)
    return [
        {"title": text.strip(), "passages": counts[title]}
        for title, text in zip(often, texts, strict=True)
    ]


def _inside_examples(index: NgramIndex, inside: Mapping[Title, Title]) -> list[InnerTitle]:
    widest = sorted(inside, key=lambda title: (-len(title), title))[:_NAMED]
    decode = index.vocabulary.decode_all
    outer = decode([inside[title] for title in widest])
    return [
        {"title": title.strip(), "inside": other.strip()}
        for title, other in zip(decode(widest), outer, strict=True)
    ]


def _each_title(index: NgramIndex, lengths: _Lengths) -> Iterator[Title]:
    with progress("titles", index.n_documents) as advance:
        for pointers, tokens, which in _blocks(index):
            for at, length in zip(pointers[:-1], lengths.titles[which], strict=True):
                yield tuple(tokens[at + 1 : at + 1 + length].tolist())
            advance(len(which))


def _blocks(index: NgramIndex) -> Iterator[tuple[IntArray, npt.NDArray[np.int32], IntArray]]:
    """Yield (pointers, tokens, document numbers) of consecutive passages."""
    for start in range(0, index.n_documents, BLOCK):
        which = np.arange(start, min(start + BLOCK, index.n_documents))
        yield *index.tokens_of(which), which


def _contained(titles: Counter[Title]) -> dict[Title, Title]:
    """Return each title that stands within a longer one, with the first such one."""
    outer: dict[Title, Title] = {}
    for title in titles:
        n = len(title)
        for start in range(n):
            for end in range(start + 1, n + 1):
                part = title[start:end]
                if end - start < n and part in titles:
                    outer.setdefault(part, title)
    return outer


def _pseudo_queries(index: NgramIndex, lengths: _Lengths) -> QueryCounts | None:
    """Return how many pseudo-queries passages have; None where there is none."""
    if not (lengths.queries_at < lengths.passages).any():
        return None
    start = index.vocabulary.query_start
    per_passage = np.zeros(index.n_documents, np.int64)
    for pointers, tokens, which in _blocks(index):
        owner = np.repeat(np.arange(len(which)), np.diff(pointers))
        behind = np.arange(len(tokens)) - pointers[owner] >= lengths.queries_at[which][owner]
        per_passage[which] = np.bincount(owner[behind & (tokens == start)], minlength=len(which))
    return {
        "queries": int(per_passage.sum()),
        "passages": int((per_passage > 0).sum()),
        "per_passage": spread(per_passage),
    }


def _ngrams(index: NgramIndex, longest: int) -> list[NgramCounts]:
    """Return the profile of n-grams of every length."""
    return [_row(of_length) for of_length in profile(index, range(1, longest + 1))]


def _row(ngrams: NgramProfile) -> NgramCounts:
    return {
        "length": ngrams.length,
        "distinct": ngrams.distinct,
        "occurrences": ngrams.occurrences,
        "singletons": ngrams.singletons,
        "in_one_passage": ngrams.in_one_passage,
        "frequency_quantiles": _by_name(ngrams.frequency_quantiles),
        "passages_quantiles": _by_name(ngrams.passages_quantiles),
    }


def _by_name(quantiles: Mapping[float, int]) -> dict[str, int]:
    names = {0.5: "median", 1.0: "most"}
    return {names.get(q, f"{100 * q:g}%"): n for q, n in quantiles.items()}


def _table(ngrams: Sequence[NgramCounts]) -> pa.Table:
    """See `LENGTHS`."""
    flat = [
        {
            "length": row["length"],
            "distinct": row["distinct"],
            "occurrences": row["occurrences"],
            "singletons": row["singletons"],
            "in_one_passage": row["in_one_passage"],
            **{f"frequency_{name}": n for name, n in row["frequency_quantiles"].items()},
            **{f"passages_{name}": n for name, n in row["passages_quantiles"].items()},
        }
        for row in ngrams
    ]
    quantiles = [name for name in (flat[0] if flat else ()) if name not in LENGTHS.names]
    more = [pa.field(name, pa.int64()) for name in quantiles]
    return pa.Table.from_pylist(flat, schema=pa.schema([*LENGTHS, *more]))


LENGTHS = pa.schema(
    [
        (name, pa.int64())
        for name in ("length", "distinct", "occurrences", "singletons", "in_one_passage")
    ]
)
"""One row per length of n-gram; quantiles besides, as `frequency_90%` and `passages_most`.

length: tokens of the n-grams.
distinct: different n-grams.
occurrences: all of their occurrences.
singletons: n-grams that occur once.
in_one_passage: n-grams of one passage alone, singletons among them.
"""
