"""Does it help to answer? Questions answered with documents and scenarios (SPIKE §4.4, C.5)."""
