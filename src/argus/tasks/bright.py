"""BRIGHT (Su et al., 2024): reasoning-intensive retrieval, as `xlangai/BRIGHT` is laid out.

FOLDER/examples, FOLDER/documents, FOLDER/long_documents and FOLDER/NAME_reason hold a file per
domain, in Parquet (`biology-00000-of-00001.parquet`) or JSON lines (`biology.jsonl`). Examples have
`id`, `query`, `excluded_ids`, `gold_ids` and `gold_ids_long`, those of the Stack Exchange a
`gold_answer`, too; documents `id` and `content`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from argus.data.fields import FieldNames
from argus.data.rows import Row, id_value, pick_field, text_value
from argus.data.runs import EXCLUDED_FIELD, EXCLUDES_NOTHING, read_id_list
from argus.data.types import Qrels, Query
from argus.settings import Doc
from argus.tasks.files import choose_split, documents_of, once, rows_in, splits_in
from argus.tasks.task import Task, refused

EXAMPLES, ANSWER = "examples", "gold_answer"
STACK_EXCHANGE = (
    "biology", "earth_science", "economics", "psychology", "robotics", "stackoverflow",
    "sustainable_living",
)  # fmt: skip
MATHEMATICS = ("aops", "theoremqa_questions")


@dataclass(frozen=True, kw_only=True)
class BrightConfig:
    """Which task of BRIGHT."""

    domain: Annotated[str, Doc("Such as biology; the only one where the folder has one.")] = ""
    long: Annotated[bool, Doc("Whether whole pages are searched, not passages of them.")] = False
    reasoning: Annotated[
        str, Doc("Whose reasoning is asked in place of the queries, such as gpt4.")
    ] = ""


def read_bright(folder: Path, config: BrightConfig) -> Task:
    """Read one task. Raises InputError naming file, row and field, and for a domain in doubt.

    A document that a question excludes may be no gold one, and has to be in the corpus.
    """
    kind = f"{config.reasoning}_reason" if config.reasoning else EXAMPLES
    pages = "long_documents" if config.long else "documents"
    where = f"bright:{folder}"
    domain, examples = choose_split(folder / kind, config.domain, "domain", where)
    documents = documents_of(
        choose_split(folder / pages, domain, "domain", where)[1],
        FieldNames(id="id", text="content"),
    )
    known = {document.id for document in documents}
    queries, qrels, excluded, answers = [], Qrels(), {}, {}
    gold = "gold_ids_long" if config.long else "gold_ids"
    for id_, row in once(rows_in(examples), lambda row: id_value(row, "id")):
        queries.append(Query(id_, text_value(row, pick_field(row, ["query"], what="query"))))
        pick_field(row, [gold], what="list of gold documents")
        qrels[id_] = dict.fromkeys(read_id_list(row, gold), 1)
        if barred := _barred(row, known, qrels[id_]):
            excluded[id_] = barred
        if row.values.get(ANSWER):
            answers[id_] = text_value(row, ANSWER)
    settings = (domain, *(["long"] if config.long else []), *filter(None, [config.reasoning]))
    return Task(
        f"bright/{'-'.join(settings)}", documents, queries, qrels, excluded=excluded,
        instruction=instruction(domain, "documents" if config.long else "passages"),
        answers=answers,
        files={f"examples {file.name}": file for file in examples},
    )  # fmt: skip


def _barred(row: Row, known: set[str], gold: dict[str, int]) -> frozenset[str]:
    pick_field(row, [EXCLUDED_FIELD], what="list of excluded documents")
    excluded = frozenset(read_id_list(row, EXCLUDED_FIELD)) - {EXCLUDES_NOTHING}
    wrong = next((id_ for id_ in sorted(excluded) if id_ not in known or id_ in gold), None)
    if wrong is not None:
        got = f"{wrong!r} is a gold document" if wrong in gold else f"{wrong!r} is no document"
        fix = "Check that examples and documents are of one domain and one setting."
        place, expected = row.at(EXCLUDED_FIELD), "documents of the corpus that are not gold"
        raise refused(place, got, expected, fix)
    return excluded


def instruction(domain: str, unit: str) -> str:
    """Return the instruction that models get in the published runs, or ""."""
    if domain in STACK_EXCHANGE:
        return f"Given a {domain} post, retrieve relevant {unit} that help answer the post"
    if domain == "pony":
        return f"Given a {domain} question, retrieve relevant {unit} that help answer the question"
    if domain == "leetcode":
        return "Given a coding problem, retrieve relevant examples that help answer the problem"
    if domain in MATHEMATICS:
        return "Given a Math problem, retrieve relevant examples that help answer the problem"
    if domain == "theoremqa_theorems":
        return "Given a Math problem, retrieve relevant theorems that help answer the problem"
    return ""


def is_bright(folder: Path) -> bool:
    """Return whether a folder has examples and documents."""
    pages = ("documents", "long_documents")
    return bool(splits_in(folder / EXAMPLES)) and any(splits_in(folder / name) for name in pages)
