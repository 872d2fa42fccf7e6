"""Compare two retrievers on the same questions without judgements, and say why they differ.

`compare_retrievers`: two of stores, indexes, endpoints, functions, runs and logs -> what each alone
brings (`argus.evaluation.comparison`). `find_why` then changes one thing at a time (k, a threshold,
a filter, exact search, the fusion, the encoder, a reranker) until one answers as the other does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from argus.corpora import Corpus, StoreCorpus
from argus.corpora.opening import Origin, open_corpus
from argus.data.fields import By, FieldNames, FieldPath, ParentField, QrelsName
from argus.data.folders import ArtifactFolder
from argus.data.rows import field_names
from argus.data.runs import cut, ranking, read_judgements, read_run
from argus.data.types import Document, Qrels, Query, Run
from argus.data.writing import one_writer
from argus.errors import ArgusError, InputError
from argus.evaluation.comparison import (
    DEPTH,
    OWN,
    CompareResult,
    compare_lists,
    overlaps,
    write_comparison,
)
from argus.evaluation.judged import ParentFold, deeper, fold_system
from argus.evaluation.systems import System, ask_retriever
from argus.indexes.blend import DENSE
from argus.indexes.lexical import STEMMED, LexicalIndex
from argus.indexes.retriever import FUSED_DEPTH, IndexRetriever
from argus.indexes.views import ViewIndex, originals
from argus.jobs import options as o
from argus.jobs.workspace import Record, check_folder
from argus.measures.slices import slicings
from argus.retrievability.sentences import split_sentences
from argus.retrievers.config import DEEPER, NAMES, AskingConfig
from argus.retrievers.dense import IndexSource, StoreSource, parse_index
from argus.retrievers.names import has_kind, is_index
from argus.retrievers.opening import OpenRetriever, note_retrievers, opened
from argus.retrievers.session import ANSWERS
from argus.settings import CORPUS, TOP_K, Ge, Option, TopK
from argus.stores.spec import is_store
from argus.traffic.exchange import Exchange
from argus.traffic.files import ENDINGS
from argus.traffic.reading import normal, read_traffic
from argus.tuning.arms import part_and_fusion_runs
from argus.tuning.judge import any_questions, question_id
from argus.tuning.others import encoder_arms, store_arms

# Documents whose own words ask where nothing else does, and questions that are asked anew.
SAMPLE, TRIED = 1_000, 100
# Overlap from which two answer alike, and what a change has to bring to be named at all.
ALIKE, PART = 0.95, 0.1
RERANKED = "reranked"  # any order: that it brings the same documents is asked for
MOST_VALUES = 20  # of a field that may be filtered by
NOISE = 0.05  # share of questions that a threshold need not fit
RARE = 0.02  # share of results that a filter leaves out, below which there is none
SMALL = 0.2  # share of the corpus from which a deeper list holds about anything


@dataclass(frozen=True)
class Side:
    """One of the two: a retriever to ask, or a run that is there. log: questions by id."""

    name: str
    retriever: Any = None
    run: Run | None = field(default=None, repr=False)
    log: Mapping[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, given: Any, where: str) -> Side:
        """Read a name, a run, or any object that retrieves. Raises InputError for what is none."""
        if isinstance(given, Mapping):
            return cls(where, run=dict(given))
        name = str(given) if isinstance(given, str | Path) else ""
        path = Path(name)
        if not name or has_kind(name):
            return cls(name or where, given)
        if not path.exists() or path.suffix == ".py":
            if path.exists() or ".py:" in name:
                return cls(name, given)
            expected = f"{NAMES}; a run (TREC, JSON), or a log"
            raise InputError(
                f"{name!r} names none", expected=expected, fix="Check it.", where=where
            )
        with suppress(InputError):
            if path.is_file() and path.suffix not in set(ENDINGS) - {".json"}:
                return cls(name, run=read_run(path))
        return cls._of_log(path)

    @classmethod
    def _of_log(cls, path: Path) -> Side:
        """Read the answers of a log. Of a question that was asked again, the last ones count."""
        run: Run = {}
        texts: dict[str, str] = {}
        for one in read_traffic(path):
            if isinstance(one, Exchange) and one.results and (text := normal(one.query)):
                id_ = question_id(text)
                texts[id_] = one.query
                run[id_] = {p.id: -float(i) for i, p in enumerate(one.results) if p.id}
        if not any(run.values()):
            got, expected = "no question of it has results with ids", "what came for each question"
            fix = "argus traffic preview shows how it is read."
            raise InputError(got, expected=expected, fix=fix, where=path)
        return cls(str(path), run=run, log=texts)

    def answers(self, asked: Sequence[Query], k: int) -> System:
        """Return what is there of questions. A log's are matched by their text."""
        own = self.run or {}
        if self.log:
            own = {q.id: own[id_] for q in asked if (id_ := question_id(normal(q.text))) in own}
        elif asked:
            own = {q.id: own[q.id] for q in asked if q.id in own}
        return System(self.name, cut(own, k))


