"""`research scenarios write`: have a language model write a profile of every document (SPIKE §3.2).

Corpus -> profiles.jsonl, one line per document with the needs that it serves. Answers are kept, so
that a killed run resumes. `tune apply scenarios` indexes the profiles. The teacher's prompt (SPIKE
Table 8) and the student's (Table 9) are the paper's, with three changes. The answer's fields are
named, since its third step (an object keyed by needs) is no JSON schema. A document that says
nothing may be called noise. Scenarios are written in the language of the document, so that they lie
near its queries.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from argus.corpora import Corpus
from argus.corpora.opening import Origin
from argus.data.fields import FieldNames
from argus.data.folders import ArtifactFolder
from argus.data.provenance import content_hash
from argus.data.types import Document
from argus.data.writing import one_writer, write_jsonl
from argus.errors import ArgusError, InputError
from argus.jobs import options as o
from argus.jobs.answers import RecordedModel, require_answers, spent, why_none
from argus.jobs.result import Result
from argus.jobs.workspace import NO_ENCODER, Record, check_folder, read_documents, require_some
from argus.llm import Estimate, LanguageModel, Ledger, Prompt, estimate, open_model
from argus.llm import State as PromptState
from argus.llm.config import with_models
from argus.llm.ledger import ledger_to_read
from argus.reports import write_report
from argus.reports.section import MAX_ROWS, Section, table
from argus.scenarios.config import ProfileConfig, ProfileSettings, Role
from argus.scenarios.files import FILE, ProfileAnswer, from_answer, read_profiles, write_profiles
from argus.scenarios.profile import Profiled, ProfileState
from argus.settings import Doc, Ge, Option, Options

MAX_TOKENS = 2_048  # Tokens of an answer. Teacher profiles take 200 to 700.
TEACHER, STUDENT = (
    Path(__file__).with_name(name).read_text("utf-8").rstrip("\n")
    for name in ("teacher.txt", "student.txt")
)

NO_TEXT = "the document has no text"
CORPUS_FILE = "corpus.jsonl"
Also = Annotated[
    tuple[Path, ...],
    Doc("Another collection, its ids then NAME/ID as all; may be given again."),
    Option(("--also",), repeated=True),
]


def scenario_prompt(text: str, settings: ProfileSettings) -> Prompt:
    """Return the prompt for one document, of which at most `max_chars` characters are shown.

    Code, LaTeX and tables go in as they are.
    """
    instructions = TEACHER if settings.role is Role.TEACHER else STUDENT
    shown = f"[Text Content]\n{text[: settings.max_chars]}"
    return Prompt(shown, system=instructions, max_tokens=MAX_TOKENS)


def prompts_for(documents: Sequence[Document], settings: ProfileSettings) -> list[Prompt]:
    """Return the prompts of `generate`, in order, so that it can be estimated."""
    return [scenario_prompt(d.content, settings) for d in documents if d.content.strip()]


def generate(
    documents: Sequence[Document], model: LanguageModel, settings: ProfileSettings
) -> Iterator[Profiled]:
    """Yield the outcome of every document, in their order.

    A document without text FAILED, as did one whose answer cannot be used. Longer documents than
    `max_chars` characters are profiled by their beginning. Raises
    LanguageModelError as the model does. Answers so far are in its ledger.
    """
    prompts, name = prompts_for(documents, settings), model.name
    outcomes = model.complete(prompts, schema=ProfileAnswer)
    for document in documents:
        if not document.content.strip():
            yield Profiled(document.id, ProfileState.FAILED, reason=NO_TEXT)
            continue
        outcome = next(outcomes)
        source = json.dumps({"model": name, "prompt": outcome.prompt.key}, ensure_ascii=False)
        if outcome.state is not PromptState.OK or outcome.value is None:
            yield Profiled(document.id, ProfileState.FAILED, None, why_none(outcome), source)
        else:
            yield from_answer(document.id, outcome.value, source=source)


LEDGER = "answers.sqlite"
JOB = "scenarios"


@dataclass(frozen=True, repr=False)
class ProfileResult(Result):
    """The profiles of a corpus. Everything in it is also in `folder`.

    profiles: by document id, in the order of the corpus.

    Keys of `summary`:

    documents.total: documents that were read.
    documents.ok: documents that have scenarios.
    documents.noise: documents that serve no need.
    documents.failed: documents without a profile that can be used.
    failures.reason: why it failed.
    failures.documents: documents of which that is so.
    language_model: cost of writing.
    """

    folder: Path
    report: Path
    profiles: dict[str, Profiled]
    summary: dict[str, Any]

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        summary = self.summary
        documents = summary["documents"]
        yield (
            f"{documents['ok']:,} of {documents['total']:,} documents have "
            f"{summary['scenarios']:,} scenarios; {documents['noise']:,} are noise, "
            f"{documents['failed']:,} failed"
        )
        for failure in summary["failures"][:3]:
            yield f"failed, {failure['documents']:,} documents: {failure['reason']}"
        yield spent(summary["language_model"])
        yield f"profiles: {self.folder / FILE}"


@one_writer
def profile_documents(
    corpus: o.Corpus,
    *,
    out: o.Out = o.OUT,
    config: Annotated[ProfileConfig, Options(with_models(ProfileSettings))],
    fields: FieldNames | None = None,
    limit: o.Limit = None,
    sample: Annotated[int | None, Ge(1)] = None,
    also: Also = (),
    fresh: o.Fresh = False,
) -> ProfileResult:
    """Have a language model write what each document would be needed for (SPIKE §3.2).

    It profiles every document: main topic, key aspects, information needs and explanations. The
    same command goes on where an earlier one was stopped, and asks only what is missing or failed.
    profiles.jsonl has a row for every document, ok, noise or failed, with the reason. Of several
    collections, OUT/corpus.jsonl has the documents, to distill from (SPIKE §4.1: 300 of each).

    Raises ArgusError, after writing it, where documents are without an answer, and
    LanguageModelError when the endpoint cannot be used.

    Args:
        sample: Only so many documents of each collection, drawn at random; a larger sample holds a
            smaller one.
    """
    documents, inputs = draw_each((corpus, *also), fields or FieldNames(), limit, sample)
    with_text = sum(bool(d.content.strip()) for d in documents)
    require_some(with_text, "document has text", "Check --text-field.")
    folder = ArtifactFolder(Path(out), fresh=fresh)
    record = Record(
        JOB,
        config.described() | {"limit": limit, "sample": sample},
        inputs,
        {"fingerprint": NO_ENCODER},
    )
    check_folder(folder, record)
    with ExitStack() as stack:
        record.open(folder)
        if also:
            rows = ({"_id": d.id, "title": d.title, "text": d.text} for d in documents)
            write_jsonl(folder.own(CORPUS_FILE), rows)
        stack.enter_context(record.timed("asking for scenarios"))
        ledger = stack.enter_context(Ledger(folder / LEDGER))
        model = RecordedModel(open_model(config.model, ledger))
        profiles = {p.doc_id: p for p in generate(documents, model, config)}
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


def estimate_profiles(
    corpus: Corpus,
    *,
    out: Path | str,
    config: ProfileConfig,
    fields: FieldNames | None = None,
    limit: int | None = None,
    sample: int | None = None,
    also: Sequence[Path] = (),
) -> Estimate:
    """Return prompts and cost of `profile_documents`, asking nothing."""
    documents, _ = draw_each((corpus, *also), fields or FieldNames(), limit, sample)
    prompts = prompts_for(documents, config)
    with ledger_to_read(Path(out) / LEDGER) as ledger:
        return estimate(prompts, ledger, config.model, schema=ProfileAnswer)


def draw_each(
    corpora: Sequence[Corpus], fields: FieldNames, limit: int | None, sample: int | None
) -> tuple[list[Document], dict[str, Origin | None]]:
    """Return what `draw` takes of each collection, and the collections, for a manifest.

    Of several, ids begin with the collection's name, that of its folder or file. Raises InputError
    for two of one name.
    """
    drawn: list[Document] = []
    origins: dict[str, Origin | None] = {}
    for corpus in corpora:
        documents, origin = read_documents(corpus, fields, limit, None)
        key, documents = "corpus", draw(documents, sample)
        if len(corpora) > 1:
            place = Path(corpus) if isinstance(corpus, str | Path) else Path("documents")
            name = place.parent.name if place.stem == "corpus" else place.stem
            key, documents = name, [replace(d, id=f"{name}/{d.id}") for d in documents]
        if key in origins:
            got, fix = f"two collections {key!r}", "Rename a folder: ids begin with its name."
            raise InputError(got, expected="different names", fix=fix, where="--also")
        origins[key] = origin
        drawn += documents
    return drawn, origins


def draw(documents: Sequence[Document], sample: int | None) -> list[Document]:
    """Return so many documents with text, drawn by a hash of ids, in their order; all for None.

    A larger sample holds the smaller one.
    """
    if sample is None:
        return list(documents)
    order = sorted((content_hash(d.id), d.id) for d in documents if d.content.strip())
    drawn = {id_ for _, id_ in order[:sample]}
    return [d for d in documents if d.id in drawn]


def summarise(profiles: Mapping[str, Profiled]) -> dict[str, Any]:
    """Return counts by state, the number of scenarios, and reasons."""
    states = Counter(str(p.state) for p in profiles.values())
    failed = (p.reason for p in profiles.values() if p.state is ProfileState.FAILED)
    reasons = Counter(reason.partition("; it begins ")[0] for reason in failed)
    return {
        "documents": {"total": len(profiles), **{str(s): states[s] for s in ProfileState}},
        "scenarios": sum(len(p.profile.scenarios) for p in profiles.values() if p.profile),
        "failures": [{"reason": r, "documents": n} for r, n in reasons.most_common(20)],
    }


def section(folder: Path, scenarios: Mapping[str, Any]) -> Section:
    """Build it from profiles.jsonl."""
    profiles = read_profiles(folder / FILE).values()
    rows = [
        [p.doc_id, p.profile.main_topic, s.information_need, s.explanation]
        for p in profiles
        if p.profile is not None
        for s in p.profile.scenarios
    ]
    columns = dict.fromkeys(["document", "main topic", "information need", "explanation"], "text")
    tables = {"scenarios": table(columns, rows[:MAX_ROWS], total=len(rows))}
    missing = [
        [p.doc_id, str(p.state), p.reason] for p in profiles if p.state is not ProfileState.OK
    ]
    if missing:
        heads = dict.fromkeys(["document", "state", "reason"], "text")
        tables["without_scenarios"] = table(heads, missing[:MAX_ROWS], total=len(missing))
    d = scenarios["documents"]
    brief = f"{scenarios['scenarios']:,} scenarios for {d['ok']:,} of {d['total']:,} documents"
    return Section({}, tables, brief)
