"""An endpoint that repeats its documents, and judges an answer by which side's words it repeats."""

import json
import re

from argus.authority.benchmarks.collection import Benchmark, Question
from argus.authority.rules import Edge, Record

OLD = "The archive reader writes outside of its folder and no fix is known for archive {i}."
NEW = "Members are checked before extraction since release {i}; upgrade today."
N = 4


def made(**changes):
    """Four flaws, each with its fix, and a question each that speaks as the flaw does."""
    records = [Record(f"flaw{i}", "d", text=OLD.format(i=f"alpha{i}")) for i in range(N)]
    records += [Record(f"fix{i}", "p", text=NEW.format(i=f"beta{i}")) for i in range(N)]
    questions = [
        Question(f"q{i}", f"Is a fix known for archive alpha{i} of the reader?", (f"fix{i}",),
                 (f"flaw{i}",), (f"flaw{i}", f"fix{i}"))
        for i in range(N)
    ]  # fmt: skip
    edges = [Edge(f"fix{i}", f"flaw{i}") for i in range(N)]
    return Benchmark("made", records, changes.get("questions", questions), edges)


PART = r"-+ {name} START (\w+) -+\n(.*?)\n-+ {name} END \1 -+"


def parts(prompt, name):
    """Return all that stands under a name in a prompt."""
    return [text for _, text in re.findall(PART.format(name=name), prompt, re.DOTALL)]


def is_judging(prompt):
    return bool(parts(prompt, "ANSWER"))


def judge(prompt):
    """Return the class of an answer that repeats documents."""
    (answer,) = parts(prompt, "ANSWER")
    now, before = parts(prompt, r"HOLDS NOW \d+"), parts(prompt, r"SUPERSEDED \d+")
    if any(text[:80] in answer for text in now):
        return "correct"
    return "wrong" if any(text[:80] in answer for text in before) else "uncertain"


def faithful(prompt, n=0):
    """Answer with the documents as they stand; judge by them."""
    if is_judging(prompt):
        return {"text": json.dumps({"reason": "by its words", "verdict": judge(prompt)})}
    return {"text": " ".join(text[:400] for text in parts(prompt, r"DOCUMENT \d+"))}
