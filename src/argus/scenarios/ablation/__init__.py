"""`argus scenarios ablate`: every component at every weight, beside its baselines."""
