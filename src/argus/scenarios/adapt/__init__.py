"""`argus remedy adapt`: a low-rank correction of queries, learnt from what documents are for."""
