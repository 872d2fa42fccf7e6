"""Train anything that has weights, a loss and examples. `loop.train` does it."""
