"""`tune apply adapt`: a low-rank correction of queries, learnt from the needs of documents."""
