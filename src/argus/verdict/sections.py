"""What a verdict reads of each job's part of summary.json; other keys are let be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NotRequired

from typing_extensions import TypedDict

from argus.measures.coverage import Coverage
from argus.measures.intervals import Discrimination


class Reached(TypedDict):
    """Records that were asked for by their own vectors."""

    asked: int
    reached: int
    low: float
    high: float


class ReachSection(TypedDict):
    """Of `argus reach`."""

    k: int
    reached: Reached
    reachable: int
    broken: dict[str, int]


class WrittenSection(TypedDict):
    """Of records of a remedy, written into a store."""

    remedy: str
    store: str
    collection: str


class ProbeKind(TypedDict):
    """Of probes of one kind."""

    probes: int
    success_at_k: float | None
    low: NotRequired[float]
    high: NotRequired[float]


class WindowSection(TypedDict):
    """Texts beyond what the model reads."""

    texts_cut: int
    tokens_unread: int
    tokens: int


class Counted(TypedDict):
    """Documents, or entities, by state."""

    total: int
    measured: int


class ExposureFigures(TypedDict):
    """Of documents, or of chunks."""

    k: int
    sentence: ProbeKind
    documents: Counted
    never_retrieved: int
    sample: NotRequired[dict[str, int | float]]


class ExposureSection(ExposureFigures):
    """Of `argus exposure`."""

    parents: NotRequired[ExposureFigures]
    retriever: NotRequired[dict[str, object]]
    text_window: NotRequired[WindowSection | None]


AuditSection = TypedDict(
    "AuditSection",
    {
        "k": int,
        "pool": int,
        "mean_rps": float | None,
        "share_below_0.33": float | None,
        "entities": Counted,
    },
)
"""Of `argus audit`."""


class NeedsReach(TypedDict):
    """Documents that none of their needs finds."""

    unreached: int


class JudgedNeeds(TypedDict):
    """What the needs tell of judged questions."""

    area: Discrimination | None


class NeedRiskSection(TypedDict):
    """Documents that their needs were asked for; those that chunks are of, where they are folded.

    reached: by one of their needs at least.
    """

    measured: int
    reached: int
    judged: JudgedNeeds | None


class NeedsSection(TypedDict):
    """Of `argus scenarios needs`."""

    k: int
    documents: Counted
    alone: NeedsReach
    risk: NotRequired[NeedRiskSection]


class ServedNeedsSection(TypedDict):
    """Of the same with a retriever."""

    k: int
    documents: Counted
    unreached: int
    risk: NotRequired[NeedRiskSection]


class Difference(TypedDict):
    """What a change did to a measure."""

    verdict: str
    mean_difference: float


class EvaluationSection(TypedDict):
    """Of `argus evaluate`."""

    headline: str
    queries: Counted
    comparison: dict[str, Difference] | None


class Interval(TypedDict):
    """What a change did, and how sure that is."""

    mean_difference: float
    low: float | None
    high: float | None


Cell = TypedDict("Cell", {"component": str, "lambda": float})
"""What of scenarios is indexed, and how much it counts."""


SystemCell = TypedDict(
    "SystemCell",
    {
        "system": str,
        "component": str | None,
        "lambda": float | None,
        "comparison": Interval | None,
    },
)
"""One cell of one system, against documents alone; these have none of it."""


class AblationGrid(TypedDict):
    """All cells, and the usual one."""

    usual: Cell
    rows: list[SystemCell]


class AblationSection(TypedDict):
    """Of `argus scenarios ablate`."""

    headline: str
    coverage: Coverage
    whole: AblationGrid


class ProxyReach(TypedDict):
    """Superseded documents that asked."""

    documents: int
    reachable: NotRequired[float]


class AuthoritySection(TypedDict):
    """Of `argus authority audit`."""

    k: int
    documents: dict[str, int]
    proxies: dict[str, ProxyReach]


class LintRate(TypedDict):
    """A mean over queries."""

    share: float
    queries: int


class LintSection(TypedDict):
    """Of `argus authority lint`."""

    k: int
    rates: dict[str, LintRate | None]


class AsksShare(TypedDict):
    """A share of n asks, with its 95% interval."""

    n: int
    share: float
    low: float
    high: float


class StaleAsks(TypedDict):
    """Asks that were served something superseded; None where no result has a record."""

    asks: AsksShare | None


class TrafficLog(TypedDict):
    """What was read: of each file the format, of what a record holds the fields."""

    asks: int
    files: dict[str, str]
    fields: dict[str, dict[str, int]]
    first: str | None
    last: str | None
    hash_only: bool


class DifferentQuestions(TypedDict):
    """Different questions of a log."""

    different: int


class NamedRetriever(TypedDict):
    """The retriever that was asked."""

    name: str


class LargestDemand(TypedDict):
    """One cluster of questions that nobody met."""

    words: str
    questions: int
    asks: int
    examples: list[str]


class UnmetDemand(TypedDict):
    """Questions that nobody met; the largest clusters of them."""

    questions: int
    largest: list[LargestDemand]


class ResultsOfLog(TypedDict):
    """Asks of which it is known what came: from the log, and by asking; and of which it is not."""

    logged: int
    answered: int
    unknown: int


class TrafficSection(TypedDict):
    """Of `argus traffic`."""

    k: int
    log: TrafficLog
    questions: DifferentQuestions
    results: ResultsOfLog
    retriever: NamedRetriever | None
    superseded: StaleAsks | None
    unmet: UnmetDemand | None


def describe_log(section: Mapping[str, Any]) -> str:
    """Say what was read of a log: how much, from when, from where, and what is known to have come.

    section: a `TrafficSection`.

    >>> log = {"asks": 3, "files": {"log.jsonl": "plain"}, "fields": {"results": {"served": 2}},
    ...        "first": None, "last": None, "hash_only": False}
    >>> known = {"logged": 2, "answered": 0, "unknown": 1}
    >>> describe_log({"k": 10, "log": log, "questions": {"different": 2}, "results": known,
    ...               "retriever": None, "superseded": None, "unmet": None})
    '3 asks of 2 different questions, without times, read from log.jsonl (plain). \
What came is known for 2: 2 from the log (served), and not for 1.'
    """
    log, results, retriever = section["log"], section["results"], section["retriever"]
    when = f"{log['first']} to {log['last']}" if log["first"] else "without times"
    files = [f"{name} ({kind})" for name, kind in log["files"].items()]
    more = f" and {len(files) - 1:,} more files" if len(files) > 1 else ""
    sources = []
    if results["logged"]:
        names = ", ".join(log["fields"].get("results", {}))
        sources.append(f"{results['logged']:,} from the log ({names})")
    if results["answered"] and retriever is not None:
        sources.append(f"{results['answered']:,} from {retriever['name']}")
    known = results["logged"] + results["answered"]
    came = f"is known for {known:,}: {', '.join(sources)}" if known else "is known for none"
    unknown = f", and not for {results['unknown']:,}" if known and results["unknown"] else ""
    return (
        f"{log['asks']:,} asks of {section['questions']['different']:,} different questions, "
        f"{when}, read from {files[0]}{more}. What came {came}{unknown}."
    )


class JudgedMean(TypedDict):
    """A mean over all that was asked, estimated from `judged` questions."""

    measure: str
    mean: float
    low: float
    high: float
    judged: int


class JudgingSection(TypedDict):
    """Of `argus traffic judge`."""

    k: int
    asked: int
    estimates: list[JudgedMean]


class QuestionsSection(TypedDict):
    """Of the demo's judged questions."""

    queries: int
