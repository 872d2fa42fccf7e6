"""`argus research generative search`: rank passages by n-grams that a language model writes.

`search_ngrams`: an index, a model and a file of questions -> a run, DPR JSON and a report, resumed
after a kill. `ask`: one question -> its passages with the n-grams in each. `searcher` does the
work, `results` writes.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from argus.corpora import NamedCorpus
from argus.corpora.opening import CorpusSource, open_corpus
from argus.data.documents import TopicFormat, queries_file, read_topics
from argus.data.fields import FieldNames
from argus.data.folders import ArtifactFolder
from argus.data.provenance import content_hash
from argus.data.runs import read_qrels
from argus.data.tables import read_table
from argus.data.types import Document, Query, Run, Topic
from argus.data.writing import one_writer
from argus.devices import Device
from argus.errors import InputError
from argus.generative.folders import index_folder, is_from_scratch, need_model
from argus.generative.index import NgramIndex, check_corpus
from argus.generative.results import (
    FILE,
    TABLE,
    Answer,
    AnswerFile,
    Results,
    questions_table,
    shown,
    view_shares,
    write_results,
)
from argus.generative.settings import Mode, NgramSearchConfig
from argus.indexes.lexical import check_query
from argus.jobs import options as o
from argus.jobs.result import Result
from argus.jobs.workspace import Record, keep_input
from argus.llm.weights import model_hash
from argus.reports import write_report
from argus.reports.section import MAX_ROWS, Section, naming, table
from argus.retrievers.names import GENERATIVE
from argus.settings import CORPUS, Ge, Option, Without, Writes

if TYPE_CHECKING:
    import pyarrow as pa

    from argus.generative.searcher import GenerativeSearcher


JOB = "generative_search"


@dataclass(frozen=True, repr=False)
class SearchResult(Result):
    """Result of a search of many questions, in a folder.

    Keys of the summary:

    index, model: their folders.
    mode, k: how it was searched, and passages per question.
    questions: total, answered, nothing_found, and without_text, which were not asked.
    hits: passages found, over all questions.
    view_shares: share of the scores by view: body, title, query.
    exact_texts: whether texts shown are those of the corpus, not joined of tokens.
    files: format of results to its file.
    answered_now: questions that this run answered, in `seconds`, queries_per_s of them.
    """

    TABLES = ("table",)
    folder: Path
    report: Path
    results: Results
    summary: dict[str, Any]

    @property
    def table(self) -> pa.Table:
        """One row per question."""
        return questions_table(self.results)

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        summary = self.summary
        counts = summary["questions"]
        kinds = {"found nothing": counts["nothing_found"], "without text": counts["without_text"]}
        left_out = ", ".join(f"{n:,} {kind}" for kind, n in kinds.items() if n)
        more = f" ({left_out})" if left_out else ""
        yield f"{counts['answered']:,} of {counts['total']:,} questions answered{more}"
        if earlier := counts["total"] - counts["without_text"] - summary["answered_now"]:
            yield f"{earlier:,} of them were answered in an earlier run"
        if summary["queries_per_s"]:
            yield f"{summary['queries_per_s']:.2f} questions per second, {summary['seconds']} s"
        if shares := [f"{view} {n:.0%}" for view, n in summary["view_shares"].items()]:
            yield f"where scores come from: {', '.join(shares)}"
        for name, path in summary["files"].items():
            yield f"{name}: {path}"


def search(
    index: Annotated[Path | str, Option(argument="INDEX")],
    *,
    config: NgramSearchConfig,
    queries: Path | str | None = None,
    query: str | None = None,
    out: Annotated[
        Path | str | None,
        Option(default=""),
        Writes(lambda options: None if options["query"] is not None else o.OUT),
    ] = None,
    kind: Annotated[TopicFormat, Option(("--topics",))] = TopicFormat.AUTO,
    qrels: Path | str | None = None,
    corpus: Annotated[NamedCorpus | None, CORPUS] = None,
    device: Annotated[Device, Option(panel="Decoding")] = None,
    fields: Annotated[FieldNames | None, Without("template")] = None,
    limit: Annotated[int | None, Ge(1)] = None,
    fresh: o.Fresh = False,
) -> SearchResult | dict[str, Any]:
    """Rank passages by the n-grams that a language model writes for a question.

    Writes OUT/dpr.json (with the n-grams of each passage) and run.trec (run.json where ids hold
    white space), answers.jsonl, from which a killed search goes on, summary.json, manifest.json and
    report.html. The run is one that argus evaluate and authority lint take.

    query: answered as `ask` does where there is no `out`.

    Args:
        index: Folder that argus research generative build wrote.
        queries: Questions: DPR JSON, dpr_qas, KILT JSONL, BEIR (a file or its folder).
        query: One question, in words.
        out: Folder for the results; default argus-out, and nowhere for --query.
        kind: How --queries is read: auto, dpr, dpr_qas, kilt, queries.
        qrels: Judgements: dpr.json then has the correct passages, as viewers of SEAL's output want.
        corpus: What was indexed: shows its exact texts, not those that the tokens make.
        limit: Only the first so many questions.
    """
    if (queries is None) == (query is None):
        raise InputError(
            "neither --queries nor --query" if query is None else "--queries and --query",
            expected="one of them: a file of questions, or one question",
            fix="Give --queries FILE, or --query 'words'.",
            where="--queries",
        )
    if query is not None and out is None:
        return ask(index, query, config=config, corpus=corpus, fields=fields, device=device)
    asked = queries if query is None else [Topic(Query("query", query))]
    return search_ngrams(
        index, asked or [], config=config, out=out or o.OUT, kind=kind, qrels=qrels, corpus=corpus,
        fields=fields, limit=limit, device=device, fresh=fresh,
    )  # fmt: skip


@one_writer
def search_ngrams(
    index: Path | str,
    queries: Path | str | Sequence[Topic],
    *,
    config: NgramSearchConfig,
    out: Path | str,
    kind: TopicFormat = TopicFormat.AUTO,
    qrels: Path | str | None = None,
    corpus: NamedCorpus | None = None,
    fields: FieldNames | None = None,
    limit: int | None = None,
    device: str | None = None,
    fresh: bool = False,
) -> SearchResult:
    """Answer questions and write the results into OUT.

    queries: a file that `read_topics` reads, or topics. qrels: judgements: dpr.json has their
    relevant documents as positive_ctxs, with title and text if `corpus` is given. corpus: source
    of the index: its own texts are shown in place of those by the tokens. limit: only the first
    questions. A search that was killed goes on with the questions that it had not answered. Raises
    InputError for bad input: no model, one of another tokenizer, a corpus that has changed, answers
    of another search in OUT.
    """
    fields = fields or FieldNames()
    source = None
    if isinstance(queries, (str, Path)):
        path = Path(queries)
        topics = read_topics(path, kind, coerce_ids=fields.coerce_ids, limit=limit)
        source = queries_file(path)
    else:
        topics = list(queries)[:limit]
    home, model, config, opened = _open(index, config)
    texts = open_corpus(corpus) if corpus else None
    originals = _originals(opened, texts, fields)
    judgements = Path(qrels) if qrels else None
    judged = read_qrels(judgements, coerce_ids=fields.coerce_ids) if judgements else {}
    folder = ArtifactFolder(Path(out), fresh=fresh)
    keep_input(folder, [home, model, source, judgements, texts.origin if texts else None])
    settings: dict[str, Any] = {"model": str(model), **config.described(), "index": str(home)}
    inputs = {"queries": source, "qrels": judgements, "corpus": texts.origin if texts else None}
    record = Record(JOB, dict(settings), inputs)
    weights = model_hash(model)
    record.encoder["what"] = "model"
    record.encoder["fingerprint"] = f"{config.mode} {model.name} {weights[:12]}"
    border = opened.vocabulary.decode([opened.border])
    answers = AnswerFile(folder / FILE, identity(opened, weights, config), border)
    if not fresh:
        answers.check()
    asked = [t.query for t in topics if t.query.text.strip()]
    left = [query for query in asked if query not in answers]
    searcher = None
    if left:
        with record.timed("loading the model"):
            searcher = open_searcher(opened, model, config, device)
    record.open(folder, about=[home.parent])
    folder.own(FILE, goes_on=True)
    start = time.perf_counter()
    if searcher is not None:
        with record.timed("searching"), answers.appending() as add:
            for query, answer in zip(left, searcher.search(left, config.k), strict=True):
                add(query, answer)
    seconds = time.perf_counter() - start if left else 0.0

    def read(topic: Topic) -> Answer:
        return answers.read(topic.query) if topic.query in answers else Answer(topic.query.id)

    results = Results(topics, read, originals, judged)
    with record.timed("writing"):
        files = write_results(results, folder)
        folder.write_table(TABLE, questions_table(results), csv=True)
    found = [len(answer.hits) for _, answer in results]
    answered = sum(map(bool, found))
    summary: dict[str, Any] = {
        "index": str(home),
        "model": str(model),
        "mode": str(config.mode),
        "k": config.k,
        "questions": {
            "total": len(topics),
            "answered": answered,
            "nothing_found": len(asked) - answered,
            "without_text": len(topics) - len(asked),
        },
        "hits": sum(found),
        "view_shares": view_shares(results),
        "exact_texts": bool(originals),
        "files": files,
        "answered_now": len(left),
        "seconds": round(seconds, 2),
        "queries_per_s": round(len(left) / seconds, 3) if left else None,
    }
    folder.write_results(JOB, summary, record.manifest(dict(summary["questions"])))
    return SearchResult(folder.path, write_report(folder.path), results, summary)


def ask(
    index: Path | str,
    text: str,
    *,
    config: NgramSearchConfig,
    corpus: NamedCorpus | None = None,
    fields: FieldNames | None = None,
    device: str | None = None,
) -> dict[str, Any]:
    """Answer one question: passages with score, title, text and keys, best first.

    The result has the query, the folders of index and model, the mode, and in results the passages:
    rank (from 1), id, score, title, text and keys, the heaviest first: text, count (occurrences in
    the corpus), weight (its part of the score) and view (body, title or query).

    Nothing is written. Raises InputError as `search_ngrams` does, and for a question without words.
    """
    check_query(text, "--query")
    home, model, config, opened = _open(index, config)
    texts = open_corpus(corpus) if corpus else None
    originals = _originals(opened, texts, fields or FieldNames())
    searcher = open_searcher(opened, model, config, device)
    (answer,) = searcher.search([Query("query", text)], config.k)
    hits: list[dict[str, Any]] = []
    for rank, hit in enumerate(answer.hits, start=1):
        title, body = shown(hit, originals)
        keys = [key._asdict() for key in hit.keys]
        hits.append({"rank": rank, "id": hit.doc_id, "score": hit.score, "title": title})
        hits[-1] |= {"text": body, "keys": keys}
    paths = {"index": str(home), "model": str(model)}
    return {"query": text, **paths, "mode": str(config.mode), "results": hits}


class NgramRetriever:
    """Generative retrieval as an `argus.Retriever`: what a model writes ranks an index's passages.

    identity: hash of the index, the model's weights and the settings. Raises InputError as
    `search_ngrams` does.
    """

    def __init__(self, index: Path | str, config: NgramSearchConfig, device: str | None = None):
        _, model, self.config, opened = _open(index, config)
        self._searcher = open_searcher(opened, model, self.config, device)
        parts = identity(opened, model_hash(model), self.config)
        self.identity = content_hash(json.dumps(parts, sort_keys=True)).hex()

    @classmethod
    def of(cls, name: str) -> NgramRetriever:
        """Open `generative:INDEX,model=FOLDER[,mode=minder]`."""
        index, *settings = name.removeprefix(GENERATIVE).split(",")
        given = dict(setting.partition("=")[::2] for setting in settings)
        mode = given.get("mode", Mode.SEAL)
        if given.keys() - {"model", "mode"} or mode not in [*Mode]:
            expected = f"{GENERATIVE}INDEX,model=FOLDER, and mode=seal or minder"
            raise InputError("other settings", expected=expected, fix="Mend them.", where=name)
        model = Path(given["model"]) if given.get("model") else None
        return cls(index, NgramSearchConfig(model=model, mode=Mode(mode)))

    def search(self, queries: Sequence[Query], k: int) -> Run:
        """Return at most k passages per query. One without text finds none."""
        asked = [query for query in queries if query.text.strip()]
        answers = self._searcher.search(asked, k)
        found = {answer.query_id: answer.scores() for answer in answers}
        return {query.id: found.get(query.id, {}) for query in queries}


def _open(
    index: Path | str, config: NgramSearchConfig
) -> tuple[Path, Path, NgramSearchConfig, NgramIndex]:
    """Return the folders of index and model, the config for this kind of model, and the index."""
    home, model = index_folder(index), need_model(config.model)
    return home, model, with_scoring(config, model), NgramIndex.open(home)


def with_scoring(config: NgramSearchConfig, model: Path) -> NgramSearchConfig:
    """Return a config with the count of single tokens, which depends on the model's kind."""
    scoring = config.scoring.for_model(scratch=is_from_scratch(model))
    return replace(config, scoring=scoring)


