"""`argus authority search`: answer one question with documents in force instead of superseded ones.

`search_authority`: a question and an `AuthoritySource` -> the k best documents in force, each with
the chain that led to it. It ranks the records' own texts by BM25, or asks an index or a retriever.
`resolution` then replaces the superseded results. `argus serve` answers the same way.
"""

from __future__ import annotations

from typing import Annotated, Any

from typing_extensions import TypedDict

from argus.authority.config import ANCHORS, CHAINS, AuthoritySource, Chains
from argus.authority.opening import in_force, open_authority, require_records
from argus.authority.relation import Authority, Link
from argus.authority.resolution import trace
from argus.authority.theory import EntityIndex, ScopeNames, ScopeTimes, scope_ambiguity
from argus.data.types import Query
from argus.errors import ArgusError, InputError
from argus.evaluation.config import refuse_beside, retriever_alone
from argus.indexes.lexical import LexicalIndex, check_query
from argus.jobs import options as o
from argus.retrievers.config import NAMES, PANEL, AskingConfig
from argus.retrievers.protocol import Retriever
from argus.settings import INDEX, TOP_K, Doc, Ge, Option

QUERY = "query"  # Id of the one question, where a search wants one
DEEPEST = 1000  # Results that a retriever is asked for at most, where few of them are in force
Scores = dict[str, float]  # Document -> score, best first: the ranking of the question


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


