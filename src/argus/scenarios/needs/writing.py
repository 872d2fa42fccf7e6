"""Needs that a language model writes: of documents that have none, and more where they disagree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from argus.data.folders import ArtifactFolder
from argus.data.types import Document
from argus.jobs.recorded_model import RecordedModel
from argus.llm import Ledger, Prompt, estimate, open_model
from argus.progress import announce
from argus.scenarios.files import from_answer
from argus.scenarios.generate import generate, prompts_for
from argus.scenarios.profile import Profiled, Scenario, ScenarioProfile
from argus.scenarios.profiles.config import ProfileConfig
from argus.scenarios.profiles.job import LEDGER
from argus.scenarios.prompts import scenario_prompt
from argus.scenarios.schema import MOST_SCENARIOS, ProfileAnswer

FURTHER = """\
[Further Needs]
Some information needs of this document are known, and are listed after it. Write {n} others, of \
parts and purposes that the known ones leave out; none that asks for the same in other words. Call \
it noise only if there is nothing else that anyone could need."""


@dataclass(frozen=True)
class NeedWriter:
    """A language model that writes profiles. Known ones are not written again."""

    config: ProfileConfig
    model: RecordedModel
    known: Mapping[str, Profiled]

    def profiles(self, documents: Sequence[Document]) -> dict[str, Profiled]:
        """Return the profiles of some documents, by id."""
        missing = [d for d in documents if d.id not in self.known]
        settings = self.config
        written = generate(
            missing, self.model, settings.role, max_chars=settings.max_chars, form=settings.form
        )
        new = {profiled.doc_id: profiled for profiled in written}
        return {d.id: self.known.get(d.id) or new[d.id] for d in documents}

    def further(
        self, documents: Sequence[Document], profiles: Mapping[str, Profiled], n: int
    ) -> dict[str, tuple[Scenario, ...]]:
        """Return up to n more scenarios of each document. None that repeats a known one."""
        prompts = [self._prompt(d, profiles[d.id], n) for d in documents]
        outcomes = self.model.complete(prompts, schema=ProfileAnswer)
        more: dict[str, tuple[Scenario, ...]] = {}
        for document, outcome in zip(documents, outcomes, strict=True):
            if outcome.value is None:
                continue
            answer = from_answer(document.id, outcome.value).profile
            known = {_plain(s.information_need) for s in _scenarios(profiles[document.id])}
            new = [s for s in (answer.scenarios if answer else ())
                   if _plain(s.information_need) not in known]  # fmt: skip
            more[document.id] = tuple(new[:n])
        return {id_: scenarios for id_, scenarios in more.items() if scenarios}

    def _prompt(self, document: Document, profiled: Profiled, n: int) -> Prompt:
        settings = self.config
        prompt = scenario_prompt(
            document.content, settings.role, max_chars=settings.max_chars, form=settings.form
        )
        known = "\n".join(f"- {s.information_need}" for s in _scenarios(profiled))
        return replace(
            prompt,
            system=f"{prompt.system}\n\n{FURTHER.format(n=n)}",
            text=f"{prompt.text}\n\n[Known Information Needs]\n{known}",
        )


@contextmanager
def open_writer(
    config: ProfileConfig | None,
    documents: Sequence[Document],
    known: Mapping[str, Profiled],
    folder: ArtifactFolder,
) -> Iterator[NeedWriter | None]:
    """Open the model that writes, and tell its cost before it is asked. None without one.

    documents: of which profiles may be written. Answers are kept in `folder`/answers.sqlite, which
    `argus tune apply scenarios` goes on with.
    """
    if config is None:
        yield None
        return
    with Ledger(folder.own(LEDGER, goes_on=True)) as ledger:
        prompts = prompts_of(config, documents, known)
        announce(f"needs: {estimate(prompts, ledger, config.model, schema=ProfileAnswer)}")
        yield NeedWriter(config, RecordedModel(open_model(config.model, ledger)), known)


def with_further(profiled: Profiled, scenarios: Sequence[Scenario]) -> Profiled:
    """Return a profile with more scenarios behind its own, or unchanged if it has none."""
    profile = profiled.profile
    if profile is None:
        return profiled
    every = (*profile.scenarios, *scenarios)[:MOST_SCENARIOS]
    whole = ScenarioProfile(profile.main_topic, profile.key_aspects, every)
    return replace(profiled, profile=whole)


def prompts_of(
    config: ProfileConfig, documents: Sequence[Document], known: Mapping[str, Profiled]
) -> list[Prompt]:
    """Return the prompts for the missing profiles. Further needs are not known beforehand."""
    missing = [d for d in documents if d.id not in known]
    return prompts_for(missing, config.role, max_chars=config.max_chars, form=config.form)


def _scenarios(profiled: Profiled) -> tuple[Scenario, ...]:
    return profiled.profile.scenarios if profiled.profile else ()


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
