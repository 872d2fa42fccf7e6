"""`argus tune judge`: judge a few questions, pooled over ways to search, and tell what they decide.

A log, or questions without judgements -> a random draw, and for each question one pool: the first
documents of every arm, in an order that tells none. `argus.traffic.judging` has them graded, in a
table, on a page or by a language model. `decide` compares the arms on the grades. The arms' runs
are saved, so that deciding searches nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any

import numpy as np

from argus.commands import carry, command
from argus.data.documents import find_file, read_queries, write_qrels
from argus.data.folders import ArtifactFolder
from argus.data.provenance import content_hash
from argus.data.reading import WRITTEN, reading
from argus.data.runs import ranking
from argus.data.types import Query
from argus.data.writing import one_writer, write_jsonl
from argus.encoders import Encoder
from argus.errors import ArgusError, InputError
from argus.indexes.fold import ORIGINAL
from argus.indexes.header import index_folder
from argus.indexes.retriever import FUSED_DEPTH, IndexRetriever, encoder_of
from argus.indexes.views import ViewIndex, originals
from argus.jobs import options as o
from argus.jobs.result import Result
from argus.jobs.workspace import Record, require_some
from argus.llm.config import NamedModel
from argus.measures import evaluate
from argus.measures.significance import with_interval
from argus.reports import write_report
from argus.retrievers.config import NamedRetriever
from argus.retrievers.opening import opened as opened_retriever
from argus.settings import INDEX, Doc, Option, Without
from argus.traffic.config import JudgingConfig, LogConfig
from argus.traffic.exchange import Exchange
from argus.traffic.judging import LiveJudging, judge_traffic
from argus.traffic.reading import normal, read_traffic
from argus.traffic.sampling import PLAN, STEMS, ServedQuestion, draw_sample, read_served
from argus.tuning.arms import DENSE, DEPTH, MINE, Searched, part_and_fusion_runs
from argus.tuning.choose import MEASURE
from argus.tuning.decide import BETTER, WORSE, compare_arms, recommend

JOB = "decision"
ARMS = "arms.json"
AS_IS = "the index as it is"
POOLED = 5  # documents of each arm in a pool
STEP = 10  # judged questions from one decision to the next
Lists = dict[str, dict[str, list[str]]]  # arm to question to its documents, best first


@dataclass(frozen=True, repr=False)
class PoolResult(Result):
    """Drawn questions with their pools, and what the judged ones decide. All is in `folder`.

    to_judge: the table to fill in. Keys of the summary:

    drawn: questions to judge.
    documents: documents to grade, over all questions.
    judged: questions whose documents all have a grade.
    failed: questions that the retriever of the user could not answer, left out.
    mine: name of the retriever of the user, or the index as it is.
    decisions: see `decide`.
    then: command that tries the remedies as well.
    """

    folder: Path
    report: Path
    to_judge: Path
    summary: dict[str, Any]

    def headline(self) -> Iterator[str]:
        """Yield the draw, the decisions so far, and the next step."""
        s = self.summary
        yield (
            f"{s['drawn']:,} questions drawn, {s['documents']:,} documents to grade (the first "
            f"{POOLED} of each arm); {s['judged']:,} questions judged"
        )
        if s["failed"]:
            yield f"{s['failed']:,} questions failed in {s['mine']} and are left out"
        yield from (decision["words"] for decision in s["decisions"])
        for last in s["decisions"][-1:]:
            own = last["arms"][0]["mean"] - last["arms"][0]["difference"]
            yield f"{MEASURE} against {s['mine']} ({own:.3f}), {last['telling']:,} questions tell:"
            for arm in last["arms"]:
                difference = with_interval({**arm, "mean_difference": arm["difference"]})
                yield f"  {arm['arm']}: {arm['mean']:.3f}, {difference}: {arm['words']}"
            yield f"recommended: {last['recommended']}. With the remedies beside it: {s['then']}"
        if s["judged"] < s["drawn"]:
            yield f"To judge with keys on a page: {command('serve', self.folder)}"
            yield f"Or grade each row of {self.to_judge} from 0 to 3. Then run this command again."


@one_writer
def judge_pool(
    index: Annotated[Path | str, Option(("--index",)), INDEX],
    *,
    queries: Annotated[Path | None, Doc("Questions, or a log: nothing is judged yet.")] = None,
    out: o.Out = o.OUT,
    retriever: NamedRetriever = None,
    config: Annotated[JudgingConfig | None, Without("k", "relevant_from")] = None,
    log: Annotated[LogConfig | None, Without(*{*vars(LogConfig())} - {"query_field"})] = None,
    model: Annotated[NamedModel, Without("budget")] = None,
    encoder: o.IndexEncoder = None,
    fresh: o.Fresh = False,
) -> PoolResult:
    """Judge a few questions, and see after each ten which way to search they decide for.

    Questions are drawn at random. The first five documents of the vectors, of BM25, of their
    fusions and of what runs are graded together, shuffled: every arm is judged alike. Judge on the
    page of `argus serve OUT` or in OUT/to_judge.tsv, or name a --model. Run the same command again
    to read the grades. A larger --budget goes on. Judged questions are written as OUT/queries.jsonl
    and OUT/qrels.tsv for `argus tune try`, which has the remedies as well.

    Raises InputError for questions without text, another index or retriever than the folder began
    with, and grades of documents outside the pool.

    Args:
        index: Folder from argus index build.
        retriever: What runs, if not the index: FILE.py:NAME, a store or a service.
    """
    config = config or JudgingConfig()
    asked = read_questions(queries, log)
    opened = ViewIndex.open(index_folder(index))
    searching = encoder_of(opened, encoder)
    opened.header.check_fingerprint(searching.fingerprint, opened.path)
    # An object's address differs in each process.
    mine = AS_IS if retriever is None else str(retriever).partition(" at 0x")[0]
    parts = opened.made, str(opened.version), searching.fingerprint, mine, str(config.seed)
    folder, key = ArtifactFolder(Path(out), fresh=fresh), content_hash(*parts).hex()
    settings = {"index": str(index), "retriever": mine, **vars(config)}
    record = Record(JOB, settings, {"queries": queries})
    saved: dict[str, Any] = {} if fresh else _read_saved(folder, key)
    runs: Lists = saved.get("runs", {})
    budget = max(config.budget, saved.get("budget", 0))
    sample = draw_sample({id_: q.times for id_, q in asked.items()}, budget, config.seed)
    drawn = [asked[id_] for id_ in sample.questions]
    if new := [Query(q.id, q.text) for q in drawn if q.id not in runs.get(MINE, {})]:
        for arm, run in search_arms(opened, searching, new, retriever).items():
            runs[arm] = runs.get(arm, {}) | run
    answered = [replace(q, documents=pool(runs, q.id)) for q in drawn if q.id in runs[MINE]]
    require_some(len(answered), "question was answered", f"Check what runs: {mine}.")
    record.open(folder, about=(opened.path,))
    if saved and new:  # a larger budget: the draw goes on
        (folder / PLAN).unlink(missing_ok=True)
    shown = {doc for q in answered for doc in q.documents}
    corpus = [d for d in originals(opened) if d.id in shown]
    config = replace(config, budget=len(answered), k=len(runs) * POOLED)
    graded = judge_traffic(
        answered, corpus=corpus, out=folder.path, config=config, model=model, pooled=True
    )
    folder.write_json(ARMS, {"key": key, "budget": budget, "runs": runs})
    live = LiveJudging.of(folder.path)
    assert live is not None
    files = folder.own("queries.jsonl"), folder.own("qrels.tsv")
    write_jsonl(files[0], ({"_id": q, "text": asked[q].text} for q in live.judged))
    write_qrels(files[1], live.judged)
    trying = ["--index", index, "--queries", files[0], "--qrels", files[1], *carry("tune try")]
    if isinstance(retriever, (str, Path)):
        trying += ["--retriever", retriever]
    summary = {
        "drawn": len(answered), "documents": len(live.draw.rows), "judged": len(live.judged),
        "failed": len(drawn) - len(answered), "mine": mine, "decisions": decide(live, runs),
        "then": command("tune", "try", *trying),
    }  # fmt: skip
    folder.write_results(JOB, summary, record.manifest({"judged": summary["judged"]}))
    return PoolResult(folder.path, write_report(folder.path), graded.to_judge, summary)


def read_questions(source: Path | None, log: LogConfig | None = None) -> dict[str, ServedQuestion]:
    """Return the questions of a log or a table by id, with the number of asks, without documents.

    A log is redacted, and questions that differ in case and spaces alone are one. Raises InputError
    without a source, and where no question has a text.
    """
    if source is not None and source.is_dir() and find_file(source, STEMS):
        return {q.id: q for q in read_served(source, {})[0]}
    asked: dict[str, ServedQuestion] = {}
    for one in () if source is None else read_traffic(source, log):
        if isinstance(one, Exchange) and (text := normal(one.query)):
            id_ = question_id(text)
            before = asked.get(id_, ServedQuestion(id_, one.query, (), times=0))
            asked[id_] = replace(before, times=before.times + 1)
    if not asked:
        got = "no questions" if source is None else "no question has a text"
        expected = "the log of your application, or a dozen written by hand"
        fix = 'Write one a line: {"text": "..."}.'
        raise InputError(got, expected=expected, fix=fix, where=source or "--queries")
    return asked


def question_id(text: str) -> str:
    """Return the id of a question of a log. text: as `argus.traffic.reading.normal` returns it."""
    return f"q{content_hash(text, size=8).hex()}"


def any_questions(source: Path | str | Sequence[Query]) -> list[Query]:
    """Return questions of a table by its ids, else those of a log. Raises InputError for neither.

    Questions of a program are returned as they are.
    """
    if not isinstance(source, str | Path):
        return list(source)
    place = Path(source)
    try:
        return read_queries(place)
    except InputError as error:
        with suppress(ArgusError):
            return [Query(q.id, q.text) for q in read_questions(place).values()]
        raise error from None


def search_arms(
    index: ViewIndex, encoder: Encoder, queries: Sequence[Query], retriever: Any = None
) -> Lists:
    """Return the ten best documents of each arm: what runs, the index, its parts, their fusions.

    retriever: what runs. None is the index as it is. Queries that it fails are not in its lists.
    """
    vectors = np.asarray(encoder.encode_queries([q.text for q in queries]), np.float32)
    lexical = IndexRetriever(index, encoder, ORIGINAL).lexical()
    dense = Searched(index.snapshot(ORIGINAL), lexical).run(queries, vectors, FUSED_DEPTH, DENSE)
    words = lexical.search([q.text for q in queries], FUSED_DEPTH).run([q.id for q in queries])
    runs = part_and_fusion_runs(dense, words, DEPTH)
    runs[MINE] = IndexRetriever(index, encoder).rank(queries, vectors, DEPTH)
    if retriever is not None:
        if index.remedies():
            runs[AS_IS] = runs[MINE]
        with opened_retriever(retriever, documents=originals(index), encoder=encoder) as mine:
            runs[MINE] = mine.ask(queries, DEPTH).run
    return {arm: {q: ranking(run[q])[:DEPTH] for q in run} for arm, run in runs.items()}


def pool(runs: Lists, query: str) -> tuple[str, ...]:
    """Return the first documents of every arm for a question, in an order that tells none."""
    first = {doc for run in runs.values() for doc in run.get(query, [])[:POOLED]}
    return tuple(sorted(first, key=lambda doc: content_hash(query, doc)))


def decide(live: LiveJudging, runs: Lists) -> list[dict[str, Any]]:
    """Return the decisions after each ten judged questions, and after all of them.

    Questions count in the order of the draw. Those without a relevant document tell nothing between
    arms. Without others, and below ten, nothing is decided. Keys:

    judged, telling: judged questions, and those of them with a relevant document.
    recommended: arm to take, or what runs.
    arms: all but what runs, best first: mean of nDCG@10, the fields of its `ArmVerdict` against
        what runs, and words for that.
    words: the decision in one line.
    """
    judged = live.judged
    telling = {q: grades for q, grades in judged.items() if any(grades.values())}
    if not telling or len(judged) < STEP:
        return []
    measured, found = {}, []
    for arm, run in runs.items():
        scores = {q: {doc: -float(rank) for rank, doc in enumerate(run[q])} for q in run}
        measured[arm] = evaluate(scores, telling, [MEASURE]).per_query
    for n in sorted({*range(STEP, len(judged), STEP), len(judged)}):
        if not (first := [q for q in [*judged][:n] if q in telling]):
            continue
        ndcg = {arm: {q: of[q][MEASURE] for q in first} for arm, of in measured.items()}
        each = sorted(compare_arms(ndcg, MINE)[0].values(), key=lambda v: -v.difference)
        arms = [asdict(v) | {"mean": fmean(ndcg[v.arm].values()), "words": v.words()} for v in each]
        taken = recommend(ndcg, MINE, MINE)
        # the decision in one line: the arm to take, the verdicts, what more would tell
        named = {k: [one.arm for one in each if one.verdict == k] for k in (BETTER, WORSE)}
        parts = [f"{n:,} judged: take {taken}"]
        parts += [f"{kind}: {', '.join(of) or 'none'}" for kind, of in named.items()]
        if still := sorted((one.needed, one.arm) for one in each if one.needed):
            parts += [f"{len(still)} open, about {still[0][0]:,} more tell of {still[0][1]}"]
        one = {"judged": n, "telling": len(first), "recommended": taken, "arms": arms}
        found.append(one | {"words": "; ".join(parts)})
    return found


def describe_decision(live: LiveJudging) -> str:
    """Return the decision after the last ten judged questions of a folder, or ""."""
    found = decide(live, _read_saved(ArtifactFolder(live.folder)).get("runs", {}))
    return next((str(d["words"]) for d in reversed(found) if d["judged"] % STEP == 0), "")


def _read_saved(folder: ArtifactFolder, key: str | None = None) -> dict[str, Any]:
    """Return ARMS, empty without it. key: of index, retriever and seed. None is any."""
    if saved := folder.read_json(ARMS):
        with reading(folder / ARMS, "is damaged", expected="runs of all arms", fix=WRITTEN):
            int(saved["budget"]), saved["runs"][MINE], saved["key"]
        if key not in (None, saved["key"]):
            got, fix = "is of another index, retriever or seed", "Give another --out, or --fresh."
            raise InputError(got, expected="that of before", fix=fix, where=folder / ARMS)
    return saved
