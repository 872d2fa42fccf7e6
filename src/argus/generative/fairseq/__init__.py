"""Checkpoints of fairseq, as SEAL and MINDER were released, read into the layout of transformers.

`checkpoint` (a file to weights and settings, no code of it run) and `dictionary` (dict.txt and
GPT-2's BPE to a tokenizer) -> `network` (names and settings to BART) -> `job`.
"""
