from .evaluators import as_beir as as_beir, as_mteb as as_mteb, as_pyterrier as as_pyterrier
