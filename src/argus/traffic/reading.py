"""A log, read and redacted: what everything else sees of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from argus.traffic.config import LogConfig
from argus.traffic.exchange import Exchange, Feedback, Passage, ReadingTally
from argus.traffic.readers.opening import exchanges
from argus.traffic.redaction.keys import Keys
from argus.traffic.redaction.redactor import IN_IDS, Redactor, own_patterns

IDS = 65_536
"""Ids whose cleaning is remembered: the same documents come again and again."""


@dataclass
class TrafficReader:
    """Reads a log; what it counted on the way is in `tally` and `redacted`. Made by `of`."""

    log: Path
    config: LogConfig
    _redactor: Redactor
    _keys: Keys
    tally: ReadingTally = field(default_factory=ReadingTally)

    def __post_init__(self) -> None:
        self.clean_id = lru_cache(IDS)(self._clean_id)

    @classmethod
    def of(cls, log: Path, config: LogConfig) -> TrafficReader:
        """Read patterns and secret. Raises InputError where they cannot be."""
        return cls(log, config, Redactor(own_patterns(config.redact)), Keys.of(config))

    def __iter__(self) -> Iterator[Exchange | Feedback]:
        for one in exchanges(self.log, self.config, self.tally):
            yield self._clean(one) if isinstance(one, Exchange) else self._clean_feedback(one)

    @property
    def redacted(self) -> dict[str, int]:
        """How often each kind of secret was replaced so far, the most frequent first."""
        return dict(self._redactor.counts.most_common())

    def key(self, query: str) -> bytes:
        """Return what a redacted question is counted by: equal ones share it."""
        return self._keys.of_question(query)

    def _clean(self, exchange: Exchange) -> Exchange:
        clean, keys, results = self._redactor.clean, self._keys, exchange.results
        slices = exchange.slices
        return Exchange(
            clean(exchange.query),
            exchange.at,
            results and tuple(self._clean_passage(one) for one in results),
            exchange.good,
            exchange.bad,
            tuple(map(self.clean_id, exchange.clicks)),
            keys.of_person(exchange.user),
            keys.of_person(exchange.session),
            tuple(one and clean(whole(one)) for one in slices) if slices else slices,
            keys.of_person(exchange.ref),
            exchange.marks,
        )

    def _clean_feedback(self, feedback: Feedback) -> Feedback:
        ref = self._keys.of_person(feedback.ref)
        return replace(feedback, ref=ref, click=self.clean_id(feedback.click))

    def _clean_passage(self, passage: Passage) -> Passage:
        """Return a passage with a clean id; a text is kept where there is none, and redacted."""
        id_ = self.clean_id(passage.id)
        if id_ and not passage.text and id_ == passage.id:
            return passage
        text = ""
        if passage.text and not passage.id:
            text = self._redactor.clean(whole(passage.text))
        return Passage(id_, passage.score, text)

    def _clean_id(self, id_: str) -> str:
        """Return an id without mails and tokens; what was in it keeps it apart from others."""
        id_ = whole(id_)
        cleaned = self._redactor.clean(id_, IN_IDS) if id_ else id_
        return id_ if cleaned == id_ else f"{cleaned}#{self._keys.of_person(id_)[:8]}"


def whole(text: str) -> str:
    """Return a text with half characters replaced, which nothing can write."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def read_traffic(log: Path | str, config: LogConfig | None = None) -> TrafficReader:
    """Return the questions of a log, read as they are iterated over, redacted.

    log: a file or a folder of them: JSONL, CSV, TSV, spans of OpenInference or OpenTelemetry
    (JSON, OTLP, Parquet), OpenSearch UBI, Ragas, DeepEval. Users and sessions are keyed hashes.
    Memory does not grow with the log. Raises InputError where it is none.
    """
    return TrafficReader.of(Path(log), config or LogConfig())
