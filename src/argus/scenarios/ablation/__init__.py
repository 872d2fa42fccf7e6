"""`argus research scenarios ablate`: every component at every weight, beside its baselines."""
