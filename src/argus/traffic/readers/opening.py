"""One door to a log: its files, the format of each, and its records one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path

from argus.data.field_paths import FieldPath
from argus.data.rows import field_names
from argus.errors import InputError
from argus.traffic.config import Format, LogConfig
from argus.traffic.exchange import Exchange, Feedback, ReadingTally, Skip
from argus.traffic.readers import datasets, plain, spans, ubi
from argus.traffic.readers.streams import Values, log_files, values_of
from argus.traffic.readers.wrapped import records_in

PEEKED = 50
"""Records by which a file's format is found."""
BEYOND = (ArithmeticError, ValueError, RecursionError)
"""What records raise whose numbers are too large to be counted with, whose lists are too deep."""
UNREADABLE = "a record with values too large or too deep to be read"
Fits = Callable[[Values, LogConfig], bool]
Read = Callable[[Values, LogConfig, ReadingTally], Iterator[Exchange | Feedback]]


@dataclass(frozen=True, slots=True)
class Reader:
    """How records of one format are known, and read."""

    fits: Fits
    read: Read
    whole: Callable[[Values], Values] = lambda values: values
    """Of a record, what a field is named in."""


READERS: dict[Format, Reader] = {
    "spans": Reader(spans.fits, spans.read, spans.whole),
    "ubi": Reader(ubi.fits, ubi.read, ubi.whole),
    "ragas": Reader(datasets.fits_ragas, datasets.read_ragas),
    "deepeval": Reader(datasets.fits_deepeval, datasets.read_deepeval),
    "plain": Reader(plain.fits, plain.read),
}
"""The most particular first: a plain log is whatever has a question."""


def exchanges(log: Path, config: LogConfig, tally: ReadingTally) -> Iterator[Exchange | Feedback]:
    """Yield the questions of a log, and what later records say of them, as the log has them.

    Nothing is redacted yet. tally: is filled while this is read. Raises InputError where a file is
    of no format, and at the end for a named field that no record has.
    """
    tally.unseen = _named(config)
    examples: list[Values] = []
    stays = partial(_stays, config)
    for path in log_files(log):
        records = (one for value in values_of(path, tally) for one in records_in(value, stays))
        head = list(islice(records, PEEKED))
        if not head:
            tally.files[path.name] = "empty"
            continue
        format_ = config.format or _format(path, head, config)
        tally.files[path.name] = format_
        reader = READERS[format_]
        examples += map(reader.whole, head[:1])
        yield from _read(reader, chain(head, records), config, tally)
    if examples:
        _check_named(log, tally, examples)
    for field, scale in tally.scales.items():
        if remark := scale.remark(field):
            tally.remarks[remark] = scale.n


def _stays(config: LogConfig, value: Values, name: str, inner: list[Values]) -> bool:
    """Return whether a record has a question, and a list of objects in it is what came.

    Pages of an API have texts, too ("message", or the request): whose name tells less than that of
    the question in the records that it holds is a page, and so is what holds records of questions
    with results of their own. Records of a format that is no plain one are records.
    """
    own = plain.named_question(value, config)
    if own is None or config.format not in (None, "plain"):
        return False
    if not plain.has_question(value, config):
        return False
    if (own_results := config.results_field) is not None:
        path = FieldPath.named(own_results, "--results-field")
        if path.steps[0][0] == name:
            return True
    others = [reader.fits for format_, reader in READERS.items() if format_ != "plain"]
    first = next((one for one in inner if isinstance(one, dict)), {})
    if any(fits(first, config) for fits in others):
        return False
    theirs = plain.named_question(first, config)
    if theirs is not None and plain.has_results(first, config):
        return False
    return theirs is None or own <= theirs


def _read(
    reader: Reader, records: Iterator[Values], config: LogConfig, tally: ReadingTally
) -> Iterator[Exchange | Feedback]:
    read, skipped = reader.read, tally.skipped
    for record in records:
        tally.records += 1
        tally.last.clear()
        try:
            if tally.unseen:
                _look_for_named(tally, reader.whole(record))
            yield from read(record, config, tally)
        except Skip as why:
            skipped[str(why)] += 1
        except BEYOND:
            skipped[UNREADABLE] += 1


def _named(config: LogConfig) -> dict[FieldPath, str]:
    """Return the fields that were named, each with its option."""
    own = {
        "--query-field": config.query_field, "--time-field": config.time_field,
        "--results-field": config.results_field, "--feedback-field": config.feedback_field,
        "--user-field": config.user_field, "--session-field": config.session_field,
    }  # fmt: skip
    pairs = [*own.items(), *(("--by", name) for name in config.by)]
    return {FieldPath.named(name, option): option for option, name in pairs if name is not None}


def _look_for_named(tally: ReadingTally, values: Values) -> None:
    for path in [path for path in tally.unseen if path.text in values or path.is_in(values)]:
        del tally.unseen[path]


def _check_named(log: Path, tally: ReadingTally, examples: list[Values]) -> None:
    """Raise InputError for a named field that no record has. examples: a record of each file."""
    for path, option in tally.unseen.items():
        try:
            names = [name for values in examples for name in field_names(values)]
        except RecursionError:
            names = [name for values in examples for name in values]
        raise InputError(
            f"no record of {log} has {path.text!r}",
            expected=f"one of {', '.join(map(repr, list(dict.fromkeys(names))[:20]))}",
            fix=f"Name one of them with {option}.",
            where=option,
        )


def _format(path: Path, head: list[Values], config: LogConfig) -> Format:
    """Return the format that fits most of a file's first records; InputError where none does."""
    counts: Counter[Format] = Counter()
    for record in head:
        name = next((name for name, reader in READERS.items() if reader.fits(record, config)), None)
        if name is not None:
            counts[name] += 1
    if counts:
        return counts.most_common(1)[0][0]
    names = ", ".join(map(repr, list(dict.fromkeys(n for one in head for n in one))[:20]))
    what = f"no field {config.query_field!r}" if config.query_field else "no question"
    raise InputError(
        f"{what} among {names or 'no fields'}",
        expected=f"a field such as {', '.join(map(repr, plain.QUERY[:4]))}, or spans, UBI, Ragas "
        "or DeepEval",
        fix="Name the field of the question with --query-field.",
        where=path,
    )
