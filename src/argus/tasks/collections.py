"""Read tasks in the layouts of BEIR, RAR-b and mteb: corpus, queries, judgements by split."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from argus.corpora.opening import open_corpus
from argus.data.documents import check_unique, documents_in, find_file, read_queries
from argus.data.fields import FieldNames
from argus.data.rows import ARROW, FORMATS, Row, id_value, read_rows, text_value
from argus.data.runs import grade_of, read_qrels
from argus.data.types import Document, Qrels, Query
from argus.tasks.task import NDCG, Task, refused

OWN_DOCUMENT = ("arguana", "quora")  # BEIR: queries are documents of the corpus, under their ids
INSTRUCTION = "instruction.txt"
PARTS = ("corpus", "queries", "relevant_docs")
METRICS = {"ndcg": "nDCG", "map": "AP", "recall": "R", "precision": "P", "mrr": "RR",
           "hit_rate": "Success", "accuracy": "Success"}  # fmt: skip
ITS_LOADER = "Load the task with its own loader."
_METRIC = re.compile(r"([a-z_]+)_at_(\d+)")
_SHARD = re.compile(r"-\d{5}-of-\d{5}$")
Values = Any  # of a foreign object: tables of `datasets`, dictionaries, lists


@dataclass(frozen=True, kw_only=True)
class CollectionConfig:
    """Which judgements of a BEIR folder count.

    Attributes:
        split: Which judgements: qrels/SPLIT.tsv.
        identical: Whether the document of a query's own id is taken out of its results, as BEIR's
            scorer does for all collections; default: for those whose queries are documents.
    """

    split: str = "test"
    identical: bool | None = None


def read_beir(folder: Path, config: CollectionConfig) -> Task:
    """Read a BEIR folder. Of its queries read those that the split judges, as BEIR itself does.

    Raises InputError as reading its files does, and for a split that is not there.
    """
    documents = open_corpus(folder).documents(FieldNames())
    files = {name: find_file(folder, [name]) for name in ("corpus", "queries")}
    judgements = files["qrels"] = find_file(folder / "qrels", [config.split])
    if judgements is None:
        there = sorted(path.stem for path in (folder / "qrels").glob("*") if path.is_file())
        expected = f"qrels/{config.split}.tsv; there is {', '.join(there) or 'none'}"
        got = f"no judgements of the split {config.split!r}"
        raise refused(folder, got, expected, "Name the split (split=...).")
    qrels = read_qrels(judgements)
    judged = [query for query in read_queries(folder) if query.id in qrels]
    names = {part.lower() for part in folder.resolve().parts[-2:]}
    takes_out = config.identical
    if takes_out is None:
        takes_out = not names.isdisjoint(OWN_DOCUMENT)
    return Task(
        folder.resolve().name, documents, judged, qrels,
        excluded=identical_ids(documents, judged) if takes_out else {},
        files={name: file for name, file in files.items() if file is not None},
    )  # fmt: skip


def read_rarb(folder: Path, config: CollectionConfig) -> Task:
    """Read a folder of RAR-b: that of BEIR, with `instruction.txt`, the task's own instruction."""
    file = folder / INSTRUCTION
    if not file.is_file():
        expected = "a folder of RAR-b (full/NAME), with its instruction"
        fix = "Read it as beir:FOLDER, if there is none."
        raise refused(folder, f"no {INSTRUCTION} in the folder", expected, fix)
    task = read_beir(folder, config)
    text = file.read_text(encoding="utf-8").strip()
    return replace(task, name=f"rarb/{task.name}", instruction=text)


def is_collection(folder: Path) -> bool:
    """Return whether a folder holds a corpus, queries and judgements."""
    return bool(
        find_file(folder, ["corpus"]) and find_file(folder, ["queries"])
        and (folder / "qrels").is_dir()
    )  # fmt: skip


def identical_ids(
    documents: Sequence[Document], queries: Sequence[Query]
) -> dict[str, frozenset[str]]:
    """Return the exclusions of queries that are documents themselves: their own id."""
    known = {document.id for document in documents}
    return {query.id: frozenset({query.id}) for query in queries if query.id in known}


@dataclass(frozen=True, kw_only=True)
class MtebConfig:
    """Which part of a task's data set.

    Attributes:
        subset: Such as a language; none where there is one.
        split: Which split; the only one where there is one.
    """

    subset: str = ""
    split: str = "test"


