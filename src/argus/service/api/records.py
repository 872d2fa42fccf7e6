"""Records that come while the service runs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from functools import partial

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from typing_extensions import TypedDict

from argus.errors import ArgusError, InputError
from argus.service.api.searching import records_of
from argus.service.searching.indexing import Indexing
from argus.service.searching.summary import RecordsTaken, RecordsWaiting
from argus.service.state import Service, ServiceOf

router = APIRouter(tags=["records"])
ROWS = {
    "requestBody": {
        "required": True,
        "content": {
            "application/x-ndjson": {
                "schema": {"type": "string", "description": "A JSON object a line."}
            }
        },
    }
}


class StaleAnswers(TypedDict):
    """Keys of cached answers that no longer hold, until they are asked for again."""

    stale: list[str]


@router.post("/records", openapi_extra=ROWS)
async def take_records(request: Request, service: ServiceOf) -> RecordsTaken:
    """Take records, a JSON object a line, and name the cached answers that they make stale.

    A line is a record to insert, in the form of the records that are served; with `op: delete` or
    `op: correct` it names one by its id. All lines count, or none. They are on the disk before this
    answers, and are read again when the service starts. Documents that came are embedded right
    after, and those that went are taken out of the index: see /records/waiting.
    """
    authority = records_of(service)
    rows = list(_rows(await request.body(), service.config.max_rows))
    try:
        taken = await run_in_threadpool(authority.take, rows)
    except OSError as error:
        reason = error.strerror or "the disk cannot be written"
        raise ArgusError(f"The records cannot be kept ({reason}): none of them counts.") from error
    indexing = _indexing(service)
    indexing.want({change["record"] for change in taken["changes"]})
    service.metrics.stale.inc(len(taken["stale"]))
    service.log.write("records", changes=len(taken["changes"]), stale=len(taken["stale"]))
    return {**taken, "not_indexed": indexing.why_not}


@router.get("/records/stale")
def stale_answers(service: ServiceOf) -> StaleAnswers:
    """Return the keys of cached answers that no longer hold."""
    return {"stale": records_of(service).stale()}


@router.get("/records/waiting")
def waiting_records(service: ServiceOf) -> RecordsWaiting:
    """Return the documents of records that came and that a search cannot bring yet."""
    indexing = _indexing(service)
    return {
        "waiting": indexing.waiting,
        "held": sorted(indexing.held),
        "not_indexed": indexing.why_not,
    }


def _indexing(service: Service) -> Indexing:
    records_of(service)
    assert service.indexing is not None  # it is there with the records
    return service.indexing


def _rows(body: bytes, most: int) -> Iterator[dict[str, object]]:
    """Yield the objects of a body; InputError names the line of what is none."""
    lines = [(n, line) for n, line in enumerate(body.split(b"\n"), 1) if line.strip()]
    if not 1 <= len(lines) <= most:
        raise InputError(
            f"{len(lines):,} records",
            expected=f"1 to {most:,}, a JSON object a line",
            fix="Send them in parts.",
            where="the body",
        )
    for number, line in lines:
        where = f"the body, line {number}"
        try:
            row = json.loads(line, object_pairs_hook=partial(_object, where))
            json.dumps(row, allow_nan=False, ensure_ascii=False).encode()
        except (ValueError, RecursionError) as error:
            row = error
        if not isinstance(row, dict):
            raise InputError(
                f"{type(row).__name__} where a record should be",
                expected="a JSON object a line, in UTF-8 and of finite numbers",
                fix="Mend the line; none of the body counts.",
                where=where,
            )
        yield row


def _object(where: str, pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return an object; InputError for a key that it has twice, of which one would be lost."""
    made = dict(pairs)
    if len(made) < len(pairs):
        ((twice, _),) = Counter(key for key, _ in pairs).most_common(1)
        raise InputError(
            f"the key {twice[:100]!a} comes more than once",
            expected="every key once in an object",
            fix="Leave one of them out; none of the body counts.",
            where=where,
        )
    return made
