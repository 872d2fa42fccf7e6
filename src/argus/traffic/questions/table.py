"""One row per different question of the log, written as it is read: there may be millions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa
import pyarrow.parquet as pq

from argus.data.artifacts import ArtifactFolder, replacing
from argus.traffic.log.book import ANSWERED, LOGGED, LogBook
from argus.traffic.questions.sample import LookedAt

NAME = "questions.parquet"
AT_ONCE = 50_000
SOURCES = {LOGGED: "log", ANSWERED: "asked"}
SCHEMA = pa.schema(
    [
        ("question", pa.string()), ("text", pa.string()), ("asks", pa.int64()),
        ("good", pa.int64()), ("bad", pa.int64()), ("clicks", pa.int64()),
        ("first_asked", pa.timestamp("s", "UTC")), ("last_asked", pa.timestamp("s", "UTC")),
        ("looked_at", pa.bool_()), ("alike", pa.string()), ("source", pa.string()),
        ("failure", pa.string()), ("results", pa.int64()), ("top", pa.string()),
        ("top_score", pa.float64()), ("gap", pa.float64()), ("support", pa.float64()),
        ("nearest", pa.string()), ("unmet", pa.string()), ("risk_rank", pa.int64()),
        ("flag", pa.string()), ("documents", pa.list_(pa.string())),
        ("scores", pa.list_(pa.float64())),
    ]
)  # fmt: skip
"""One row per different question of a log.

question: its id in all tables.
text: its words, redacted; null where hashes alone are kept.
asks: how often it was asked.
good, bad: good, bad feedback on it.
clicks: clicks on its results.
first_asked, last_asked: when, UTC.
looked_at: whether it was looked at by itself.
alike: a nearly equal question that stands for it.
source: where its results are from: log or asked.
failure: why the retriever did not answer it.
results: results that came; null where it is not known.
top: id of the first.
top_score: its score.
gap: how far the first is ahead, as a share of all that scores span.
support: share of its words' weight in the best document (BM25), 0 to 1.
nearest: id of that document.
unmet: why nobody met it; null where somebody did.
risk_rank: its place by risk, 1 for the likeliest to fail: an order, no probability.
flag: why it is to be looked at whatever its rank: nothing came, or the corpus lacks its words.
documents: ids of what came, best first.
scores: their scores.
"""
_ALL = (
    "SELECT questions.id, text, n, SUM(good), SUM(bad), SUM(clicks), MIN(at), MAX(at) "
    "FROM questions JOIN asks ON question = questions.id GROUP BY questions.id"
)


def write_questions(folder: ArtifactFolder, book: LogBook, looked_at: Iterable[LookedAt]) -> None:
    """Write questions.parquet: what `argus traffic judge` reads, too."""
    known = {one.id: one for one in looked_at}
    names = {one.id: one.name for one in known.values()}

    def rows() -> Iterator[dict[str, object]]:
        for id_, text, n, good, bad, clicks, first, last in book.rows(_ALL):
            one = known.get(id_) or LookedAt(id_, text, n)
            yield {
                "question": one.name, "text": text, "asks": n, "good": good, "bad": bad,
                "clicks": clicks, "first_asked": first and int(first),
                "last_asked": last and int(last), "looked_at": id_ in known,
                "alike": names.get(one.alike) if one.alike is not None else None,
                "source": SOURCES.get(one.source), "failure": one.failure or None,
                **_of_results(one), "support": one.support, "nearest": one.nearest,
                "unmet": "; ".join(one.why) or None, "risk_rank": one.risk_rank,
                "flag": one.flag or None,
            }  # fmt: skip

    with (
        replacing(folder.own(NAME)) as temporary,
        pq.ParquetWriter(temporary, SCHEMA, compression="zstd") as writer,
    ):
        for part in batched_rows(rows()):
            writer.write_table(pa.Table.from_pylist(part, schema=SCHEMA))


def _of_results(one: LookedAt) -> dict[str, object]:
    if one.results is None:
        return {"results": None}
    top, score = one.results[0] if one.results else (None, None)
    return {
        "results": len(one.results), "top": top, "top_score": score, "gap": one.gap,
        "documents": [id_ for id_, _ in one.results],
        "scores": [score for _, score in one.results],
    }  # fmt: skip


def batched_rows(rows: Iterable[dict[str, object]]) -> Iterator[list[dict[str, object]]]:
    """Yield rows in lists of AT_ONCE."""
    part: list[dict[str, object]] = []
    for row in rows:
        part.append(row)
        if len(part) == AT_ONCE:
            yield part
            part = []
    if part:
        yield part
