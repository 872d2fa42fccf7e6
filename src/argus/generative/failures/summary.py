"""Records of an analysis of failures: its settings, its part of summary.json, and its tables."""

from __future__ import annotations

from typing_extensions import TypedDict

from argus.generative.failures.tables.records import Figures, Value
from argus.jobs.recorded_model import Answers


class FailureSettings(TypedDict):
    """Settings of an analysis of failures.

    correct: when a passage is correct: by annotation, or by answer.
    tokenizer: tokenizer that tokens are counted with. None for words.
    strict: whether deciles are made as in the thesis.
    index: folder of the n-gram index. None without.
    model: folder of the model that is replayed. None without.
    mode: mode of the replayed search. None without.
    beams: beams of the replayed search. None without.
    replay: questions that are replayed at most.
    llm: model that judges. None without.
    thresholds: threshold by mode of failure, where another was given.
    """

    k: int
    correct: str
    tokenizer: str | None
    strict: bool
    index: str | None
    model: str | None
    mode: str | None
    beams: int | None
    replay: int | None
    llm: str | None
    thresholds: dict[str, float] | None
    seed: int


class FileProblem(TypedDict):
    """A problem of a file: how often, and where first.

    what: the problem.
    count: how often.
    first: where it is seen first.
    """

    what: str
    count: int
    first: str


class QuestionCounts(TypedDict):
    """Questions by how they went: judged ones failed, came late or were found at once.

    total: questions in the file.
    judged: questions with something correct to find.
    failed: judged questions without a correct passage in the first k.
    late: judged questions whose first correct passage is in the first k, not first.
    found: judged questions whose first passage is correct.
    """

    total: int
    judged: int
    failed: int
    late: int
    found: int


class ModeSummary(TypedDict):
    """Frequency of a mode of failure in one system (see `Spread`).

    id: id of the mode, as in the taxonomy.
    name: name of the mode.
    category: category of the mode.
    direct: whether it shows the failure itself, rather than a trait.
    threshold_text: when it holds, in words.
    measured: questions for which its indicator is measured.
    measured_failed: of these, questions without a correct passage in the first k.
    measured_found: of these, questions with one.
    among_failed: share of the former for which it holds.
    among_found: share of the latter for which it holds.
    difference: first share less the second.
    low, high: 95% interval of the difference (Newcombe).
    leading: failed questions whose diagnosis begins with it.
    not_applicable: why it is not measured. None if it is.
    """

    id: str
    name: str
    category: str
    direct: bool
    threshold_text: str
    measured: int
    measured_failed: int
    measured_found: int
    among_failed: float | None
    among_found: float | None
    difference: float | None
    low: float | None
    high: float | None
    leading: int
    not_applicable: str | None


class SystemFigures(TypedDict):
    """Summary of a system's rows.

    modes: modes of failure, those that explain most first.
    """

    questions: QuestionCounts
    figures: Figures
    modes: list[ModeSummary]


class SystemSummary(SystemFigures):
    """One system.

    name: name of the system.
    file: output file of the system.
    broken: where and why the file breaks off. None if it is whole.
    """

    name: str
    file: str
    broken: str | None
    problems: list[FileProblem]


class Comparison(TypedDict):
    """Differences of two systems, over the questions that both have: second minus first.

    questions: questions that both systems have.
    only_first, only_second: questions that one system alone has.
    columns: names of the columns of `rows`.
    rows: per figure: its means, their difference, interval and p-value.
    """

    questions: int
    only_first: int
    only_second: int
    columns: list[str]
    rows: list[list[Value]]


class TaxonomyMode(TypedDict):
    """A mode of failure as it is shown (see `FailureMode`).

    id: id of the mode.
    category: category of the mode.
    name: name of the mode.
    definition: definition of the mode.
    indicator: figure that shows it.
    needs: inputs that measuring it needs.
    threshold_text: when it holds, in words.
    reference: where it is described.
    direct: whether it shows the failure itself, rather than a trait.
    """

    id: str
    category: str
    name: str
    definition: str
    indicator: str
    needs: str
    threshold_text: str
    reference: str
    direct: bool


