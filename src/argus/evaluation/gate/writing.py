"""What a gate says, for a pipeline: JUnit XML, and Markdown for a step summary."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree as ET

from argus.data.markdown import code_in_cell, in_cell
from argus.evaluation.gate.outcome import Outcome, Verdict
from argus.visible import visible, visible_line

NOT_OF_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no XML may hold, whatever they are escaped by."""


def junit(outcomes: Sequence[Outcome]) -> str:
    """Return a JUnit report: a failure is a failure, what was not measured an error."""
    failures = sum(o.verdict is Verdict.FAIL for o in outcomes)
    errors = sum(o.verdict is Verdict.NOT_MEASURED for o in outcomes)
    suites = ET.Element("testsuites")
    counts = {"tests": len(outcomes), "failures": failures, "errors": errors}
    about = {name: str(n) for name, n in counts.items()}
    suite = ET.SubElement(suites, "testsuite", {"name": "argus gate", **about})
    for outcome in outcomes:
        name, _, rest = outcome.detail.partition(":")
        case = ET.SubElement(
            suite, "testcase",
            {
                "classname": _clean(visible_line(outcome.folder)),
                "name": _clean(f"{outcome.option} {name}"),
            },
        )  # fmt: skip
        if outcome.verdict is not Verdict.PASS:
            kind = "failure" if outcome.verdict is Verdict.FAIL else "error"
            element = ET.SubElement(case, kind, {"message": _clean(rest.strip() or name)})
            element.text = _clean(outcome.line)
        else:
            ET.SubElement(case, "system-out").text = _clean(outcome.line)
    ET.indent(suites)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(suites, "unicode") + "\n"


def _clean(text: str) -> str:
    return NOT_OF_XML.sub("�", visible(text))


def markdown(verdict: Verdict, outcomes: Sequence[Outcome]) -> str:
    """Return a summary for a pull request or a pipeline's step."""
    lines = [
        f"**Argus gate: {verdict}**",
        "",
        "| | check | measured | bound | of |",
        "|---|---|---:|---:|---|",
    ]
    signs = {"at most": "≤", "at least": "≥"}
    for o in outcomes:
        value, bound = o.shown
        cells = [
            str(o.verdict),
            code_in_cell(o.check),
            value,
            f"{signs.get(o.sign, o.sign)} {bound}",
            f"{in_cell(o.detail)} ({code_in_cell(o.folder)})",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"
