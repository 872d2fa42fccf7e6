"""Read and write profiles of documents (needs that they serve), and read their expansions.

A profile is one JSON line per document in profiles.jsonl. `research scenarios write` writes it, and
the other `scenarios` commands and remedies read it. `scenario_views` makes the texts to index. The
released teacher data (`key_points`, no state) and rows without a state are read, too. A file holds
a row for every document that was tried. A document that is noise or failed has the reason and
counts as one without scenarios. Small models answer in many shapes: needs and explanations as one
object (step 3 of the paper's prompt), "key points" for aspects, a need without explanation, the
same need again and again. The usable part is kept. An answer with none fails with the reasons.

An expansion is three pseudo-queries and one summary of a document, the baseline of
`research scenarios ablate` (SPIKE Appendix A). Each is concatenated with the document's text, which
is then embedded as one vector in place of the document's own. Nothing else is indexed.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from pydantic import (
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from argus.data.documents import EXPANSIONS, file_in, rows_by_document
from argus.data.types import Document, View
from argus.data.writing import write_jsonl
from argus.errors import InputError
from argus.indexes.fold import SCENARIO
from argus.scenarios.profile import (
    COMPONENT,
    Component,
    Profiled,
    ProfileState,
    Scenario,
    ScenarioProfile,
)

FILE = "profiles.jsonl"
REPETITION = 4.0
# Texts of so many characters that zlib makes so many times shorter repeat themselves: prose of a
# paragraph comes to 2 at most, a phrase in a loop to 10 and more.
REPETITION_CHARS = 160
_PROBE_CHARS = 12
MOST_SCENARIOS = 64  # Scenarios of one document. Teacher profiles have 1 to 6. Each becomes a view.
_EXAMPLE = (
    '{"_id": "d1", "main_topic": "...", '
    '"scenarios": [{"information_need": "...", "explanation": "..."}]}'
)


def write_profiles(path: Path, profiles: Iterable[Profiled]) -> Path:
    """Write the profiles, without empty fields, whole or not at all. Return the path."""
    rows = []
    for p in profiles:
        fields = profile_fields(p.profile) if p.profile is not None else {}
        rest = {"reason": p.reason, "source": p.source}
        row = {"_id": p.doc_id, "state": str(p.state), **fields}
        rows.append(row | {name: value for name, value in rest.items() if value})
    write_jsonl(path, rows)
    return path


def profile_fields(profile: ScenarioProfile) -> dict[str, Any]:
    """Return a profile as a generator answers with it."""
    return {
        "main_topic": profile.main_topic,
        "key_aspects": list(profile.key_aspects),
        "scenarios": [
            {"information_need": s.information_need, "explanation": s.explanation}
            for s in profile.scenarios
        ],
    }


def read_profiles(path: Path | str, *, coerce_ids: bool = False) -> dict[str, Profiled]:
    """Read profiles by document id: a file, or a folder that holds profiles.jsonl.

    Rows of state ok are validated as a generator's answer is: what cannot be used in one is left
    out, and one of which nothing can be used is FAILED with the reason. Raises InputError, with the
    line, for another file, an unknown state and a document that comes twice.
    """
    path = file_in(Path(path), FILE)
    profiles = {}
    for doc_id, row in rows_by_document(path, coerce_ids=coerce_ids):
        values, state = row.values, row.values.get("state") or ProfileState.OK
        if state not in tuple(ProfileState):
            raise InputError(
                f"state {state!r}", expected=f"one of {', '.join(ProfileState)}",
                fix="Leave it out for profiles written by hand.", where=row.at("state"),
            )  # fmt: skip
        source, reason = str(values.get("source") or ""), str(values.get("reason") or "")
        if state == ProfileState.OK:
            profiles[doc_id] = read_fields(doc_id, values, source)
        else:
            profiles[doc_id] = Profiled(doc_id, ProfileState(state), None, reason, source)
    if not profiles:
        raise InputError(
            "no profile", expected=f"lines such as {_EXAMPLE}", fix="Check the path.", where=path
        )
    return profiles


def given_profiles(
    profiles: Path | str | Mapping[str, Profiled], *, coerce_ids: bool = False
) -> tuple[Mapping[str, Profiled], Path | None]:
    """Return profiles that are given as they are or by their file or folder, and their file."""
    if not isinstance(profiles, (str, Path)):
        return profiles, None
    file = file_in(Path(profiles), FILE)
    return read_profiles(file, coerce_ids=coerce_ids), file


def read_fields(doc_id: str, values: Mapping[str, object], source: str = "") -> Profiled:
    """Return the profile in the fields of a row or an answer. FAILED where nothing can be used."""
    try:
        answer = ProfileAnswer.model_validate(values)
    except ValidationError as error:
        first = first_problem(error)
        place = ".".join(map(str, first["loc"]))
        reason = f"{place}: {first['msg']}" if place else first["msg"]
        return Profiled(doc_id, ProfileState.FAILED, None, reason, source=source)
    return from_answer(doc_id, answer, source=source)


def first_problem(error: ValidationError) -> Any:
    """Return the first problem of an answer that could not be validated."""
    return error.errors(include_url=False, include_input=False, include_context=False)[0]


def from_answer(doc_id: str, answer: ProfileAnswer, *, source: str = "") -> Profiled:
    """Return the outcome of a document whose answer was valid."""
    if answer.noise:
        reason = "the generator found nothing that anyone could need"
        return Profiled(doc_id, ProfileState.NOISE, None, reason, source)
    return Profiled(doc_id, ProfileState.OK, answer.profile(), "", source)


def scenario_views(
    profiled: Iterable[Profiled], component: Component = COMPONENT, *, label: str = "scenarios"
) -> list[View]:
    """Return one view per distinct text of `component`. Ids `DOC#label-N`, N from 1.

    `source` holds the scenario and where it came from, as JSON.
    """
    views = []
    for p in profiled:
        if p.profile is None:
            continue
        for i, text in p.profile.texts(component).items():
            source = {
                "component": str(component),
                "scenario": i + 1,
                "main_topic": p.profile.main_topic,
                "information_need": p.profile.scenarios[i].information_need,
                "explanation": p.profile.scenarios[i].explanation,
                **({"by": p.source} if p.source else {}),
            }
            of = json.dumps(source, ensure_ascii=False)
            views.append(View(f"{p.doc_id}#{label}-{i + 1}", p.doc_id, SCENARIO, text, of))
    return views


class ScenarioAnswer(BaseModel):
    """One need and its explanation, as a generator writes them."""

    model_config = ConfigDict(str_strip_whitespace=True)

    information_need: str = Field(
        validation_alias=AliasChoices("information_need", "need", "information need"),
        description='Begins "A user wants to know".',
    )
    explanation: str = Field(default="", description="How the document fulfils the need.")

    @field_validator("explanation", mode="before")
    @classmethod
    def _absent(cls, value: object) -> object:
        return "" if value is None else value


class ProfileAnswer(BaseModel):
    """The whole answer: SPIKE §3.1, or that the document is noise."""

    model_config = ConfigDict(str_strip_whitespace=True)

    noise: bool = Field(
        default=False, description="True only if nobody could need anything in the document."
    )
    main_topic: str = Field(
        default="", validation_alias=AliasChoices("main_topic", "main topic", "Main Topic")
    )
    key_aspects: list[str] = Field(
        default_factory=list,
        validation_alias=AliasChoices("key_aspects", "key_points", "key aspects", "Key Aspects"),
    )
    scenarios: list[ScenarioAnswer] = Field(default_factory=list)

    @field_validator("scenarios", mode="before")
    @classmethod
    def _pairs(cls, value: object) -> object:
        """Read `{need: explanation}`, the format of the paper's third step, too."""
        if isinstance(value, dict):
            return [{"information_need": n, "explanation": e} for n, e in value.items()]
        return [] if value is None else value

    @model_validator(mode="after")
    def _some(self) -> ProfileAnswer:
        if self.noise:
            return self
        left_out = []
        for item in _usable(self.scenarios):
            if isinstance(item, Scenario):
                return self
            left_out.append(item)
        reasons = "; ".join(left_out[:3]) or "the list of scenarios is empty"
        raise ValueError(f"no scenario that can be used ({reasons})")

    def profile(self) -> ScenarioProfile:
        """Return the usable part."""
        usable = [item for item in _usable(self.scenarios) if isinstance(item, Scenario)]
        aspects = tuple(dict.fromkeys(a.strip() for a in self.key_aspects if a.strip()))
        topic = "" if repeats_itself(self.main_topic) else self.main_topic
        return ScenarioProfile(topic, aspects, tuple(usable[:MOST_SCENARIOS]))


