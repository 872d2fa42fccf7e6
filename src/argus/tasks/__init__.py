"""Tasks of retrieval as their authors publish them: documents, questions, judgements, metrics."""