@one_writer
def compare_retrievers(
    first: Annotated[str | Path | Run | object, Option(argument="A", is_name=True)],
    second: Annotated[str | Path | Run | object, Option(argument="B", is_name=True)],
    *,
    out: o.Out = o.OUT,
    queries: Path | str | Sequence[Query] = (),
    qrels: Annotated[Path | str | Qrels | None, QrelsName()] = None,
    corpus: Annotated[Corpus | None, Option(is_name=True), CORPUS] = None,
    k: TopK = TOP_K,
    encoder: Sequence[str] = (),
    sample: Annotated[int, Ge(1)] = SAMPLE,
    by: By = (),
    parent_field: ParentField = None,
    asking: AskingConfig | None = None,
    fields: FieldNames | None = None,
    fresh: o.Fresh = False,
) -> CompareResult:
    """Ask two retrievers the same questions; tell what one alone brings, and why.

    No judgements are needed. A and B are stores, indexes, endpoints, FILE.py:NAME, runs or logs.
    Questions are those of --queries, else of a log that is A or B, else documents' own titles and
    first sentences. Then one thing is changed at a time (k, a threshold, a filter, exact search, a
    fusion with BM25, an encoder, the order) until one answers as the other does.

    Raises InputError for bad input, ArgusError if no query is answered by both. A query that fails
    on one side is left out.

    Args:
        first: One of the two: a store, an index, an endpoint, FILE.py:NAME, a run or a log.
        second: The other.
        queries: Questions (JSONL, CSV, TSV, Parquet), or a log of them.
        qrels: Judgements, if there are any: which judged answers only one side brings.
        corpus: Titles, texts and fields; default: of an index or a store that is compared.
        encoder: Of a store's queries: one for both, or one for each; more are tried as a reason.
        sample: Documents whose own words ask, where there are no questions.
    """
    sides = [Side.of(first, "A"), Side.of(second, "B")]
    asking = asking or AskingConfig()
    judged = None if qrels is None else read_judgements(qrels)
    documents, origin = _documents(corpus, sides, fields or FieldNames(), asking)
    fold = ParentFold.of(parent_field, documents or None)
    asked = _questions(queries, sides, documents, sample)
    sliced = slicings(documents, by)
    folder = ArtifactFolder(Path(out), fresh=fresh)
    files: dict[str, Any] = {"queries": queries, "qrels": qrels}
    files |= {name: given for name, given, side in zip("AB", (first, second), sides, strict=True)
              if side.run is not None}  # fmt: skip
    inputs = {n: Path(v) if isinstance(v, str | Path) else None for n, v in files.items()}
    record = Record("comparison", {"k": k, "sample": sample}, {**inputs, "corpus": origin})
    record.config |= {"parent_field": parent_field, "by": list(by)}
    about = [parse_index(side.name)[0].path for side in sides if is_index(side.name)]
    check_folder(folder, record, about=about)
    has_own = any(query.id.startswith(OWN) for query in asked)
    depth = deeper(max(k, DEPTH) if has_own else k, fold)
    models = [*encoder, *encoder[:1]] if len(encoder) == 1 else [*encoder, None, None]
    with ExitStack() as stack:
        pair = [
            None if side.retriever is None else stack.enter_context(opened(
                side.retriever, documents=documents, config=asking, cache=folder.path / ANSWERS,
                encoder=model,
            ))
            for side, model in zip(sides, models, strict=False)
        ]  # fmt: skip
        named = [(s.retriever, one) for s, one in zip(sides, pair, strict=True) if one is not None]
        if named:
            retrievers, sources = zip(*named, strict=True)
            note_retrievers(retrievers, sources, asking, folder, record, about)
        with record.timed("asking"):
            systems = [
                side.answers(asked, depth) if one is None else ask_retriever(one, asked, depth)
                for side, one in zip(sides, pair, strict=True)
            ]
        record.config |= {"before": systems[0].name, "after": systems[1].name}
        with record.timed("comparing"):
            if fold is not None:
                systems = [fold_system(system, fold) for system in systems]
                judged = judged and fold.qrels(judged)
            titles = {d.id: d.title for d in (fold.documents(documents) if fold else documents)
                      if d.title.strip()}  # fmt: skip
            titles = titles or {doc: t for system in systems for doc, t in system.titles.items()}
            rows = {document.id: row for row, document in enumerate(documents)}
            compared = compare_lists(systems, asked, titles, k, judged, sliced, rows)
            why = _Why(pair, systems, documents, k, fold, folder.path / "encoders")
            compared["summary"]["why"] = why.find(asked, [*encoder])
    return write_comparison(folder, record, about, **compared)


