"""`argus research audit`: the Retrieval Probability Score of every entity (ARGUS §3)."""
