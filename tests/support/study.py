"""Raters who fill the sheets of a study by a rule."""

import csv
import json

from argus.scenarios.study import Criterion


def fill(study, out, rule, *, sheets=None):
    """Write filled sheets into a folder; rule: from a line of the key to A, B, tie or ""."""
    out.mkdir(exist_ok=True)
    lines = (study / "key.jsonl").read_text(encoding="utf-8").splitlines()
    key = {(row["sheet"], row["pair"]): row for row in map(json.loads, lines)}
    for path in sorted((study / "sheets").glob("*.csv")):
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
        if sheets is not None and int(rows[0]["sheet"]) not in sheets:
            continue
        with (out / path.name).open("w", encoding="utf-8", newline="") as file:
            names = ["sheet", "pair", *Criterion]
            write = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n").writerow
            write(names)
            for row in rows:
                side = rule(key[int(row["sheet"]), row["pair"]])
                write([row["sheet"], row["pair"], *[side] * len(Criterion)])
