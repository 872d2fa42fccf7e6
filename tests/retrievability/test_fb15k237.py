"""A complete real knowledge graph: FB15k-237 with Wikipedia openings."""

import pytest

from argus.corpora.opening import open_corpus
from argus.knowledge import KnowledgeSource, read_knowledge


@pytest.mark.campaign
def test_the_graph_has_the_published_counts(shared):
    fb15k237 = shared("fb15k237")
    knowledge = read_knowledge(open_corpus(fb15k237), KnowledgeSource())
    base, source = knowledge.base, knowledge.relations
    assert source == fb15k237 / "edges.tsv"  # found beside the corpus
    assert len(base.entities) == 14_541
    assert base.relations.triples == 272_115
    assert base.relations.n_pairs == 421_892
    assert (base.relations.degree == 0).sum() == 36  # "36 entities have no training edge"
