"""Train whatever has weights, a loss and examples. `loop.train` does it."""