def read_mteb(folder: Path, config: MtebConfig) -> Task:
    """Read the data set of a task of mteb out of a folder. Queries without judgement are left out.

    A folder is that of the hub (`corpus/`, `queries/`, `qrels/`, of a task in several subsets
    `SUBSET-corpus/` and so on; Parquet, JSON lines), or the output of `datasets` (Arrow).
    Ids that are numbers are read as text, as mteb reads them. Raises InputError as reading its
    files does, and for a part that is missing.
    """
    corpus = _part(folder, config, ("corpus",))
    queries = _part(folder, config, ("queries", "query"))
    judgements = _part(folder, config, ("qrels", "default", "data"))
    qrels: Qrels = {}
    for file in judgements:
        for query, grades in read_qrels(file, coerce_ids=True).items():
            qrels.setdefault(query, {}).update(grades)  # a query may go on in the next shard
    judged = [q for file in queries for q in read_queries(file, coerce_ids=True) if q.id in qrels]
    wording = _part(folder, config, ("instruction",), optional=True)
    return Task(
        f"mteb/{'-'.join(filter(None, [folder.resolve().name, config.subset]))}",
        read_shards(corpus, FieldNames(coerce_ids=True)), judged, qrels,
        instructions={
            id_value(row, "query-id", coerce=True): text_value(row, "instruction")
            for row in rows_in(wording)
        },
        files={f"{n} {file.name}": file for n, fs in
               {"corpus": corpus, "queries": queries, "qrels": judgements}.items() for file in fs},
    )  # fmt: skip


def _part(
    folder: Path, config: MtebConfig, names: tuple[str, ...], *, optional: bool = False
) -> list[Path]:
    """Return the files of a part: of the subset where there is one, else of all."""
    prefix = f"{config.subset}-" if config.subset else ""
    places = [folder / f"{prefix}{name}" for name in names]
    here = splits_in(folder)
    for place in places:
        if place.name in here and all(file.parent == folder for file in here[place.name]):
            return here[place.name]  # corpus.jsonl, beside queries.jsonl
        splits = splits_in(place)
        if splits:
            split = config.split if config.split in splits or len(splits) > 1 else ""
            return choose_split(place, split, "split", f"mteb:{folder}")[1]
    if optional:
        return []
    got = f"no {' or '.join(place.name for place in places)} in the folder"
    expected = "corpus, queries and qrels, as on the hub or as `datasets` saves them"
    raise refused(folder, got, expected, "Name the subset (subset=...), or check the folder.")


def is_mteb(folder: Path) -> bool:
    """Return whether a folder holds the parts of a data set, each in a folder of its own."""
    names = {path.name for path in folder.iterdir() if path.is_dir()} if folder.is_dir() else set()
    return {"corpus", "queries"} <= names or any(name.endswith("-corpus") for name in names)


def is_mteb_task(task: object) -> bool:
    """Return whether an object is a task of mteb."""
    return hasattr(task, "metadata") and hasattr(task, "load_data")


def of_mteb_task(task: Values, config: MtebConfig) -> Task:
    """Return a task object's split of a subset. It must hold its data.

    Metric, prompt and whether a query's own id is taken out are as the task says. Raises InputError
    for a task that was not loaded, and for one that only ranks given documents anew.
    """
    name = str(task.metadata.name)
    if not getattr(task, "data_loaded", False):
        fix = "Call its load_data() first: it fetches what is not there."
        raise refused(f"mteb:{name}", "the task holds no data", "a task that was loaded", fix)
    if hasattr(task, "convert_v1_dataset_format_to_v2"):
        task.convert_v1_dataset_format_to_v2(num_proc=None)
    read = of_dictionary(task.dataset, config, name)
    barred = identical_ids(read.documents, read.queries) if task.ignore_identical_ids else {}
    prompt = getattr(task.metadata, "prompt", None) or ""
    return replace(
        read, metrics=_metrics(getattr(task.metadata, "main_score", "")), excluded=barred,
        instruction=prompt if isinstance(prompt, str) else str(prompt.get("query", "")),
    )  # fmt: skip


def _metrics(name: str) -> tuple[str, ...]:
    """Return mteb's score in ir-measures' name, nDCG@10 where it has none there."""
    score = _METRIC.fullmatch(name or "")
    return (f"{METRICS[score[1]]}@{score[2]}",) if score and score[1] in METRICS else NDCG


def of_dictionary(data: Mapping[str, Values], config: MtebConfig, name: str = "task") -> Task:
    """Return the task that a dictionary holds: of a split, or of subsets and splits.

    Raises InputError for a part that is missing, and for rows in another form.
    """
    where = f"mteb:{name}"
    subset = config.subset
    if data.keys().isdisjoint(PARTS):
        subset, data = _level(data, config.subset, "subset", where)
    if data.keys().isdisjoint(PARTS):
        data = _level(data, config.split, "split", where)[1]
    missing = next((part for part in PARTS if part not in data), None)
    if missing is not None or data.get("top_ranked"):
        got = f"no {missing!r}" if missing else "a task that ranks given documents anew"
        fix = "Check the task's kind, and that it was loaded."
        raise refused(where, got, f"a retrieval task: {', '.join(PARTS)}", fix)
    qrels = _qrels(data["relevant_docs"], where)
    queries = [(id_, row) for id_, row in _rows(data["queries"], where) if id_ in qrels]
    documents = [
        Document(id_, _text(row, "text", where), _text(row, "title", where))
        for id_, row in _rows(data["corpus"], where)
    ]
    label = "" if subset in ("", "default") else f"-{subset}"
    texts = [Query(id_, _text(row, "text", where)) for id_, row in queries]
    wording = {id_: str(row["instruction"]) for id_, row in queries if row.get("instruction")}
    return Task(f"mteb/{name}{label}", documents, texts, qrels, instructions=wording)