class ReplaySummary(TypedDict):
    """Numbers of questions replayed, compared, and ranked alike.

    beams: beams of the replayed search.
    as_searched: whether it was replayed as the answers say that it was made.
    questions: questions that were replayed.
    of: questions with positives.
    same: of these, questions whose positive has the same rank in the replay.
    compared: questions whose output has a positive.
    """

    mode: str
    beams: int
    as_searched: bool
    questions: int
    of: int
    same: int
    compared: int


class VerdictCounts(TypedDict):
    """Questions by their best verdict.

    total: questions with a passage to judge.
    YES, PARTIAL, NO: questions with this as best verdict.
    failed: questions without any verdict.
    incomplete: questions that might have a better one.
    """

    total: int
    YES: int
    PARTIAL: int
    NO: int
    failed: int
    incomplete: int


class PassageVerdicts(TypedDict):
    """Passages by state of the judge's answer, and by verdict.

    total: passages to judge.
    ok: passages with a verdict.
    failed: passages whose answer could not be had or read.
    not_asked: passages beyond the budget.
    YES, PARTIAL, NO: passages with this verdict.
    """

    total: int
    ok: int
    failed: int
    not_asked: int
    YES: int
    PARTIAL: int
    NO: int


class SystemVerdicts(TypedDict):
    """The judge's verdicts on one system's passages."""

    questions: VerdictCounts
    passages: PassageVerdicts


class NoVerdict(TypedDict):
    """Why passages have no verdict.

    reason: why there is none.
    passages: passages of which that is so.
    """

    reason: str
    passages: int


class JudgeSummary(TypedDict):
    """A judge's verdicts.

    model: model that judged.
    systems: verdicts by system.
    language_model: its tokens and cost. None if nothing was asked.
    """

    model: str
    systems: dict[str, SystemVerdicts]
    failures: list[NoVerdict]
    language_model: Answers | None


class FailureSummary(TypedDict):
    """Summary of an analysis.

    correct: when a passage is correct: by annotation, or by answer.
    tokens: the tokenizer that counts tokens.
    needs: figures that were not measured, and the inputs they need.
    replayed: replay by system. None if it was not replayed.
    unjudged: why no judge could be asked. None if one could.
    """

    k: int
    correct: str
    tokens: str
    systems: list[SystemSummary]
    comparison: Comparison | None
    taxonomy: list[TaxonomyMode]
    needs: list[str]
    replayed: list[ReplaySummary | None]
    judge: JudgeSummary | None
    unjudged: str | None


class DiagnosisRow(TypedDict):
    """One row per system and question, with the modes of failure that hold for it.

    pair: equal in both systems for one question.
    outcome: found at 1, late, failed or not judged.
    first_correct: rank of the first correct passage. None without one.
    modes: names of the modes, those that explain most first.
    evidence: evidence for each mode, in words.
    """

    system: str
    query_id: str
    question: str
    pair: str
    outcome: str
    first_correct: int | None
    modes: list[str]
    evidence: list[str]


class JudgedRow(TypedDict):
    """One row per passage that a judge was asked about: its verdict, or why it has none.

    passage_id: id of the passage.
    answers: answers of the question, parted by " / ".
    title: title of the passage.
    text: text of the passage.
    state: ok, failed or not asked.
    verdict: YES, PARTIAL or NO. None if there is none.
    explanation: explanation by the judge.
    """

    system: str
    query_id: str
    passage_id: str
    rank: int
    question: str
    answers: str
    title: str
    text: str
    state: str
    verdict: str | None
    explanation: str
    reason: str


class LostNgram(TypedDict):
    """An n-gram that the beam dropped (see `Lost`).

    ngram: its text, without markers.
    view: body, title or query.
    weight: weight that it would have had.
    left_at: token, from 1, at which its prefix left the beam. None if it was written this time.
    rank: its rank among all candidates there. None if it was written this time.
    kept_by: least beam size that was tried and writes it. None if none does.
    """

    ngram: str
    view: str
    weight: float
    left_at: int | None
    rank: int | None
    kept_by: int | None


class PrunedNgram(LostNgram):
    """An n-gram of a question that the beam dropped."""

    query_id: str


class PrunedRow(PrunedNgram):
    """One row per n-gram of a right passage that the beam dropped, 50 of a question at most."""

    system: str
