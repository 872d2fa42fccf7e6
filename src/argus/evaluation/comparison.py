"""Compare the top k of two systems on the same queries: documents lost, gained and kept.

`compare_retrievers`: two of indexes, retrievers and runs -> a row per query and document with its
verdict, and a section of the report. Two indexes are also asked for every document by its own
title. No judgements are needed: `argus evaluate` calls it without `--qrels`, or with `--compare`.
`job` measures on judgements.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from argus.corpora import NamedCorpus
from argus.corpora.opening import open_corpus
from argus.data.documents import read_queries
from argus.data.fields import FieldNames
from argus.data.folders import ArtifactFolder
from argus.data.runs import RUN_FILE, first_rank, ranking, read_judgements, read_run
from argus.data.tables import read_table
from argus.data.types import Qrels, Query, Run
from argus.data.writing import one_writer
from argus.errors import ArgusError, InputError
from argus.evaluation.judged import ParentFold, deeper, fold_system
from argus.evaluation.systems import System, ask_systems, contents, index_settings, open_index
from argus.indexes.header import parse_index_spec
from argus.jobs.result import TableResult
from argus.jobs.workspace import Record, check_folder
from argus.reports import write_report
from argus.reports.section import MAX_ROWS, Section, naming, table
from argus.retrievers.config import AskingConfig
from argus.retrievers.protocol import kept_note
from argus.settings import TOP_K

if TYPE_CHECKING:
    from argus.encoders import Encoder, EncoderConfig

GAINED, LOST, SAME = "gained", "lost", "same"
ONLY_BEFORE, ONLY_AFTER = "only before", "only after"
VERDICTS = (LOST, GAINED, ONLY_BEFORE, ONLY_AFTER, SAME)
TITLE_OF = "title of "  # begins the id of a query for a document by its own title
DEPTH = 100  # how far down a document is looked for under its own title
MAX_NAMED = 200  # gained and lost documents in the summary; the table holds all

_TEXT, _COUNT, _VALUE = pa.string(), pa.int64(), pa.float64()
SCHEMA = pa.schema(
    dict.fromkeys(("kind", "id", "label", "verdict", "before", "after"), _TEXT)
    | dict.fromkeys(("value_before", "value_after", "change"), _VALUE)
)
"""One row per document.

before, after: state on either side, in words. value_before, value_after: rank under its own title.
"""
QUERY_SCHEMA = pa.schema(
    dict.fromkeys(("query_id", "text", "entered", "left"), _TEXT) | {"changed": _COUNT}
)
"""One row per query: documents that enter and leave its top k, as titles, and their number."""
ONLY_SCHEMA = pa.schema(
    dict.fromkeys(("query_id", "text", "doc_id", "label", "only"), _TEXT)
    | dict.fromkeys(("rank", "grade"), _COUNT)
)
"""One row per query and document that one side alone brings into the top k.

