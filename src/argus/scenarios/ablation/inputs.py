"""Inputs of an ablation: documents, profiles, questions, expansions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from argus.corpora import Corpus
from argus.corpora.opening import Origin
from argus.data.documents import EXPANSIONS
from argus.data.fields import FieldNames
from argus.data.folders import ArtifactFolder
from argus.data.runs import Excluded
from argus.data.types import Document, FloatArray, Qrels, Query
from argus.encoders import Embedded, EmbeddingStore, Encoder, EncoderConfig, embed
from argus.encoders import documents as as_documents
from argus.encoders import queries as as_queries
from argus.engine import Engine
from argus.errors import InputError
from argus.evaluation.judged import read_judged
from argus.evaluation.systems import Judged, System, missing_gold, without_failed
from argus.jobs.recorded_model import RecordedModel, require_answers
from argus.jobs.workspace import read_documents, require_some, texts_cut
from argus.llm import ChatConfig, Ledger, LocalConfig, open_model
from argus.scenarios.ablation.grid import (
    Documents,
    QueryVectors,
    ScenarioTexts,
    embed_scenarios,
)
from argus.scenarios.expansions import (
    Baseline,
    Expansion,
    expanded,
    generate_expansions,
    read_expansions,
    write_expansions,
)
from argus.scenarios.files import read_profiles
from argus.scenarios.profile import Component, Profiled, ProfileState

LEDGER = "answers.sqlite"


@dataclass(frozen=True)
class Source:
    """All that is read, before anything is embedded or written.

    documents: those that have text.
    all_profiles: profiles of all documents, in any state.
    """

    documents: list[Document]
    without_text: int
    path: Origin | None
    all_profiles: Mapping[str, Profiled]
    queries: list[Query]
    judged: Judged
    expansions: dict[str, Expansion] | None

    @classmethod
    def read(
        cls,
        corpus: Corpus,
        profiles: Path | str | Mapping[str, Profiled],
        queries: Path | str | Sequence[Query],
        qrels: Path | str | Qrels,
        excluded: Path | str | Excluded | None,
        expansions: Path | None,
        fields: FieldNames | None,
        encoder: Encoder | EncoderConfig | str,
    ) -> Source:
        """Read it. InputError where documents, profiles and judgements do not belong together."""
        fields = fields or FieldNames()
        everything, path = read_documents(corpus, fields, None, encoder)
        documents = [d for d in everything if d.content.strip()]
        require_some(len(documents), "document has text", "Check --text-field.")
        questions = read_judged(queries, qrels, excluded=excluded)
        source = cls(
            documents=documents,
            without_text=len(everything) - len(documents),
            path=path,
            all_profiles=read_profiles(profiles, coerce_ids=fields.coerce_ids)
            if isinstance(profiles, (str, Path))
            else profiles,
            queries=questions.queries,
            judged=questions.judged,
            expansions=None
            if expansions is None
            else read_expansions(expansions, coerce_ids=fields.coerce_ids),
        )
        source._check(profiles, expansions)
        return source

    @cached_property
    def ids(self) -> frozenset[str]:
        """The documents that have text."""
        return frozenset(d.id for d in self.documents)

    @cached_property
    def profiles(self) -> dict[str, Profiled]:
        """Those with scenarios, of documents that have text."""
        return {
            id_: p
            for id_, p in self.all_profiles.items()
            if p.profile is not None and id_ in self.ids
        }

    @cached_property
    def missing(self) -> dict[str, Any] | None:
        """Relevant documents that the corpus does not hold. InputError where it holds none."""
        return missing_gold(System("the corpus", {}, documents=self.ids), self.judged)

    def profile_counts(self) -> dict[str, Any]:
        """Count the profiles by outcome."""
        states = Counter(p.state for p in self.all_profiles.values())
        return {
            "total": len(self.all_profiles),
            "ok": states[ProfileState.OK],
            "noise": states[ProfileState.NOISE],
            "failed": states[ProfileState.FAILED],
            "of_other_documents": sum(id_ not in self.ids for id_ in self.all_profiles),
            "scenarios": sum(
                len(p.profile.scenarios) for p in self.profiles.values() if p.profile is not None
            ),
        }

    def _check(self, profiles: object, expansions: Path | None) -> None:
        _require_match(
            self.profiles, self.all_profiles, self.ids, "profile with scenarios",
            "--profiles" if not isinstance(profiles, (str, Path)) else str(profiles),
        )  # fmt: skip
        if self.expansions is not None:
            used = {id_: e for id_, e in self.expansions.items() if id_ in self.ids}
            _require_match(used, self.expansions, self.ids, "expansion", str(expansions))
        _ = self.missing


def _require_match(
    used: Mapping[str, object],
    lines: Mapping[str, object],
    ids: frozenset[str],
    what: str,
    where: str,
) -> None:
    if not used:
        raise InputError(
            f"no {what} of a document of the corpus ({len(lines):,} lines, such as "
            f"{min(lines, default='')!r}; the corpus has such as {min(ids)!r})",
            expected=f"a {what} of at least one document that has text",
            fix="Check that both belong together, and how ids are written.",
            where=where,
        )


def write_by_model(
    config: ChatConfig | LocalConfig,
    source: Source,
    folder: ArtifactFolder,
    engine: Engine | None = None,
) -> tuple[dict[str, Expansion], dict[str, Any]]:
    """Have the documents with scenarios expanded. Return expansions and the spending.

    The same documents as have scenarios, so that texts are compared and not coverage. Answers are
    kept in `folder/answers.sqlite`, the expansions in `folder/expansions.jsonl`. Raises ArgusError
    where a document was not asked for or stayed without any answer.
    """
    documents = [d for d in source.documents if d.id in source.profiles]
    with Ledger(folder / LEDGER) as ledger:
        model = RecordedModel(open_model(config, ledger, engine))
        expansions = {e.doc_id: e for e in generate_expansions(documents, model)}
    require_answers(model, accept=False, can_accept=False)
    write_expansions(folder.own(EXPANSIONS), expansions.values())
    return expansions, {"model": model.name, "language_model": model.summary()}


@dataclass(frozen=True)
class Vectors:
    """All vectors, and the failures.

    failed: document to why it has no vector: it is in no index.
    judged: the questions that could be embedded.
    expanded: shape (n_documents, dim) each: the document's own vector where there is no expansion.
    expanded_documents: documents expanded, failures, and how much of the texts the model reads.
    windows: how much of documents and scenario texts the model reads.
    """

    documents: Documents
    failed: Mapping[str, str]
    queries: QueryVectors
    judged: Judged
    texts: ScenarioTexts
    expanded: Mapping[Baseline, FloatArray]
    expanded_documents: Mapping[Baseline, dict[str, Any]]
    windows: dict[str, Any]

    @classmethod
    def of(
        cls,
        source: Source,
        expansions: Mapping[str, Expansion] | None,
        components: Sequence[Component],
        encoder: Encoder,
        store: EmbeddingStore,
    ) -> Vectors:
        """Embed documents, questions, each scenario text once, and the expanded documents."""

        def embedded(texts: Sequence[str], what: str = "scenarios") -> Embedded:
            return embed(as_documents(texts), encoder, store, what=what)

        own = embedded([d.content for d in source.documents], "documents")
        documents = [d for d, ok in zip(source.documents, own.ok, strict=True) if ok]
        profiles = {d.id: source.profiles[d.id] for d in documents if d.id in source.profiles}
        queries, judged = _queries(source.judged, encoder, store)
        texts = embed_scenarios(profiles.values(), components, embedded)
        vectors, counts = {}, {}
        for baseline in Baseline if expansions is not None else ():
            vectors[baseline], counts[baseline] = _expanded(
                documents, own.vectors, expansions or {}, baseline, encoder, store
            )
        return cls(
            Documents([d.id for d in documents], own.vectors, profiles),
            {source.documents[i].id: why for i, why in own.failures.items()},
            queries, judged, texts, vectors, counts,
            {"documents": texts_cut(encoder, [d.content for d in documents]),
             "scenarios": texts_cut(encoder, list(texts.rows))},
        )  # fmt: skip


def _queries(
    judged: Judged, encoder: Encoder, store: EmbeddingStore
) -> tuple[QueryVectors, Judged]:
    ids = list(judged.queries)
    texts = [judged.queries[id_].text for id_ in ids]
    embedded = embed(as_queries(texts), encoder, store, what="questions")
    failed = {ids[i]: why for i, why in embedded.failures.items()}
    left = without_failed(judged, [System("the encoder", {}, failed=failed)])
    return QueryVectors([id_ for id_ in ids if id_ not in failed], embedded.vectors), left


def _expanded(
    documents: Sequence[Document],
    own: FloatArray,
    expansions: Mapping[str, Expansion],
    baseline: Baseline,
    encoder: Encoder,
    store: EmbeddingStore,
) -> tuple[FloatArray, dict[str, Any]]:
    """Return the documents' vectors with those of expanded ones in their places, and counts."""
    rows = [
        i
        for i, d in enumerate(documents)
        if d.id in expansions and expansions[d.id].texts(baseline)
    ]
    texts = [expanded(documents[i], expansions[documents[i].id], baseline) for i in rows]
    embedded = embed(as_documents(texts), encoder, store, what=f"documents with {baseline}")
    vectors = own.copy()
    vectors[[i for i, ok in zip(rows, embedded.ok, strict=True) if ok]] = embedded.vectors
    return vectors, {
        "documents": int(embedded.ok.sum()),
        "failed": len(embedded.failures),
        "text_window": texts_cut(encoder, texts),
    }
