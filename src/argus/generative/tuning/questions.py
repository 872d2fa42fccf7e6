"""Judged questions for learning to rank: those that teach, and those that are validated with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from argus.data.types import Query
from argus.errors import InputError
from argus.generative.searcher import GenerativeSearcher
from argus.generative.training.examples import Drawn, fingerprint
from argus.generative.training.inputs import Inputs
from argus.generative.training.slots import Question, Source, plan
from argus.generative.tuning.examples import VALIDATION, RankExample, RankExamples
from argus.generative.tuning.lists import RankList, rank_lists
from argus.generative.tuning.settings import GenerativeTuneConfig
from argus.generative.tuning.summary import ListCounts
from argus.generative.vocabulary import GOLD


@dataclass(frozen=True)
class Taught:
    """Questions that teach to rank. before: the lists of all questions to validate with.

    fingerprint: hash of the sources of the examples, without the lists.
    """

    examples: RankExamples
    validation: list[RankExample]
    before: list[RankList]
    counts: ListCounts
    fingerprint: str


def rank_questions(
    inputs: Inputs, searcher: GenerativeSearcher, config: GenerativeTuneConfig
) -> Taught:
    """Search the questions, and part them into those to learn from and those to validate with.

    A tenth of them, drawn by the hashes of their ids, is validated with. One whose list has no
    right passage, or no wrong one, teaches nothing. Raises InputError if there is nothing to
    learn from, or nothing to validate with.
    """
    examples = inputs.examples(searcher.model.vocabulary, config.examples, ())
    material = examples.train.material
    slots, checking = plan(material, (), config.examples)
    rows = np.concatenate([slots, checking])
    rows = rows[rows[:, 0] == Source.QUESTION]
    questions = {n: question for n, question in enumerate(material.questions) if question.gold}
    lists = dict(zip(questions, _lists(inputs, searcher, [*questions.values()], config),
                     strict=True))  # fmt: skip
    written = Drawn(rows, material, searcher.model.vocabulary, config.examples, GOLD)
    of_question = {n: np.flatnonzero(rows[:, 3] == n).tolist() for n in questions}
    make = partial(
        RankExamples, written=written, vocabulary=searcher.model.vocabulary,
        seed=config.training.seed, limit=searcher.model.source_tokens,
    )  # fmt: skip

    def those(numbers: Sequence[int]) -> RankExamples:
        return make([lists[n] for n in numbers], slots=[of_question[n] for n in numbers])

    to_learn = {int(number) for number in slots[:, 3]}
    to_check = questions.keys() - to_learn
    teaching = [n for n, one in lists.items() if one.teaches]
    learn = [n for n in teaching if n not in to_check]
    check = [n for n in teaching if n in to_check]
    counts: ListCounts = {
        "train": len(learn),
        "validation": len(check),
        "out_of_list": sum(one.place is None for one in lists.values()),
        "nothing_wrong": sum(one.place is not None for one in lists.values()) - len(teaching),
        "without_gold": examples.counts["questions_without_gold"],
    }
    _require_some(counts)
    validation = those(check)
    return Taught(
        those(learn), validation.batch(VALIDATION, range(len(check))),
        [lists[n] for n in sorted(to_check)], counts, fingerprint(examples),
    )  # fmt: skip


def _lists(
    inputs: Inputs,
    searcher: GenerativeSearcher,
    questions: Sequence[Question],
    config: GenerativeTuneConfig,
) -> list[RankList]:
    ids = [document.id for document in inputs.documents]
    return rank_lists(
        searcher, [Query(question.id, question.text) for question in questions],
        [frozenset(ids[number] for number in question.gold) for question in questions],
        passages=config.passages, keys=config.keys,
    )  # fmt: skip


def lists_again(
    searcher: GenerativeSearcher, lists: Sequence[RankList], config: GenerativeTuneConfig
) -> list[RankList]:
    """Return the model's present ranking for the questions of some lists."""
    return rank_lists(
        searcher, [one.query for one in lists], [one.gold for one in lists],
        passages=config.passages, keys=config.keys,
    )  # fmt: skip


def _require_some(counts: ListCounts) -> None:
    if counts["train"] and counts["validation"]:
        return
    raise InputError(
        f"{counts['train']:,} questions to learn from and {counts['validation']:,} to validate "
        f"with; {counts['out_of_list']:,} have no right passage in their list, "
        f"{counts['nothing_wrong']:,} no wrong one, {counts['without_gold']:,} none in the corpus",
        expected="at least one of either: some hundred questions that the model half answers",
        fix="Check --questions, --qrels and --model; more --passages make longer lists.",
        where="--questions",
    )
