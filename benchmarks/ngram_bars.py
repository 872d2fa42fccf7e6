"""Published figures of the C++ reference, and the bars that are stated in terms of them.

Native build, corpus of 10,000,113 tokens, two cores of a Xeon; where a range is published, its
lower end. Part of `ngram_index`, which says why they are quoted and not measured.
"""

from __future__ import annotations

from typing import Any

LENGTHS, PREFIXES = (1, 2, 3, 5, 8, 10), tuple(range(1, 10))

PUBLISHED = {
    "build_s": 8.4,
    "bytes_per_token": 3.28,
    "load_ms": 110.0,
    "row_to_document_us": 32.0,
    "get_doc_us": 130.0,
}
PUBLISHED_BY_LENGTH: dict[str, dict[int, float]] = {
    "count_us": {1: 1.1, 2: 5.2, 3: 8.1, 5: 12.8, 8: 18.6, 10: 21.6},
    "count_batched_us": {1: 1.0, 2: 4.3, 3: 7.7, 5: 12.8, 8: 17.2, 10: 20.8},
    "distinct_us": dict(zip(PREFIXES, (342.7, 49.7, 34.0, 35.1, 38.0, 41.5, 43.9, 47.3, 50.2),
                            strict=True)),
    "beams_us": dict(zip(PREFIXES, (6260, 1220, 955, 874, 974.1, 1020, 1090, 1130, 1170),
                         strict=True)),
}  # fmt: skip

Row = dict[str, Any]
NOT_COMPARABLE = "not comparable (another machine and run)"


def published(name: str, length: int, measured: float) -> dict[str, float]:
    """Return the figure for n-grams of a length (microseconds), and how often ours goes in."""
    figure = PUBLISHED_BY_LENGTH[name][length]
    return {"published_us": figure, "times_published": round(figure / measured, 1)}


def against(name: str, measured: float) -> dict[str, float]:
    """Return the figure that has no length, and how often ours goes into it."""
    figure = PUBLISHED[name]
    return {"published": figure, "times_published": round(figure / measured, 1)}


def bars(result: Row) -> list[Row]:
    """Return every bar of the index with what was measured.

    Bars of constrained decoding and of evidence are those of the benchmarks that measure them.
    """

    def at(name: str, *lengths: int, field: str = "times_published") -> float:
        return float(min(row[field] for row in result[name] if row["length"] in lengths))

    files, build = result["files"], result["build"]
    beyond = build["peak_bytes_per_token_beyond_inputs"]
    rows = [
        {"what": what, "bar": f"<= {most}", "measured": measured,
         "verdict": "met" if measured <= most else "missed"}
        for what, most, measured in (
            ("build peak beyond inputs, bytes per token", 30, beyond),
            ("files, times the reference's bytes per token", 2.2, files["times_published"]),
        )
    ]  # fmt: skip
    serial = "fifteen beams in one call against a serial loop, prefix 3-9"
    rows += [
        {"what": what, "bar": f">= {bar}", "measured": measured, "verdict": NOT_COMPARABLE}
        for what, bar, measured in (
            ("build", 4, build["times_published"]),
            ("load", 20, result["load"]["times_published"]),
            ("count, length 1", 1, at("count", 1)),
            ("count, length 2-3", 1.5, at("count", 2, 3)),
            ("count, length 5", 3, at("count", 5)),
            ("count, length 10", 5, at("count", 10)),
            ("count in one batch of 300, any length", 4, at("count_batched", *LENGTHS)),
            ("count in one batch of 300, length 10", 8, at("count_batched", 10)),
            ("distinct with counts, prefix 1", 20, at("distinct", 1)),
            ("distinct with counts, prefix 2-9", 4, at("distinct", *PREFIXES[1:])),
            ("fifteen beams in one call, prefix 1", 20, at("beams", 1)),
            ("fifteen beams in one call, prefix 2", 5, at("beams", 2)),
            ("fifteen beams in one call, prefix 3-9", 8, at("beams", *PREFIXES[2:])),
            (serial, 5, at("beams", *PREFIXES[2:], field="times_published_serial")),
            ("row to document", 50, result["row_to_document"]["times_published"]),
            ("tokens of a document", 15, result["get_doc"]["times_published"]),
        )
    ]
    return rows
