"""Compare answers from documents with and without their scenarios (SPIKE §4.4, C.5)."""