only: that side, before or after. rank: on that side, from 1. grade: judged grade, null without.
"""


@dataclass(frozen=True, repr=False)
class CompareResult(TableResult):
    """Gains and losses between two indexes, retrievers or runs. All is in `folder`, too.

    summary:
        of: kind of the two sides: indexes, retrievers or runs.
        names, fingerprints: name and encoder of each side, before and after.
        notes: warnings for the reader.
        verdicts: number of documents, by verdict.
        gained, lost: the first 200 rows that were gained, or lost.
        k: length of the lists that are compared.
        queries: number of titles and given queries, and of those that failed.
        changed_queries: queries with another top k.
        only_before, only_after: results of given queries that one side alone brings back.
        judged: relevant documents within k, by side.

    table: one row per document, see `argus.evaluation.comparison.SCHEMA`.
    """

    def headline(self) -> Iterator[str]:
        """Yield how many were gained and lost, and the first of them by name."""
        summary = self.summary
        yield from summary["notes"]
        for kind, verdicts in summary["verdicts"].items():
            yield f"{kind}: {', '.join(f'{n:,} {verdict}' for verdict, n in verdicts.items() if n)}"
        if "only_before" in summary:
            yield (
                f"top {summary['k']} of {summary['queries']['given']:,} queries: "
                f"{summary['only_before']:,} results only before, "
                f"{summary['only_after']:,} only after"
            )
        if judged := summary.get("judged"):
            yield (
                f"{judged['relevant']:,} relevant documents of {judged['queries']:,} queries: "
                f"{judged['both']:,} by both, {judged['only_before']:,} only before, "
                f"{judged['only_after']:,} only after, {judged['neither']:,} by neither"
            )
        for row in (*summary["lost"][:5], *summary["gained"][:5]):
            name = row["label"] or row["id"]
            yield f"  {row['verdict']} {row['kind']} {name}: {row['before']} -> {row['after']}"


@one_writer
def compare_retrievers(
    retrievers: Sequence[Any] = (),
    *,
    out: Path | str,
    runs: Sequence[Path | Run] = (),
    indexes: Sequence[str] = (),
    queries: Path | str | Sequence[Query] = (),
    qrels: Path | str | Qrels | None = None,
    corpus: NamedCorpus | None = None,
    k: int = TOP_K,
    parent_field: str | None = None,
    encoder: Encoder | EncoderConfig | str | None = None,
    hybrid: Sequence[str] = (),
    weights: Sequence[float] = (),
    asking: AskingConfig | None = None,
    fields: FieldNames | None = None,
    fresh: bool = False,
) -> CompareResult:
    """Compare the top k of two systems, in the order indexes, retrievers, runs.

    retrievers: named (see `argus.retrievers.names`), or objects that retrieve. runs: files, TREC or
    JSON, or runs. indexes: `PATH`, `PATH@original` or `PATH@REMEDY`. Two of them are also asked for
    every document by its own title. queries: for the retrievers, and of two runs only their texts,
    to show. qrels: relevant documents, which are counted apart. corpus: titles, and documents that
    a retriever may need, by the columns of `fields`. parent_field: folds its chunks to documents.
    Retrievers are asked deeper then. encoder: of a store's queries, and of an index that names
    none. hybrid, weights: of the indexes, as for `argus.evaluate`. A query that fails on one side
    is left out. Raises InputError for bad input, ArgusError if no query is answered by both.
    """
    settings = index_settings(hybrid, weights, len(indexes))
    asking = asking or AskingConfig()
    questions = read_queries(Path(queries)) if isinstance(queries, str | Path) else list(queries)
    judged = None if qrels is None else read_judgements(qrels)
    if len(indexes) + len(retrievers) + len(runs) != 2:
        got = f"{len(indexes)} indexes, {len(retrievers)} retrievers and {len(runs)} runs"
        expected, fix = "two, before and after", "Name them with --index, --retriever and --run."
        raise InputError(got, expected=expected, fix=fix, where="--index, --retriever, --run")
    if not questions and retrievers:
        got, expected, fix = "no queries", "what to ask a retriever", "Give --queries FILE."
        raise InputError(got, expected=expected, fix=fix, where="--queries")
    named = open_corpus(corpus) if corpus else None
    documents = named.documents(fields or FieldNames()) if named else []
    parents = ParentFold.of(parent_field, documents if corpus else None)
    folder = ArtifactFolder(Path(out), fresh=fresh)
    sides = ("before", "after")[-len(runs) :] if runs else ()
    files = {**dict(zip(sides, runs, strict=True)), "queries": queries, "qrels": qrels}
    inputs = {n: Path(v) if isinstance(v, str | PathLike) else None for n, v in files.items()}
    origin = named.origin if named else None
    record = Record("comparison", {"k": k}, {**inputs, "corpus": origin})
    record.config["parent_field"] = parent_field
    about = [parse_index_spec(name).path for name in indexes]
    check_folder(folder, record, about=about)
    known = documents if parents is None else parents.documents(documents)
    titles = {d.id: d.title for d in known if d.title.strip()}
    with record.timed("asking"):
        own: list[Query] = []
        if len(indexes) == 2:
            if corpus is None:
                held = [contents(*open_index(name, encoder)) for name in reversed(indexes)]
                titles = {doc: title for of in held for doc, title in of.titles.items()}
            own = [Query(f"{TITLE_OF}{doc}", title) for doc, title in sorted(titles.items())]
            if not own and not questions:
                got, expected = "no document has a title, and there are no queries", "one of both"
                fix = "Give --corpus, whose titles are asked, or --queries."
                raise InputError(got, expected=expected, fix=fix, where="--queries")
        asked = [*own, *questions]
        systems = ask_systems(
            folder, record, asked, deeper(max(k, DEPTH) if own else k, parents), indexes=indexes,
            settings=settings, retrievers=retrievers, documents=documents, asking=asking,
            encoder=encoder,
        )  # fmt: skip
        for i, run in enumerate(runs, 1):
            content = read_run(run) if isinstance(run, Path) else run
            if len(runs) < 2 and questions:
                content = {q.id: content[q.id] for q in questions if q.id in content}
            systems.append(System(str(run) if isinstance(run, Path) else f"run {i}", content))
    record.config |= {"before": systems[0].name, "after": systems[1].name}
    with record.timed("comparing"):
        if parents is not None:
            systems = [fold_system(system, parents) for system in systems]
            judged = judged and parents.qrels(judged)
        compared = _compare_lists(systems, asked, titles, k, judged)
    if len(indexes) == 2:
        compared["summary"]["of"] = "indexes"
    return _write(folder, record, about, **compared)


def _compare_lists(
    systems: Sequence[System],
    queries: Sequence[Query],
    titles: Mapping[str, str],
    k: int,
    qrels: Qrels | None,
) -> dict[str, Any]:
    """Compare the top k of the queries that both answer. Return arguments of `_write`.

    A document is gained if its own title brings it into the top k after and not before. Where
    titles were not asked, it is gained if it is in some list after and in none before.
    """
    both = [query for query in systems[0].run if query in systems[1].run]
    failures = {id_: why for system in reversed(systems) for id_, why in system.failed.items()}
    if not both and failures:
        raise ArgusError(
            f"No query is answered by both. The first failure: {next(iter(failures.values()))}"
        )
    if not both:
        raise InputError(
            "the runs have no query in common",
            expected="two runs of the same queries",
            fix="Check that they belong together.",
            where=" and ".join(system.name for system in systems),
        )
    texts = {query.id: query.text for query in queries}
    runs = [{id_: system.run[id_] for id_ in both} for system in systems]
    lists = [Counter(doc for scores in run.values() for doc in ranking(scores)[:k]) for run in runs]
    by_title = {id_.removeprefix(TITLE_OF): id_ for id_ in both if id_.startswith(TITLE_OF)}
    held = [system.documents for system in systems]
    every = {*lists[0], *lists[1]}.union(*(ids for ids in held if ids is not None and by_title))
    rows = []
    for doc in sorted(every):
        words, came = [f"in {of[doc]:,} lists" for of in lists], [doc in of for of in lists]
        ranks: Sequence[int | None] = (None, None)
        if doc in by_title:
            ranks = [first_rank(run.get(by_title[doc], {}), (doc,)) for run in runs]
            came = [rank is not None and rank <= k for rank in ranks]
        verdict = SAME if came[0] == came[1] else GAINED if came[1] else LOST
        is_held = [ids is None or doc in ids for ids in held]
        if not all(is_held):
            verdict = ONLY_BEFORE if is_held[0] else ONLY_AFTER
        change = None if ranks[0] is None or ranks[1] is None else ranks[1] - ranks[0]
        cells = ("document", doc, titles.get(doc, ""), verdict, *words, *ranks, change)
        rows.append(dict(zip(SCHEMA.names, cells, strict=True)))
    changes, only = _list_changes(runs, [(id_, texts.get(id_, id_)) for id_ in both], titles, k,
                                  qrels or {})  # fmt: skip
    given = len(both) - len(by_title)
    summary: dict[str, Any] = {
        "of": "runs" if all(s.fingerprint == RUN_FILE for s in systems) else "retrievers",
        "names": [system.name for system in systems],
        "fingerprints": [system.fingerprint for system in systems],
        "notes": _notes(systems, {*both, *failures}),
        "k": k,
        "queries": {"titles": len(by_title), "given": given, "failed": len(failures)},
        "changed_queries": sum(row["changed"] > 0 for row in changes),
    }
    if given:
        for side in ("before", "after"):
            summary[f"only_{side}"] = sum(row["only"] == side for row in only)
    if qrels is not None:
        sides, n_judged = Counter[tuple[bool, bool]](), 0
        for query in both:
            before, after = (set(ranking(run[query])[:k]) for run in runs)
            wanted = [doc for doc, grade in qrels.get(query, {}).items() if grade > 0]
            sides.update((doc in before, doc in after) for doc in wanted)
            n_judged += bool(wanted)
        summary["judged"] = {
            "queries": n_judged,
            "relevant": sides.total(),
            "both": sides[True, True],
            "only_before": sides[True, False],
            "only_after": sides[False, True],
            "neither": sides[False, False],
        }
    tables = {
        "comparison_queries": pa.Table.from_pylist(changes, schema=QUERY_SCHEMA),
        "comparison_only": pa.Table.from_pylist(only, schema=ONLY_SCHEMA),
    }
    return {"summary": summary, "rows": rows, "tables": tables}


def _list_changes(
    runs: Sequence[Run],
    queries: Sequence[tuple[str, str]],
    titles: Mapping[str, str],
    k: int,
    qrels: Qrels,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the changes of every query's top k, and the results within k of one side alone.

    The first are rows of QUERY_SCHEMA, the most changed query first. The others are rows of
    ONLY_SCHEMA, of given queries, relevant ones first. queries: ids and texts.
    """
    changes: list[dict[str, Any]] = []
    only: list[dict[str, Any]] = []
    for query, text in queries:
        before, after = (ranking(run.get(query, {})) for run in runs)
        entered = [doc for doc in after[:k] if doc not in before[:k]]
        left = [doc for doc in before[:k] if doc not in after[:k]]
        about, grades = {"query_id": query, "text": text}, qrels.get(query, {})
        names = ("; ".join(titles.get(doc) or doc for doc in docs) for docs in (entered, left))
        moves = dict(zip(("entered", "left"), names, strict=True))
        changes.append(about | moves | {"changed": len(entered) + len(left)})
        if query.startswith(TITLE_OF):
            continue
        for side, ids, ranked in (("before", left, before), ("after", entered, after)):
            only += [
                about
                | {"doc_id": id_, "label": titles.get(id_, ""), "only": side}
                | {"rank": ranked.index(id_) + 1, "grade": grades.get(id_)}
                for id_ in ids
            ]
    changes.sort(key=lambda row: (-row["changed"], row["query_id"]))
    only.sort(key=lambda row: (-(row["grade"] or 0), row["query_id"], row["rank"]))
    return changes, only