def _documents(
    corpus: Corpus | None, sides: Sequence[Side], fields: FieldNames, asking: AskingConfig
) -> tuple[list[Document], Origin | None]:
    """Return the documents of a corpus, else of an index or a store that keeps texts."""
    if corpus is not None:
        source = open_corpus(corpus)
        return source.documents(fields), source.origin
    for name in (side.name for side in sides if side.retriever is not None):
        if is_index(name):
            return originals(ViewIndex.open(parse_index(name)[0].path)), None
        if is_store(name):
            with suppress(ArgusError):
                return open_corpus(StoreCorpus(name, asking.opening)).documents(fields), None
    return [], None


def _questions(
    given: Path | str | Sequence[Query],
    sides: Sequence[Side],
    documents: Sequence[Document],
    n: int,
) -> list[Query]:  # fmt: skip
    """Return what is asked. Nothing where both are runs, whose ids are enough.

    Two indexes are asked by documents' own words beside the questions.
    """
    given = any_questions(given)
    log = next((side.log for side in sides if side.log), {})
    asked = list(given) or [Query(id_, text) for id_, text in log.items()]
    is_indexed = all(is_index(side.name) for side in sides)
    if (asked or all(side.retriever is None for side in sides)) and not is_indexed:
        return asked
    with_words = [(d, words) for d in documents if (words := _own_words(d))]
    if not with_words and not asked:
        raise InputError(
            "no questions", expected="--queries, a log as A or B, or documents whose words ask",
            fix="Name --queries FILE or --corpus DOCS.", where="--queries",
        )  # fmt: skip
    rng = np.random.default_rng(0)
    drawn = sorted(rng.permutation(len(with_words))[:n].tolist())
    return [Query(f"{OWN}{with_words[i][0].id}", with_words[i][1]) for i in drawn] + asked


def _own_words(document: Document) -> str:
    """Return the title of a document, or its first sentence."""
    if title := document.title.strip():
        return title
    spans = split_sentences(document.text)
    return document.text[spans[0].start : spans[0].end] if spans else ""


