"""Explain failures of generative retrieval: figures, flags and a diagnosis for every question.

Follows R. Takacs, *Analysis of Biases, Failures, and Limitations in N-gram-based Generative
Retrieval*, here called the thesis. All definitions: docs/failures.md.

    output file -> reading (cases) -> measures (one row per question) -> tables -> diagnosis
"""
