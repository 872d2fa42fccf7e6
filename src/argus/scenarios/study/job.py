"""`scenarios study`: sheets on which people compare results with and without scenarios."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

from argus.data.documents import read_queries
from argus.data.fields import CoerceIds
from argus.data.folders import ArtifactFolder
from argus.data.writing import one_writer, write_jsonl
from argus.devices import Device
from argus.indexes.header import parse_index_spec
from argus.indexes.retriever import open_retriever
from argus.jobs import options as o
from argus.jobs.result import Result
from argus.jobs.workspace import Record, check_folder, require_some
from argus.scenarios.qa.cases import retrieve, scenarios_in
from argus.scenarios.qa.inputs import draw
from argus.scenarios.study.config import StudyConfig
from argus.scenarios.study.preferences import KEY
from argus.scenarios.study.sheets import NoPair, Pair, Place, key_row, pairs, places, write_sheet
from argus.settings import Option

JOB = "study"
SHEETS = "sheets"  # The folder that raters get their files from.


@dataclass(frozen=True, repr=False)
class StudyResult(Result):
    """A study that people can begin. Everything in it is also in `folder`.

    sheets: sheets of raters: a table and a page each. Everything else stays with whoever asks them.

    Keys of `summary`:

    k: results on each side.
    questions: questions that were read.
    drawn: questions of which pairs are shown.
    comparisons.versus: rival of scenarios.
    pairs: pairs of results.
    sheets: sheets, one for each person.
    judges: people who judge each pair.
    judgements: pairs on all sheets.
    pairs_per_sheet: pairs of each sheet.
    """

    folder: Path
    sheets: tuple[Path, ...]
    summary: dict[str, Any]

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        summary = self.summary
        per = summary["pairs_per_sheet"]
        length = f"{min(per):,}" if min(per) == max(per) else f"{min(per):,} to {max(per):,}"
        yield (
            f"{summary['pairs']:,} pairs of {summary['drawn']:,} questions "
            f"({summary['questions']:,} in all), each judged by {summary['judges']}: "
            f"{summary['sheets']} sheets of {length}"
        )
        for one in summary["comparisons"]:
            reasons = "; ".join(f"{n:,}: {why}" for why, n in one["reasons"].items())
            without = f" ({reasons})" if reasons else ""
            shown = f"{one['measured']:,} of {one['total']:,} questions"
            yield f"against {one['versus']}: {shown}{without}"
        yield f"sheets: {self.folder / SHEETS}; what stands on which side: {self.folder / KEY}"


@one_writer
def make_study(
    index: o.IndexState,
    queries: o.Queries,
    *,
    out: o.Out = o.OUT,
    config: StudyConfig | None = None,
    encoder: o.IndexEncoder = None,
    device: Device = None,
    coerce_ids: Annotated[CoerceIds, Option()] = False,
    fresh: o.Fresh = False,
) -> StudyResult:
    """Write sheets on which people compare results with scenarios and without (SPIKE §4.3).

    Each person gets OUT/sheets/sheet-N: a page for a browser, and the same as a table. Neither says
    which side has what; OUT/key.jsonl does, and stays with you. Four criteria: specificity,
    comprehensibility, usefulness, overall. argus research scenarios preferences reads what comes
    back.

    index: `PATH[@STATE]` with scenarios. Questions are drawn at random. A question is left out, and
    counted, where no document that is shown has a scenario or both sides would show the same.
    Raises InputError for an index without scenarios, and NothingMeasured where no pair is left.
    """
    config = config or StudyConfig()
    path = Path(queries) if isinstance(queries, (str, Path)) else None
    if isinstance(queries, (str, Path)):
        queries = read_queries(Path(queries), coerce_ids=coerce_ids)
    texts = [query for query in queries if query.text.strip()]
    require_some(len(texts), "question has a text", "Check --queries.")
    sample = draw(texts, config.questions, config.seed)
    spec = parse_index_spec(index)
    retriever = open_retriever(spec, encoder, device=device, weight=config.weight)
    snapshot, model = retriever.index.snapshot(retriever.as_of), retriever.encoder
    scenarios_in(snapshot, str(spec))
    folder = ArtifactFolder(Path(out), fresh=fresh)
    settings = asdict(config) | {"index": str(spec), "weight": retriever.weight}
    record = Record(JOB, settings, {"queries": path}, {"fingerprint": model.fingerprint})
    check_folder(folder, record, about=[spec.path])
    record.open(folder, about=[spec.path])
    vectors, searched = folder.own("embeddings"), {query.id: query.text for query in sample}
    with record.timed("retrieving"):
        retrieved = retrieve(searched, {}, retriever, snapshot, vectors, k=config.k)
    outcomes = list(pairs(sample, retrieved, snapshot, config))
    ready = [outcome for outcome in outcomes if isinstance(outcome, Pair)]
    why = next((outcome.reason for outcome in outcomes if isinstance(outcome, NoPair)), "")
    require_some(len(ready), "question can be shown with and without scenarios", why)
    rows = places(ready, config.sheets, config.judges, config.seed)
    by_sheet: dict[int, list[Place]] = {}
    for row in rows:
        by_sheet.setdefault(row.sheet, []).append(row)
    comparisons = []
    for versus in config.versus:
        own = [outcome for outcome in outcomes if outcome.versus is versus]
        without = [outcome for outcome in own if isinstance(outcome, NoPair)]
        failed = sum(outcome.failed for outcome in without)
        comparisons.append({
            "versus": str(versus),
            "total": len(own),
            "measured": len(own) - len(without),
            "failed": failed,
            "not applicable": len(without) - failed,
            "reasons": dict(Counter(outcome.reason for outcome in without)),
        })  # fmt: skip
    numbers = range(1, config.sheets + 1)
    summary: dict[str, Any] = {
        "index": str(spec),
        "k": config.k,
        "questions": len(queries),
        "drawn": len(sample),
        "comparisons": comparisons,
        "pairs": len(ready),
        "sheets": config.sheets,
        "judges": config.judges,
        "judgements": len(rows),
        "pairs_per_sheet": [len(by_sheet.get(number, ())) for number in numbers],
    }
    home = folder.own(SHEETS)
    home.mkdir(exist_ok=True)
    files = [path for number, own in by_sheet.items() for path in write_sheet(home, number, own)]
    write_jsonl(folder.own(KEY), map(key_row, rows))
    counts = {"pairs": summary["pairs"], "judgements": summary["judgements"]}
    folder.write_results(JOB, summary, record.manifest(counts))
    return StudyResult(folder.path, tuple(files), summary)
