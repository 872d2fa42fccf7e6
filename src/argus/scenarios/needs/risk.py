"""Order documents by risk: how deep they stand for their needs.

A document's risk is its typical rank: the geometric mean of its ranks under its own needs, in an
index of documents alone, or in a retriever's lists. It orders documents and is no probability.
Judged questions, where there are any, measure what it says of real ones: the AUC for pairs of
question and relevant document. Chunks may be folded to the documents they are of: one ranks by its
best chunk, among documents.

All documents ask, a random sample, or as many as it takes for a narrow interval. A language model
writes the needs that are missing, and more of them for documents that only some of theirs find.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from argus.corpora import Corpus
from argus.data.fields import FieldNames
from argus.data.folders import ArtifactFolder
from argus.data.provenance import content_hash
from argus.data.types import Document, Query
from argus.evaluation.judged import JudgedQueries
from argus.jobs.recorded_model import RecordedModel
from argus.llm import Estimate, Ledger, Prompt, estimate, open_model
from argus.llm.ledger import ledger_to_read
from argus.measures.intervals import discrimination, wilson
from argus.progress import announce
from argus.scenarios.files import from_answer, write_profiles
from argus.scenarios.generate import generate, prompts_for, scenario_prompt
from argus.scenarios.needs.config import NeedsConfig
from argus.scenarios.needs.source import NeedSource, read_source
from argus.scenarios.profile import Need, Profiled, Scenario, needs
from argus.scenarios.profiles.config import ProfileConfig
from argus.scenarios.profiles.job import LEDGER
from argus.scenarios.schema import MOST_SCENARIOS, ProfileAnswer
from argus.scenarios.tables import schema
from argus.verdict.verdict import validity_of_needs

# One row per document whose needs were asked, the greatest risk first.
#
# chunks: chunks of it, 1 where documents are not cut.
# needs: needs of it that were asked.
# further: of these, needs that were written beyond those of the first round.
# found: share of its needs that bring it into the top k.
# typical_rank: geometric mean of its ranks: the risk.
# worst_need: need with the worst rank.
# worst_rank: that rank, from 1.
_SCHEMA = schema(
    ("id label", str), ("chunks needs further", int), ("found low high typical_rank", float),
    ("worst_need", str), ("worst_rank", int),
)  # fmt: skip
# Profiles of the documents that were drawn, where a model wrote some of them.
WRITTEN = "need_profiles.jsonl"
FURTHER = """\
[Further Needs]
Some information needs of this document are known, and are listed after it. Write {n} others, of \
parts and purposes that the known ones leave out; none that asks for the same in other words. Call \
it noise only if there is nothing else that anyone could need."""
BATCH = 50  # Documents that are drawn until the interval is looked at again.


class NeedSearch(Protocol):
    """Rank documents for needs, and answer questions."""

    def ranks(self, needs: Sequence[Need]) -> list[int | None]:
        """Return the 1-based rank of each need's document. None where it could not be asked.

        One beyond a list that ends is as if it came next.
        """
        ...

    def lists(self, questions: Sequence[Query], depth: int) -> dict[str, list[str]]:
        """Return the documents that came for each question, by its id. Failed ones are not in."""
        ...


@dataclass(frozen=True)
class NeedWriter:
    """A language model that writes the needs of documents."""

    config: ProfileConfig
    model: RecordedModel

    def profiles(self, documents: Sequence[Document]) -> dict[str, Profiled]:
        """Return profiles of documents, by id."""
        return {p.doc_id: p for p in generate(documents, self.model, self.config)}

    def further(
        self, documents: Sequence[Document], profiles: Mapping[str, Profiled], n: int
    ) -> dict[str, tuple[Scenario, ...]]:
        """Return up to n more scenarios of each document. None that repeats a known one."""
        prompts, known = list[Prompt](), list[list[str]]()
        for document in documents:
            prompt = scenario_prompt(document.content, self.config)
            known.append([n.text for n in needs({document.id: profiles[document.id]})])
            listed = "\n".join(f"- {text}" for text in known[-1])
            prompts.append(
                replace(
                    prompt,
                    system=f"{prompt.system}\n\n{FURTHER.format(n=n)}",
                    text=f"{prompt.text}\n\n[Known Information Needs]\n{listed}",
                )
            )
        outcomes = self.model.complete(prompts, schema=ProfileAnswer)
        more: dict[str, tuple[Scenario, ...]] = {}
        for document, outcome, texts in zip(documents, outcomes, known, strict=True):
            answer = from_answer(document.id, outcome.value).profile if outcome.value else None
            plain = set(map(_plain, texts))
            new = [s for s in (answer.scenarios if answer else ())
                   if _plain(s.information_need) not in plain]  # fmt: skip
            if new:
                more[document.id] = tuple(new[:n])
        return more


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


class Place(NamedTuple):
    """Rank of a document for one of its needs. is_further: written in the second round."""

    need: Need
    rank: int
    is_further: bool


@dataclass(frozen=True)
class Drawn:
    """Profiles of drawn documents, ranks under their needs, and scenarios written besides."""

    profiles: dict[str, Profiled]
    places: list[Place]
    further: dict[str, tuple[Scenario, ...]]


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
    """Draw documents, have their needs written where they have none, and ask for them.

    Drawing ends where the 95% interval of the documents that any need finds is narrow enough.
    """
    order = draw_order(source, config, writes=writer is not None)
    drawn = Drawn({}, [], {})
    hits: dict[str, list[bool]] = defaultdict(list)  # by document: which needs find it in the top k

    def ask(asked: Sequence[Need], is_further: bool) -> None:
        for need, rank in zip(asked, search.ranks(asked), strict=True):
            if rank is not None:
                drawn.places.append(Place(need, rank, is_further))
                hits[need.doc_id].append(rank <= k)

    step = BATCH if config.until_width else max(1, len(order))
    for start in range(0, len(order), step):
        batch = order[start : start + step]
        new = [d for d in batch if d.id not in source.profiles]
        written = writer.profiles(new) if writer is not None else {}
        profiles = {d.id: source.profiles.get(d.id) or written[d.id] for d in batch}
        drawn.profiles.update(profiles)
        ask(needs(profiles), is_further=False)
        if config.until_width and hits:
            low, high = wilson(sum(map(any, hits.values())) / len(hits), len(hits))
            if high - low <= config.until_width:
                break
    if writer is not None and config.further:
        torn = [d for d in order if any(hits.get(d.id, ())) and not all(hits[d.id])]
        drawn.further.update(writer.further(torn, drawn.profiles, config.further))
        more = []
        for id_, scenarios in drawn.further.items():
            first = len(needs({id_: drawn.profiles[id_]}))
            more += [Need(id_, first + i, s.information_need) for i, s in enumerate(scenarios)]
        ask(more, is_further=True)
    return drawn


def measure_risk(
    source: NeedSource,
    config: NeedsConfig,
    search: NeedSearch,
    writing: ProfileConfig | None,
    folder: ArtifactFolder,
    name: str,
) -> tuple[NeedSource, dict[str, Any], pa.Table, RecordedModel | None]:
    """Draw documents, ask for them by their needs, and write the table of their risk.

    writing: how missing needs are written; answers are kept in `folder`/answers.sqlite, which
    `argus tune apply scenarios` goes on with. name: of the table. Returns the source with the
    documents that were drawn, the part of the summary, the table, and the model that wrote:

    parent_field: field that names the document of a chunk. None without chunks.
    documents: documents of the corpus.
    measured: documents that were asked for.
    reached: of these, documents that a need brings into the top k.
    low, high: 95% interval of their share.
    sample: documents that were to be drawn. None for all.
    until_width: width of the interval to draw until. None for none.
    written: documents whose needs were written in this run.
    further.documents: documents of which needs were written besides.
    further.needs: needs that were written besides.
    judged: see `judged_risk`.
    validity: what the order tells of real questions, in words.
    """
    k, writer, written = min(config.k, len(source.usable)), None, 0
    with ExitStack() as stack:
        if writing is not None:
            order = draw_order(source, config, writes=True)
            prompts = _prompts(writing, order, source)
            ledger = stack.enter_context(Ledger(folder.own(LEDGER, goes_on=True)))
            announce(f"needs: {estimate(prompts, ledger, writing.model, schema=ProfileAnswer)}")
            writer = NeedWriter(writing, RecordedModel(open_model(writing.model, ledger)))
        drawn = draw(source, config, writer, search, k)
    figures: dict[str, Any] = {}
    if writer is not None:
        written = len(drawn.profiles.keys() - source.profiles.keys())
        whole = [_extended(p, drawn.further.get(id_, ())) for id_, p in drawn.profiles.items()]
        write_profiles(folder.own(WRITTEN), whole)
        figures["language_model"] = writer.model.summary()
    table = _table(drawn.places, source, k)
    folder.write_table(name, table, csv=True)
    typical: dict[str, float] = dict(
        zip(table["id"].to_pylist(), table["typical_rank"].to_pylist(), strict=True)
    )
    reached, n = sum(found > 0 for found in table["found"].to_pylist()), len(table)
    low, high = wilson(reached / n, n) if n else (0.0, 1.0)
    judged = None
    if source.questions is not None:
        judged = judged_risk(typical, source.questions, search, k)
    figures["risk"] = {
        "k": k,
        "parent_field": config.parent_field,
        "documents": len({source.parent(d.id) for d in source.usable}),
        "measured": n,
        "reached": reached,
        "low": float(low),
        "high": float(high),
        "sample": config.sample,
        "until_width": config.until_width,
        "written": written,
        "further": {
            "documents": len(drawn.further),
            "needs": sum(map(len, drawn.further.values())),
        },
        "judged": judged,
        "validity": [str(one) for one in validity_of_needs(judged["area"] if judged else None)],
    }
    is_part = config.sample is not None or config.until_width is not None
    source = replace(
        source,
        profiles={**source.profiles, **drawn.profiles},
        drawn=frozenset(drawn.profiles) if is_part else None,
    )
    return source, figures, table, writer.model if writer is not None else None


def _extended(profiled: Profiled, scenarios: Sequence[Scenario]) -> Profiled:
    if profiled.profile is None:
        return profiled
    every = (*profiled.profile.scenarios, *scenarios)[:MOST_SCENARIOS]
    return replace(profiled, profile=replace(profiled.profile, scenarios=every))


def _table(places: Sequence[Place], source: NeedSource, k: int) -> pa.Table:
    """Return one row per document that was asked for, the greatest risk first."""
    titles: dict[str, str] = {}
    for document in source.documents:
        titles.setdefault(source.parent(document.id), document.title)
    chunks = Counter(source.parent(document.id) for document in source.documents)
    by_document: dict[str, list[Place]] = defaultdict(list)
    for place in places:
        by_document[source.parent(place.need.doc_id)].append(place)
    rows: list[dict[str, Any]] = []
    for id_, own in by_document.items():
        ranks = np.array([place.rank for place in own], np.float64)
        worst = max(own, key=lambda place: place.rank)
        share = float((ranks <= k).mean())
        low, high = wilson(share, len(own))
        rows.append({
            "id": id_, "label": titles.get(id_, ""), "chunks": chunks[id_],
            "needs": len(own), "further": sum(place.is_further for place in own),
            "found": share, "low": float(low), "high": float(high),
            "typical_rank": float(np.exp(np.log(ranks).mean())),
            "worst_need": worst.need.text, "worst_rank": worst.rank,
        })  # fmt: skip
    rows.sort(key=lambda row: (-row["typical_rank"], row["id"]))
    return pa.Table.from_pylist(rows, schema=_SCHEMA)


def judged_risk(
    typical_ranks: Mapping[str, float], questions: JudgedQueries, search: NeedSearch, k: int
) -> dict[str, Any]:
    """Return the worth of the typical rank on judged questions.

    A pair of question and relevant document fails where k documents that are not relevant, or more,
    come before it, or where it does not come at all. The interval draws questions, since pairs of
    one question are not independent.

    questions: judged questions whose documents' needs were asked.
    pairs: pairs of question and relevant document that needs asked for.
    failed: of these, pairs whose document does not come back.
    area: AUC of the typical rank for failure. None where fewer than five failed, or did not.
    """
    relevant = {
        query.id: {id_ for id_, grade in questions.qrels.get(query.id, {}).items() if grade > 0}
        for query in questions.queries
    }
    queries = [q for q in questions.queries if relevant[q.id] & typical_ranks.keys()]
    most = max((len(relevant[query.id]) for query in queries), default=0)
    lists = search.lists(queries, k + most) if queries else {}
    ranks, failed, clusters = [], [], []
    for query, ids in lists.items():
        for id_ in sorted(relevant[query] & typical_ranks.keys()):
            before = ids[: ids.index(id_)] if id_ in ids else None
            fails = before is None or sum(other not in relevant[query] for other in before) >= k
            ranks.append(typical_ranks[id_])
            failed.append(fails)
            clusters.append(query)
    area = discrimination(ranks, failed, clusters=clusters)
    return {"questions": len(lists), "pairs": len(ranks), "failed": sum(failed), "area": area}


def _prompts(
    writing: ProfileConfig, documents: Sequence[Document], source: NeedSource
) -> list[Prompt]:
    """Return the prompts for the missing profiles. Further needs are not known beforehand."""
    missing = [d for d in documents if d.id not in source.profiles]
    return prompts_for(missing, writing)


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
    source = read_source(corpus, profiles, config, fields=fields, limit=limit, writes=True)
    prompts = _prompts(model, draw_order(source, config, writes=True), source)
    with ledger_to_read(Path(out) / LEDGER) as ledger:
        return estimate(prompts, ledger, model.model, schema=ProfileAnswer)
