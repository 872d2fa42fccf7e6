"""Read a log, and redact it before any other code sees it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

from argus.errors import NothingMeasured
from argus.traffic.config import LogConfig
from argus.traffic.exchange import Exchange, Feedback, Passage, ReadingTally
from argus.traffic.formats import read_exchanges
from argus.traffic.redaction import IN_IDS, Keys, Redactor, own_patterns

SHOWN, WIDEST = 3, 60
"""Questions of a preview, and characters of a value in it."""
IDS = 65_536
"""Ids whose cleaning is remembered: the same documents come again and again."""


class TrafficReader:
    """Iterate over the redacted questions of a log, counting in `tally` and `redacted`.

    Raises InputError for a bad pattern or a short secret.
    """

    def __init__(self, log: Path, config: LogConfig) -> None:
        self.log, self.config, self.tally = log, config, ReadingTally()
        self._redactor, self._keys = Redactor(own_patterns(config.redact)), Keys(config)
        self.clean_id = lru_cache(IDS)(self._clean_id)

    def __iter__(self) -> Iterator[Exchange | Feedback]:
        for one in read_exchanges(self.log, self.config, self.tally):
            if isinstance(one, Exchange):
                yield self._clean(one)
            else:
                ref = self._keys.of_person(one.ref)
                yield replace(one, ref=ref, click=self.clean_id(one.click))

    def preview(self) -> list[str]:
        """Describe how the first questions are read, field by field, as lines.

        Reads on until every named field was seen. Raises InputError for one that no record has,
        NothingMeasured for a log without a question.
        """
        lines: list[str] = []
        questions = 0
        for one in self:
            if isinstance(one, Exchange) and questions < SHOWN:
                questions += 1
                lines += self._shown(one)
            if questions == SHOWN and not self.tally.unseen:
                break
        if questions:
            return lines
        reasons = [f"{n:,} {reason}" for reason, n in self.tally.skipped.items()]
        why = "; ".join(reasons) or "it is empty, or speaks of questions elsewhere"
        raise NothingMeasured(
            f"question in {self.log}",
            f"Left out: {why}. Logs are JSON, JSON lines, CSV, TSV or Parquet (docs/traffic.md); "
            "make one record of each question with its time and results.",
        )

    def _shown(self, one: Exchange) -> Iterator[str]:
        """Yield a question's fields with their values."""
        file, format_ = next(reversed(self.tally.files.items()))
        yield f"{file}, record {self.tally.records:,}, read as {format_}:"
        ids = ", ".join(passage.id or "a text without an id" for passage in one.results or ())
        said = f"{one.good} good, {one.bad} bad"
        values = {
            "question": "kept as a hash" if self.config.hash_only else one.query,
            "results": "unreadable" if one.results is None else f"{len(one.results)}: {ids}",
            "feedback": "a mark: all marks of the log tell what it means" if one.marks else said,
            "clicks": f"{len(one.clicks)}",
            "time": "no time" if one.at is None else f"{datetime.fromtimestamp(one.at, UTC)}",
            "user": "kept as a hash",
            "session": "kept as a hash",
        }
        named = [(role, self.tally.last.get(role, ""), value) for role, value in values.items()]
        slices = enumerate(zip(self.config.by, one.slices, strict=True), 1)
        named += [(f"slice {i}", name, value or "nothing") for i, (name, value) in slices]
        for role, name, value in named:
            value = value if len(value) <= WIDEST else f"{value[:WIDEST].rstrip()} …"
            yield f"  {role:<9} {f'{name} = {value}' if name else 'not in the record'}"

    @property
    def redacted(self) -> dict[str, int]:
        """Number of replacements so far by kind of secret, the most frequent first."""
        return dict(self._redactor.counts.most_common())

    def key(self, query: str) -> bytes:
        """Return the hash of a redacted question, which equal ones share."""
        return self._keys.of_question(query)

    def _clean(self, exchange: Exchange) -> Exchange:
        clean, keys = self._redactor.clean, self._keys
        results, slices = exchange.results, exchange.slices
        return replace(
            exchange,
            query=clean(exchange.query),
            results=results and tuple(map(self._clean_passage, results)),
            clicks=tuple(map(self.clean_id, exchange.clicks)),
            user=keys.of_person(exchange.user),
            session=keys.of_person(exchange.session),
            slices=tuple(one and clean(whole(one)) for one in slices),
            ref=keys.of_person(exchange.ref),
        )

    def _clean_passage(self, passage: Passage) -> Passage:
        """Return a passage with a clean id, or else with its redacted text."""
        id_ = self.clean_id(passage.id)
        if id_ and not passage.text and id_ == passage.id:
            return passage
        text = ""
        if passage.text and not passage.id:
            text = self._redactor.clean(whole(passage.text))
        return Passage(id_, passage.score, text)

    def _clean_id(self, id_: str) -> str:
        """Return an id without mails and tokens, and with a hash of these instead."""
        id_ = whole(id_)
        cleaned = self._redactor.clean(id_, IN_IDS) if id_ else id_
        return id_ if cleaned == id_ else f"{cleaned}#{self._keys.of_person(id_)[:8]}"


def whole(text: str) -> str:
    """Return a text with half characters replaced, which nothing can write."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def read_traffic(log: Path | str, config: LogConfig | None = None) -> TrafficReader:
    """Read the questions of a log, redacted, as you iterate over them.

    log: a file or a folder of them: JSONL, CSV, TSV, spans of OpenInference or OpenTelemetry
    (JSON, OTLP, Parquet), OpenSearch UBI, Ragas, DeepEval. Users and sessions are keyed hashes.
    Memory does not grow with the log. Raises InputError for a file that is no log.
    """
    return TrafficReader(Path(log), config or LogConfig())
