import numpy as np

from argus.data import Document, Query
from argus.explanation.config import ExplainConfig
from argus.explanation.job import explain
from argus.explanation.types import Cause, Verdict
from argus.explanation.words import in_common, term_evidence
from argus.indexes.lexical import LexicalIndex
from argus.indexes.retriever import IndexRetriever
from argus.indexes.words import STEMMED


def test_words_that_vectors_miss_are_found_with_the_hybrid_rank(
    indexed, of, passages, minilm, vectors, tmp_path
):
    inserted = Document("part", f"{passages[5].content} Ref. zq7714.")
    rows = np.concatenate([vectors, minilm.encode_documents([inserted.content])])
    retriever = indexed(tmp_path / "idx", [*passages, inserted], rows, minilm)
    found = explain("zq7714", "part", retriever)
    finding = of(found, Cause.LEXICAL)
    assert found.cause is Cause.LEXICAL and finding.evidence["shared_terms"] == ["zq7714"]
    assert finding.evidence["bm25_rank"] == 1 and found.standing.dense.rank > 10
    assert finding.decisive == (found.standing.fused.rank <= 10)
    fusion = ExplainConfig(hybrid=found.standing.fusion)
    hybrid = explain("zq7714", "part", retriever, fusion)
    assert hybrid.came_back == finding.decisive and hybrid.standing.ranked_by == "fused"


def test_an_implicit_question_shares_no_term(of, retriever):
    found = explain("Whose spouse governed Zxqland?", "w2-0007", retriever)
    finding = of(found, Cause.LEXICAL)
    assert found.cause is Cause.LEXICAL and not finding.evidence["shared_terms"]
    assert "zxqland" in finding.evidence["terms_nowhere_in_the_corpus"]
    assert finding.evidence["coverage"] == 0 and found.standing.bm25.rank is None


def test_a_fusion_that_loses_what_dense_search_finds_is_named(retriever, minilm):
    query = "Which film was directed by a woman?"
    near = retriever.index.snapshot().search(minilm.encode_queries([query]), 10).doc_ids[0]
    hybrid = IndexRetriever(retriever.index, minilm, hybrid="rrf")
    kept = hybrid.search([Query("q", query)], 10)["q"]
    lost = [doc for doc in near if doc not in kept]
    assert lost
    found = explain(query, lost[0], hybrid)
    assert found.cause is Cause.LEXICAL and "fusion loses it" in found.verdict


def test_terms_are_those_that_bm25_searches_for():
    texts = ["call os.read_text here", "a language of languages", "nothing"]
    lexical = LexicalIndex.build(["code", "c", "other"], texts, STEMMED)
    code = term_evidence("read_text", texts[:1], lexical)
    assert code["shared_terms"] == ["read_text"] and code["coverage"] == 1
    assert not code["missing_terms"] and not code["terms_nowhere_in_the_corpus"]
    spoken = term_evidence("C languages, language", texts[1:2], lexical)
    assert spoken["documents_with_term"] == {"languages": 1}
    assert spoken["shared_terms"] == ["languages"] and not spoken["missing_terms"]
    letter = in_common(term_evidence("C", texts[1:2], lexical) | {"bm25_rank": None})
    assert letter.state is Verdict.UNCHECKED