@dataclass(frozen=True)
class _Why:
    """Changes one thing at a time of one side, until it answers as the other does.

    pair: retrievers, None for a run. systems: what they answered, k documents and more.
    """

    pair: Sequence[OpenRetriever | None]
    systems: Sequence[System]
    documents: Sequence[Document]
    k: int
    fold: ParentFold | None
    home: Path

    def find(self, asked: Sequence[Query], encoders: Sequence[str]) -> dict[str, Any]:
        """Return what was tried, and in words what makes one answer as the other.

        asked: questions that differ, TRIED at most. overlap: of their top k. tried: the side that
        is changed (of), the one that it is compared with (like), the change, and the overlap then,
        best first. words: lines to print.
        """
        texts = {query.id: query for query in asked}
        both = [q for q in self.systems[0].run if q in self.systems[1].run]
        shares = overlaps([system.run for system in self.systems], both, self.k)
        order = np.random.default_rng(0).permutation(len(both))
        drawn = [i for i in order if shares[i] < 1][:TRIED]
        differ = [both[i] for i in drawn]
        questions = [texts.get(id_, Query(id_, "")) for id_ in differ]
        before = float(shares[drawn].mean()) if differ else 1.0
        tried: list[dict[str, Any]] = []
        for i in (0, 1) if differ else ():
            target = {q: self.systems[1 - i].run[q] for q in differ}
            lengths = {min(len(docs), self.k) for docs in target.values()}
            most = max(lengths) if len(lengths) == 1 else self.k
            for change, run in self._changes(i, questions, encoders):
                less = f"k = {most}"
                also = "" if most == self.k or change == less else f"{less}, "
                pair = [cut(self._folded(run), most), target]
                tried.append({
                    "of": self.systems[i].name, "like": self.systems[1 - i].name,
                    "change": also + change,
                    "overlap": round(float(overlaps(pair, differ, self.k).mean()), 4),
                })  # fmt: skip
        tried.sort(key=lambda one: (one["change"].endswith(RERANKED), -one["overlap"]))
        found = {"asked": len(differ), "overlap": round(before, 4), "tried": tried}
        return {**found, "words": [*self._words(found)]}

    def _words(self, found: Mapping[str, Any]) -> Iterator[str]:
        tried, n, before = found["tried"], found["asked"], found["overlap"]
        if not n:
            first = [[next(iter(ranking(s.run[q])), None) for q in s.run] for s in self.systems]
            if first[0] != first[1] and len(first[0]) == len(first[1]):
                yield "why: the same documents in another order, as a reranker leaves them"
            return
        made = [system.fingerprint for system in self.systems]
        if made[0] != made[1] and all(one is not None for one in self.pair):
            yield f"they differ in what embeds: {made[0].split(' ')[0]}, {made[1].split(' ')[0]}"
        able = (one for one in tried if one["overlap"] >= ALIKE)
        best = next(able, tried[0] if tried else None)
        if best is None or best["overlap"] < min(ALIKE, before + PART):
            changes = ", ".join(dict.fromkeys(one["change"] for one in tried)) or "nothing"
            yield f"why: no one change explains it; tried: {changes}"
            return
        degree = "answers as" if best["overlap"] >= ALIKE else "comes nearer to what"
        does = "does" if best["overlap"] >= ALIKE else "answers"
        yield (
            f"why: {best['of']}, {best['change']}, {degree} {best['like']} {does}: overlap "
            f"{before:.2f} -> {best['overlap']:.2f}, of {n:,} questions that differ"
        )

    def _folded(self, run: Run) -> Run:
        return run if self.fold is None else self.fold.run(run)

    def _changes(
        self, i: int, questions: Sequence[Query], encoders: Sequence[str]
    ) -> Iterator[tuple[str, Run]]:
        """Yield what one side answers after each change, in the order of their simplicity."""
        ids, one = [query.id for query in questions], self.pair[i]
        own = {id_: self.systems[i].run[id_] for id_ in ids}
        target = {id_: ranking(self.systems[1 - i].run[id_])[: self.k] for id_ in ids}
        yield from self._shorter(own, target)
        deep, depth = own, max(FUSED_DEPTH, deeper(DEEPER * self.k, self.fold))
        if one is not None:
            deep = own | one.ask(questions, depth).run
            yield f"asked for {depth:,}", deep
        yield from self._filtered(deep, target)
        if one is not None:
            for way, tried in store_arms(one, questions, deeper(self.k, self.fold)):
                yield way.partition(", ")[2], tried.run
        yield from self._fused(one, questions, deep, encoders)
        for first in (2 * self.k, DEEPER * self.k):
            if not self.documents or first < SMALL * len(self.documents):
                lists = {id_: ranking(docs)[:first] for id_, docs in self._folded(deep).items()}
                kept = {id_: [doc for doc in target[id_] if doc in lists[id_]] for id_ in ids}
                order = {q: {d: -float(n) for n, d in enumerate(docs)} for q, docs in kept.items()}
                yield f"its first {first} {RERANKED}", order

    def _shorter(self, own: Run, target: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, Run]]:
        """Yield fewer results, and those above a threshold, if the other side has fewer."""
        lengths = {id_: len(docs) for id_, docs in target.items()}
        if (most := max(lengths.values())) < self.k:
            yield f"k = {most}", cut(own, most)
        shorter = [id_ for id_, n in lengths.items() if 0 < n < min(self.k, len(own[id_]))]
        if not shorter or len(set(lengths.values())) == 1:
            return
        scores = {id_: sorted(own[id_].values(), reverse=True) for id_ in shorter}
        above = np.quantile([scores[id_][lengths[id_] - 1] for id_ in shorter], NOISE)
        below = np.quantile([scores[id_][lengths[id_]] for id_ in shorter], 1 - NOISE)
        bound = float(above + below) / 2
        run = {id_: {d: s for d, s in docs.items() if s >= bound} for id_, docs in own.items()}
        yield f"scores from {bound:.3g}", run

    def _filtered(
        self, deep: Run, target: Mapping[str, Sequence[str]]
    ) -> Iterator[tuple[str, Run]]:
        """Yield results of those values of a field alone that the other side brings."""
        of = {document.id: document.metadata for document in self.documents}
        brought = {doc for docs in target.values() for doc in docs if doc in of}
        names = dict.fromkeys(name for doc in brought for name in field_names(of[doc]))
        for name in names:
            with suppress(ValueError):
                path = FieldPath.parse(name)
                values = {doc: str(path.look(fields)) for doc, fields in of.items()}
                kept = {values[doc] for doc in brought}
                lists = [[*ranking(docs)][: self.k] for docs in deep.values()]
                out = [values.get(doc) not in kept for docs in lists for doc in docs]
                if len(kept) > MOST_VALUES or not out or np.mean(out) < RARE:
                    continue
                shown = " or ".join(sorted(kept)[:3]) + (", ..." if len(kept) > 3 else "")
                run = {id_: {d: s for d, s in docs.items() if values.get(d) in kept}
                       for id_, docs in deep.items()}  # fmt: skip
                yield f"only {name} = {shown}", run

    @cached_property
    def _lexical(self) -> LexicalIndex:
        return LexicalIndex.build(
            [d.id for d in self.documents], [d.content for d in self.documents], STEMMED
        )

    def _fused(
        self, one: OpenRetriever | None, questions: Sequence[Query], deep: Run,
        encoders: Sequence[str],
    ) -> Iterator[tuple[str, Run]]:  # fmt: skip
        """Yield the vectors of one side alone and fused with BM25, and other encoders."""
        if not self.documents or not all(query.text for query in questions):
            return
        ids = [query.id for query in questions]
        words = self._lexical.search([q.text for q in questions], FUSED_DEPTH).run(ids)
        source = None if one is None else one.source
        if isinstance(source, IndexSource):
            index = source.retriever
            plain = IndexRetriever(index.index, index.encoder, index.as_of, DENSE)
            dense = plain.search(questions, FUSED_DEPTH)
            yield from part_and_fusion_runs(dense, words, FUSED_DEPTH).items()
        elif isinstance(source, StoreSource):
            dense = {id_: dict([*deep[id_].items()][:FUSED_DEPTH]) for id_ in ids}
            yield from part_and_fusion_runs(dense, words, FUSED_DEPTH).items()
        for name in encoders:
            with suppress(ArgusError):
                for arm, tried in encoder_arms(
                    name, self.documents, questions, {}, words, self.home
                ):
                    yield arm, tried.run
