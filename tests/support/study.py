"""Raters who answer the sheets of a study by a rule."""

import csv
import json
from collections import defaultdict

from argus.scenarios.study import Criterion


def fill(study, out, rule, *, sheets=None):
    """Write saved answers into a folder; rule: from a line of the key to A, B, tie or ""."""
    out.mkdir(exist_ok=True)
    by_sheet = defaultdict(list)
    for row in map(json.loads, (study / "key.jsonl").read_text(encoding="utf-8").splitlines()):
        by_sheet[row["sheet"]].append(row)
    for sheet, rows in by_sheet.items():
        if sheets is not None and sheet not in sheets:
            continue
        with (out / f"answers-{sheet}.csv").open("w", encoding="utf-8", newline="") as file:
            write = csv.writer(file, lineterminator="\n").writerow
            write(["sheet", "pair", *Criterion])
            for row in rows:
                write([sheet, row["pair"], *[rule(row)] * len(Criterion)])
