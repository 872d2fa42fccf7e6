"""`argus authority search`: ask one question and get the documents that are in force.

Anchors come from the records' own texts, an index, a retriever or a run. In their place come the
documents that control them, each with the chain that leads to it. With a variant of CAR, a safe
frontier (Def. 9) or the frontiers of a latent scope (Def. 8) take the place of that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NotRequired

from typing_extensions import TypedDict

from argus.authority.config import (
    ANCHORS,
    CHAINS,
    PLACES,
    AuthoritySource,
    Chains,
    LatentScope,
    Places,
    VariantConfig,
)
from argus.authority.entities import EntityIndex, ScopeNames, ScopeTimes
from argus.authority.latent import Posterior, expectation, map_frontier, scope_posterior
from argus.authority.opening import (
    OpenedAuthority,
    RelationSummary,
    in_force,
    open_authority,
    require_records,
)
from argus.authority.relation import Authority, Link, chain_to
from argus.authority.resolution import Hit, Resolution, ranked_hits, trace
from argus.authority.theory import scope_ambiguity
from argus.authority.uncertain import SafeFrontier, safe_frontier
from argus.data.runs import read_run
from argus.data.types import Query
from argus.errors import ArgusError, InputError
from argus.evaluation.config import retriever_alone, run_alone, unknown_query
from argus.indexes.lexical import LexicalIndex
from argus.indexes.words import SURFACE, check_query
from argus.retrievers.config import AskingConfig
from argus.settings import TOP_K

if TYPE_CHECKING:
    from argus.encoders import Encoder, EncoderConfig
    from argus.retrievers.opening import Answerer


class ChainLink(TypedDict):
    """One supersession, and when the superseder took effect and became known.

    superseded: id of the older document.
    superseder: id of the newer document.
    relation: kind of supersession, as the rule or edge calls it.
    confidence: how sure it is, from 0 to 1.
    time: when the superseder took effect. None where not known.
    published: when it became known. None where not known.
    """

    superseded: str
    superseder: str
    rule: str
    relation: str
    confidence: float
    time: str | None
    published: str | None


class SearchHit(TypedDict):
    """A document that is in force, and the chain that led to it.

    id: id of the document.
    anchor: id of the retrieved document that this controls.
    anchor_rank: rank of the anchor, from 1.
    chain: supersessions from anchor to document, oldest first.
    type: type of its record. None where there is none.
    time: when it took effect. None where not known.
    text: text of the document.
    probability: that nothing supersedes it, with `alpha`; that it controls, with `scope`.
    """

    rank: int
    id: str
    score: float
    anchor: str
    anchor_rank: int
    chain: list[ChainLink]
    type: str | None
    time: str | None
    title: str
    text: str
    probability: NotRequired[float]


class ScopeChance(TypedDict):
    """An entity that a question may be about, and how likely that is (Def. 8).

    key: key of the scope.
    value: value of that key.
    probability: how likely it is, from 0 to 1.
    """

    key: str
    value: str
    probability: float


class ScopeFigures(TypedDict):
    """How ambiguous the scope of an anchor is (Def. 5).

    kappa: documents of the scope for each in its chains, κ.
    phi: the least of 1 and 1 / κ, φ.
    """

    kappa: float
    phi: float


class SearchAnswer(TypedDict):
    """Answer to a question: documents in force, their chains, and the documents they replace.

    results: documents in force, best first.
    scopes: ambiguity of the scope of every superseded anchor.
    passed_over: anchor to a better one of its scope, whose chain was served instead.
    retired: superseded anchor to its controllers.
    without_record: retrieved documents without a record, served as they are.
    query: question that was asked.
    """

    as_of: str | None
    known_by: str | None
    results: list[SearchHit]
    scopes: dict[str, ScopeFigures]
    passed_over: dict[str, str]
    retired: dict[str, list[str]]
    without_record: list[str]
    relation: RelationSummary
    query: str
    ranked_by: str


class VariantAnswer(SearchAnswer):
    """An answer from a safe frontier, or under a latent scope.

    alpha: α of the safe frontier (Def. 9). None where none is served.
    undecided: records whose sampled probability is too near to alpha to be sure.
    scope: how a latent scope is taken: expectation or map (Def. 8). None without.
    scope_posterior: the likeliest scopes, the first ten.
    """

    alpha: float | None
    undecided: list[str]
    scope: str | None
    scope_posterior: list[ScopeChance]


QUERY = "query"  # Id of the one question, where a search wants one
DEEPEST = 1000  # Results that a retriever is asked for at most, where few of them are in force
Scores = dict[str, float]  # Document -> score, best first: the ranking of the question


def search_authority(
    query: str,
    source: AuthoritySource,
    *,
    k: int = TOP_K,
    anchors: int = ANCHORS,
    index: str | None = None,
    encoder: Encoder | EncoderConfig | str | None = None,
    hybrid: str | None = None,
    places: Places = PLACES,
    chains: Chains = CHAINS,
    named: bool = False,
    store: Path | None = None,
    run: Path | None = None,
    retriever: Any = None,
    asking: AskingConfig | None = None,
    variant: VariantConfig | None = None,
) -> SearchAnswer | VariantAnswer:
    """Return the k best documents that are in force, each with the chain that led to it.

    run: a run file of any retriever, whose results for the query with the id `query` are the
    anchors. Nothing is searched. retriever: finds the anchors, by a name or an object (see
    `argus.exposure`). `encoder` then embeds the queries of a store. asking: how.

    Anchors come from `index` (PATH or PATH@STATE), from the vectors of `encoder` over the records'
    own texts (kept in `store`), or from BM25 over them. hybrid: min-max, rrf or dbsf fuses vectors
    and BM25. anchors: how many of them are looked at, k at least. places, chains: as for
    `argus.authority.resolve`. named: records of the scopes that the question names (a CVE
    id, a case) are
    anchors before those retrieved, the latest first. variant: a safe frontier or a latent scope in
    place of the certain controllers. Raises InputError for bad input, and for an index of which no
    document has a record.
    """
    check_query(query)
    if run is not None:
        run_alone(index=index, encoder=encoder, hybrid=hybrid, named=named, retriever=retriever)
    if retriever is not None:
        retriever_alone(index=index, hybrid=hybrid, store=store)
    relation = open_authority(source)
    authority = relation.authority
    depth = max(anchors, k)
    if run is not None:
        scores, ranked_by = _of_run(query, authority, depth, run), str(run)
    elif retriever is not None:
        from argus.retrievers.opening import Answerer

        source_of_anchors = Answerer(retriever, None, asking, encoder)
        scores, ranked_by = _by_retriever(query, authority, depth, source_of_anchors)
    elif index is not None:
        scores, ranked_by = _over_index(query, authority, depth, index, encoder, hybrid)
    else:
        scores, ranked_by = _over_records(query, authority, depth, encoder, hybrid, store)
    if named:
        scores = _with_named(query, scores, authority, depth)
        ranked_by = f"scopes named, {ranked_by}"
    if variant is not None and (variant.alpha is not None or variant.scope is not None):
        _require_usual(places, chains)
        return _variant(query, scores, relation, ranked_by, variant, k)
    resolution = trace(scores, authority, k=k, anchors=depth, places=places, chains=chains)
    return _answer(resolution, relation, query, ranked_by)


def _require_usual(places: Places, chains: Chains) -> None:
    """Raise InputError for places or chains that a variant would not heed."""
    if places is not PLACES or chains is not CHAINS:
        raise InputError(
            f"places {places}, chains {chains} with a safe frontier or a latent scope",
            expected="one or the other",
            fix="Leave --places and --chains out.",
            where="--places" if places is not PLACES else "--chains",
        )


def _variant(
    query: str,
    scores: Scores,
    relation: OpenedAuthority,
    ranked_by: str,
    variant: VariantConfig,
    k: int,
) -> VariantAnswer:
    """Answer from the safe frontier, or under a latent scope."""
    authority = relation.authority
    if variant.alpha is not None:
        resolution, frontier = safely(scores, authority, variant.alpha, k=k)
        answer: VariantAnswer = {
            **_answer(resolution, relation, query, ranked_by),
            "alpha": variant.alpha,
            "undecided": list(frontier.undecided),
            "scope": None,
            "scope_posterior": [],
        }
        for hit in answer["results"]:
            if hit["id"] in frontier.chances:
                hit["probability"] = frontier.chances[hit["id"]].probability
        return answer
    resolution, posterior = by_scope(query, scores, authority, variant, k=k)
    answer = {
        **_answer(resolution, relation, query, ranked_by),
        "alpha": None,
        "undecided": [],
        "scope": str(variant.scope),
        "scope_posterior": scope_chances(posterior),
    }
    for hit in answer["results"]:
        hit["probability"] = hit["score"]
    return answer


def _answer(
    resolution: Resolution, opened: OpenedAuthority, query: str, ranked_by: str
) -> SearchAnswer:
    """Return the documents in force, their chains, and the documents that they replace."""
    authority = opened.authority
    return {
        "as_of": opened.source.as_of,
        "known_by": opened.source.known_by,
        "results": [_hit(hit, authority) for hit in resolution.hits],
        "scopes": _scopes(resolution, authority),
        "passed_over": dict(resolution.passed_over),
        "retired": {id_: list(by) for id_, by in resolution.retired.items()},
        "without_record": list(resolution.unknown),
        "relation": opened.summary(),
        "query": query,
        "ranked_by": ranked_by,
    }


def _with_named(query: str, scores: Scores, authority: Authority, depth: int) -> Scores:
    """Return a ranking, after the records that hold most of the names in the question."""
    records = [r for r in authority.records.values() if authority.in_force(r.id)]
    entities = {entity for bearers in ScopeNames(records).bearers(query) for entity in bearers}
    holders = ScopeTimes(records).holders(entities)[:depth]
    top = max(scores.values(), default=0.0)
    return {id_: top + len(holders) - i for i, id_ in enumerate(holders)} | {
        id_: score for id_, score in scores.items() if id_ not in holders
    }


def _widely(
    search: Callable[[int], Scores],
    authority: Authority,
    depth: int,
    where: str,
    deepest: int | None = None,
) -> Scores:
    """Search so deep that `depth` of the results are in force, if there are. Best first.

    deepest: largest depth of a search. The last answer stands where a deeper search fails.
    """
    wide, scores = depth, search(depth)
    while True:
        current = in_force(scores, authority)
        most = wide * 4 if deepest is None else min(wide * 4, deepest)
        if len(current) >= depth or len(scores) < wide or most <= wide:
            break
        try:
            wide, scores = most, search(most)
        except ArgusError:  # of a store's own limit
            break
    require_records(scores, authority, where)
    return dict(list(current.items())[:depth])


def _over_index(
    query: str,
    authority: Authority,
    depth: int,
    index: str,
    encoder: Encoder | EncoderConfig | str | None,
    hybrid: str | None,
) -> tuple[Scores, str]:
    """Rank the documents of an index."""
    from argus.indexes.retriever import open_retriever

    retriever = open_retriever(index, encoder, hybrid=hybrid)
    question = [Query(QUERY, query)]
    scores = _widely(lambda k: retriever.search(question, k)[QUERY], authority, depth, index)
    return scores, retriever.name


def _by_retriever(
    query: str, authority: Authority, depth: int, source: Answerer
) -> tuple[Scores, str]:
    """Rank the results of a retriever."""
    from argus.retrievers.opening import all_opened

    documents = [record.document for record in authority.records.values()]
    asking = source.asking or AskingConfig()
    with all_opened([source.retriever], documents, asking, None, source.encoder) as (retriever,):
        question = [Query(QUERY, query)]
        scores = _widely(
            lambda k: retriever.search(question, k)[QUERY], authority, depth, retriever.name,
            DEEPEST,
        )  # fmt: skip
        return scores, retriever.name


def _of_run(query_id: str, authority: Authority, depth: int, run: Path) -> Scores:
    """Return the best `depth` results in force of one query of a run, best first."""
    results = read_run(run)
    if query_id not in results:
        raise unknown_query(query_id, results, run)
    require_records(results[query_id], authority, run)
    return dict(list(in_force(results[query_id], authority).items())[:depth])


def _over_records(
    query: str,
    authority: Authority,
    depth: int,
    encoder: Encoder | EncoderConfig | str | None,
    hybrid: str | None,
    store: Path | None,
) -> tuple[Scores, str]:
    """Rank the records that are in force by their own texts."""
    texts = {
        id_: authority.records[id_].document.content
        for id_ in sorted(authority.records)
        if authority.in_force(id_)
    }
    texts = {id_: text for id_, text in texts.items() if text.strip()}
    if not texts:
        raise InputError(
            "no record in force has a text",
            expected="texts to search",
            fix="Give a later --as-of or --known-by."
            if authority.is_view
            else "Give --index, or records with texts.",
        )
    if encoder is None:
        if hybrid is not None:
            raise InputError(
                f"--hybrid {hybrid} without vectors",
                expected="--encoder or --index beside it",
                fix="Leave it out for BM25 alone.",
            )
        return _lexical(query, texts, depth), "bm25 of the records"
    if hybrid is None:
        return _dense(query, texts, encoder, depth, store), "dense of the records"
    return _fused(query, texts, encoder, depth, store, hybrid)


def _fused(
    query: str,
    texts: dict[str, str],
    encoder: Encoder | EncoderConfig | str,
    depth: int,
    store: Path | None,
    hybrid: str,
) -> tuple[Scores, str]:
    """Rank the records by vectors and BM25 together."""
    from argus.indexes.fusion import check_fusion, fuse_with_bm25
    from argus.indexes.retriever import FUSED_DEPTH

    wide = max(depth, FUSED_DEPTH)
    dense = _dense(query, texts, encoder, wide, store)
    lexical = _lexical(query, texts, wide)
    fused = fuse_with_bm25({QUERY: dense}, {QUERY: lexical}, depth, check_fusion(hybrid))[QUERY]
    return fused, f"{hybrid}(dense, bm25) of the records"


def _lexical(query: str, texts: dict[str, str], depth: int) -> Scores:
    only = frozenset(SURFACE.queries(query))  # one question: no other word will be searched
    index = LexicalIndex.build(list(texts), list(texts.values()), only=only)
    return index.search([query], depth).run([QUERY])[QUERY]


def _dense(
    query: str,
    texts: dict[str, str],
    encoder: Encoder | EncoderConfig | str,
    depth: int,
    store: Path | None,
) -> Scores:
    import tempfile

    from argus.data.folders import ArtifactFolder
    from argus.encoders import documents as as_documents
    from argus.encoders import embed
    from argus.encoders import queries as as_queries
    from argus.indexes import search as nearest
    from argus.jobs.workspace import Record, open_encoder

    with tempfile.TemporaryDirectory() as scratch:
        folder = ArtifactFolder(store.parent if store is not None else Path(scratch) / "search")
        record = Record("search", {}, {})
        sample = list(texts.values())
        with open_encoder(folder, encoder, record, sample=sample, store=store) as (model, opened):
            indexed = embed(as_documents(sample), model, opened, what="documents")
            question = embed(as_queries([query]), model, opened, what="the question")
    if question.failures:
        raise InputError(
            f"the question could not be embedded ({question.failures[0]})",
            expected="an encoder that answers",
            fix="Try again, or search without --encoder.",
        )
    ids = [id_ for id_, ok in zip(texts, indexed.ok, strict=True) if ok]
    top = nearest(question.vectors, indexed.vectors, depth)
    scores = zip(top.rows[0].tolist(), top.scores[0].tolist(), strict=True)
    return {ids[row]: score for row, score in scores}


def _scopes(resolution: Resolution, authority: Authority) -> dict[str, ScopeFigures]:
    """Say how ambiguous the scope of every superseded anchor is (Def. 5).

    Where phi is below 1, other chains share it: time alone could not tell them apart, and the rules
    did.
    """
    if not resolution.retired:
        return {}
    index = EntityIndex(authority.records.values(), authority.rules)
    scopes = {anchor: scope_ambiguity([anchor], authority, index) for anchor in resolution.retired}
    return {
        anchor: {"kappa": round(scope.kappa, 4), "phi": round(scope.phi, 4)}
        for anchor, scope in scopes.items()
    }


def _hit(hit: Hit, authority: Authority) -> SearchHit:
    record = authority.records.get(hit.id)
    return {
        "rank": hit.rank,
        "id": hit.id,
        "score": hit.score,
        "anchor": hit.anchor,
        "anchor_rank": hit.anchor_rank,
        "chain": [chain_link(link, authority) for link in hit.chain],
        "type": record.type if record else None,
        "time": str(record.time) if record and record.time else None,
        "title": record.title if record else "",
        "text": record.text if record else "",
    }


def chain_link(link: Link, authority: Authority) -> ChainLink:
    """Return a supersession, and when the superseder took effect and became known."""
    newer = authority.records[link.superseder]
    return {
        "superseded": link.superseded,
        "superseder": link.superseder,
        "rule": link.rule,
        "relation": link.relation,
        "confidence": link.confidence,
        "time": str(newer.time) if newer.time else None,
        "published": str(newer.published) if newer.published else None,
    }


SHOWN = 10  # Scopes of a posterior that an answer names


def safely(
    scores: Mapping[str, float], authority: Authority, alpha: float, *, k: int
) -> tuple[Resolution, SafeFrontier]:
    """Serve front_alpha(cl(A)) of anchors A: probably active records, in the anchors' places.

    scores: of the anchors in force, best first. Documents without record are served as they are.
    """
    known = [id_ for id_ in scores if id_ in authority]
    frontier = safe_frontier(authority, authority.closure(known), alpha)
    safe = set(frontier.ids)
    hits: dict[str, Hit] = {}
    retired: dict[str, tuple[str, ...]] = {}
    for rank, (anchor, score) in enumerate(scores.items(), 1):
        reached: dict[str, Link | None] = {anchor: None}
        if anchor in authority:
            reached = authority.reach([anchor])
        serving = {i: chain_to(i, reached) for i in reached if i in safe or i not in authority}
        if anchor not in serving:
            retired[anchor] = tuple(serving)
        for id_, chain in serving.items():
            hits.setdefault(id_, Hit(id_, 0, score, anchor, rank, tuple(chain)))
    unknown = tuple(id_ for id_ in scores if id_ not in authority)
    return Resolution(tuple(scores), ranked_hits(hits.values(), k), retired, unknown, {}), frontier


def by_scope(
    query: str, scores: Mapping[str, float], authority: Authority, config: VariantConfig, *, k: int
) -> tuple[Resolution, Posterior]:
    """Serve the documents that control under the scopes which the question may have, likely first.

    The score of a document is its probability: that of the scopes for which it controls
    (expectation), or that of the likeliest scope (map). Raises InputError where no scope is told.
    """
    anchors = {id_: score for id_, score in scores.items() if id_ in authority}
    names = ScopeNames(r for r in authority.records.values() if authority.in_force(r.id))
    posterior = scope_posterior(query, anchors, authority, names, config.latent)
    if not posterior:
        raise InputError(
            "no scope: the question names none, and no document found has one",
            expected="records with scopes",
            fix="Leave it out to serve what controls all that was found.",
            where="--scope",
        )
    serve = map_frontier if config.scope is LatentScope.MAP else expectation
    chances = serve(authority, posterior, anchors)
    paths: dict[str, tuple[str, int, tuple[Link, ...]]] = {}
    retired: dict[str, tuple[str, ...]] = {}
    for rank, anchor in enumerate(anchors, 1):
        controlling = authority.controlling_chains([anchor])
        if anchor not in controlling:
            retired[anchor] = tuple(controlling)
        for id_, chain in controlling.items():
            paths.setdefault(id_, (anchor, rank, chain))
    hits = [Hit(id_, 0, p, *paths[id_]) for id_, p in chances.items()]
    unknown = tuple(id_ for id_ in scores if id_ not in authority)
    return Resolution(tuple(scores), ranked_hits(hits, k), retired, unknown, {}), posterior


def scope_chances(posterior: Posterior) -> list[ScopeChance]:
    """Return the likeliest scopes as JSON has them."""
    return [
        {"key": key, "value": value, "probability": probability}
        for (key, value), probability in list(posterior.items())[:SHOWN]
    ]
