"""Learn to rank by keys: LTRGR (Li et al., 2024, AAAI) on top of a model that writes them.

`lists` (the model's rankings of judged questions, with their keys) -> `examples` (two pairs of
passages per question and epoch) -> `loss` (scores that can be learnt, and their margins) -> `job`.
"""
