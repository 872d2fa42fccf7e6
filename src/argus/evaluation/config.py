"""Declare the options of `argus evaluate`, and refuse options that exclude each other.

`EvaluateConfig` names measures and depth. `refuse_beside`, `run_alone` and `retriever_alone` serve
other commands, too. `ChunkedCorpus` names the documents that an index holds chunks of.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from argus.corpora import CorpusName, NamedCorpus
from argus.data.fields import By, FieldNames, ParentField
from argus.errors import InputError
from argus.measures import RESAMPLES, Resamples
from argus.settings import Ge, Seed, check_settings

MEASURES = ("nDCG@5", "nDCG@10", "nDCG@20", "nDCG@50", "R@10", "R@50", "R@100", "RR")


@dataclass(frozen=True, kw_only=True)
class ChunkedCorpus:
    """The documents of an index, a retriever or a store, which may hold chunks of them.

    Attributes:
        corpus: What was searched; with --parent-field it tells the document of each chunk.
    """

    corpus: Annotated[NamedCorpus | None, CorpusName()] = None
    fields: FieldNames = field(default_factory=FieldNames)
    parent_field: ParentField = None


@dataclass(frozen=True, kw_only=True)
class EvaluateConfig:
    """Measures to compute, over runs of `depth` documents.

    Each measure is named once, in one spelling: "NDCG@10" becomes "nDCG@10".

    Attributes:
        measures: Names as papers write them, separated by commas.
        headline: The measure by which a query counts as harmed; default: nDCG@10, else the first.
        depth: Results kept per query.
    """

    measures: tuple[str, ...] = MEASURES
    headline: str = ""
    depth: Annotated[int, Ge(1)] = 100
    resamples: Resamples = RESAMPLES
    seed: Seed = 0
    parent_field: ParentField = None
    by: By = ()

    def __post_init__(self) -> None:
        from argus.measures.measures import cutoff, measure_name, parse_measure

        check_settings(self)
        if not self.measures:
            expected, fix = "at least one", f"Leave it out for {', '.join(MEASURES)}."
            raise InputError("no measure", expected=expected, fix=fix, where="--measures")
        names = dict.fromkeys(str(parse_measure(name)) for name in self.measures)
        object.__setattr__(self, "measures", tuple(names))
        default = "nDCG@10" if "nDCG@10" in names else self.measures[0]
        object.__setattr__(self, "headline", measure_name(self.headline or default))
        if self.headline not in self.measures:
            got = f"headline {self.headline!r}"
            expected = f"one of the measures: {', '.join(self.measures)}"
            fix = "Add it to --measures, or name another with --headline."
            raise InputError(got, expected=expected, fix=fix, where="--headline")
        deepest = max((cutoff(name) or 0 for name in self.measures), default=0)
        if deepest > self.depth:
            got = f"a measure reads {deepest} documents of runs of {self.depth}"
            expected, fix = "runs at least as deep as every measure", f"Use --depth {deepest}."
            raise InputError(got, expected=expected, fix=fix, where="--depth")


def unknown_query(
    query_id: str, known: Iterable[str], where: Path, otherwise: str = "Check the id."
) -> InputError:
    """Return the error for an id that is not among the queries of a file.

    otherwise: the advice if no known id is similar.
    """
    ids = list(known)
    near = difflib.get_close_matches(query_id, ids, 3)
    return InputError(
        f"no query has the id {query_id!r}",
        expected=f"one of its {len(ids):,} query ids",
        fix=f"Did you mean {' or '.join(map(repr, near))}?" if near else otherwise,
        where=where,
    )


def run_alone(**others: object) -> None:
    """Refuse options of a search beside a run."""
    refuse_beside("--run", "a run is what was found already", **others)


def retriever_alone(**others: object) -> None:
    """Refuse options of Argus' own search beside a retriever."""
    refuse_beside("--retriever", "a retriever is asked as it is", **others)


def refuse_beside(beside: str, why: str, **others: object) -> None:
    """Raise InputError for the first of some options that is given beside another one."""
    option = next((f"--{name}" for name, value in others.items() if value), None)
    if option is not None:
        expected, fix = f"one of them: {why}", f"Leave {option} out."
        raise InputError(f"{option} with {beside}", expected=expected, fix=fix, where=option)
