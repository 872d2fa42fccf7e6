"""`as_beir`, `as_mteb`, `as_pyterrier`: a repaired index in the hands of another evaluator."""

from __future__ import annotations

from typing import Any

from argus.encoders import Encoder
from argus.extras import naming_extras
from argus.retrievers.outward.source import Backend, Source
from argus.settings import TOP_K

Foreign = Any  # an object of a package that may not be installed


@naming_extras()
def as_mteb(source: Source, encoder: Encoder | str | None = None, *, name: str = "") -> Foreign:
    """Return a search model of mteb (SearchProtocol): `mteb.evaluate(argus.as_mteb(...), tasks)`.

    source: an index (`PATH@STATE` or open) that is of the task's corpus, any retriever of Argus, or
    a function that makes one of documents, for tasks with corpora of their own. encoder: for an
    index that names none. name: under which mteb keeps results, `argus/...` by default. Raises
    InputError for what is no such source; MissingPackage without mteb.
    """
    from argus.retrievers.outward.mteb import MtebSearch

    return MtebSearch(Backend(source, encoder), name)


@naming_extras()
def as_beir(source: Source, encoder: Encoder | str | None = None) -> Foreign:
    """Return a `BaseSearch` of BEIR: `EvaluateRetrieval(argus.as_beir("index@blend-1"))`.

    source and encoder are as for `as_mteb`. Raises MissingPackage without beir.
    """
    from argus.retrievers.outward.beir import BeirSearch

    return BeirSearch(Backend(source, encoder))


@naming_extras()
def as_pyterrier(
    source: Source, encoder: Encoder | str | None = None, *, k: int = TOP_K
) -> Foreign:
    """Return a transformer of PyTerrier: queries to results, or results to results ranked anew.

    source and encoder are as for `as_mteb`, less the function: a pipeline brings no corpus. k: how
    many results a query gets. Raises MissingPackage without pyterrier.
    """
    from argus.retrievers.outward.pyterrier import TerrierSearch

    return TerrierSearch(Backend(source, encoder), k)
