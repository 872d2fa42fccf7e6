"""Open the results of one or two search systems for the analysis of failures.

`open_outputs`: files of DPR JSON, or runs with their corpus -> `Output`s, with one record per
question: the question, its answers and the passages that came back. `reading` parses a record.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from argus.corpora import NamedCorpus
from argus.corpora.opening import read_corpus
from argus.data.documents import json_items, read_topics
from argus.data.fields import FieldNames
from argus.data.reading import parse_json
from argus.data.rows import suffix_of
from argus.data.runs import ranking, read_run
from argus.data.types import Document, Qrels, Run, Topic
from argus.errors import InputError
from argus.generative.results import DPR, RUN, RUN_JSON
from argus.generative.results import FILE as ANSWERS

_PLAIN_NAMES = {"dpr", "run", "output", "outputs", "results"}


@dataclass
class Output:
    """The output of one system, as records that are read one at a time.

    settings: of the search that made it, where its answers stand beside it.
    border: text that a generative model puts before a title. None if it is not known.
    records: yields the objects made of a run, which have no n-grams. None where the file itself
        holds them.
    """

    name: str
    file: Path
    settings: Mapping[str, object] = field(default_factory=dict)
    border: str | None = None
    records: Callable[[], Iterator[bytes]] | None = None

    def items(self) -> Iterator[bytes]:
        """Yield the records. Raises InputError where the file breaks off."""
        return json_items(self.file) if self.records is None else self.records()


def open_outputs(
    paths: list[Path],
    *,
    corpus: NamedCorpus | None,
    queries: Path | None,
    fields: FieldNames,
    qrels: Qrels | None = None,
) -> list[Output]:
    """Open the outputs of one or two systems. Names tell them apart.

    A path is a file, or the folder of a search. qrels: of a run. Raises InputError for more than
    two, for none, and for a run without the texts and questions that belong to it.
    """
    if not 1 <= len(paths) <= 2:
        raise InputError(
            f"{len(paths)} outputs",
            expected="one, or two to compare",
            fix="Give the files of one or two systems.",
            where="OUTPUT",
        )
    outputs = []
    documents: dict[str, Document] | None = None
    for path in paths:
        inside = (path / name for name in (DPR, RUN, RUN_JSON) if (path / name).is_file())
        file = path if path.is_file() else next(inside, None)
        if file is None:
            raise InputError(
                f"the folder holds none of {DPR}, {RUN}" if path.is_dir() else "no such file",
                expected="DPR JSON, a run, or the folder of argus research generative search",
                fix="Check the path.",
                where=path,
            )
        stem, home = file.name.split(".")[0], file.resolve().parent.name
        output = Output(home if stem.lower() in _PLAIN_NAMES and home else stem, file)
        outputs.append(output)
        is_run = suffix_of(file) not in (".json", ".jsonl", ".ndjson")
        if suffix_of(file) == ".json":
            with file.open("rb") as opened:  # a file that is written on one line is long
                is_run = opened.read(64).lstrip()[:1] == b"{"
        if not is_run:
            answers = file.with_name(ANSWERS)
            if file.name == DPR and answers.is_file():
                header = parse_json(next(json_items(answers)))
                output.settings, output.border = header["settings"], header["border"]
            continue
        if corpus is None or queries is None:
            raise InputError(
                "a run, which has ids alone",
                expected="--corpus and --queries with it: texts of passages and questions",
                fix="Give both, or the DPR JSON of the search.",
                where=file,
            )
        documents = documents or {d.id: d for d in read_corpus(corpus, fields)}
        topics = {t.query.id: t for t in read_topics(queries, coerce_ids=fields.coerce_ids)}
        output.records = _run_records(file, read_run(file), topics, documents, qrels or {})
    if len({output.name for output in outputs}) < len(outputs):
        for number, output in enumerate(outputs, start=1):
            output.name = f"{output.name} ({number})"
    return outputs


def _run_records(
    file: Path,
    run: Run,
    topics: Mapping[str, Topic],
    corpus: Mapping[str, Document],
    qrels: Qrels,
) -> Callable[[], Iterator[bytes]]:
    """Return the function that yields a record per question of a run.

    Relevant documents come with their texts, too. Raises InputError where questions or corpus are
    of another run.
    """
    if unknown := [query for query in run if query not in topics]:
        raise InputError(
            f"{len(unknown):,} questions of the run are not in --queries, the first {unknown[0]!r}",
            expected="the questions that the run answers",
            fix="Check that both belong together.",
            where=file,
        )
    if not any(doc in corpus for scores in run.values() for doc in scores):
        raise InputError(
            "none of its documents is in --corpus",
            expected="the corpus that was searched",
            fix="Check that both belong together; --coerce-ids for ids that are numbers.",
            where=file,
        )

    def passage(id_: str) -> dict[str, str]:
        known = corpus.get(id_)
        title, text = (known.title, known.text) if known else ("", "")
        return {"passage_id": id_, "title": title, "text": text}

    def records() -> Iterator[bytes]:
        for query, scores in run.items():
            topic = topics[query]
            record: dict[str, object] = {"id": query, "question": topic.query.text}
            if "positive_ctxs" in topic.given:
                record["positive_ctxs"] = topic.given["positive_ctxs"]
            if topic.answers:
                record["answers"] = list(topic.answers)
            if judged := [doc for doc, grade in qrels.get(query, {}).items() if grade > 0]:
                record["positive_ctxs"] = [passage(doc) for doc in judged]
            record["ctxs"] = [{**passage(d), "score": scores[d]} for d in ranking(scores)]
            yield json.dumps(record, ensure_ascii=False).encode("utf-8")

    return records