def _level(
    data: Mapping[str, Values], key: str, setting: str, where: str
) -> tuple[str, Mapping[str, Values]]:
    """Return the entry of a dictionary of subsets or splits, or its only one without a name."""
    if key not in data and len(data) == 1 and (not key or setting == "split"):
        key = next(iter(data))
    if not isinstance(data.get(key), Mapping):
        got = f"{setting} {key!r}" if key else f"{len(data)} to choose from"
        expected = f"one of {', '.join(map(str, data)) or 'several'}"
        raise refused(where, got, expected, f"Name the {setting}.")
    return key, data[key]


def _rows(table: Values, where: str) -> Iterable[tuple[str, Mapping[str, Values]]]:
    """Yield ids and rows of a table, or of a dictionary by id."""
    if isinstance(table, Mapping):
        for id_, row in table.items():
            yield str(id_), {"text": row} if isinstance(row, str) else row
        return
    for row in table:
        key = next((name for name in ("id", "_id") if isinstance(row, Mapping) and name in row), "")
        if not key:
            raise refused(where, f"{row!r:.60}", "rows with id and text", ITS_LOADER)
        yield str(row[key]), row


def _text(row: Mapping[str, Values], field: str, where: str) -> str:
    value = row.get(field)
    if value is not None and not isinstance(value, str):
        fix = "Conversations, pictures and sounds are no texts: choose another task."
        raise refused(where, f"{field}: {value!r:.60}", "text", fix)
    return value or ""


def _qrels(judgements: Values, where: str) -> Qrels:
    if isinstance(judgements, Mapping):
        return {
            str(query): {str(doc): grade_of(grade) for doc, grade in grades.items()}
            for query, grades in judgements.items()
        }
    qrels: Qrels = {}
    for row in judgements:
        try:
            query, doc, grade = str(row["query-id"]), str(row["corpus-id"]), row["score"]
            qrels.setdefault(query, {})[doc] = grade_of(grade)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            expected = "rows of query-id, corpus-id and score"
            raise refused(where, f"{row!r:.60}", expected, ITS_LOADER) from error
    return qrels


def splits_in(folder: Path) -> dict[str, list[Path]]:
    """Return the files of each split in a folder, in order. A split may be a folder of shards.

    A split's name is the file's without ending and number of the shard: "biology".
    """
    splits: dict[str, list[Path]] = {}
    if not folder.is_dir():
        return splits
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            shards = sorted(file for file in path.iterdir() if _is_rows(file))
            if shards:
                splits.setdefault(path.name, []).extend(shards)
        elif _is_rows(path):
            name = path.name.removesuffix(".gz").rpartition(".")[0]
            splits.setdefault(_SHARD.sub("", name), []).append(path)
    return splits


def _is_rows(path: Path) -> bool:
    endings = [s.lower() for s in path.suffixes if s.lower() != ".gz"][-1:]
    return path.is_file() and bool(endings) and endings[0] in (*FORMATS, ARROW)


def choose_split(folder: Path, split: str, setting: str, where: str) -> tuple[str, list[Path]]:
    """Return one split of a folder and its files. Without a name, return the only one.

    setting: by which it is chosen. Raises InputError, which lists them, where it is not clear.
    """
    splits = splits_in(folder)
    if not split and len(splits) == 1:
        split = next(iter(splits))
    if split in splits:
        return split, splits[split]
    got = f"{setting} {split!r}" if split else f"{len(splits)} to choose from"
    expected = f"{setting}=..., one of {', '.join(splits) or '(there is none)'} in {folder}"
    fix = "Name one of them." if splits else "Check the folder: it lacks this part."
    raise refused(where, got, expected, fix)


def rows_in(files: Sequence[Path]) -> Iterator[Row]:
    """Yield the rows of files, one after the other."""
    for file in files:
        yield from read_rows(file)


def read_shards(files: Sequence[Path], fields: FieldNames) -> list[Document]:
    """Read the documents of all files. Raise InputError for an id that stands in two of them."""
    documents = [document for file in files for document in documents_in(file, fields)]
    if len(files) > 1:
        check_unique(documents)
    return documents


def once(rows: Iterator[Row], id_of: Callable[[Row], str]) -> Iterator[tuple[str, Row]]:
    """Yield rows with their ids. Raise InputError for an id that stands twice."""
    lines: dict[str, Row] = {}
    for row in rows:
        id_ = id_of(row)
        if id_ in lines:
            got = f"id {id_!r} stands in row {lines[id_].line} of {lines[id_].file.name} already"
            raise refused(row.at(), got, "one row per id", "Remove or rename one of the two.")
        lines[id_] = row
        yield id_, row
