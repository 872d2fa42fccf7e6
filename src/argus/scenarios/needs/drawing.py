"""Choose the documents whose needs ask, and have missing needs written by a language model.

All documents ask, a random sample, or as many as it takes for a narrow interval.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from argus.corpora import Corpus
from argus.data.fields import FieldNames
from argus.data.folders import ArtifactFolder
from argus.data.provenance import content_hash
from argus.data.types import Document
from argus.jobs.recorded_model import RecordedModel
from argus.llm import Estimate, Ledger, Prompt, estimate, open_model
from argus.llm.ledger import ledger_to_read
from argus.measures.intervals import wilson
from argus.progress import announce
from argus.scenarios.files import from_answer
from argus.scenarios.generate import generate, prompts_for, scenario_prompt
from argus.scenarios.needs.config import NeedsConfig
from argus.scenarios.needs.findings import Need
from argus.scenarios.needs.search import NeedSearch
from argus.scenarios.needs.source import NeedSource
from argus.scenarios.profile import Profiled, Scenario, ScenarioProfile
from argus.scenarios.profile import needs as needs_of
from argus.scenarios.profiles.config import ProfileConfig
from argus.scenarios.profiles.job import LEDGER
from argus.scenarios.schema import MOST_SCENARIOS, ProfileAnswer

FURTHER = """\
[Further Needs]
Some information needs of this document are known, and are listed after it. Write {n} others, of \
parts and purposes that the known ones leave out; none that asks for the same in other words. Call \
it noise only if there is nothing else that anyone could need."""
BATCH = 50  # Documents that are drawn until the interval is looked at again.


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


@dataclass(frozen=True)
class NeedPlace:
    """Rank of a document for one of its needs. rank: as `NeedSearch.ranks`."""

    need: Need
    rank: int | None
    is_further: bool = False


@dataclass
class Drawn:
    """Documents that were drawn, and where they stand. further: scenarios written besides."""

    profiles: dict[str, Profiled] = field(default_factory=dict)
    places: list[NeedPlace] = field(default_factory=list)
    further: dict[str, tuple[Scenario, ...]] = field(default_factory=dict)

    def hits(self, k: int) -> dict[str, list[bool]]:
        """Return, by document that could be asked for, which of its needs find it in the top k."""
        hits: dict[str, list[bool]] = {}
        for place in self.places:
            if place.rank is not None:
                hits.setdefault(place.need.doc_id, []).append(place.rank <= k)
        return hits

    def width(self, k: int) -> float:
        """Return the width of the 95% interval of the documents that any of their needs finds."""
        hits = self.hits(k)
        if not hits:
            return 1.0
        low, high = wilson(sum(map(any, hits.values())) / len(hits), len(hits))
        return float(high - low)


def draw_order(source: NeedSource, config: NeedsConfig, *, writes: bool) -> list[Document]:
    """Return the documents whose needs may ask, in random order, at most `config.sample`.

    writes: whether needs are written. If not, only documents with a profile have some. The order is
    by a hash of the ids: a larger sample holds the smaller one.
    """
    documents = [d for d in source.usable if writes or d.id in source.profiles]
    documents.sort(key=lambda d: (content_hash(str(config.seed), d.id), d.id))
    return documents[: config.sample]


def draw(
    source: NeedSource, config: NeedsConfig, writer: NeedWriter | None, search: NeedSearch, k: int
) -> Drawn:
    """Draw documents, have their needs written where they have none, and ask for them."""
    order = draw_order(source, config, writes=writer is not None)
    step = BATCH if config.until_width else max(1, len(order))
    drawn = Drawn()
    for start in range(0, len(order), step):
        batch = order[start : start + step]
        profiles = (
            {d.id: source.profiles[d.id] for d in batch}
            if writer is None
            else writer.profiles(batch)
        )
        drawn.profiles |= profiles
        drawn.places += _places(profiles, search)
        if config.until_width and drawn.width(k) <= config.until_width:
            break
    if writer is not None and config.further:
        _more(drawn, order, config.further, writer, search, k)
    return drawn


def _more(
    drawn: Drawn,
    order: Sequence[Document],
    n: int,
    writer: NeedWriter,
    search: NeedSearch,
    k: int,
) -> None:
    """Ask for further needs of the documents that some of theirs find and others do not."""
    hits = drawn.hits(k)
    torn = [d for d in order if any(hits.get(d.id, ())) and not all(hits[d.id])]
    drawn.further = writer.further(torn, drawn.profiles, n)
    needs = []
    for id_, scenarios in drawn.further.items():
        profile = drawn.profiles[id_].profile
        first = len(profile.scenarios) if profile else 0
        needs += [Need(id_, first + i, s.information_need) for i, s in enumerate(scenarios)]
    ranks = search.ranks(needs)
    drawn.places += [NeedPlace(n, rank, True) for n, rank in zip(needs, ranks, strict=True)]


def _places(profiles: Mapping[str, Profiled], search: NeedSearch) -> list[NeedPlace]:
    needs = [Need(*need) for need in needs_of(profiles)]
    return [NeedPlace(n, rank) for n, rank in zip(needs, search.ranks(needs), strict=True)]


def estimate_needs(
    corpus: Corpus,
    profiles: Path | str | Mapping[str, Profiled] | None,
    *,
    out: Path | str,
    config: NeedsConfig,
    model: ProfileConfig,
    fields: FieldNames | None = None,
    limit: int | None = None,
) -> Estimate:
    """Return prompts and cost of `audit_needs` for the drawn documents, asking nothing.

    With `config.until_width` that is the most: it may stop before. Further needs come on top, for
    the documents that only some of theirs find: one prompt for each.
    """
    source = NeedSource.read(corpus, profiles, fields or FieldNames(), limit, None, writes=True)
    documents = draw_order(source, config, writes=True)
    prompts = prompts_of(model, documents, source.profiles)
    with ledger_to_read(Path(out) / LEDGER) as ledger:
        return estimate(prompts, ledger, model.model, schema=ProfileAnswer)
