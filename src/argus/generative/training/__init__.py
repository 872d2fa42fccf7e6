"""Train a sequence-to-sequence model to write n-grams of the passages that answer."""
