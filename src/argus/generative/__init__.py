"""N-gram generative retrieval: SEAL (Bevilacqua et al., 2022) and MINDER (Li et al., 2023).

A seq2seq language model writes n-grams that it expects in the passages that answer a question. An
index allows only n-grams that exist. Passages are ranked by the n-grams found in them. The flow:
`vocabulary` and `passages` (texts to tokens) -> `index` -> `decode` (n-grams a model writes under
the index's constraint) -> `evidence` (n-grams to ranked passages). `searcher` joins them,
`training` makes the model.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
