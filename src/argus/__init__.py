"""Argus finds what a retriever does not bring back, says why, and repairs it.

>>> import argus
>>> result = argus.check("docs.jsonl", out="report/")  # doctest: +SKIP
>>> result.summary["exposure"]  # doctest: +SKIP

`check` measures reachability: by `exposure` of documents, by `reach` of a store's own records, and
by `audit_authority` of superseded documents. `audit` scores entities (RPS). `explain` says why one
document does not come back. `evaluate` measures on judged questions, and `gate` holds results to
bounds. `repair_index` tries remedies and keeps what is proven. `blend_index` applies the one that
needs no label, `rollback` takes it out again, and `BlendedRetriever` serves it over a retriever of
your own. `audit_traffic` describes the questions of people, and `judge_traffic` estimates how often
they fail. `lint` and `search_authority` keep superseded documents from being served.

Each job writes a folder of results, and docs/python.md has an example of every function. All other
names live in the rooms of this package, such as `argus.generative`. Importing it loads nothing
heavy.
"""

from pathlib import Path

import lazy_loader

from .extras import naming_extras

__getattr__, __dir__, names = lazy_loader.attach_stub(__name__, __file__)
__getattr__ = naming_extras()(__getattr__)
_ROOMS = {path.stem for path in Path(__file__).parent.iterdir()}
__all__ = [name for name in names if name not in _ROOMS]
