"""Read benchmark tasks as they are published: BEIR, RAR-b, mteb, BRIGHT, CAR, ImpliRet and KILT.

Folder or file of one format -> a `Task` (`argus.tasks.task`), with its instruction, exclusions and
metrics. `argus.tasks.opening` chooses the reader.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from argus.authority.benchmarks.collection import (
    CORPUS,
    EDGES,
    QUERIES,
    read_benchmark,
    read_released,
)
from argus.corpora.opening import open_corpus
from argus.data.documents import check_unique, documents_in, find_file, read_queries, topic_of
from argus.data.fields import FieldNames
from argus.data.rows import (
    FORMATS,
    Row,
    id_value,
    pick_field,
    read_json_lines,
    read_rows,
    text_value,
)
from argus.data.runs import EXCLUDED_FIELD, EXCLUDES_NOTHING, read_id_list, read_qrels
from argus.data.types import Document, Qrels, Query
from argus.settings import Choices, check_settings
from argus.tasks.task import Task, refused

OWN_DOCUMENT = ("arguana", "quora")  # BEIR: queries are documents of the corpus, under their ids
INSTRUCTION = "instruction.txt"
_SHARD = re.compile(r"-\d{5}-of-\d{5}$")


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
    `SUBSET-corpus/` and so on; Parquet, JSON lines).
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
    expected = "corpus, queries and qrels, as on the hub"
    raise refused(folder, got, expected, "Name the subset (subset=...), or check the folder.")


def is_mteb(folder: Path) -> bool:
    """Return whether a folder holds the parts of a data set, each in a folder of its own."""
    names = {path.name for path in folder.iterdir() if path.is_dir()} if folder.is_dir() else set()
    return {"corpus", "queries"} <= names or any(name.endswith("-corpus") for name in names)


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
    return path.is_file() and bool(endings) and endings[0] in FORMATS


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
        if first := lines.get(id_):
            got = f"id {id_!r} stands in row {first.line} of {Path(first.file).name} already"
            raise refused(row.at(), got, "one row per id", "Remove or rename one of the two.")
        lines[id_] = row
        yield id_, row


EXAMPLES, ANSWER = "examples", "gold_answer"
STACK_EXCHANGE = (
    "biology", "earth_science", "economics", "psychology", "robotics", "stackoverflow",
    "sustainable_living",
)  # fmt: skip
MATHEMATICS = ("aops", "theoremqa_questions")
CAR_METRICS = ("Success@5", "Success@10", "Success@20", "RR")  # TCA at 5, 10 and 20, and MRR
VERSION = "_v1"
# Files with the questions and hypothetical documents of a released file of CAR.
BESIDE = {"ghsa_real_pairs": ("ghsa_freeform_cache.jsonl", "ghsa_hyde_cache.jsonl")}
LETTERS = {"arithmetic": "A", "wknow": "W", "temporal": "T"}
SETTINGS = {"multi": "Multi", "uni": "Uni"}
GROUP = "tuple_set_id"
PAGE, PARAGRAPH = "page", "paragraph"
KILT_METRICS = ("Rprec", "R@5")  # measures of the leaderboard, R-precision first


@dataclass(frozen=True, kw_only=True)
class BrightConfig:
    """Which task of BRIGHT.

    Attributes:
        domain: Such as biology; the only one where the folder has one.
        long: Whether whole pages are searched, not passages of them.
        reasoning: Whose reasoning is asked in place of the queries, such as gpt4.
    """

    domain: str = ""
    long: bool = False
    reasoning: str = ""


def read_bright(folder: Path, config: BrightConfig) -> Task:
    """Read a task of BRIGHT (Su et al., 2024): reasoning-intensive retrieval.

    As `xlangai/BRIGHT` is laid out: FOLDER/examples, FOLDER/documents, FOLDER/long_documents and
    FOLDER/NAME_reason hold a file per domain, in Parquet (`biology-00000-of-00001.parquet`) or JSON
    lines (`biology.jsonl`). Examples have `id`, `query`, `excluded_ids`, `gold_ids` and
    `gold_ids_long`, those of the Stack Exchange a `gold_answer`, too; documents `id` and `content`.

    A document that a question excludes may be no gold one, and has to be in the corpus. Raises
    InputError naming file, row and field, and for a domain in doubt.
    """
    kind = f"{config.reasoning}_reason" if config.reasoning else EXAMPLES
    pages = "long_documents" if config.long else "documents"
    where = f"bright:{folder}"
    domain, examples = choose_split(folder / kind, config.domain, "domain", where)
    documents = read_shards(
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
        pick_field(row, [EXCLUDED_FIELD], what="list of excluded documents")
        barred = frozenset(read_id_list(row, EXCLUDED_FIELD)) - {EXCLUDES_NOTHING}
        if wrong := (barred - known) | barred.intersection(qrels[id_]):
            doc = min(wrong)
            got = f"{doc!r} is a gold document" if doc in qrels[id_] else f"{doc!r} is no document"
            fix = "Check that examples and documents are of one domain and one setting."
            place, expected = row.at(EXCLUDED_FIELD), "documents of the corpus that are not gold"
            raise refused(place, got, expected, fix)
        if barred:
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


@dataclass(frozen=True, kw_only=True)
class CarConfig:
    """Parts that belong to a released file.

    Attributes:
        split: train, dev or test; all questions where none is named.
        queries: Questions, in place of its own: rows of id and query.
        distractors: Further documents: rows of doc_id and text, such as the scorer's corpus.
    """

    split: str = ""
    queries: Path | None = None
    distractors: Path | None = None


def read_car(place: Path, config: CarConfig) -> Task:
    """Read CAR (Bacellar, 2026): a released file, or a benchmark folder of Argus.

    A folder has `corpus.jsonl`, `queries.jsonl` and `supersedes.jsonl`. A file is called as it was
    released: `car:data/finsuperqa_v1.jsonl`, `car:data/ghsa_real_pairs.json`,
    `car:data/fda_recall_pairs.json`, `car:data/legal_scotus_expanded_pairs.json`; `split=test`
    reads `finsuperqa_test_ids.txt` beside it. TCA@k, the share of questions with a controlling
    document among the first k, is Success@k.

    Raises InputError as `read_released` and `read_benchmark` do, and for settings of a file that
    are said of a folder.
    """
    name = place.stem.removesuffix(VERSION)
    if place.is_dir():
        if config.split or config.distractors:
            got, expected = "a folder with split or distractors", "those of a released file"
            fix = "Name the file itself, such as finsuperqa_v1.jsonl."
            raise refused(place, got, expected, fix)
        benchmark = read_benchmark(place, str(config.queries or QUERIES))
    elif not place.is_file():
        expected = "a released file of CAR, or a benchmark folder"
        raise refused(place, "no such file or folder", expected, "Check the path.")
    else:
        beside = [place.with_name(file) for file in BESIDE.get(place.stem, ())]
        queries, texts = [one if one.is_file() else None for one in beside] or (None, None)
        split = place.with_name(f"{name}_{config.split}_ids.txt") if config.split else None
        benchmark = read_released(
            place, queries=config.queries or queries, split=split, distractors=config.distractors,
            hypotheticals=texts,
        )  # fmt: skip
    name = "-".join(filter(None, [benchmark.name.removesuffix(VERSION), config.split]))
    return Task(
        f"car/{name}",
        [record.document for record in benchmark.records],
        [Query(question.id, question.text) for question in benchmark.questions],
        {question.id: dict.fromkeys(question.gold, 1) for question in benchmark.questions},
        CAR_METRICS, benchmark=benchmark,
        files={"benchmark": place / CORPUS if place.is_dir() else place},
    )  # fmt: skip


def is_car(place: Path) -> bool:
    """Return whether a folder has supersessions, or a file is called as a released one is."""
    if place.is_dir():
        return (place / CORPUS).is_file() and (place / EDGES).is_file()
    return place.is_file() and (place.stem.endswith(VERSION) or place.stem.endswith("_pairs"))


@dataclass(frozen=True, kw_only=True)
class ImpliretConfig:
    """Which of the six tables.

    Attributes:
        part: What has to be inferred.
        setting: How many speakers.
    """

    part: Annotated[str, Choices(("", *LETTERS))] = ""
    setting: Annotated[str, Choices(("", *SETTINGS))] = ""

    def __post_init__(self) -> None:
        check_settings(self)


def read_impliret(place: Path, config: ImpliretConfig) -> Task:
    """Read a table of ImpliRet (Taghavi et al., 2025): the document implies the answer.

    One table per part and setting, `A_Multi.csv` to `T_Uni.csv` (or JSON lines): arithmetic, world
    knowledge, temporal; forum threads of many speakers, chats of one. A row is a document and the
    one query that it answers. All documents of a table are the corpus. place: a file, or a folder,
    of which part and setting name the table.

    Ids are those of the rows with the table's letters before them: wm-q0000 belongs to wm-d0000.
    Raises InputError naming file, row and field, and for a table in doubt.
    """
    tables = dict(_tables(place))
    fitting = [
        key for key in tables
        if config.part in ("", key[0]) and config.setting in ("", key[1])
    ]  # fmt: skip
    if len(fitting) != 1:
        names = ", ".join(f"part={part},setting={setting}" for part, setting in fitting or tables)
        got = f"{len(fitting)} tables" if fitting else "no such table"
        expected = f"one of {names or 'A_Multi.csv, W_Multi.csv, ... T_Uni.csv'}"
        raise refused(place, got, expected, "Name part and setting.")
    part, setting = fitting[0]
    letters = f"{LETTERS[part]}{SETTINGS[setting]}"
    prefix = f"{part[0]}{setting[0]}"
    documents, queries, qrels = [], [], Qrels()

    def number_of(row: Row) -> str:
        return id_value(row, pick_field(row, ["id"], what="id"), coerce=True)

    file = tables[part, setting]
    for number, row in once(read_rows(file), number_of):
        query, document = f"{prefix}-q{number:0>4}", f"{prefix}-d{number:0>4}"
        for field in ("pos_document", "question"):
            pick_field(row, [field], what=field)
        group = {"group": row.values[GROUP]} if GROUP in row.values else {}
        documents.append(Document(document, text_value(row, "pos_document"), metadata=group))
        queries.append(Query(query, text_value(row, "question")))
        qrels[query] = {document: 1}
    return Task(f"impliret/{part}-{setting}", documents, queries, qrels, files={letters: file})


def _tables(place: Path) -> Iterator[tuple[tuple[str, str], Path]]:
    """Yield the tables that are there, by part and setting."""
    for part, letter in LETTERS.items():
        for setting, name in SETTINGS.items():
            stem = f"{letter}_{name}"
            files = [find_file(folder, [stem]) for folder in (place, place / "data")]
            own = [place] if place.is_file() and place.name.startswith(f"{stem}.") else []
            file = next((file for file in (*own, *files) if file is not None), None)
            if file is not None:
                yield (part, setting), file


def is_impliret(place: Path) -> bool:
    """Return whether a folder holds a table, or a file is one."""
    return any(True for _ in _tables(place))


@dataclass(frozen=True, kw_only=True)
class KiltConfig:
    """Place of the pages, and the unit of a document.

    Attributes:
        knowledge: The knowledge source: JSON lines of pages.
        unit: What is retrieved; KILT judges pages.
    """

    knowledge: Path | None = None
    unit: Annotated[str, Choices((PAGE, PARAGRAPH))] = PAGE

    def __post_init__(self) -> None:
        check_settings(self)


def read_kilt(place: Path, config: KiltConfig) -> Task:
    """Read a data set of KILT (Petroni et al., 2021) and its knowledge source, which is the corpus.

    A data set is JSON lines of `id`, `input` and `output`. Each output has its `provenance`, pages
    by `wikipedia_id` and paragraphs from `start_paragraph_id` to `end_paragraph_id`. The knowledge
    source is JSON lines, too, of `wikipedia_id`, `wikipedia_title` and `text`, a list of
    paragraphs. The published file is called kilt_knowledgesource.json.

    Pages that any output points to are relevant. Each output is a set of evidence of its own.
    Raises InputError naming file, line and field, and without a knowledge source.
    """
    if config.knowledge is None or not config.knowledge.is_file():
        got = f"no file {config.knowledge}" if config.knowledge else "no knowledge source"
        raise refused(place, got, f"kilt:{place},knowledge=FILE", "Name the file of pages.")
    documents: list[Document] = []
    for row in read_json_lines(config.knowledge):
        pick_field(row, ["wikipedia_id"], what="page id")
        page = id_value(row, "wikipedia_id", coerce=True)
        title = text_value(row, "wikipedia_title")
        paragraphs = row.values.get("text")
        if not isinstance(paragraphs, list) or not all(isinstance(p, str) for p in paragraphs):
            got, fix = f"{paragraphs!r:.60}", "Check that this is a knowledge source."
            raise refused(row.at("text"), got, "a list of paragraphs", fix)
        texts = [paragraph.strip() for paragraph in paragraphs]
        if config.unit == PAGE:
            documents.append(Document(page, "\n".join(text for text in texts if text), title))
            continue
        for number, text in enumerate(texts):
            if text and not (number == 0 and text == title):
                id_, metadata = f"{page}:{number}", {"wikipedia_id": page}
                documents.append(Document(id_, text, title, metadata))
    check_unique(documents)
    queries, qrels, evidence = [], Qrels(), {}
    for id_, row in once(read_rows(place), lambda row: topic_of(row, coerce_ids=True).query.id):
        queries.append(Query(id_, text_value(row, "input")))
        sets = list(dict.fromkeys(_evidence(row, config)))
        if sets:
            qrels[id_] = dict.fromkeys(sorted(frozenset().union(*sets)), 1)
            evidence[id_] = sets
    return Task(
        f"kilt/{place.stem.removesuffix('-kilt')}", documents, queries, qrels, KILT_METRICS,
        evidence=evidence, files={"questions": place, "knowledge": config.knowledge},
    )  # fmt: skip


def _evidence(row: Row, config: KiltConfig) -> Iterator[frozenset[str]]:
    """Yield the pages that each output of a question points to, if there are any."""
    for output in row.values.get("output") or []:
        parts = output.get("provenance") or []
        if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
            got, expected = f"{parts!r:.60}", 'a list of objects, [{"wikipedia_id": "..."}, ...]'
            raise refused(row.at("output.provenance"), got, expected, "Mend or remove the line.")
        ids: set[str] = set()
        for part in (Row(values, row.file, row.line) for values in parts):
            pick_field(part, ["wikipedia_id"], what="page id")
            page = id_value(part, "wikipedia_id", coerce=True)
            if config.unit == PAGE:
                ids.add(page)
                continue
            first, last = (part.values.get(f"{end}_paragraph_id") for end in ("start", "end"))
            if not isinstance(first, int) or not isinstance(last, int) or not 0 <= first <= last:
                got, where = f"paragraphs {first!r} to {last!r}", part.at("start_paragraph_id")
                fix = "Read pages (unit=page): this data set names no paragraphs."
                raise refused(where, got, "numbers of paragraphs, from 0", fix)
            ids.update(f"{page}:{number}" for number in range(first, last + 1))
        if ids:
            yield frozenset(ids)


def is_kilt(place: Path) -> bool:
    """Return whether a file is called as the data sets of KILT are."""
    return place.is_file() and place.name.endswith("-kilt.jsonl")