def _notes(systems: Sequence[System], known: set[str]) -> list[str]:
    """Return warnings: of the systems, of queries left out, of answers of an earlier run."""
    notes = list(dict.fromkeys(s.warning for s in systems if s.warning))
    for system in systems:
        if system.failed:
            first = next(iter(system.failed.values()))
            notes.append(
                f"{system.name} failed {len(system.failed):,} queries: left out; the first: {first}"
            )
        if system.kept:
            notes.append(f"{system.name}: {kept_note(system.kept, len(system.run))}")
    of_one = sum(len(system.run.keys() - known) for system in systems)
    if of_one:
        notes.append(f"{of_one:,} queries are in one of the runs only: left out")
    return notes


def _write(
    folder: ArtifactFolder,
    record: Record,
    about: Sequence[Path],
    summary: Mapping[str, Any],
    rows: Sequence[Mapping[str, Any]],
    tables: Mapping[str, pa.Table],
) -> CompareResult:
    """Write tables, summary, manifest and report of two sides, before and after.

    about: folders of the two sides.
    """

    def order(row: Mapping[str, Any]) -> tuple[int, float, str]:
        """Sort losses first, then the greatest change first, then by id."""
        return VERDICTS.index(row["verdict"]), -abs(row["change"] or 0), row["id"]

    listed = sorted(rows, key=order)
    compared = pa.Table.from_pylist(listed, schema=SCHEMA)
    counts = Counter(row["verdict"] for row in listed)
    verdicts = {"document": {verdict: counts[verdict] for verdict in VERDICTS}} if listed else {}
    written = {"comparison": compared, **tables}
    summary = {**summary, "verdicts": verdicts}
    for verdict in (GAINED, LOST):
        summary[verdict] = [row for row in listed if row["verdict"] == verdict][:MAX_NAMED]
    record.encoder["fingerprint"] = " | ".join(dict.fromkeys(summary["fingerprints"]))
    record.open(folder, about=about)
    for name, content in written.items():
        folder.write_table(name, content, csv=True)
    folder.write_results("comparison", summary, record.manifest(verdicts))
    return CompareResult(folder.path, write_report(folder.path), summary, compared)