def search_authority(
    query: Annotated[str | None, Option(argument="QUERY")],
    source: AuthoritySource,
    *,
    anchor: str | None = None,
    k: Annotated[int, Ge(1), Option(("--k",))] = TOP_K,
    anchors: Annotated[int, Ge(1)] = ANCHORS,
    index: Annotated[str | None, INDEX] = None,
    encoder: o.NamedEncoder = None,
    hybrid: str | None = None,
    chains: Chains = CHAINS,
    named: bool = False,
    retriever: Annotated[
        Any, Doc(f"Anchors are what this brings back: {NAMES}."), Option(panel=PANEL)
    ] = None,
    asking: AskingConfig | None = None,
) -> dict[str, Any]:
    """Return the k best documents that are in force, each with the chain that led to it.

    retriever: finds the anchors, by a name or an object (see
    `argus.exposure`). `encoder` then embeds the queries of a store. asking: how.

    Anchors come from `index` (PATH or PATH@STATE), where hybrid (min-max, rrf or dbsf) fuses
    vectors and BM25, or from BM25 over the records' own texts. anchors: how many of them are looked
    at, k at least. chains: as for `argus.authority.resolve`. named: records of the scopes that the
    question names (a CVE id, a case) are anchors before those retrieved, the latest first. Raises
    InputError for bad input, and for an index of which no document has a record. anchor: nothing is
    retrieved, not even for a QUERY: its closure alone counts (CAR section 6.6, known anchor).

    results: documents in force, best first: rank, id, score, anchor (id of the retrieved document
    that this controls), anchor_rank (from 1), chain (supersessions from anchor to document, oldest
    first, each a `ChainLink`), type, time, title, text. type and time are None where there is no
    record or time.
    scopes: ambiguity of the scope of every superseded anchor (Def. 5): kappa, documents of the
    scope for each in its chains, and phi, the least of 1 and 1 / kappa. Where phi is below 1, other
    chains share it: time alone could not tell them apart, and the rules did.
    retired: superseded anchor to its controllers.
    without_record: retrieved documents without a record, served as they are.
    relation: see `OpenedAuthority.summary`.
    query, ranked_by, as_of, known_by: the question if any, what ranked the anchors, and the time.

    Args:
        query: The question.
        anchor: Id of a record, in place of a search: what controls it?
        k: How many documents.
        anchors: Retrieved documents that are looked at.
        index: Search this index (PATH or PATH@STATE) for anchors.
        encoder: For the queries of a store, or of an index that names none.
        hybrid: Fuse the index's vectors and BM25: rrf (best for anchors), min-max or dbsf.
        chains: Of anchors of one scope: all chains, or the first's alone.
        named: Look up what the question names (a CVE id, a case) first.
    """
    text = query or ""
    if anchor is None:
        check_query(text)
    else:
        refuse_beside("--anchor", "no search", index=index, retriever=retriever, named=named)
    if retriever is not None:
        retriever_alone(index=index, hybrid=hybrid)
    elif index is None:
        refuse_beside("the records alone", "BM25 ranks them", encoder=encoder, hybrid=hybrid)
    opened = open_authority(source)
    authority = opened.authority
    depth = max(anchors, k)
    question = [Query(QUERY, text)]
    if anchor is not None:
        scores, ranked_by = {authority.record(anchor).id: 1.0}, "the anchor that is given"
    elif retriever is not None:
        from argus.retrievers.opening import all_opened

        corpus = [record.document for record in authority.records.values()]
        how = asking or AskingConfig()
        with all_opened([retriever], corpus, how, None, encoder) as (finder,):
            ranked_by = finder.name
            scores = _search_widely(finder, question, authority, depth, DEEPEST)
    elif index is not None:
        from argus.indexes.retriever import open_retriever

        opened_index = open_retriever(index, encoder, hybrid=hybrid)
        ranked_by = opened_index.name
        scores = _search_widely(opened_index, question, authority, depth, None)
    else:
        there = (id_ for id_ in sorted(authority.records) if authority.in_force(id_))
        texts = {id_: authority.records[id_].document.content for id_ in there}
        texts = {id_: text for id_, text in texts.items() if text.strip()}
        if not texts:
            fix = "Give --index, records with texts, or a later date."
            raise InputError("no record in force has a text", expected="texts to search", fix=fix)
        words = LexicalIndex.build(list(texts), list(texts.values()))
        scores = words.search([text], depth).run([QUERY])[QUERY]
        ranked_by = "bm25 of the records"
    if named:
        current = [r for r in authority.records.values() if authority.in_force(r.id)]
        entities = {entity for bearers in ScopeNames(current).bearers(text) for entity in bearers}
        holders = ScopeTimes(current).holders(entities)[:depth]
        top = max(scores.values(), default=0.0)
        first = {id_: top + len(holders) - i for i, id_ in enumerate(holders)}
        scores = first | {id_: score for id_, score in scores.items() if id_ not in first}
        ranked_by = f"scopes named, {ranked_by}"
    resolution = trace(scores, authority, k=k, anchors=depth, chains=chains)
    answers, scopes = list[dict[str, Any]](), dict[str, dict[str, float]]()
    for hit in resolution.hits:
        record = authority.records.get(hit.id)
        answers.append({
            "rank": hit.rank, "id": hit.id, "score": hit.score, "anchor": hit.anchor,
            "anchor_rank": hit.anchor_rank,
            "chain": [chain_link(link, authority) for link in hit.chain],
            "type": record.type if record else None,
            "time": str(record.time) if record and record.time else None,
            "title": record.title if record else "", "text": record.text if record else "",
        })  # fmt: skip
    if resolution.retired:
        sharing = EntityIndex(authority.records.values(), authority.rules)
        for anchor in resolution.retired:
            scope = scope_ambiguity([anchor], authority, sharing)
            scopes[anchor] = {"kappa": round(scope.kappa, 4), "phi": round(scope.phi, 4)}
    return {
        "as_of": source.as_of,
        "known_by": source.known_by,
        "results": answers,
        "scopes": scopes,
        "retired": {id_: list(by) for id_, by in resolution.retired.items()},
        "without_record": list(resolution.unknown),
        "relation": opened.summary(),
        "query": query,
        "ranked_by": ranked_by,
    }


def _search_widely(
    retriever: Retriever,
    question: list[Query],
    authority: Authority,
    depth: int,
    deepest: int | None,
) -> Scores:
    """Search so deep that `depth` of the results are in force, if there are. Best first.

    deepest: largest depth of a search. The last answer stands where a deeper search fails.
    """
    wide, scores = depth, retriever.search(question, depth)[QUERY]
    while True:
        current = in_force(scores, authority)
        deeper = wide * 4 if deepest is None else min(wide * 4, deepest)
        if len(current) >= depth or len(scores) < wide or deeper <= wide:
            break
        try:
            wide, scores = deeper, retriever.search(question, deeper)[QUERY]
        except ArgusError:  # of a store's own limit
            break
    require_records(scores, authority, retriever.name)
    return dict(list(current.items())[:depth])


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
