"""`scenarios study`: sheets on which people compare results with and without scenarios."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from argus.data.documents import read_queries
from argus.data.folders import ArtifactFolder
from argus.data.types import Query
from argus.data.writing import one_writer, write_jsonl
from argus.encoders import EmbeddingStore, Encoder, EncoderConfig
from argus.indexes.header import parse_index_spec
from argus.indexes.retriever import IndexRetriever, open_retriever
from argus.indexes.snapshot import Snapshot
from argus.jobs.result import Result
from argus.jobs.workspace import Record, check_folder, require_some
from argus.scenarios.qa.cases import Retrieved, retrieve, scenarios_in
from argus.scenarios.study.answers import KEY
from argus.scenarios.study.config import StudyConfig, Versus
from argus.scenarios.study.pairs import NoPair, Pair, pairs
from argus.scenarios.study.sheets import Place, key_row, places, write_sheet
from argus.scenarios.study.summary import Compared, StudySummary, study_headline

JOB = "study"
SHEETS = "sheets"
"""The folder that raters get their files from."""


@dataclass(frozen=True, repr=False)
class StudyResult(Result):
    """A study that people can begin. Everything in it is also in `folder`."""

    folder: Path
    sheets: tuple[Path, ...]
    """Sheets of raters: a table and a page each. Everything else stays with whoever asks them."""
    summary: StudySummary

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        yield from study_headline(self.summary)
        yield f"sheets: {self.folder / SHEETS}; what stands on which side: {self.folder / KEY}"


@one_writer
def make_study(
    index: Path | str,
    queries: Path | str | Sequence[Query],
    *,
    out: Path | str,
    config: StudyConfig | None = None,
    encoder: Encoder | EncoderConfig | str | None = None,
    device: str | None = None,
    coerce_ids: bool = False,
    fresh: bool = False,
) -> StudyResult:
    """Write a sheet per person, on which results with scenarios stand beside others, unnamed.

    index: `PATH[@STATE]` with scenarios. Questions are drawn at random. A question is left out, and
    counted, where no document that is shown has a scenario or both sides would show the same.
    Raises InputError for an index without scenarios, and NothingMeasured where no pair is left.
    """
    config = config or StudyConfig()
    path = Path(queries) if isinstance(queries, (str, Path)) else None
    if isinstance(queries, (str, Path)):
        queries = read_queries(Path(queries), coerce_ids=coerce_ids)
    sample = _draw([query for query in queries if query.text.strip()], config)
    spec = parse_index_spec(index)
    retriever = open_retriever(spec, encoder, exact=True, device=device, weight=config.weight)
    snapshot = retriever.index.snapshot(retriever.as_of)
    scenarios_in(snapshot, str(spec))
    folder = ArtifactFolder(Path(out), fresh=fresh)
    settings = asdict(config) | {"index": str(spec), "weight": retriever.weight}
    record = Record(
        JOB, settings, {"queries": path}, {"fingerprint": retriever.encoder.fingerprint}
    )
    check_folder(folder, record, about=[spec.path])
    record.open(folder, about=[spec.path])
    with record.timed("retrieving"):
        retrieved = _search(sample, retriever, snapshot, folder.own("embeddings"), config.k)
    outcomes = list(pairs(sample, retrieved, snapshot, config))
    ready = [outcome for outcome in outcomes if isinstance(outcome, Pair)]
    why = next((outcome.reason for outcome in outcomes if isinstance(outcome, NoPair)), "")
    require_some(len(ready), "question can be shown with and without scenarios", why)
    rows = places(ready, config.sheets, config.judges, config.seed)
    summary = _summary(str(spec), config, len(queries), len(sample), outcomes, rows)
    return _write(folder, record, rows, summary)


def _search(
    queries: Sequence[Query], retriever: IndexRetriever, snapshot: Snapshot, store: Path, k: int
) -> Retrieved:
    """Search with each question, with scenarios and without."""
    model = retriever.encoder
    texts = {query.id: query.text for query in queries}
    with EmbeddingStore(store, fingerprint=model.fingerprint, dim=model.dim) as opened:
        return retrieve(texts, {}, retriever, snapshot, opened, k=k)


def _draw(queries: Sequence[Query], config: StudyConfig) -> list[Query]:
    """Return the questions that people see, in their order. A larger draw holds a smaller one."""
    require_some(len(queries), "question has a text", "Check --queries.")
    order = np.random.default_rng(config.seed).permutation(len(queries))
    return [queries[i] for i in sorted(order[: config.questions].tolist())]


def _write(
    folder: ArtifactFolder, record: Record, rows: Sequence[Place], summary: StudySummary
) -> StudyResult:
    home = folder.own(SHEETS)
    home.mkdir(exist_ok=True)
    by_sheet: dict[int, list[Place]] = {}
    for row in rows:
        by_sheet.setdefault(row.sheet, []).append(row)
    files = [path for sheet, own in by_sheet.items() for path in write_sheet(home, sheet, own)]
    write_jsonl(folder.own(KEY), map(key_row, rows))
    counts = {"pairs": summary["pairs"], "judgements": summary["judgements"]}
    folder.write_results(JOB, summary, record.manifest(counts))
    return StudyResult(folder.path, tuple(files), summary)


def _summary(
    index: str,
    config: StudyConfig,
    questions: int,
    drawn: int,
    outcomes: Sequence[Pair | NoPair],
    rows: Sequence[Place],
) -> StudySummary:
    per_sheet = Counter(row.sheet for row in rows)
    return {
        "index": index,
        "k": config.k,
        "questions": questions,
        "drawn": drawn,
        "comparisons": [_compared(versus, outcomes) for versus in config.versus],
        "pairs": sum(isinstance(outcome, Pair) for outcome in outcomes),
        "sheets": config.sheets,
        "judges": config.judges,
        "judgements": len(rows),
        "pairs_per_sheet": [per_sheet[sheet] for sheet in range(1, config.sheets + 1)],
    }


def _compared(versus: Versus, outcomes: Sequence[Pair | NoPair]) -> Compared:
    own = [outcome for outcome in outcomes if outcome.versus is versus]
    without = [outcome for outcome in own if isinstance(outcome, NoPair)]
    failed = sum(outcome.failed for outcome in without)
    return {
        "versus": str(versus),
        "total": len(own),
        "measured": len(own) - len(without),
        "failed": failed,
        "not applicable": len(without) - failed,
        "reasons": dict(Counter(outcome.reason for outcome in without)),
    }
