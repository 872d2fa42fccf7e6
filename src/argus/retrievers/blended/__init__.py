"""A blend where the retriever lives: in a store, or over a retriever's own results."""