def open_searcher(
    index: NgramIndex, model: Path, config: NgramSearchConfig, device: str | None
) -> GenerativeSearcher:
    """Load a model and join it with an index."""
    from argus.generative.decode.model import Seq2Seq
    from argus.generative.searcher import GenerativeSearcher

    loaded = Seq2Seq.open(model, index.vocabulary, device=device)
    return GenerativeSearcher(index, loaded, config.mode, config.decoding, config.scoring)


def identity(index: NgramIndex, weights: str, config: NgramSearchConfig) -> dict[str, Any]:
    """Return all that decides an answer: index, model, settings."""
    vocabulary = index.vocabulary.fingerprint
    content = content_hash(vocabulary, str(index.titles), index.hashes().tobytes(), *index.ids())
    return {"index": content.hex(), "model": weights, **config.described()}


def _originals(
    index: NgramIndex, corpus: CorpusSource | None, fields: FieldNames
) -> dict[str, Document]:
    """Return the documents by id. Raises InputError if they are not those of the index."""
    if corpus is None:
        return {}
    documents = corpus.documents(fields)
    check_corpus(index, documents, None)
    return {d.id: d for d in documents}


def section(folder: Path, summary: dict[str, Any]) -> Section:
    """Build it from generative_search.parquet."""
    rows = read_table(folder / f"{TABLE}.parquet").slice(0, MAX_ROWS).to_pylist()
    columns = {
        "question": "text", "first passage": "text", "score": "share", "found by": "text",
        "n-grams": "count", "passages": "count",
    }  # fmt: skip
    cells = [
        [
            f"{row['question']} · {row['query_id']}",
            naming(row["title"], row["first"]) if row["first"] is not None else "nothing found",
            row["score"], row["keys"] or "", row["n_keys"], row["hits"],
        ]
        for row in rows
    ]  # fmt: skip
    questions, shares = summary["questions"], summary["view_shares"]
    total = questions["total"]
    views = [[view, share] for view, share in shares.items()]
    tables = {
        "generative_questions": table(columns, cells, total=total),
        "generative_views": table({"scores come from": "text", "share": "share"}, views),
    }
    brief = f"{questions['answered']:,} of {total:,} questions answered by {summary['mode']}"
    return Section({}, tables, brief)
