"""A small index with scenarios, questions with reference answers, and an endpoint that judges."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

from argus.corpora.opening import read_corpus
from argus.data.types import Document, Query
from argus.encoders import EncoderConfig
from argus.indexes.job import build_index
from argus.indexes.views import ViewIndex
from argus.scenarios.files import read_profiles, scenario_views

DOCUMENTS = 10
# The scenario of each document that is no view: its need is the question.
HELD_OUT = 0


@dataclass(frozen=True)
class Asking:
    """index: with scenarios, and without them `@original`."""

    index: Path
    queries: Path
    answers: Path
    qrels: Path
    questions: list[Query]


def asking(folder: Path, scenarios: Path, encoder) -> Asking:
    """Index the first real documents with all their scenarios but one, which is asked for."""
    documents = read_corpus(scenarios / "scenarios.jsonl", limit=DOCUMENTS)
    documents = [Document(d.id, d.text) for d in documents]
    build_index(documents, out=folder / "index", encoder=EncoderConfig())
    profiles = read_profiles(scenarios / "scenarios.jsonl")
    views = scenario_views(profiles[d.id] for d in documents)
    views = [v for v in views if not v.id.endswith(f"-{HELD_OUT + 1}")]
    index = ViewIndex.open(folder / "index")
    index.add(views, encoder.encode_documents([v.text for v in views]), remedy="scenarios-1")
    held = {
        f"q{i:02}": (d.id, profiles[d.id].profile.scenarios[HELD_OUT])
        for i, d in enumerate(documents)
    }
    questions = [Query(q, s.information_need) for q, (_, s) in held.items()]
    files = {
        "queries": [{"_id": q.id, "text": q.text} for q in questions],
        "answers": [{"query_id": q, "answer": s.explanation} for q, (_, s) in held.items()],
        "qrels": [{"query_id": q, "doc_id": doc, "score": 1} for q, (doc, _) in held.items()],
    }
    paths = {}
    for name, records in files.items():
        paths[name] = folder / f"{name}.jsonl"
        paths[name].write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")
    return Asking(folder / "index", questions=questions, **paths)


def words(text):
    return set(re.findall(r"\w{4,}", text.lower()))


def between(prompt, name):
    """What stands in a judge's prompt under a name."""
    return re.search(rf"{name} START (\w+) -+\n(.*)\n-+ {name} END \1", prompt, re.DOTALL)[2]


def is_judging(prompt):
    return "STUDENT ANSWER START" in prompt


def graded(prompt):
    """The share of the reference's words in the answer, in steps of ten."""
    answer, reference = (words(between(prompt, f"{of} ANSWER")) for of in ("STUDENT", "REFERENCE"))
    return 10 * round(10 * len(answer & reference) / len(reference))


def honest(prompt, n=0):
    """Answer with what the context says, scenarios and all; judge by words."""
    if is_judging(prompt):
        return {"text": f"REASON:\nShared words.\nSCORE:\n{graded(prompt)}"}
    problem, context = re.search(
        r"Problem:\n(.*?)\n\nDocument:\n(.*)\n\nBased on", prompt, re.DOTALL
    ).groups()
    said = re.findall(r"^Explanation: (.*)$", context, re.MULTILINE)
    return {"text": f"{problem} {' '.join(said)} {context[:300]}"}
