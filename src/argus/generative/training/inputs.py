"""Read training data from files, and hold out documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from argus.corpora import Corpus
from argus.corpora.opening import Origin
from argus.data.documents import read_queries
from argus.data.fields import FieldNames
from argus.data.folders import ArtifactFolder
from argus.data.provenance import content_hash
from argus.data.reading import read_ids
from argus.data.runs import read_judgements
from argus.data.types import Document, Qrels, Query
from argus.data.writing import write_jsonl, write_whole
from argus.errors import InputError
from argus.generative.pseudo_queries import of_documents
from argus.generative.training.examples import TrainingSet, build_examples
from argus.generative.training.settings import ExampleConfig
from argus.generative.vocabulary import Vocabulary
from argus.jobs.workspace import read_documents


@dataclass(frozen=True)
class Inputs:
    """Training data. files: by option, None for an option without a file."""

    documents: Sequence[Document]
    questions: list[Query]
    qrels: Qrels
    pseudo_queries: dict[str, list[str]]
    files: dict[str, Origin | None]

    def examples(
        self, vocabulary: Vocabulary, config: ExampleConfig, held_out: Sequence[str]
    ) -> TrainingSet:
        """Return the examples. held_out: ids of documents whose titles are in none."""
        return build_examples(
            self.documents, vocabulary, config, queries=self.questions, qrels=self.qrels,
            pseudo_queries=self.pseudo_queries, held_out=held_out,
        )  # fmt: skip


def read_inputs(
    corpus: Corpus,
    queries: Path | str | None,
    qrels: Path | str | None,
    pseudo_queries: Path | str | None,
    fields: FieldNames,
    limit: int | None,
) -> Inputs:
    """Read a corpus and its questions. limit: only the first documents.

    queries, qrels: both or neither. Raises InputError for one without the other, and for files that
    are not valid.
    """
    documents, path = read_documents(corpus, fields, limit, None)
    if (queries is None) != (qrels is None):
        there, missing = ("--questions", "--qrels")[:: 1 if qrels is None else -1]
        raise InputError(
            f"given without {missing}",
            expected="questions and the passages that answer them, or neither",
            fix=f"Add {missing}, or leave out {there}.",
            where=there,
        )
    questions: list[Query] = []
    judged: Qrels = {}
    files: dict[str, Origin | None] = {"corpus": path, "queries": None, "qrels": None}
    if queries is not None and qrels is not None:
        questions = read_queries(Path(queries), coerce_ids=fields.coerce_ids)
        judged = read_judgements(qrels)
        files |= {"queries": Path(queries), "qrels": Path(qrels)}
    pseudo, file, _ = of_documents(pseudo_queries, documents, coerce_ids=fields.coerce_ids)
    return Inputs(documents, questions, judged, pseudo, {**files, "pseudo_queries": file})


QUESTIONS, QRELS = "held_out.jsonl", "held_out.tsv"


def choose(documents: Sequence[Document], hold_out: int | Path) -> list[str]:
    """Return the ids of the documents whose titles are held out, in the order of the corpus.

    hold_out: how many, drawn by the hashes of their ids among those with a title. Or a file with
    an id per line. Raises InputError for too many, an id that is not in the corpus, and a document
    without title.
    """
    titled = [d.id for d in documents if d.title.strip()]
    with_title = set(titled)
    if isinstance(hold_out, Path):
        listed = read_ids(hold_out, "a number, or a file with the id of a document on each line")
        known = {d.id for d in documents}
        for line, id_ in listed:
            if id_ not in with_title:
                raise InputError(
                    f"line {line}: document {id_!r} "
                    + ("has no title" if id_ in known else "is not in the corpus"),
                    expected="ids of documents with a title, one a line",
                    fix="Remove the line, or check that --corpus and the file belong together.",
                    where=hold_out,
                )
        chosen = {id_ for _, id_ in listed}
    elif not 0 <= hold_out <= len(titled):
        raise InputError(
            f"{hold_out:,} titles to hold out, of {len(titled):,}",
            expected="a number from 0 to the titles that the corpus has",
            fix="Give another number.",
            where="--hold-out",
        )
    else:
        ranked = sorted(titled, key=lambda id_: content_hash("generative-hold-out", id_))
        chosen = set(ranked[:hold_out])
    return [id_ for id_ in titled if id_ in chosen]


def write_held_out(folder: ArtifactFolder, documents: Sequence[Document], ids: list[str]) -> None:
    """Write held-out titles as questions (BEIR queries and qrels), each with its document's id."""
    if not ids:
        return
    titles = {d.id: d.title for d in documents}
    write_jsonl(folder.own(QUESTIONS), ({"_id": id_, "text": titles[id_]} for id_ in ids))
    rows = ("query-id\tcorpus-id\tscore", *(f"{id_}\t{id_}\t1" for id_ in ids))
    write_whole(folder.own(QRELS), "\n".join(rows) + "\n")