def _usable(scenarios: list[ScenarioAnswer]) -> Iterator[Scenario | str]:
    """Yield each scenario that can be used, and for each other one why it cannot."""
    earlier: set[str] = set()
    for i, scenario in enumerate(scenarios, 1):
        need, explanation = scenario.information_need, scenario.explanation
        texts = {" ".join(text.casefold().split()) for text in (need, explanation)}
        if not need:
            yield f"scenario {i} has no information need"
        elif not explanation:
            yield f"scenario {i} has a need without explanation"
        elif repeats_itself(need) or repeats_itself(explanation):
            yield f"scenario {i} repeats itself"
        elif texts & earlier:
            yield f"scenario {i} repeats an earlier one"
        else:
            yield Scenario(need, explanation)
        earlier |= texts - {""}


def repeats_itself(text: str) -> bool:
    """Whether a text is a phrase in a loop. In any script, with or without spaces."""
    if len(text) < REPETITION_CHARS:
        return False
    probes = (text[len(text) // 2 :][:_PROBE_CHARS], text[-_PROBE_CHARS:])
    if all(text.count(probe) < REPETITION - 1 for probe in probes):
        return False  # whatever is in a loop stands in the middle or at the end (much faster)
    raw = text.encode("utf-8", "replace")
    return len(raw) > REPETITION * len(zlib.compress(raw))


QUERIES = 3  # Pseudo-queries per document (SPIKE Appendix A).
_EXPANSION_EXAMPLE = '{"_id": "d1", "pseudo_queries": ["...", "...", "..."], "summary": "..."}'


class Baseline(StrEnum):
    """Parts that a document is expanded with."""

    PSEUDO_QUERIES = "pseudo-queries"
    SUMMARY = "summary"


@dataclass(frozen=True, slots=True)
class Expansion:
    """Texts to expand a document with. Either part may be missing."""

    doc_id: str
    pseudo_queries: tuple[str, ...] = ()
    summary: str = ""

    def texts(self, baseline: Baseline) -> tuple[str, ...]:
        """Return the text to concatenate with the document. Nothing where there is none."""
        if baseline is Baseline.PSEUDO_QUERIES:
            return self.pseudo_queries
        return (self.summary,) if self.summary else ()


def expanded(document: Document, expansion: Expansion | None, baseline: Baseline) -> str:
    """Return the text to embed in place of the document's own. That itself without an expansion.

    Document, then each text on a line of its own.
    """
    texts = expansion.texts(baseline) if expansion is not None else ()
    return "\n".join([document.content, *texts])


def read_expansions(path: Path | str, *, coerce_ids: bool = False) -> dict[str, Expansion]:
    """Read expansions by document id: a file, or a folder that holds expansions.jsonl.

    The first three different queries of a row count. Other fields are not read. Raises InputError,
    with the line, for another file, a document that comes twice and a part of another form, and
    where no row has anything that can be used.
    """
    path = file_in(Path(path), EXPANSIONS)
    expansions = {}
    for doc_id, row in rows_by_document(path, coerce_ids=coerce_ids):
        queries, summary = row.values.get("pseudo_queries") or [], row.values.get("summary") or ""
        texts = [*queries, summary] if isinstance(queries, list) else [queries]
        if not isinstance(queries, list) or not all(isinstance(text, str) for text in texts):
            raise InputError(
                "queries that are no list of texts, or a summary that is none",
                expected=_EXPANSION_EXAMPLE, fix="Correct the line.", where=row.at(),
            )  # fmt: skip
        different = dict.fromkeys(query.strip() for query in queries)
        usable = tuple(query for query in different if query)[:QUERIES]
        expansions[doc_id] = Expansion(doc_id, usable, summary.strip())
    if not any(e.pseudo_queries or e.summary for e in expansions.values()):
        raise InputError(
            f"no expansion that can be used in {len(expansions):,} lines",
            expected=f"lines such as {_EXPANSION_EXAMPLE}",
            fix="Check the path and the fields.",
            where=path,
        )
    return expansions
