"""`remedy scenarios`, first part: a profile of every document, by a language model (SPIKE §3.2)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from argus.corpora import Corpus
from argus.data.fields import FieldNames
from argus.data.folders import ArtifactFolder
from argus.data.types import Document
from argus.data.writing import one_writer
from argus.engine import Engine, EngineConfig
from argus.errors import ArgusError
from argus.jobs.on_engine import opened as open_engine
from argus.jobs.recorded_model import RecordedModel, require_answers
from argus.jobs.result import Result
from argus.jobs.workspace import (
    NO_ENCODER,
    Record,
    check_folder,
    read_documents,
    require_some,
)
from argus.llm import Estimate, Ledger, LocalConfig, estimate, open_model
from argus.llm.ledger import ledger_to_read
from argus.reports import write_report
from argus.scenarios.files import FILE, write_profiles
from argus.scenarios.generate import generate, prompts_for
from argus.scenarios.profile import Profiled, ProfileState
from argus.scenarios.profiles.config import ProfileConfig
from argus.scenarios.profiles.section import profiles_headline
from argus.scenarios.schema import ProfileAnswer

LEDGER = "answers.sqlite"
JOB = "scenarios"
SAMPLES = 5


@dataclass(frozen=True, repr=False)
class ProfileResult(Result):
    """The profiles of a corpus. Everything in it is also in `folder`.

    profiles: by document id, in the order of the corpus.

    Keys of `summary`:

    documents.total: documents that were read.
    documents.ok: documents that have scenarios.
    documents.noise: documents that serve no need.
    documents.failed: documents without a profile that can be used.
    scenarios_per_document: number of scenarios to how many documents have so many.
    failures.reason: why it failed.
    failures.documents: documents of which that is so.
    notes.note: omissions.
    notes.documents: documents of which that is so.
    samples: first scenarios of a few documents.
    samples.main_topic: topic of the document.
    samples.information_need: information need that it serves.
    samples.explanation: how the document serves it.
    language_model: cost of writing.
    """

    folder: Path
    report: Path
    profiles: dict[str, Profiled]
    summary: dict[str, Any]

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        yield from profiles_headline(self.summary)
        yield f"profiles: {self.folder / FILE}"


@one_writer
def profile_documents(
    corpus: Corpus,
    *,
    out: Path | str,
    config: ProfileConfig,
    fields: FieldNames | None = None,
    limit: int | None = None,
    fresh: bool = False,
    engine: EngineConfig | Engine | None = None,
) -> ProfileResult:
    """Ask a model for the scenarios of every document. Write profiles.jsonl and a report.

    Answers are kept in `out/answers.sqlite` as they come: the same command goes on where an earlier
    one was stopped, and asks again only what failed. profiles.jsonl has a row for every document,
    ok, noise or failed, with the reason. engine: answers where the model is one that
    transformers runs. Endpoints are asked from this process anyway. Raises ArgusError, after
    writing it, where documents are without an answer, and LanguageModelError when the endpoint
    cannot be used.
    """
    documents, path = read_documents(corpus, fields or FieldNames(), limit, None)
    with_text = sum(bool(d.content.strip()) for d in documents)
    require_some(with_text, "document has text", "Check --text-field.")
    folder = ArtifactFolder(Path(out), fresh=fresh)
    record = Record(
        JOB, config.described() | {"limit": limit}, {"corpus": path}, {"fingerprint": NO_ENCODER}
    )
    check_folder(folder, record)
    profiles, model = _ask(documents, config, folder, record, engine)
    write_profiles(folder / FILE, profiles.values())
    summary: dict[str, Any] = {
        **summarise(profiles),
        "written_by": config.model.label,
        "role": str(config.role),
        "language_model": model.summary(),
    }
    folder.write_results(JOB, summary, record.manifest(summary["documents"]))
    report = write_report(folder.path)
    require_answers(model, accept=config.accept_unanswered)
    counts = summary["documents"]
    if not counts["ok"] and not counts["noise"]:
        raise ArgusError(
            f"none of {counts['total']:,} documents has scenarios: "
            f"{summary['failures'][0]['reason']} ({folder / FILE} says why, document by "
            "document). See what the model answers, or take another one; the same command asks for "
            "all of them again."
        )
    return ProfileResult(folder.path, report, profiles, summary)


def _ask(
    documents: Sequence[Document],
    config: ProfileConfig,
    folder: ArtifactFolder,
    record: Record,
    engine: EngineConfig | Engine | None,
) -> tuple[dict[str, Profiled], RecordedModel]:
    """Open the folder and ask. Return the profiles by document, and the model with its outcomes."""
    with ExitStack() as stack:
        local = isinstance(config.model, LocalConfig)
        running = stack.enter_context(open_engine(engine if local else None))
        record.runs_on(running)
        record.open(folder)
        stack.enter_context(record.timed("asking for scenarios"))
        ledger = stack.enter_context(Ledger(folder / LEDGER))
        model = RecordedModel(open_model(config.model, ledger, running))
        profiled = generate(
            documents, model, config.role, max_chars=config.max_chars, form=config.form
        )
        return {p.doc_id: p for p in profiled}, model


def estimate_profiles(
    corpus: Corpus,
    *,
    out: Path | str,
    config: ProfileConfig,
    fields: FieldNames | None = None,
    limit: int | None = None,
) -> Estimate:
    """Return prompts and cost of `profile_documents`, asking nothing."""
    documents, _ = read_documents(corpus, fields or FieldNames(), limit, None)
    prompts = prompts_for(documents, config.role, max_chars=config.max_chars, form=config.form)
    with ledger_to_read(Path(out) / LEDGER) as ledger:
        return estimate(prompts, ledger, config.model, schema=ProfileAnswer)


def summarise(profiles: Mapping[str, Profiled]) -> dict[str, Any]:
    """Return counts by state, reasons, how many scenarios documents have, and a few of them."""
    states = Counter(p.state for p in profiles.values())
    written = [p for p in profiles.values() if p.profile is not None]
    sizes = Counter(len(p.profile.scenarios) for p in written if p.profile is not None)
    failed = (p.reason for p in profiles.values() if p.state is ProfileState.FAILED)
    reasons = Counter(reason.partition("; it begins ")[0] for reason in failed)
    notes = Counter(  # without numbers of scenarios, so that equal ones are counted together
        re.sub(r"scenario \d+ ", "a scenario ", note) for p in profiles.values() for note in p.notes
    )
    return {
        "documents": {
            "total": len(profiles),
            "ok": states[ProfileState.OK],
            "noise": states[ProfileState.NOISE],
            "failed": states[ProfileState.FAILED],
        },
        "scenarios": sum(size * n for size, n in sizes.items()),
        "scenarios_per_document": {str(size): sizes[size] for size in sorted(sizes)},
        "failures": [{"reason": r, "documents": n} for r, n in reasons.most_common(20)],
        "notes": [{"note": note, "documents": n} for note, n in notes.most_common(20)],
        "samples": [
            {
                "doc_id": p.doc_id,
                "main_topic": p.profile.main_topic,
                "information_need": p.profile.scenarios[0].information_need,
                "explanation": p.profile.scenarios[0].explanation,
            }
            for p in written[:SAMPLES]
            if p.profile is not None
        ],
    }
