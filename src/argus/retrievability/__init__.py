"""How probable it is that a retriever brings an entity or a document back."""
