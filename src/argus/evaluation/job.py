"""`argus evaluate --qrels`: measure one search system, or compare two, on judged queries.

`evaluate`: queries, judgements and systems -> nDCG, recall and the like of each, a paired test of
the second against the first, and the queries it harmed. `systems` asks, `judged` reads,
`argus.measures` computes, `summary` puts it in words. docs/methods.md explains measures, tests and
ARGUS' Table 4.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from argus.corpora import Corpus
from argus.data.fields import FieldNames
from argus.data.folders import ArtifactFolder
from argus.data.runs import Excluded, first_rank, spare, without_excluded
from argus.data.types import Qrels, Query, Run, State
from argus.data.writing import one_writer
from argus.encoders import Encoder
from argus.errors import InputError
from argus.evaluation.config import EvaluateConfig
from argus.evaluation.judged import (
    TABLE_4_K,
    JudgedQueries,
    diagnosis_file,
    highest_rps,
    read_judged,
    rps_association,
    slice_queries,
)
from argus.evaluation.summary import SLICES, headline
from argus.evaluation.systems import (
    Judged,
    System,
    ask_systems,
    index_settings,
    missing_gold,
    run_system,
    without_failed,
)
from argus.indexes.header import parse_index_spec
from argus.jobs.result import TableResult
from argus.jobs.workspace import Record, check_folder
from argus.measures import Evaluation, is_implicit, paired_difference
from argus.measures import evaluate as score
from argus.measures.measures import cutoff
from argus.measures.significance import UNCHANGED
from argus.measures.slices import Trials
from argus.reports import write_report
from argus.retrievers.config import AskingConfig

LEXICAL_MEASURES = ("nDCG@10", "R@10", "RR")
HARMED = ("query_id", "text", "before", "after", "difference", "rank_before", "rank_after")
MAX_NAMED = 200  # failed and harmed queries in the summary; per_query has all


@dataclass(frozen=True, repr=False)
class EvaluateResult(TableResult):
    """Measures of one system, or of two: before and after. Everything in it is also in `folder`.

    summary:
        headline: measure by which systems are compared.
        depth: documents per list.
        queries: total, measured, failed, not applicable, and the reasons by number.
        failed: query_id and reason of the first 200 that could not be asked.
        judged_but_not_asked: judged queries that are none of the queries, and the first 50 ids.
        systems: of each system, as below.
        comparison: second system against the first, by measure. None of one system.
        harmed: the worst 200 queries by the headline measure, with their ranks. None of one system.
        implicitness: measured (queries that have a relevant title), not_applicable, implicit (that
            share no content word with one), share (of the measured), bm25 (its measures over the
            same texts), groups (measures of implicit and sharing queries).
        association: ARGUS Table 4 for each system at each k. None without a diagnosis.
        association_left_out: k to which the lists do not reach.
        parents: field, chunks, documents, if chunks were folded to documents.
        slices: the headline measure by slice, if fields were named.

    A system:
        name, fingerprint: index, retriever or run, and the encoder of its vectors.
        documents: documents in its index. None if that is not known.
        queries_without_results: queries for which nothing came back.
        longest_list: results in the longest list of a run. None of an index.
        beyond_its_lists: measures that read further down than that.
        kept: answers from an earlier run.
        warning: a doubt about its answers, or None.
        missing_judged_documents: see `argus.evaluation.systems.missing_gold`.
        measures: name to mean.

    table: one row per query: measures of every system, difference, whether it is implicit.
    """

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        return headline(self.summary)


@one_writer
def evaluate(
    queries: Path | str | Sequence[Query] | JudgedQueries,
    qrels: Path | str | Qrels,
    *,
    out: Path | str,
    indexes: Sequence[str] = (),
    runs: Sequence[Path | Run] = (),
    corpus: Corpus | None = None,
    diagnosis: Path | None = None,
    encoder: Encoder | str | None = None,
    hybrid: Sequence[str] = (),
    weights: Sequence[float] = (),
    config: EvaluateConfig | None = None,
    fresh: bool = False,
    retrievers: Sequence[Any] = (),
    asking: AskingConfig | None = None,
    excluded: Path | str | Excluded | None = None,
    fields: FieldNames | None = None,
) -> EvaluateResult:
    """Measure one or two systems. With two, test the second against the first.

    queries: with texts, or judged queries that were read before, folded as they are. indexes:
    `PATH`, `PATH@original` or `PATH@REMEDY`. They come before `retrievers` (named as
    `argus.retrievers.names` says, or any object that retrieves), and these before `runs` (TREC or
    JSON files, or runs). corpus: titles and texts, by the columns of `fields`. An index knows its
    own. diagnosis: folder with diagnosis.parquet, for ARGUS' Table 4. encoder: for indexes that
    name none, and for the queries of stores. hybrid: how indexes fuse vectors with BM25 ("min-max",
    "rrf", "dbsf", or "dense" for not at all), one for all or one for each. weights: λ of documents
    against scenarios, one for all indexes or one for each. excluded: documents to remove from each
    query's results, or a file of them. Raises InputError for bad input, ArgusError if every query
    failed. Nothing is written before all input has been read.
    """
    config, asking = config or EvaluateConfig(), asking or AskingConfig()
    if len(indexes) + len(retrievers) + len(runs) not in (1, 2):
        got = f"{len(indexes)} indexes, {len(retrievers)} retrievers and {len(runs)} runs"
        expected = "one system, or two (before and after)"
        fix = "Name them with --index, --retriever and --run."
        raise InputError(got, expected=expected, fix=fix, where="--index, --retriever, --run")
    settings = index_settings(hybrid, weights, len(indexes))
    questions = queries
    if not isinstance(questions, JudgedQueries):
        questions = read_judged(questions, qrels, corpus, excluded, fields)
        questions = questions.folded(config.parent_field)
    highest = highest_rps(diagnosis) if diagnosis else None
    if highest is not None and questions.fold is not None:
        highest = questions.fold.best(highest)
    files = {f"run {i}": run for i, run in enumerate(runs, start=1) if isinstance(run, Path)}
    made = diagnosis_file(diagnosis) if diagnosis else None
    record = Record(
        "evaluation", {**asdict(config), "indexes": list(indexes)},
        {**questions.files, **files, "corpus": questions.corpus, "diagnosis": made},
    )  # fmt: skip
    if n := sum(map(len, questions.excluded.values())):
        record.config["excluded"] = n
    folder = ArtifactFolder(Path(out), fresh=fresh)
    about = [parse_index_spec(name).path for name in indexes]
    check_folder(folder, record, about=about)
    deep, posed = config.depth + questions.spare, questions.queries
    with record.timed("asking"):
        systems = ask_systems(
            folder, record, posed, deep, indexes=indexes, settings=settings, retrievers=retrievers,
            documents=questions.documents or (), asking=asking, encoder=encoder,
        )  # fmt: skip
        systems += [run_system(run, posed, deep, f"run {i}") for i, run in enumerate(runs, start=1)]
        systems = questions.folded_systems(systems, config.depth)
    judged = without_failed(questions.judged, systems)
    record.encoder["fingerprint"] = " | ".join(dict.fromkeys(s.fingerprint for s in systems))
    with record.timed("measuring"):
        scored = [score(s.run, judged.qrels, config.measures) for s in systems]
        found = _Measured(questions, systems, judged, scored, config)
        summary = found.summarise(highest)
        table = found.tabulate()
        tables = {"per_query": table}
        if config.by:
            measured = replace(questions, judged=judged)
            summary["slices"], tables[SLICES] = slice_queries(config.by, measured, found.trials())
    record.open(folder, about=about)
    for name, content in tables.items():
        folder.write_table(name, content, csv=True)
    folder.write_results("evaluation", summary, record.manifest({**summary["queries"]}))
    return EvaluateResult(folder.path, write_report(folder.path), summary, table)


class _Measured:
    """One system, or two (before and after), with its measures on the judged queries.

    implicit: by query, whether it is implicit, None without a relevant title. suffixes: ends of
    each system's columns.
    """

    def __init__(
        self,
        questions: JudgedQueries,
        systems: Sequence[System],
        judged: Judged,
        scored: Sequence[Evaluation],
        config: EvaluateConfig,
    ) -> None:
        self.questions, self.systems, self.judged = questions, systems, judged
        self.scored, self.config = scored, config
        self.suffixes = ("",) if len(systems) == 1 else (" before", " after")
        titles = {doc: title for system in systems for doc, title in system.titles.items()}
        self.implicit = {
            id_: is_implicit(q.text, [titles[d] for d in judged.relevant(id_) if d in titles])
            for id_, q in judged.queries.items()
        }

    def summarise(self, highest: Mapping[str, float] | None) -> dict[str, Any]:
        """Return the figures of `EvaluateResult`. No value is NaN. highest: RPS of documents."""
        judged, config, systems = self.judged, self.config, self.systems
        deep = min([config.depth, *(s.longest for s in systems if s.longest is not None)])
        ks = [k for k in TABLE_4_K if k <= deep]
        associate = partial(
            rps_association, qrels=judged.qrels, seed=config.seed, resamples=config.resamples, ks=ks
        )
        failed = [{"query_id": id_, "reason": reason} for id_, reason in judged.failed.items()]
        summary: dict[str, Any] = {
            "headline": config.headline,
            "depth": config.depth,
            "queries": {
                "total": len(self.questions.queries),
                "measured": len(judged.queries),
                "failed": len(judged.failed),
                "not applicable": len(judged.reasons),
                "reasons": dict(Counter([*judged.reasons.values(), *judged.failed.values()])),
            },
            "failed": failed[:MAX_NAMED],
            "judged_but_not_asked": {
                "queries": len(judged.not_asked), "ids": judged.not_asked[:50]
            },
            "systems": [self._system(i) for i in range(len(systems))],
            "comparison": self._compare(self.scored),
            "harmed": self._harmed() if len(systems) == 2 else None,
            "implicitness": self._implicitness(),
            "association": highest and [
                associate(system.run, max_rps=highest, indexed=system.documents)
                for system in systems
            ],
            "association_left_out": [k for k in TABLE_4_K if highest and k not in ks],
        }  # fmt: skip
        if (fold := self.questions.fold) is not None:
            counts = {"chunks": len(fold.of_chunk), "documents": len(fold.parents)}
            summary["parents"] = {"field": fold.field, **counts}
        return summary

    def _compare(self, sides: Sequence[Evaluation]) -> dict[str, Any] | None:
        """Test the second of two against the first. None for one system."""
        if len(sides) < 2:
            return None
        seed, resamples, differences = self.config.seed, self.config.resamples, {}
        for name in sides[0].aggregate:
            values = ({q: row[name] for q, row in side.per_query.items()} for side in sides)
            test = paired_difference(*values, seed=seed, resamples=resamples)
            differences[name] = test.figures()
        return differences

    def _first_relevant(self, system: int, query_id: str) -> int | None:
        """Return the rank of the first relevant document."""
        relevant = set(self.judged.relevant(query_id))
        return first_rank(self.systems[system].run.get(query_id, {}), relevant)

    def _system(self, i: int) -> dict[str, Any]:
        system, judged = self.systems[i], self.judged
        lists = {query: system.run.get(query, {}) for query in judged.queries}
        longest, warning = system.longest, system.warning
        ids = {id_ for grades in judged.qrels.values() for id_ in grades}
        first = next((id_ for scores in lists.values() for id_ in scores), None)
        if not warning and first is not None and all(ids.isdisjoint(s) for s in lists.values()):
            warning = (
                f"no result of {len(lists):,} queries is a judged document: the first is "
                f"{first!r}, judged is {min(ids, default='')!r}; mind --result-id"
            )
        return {
            "name": system.name,
            "fingerprint": system.fingerprint,
            "documents": None if system.documents is None else len(system.documents),
            "queries_without_results": sum(not scores for scores in lists.values()),
            "longest_list": longest,
            "beyond_its_lists": [
                measure
                for measure in self.config.measures
                if longest is not None and (cutoff(measure) or 0) > longest
            ],
            "kept": system.kept,
            "warning": warning,
            "missing_judged_documents": missing_gold(system, judged),
            "measures": self.scored[i].aggregate,
        }

    def _harmed(self) -> list[dict[str, Any]]:
        """Return the queries whose headline measure fell, worst first, equals by id."""
        measure, rows = self.config.headline, []
        for id_, values in self.scored[0].per_query.items():
            before, after = values[measure], self.scored[1].per_query[id_][measure]
            if after - before < -UNCHANGED:
                ranks = (self._first_relevant(i, id_) for i in (0, 1))
                shown = (id_, self.judged.queries[id_].text, before, after, after - before, *ranks)
                rows.append(dict(zip(HARMED, shown, strict=True)))
        return sorted(rows, key=lambda row: (row["difference"], row["query_id"]))[:MAX_NAMED]

    def _implicitness(self) -> dict[str, Any]:
        implicit = [id_ for id_, yes in self.implicit.items() if yes]
        sharing = [id_ for id_, yes in self.implicit.items() if yes is False]
        groups = []
        for name, ids in (("implicit", implicit), ("sharing", sharing)):
            if ids:
                means, parts = [], []
                for e in self.scored:
                    own = {q: e.per_query[q] for q in ids}
                    sums = {m: sum(values[m] for values in own.values()) for m in e.aggregate}
                    means.append({m: total / len(ids) for m, total in sums.items()})
                    parts.append(Evaluation(means[-1], own))
                figures = {"measures": means, "comparison": self._compare(parts)}
                groups.append({"name": name, "queries": len(ids), **figures})
        total = len(implicit) + len(sharing)
        return {
            "measured": total,
            "not_applicable": len(self.implicit) - total,
            "implicit": len(implicit),
            "share": len(implicit) / total if total else None,
            "bm25": self._score_bm25(),
            "groups": groups,
        }

    def _score_bm25(self) -> dict[str, float] | None:
        """Return the measures of BM25 over the same texts. None if no texts are known."""
        texts = next((system.texts for system in self.systems if system.texts), None)
        if not texts:
            return None
        from argus.indexes.lexical import LexicalIndex

        ids = sorted(texts)
        index = LexicalIndex.build(ids, [texts[i] for i in ids])
        queries, excluded = self.judged.queries, self.judged.excluded
        depth = max(self.config.depth, *(cutoff(name) or 0 for name in LEXICAL_MEASURES))
        hits = index.search([q.text for q in queries.values()], depth + spare(excluded))
        run = without_excluded(hits.run(list(queries)), excluded, depth)
        return score(run, self.judged.qrels, LEXICAL_MEASURES).aggregate

    def tabulate(self) -> pa.Table:
        """Return a row per query, in their order. Missing values are null.

        `relevant` documents, and whether it is `implicit`. Then, per system: `rank` of the first
        relevant document, relevant documents that are `not_indexed`, and each measure. Of two
        systems these end in ` before` and ` after`, and measures have a ` difference`.
        """
        judged, queries = self.judged, self.questions.queries
        states = {id_: (State.NOT_APPLICABLE, why) for id_, why in judged.reasons.items()}
        states |= {id_: (State.FAILED, why) for id_, why in judged.failed.items()}
        states |= dict.fromkeys(judged.queries, (State.MEASURED, ""))
        plain = {
            "query_id": [query.id for query in queries],
            "text": [query.text for query in queries],
            "state": [str(states[query.id][0]) for query in queries],
            "reason": [states[query.id][1] for query in queries],
        }
        columns = {name: pa.array(values, pa.string()) for name, values in plain.items()}

        def add(name: str, kind: pa.DataType, value: Callable[[str], Any]) -> None:
            values = [value(q.id) if q.id in judged.queries else None for q in queries]
            columns[name] = pa.array(values, kind)

        add("relevant", pa.int64(), lambda id_: len(judged.relevant(id_)))
        add("implicit", pa.bool_(), self.implicit.__getitem__)
        for i, (system, suffix) in enumerate(zip(self.systems, self.suffixes, strict=True)):
            held = system.documents

            def missing(id_: str, held: frozenset[str] | None = held) -> int | None:
                return None if held is None else len(set(judged.relevant(id_)) - held)

            add(f"rank{suffix}", pa.int64(), partial(self._first_relevant, i))
            add(f"not_indexed{suffix}", pa.int64(), missing)
        for measure in self.scored[0].aggregate:
            sides = [{q: row[measure] for q, row in e.per_query.items()} for e in self.scored]
            for side, suffix in zip(sides, self.suffixes, strict=True):
                add(f"{measure}{suffix}", pa.float64(), side.__getitem__)
            if len(sides) == 2:
                difference = {q: sides[1][q] - value for q, value in sides[0].items()}
                add(f"{measure} difference", pa.float64(), difference.__getitem__)
        return pa.table(columns)

    def trials(self) -> Iterator[Trials]:
        """Yield each system's headline measure by query."""
        measure = self.config.headline
        for evaluation, suffix in zip(self.scored, self.suffixes, strict=True):
            values = np.array([evaluation.per_query[q][measure] for q in self.judged.queries])
            yield Trials(f"{measure}{suffix}", np.arange(len(values)), values)
