"""Which questions are judged: a random sample of all that was asked, kept beside its results."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from typing_extensions import TypedDict

from argus.data.artifacts import ArtifactFolder
from argus.data.provenance import content_hash
from argus.data.records import read_record
from argus.errors import InputError

PLAN = "draw.json"
MOST_ASKS = 1_000_000
"""Asks that are drawn at most: where few questions are nearly all of a log, more tell nothing."""


class SampleRecord(TypedDict):
    """draw.json.

    log: digest of the log that was drawn from. seed: of the draw. questions: how many to judge.
    """

    log: str
    seed: int
    questions: int


@dataclass(frozen=True)
class Sample:
    """Asks of a log in the order in which they are drawn, each by its question.

    asks: up to the last one before a question that is not to be judged.
    """

    asks: tuple[str, ...]
    seed: int

    @property
    def questions(self) -> list[str]:
        """The questions to judge, in the order of the draw."""
        return list(dict.fromkeys(self.asks))

    def judged_asks(self, judged: Collection[str]) -> list[str]:
        """Return the asks of judged questions, up to the next question after the last of these."""
        order = self.questions
        last = max((i for i, id_ in enumerate(order) if id_ in judged), default=-1)
        end = self.asks.index(order[last + 1]) if last + 1 < len(order) else len(self.asks)
        return [id_ for id_ in self.asks[:end] if id_ in judged]

    def skipped(self, judged: Collection[str]) -> int:
        """Return how many questions were passed over before the last judged one."""
        last = max((i for i, id_ in enumerate(self.questions) if id_ in judged), default=-1)
        return last + 1 - len({*self.questions} & {*judged})


def draw_sample(times: Mapping[str, int], budget: int, seed: int) -> Sample:
    """Draw asks without replacement until they are of `budget` questions; every ask is as likely.

    times: question to how often it was asked. By id and seed: a larger budget holds a smaller one.
    """
    asks: list[str] = []
    seen: set[str] = set()
    for id_ in _in_random_order(times, seed):
        if (id_ not in seen and len(seen) == budget) or len(asks) == MOST_ASKS:
            break
        seen.add(id_)
        asks.append(id_)
    return Sample(tuple(asks), seed)


def _in_random_order(times: Mapping[str, int], seed: int) -> Iterator[str]:
    """Yield questions, one an ask: asks come at uniform times, of which the next is made at need.

    Of m uniform times after t the first is 1 - (1 - t)(1 - u)^(1/m), u uniform.
    """

    def after(id_: str, n: int, time: float) -> float:
        digest = content_hash(str(seed), "judge", id_, str(n), size=7)
        share = int.from_bytes(digest, "big") / (1 << 56)
        return float(1 - (1 - time) * (1 - share) ** (1 / (times[id_] - n)))

    waiting = [(after(id_, 0, 0.0), id_, 0) for id_ in times]
    heapq.heapify(waiting)
    while waiting:
        time, id_, n = waiting[0]
        yield id_
        if n + 1 < times[id_]:
            heapq.heapreplace(waiting, (after(id_, n + 1, time), id_, n + 1))
        else:
            heapq.heappop(waiting)


def write_sample(folder: ArtifactFolder, sample: Sample, log: str) -> None:
    """Write draw.json."""
    record: SampleRecord = {"log": log, "seed": sample.seed, "questions": len(sample.questions)}
    folder.write_json(PLAN, record)


def read_sample(folder: ArtifactFolder, log: str | None = None) -> SampleRecord | None:
    """Return what was drawn before; None where nothing was. InputError for another log's.

    log: its digest; None takes whatever log it was drawn from.
    """
    value = folder.read_json(PLAN)
    if not value:
        return None
    path = folder / PLAN
    record = read_record(SampleRecord, value, where=path)
    if log is not None and record["log"] != log:
        raise InputError(
            "holds what was drawn from another log, or what was served then",
            expected="the log and the run that judging began with: grades are of what was served",
            fix="Give another --out, or begin anew with --fresh.",
            where=path,
        )
    return record