def section(folder: Path, comparison: Mapping[str, Any]) -> Section:
    """Build the report's section from the summary and the tables in the folder."""
    verdicts = comparison["verdicts"]
    columns = dict.fromkeys(("what", "name", "verdict", "before", "after"), "text")
    rows = read_table(folder / "comparison.parquet").to_pylist()
    by_title = any(row["value_before"] is not None for row in rows)
    if by_title:
        columns |= dict.fromkeys(("rank by title, before", "rank by title, after"), "count")
    changes = [row for row in rows if row["verdict"] != SAME]
    shown = []
    for row in changes[:MAX_ROWS]:
        words = [row["verdict"], row["before"] or "", row["after"] or ""]
        ranks = [row["value_before"], row["value_after"]] if by_title else []
        shown.append([row["kind"], naming(row["label"], row["id"]), *words, *ranks])
    tables = {"comparison": table(columns, shown, total=len(changes))}
    queries = read_table(folder / "comparison_queries.parquet").to_pylist()
    moved = [list(row.values())[1:] for row in queries if row["changed"]]
    texts = ("query", "enter the top k", "leave it")
    columns = dict.fromkeys(texts, "text") | {"changes": "count"}
    tables["comparison_queries"] = table(columns, moved)
    if "judged" in comparison:
        only = read_table(folder / "comparison_only.parquet").to_pylist()
        wanted = (r for r in only if (r["grade"] or 0) > 0)
        relevant = [[r["text"], naming(r["label"], r["doc_id"]), r["only"], r["rank"]]
                    for r in wanted]  # fmt: skip
        columns = dict.fromkeys(("query", "relevant document", "only"), "text") | {"rank": "count"}
        tables["comparison_only"] = table(columns, relevant)
    parts = [f"{v['gained']:,} {kind} gained, {v['lost']:,} lost" for kind, v in verdicts.items()]
    return Section({}, tables, "; ".join(parts))
