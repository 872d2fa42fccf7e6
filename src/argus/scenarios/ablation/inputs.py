"""Inputs of an ablation: documents, profiles, questions, expansions, and the vectors of all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
from argus.errors import InputError
from argus.evaluation.judged import JudgedQueries, read_judged
from argus.evaluation.systems import Judged, System, missing_gold, without_failed
from argus.jobs.recorded_model import RecordedModel, require_answers
from argus.jobs.workspace import read_documents, require_some, texts_cut
from argus.llm import ChatConfig, Ledger, LocalConfig, open_model
from argus.scenarios.ablation.grid import Documents, QueryVectors, ScenarioTexts, embed_scenarios
from argus.scenarios.expansions import (
    Baseline,
    Expansion,
    expanded,
    generate_expansions,
    read_expansions,
    write_expansions,
)
from argus.scenarios.files import read_profiles
from argus.scenarios.openings import Form, in_form
from argus.scenarios.profile import Component, Profiled

LEDGER = "answers.sqlite"


@dataclass(frozen=True)
class Source:
    """All that is read, before anything is embedded or written.

    documents: those that have text. all_profiles: of all documents, in any state. profiles: those
    with scenarios, of `documents`. missing: relevant documents that the corpus does not hold.
    """

    documents: list[Document]
    without_text: int
    path: Origin | None
    all_profiles: Mapping[str, Profiled]
    profiles: dict[str, Profiled]
    questions: JudgedQueries
    missing: dict[str, Any] | None
    expansions: dict[str, Expansion] | None


def read_source(
    corpus: Corpus,
    profiles: Path | str | Mapping[str, Profiled],
    queries: Path | str | Sequence[Query],
    qrels: Path | str | Qrels,
    *,
    encoder: Encoder | EncoderConfig | str,
    excluded: Path | str | Excluded | None = None,
    expansions: Path | None = None,
    fields: FieldNames | None = None,
    form: Form = Form.WRITTEN,
) -> Source:
    """Read it. InputError where documents, profiles and judgements do not belong together."""
    fields = fields or FieldNames()
    everything, path = read_documents(corpus, fields, None, encoder)
    documents = [d for d in everything if d.content.strip()]
    require_some(len(documents), "document has text", "Check --text-field.")
    questions = read_judged(queries, qrels, excluded=excluded)
    where = str(profiles) if isinstance(profiles, (str, Path)) else "--profiles"
    if isinstance(profiles, (str, Path)):
        profiles = read_profiles(profiles, coerce_ids=fields.coerce_ids)
    given = None
    if expansions is not None:
        given = read_expansions(expansions, coerce_ids=fields.coerce_ids)
    ids = frozenset(d.id for d in documents)
    profiles = in_form(profiles, form)
    own = {id_: p for id_, p in profiles.items() if p.profile is not None and id_ in ids}
    _require_match(own, profiles, ids, "profile with scenarios", where)
    if given is not None:
        _require_match(ids & given.keys(), given, ids, "expansion", str(expansions))
    missing = missing_gold(System("the corpus", {}, documents=ids), questions.judged)
    without_text = len(everything) - len(documents)
    return Source(documents, without_text, path, profiles, own, questions, missing, given)


def _require_match(
    used: object, lines: Mapping[str, object], ids: frozenset[str], what: str, where: str
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
    config: ChatConfig | LocalConfig, source: Source, folder: ArtifactFolder
) -> tuple[dict[str, Expansion], dict[str, Any]]:
    """Have the documents with scenarios expanded. Return expansions and the spending.

    The same documents as have scenarios, so that texts are compared and not coverage. Answers are
    kept in `folder/answers.sqlite`, the expansions in `folder/expansions.jsonl`. Raises ArgusError
    where a document was not asked for or stayed without any answer.
    """
    documents = [d for d in source.documents if d.id in source.profiles]
    with Ledger(folder / LEDGER) as ledger:
        model = RecordedModel(open_model(config, ledger))
        expansions = {e.doc_id: e for e in generate_expansions(documents, model)}
    require_answers(model, accept=False, can_accept=False)
    write_expansions(folder.own(EXPANSIONS), expansions.values())
    return expansions, {"model": model.name, "language_model": model.summary()}


@dataclass(frozen=True)
class Vectors:
    """All vectors, and the failures.

    failed: document to why it has no vector: it is in no index. judged: the questions that could be
    embedded. expanded: by baseline, (n_documents, dim): the document's own vector where there is
    no expansion. expanded_documents: documents expanded, failures, and how much of the texts the
    model reads. windows: how much of documents and scenario texts it reads.
    """

    documents: Documents
    failed: Mapping[str, str]
    queries: QueryVectors
    judged: Judged
    texts: ScenarioTexts
    expanded: Mapping[Baseline, FloatArray]
    expanded_documents: Mapping[Baseline, dict[str, Any]]
    windows: dict[str, Any]


def embed_source(
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
    asked = source.questions.judged.queries
    ids = list(asked)
    queries = embed(as_queries([asked[id_].text for id_ in ids]), encoder, store, what="questions")
    failed = {ids[i]: why for i, why in queries.failures.items()}
    judged = without_failed(source.questions.judged, [System("the encoder", {}, failed=failed)])
    texts = embed_scenarios(profiles.values(), components, embedded)
    vectors: dict[Baseline, FloatArray] = {}
    counts: dict[Baseline, dict[str, Any]] = {}
    for baseline in Baseline if expansions is not None else ():
        added = [expansions.get(d.id) if expansions else None for d in documents]
        rows = [i for i, one in enumerate(added) if one is not None and one.texts(baseline)]
        longer = [expanded(documents[i], added[i], baseline) for i in rows]
        found = embedded(longer, f"documents with {baseline}")
        vectors[baseline] = own.vectors.copy()
        vectors[baseline][[i for i, ok in zip(rows, found.ok, strict=True) if ok]] = found.vectors
        counts[baseline] = {
            "documents": int(found.ok.sum()),
            "failed": len(found.failures),
            "text_window": texts_cut(encoder, longer),
        }
    return Vectors(
        documents=Documents([d.id for d in documents], own.vectors, profiles),
        failed={source.documents[i].id: why for i, why in own.failures.items()},
        queries=QueryVectors([id_ for id_ in ids if id_ not in failed], queries.vectors),
        judged=judged,
        texts=texts,
        expanded=vectors,
        expanded_documents=counts,
        windows={
            "documents": texts_cut(encoder, [d.content for d in documents]),
            "scenarios": texts_cut(encoder, list(texts.rows)),
        },
    )
